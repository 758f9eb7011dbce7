//! Spans in the encodings of OTLP over HTTP, as far as spans of calls need them.

use birdstrike_wire::json;

use crate::surfaces::audit_export::PRODUCT;
use crate::surfaces::record::Value;

/// The kinds of span: what serves a request, and what happens inside.
pub(super) const SERVER: u64 = 2;
/// See [`SERVER`].
pub(super) const INTERNAL: u64 = 1;

/// A span.
pub(super) struct Span {
    /// 32 hex digits.
    pub(super) trace_id: String,
    /// 16 hex digits.
    pub(super) id: String,
    /// 16 hex digits.
    pub(super) parent_id: Option<String>,
    pub(super) name: &'static str,
    pub(super) kind: u64,
    /// Nanoseconds since 1970.
    pub(super) start: u64,
    /// Nanoseconds since 1970.
    pub(super) end: u64,
    pub(super) attributes: Vec<(&'static str, Value)>,
    /// Whether its status is an error.
    pub(super) failed: bool,
}

/// An `ExportTraceServiceRequest` as JSON.
pub(super) fn to_json(spans: &[Span]) -> String {
    let spans: Vec<String> = spans.iter().map(json_span).collect();
    let version = env!("CARGO_PKG_VERSION");
    let service = json_attribute("service.name", &Value::Text(PRODUCT.into()));
    format!(
        "{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":[{service}]}},\"scopeSpans\":[{{\
         \"scope\":{{\"name\":\"{PRODUCT}\",\"version\":\"{version}\"}},\"spans\":[{}]}}]}}]}}",
        spans.join(",")
    )
}

fn json_span(span: &Span) -> String {
    let Span { trace_id, id, name, kind, start, end, .. } = span;
    let attributes: Vec<String> =
        span.attributes.iter().map(|(name, value)| json_attribute(name, value)).collect();
    let parent = span.parent_id.as_ref();
    let parent = parent.map(|id| format!("\"parentSpanId\":\"{id}\",")).unwrap_or_default();
    let status = if span.failed { "{\"code\":2}" } else { "{}" };
    format!(
        "{{\"traceId\":\"{trace_id}\",\"spanId\":\"{id}\",{parent}\"name\":\"{name}\",\
         \"kind\":{kind},\"startTimeUnixNano\":\"{start}\",\"endTimeUnixNano\":\"{end}\",\
         \"attributes\":[{}],\"status\":{status}}}",
        attributes.join(",")
    )
}

fn json_attribute(name: &str, value: &Value) -> String {
    let value = match value {
        Value::Number(number) => format!("\"intValue\":\"{number}\""),
        Value::Text(text) | Value::Json(text) => format!("\"stringValue\":{}", json::quote(text)),
    };
    format!("{{\"key\":\"{name}\",\"value\":{{{value}}}}}")
}

/// An `ExportTraceServiceRequest` as protobuf. The numbers are those of the fields in
/// `opentelemetry/proto`, version 1.
pub(super) fn to_protobuf(spans: &[Span]) -> Vec<u8> {
    let mut resource = Vec::new();
    let service = protobuf_attribute("service.name", &Value::Text(PRODUCT.into()));
    bytes(&mut resource, 1, &service);
    let mut scope = Vec::new();
    bytes(&mut scope, 1, PRODUCT.as_bytes());
    bytes(&mut scope, 2, env!("CARGO_PKG_VERSION").as_bytes());
    let mut scope_spans = Vec::new();
    bytes(&mut scope_spans, 1, &scope);
    for span in spans {
        bytes(&mut scope_spans, 2, &protobuf_span(span));
    }
    let mut resource_spans = Vec::new();
    bytes(&mut resource_spans, 1, &resource);
    bytes(&mut resource_spans, 2, &scope_spans);
    let mut request = Vec::new();
    bytes(&mut request, 1, &resource_spans);
    request
}

fn protobuf_span(span: &Span) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    bytes(&mut out, 1, &from_hex(&span.trace_id));
    bytes(&mut out, 2, &from_hex(&span.id));
    if let Some(parent) = &span.parent_id {
        bytes(&mut out, 4, &from_hex(parent));
    }
    bytes(&mut out, 5, span.name.as_bytes());
    number(&mut out, 6, span.kind);
    fixed(&mut out, 7, span.start);
    fixed(&mut out, 8, span.end);
    for (name, value) in &span.attributes {
        bytes(&mut out, 9, &protobuf_attribute(name, value));
    }
    let mut status = Vec::new();
    if span.failed {
        number(&mut status, 3, 2);
    }
    bytes(&mut out, 15, &status);
    out
}

fn protobuf_attribute(name: &str, value: &Value) -> Vec<u8> {
    let mut any = Vec::new();
    match value {
        // A negative number takes all ten bytes of its two's complement.
        Value::Number(value) => number(&mut any, 3, value.cast_unsigned()),
        Value::Text(text) | Value::Json(text) => bytes(&mut any, 1, text.as_bytes()),
    }
    let mut out = Vec::new();
    bytes(&mut out, 1, name.as_bytes());
    bytes(&mut out, 2, &any);
    out
}

/// A length-delimited field.
fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// A varint field.
fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

/// A fixed64 field.
fn fixed(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span() -> Span {
        Span {
            trace_id: "0af7651916cd43dd8448eb211c80319c".into(),
            id: "b7ad6b7169203331".into(),
            parent_id: Some("00000000000000ff".into()),
            name: "n",
            kind: SERVER,
            start: 1,
            end: 258,
            attributes: vec![("a", Value::Text("\"é".into())), ("b", Value::Number(-1))],
            failed: true,
        }
    }

    #[test]
    fn json_has_hex_ids_and_numbers_as_strings() {
        let json: serde_json::Value = serde_json::from_str(&to_json(&[span()])).unwrap();
        let span = &json["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(span["traceId"], "0af7651916cd43dd8448eb211c80319c");
        assert_eq!((&span["endTimeUnixNano"], &span["status"]["code"]), (&"258".into(), &2.into()));
        assert_eq!(span["attributes"][0]["value"]["stringValue"], "\"é");
        assert_eq!(span["attributes"][1]["value"]["intValue"], "-1");
    }

    #[test]
    fn protobuf_is_what_the_field_numbers_say() {
        let written = protobuf_span(&span());
        let mut right = vec![0x0A, 16];
        right.extend(from_hex("0af7651916cd43dd8448eb211c80319c"));
        right.extend([0x12, 8, 0xB7, 0xAD, 0x6B, 0x71, 0x69, 0x20, 0x33, 0x31]);
        right.extend([0x22, 8, 0, 0, 0, 0, 0, 0, 0, 0xFF]);
        right.extend([0x2A, 1, b'n', 0x30, 2]);
        right.extend([0x39, 1, 0, 0, 0, 0, 0, 0, 0, 0x41, 2, 1, 0, 0, 0, 0, 0, 0]);
        right.extend([0x4A, 10, 0x0A, 1, b'a', 0x12, 5, 0x0A, 3, b'"', 0xC3, 0xA9]);
        right.extend([0x4A, 16, 0x0A, 1, b'b', 0x12, 11, 0x18]);
        right.extend([0xFF; 9]);
        right.extend([1, 0x7A, 2, 0x18, 2]);
        assert_eq!(written, right);
        let request = to_protobuf(&[span()]);
        assert_eq!(request[0], 0x0A);
        assert!(request.windows(written.len()).any(|window| window == written));
    }
}
