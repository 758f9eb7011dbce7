//! Fields, and the block of them that becomes an event.

use std::mem;
use std::time::Duration;

use memchr::memchr;

use super::{BreakKind, Event, Report};

/// The mark that may stand once, at the start of a stream.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// One line, split at its first colon.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) name: &'a [u8],
    /// The value, or as much of it as was kept.
    value: &'a [u8],
    /// Where the line begins in the stream.
    line_start: u64,
    /// Where the value begins in the stream.
    value_start: u64,
    /// The length of the value as it was sent.
    pub(super) value_len: u64,
    /// Whether all of the value was sent and kept.
    is_whole: bool,
}

impl<'a> Field<'a> {
    /// Reads a line of `len` bytes of which `kept` are here. One space after the colon goes.
    pub(super) fn new(line_start: u64, kept: &'a [u8], len: u64) -> Self {
        let colon = memchr(b':', kept);
        let value_at =
            colon.map_or(kept.len(), |at| at + 1 + usize::from(kept.get(at + 1) == Some(&b' ')));
        Self {
            is_whole: kept.len() as u64 == len,
            name: &kept[..colon.unwrap_or(kept.len())],
            value: &kept[value_at..],
            line_start,
            value_start: line_start + value_at as u64,
            value_len: len.saturating_sub(value_at as u64),
        }
    }

    /// The same field, of whose line the end never came.
    pub(super) fn without_end(self) -> Self {
        Self { is_whole: false, ..self }
    }

    fn note(&self, in_value: usize, kind: BreakKind, report: &mut Report) {
        report.note(self.value_start + in_value as u64, kind);
    }

    fn check_utf8(&self, report: &mut Report) {
        if let Err(error) = std::str::from_utf8(self.value) {
            // Where the value is cut, its last character may be cut too: that is no break.
            if self.is_whole || error.error_len().is_some() {
                self.note(error.valid_up_to(), BreakKind::InvalidUtf8, report);
            }
        }
    }

    /// The value as text, bad bytes replaced as the standard does; `None` when it is cut.
    fn text(&self, report: &mut Report) -> Option<String> {
        self.check_utf8(report);
        let text = String::from_utf8_lossy(self.value);
        self.is_whole.then(|| text.into_owned())
    }
}

/// The event being built.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Where its first line begins that is no comment.
    pub(super) start: Option<u64>,
    pub(super) event: Event,
    /// Whether it has a known field, and so is an event.
    is_event: bool,
    /// Some data did not fit: what follows is only counted, so that there is no hole.
    is_cut: bool,
}

impl Block {
    /// Adds a line; `limit` is that of the data in bytes.
    pub(super) fn take(&mut self, field: Field<'_>, limit: usize, report: &mut Report) {
        match field.name {
            b"data" => self.data(field, limit, report),
            b"event" => {
                if let Some(text) = field.text(report) {
                    self.event.event = Some(text).filter(|text| !text.is_empty());
                }
            }
            b"id" => self.id(field, report),
            b"retry" => self.retry(field, report),
            name => {
                let kind = if name.starts_with(BOM) {
                    BreakKind::BomInside
                } else {
                    BreakKind::UnknownField
                };
                report.note(field.line_start, kind);
                return;
            }
        }
        self.is_event = true;
    }

    fn data(&mut self, field: Field<'_>, limit: usize, report: &mut Report) {
        field.check_utf8(report);
        let event = &mut self.event;
        let joint: &[u8] = if event.data_lines > 0 { b"\n" } else { b"" };
        event.data_lines += 1;
        event.data_len += field.value_len + joint.len() as u64;
        if self.is_cut {
            return;
        }
        for part in [joint, field.value] {
            let room = limit.saturating_sub(event.data.len());
            event.data.extend_from_slice(&part[..part.len().min(room)]);
        }
        self.is_cut = event.data.len() as u64 != event.data_len;
    }

    fn id(&mut self, field: Field<'_>, report: &mut Report) {
        if let Some(nul) = memchr(0, field.value) {
            field.note(nul, BreakKind::NulInId, report);
        } else if let Some(text) = field.text(report) {
            self.event.id = Some(text);
        }
    }

    fn retry(&mut self, field: Field<'_>, report: &mut Report) {
        if field.value.is_empty() || !field.value.iter().all(u8::is_ascii_digit) {
            field.note(0, BreakKind::InvalidRetry, report);
        } else if let Some(text) = field.text(report) {
            // All digits: a number that does not fit is merely too large.
            let millis = text.parse().unwrap_or(u64::MAX);
            self.event.retry = Some(millis);
            report.retry = Some(millis);
        }
    }

    /// Ends the block at the offset `end`, and gives it as an event if it is one.
    pub(super) fn end(
        &mut self,
        end: u64,
        at: Duration,
        unfinished: bool,
        report: &mut Report,
    ) -> Option<Event> {
        let block = mem::take(self);
        let start = block.start.filter(|_| block.is_event)?;
        let mut event = block.event;
        if let (Some(id), false) = (&event.id, unfinished) {
            report.last_event_id.clone_from(id);
        }
        event.last_event_id.clone_from(&report.last_event_id);
        event.span = start..end;
        event.at = at;
        event.unfinished = unfinished;
        Some(event)
    }
}
