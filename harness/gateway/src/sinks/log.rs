//! The line of a finished call in the log, and one for each change of its result.

use crate::log::{Line, Log};
use crate::surfaces::record::Record;

/// In full: with the arguments, and with the words of a failure.
pub(super) fn tell(log: &Log, record: &Record, in_full: bool) {
    let mut line = named(log.event("call"), record);
    if !record.caller.is_empty() {
        line = line.told("caller", &record.caller);
    }
    line = line.told("outcome", record.outcome.as_str());
    if let Some(code) = record.code {
        line = line.number("code", code.into());
    }
    if let Some(error_type) = record.error_type {
        line = line.told("error_type", error_type);
    }
    if let Some(words) = record.log_words.as_ref().filter(|_| in_full) {
        line = line.told("error", words);
    }
    line = line.number("bytes", record.bytes as i128);
    line = line.number("elapsed_ms", record.elapsed_ms.into());
    if in_full {
        line = line.json("arguments", &record.arguments);
        line = line.told("arguments_sha256", &record.arguments_sha256);
    }
    line.write();
    for change in &record.changes {
        let line = named(log.event("mutated"), record).told("mutator", change.mutator);
        let line = line.number("bytes_before", change.bytes_before as i128);
        line.number("bytes_after", change.bytes_after as i128).write();
    }
}

fn named<'a>(line: Line<'a>, record: &Record) -> Line<'a> {
    let line = line.told("call_id", &record.call_id).told("trace_id", &record.trace_id);
    let line = line.told("method", record.method);
    let line = line.told("route", record.route).told("tool", &record.tool);
    line.told("upstream", &record.upstream)
}
