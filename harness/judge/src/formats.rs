//! The line formats of audit exports and sinks, read so that their escaping is judged as well.
//!
//! A sink is read by somebody else's collector, which believes what the separators say. So a parser
//! here does two things: it splits a record as a collector would, and it notes every place at which
//! the writer broke the format. A record is never refused: what cannot be made sense of stays as a
//! field without a name, and the break says why.
//!
//! * [`cef`] and [`leef`] read the two SIEM formats, alone or behind a syslog header; [`jsonl`]
//!   reads JSON lines; [`syslog`] reads RFC 5424, and RFC 3164 with a note.
//! * [`framing`] cuts files, datagrams and TCP streams into records; [`read`] does both at once.
//! * [`mod@forged`] tells whether a planted value with separators in it stayed one value.
//!
//! Time is linear in the input. Breaks, fields and records are bounded by [`MAX_BREAKS`],
//! [`MAX_FIELDS`] and [`MAX_RECORDS`], the part of a record that is read by [`MAX_LINE`].
//!
//! ```
//! use birdstrike_judge::formats::{BreakKind, cef};
//!
//! let record = cef::parse(br"CEF:0|Acme|Gate|1.0|call|a\|b|5|act=denied msg=x act=allowed");
//! assert_eq!(record.get("name"), Some("a|b"));
//! assert_eq!(record.values("act").collect::<Vec<_>>(), ["denied", "allowed"]);
//! assert!(record.has(BreakKind::AmbiguousKey));
//! ```

pub mod cef;
mod draft;
pub mod forged;
pub mod framing;
pub mod jsonl;
mod kind;
pub mod leef;
mod structured;
pub mod syslog;
mod time;

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use forged::{Fate, Place, Planted, forged};
pub use framing::{Frame, Framing};
pub use kind::BreakKind;

/// How many breaks one record tells at most, besides those of its framing; the last of them then
/// says that there are more.
pub const MAX_BREAKS: usize = 64;
/// How many fields one record keeps at most.
pub const MAX_FIELDS: usize = 4096;
/// How many records, frames or lines are read of one input at most.
pub const MAX_RECORDS: usize = 100_000;
/// How many bytes of one record are read at most (1 MiB).
pub const MAX_LINE: usize = 1 << 20;

/// What a record is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `ArcSight` Common Event Format.
    Cef,
    /// `QRadar` Log Event Extended Format, 1.0 and 2.0.
    Leef,
    /// One JSON object a line.
    JsonLines,
    /// RFC 5424; RFC 3164 is read too and noted as [`BreakKind::Legacy`].
    Syslog,
}

impl Format {
    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cef => "cef",
            Self::Leef => "leef",
            Self::JsonLines => "json-lines",
            Self::Syslog => "syslog",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One place at which a writer broke its format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Break {
    /// Bytes from the start of the input that was read.
    pub offset: usize,
    /// Which rule it broke.
    pub kind: BreakKind,
    /// The same for people: at most a few dozen bytes of the input are quoted, escaped.
    pub words: String,
}

/// Which part of a record a field stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// A syslog header in front of a CEF or LEEF record.
    Envelope,
    /// The fixed fields of the format itself, structured data of syslog included.
    Header,
    /// Extension, attributes, members, message.
    Body,
}

/// One value of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Where it stands.
    pub part: Part,
    /// Its key, or the name that the format's specification gives to its position. Empty for text
    /// that belongs to no key.
    pub name: String,
    /// What it says: escapes resolved, bytes that are not UTF-8 replaced by U+FFFD.
    pub value: String,
    /// Where the value stands as written, in bytes from the start of the input.
    pub span: Range<usize>,
}

/// One record, split as a collector would split it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The format that it was read as.
    pub format: Format,
    /// Every field in the order written, repeated keys included.
    pub fields: Vec<Field>,
    /// Where it stands, in bytes from the start of the input, its line end not included.
    pub span: Range<usize>,
    /// What its writer did wrong: in order of offset, save that the breaks of a record's framing
    /// follow its own.
    pub breaks: Vec<Break>,
}

impl Record {
    /// The value of the first field of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|field| field.name == name).map(|field| &*field.value)
    }

    /// The values of all fields of that name, in the order written.
    pub fn values<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        self.fields.iter().filter(move |field| field.name == name).map(|field| &*field.value)
    }

    /// The first field of that name in one part of the record.
    pub fn field(&self, part: Part, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.part == part && field.name == name)
    }

    /// The fields of the body whose keys are none of these: what a forged key adds to the keys that
    /// a writer is known to use.
    pub fn beyond<'r>(&'r self, known: &'r [&str]) -> impl Iterator<Item = &'r Field> {
        let body = self.fields.iter().filter(|field| field.part == Part::Body);
        body.filter(move |field| !known.contains(&&*field.name))
    }

    /// Whether a break of that kind was noted.
    pub fn has(&self, kind: BreakKind) -> bool {
        self.breaks.iter().any(|found| found.kind == kind)
    }

    /// Whether nothing was noted but remarks ([`BreakKind::is_remark`]).
    pub fn is_sound(&self) -> bool {
        self.breaks.iter().all(|found| found.kind.is_remark())
    }

    /// Its bytes in the input that it was read from; empty for any input that is too short.
    pub fn raw<'b>(&self, input: &'b [u8]) -> &'b [u8] {
        input.get(self.span.clone()).unwrap_or_default()
    }

    /// Moves every offset on by a number of bytes: what a record of a slice needs to become one of
    /// the whole input.
    pub fn shift(&mut self, bytes: usize) {
        let moved = |span: &Range<usize>| span.start + bytes..span.end + bytes;
        self.span = moved(&self.span);
        for field in &mut self.fields {
            field.span = moved(&field.span);
        }
        for found in &mut self.breaks {
            found.offset += bytes;
        }
    }
}

/// Reads all records of an input. Blank lines and whatever exceeds [`MAX_RECORDS`] become records
/// without fields, so that no byte goes unaccounted for.
pub fn read(format: Format, framing: Framing, input: &[u8]) -> Vec<Record> {
    let frames = framing::cut(framing, input);
    frames.into_iter().map(|frame| read_frame(format, input, frame)).collect()
}

/// Reads one record of a format; offsets count from the start of `record`.
pub fn read_one(format: Format, record: &[u8]) -> Record {
    match format {
        Format::Cef => cef::parse(record),
        Format::Leef => leef::parse(record),
        Format::JsonLines => jsonl::record(record),
        Format::Syslog => syslog::parse(record),
    }
}

fn read_frame(format: Format, input: &[u8], frame: Frame) -> Record {
    let Frame { span, breaks, .. } = frame;
    let unread = |found: &Break| matches!(found.kind, BreakKind::BlankLine | BreakKind::TooMany);
    if breaks.iter().any(unread) {
        return Record { format, fields: Vec::new(), span, breaks };
    }
    let mut record = read_one(format, input.get(span.clone()).unwrap_or_default());
    record.shift(span.start);
    record.breaks.extend(breaks);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_feed_in_a_value_makes_two_records_that_know_their_places() {
        let input = b"CEF:0|a|b|1|c|d|3|msg=x\nact=allowed\n";
        let records = read(Format::Cef, Framing::Lines, input);
        assert_eq!(records.len(), 2);
        assert!(records[0].is_sound());
        assert!(records[1].has(BreakKind::MissingPrefix));
        assert_eq!(records[1].raw(input), b"act=allowed");
        assert_eq!(records[1].breaks[0].offset, 24);
    }

    #[test]
    fn blank_lines_are_told_once_a_run() {
        let records = read(Format::JsonLines, Framing::Lines, b"{}\n\n \r\n\n{\"a\":1}\n");
        let blank: Vec<_> = records.iter().map(|r| r.has(BreakKind::BlankLine)).collect();
        assert_eq!(blank, [false, true, false]);
        assert_eq!(records[2].fields[0].span, 13..14);
    }

    #[test]
    fn keys_beyond_the_known_ones_are_found() {
        let record = cef::parse(b"CEF:0|a|b|1|c|d|3|msg=x suser=admin");
        let beyond: Vec<_> = record.beyond(&["msg"]).map(|field| &*field.name).collect();
        assert_eq!(beyond, ["suser"]);
    }
}
