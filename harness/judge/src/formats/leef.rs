//! LEEF, the Log Event Extended Format of `QRadar`, versions 1.0 and 2.0.
//!
//! `LEEF:1.0|vendor|product|version|event|key=value<tab>key=value`; version 2.0 has one more header
//! field, which names the delimiter as a character or in hexadecimal (`^`, `x5E`, `0x5E`; empty
//! means tab).
//!
//! No escapes of its own are taken for granted. Writers that escape follow CEF, so these are
//! resolved here: `\|` and `\\` in the header; `\\`, `\=`, `\|`, `\n`, `\r`, `\t` and an escaped
//! delimiter in attributes. Only the first equals sign of an attribute separates.

use std::ops::Range;

use super::draft::{Draft, Escapes, find_unescaped};
use super::{BreakKind, Format, Part, Record, syslog};

/// The names of the header fields that both versions have.
pub const HEADER: [&str; 5] = ["leefVersion", "vendor", "product", "productVersion", "eventId"];

const IN_HEADER: Escapes<'static> = &[(b"\\", b"\\"), (b"|", b"|")];
const TAB: &[u8] = b"\t";

/// Reads one record, alone or behind a syslog header, with or without its line end. Never fails:
/// see [`Record::breaks`].
///
/// The delimiter field of version 2.0 is kept as `delimiter`, as it is written. An attribute without
/// an equals sign becomes a field without a name.
pub fn parse(record: &[u8]) -> Record {
    let mut draft = Draft::new(Format::Leef, record);
    if let Some(start) = syslog::skip_envelope(&mut draft, b"LEEF:")
        && let Some((start, delimiter)) = header(&mut draft, start)
    {
        attributes(&mut draft, start, &delimiter);
    }
    draft.finish()
}

/// Reads the header: where the attributes begin and what stands between them.
fn header(draft: &mut Draft<'_>, start: usize) -> Option<(usize, Vec<u8>)> {
    let bytes = draft.bytes();
    let mut at = start;
    let mut second = false;
    for name in HEADER {
        let found = find_unescaped(bytes, at, b'|');
        let end = found.unwrap_or(bytes.len());
        draft.field(Part::Header, name, at..end, IN_HEADER);
        let value = &bytes[at..end];
        if value.trim_ascii().is_empty() {
            draft.note(at, BreakKind::EmptyField, format!("{name} is empty"));
        } else if name == HEADER[0] {
            second = value == b"2.0";
            if !second && value != b"1.0" {
                draft.note_at(at..end, BreakKind::BadVersion, "a version other than 1.0 and 2.0");
            }
        }
        if found.is_none() {
            draft.note(end, BreakKind::MissingField, format!("no pipe ends {name}"));
            return None;
        }
        at = end + 1;
    }
    Some(if second { delimiter(draft, at) } else { (at, TAB.to_vec()) })
}

/// Reads the sixth header field of version 2.0. Text that can only be an attribute is taken for one.
fn delimiter(draft: &mut Draft<'_>, at: usize) -> (usize, Vec<u8>) {
    let bytes = draft.bytes();
    let found = bytes[at..].iter().position(|byte| *byte == b'|').map(|found| at + found);
    let Some(end) = found.filter(|end| *end == at + 1 || !bytes[at..*end].contains(&b'=')) else {
        draft.note(at, BreakKind::BadDelimiter, "no delimiter field; tab is assumed");
        return (at, TAB.to_vec());
    };
    draft.plain(Part::Header, "delimiter", at..end);
    let delimiter = named(&bytes[at..end]).unwrap_or_else(|| {
        draft.note_at(at..end, BreakKind::BadDelimiter, "no usable character; tab is assumed");
        TAB.to_vec()
    });
    (end + 1, delimiter)
}

/// The delimiter that a header field names.
fn named(field: &[u8]) -> Option<Vec<u8>> {
    if field.is_empty() {
        return Some(TAB.to_vec());
    }
    let text = std::str::from_utf8(field).ok()?;
    let mut chars = text.chars();
    let character = if let (Some(only), None) = (chars.next(), chars.next()) {
        only
    } else {
        let hex = text.strip_prefix('0').unwrap_or(text).strip_prefix(['x', 'X'])?;
        if hex.len() > 4 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        char::from_u32(u32::from_str_radix(hex, 16).ok()?)?
    };
    // A reader could not tell these from the rest of the syntax.
    let usable = !matches!(character, '=' | '\\' | '\n' | '\r') && !character.is_alphanumeric();
    usable.then(|| character.to_string().into_bytes())
}

/// Reads the attributes in one pass.
fn attributes(draft: &mut Draft<'_>, start: usize, delimiter: &[u8]) {
    let bytes = draft.bytes();
    let escapes = [
        (&b"\\"[..], &b"\\"[..]),
        (b"=", b"="),
        (b"|", b"|"),
        (b"n", b"\n"),
        (b"r", b"\r"),
        (b"t", b"\t"),
        (delimiter, delimiter),
    ];
    let mut first = start;
    let mut equals = None;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            let escaped = &bytes[at + 1..];
            at += 1 + if escaped.starts_with(delimiter) { delimiter.len() } else { 1 };
        } else if bytes[at..].starts_with(delimiter) {
            attribute(draft, first..at, equals, &escapes, first == start);
            at += delimiter.len();
            first = at;
            equals = None;
        } else {
            if bytes[at] == b'=' && equals.is_none() {
                equals = Some(at);
            }
            at += 1;
        }
    }
    // A delimiter behind the last attribute is what many writers do.
    if first < bytes.len() {
        attribute(draft, first..bytes.len(), equals, &escapes, first == start);
    }
}

/// Adds one attribute; `equals` is where its first unescaped equals sign stands.
fn attribute(
    draft: &mut Draft<'_>,
    span: Range<usize>,
    equals: Option<usize>,
    escapes: Escapes<'_>,
    is_first: bool,
) {
    let bytes = draft.bytes();
    let key = span.start..equals.unwrap_or(span.end);
    if span.is_empty() {
        draft.note(span.start, BreakKind::EmptyField, "nothing between two delimiters");
        return;
    }
    if is_first && bytes[key.clone()].contains(&b'|') {
        let words = "a pipe before the first key; one in the header was not escaped";
        draft.note_at(key.clone(), BreakKind::ExtraPipe, words);
    }
    let Some(equals) = equals.filter(|at| *at > span.start) else {
        draft.note_at(span.clone(), BreakKind::StrayText, "an attribute without a key");
        draft.field(Part::Body, "", span, escapes);
        return;
    };
    if !bytes[key.clone()].iter().all(u8::is_ascii_graphic) {
        draft.note_at(key.clone(), BreakKind::BadField, "a key with spaces or beyond ASCII");
    }
    let value = equals + 1..span.end;
    let is_scale = matches!(&bytes[value.clone()], [b'1'..=b'9'] | b"10");
    if &bytes[key.clone()] == b"sev" && !is_scale {
        draft.note_at(value.clone(), BreakKind::BadSeverity, "not 1 to 10");
    }
    draft.keyed(key, value, escapes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(record: &Record) -> Vec<(&str, &str)> {
        let body = record.fields.iter().filter(|field| field.part == Part::Body);
        body.map(|field| (&*field.name, &*field.value)).collect()
    }

    fn kinds(record: &Record) -> Vec<BreakKind> {
        record.breaks.iter().map(|found| found.kind).collect()
    }

    #[test]
    fn both_versions_and_every_spelling_of_a_delimiter() {
        for bytes in [
            &b"LEEF:1.0|Acme|Gate|1.0|call|src=1.1.1.1\tsev=5\tmsg=a=b"[..],
            b"LEEF:2.0|Acme|Gate|1.0|call|^|src=1.1.1.1^sev=5^msg=a=b",
            b"LEEF:2.0|Acme|Gate|1.0|call|x5E|src=1.1.1.1^sev=5^msg=a=b",
            b"LEEF:2.0|Acme|Gate|1.0|call|0x5e|src=1.1.1.1^sev=5^msg=a=b^",
            b"LEEF:2.0|Acme|Gate|1.0|call|0xA6|src=1.1.1.1\xC2\xA6sev=5\xC2\xA6msg=a=b",
            b"LEEF:2.0|Acme|Gate|1.0|call||src=1.1.1.1\tsev=5\tmsg=a=b\n",
            b"<13>1 - h - - - - LEEF:1.0|Acme|Gate|1.0|call|src=1.1.1.1\tsev=5\tmsg=a=b",
        ] {
            let record = parse(bytes);
            assert!(record.breaks.is_empty(), "{record:?}");
            assert_eq!(body(&record), [("src", "1.1.1.1"), ("sev", "5"), ("msg", "a=b")]);
            assert_eq!(record.get("eventId"), Some("call"));
            assert_eq!(record.get("hostname"), bytes.starts_with(b"<").then_some("h"));
        }
    }

    #[test]
    fn escapes_are_resolved() {
        let record = parse(b"LEEF:2.0|A\\|B|G|1|c|^|msg=a\\^b\\=c\\\\d\\ne\\tf");
        assert!(record.is_sound(), "{record:?}");
        assert_eq!(record.get("vendor"), Some("A|B"));
        assert_eq!(record.get("msg"), Some("a^b=c\\d\ne\tf"));
    }

    #[test]
    fn a_raw_delimiter_forges_a_key() {
        let record = parse(b"LEEF:1.0|a|b|1|c|act=denied\tmsg=x\tact=allowed");
        assert_eq!(kinds(&record), [BreakKind::AmbiguousKey]);
        assert_eq!(record.values("act").count(), 2);
    }

    #[test]
    fn what_is_broken_is_noted_where_it_is() {
        for (bytes, kind, offset) in [
            (&b"CEF:0|a"[..], BreakKind::MissingPrefix, 0),
            (b"LEEF:3.0|a|b|1|c|k=v", BreakKind::BadVersion, 5),
            (b"LEEF:1.0|a||1|c|k=v", BreakKind::EmptyField, 11),
            (b"LEEF:1.0|a|b|1|c", BreakKind::MissingField, 16),
            (b"LEEF:1.0|a|b|1|c|d|k=v", BreakKind::ExtraPipe, 17),
            (b"LEEF:2.0|a|b|1|c|k=v", BreakKind::BadDelimiter, 17),
            (b"LEEF:2.0|a|b|1|c|^^|k=v", BreakKind::BadDelimiter, 17),
            (b"LEEF:2.0|a|b|1|c|=|k=v", BreakKind::BadDelimiter, 17),
            (b"LEEF:1.0|a|b|1|c|k=v\t\tl=w", BreakKind::EmptyField, 21),
            (b"LEEF:1.0|a|b|1|c|k=v\tword", BreakKind::StrayText, 21),
            (b"LEEF:1.0|a|b|1|c|k=v\ta b=c", BreakKind::BadField, 21),
            (b"LEEF:1.0|a|b|1|c|sev=11", BreakKind::BadSeverity, 21),
            (b"LEEF:1.0|a|b|1|c|k=\\x", BreakKind::UnknownEscape, 19),
            (b"LEEF:1.0|a|b|1|c|k=v\nw", BreakKind::RawNewline, 20),
            (b"LEEF:1.0|a|b|1|c|k=\xFF", BreakKind::InvalidUtf8, 19),
        ] {
            let record = parse(bytes);
            assert_eq!(kinds(&record), [kind], "{record:?}");
            assert_eq!(record.breaks[0].offset, offset, "{record:?}");
        }
    }
}
