//! The wire format of protobuf, read by tables into the JSON that OTLP defines for the same
//! messages. Fields that no table knows are passed over, as protobuf wants it.

use std::fmt::Write;

use base64::Engine as _;
use birdstrike_wire::json::quote;

/// How deep messages are taken apart; what lies deeper is left out.
const MOST_DEPTH: usize = 64;

/// How a field is written on the wire and in JSON.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    /// Bytes that JSON has as hex: ids.
    Hex,
    Bytes,
    Bool,
    /// 64 bits, in JSON a string of digits.
    Int64,
    /// 32 bits or an enum, in JSON a number.
    Int32,
    Fixed64,
    Sfixed64,
    Double,
    Message(&'static Message),
}

/// A field: number, name in JSON, kind, whether it repeats.
type Field = (u64, &'static str, Kind, bool);

/// The fields of one message.
#[derive(Debug)]
pub(super) struct Message(&'static [Field]);

use Kind::{Bool, Bytes, Double, Fixed64, Hex, Int32, Int64, Sfixed64, Text};

const ONE: bool = false;
const MANY: bool = true;

const fn of(message: &'static Message) -> Kind {
    Kind::Message(message)
}

static ANY: Message = Message(&[
    (1, "stringValue", Text, ONE),
    (2, "boolValue", Bool, ONE),
    (3, "intValue", Int64, ONE),
    (4, "doubleValue", Double, ONE),
    (5, "arrayValue", of(&ARRAY), ONE),
    (6, "kvlistValue", of(&LIST), ONE),
    (7, "bytesValue", Bytes, ONE),
]);
static ARRAY: Message = Message(&[(1, "values", of(&ANY), MANY)]);
static LIST: Message = Message(&[(1, "values", of(&PAIR), MANY)]);
static PAIR: Message = Message(&[(1, "key", Text, ONE), (2, "value", of(&ANY), ONE)]);
static RESOURCE: Message = Message(&[(1, "attributes", of(&PAIR), MANY)]);
static SCOPE: Message = Message(&[
    (1, "name", Text, ONE),
    (2, "version", Text, ONE),
    (3, "attributes", of(&PAIR), MANY),
]);

/// `ExportTraceServiceRequest`.
pub(super) static TRACES: Message = Message(&[(1, "resourceSpans", of(&RESOURCE_SPANS), MANY)]);
static RESOURCE_SPANS: Message =
    Message(&[(1, "resource", of(&RESOURCE), ONE), (2, "scopeSpans", of(&SCOPE_SPANS), MANY)]);
static SCOPE_SPANS: Message =
    Message(&[(1, "scope", of(&SCOPE), ONE), (2, "spans", of(&SPAN), MANY)]);
static SPAN: Message = Message(&[
    (1, "traceId", Hex, ONE),
    (2, "spanId", Hex, ONE),
    (3, "traceState", Text, ONE),
    (4, "parentSpanId", Hex, ONE),
    (5, "name", Text, ONE),
    (6, "kind", Int32, ONE),
    (7, "startTimeUnixNano", Fixed64, ONE),
    (8, "endTimeUnixNano", Fixed64, ONE),
    (9, "attributes", of(&PAIR), MANY),
    (11, "events", of(&EVENT), MANY),
    (13, "links", of(&LINK), MANY),
    (15, "status", of(&STATUS), ONE),
]);
static EVENT: Message = Message(&[
    (1, "timeUnixNano", Fixed64, ONE),
    (2, "name", Text, ONE),
    (3, "attributes", of(&PAIR), MANY),
]);
static LINK: Message = Message(&[
    (1, "traceId", Hex, ONE),
    (2, "spanId", Hex, ONE),
    (3, "traceState", Text, ONE),
    (4, "attributes", of(&PAIR), MANY),
]);
static STATUS: Message = Message(&[(2, "message", Text, ONE), (3, "code", Int32, ONE)]);

/// `ExportLogsServiceRequest`.
pub(super) static LOGS: Message = Message(&[(1, "resourceLogs", of(&RESOURCE_LOGS), MANY)]);
static RESOURCE_LOGS: Message =
    Message(&[(1, "resource", of(&RESOURCE), ONE), (2, "scopeLogs", of(&SCOPE_LOGS), MANY)]);
static SCOPE_LOGS: Message =
    Message(&[(1, "scope", of(&SCOPE), ONE), (2, "logRecords", of(&LOG), MANY)]);
static LOG: Message = Message(&[
    (1, "timeUnixNano", Fixed64, ONE),
    (2, "severityNumber", Int32, ONE),
    (3, "severityText", Text, ONE),
    (5, "body", of(&ANY), ONE),
    (6, "attributes", of(&PAIR), MANY),
    (9, "traceId", Hex, ONE),
    (10, "spanId", Hex, ONE),
    (12, "eventName", Text, ONE),
]);

/// `ExportMetricsServiceRequest`; of its points the plain numbers.
pub(super) static METRICS: Message =
    Message(&[(1, "resourceMetrics", of(&RESOURCE_METRICS), MANY)]);
static RESOURCE_METRICS: Message =
    Message(&[(1, "resource", of(&RESOURCE), ONE), (2, "scopeMetrics", of(&SCOPE_METRICS), MANY)]);
static SCOPE_METRICS: Message =
    Message(&[(1, "scope", of(&SCOPE), ONE), (2, "metrics", of(&METRIC), MANY)]);
static METRIC: Message = Message(&[
    (1, "name", Text, ONE),
    (2, "description", Text, ONE),
    (3, "unit", Text, ONE),
    (5, "gauge", of(&POINTS), ONE),
    (7, "sum", of(&POINTS), ONE),
    (9, "histogram", of(&HISTOGRAM), ONE),
    (10, "exponentialHistogram", of(&EXPONENTIAL), ONE),
    (11, "summary", of(&POINTS), ONE),
]);
static POINTS: Message = Message(&[(1, "dataPoints", of(&POINT), MANY)]);
static POINT: Message = Message(&[
    (3, "timeUnixNano", Fixed64, ONE),
    (4, "asDouble", Double, ONE),
    (6, "asInt", Sfixed64, ONE),
    (7, "attributes", of(&PAIR), MANY),
]);
static HISTOGRAM: Message = Message(&[(1, "dataPoints", of(&HISTOGRAM_POINT), MANY)]);
static HISTOGRAM_POINT: Message = Message(&[(9, "attributes", of(&PAIR), MANY)]);
static EXPONENTIAL: Message = Message(&[(1, "dataPoints", of(&EXPONENTIAL_POINT), MANY)]);
static EXPONENTIAL_POINT: Message = Message(&[(1, "attributes", of(&PAIR), MANY)]);

/// A message as JSON text; nothing where the bytes are none.
pub(super) fn to_json(message: &Message, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = String::new();
    write(message, bytes, &mut out, 0)?;
    Some(out.into_bytes())
}

/// A value as it lies on the wire.
enum Value<'a> {
    Varint(u64),
    Eight([u8; 8]),
    /// Four bytes; nothing that is read here has them.
    Four,
    Bytes(&'a [u8]),
}

fn write(message: &Message, bytes: &[u8], out: &mut String, depth: usize) -> Option<()> {
    let mut members: Vec<(&str, bool, Vec<String>)> = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (number, value) = next(&mut rest)?;
        let known = message.0.iter().find(|field| field.0 == number);
        let Some((_, name, kind, many)) = known else {
            continue;
        };
        let Some(text) = text(*kind, &value, depth)? else {
            continue;
        };
        match members.iter_mut().find(|(known, ..)| known == name) {
            Some((_, true, values)) => values.push(text),
            // Of a field that does not repeat the last one counts.
            Some((_, false, values)) => *values = vec![text],
            None => members.push((name, *many, vec![text])),
        }
    }
    let written = members.iter().map(|(name, many, values)| {
        let values = values.join(",");
        if *many {
            format!("{}:[{values}]", quote(name))
        } else {
            format!("{}:{values}", quote(name))
        }
    });
    let written: Vec<String> = written.collect();
    let _ = write!(out, "{{{}}}", written.join(","));
    Some(())
}

/// The JSON of one value; nothing inside where it is left out.
#[expect(clippy::option_option, reason = "the outer one is a broken message, the inner one a gap")]
fn text(kind: Kind, value: &Value<'_>, depth: usize) -> Option<Option<String>> {
    let text = match (kind, value) {
        (Text, Value::Bytes(bytes)) => quote(&String::from_utf8_lossy(bytes)),
        (Hex, Value::Bytes(bytes)) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            quote(&digits)
        }
        (Bytes, Value::Bytes(bytes)) => {
            quote(&base64::engine::general_purpose::STANDARD.encode(bytes))
        }
        (Kind::Message(message), Value::Bytes(bytes)) => {
            if depth == MOST_DEPTH {
                return Some(None);
            }
            let mut inner = String::new();
            write(message, bytes, &mut inner, depth + 1)?;
            inner
        }
        (Bool, Value::Varint(value)) => (*value != 0).to_string(),
        (Int64, Value::Varint(value)) => quote(&(*value as i64).to_string()),
        (Int32, Value::Varint(value)) => (*value as i32).to_string(),
        (Fixed64, Value::Eight(value)) => quote(&u64::from_le_bytes(*value).to_string()),
        (Sfixed64, Value::Eight(value)) => quote(&i64::from_le_bytes(*value).to_string()),
        (Double, Value::Eight(value)) => {
            let value = f64::from_le_bytes(*value);
            if value.is_finite() { value.to_string() } else { quote(&value.to_string()) }
        }
        // Another type than the table's: passed over, like an unknown field.
        _ => return Some(None),
    };
    Some(Some(text))
}

/// The next field: its number and value.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let key = varint(rest)?;
    let value = match key & 7 {
        0 => Value::Varint(varint(rest)?),
        1 => Value::Eight(take(rest, 8)?.try_into().ok()?),
        2 => {
            let length = varint(rest)?;
            Value::Bytes(take(rest, usize::try_from(length).ok()?)?)
        }
        5 => {
            take(rest, 4)?;
            Value::Four
        }
        _ => return None,
    };
    Some((key >> 3, value))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *take(rest, 1)?.first()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}
