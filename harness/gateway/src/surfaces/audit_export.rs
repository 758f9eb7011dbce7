//! Surface 12, `audit-export`: a record of each call for somebody else's collector.
//!
//! A collector believes what the separators say, so what a client or an upstream chose, a tool's
//! name above all, must never be able to write one. Each format has its own escapes and gets them
//! where they count. A record is told once, in one piece and without any of the result.

use std::fmt::Write as _;

use birdstrike_wire::json;
use jiff::Timestamp;

use super::record::{Record, Value};
use crate::config::AuditFormat;

/// The vendor and the product in the headers.
pub const VENDOR: &str = "birdstrike";
/// See [`VENDOR`].
pub const PRODUCT: &str = "birdstrike-gateway";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The priority of syslog records: facility 13, log audit; severity informational and warning.
const PRIORITIES: [u8; 2] = [13 * 8 + 6, 13 * 8 + 4];
/// The id of the structured data. 32473 is the enterprise number for examples (RFC 5612).
const SD_ID: &str = "call@32473";

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The records that a call is told in.
    pub records: fn(Record) -> Vec<Record>,
    /// The kind of trouble, as every format tells it.
    pub error_type: fn(&Record) -> Option<String>,
    /// A text of the header of CEF or LEEF.
    pub header: fn(&str) -> String,
    /// A value of the extension of CEF.
    pub cef_value: fn(&str) -> String,
    /// A value of an attribute of LEEF.
    pub leef_value: fn(&str) -> String,
    /// A value of the structured data of RFC 5424.
    pub sd_value: fn(&str) -> String,
    /// A value of a JSON line, as JSON text.
    pub json_value: fn(&Value) -> String,
    /// A time in a syslog header.
    pub timestamp: fn(Timestamp) -> String,
    /// A record in a TCP stream.
    pub frame: fn(&str) -> Vec<u8>,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        records,
        error_type,
        header,
        cef_value,
        leef_value,
        sd_value,
        json_value,
        timestamp,
        frame,
    };
}

/// One.
pub fn records(record: Record) -> Vec<Record> {
    vec![record]
}

/// A word of a short list, never the upstream's own words.
pub fn error_type(record: &Record) -> Option<String> {
    record.error_type.map(str::to_owned)
}

/// Control characters that no escape has taken care of become visible signs: a line break inside a
/// record would begin another.
pub fn on_one_line(text: &str) -> String {
    let visible = |char: char| match u32::from(char) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7F => '\u{2421}',
        0x80..0xA0 | 0x2028 | 0x2029 => char::REPLACEMENT_CHARACTER,
        _ => char,
    };
    text.chars().map(visible).collect()
}

/// The pipe ends a field, the backslash escapes.
pub fn header(text: &str) -> String {
    on_one_line(&text.replace('\\', "\\\\").replace('|', "\\|"))
}

/// The equals sign ends a key, the backslash escapes; a pipe is plain.
pub fn cef_value(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('=', "\\=");
    on_one_line(&text.replace('\n', "\\n").replace('\r', "\\r"))
}

/// The tab ends an attribute. The format has no escapes of its own; these are those of CEF.
pub fn leef_value(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\t', "\\t");
    on_one_line(&text.replace('\n', "\\n").replace('\r', "\\r"))
}

/// Quote, backslash and bracket (RFC 5424, section 6.3.3).
pub fn sd_value(text: &str) -> String {
    on_one_line(&text.replace('\\', "\\\\").replace('"', "\\\"").replace(']', "\\]"))
}

/// Quoted by a writer of JSON.
pub fn json_value(value: &Value) -> String {
    value.json()
}

/// To the millisecond: RFC 5424 allows six digits of a fraction, and a clock has nine.
pub fn timestamp(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// Octet counting (RFC 6587, section 3.4.1): the length in bytes, a space, the record.
pub fn frame(record: &str) -> Vec<u8> {
    format!("{} {record}", record.len()).into_bytes()
}

/// A call in one of the formats, without a line end.
pub fn line(record: &Record, format: AuditFormat, steps: &Steps) -> String {
    match format {
        AuditFormat::Cef => cef(record, steps),
        AuditFormat::Leef => leef(record, steps),
        AuditFormat::Jsonl => jsonl(record, steps),
        AuditFormat::Syslog => syslog(record, steps),
    }
}

/// A call as a message of a syslog transport.
pub fn message(record: &Record, format: AuditFormat, steps: &Steps) -> String {
    let line = line(record, format, steps);
    match format {
        AuditFormat::Syslog => line,
        _ => format!("{} - {line}", syslog_header(record, steps)),
    }
}

/// The members of a record with their values as text, the kind of trouble as the step has it.
fn members(record: &Record, steps: &Steps) -> Vec<(&'static str, Value)> {
    let mut members = record.members();
    for (name, value) in &mut members {
        if *name == "error_type"
            && let Some(word) = (steps.error_type)(record)
        {
            *value = Value::Text(word);
        }
    }
    members
}

fn cef(record: &Record, steps: &Steps) -> String {
    let severity = if record.finish.is_failed() { 6 } else { 3 };
    let mut out = format!(
        "CEF:0|{VENDOR}|{PRODUCT}|{VERSION}|{}|{}|{severity}|rt={}",
        record.finish.event(),
        (steps.header)(&format!("Call of {}", record.tool)),
        record.began.as_millisecond(),
    );
    // Where there is a key for it in the dictionary it is used; the rest are custom keys with labels.
    let (mut texts, mut numbers) = (0, 0);
    for (name, value) in members(record, steps) {
        let written = (steps.cef_value)(&value.text());
        let key = match name {
            "call_id" => "externalId",
            "tool" => "act",
            "upstream" => "destinationServiceName",
            "caller" => "suser",
            "outcome" => "outcome",
            "error_type" => "reason",
            "bytes" => "in",
            _ if matches!(value, Value::Number(_)) => {
                numbers += 1;
                let _ = write!(out, " cn{numbers}Label={name} cn{numbers}={written}");
                continue;
            }
            _ => {
                texts += 1;
                let _ = write!(out, " cs{texts}Label={name} cs{texts}={written}");
                continue;
            }
        };
        let _ = write!(out, " {key}={written}");
    }
    out
}

fn leef(record: &Record, steps: &Steps) -> String {
    let severity = if record.finish.is_failed() { 6 } else { 3 };
    let event = (steps.header)(record.finish.event());
    let mut out = format!(
        "LEEF:2.0|{VENDOR}|{PRODUCT}|{VERSION}|{event}|x09|devTime={}\tsev={severity}",
        record.began.as_millisecond(),
    );
    for (name, value) in members(record, steps) {
        let key = if name == "caller" { "usrName" } else { name };
        let written = (steps.leef_value)(&value.text());
        let _ = write!(out, "\t{key}={written}");
    }
    out
}

fn jsonl(record: &Record, steps: &Steps) -> String {
    let mut out = format!(
        "{{\"time\":{},\"type\":\"{}\"",
        json::quote(&(steps.timestamp)(record.began)),
        record.finish.event()
    );
    for (name, value) in members(record, steps) {
        let _ = write!(out, ",\"{name}\":{}", (steps.json_value)(&value));
    }
    out.push('}');
    out
}

fn syslog(record: &Record, steps: &Steps) -> String {
    let mut out = format!("{} [{SD_ID}", syslog_header(record, steps));
    for (name, value) in members(record, steps) {
        let written = (steps.sd_value)(&value.text());
        let _ = write!(out, " {name}=\"{written}\"");
    }
    out.push_str("] Call ");
    out.push_str(record.finish.as_str());
    out
}

/// Up to and without the structured data. Host and process are not known here, or say nothing.
fn syslog_header(record: &Record, steps: &Steps) -> String {
    let priority = PRIORITIES[usize::from(record.finish.is_failed())];
    let (at, event) = ((steps.timestamp)(record.ended), record.finish.event());
    format!("<{priority}>1 {at} - {PRODUCT} - {event}")
}

#[cfg(test)]
mod tests;
