//! CEF, the Common Event Format of `ArcSight` (implementation standard, versions 0 and 1).
//!
//! `CEF:0|vendor|product|version|class|name|severity|key=value key=value`. In the header a pipe and
//! a backslash are escaped; in the extension an equals sign, a backslash and line breaks are. A pipe
//! in the extension is plain, an equals sign in the header too: an escape there is one that readers
//! show as it is, so it is noted.

use std::ops::Range;

use super::draft::{Draft, Escapes, find_unescaped};
use super::{BreakKind, Format, Part, Record, syslog};

/// The names of the header fields: those that the specification gives them, in camel case.
pub const HEADER: [&str; 7] = [
    "cefVersion",
    "deviceVendor",
    "deviceProduct",
    "deviceVersion",
    "deviceEventClassId",
    "name",
    "severity",
];

const IN_HEADER: Escapes<'static> = &[(b"\\", b"\\"), (b"|", b"|")];
const IN_EXTENSION: Escapes<'static> =
    &[(b"\\", b"\\"), (b"=", b"="), (b"n", b"\n"), (b"r", b"\r")];

/// Reads one record, alone or behind a syslog header, with or without its line end. Never fails:
/// see [`Record::breaks`].
///
/// A key begins at the start of the extension or behind a space, and consists of letters, digits and
/// `_.-[]`. All spaces but the last before a key belong to the value before it. Text before the
/// first key becomes a field without a name.
pub fn parse(record: &[u8]) -> Record {
    let mut draft = Draft::new(Format::Cef, record);
    if let Some(start) = syslog::skip_envelope(&mut draft, b"CEF:")
        && let Some(start) = header(&mut draft, start)
    {
        extension(&mut draft, start);
    }
    draft.finish()
}

/// Reads the header; `None` if the record ends in it.
fn header(draft: &mut Draft<'_>, start: usize) -> Option<usize> {
    let bytes = draft.bytes();
    let mut at = start;
    for name in HEADER {
        let found = find_unescaped(bytes, at, b'|');
        let end = found.unwrap_or(bytes.len());
        draft.field(Part::Header, name, at..end, IN_HEADER);
        match &bytes[at..end] {
            value if value.trim_ascii().is_empty() => {
                draft.note(at, BreakKind::EmptyField, format!("{name} is empty"));
            }
            value if name == HEADER[0] && !matches!(value, b"0" | b"1") => {
                draft.note_at(at..end, BreakKind::BadVersion, "a version other than 0 and 1");
            }
            value if name == HEADER[6] && !is_severity(value) => {
                let words = "neither 0 to 10 nor Unknown, Low, Medium, High, Very-High";
                draft.note_at(at..end, BreakKind::BadSeverity, words);
            }
            _ => {}
        }
        if found.is_none() {
            draft.note(end, BreakKind::MissingField, format!("no pipe ends {name}"));
            return None;
        }
        at = end + 1;
    }
    Some(at)
}

fn is_severity(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] = [b"Unknown", b"Low", b"Medium", b"High", b"Very-High"];
    matches!(value, [b'0'..=b'9'] | b"10")
        || WORDS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// Reads the extension in one pass.
fn extension(draft: &mut Draft<'_>, start: usize) {
    let bytes = draft.bytes();
    let spaces = bytes[start..].iter().take_while(|byte| **byte == b' ').count();
    let first = start + spaces;
    // The key whose value is being read, and where that value begins.
    let mut open = None;
    let mut value = first;
    // Where a word began that can still become a key.
    let mut word = Some(first);
    let mut at = first;
    while let Some(&byte) = bytes.get(at) {
        match (byte, word) {
            (b' ', _) => word = Some(at + 1),
            (b'=', Some(key)) if key < at => {
                let end = key.saturating_sub(1).max(value);
                close(draft, open, value..end);
                open = Some(key..at);
                value = at + 1;
                word = None;
            }
            (b'=', _) => {
                draft.note(at, BreakKind::UnescapedEquals, "an equals sign that ends no key");
                word = None;
            }
            (b'\\', _) => {
                word = None;
                at += 1;
            }
            _ if !is_key_byte(byte) => word = None,
            _ => {}
        }
        at += 1;
    }
    close(draft, open, value..bytes.len());
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'[' | b']')
}

/// Adds a value whose end is known.
fn close(draft: &mut Draft<'_>, key: Option<Range<usize>>, value: Range<usize>) {
    match key {
        Some(key) => draft.keyed(key, value, IN_EXTENSION),
        None if value.is_empty() => {}
        None => {
            if draft.bytes()[value.clone()].contains(&b'|') {
                let words = "a pipe before the first key; one in the header was not escaped";
                draft.note_at(value.clone(), BreakKind::ExtraPipe, words);
            } else {
                draft.note_at(value.clone(), BreakKind::StrayText, "text before the first key");
            }
            draft.field(Part::Body, "", value, IN_EXTENSION);
        }
    }
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
    fn a_record_as_the_specification_shows_it() {
        let record = parse(
            b"Sep 19 08:26:10 host CEF:0|security|threat\\|manager|1.0|100|\
              detected a \\\\ in packet|10|src=10.0.0.1 act=blocked a \\= dst=1.1.1.1 msg=a\\nb|c",
        );
        assert!(record.breaks.is_empty(), "{:?}", record.breaks);
        assert_eq!(record.get("hostname"), Some("host"));
        assert_eq!(record.get("deviceProduct"), Some("threat|manager"));
        assert_eq!(record.get("name"), Some("detected a \\ in packet"));
        let expected =
            [("src", "10.0.0.1"), ("act", "blocked a ="), ("dst", "1.1.1.1"), ("msg", "a\nb|c")];
        assert_eq!(body(&record), expected);
    }

    #[test]
    fn spaces_belong_to_values_except_the_last() {
        let record = parse(b"CEF:1|a|b|1|c|d|Low| a= x   b= c=\r\n");
        assert_eq!(body(&record), [("a", " x  "), ("b", ""), ("c", "")]);
        assert!(record.is_sound());
        assert_eq!(record.span, 0..33);
    }

    #[test]
    fn no_extension_is_fine() {
        assert!(parse(b"CEF:0|a|b|1|c|d|0|").is_sound());
    }

    #[test]
    fn an_unescaped_pipe_moves_the_fields() {
        let record = parse(b"CEF:0|a|b|1|c|x|y|5|act=allowed msg=m");
        let expected = [BreakKind::BadSeverity, BreakKind::ExtraPipe, BreakKind::UnescapedEquals];
        assert_eq!(kinds(&record), expected);
        assert_eq!(body(&record), [("", "5|act=allowed"), ("msg", "m")]);
    }

    #[test]
    fn a_forged_key_that_repeats_is_ambiguous() {
        let record = parse(b"CEF:0|a|b|1|c|d|5|act=denied msg=x act=allowed suser=admin");
        assert_eq!(kinds(&record), [BreakKind::AmbiguousKey]);
        let escaped = parse(b"CEF:0|a|b|1|c|d|5|act=denied msg=x act\\=allowed suser\\=admin");
        assert_eq!(escaped.get("msg"), Some("x act=allowed suser=admin"));
        assert!(escaped.is_sound());
    }

    #[test]
    fn what_is_broken_is_noted_where_it_is() {
        for (bytes, kind, offset) in [
            (&b"hello"[..], BreakKind::MissingPrefix, 0),
            (b"CEF:2|a|b|1|c|d|5|", BreakKind::BadVersion, 4),
            (b"CEF:0|a||1|c|d|5|", BreakKind::EmptyField, 8),
            (b"CEF:0|a|b|1|c|d", BreakKind::MissingField, 15),
            (b"CEF:0|a|b|1|c|d|11|", BreakKind::BadSeverity, 16),
            (b"CEF:0|a|b|1|c|d\\=|5|", BreakKind::UnknownEscape, 15),
            (b"CEF:0|a|b|1|c|d|5|k=a\\|b", BreakKind::UnknownEscape, 21),
            (b"CEF:0|a|b|1|c|d|5|k=a\\", BreakKind::UnknownEscape, 21),
            (b"CEF:0|a|b|1|c|d|5|k=a=b", BreakKind::UnescapedEquals, 21),
            (b"CEF:0|a|b|1|c|d|5|k=a\tb=c", BreakKind::UnescapedEquals, 23),
            (b"CEF:0|a|b|1|c|d|5|k=a\nb", BreakKind::RawNewline, 21),
            (b"CEF:0|a|b|1|c|d|5|k=a\xC3", BreakKind::InvalidUtf8, 21),
            (b"CEF:0|a|b|1|c|d|5|words k=v", BreakKind::StrayText, 18),
            (b"some text CEF:0|a|b|1|c|d|5|k=v", BreakKind::StrayText, 0),
        ] {
            let record = parse(bytes);
            assert_eq!(kinds(&record), [kind], "{record:?}");
            assert_eq!(record.breaks[0].offset, offset, "{record:?}");
        }
    }

    #[test]
    fn hostile_records_stay_bounded() {
        let many = [b"CEF:0|a|b|1|c|d|5|".to_vec(), b"k=\\x ".repeat(100_000)].concat();
        let record = parse(&many);
        assert_eq!(record.breaks.len(), crate::formats::MAX_BREAKS);
        assert_eq!(record.fields.len(), crate::formats::MAX_FIELDS);
        let long = [b"CEF:0|a|b|1|c|d|5|k=".to_vec(), b"a=".repeat(1 << 20)].concat();
        assert!(parse(&long).has(BreakKind::TooLong));
    }
}
