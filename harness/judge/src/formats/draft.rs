//! A record while it is being read, and what all formats do alike.

use std::collections::HashSet;
use std::ops::Range;

use memchr::{memchr, memchr2_iter};

use super::{Break, BreakKind, Field, Format, MAX_BREAKS, MAX_FIELDS, MAX_LINE, Part, Record};

/// What may follow a backslash, and what the two mean.
pub(super) type Escapes<'e> = &'e [(&'e [u8], &'e [u8])];

/// How much of the input a break quotes, in bytes.
const QUOTED: usize = 32;
/// How many line breaks, and how many places that are not UTF-8, are told of one record, so that
/// they leave room for other breaks.
const ALIKE: usize = MAX_BREAKS / 4;

/// A record under construction. Every span that it takes must lie inside [`Draft::bytes`].
pub(super) struct Draft<'a> {
    bytes: &'a [u8],
    record: Record,
    keys: HashSet<&'a [u8]>,
    full: bool,
}

impl<'a> Draft<'a> {
    /// Begins a record: drops its line end, and notes what is wrong in any format.
    pub(super) fn new(format: Format, record: &'a [u8]) -> Self {
        let whole = trim_end(record);
        let bytes = &whole[..whole.len().min(MAX_LINE)];
        let cut = bytes.len() < whole.len();
        let record =
            Record { format, fields: Vec::new(), span: 0..whole.len(), breaks: Vec::new() };
        let mut draft = Self { bytes, record, keys: HashSet::new(), full: false };
        if cut {
            let words = format!("{} bytes, of which {MAX_LINE} are read", whole.len());
            draft.note(bytes.len(), BreakKind::TooLong, words);
        }
        draft.note_newlines();
        draft.note_utf8(cut);
        draft
    }

    /// The bytes that are read, without the line end.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether a break of that kind was noted so far.
    pub(super) fn has(&self, kind: BreakKind) -> bool {
        self.record.has(kind)
    }

    /// Notes a break.
    pub(super) fn note(&mut self, offset: usize, kind: BreakKind, words: impl Into<String>) {
        let breaks = &mut self.record.breaks;
        if breaks.len() + 1 < MAX_BREAKS {
            breaks.push(Break { offset, kind, words: words.into() });
        } else if breaks.len() < MAX_BREAKS {
            let words = "more breaks than are told".to_owned();
            breaks.push(Break { offset, kind: BreakKind::TooMany, words });
        }
    }

    /// Notes a break about some bytes, which are quoted behind the words.
    pub(super) fn note_at(&mut self, span: Range<usize>, kind: BreakKind, words: &str) {
        let start = span.start;
        let words = format!("{words}: {}", quote(&self.bytes[span]));
        self.note(start, kind, words);
    }

    /// What the bytes of a span say once these escapes are resolved; other backslashes are noted
    /// and stay.
    fn text(&mut self, span: Range<usize>, escapes: Escapes<'_>) -> String {
        let bytes = &self.bytes[span.clone()];
        let mut said = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while let Some(found) = memchr(b'\\', &bytes[at..]) {
            let slash = at + found;
            said.extend_from_slice(&bytes[at..slash]);
            let rest = &bytes[slash + 1..];
            if let Some((written, meant)) = escapes.iter().find(|(w, _)| rest.starts_with(w)) {
                said.extend_from_slice(meant);
                at = slash + 1 + written.len();
            } else {
                let here = span.start + slash;
                let end = (here + 2).min(span.end);
                self.note_at(here..end, BreakKind::UnknownEscape, "no escape of this format");
                said.push(b'\\');
                at = slash + 1;
            }
        }
        said.extend_from_slice(&bytes[at..]);
        lossy(said)
    }

    /// Adds a field whose value is written with these escapes.
    pub(super) fn field(
        &mut self,
        part: Part,
        name: &str,
        span: Range<usize>,
        escapes: Escapes<'_>,
    ) {
        if self.has_room(span.start) {
            let value = self.text(span.clone(), escapes);
            self.record.fields.push(Field { part, name: name.to_owned(), value, span });
        }
    }

    /// Adds a field whose value is taken as it is written.
    pub(super) fn plain(&mut self, part: Part, name: &str, span: Range<usize>) {
        let value = String::from_utf8_lossy(&self.bytes[span.clone()]).into_owned();
        self.said(part, name, value, span);
    }

    /// Adds a field whose value was worked out by the caller.
    pub(super) fn said(&mut self, part: Part, name: &str, value: String, span: Range<usize>) {
        if self.has_room(span.start) {
            self.record.fields.push(Field { part, name: name.to_owned(), value, span });
        }
    }

    /// Adds a field of the body under the key that stands at `key`, and notes a key that repeats.
    pub(super) fn keyed(&mut self, key: Range<usize>, value: Range<usize>, escapes: Escapes<'_>) {
        if self.has_room(key.start) {
            self.claim(
                key.clone(),
                "comes again; an earlier value may hold an unescaped separator",
            );
            let name = String::from_utf8_lossy(&self.bytes[key]).into_owned();
            self.field(Part::Body, &name, value, escapes);
        }
    }

    /// Notes a key that was claimed before.
    pub(super) fn claim(&mut self, key: Range<usize>, words: &str) {
        let bytes = &self.bytes[key.clone()];
        if !self.full && !self.keys.insert(bytes) {
            self.note(key.start, BreakKind::AmbiguousKey, format!("{} {words}", quote(bytes)));
        }
    }

    /// The finished record, its breaks in order.
    pub(super) fn finish(mut self) -> Record {
        self.record.breaks.sort_by_key(|found| found.offset);
        self.record
    }

    /// Whether another field may be added; the first one that may not is noted.
    fn has_room(&mut self, offset: usize) -> bool {
        if self.record.fields.len() < MAX_FIELDS {
            return true;
        }
        if !self.full {
            self.full = true;
            self.note(offset, BreakKind::TooMany, "more fields than are kept");
        }
        false
    }

    fn note_newlines(&mut self) {
        let bytes = self.bytes;
        for at in memchr2_iter(b'\n', b'\r', bytes).take(ALIKE) {
            let what = if bytes[at] == b'\n' { "line feed" } else { "carriage return" };
            self.note(at, BreakKind::RawNewline, format!("a raw {what} inside the record"));
        }
    }

    /// Notes bytes that are not UTF-8; a character that only the limit on length cuts is none.
    fn note_utf8(&mut self, cut: bool) {
        let bytes = self.bytes;
        let mut at = 0;
        let mut told = 0;
        for chunk in bytes.utf8_chunks() {
            at += chunk.valid().len();
            let end = at + chunk.invalid().len();
            if end > at && !(cut && end == bytes.len()) {
                self.note_at(at..end, BreakKind::InvalidUtf8, "not UTF-8");
                told += 1;
            }
            if told == ALIKE {
                break;
            }
            at = end;
        }
    }
}

/// Some bytes for people: at most a few dozen, in quotes, nothing unprintable. What is not UTF-8 is
/// shown in hexadecimal.
fn quote(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(QUOTED)];
    let more = if shown.len() < bytes.len() { "…" } else { "" };
    let mut words = String::new();
    for chunk in shown.utf8_chunks() {
        words.extend(chunk.valid().escape_debug());
        for byte in chunk.invalid() {
            words.push_str(&format!("\\x{byte:02x}"));
        }
    }
    format!("\"{words}{more}\"")
}

/// The position of the next byte of that value that no backslash precedes, from `at` on.
pub(super) fn find_unescaped(bytes: &[u8], mut at: usize, wanted: u8) -> Option<usize> {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if byte == wanted => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// The bytes without one LF or CR LF at their end.
fn trim_end(bytes: &[u8]) -> &[u8] {
    let Some(line) = bytes.strip_suffix(b"\n") else {
        return bytes;
    };
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}
