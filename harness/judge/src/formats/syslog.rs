//! Syslog messages: RFC 5424 strictly, RFC 3164 as far as it can be told.

use memchr::{memchr, memmem};

use super::draft::Draft;
use super::{BreakKind, Format, Part, Record, structured, time};

pub use super::framing::frames;

const BOM: &[u8] = b"\xEF\xBB\xBF";
/// The header fields behind the version, and how many bytes each may have (RFC 5424, section 6).
const NAMES: [(&str, usize); 5] =
    [("timestamp", 32), ("hostname", 255), ("app-name", 48), ("procid", 128), ("msgid", 32)];

/// What a syslog header told.
struct Header {
    /// Where the message begins, a byte order mark skipped.
    message: usize,
    has_priority: bool,
    legacy: bool,
    has_bom: bool,
}

/// Reads one message, as it stands in a datagram or a frame. Never fails: see [`Record::breaks`].
///
/// The fields are `pri`, `version`, `timestamp`, `hostname`, `app-name`, `procid` and `msgid` (nil
/// values as `-`), `[id]name` for a parameter of structured data, `[id]` for an element without any,
/// and `msg`. A message with the header of RFC 3164 has `pri`, `timestamp`, `hostname`, `tag` and
/// `msg`, as far as they are there. Where structured data stops making sense, the rest is `msg`.
pub fn parse(message: &[u8]) -> Record {
    let mut draft = Draft::new(Format::Syslog, message);
    let bytes = draft.bytes();
    let Some(header) = header(&mut draft, Part::Header) else {
        if !draft.has(BreakKind::BadPriority) {
            draft.note(0, BreakKind::MissingPrefix, "no priority in angle brackets");
        }
        draft.plain(Part::Body, "", 0..bytes.len());
        return draft.finish();
    };
    if !header.has_priority {
        draft.note(0, BreakKind::MissingPrefix, "no priority in angle brackets");
    }
    let mut at = header.message;
    if header.legacy {
        draft.note(0, BreakKind::Legacy, "a header as in RFC 3164");
        at = tag(&mut draft, at);
    } else if !header.has_bom && !bytes[at..].is_ascii() {
        draft.note(at, BreakKind::MissingBom, "UTF-8 without a byte order mark");
    }
    if at < bytes.len() {
        draft.plain(Part::Body, "msg", at..bytes.len());
    }
    draft.finish()
}

/// Finds where a format begins that may stand behind a syslog header, and reads that header. Gives
/// the offset behind the prefix; without a prefix the text becomes a field without a name.
pub(super) fn skip_envelope(draft: &mut Draft<'_>, prefix: &[u8]) -> Option<usize> {
    let bytes = draft.bytes();
    if bytes.starts_with(prefix) {
        return Some(prefix.len());
    }
    let start = header(draft, Part::Envelope).map_or(0, |header| header.message);
    let Some(before) = memmem::find(&bytes[start..], prefix) else {
        let words = format!("no {} begins the record", String::from_utf8_lossy(prefix));
        draft.note(start, BreakKind::MissingPrefix, words);
        draft.plain(Part::Body, "", start..bytes.len());
        return None;
    };
    let found = start + before;
    match &bytes[start..found] {
        [] => {}
        [tag @ .., b':', b' '] if is_tag(tag) => {
            draft.plain(Part::Envelope, "tag", start..found - 2);
        }
        _ => {
            let words = "text before the record that is no syslog header";
            draft.note_at(start..found, BreakKind::StrayText, words);
            draft.plain(Part::Envelope, "", start..found);
        }
    }
    Some(found + prefix.len())
}

/// Reads the header of either RFC; `None` if there is none.
fn header(draft: &mut Draft<'_>, part: Part) -> Option<Header> {
    let bytes = draft.bytes();
    let priority = priority(draft, part);
    let start = priority.unwrap_or(0);
    let digits = bytes[start..].iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let versioned = (1..=3).contains(&digits) && bytes.get(start + digits) == Some(&b' ');
    if priority.is_some() && versioned {
        let version = start..start + digits;
        if &bytes[version.clone()] != b"1" {
            draft.note_at(version.clone(), BreakKind::BadVersion, "a version other than 1");
        }
        draft.plain(part, "version", version);
        let end = modern(draft, part, start + digits + 1);
        let has_bom = bytes[end..].starts_with(BOM);
        let message = if has_bom { end + BOM.len() } else { end };
        return Some(Header { message, has_priority: true, legacy: false, has_bom });
    }
    let message = legacy(draft, part, start).or(priority)?;
    Some(Header { message, has_priority: priority.is_some(), legacy: true, has_bom: false })
}

/// Reads `<PRI>`; gives the offset behind it.
fn priority(draft: &mut Draft<'_>, part: Part) -> Option<usize> {
    let bytes = draft.bytes();
    if bytes.first() != Some(&b'<') {
        return None;
    }
    let digits = bytes[1..].iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let end = 1 + digits;
    if !(1..=3).contains(&digits) || bytes.get(end) != Some(&b'>') {
        draft.note(0, BreakKind::BadPriority, "no number of up to three digits in brackets");
        return None;
    }
    let value = bytes[1..end].iter().fold(0, |sum, digit| sum * 10 + u32::from(digit & 0x0F));
    if value > 191 {
        draft.note_at(1..end, BreakKind::BadPriority, "a priority over 191");
    }
    draft.plain(part, "pri", 1..end);
    Some(end + 1)
}

/// Reads what follows the version in RFC 5424; gives where the message begins.
fn modern(draft: &mut Draft<'_>, part: Part, start: usize) -> usize {
    let bytes = draft.bytes();
    let mut at = start;
    for (name, most) in NAMES {
        let found = memchr(b' ', &bytes[at..]);
        let end = found.map_or(bytes.len(), |found| at + found);
        let value = &bytes[at..end];
        draft.plain(part, name, at..end);
        if value.is_empty() {
            draft.note(at, BreakKind::EmptyField, format!("{name} is empty; nil is a dash"));
        } else if name == "timestamp" {
            if !time::is_rfc5424(value) {
                draft.note_at(at..end, BreakKind::BadTimestamp, "not a time of RFC 5424");
            }
        } else if value.len() > most || !value.iter().all(u8::is_ascii_graphic) {
            let words = format!("{name} is not 1 to {most} printable ASCII characters");
            draft.note_at(at..end, BreakKind::BadField, &words);
        }
        if found.is_none() {
            draft.note(end, BreakKind::MissingField, format!("the header ends with {name}"));
            return end;
        }
        at = end + 1;
    }
    match structured::read(draft, part, at) {
        Err(stop) => stop,
        Ok(end) if end >= bytes.len() => end,
        Ok(end) if bytes[end] == b' ' => end + 1,
        Ok(end) => {
            draft.note(end, BreakKind::BadStructure, "no space behind the structured data");
            end
        }
    }
}

/// Reads time stamp and host of RFC 3164; gives the offset behind them.
fn legacy(draft: &mut Draft<'_>, part: Part, start: usize) -> Option<usize> {
    let bytes = draft.bytes();
    let stamp = start..start + time::legacy_len(&bytes[start..])?;
    if bytes.get(stamp.end) != Some(&b' ') {
        return None;
    }
    let host = stamp.end + 1;
    let end = host + memchr(b' ', &bytes[host..])?;
    draft.plain(part, "timestamp", stamp);
    draft.plain(part, "hostname", host..end);
    Some(end + 1)
}

/// Reads the tag that RFC 3164, section 4.1.3, lets a message begin with.
fn tag(draft: &mut Draft<'_>, at: usize) -> usize {
    let bytes = &draft.bytes()[at..];
    let near = &bytes[..bytes.len().min(64)];
    match memmem::find(near, b": ") {
        Some(end) if is_tag(&near[..end]) => {
            draft.plain(Part::Header, "tag", at..at + end);
            at + end + 2
        }
        _ => at,
    }
}

/// Whether something can be a program's name, perhaps with a process id in brackets.
fn is_tag(text: &[u8]) -> bool {
    (1..=48).contains(&text.len()) && text.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(record: &Record) -> Vec<BreakKind> {
        record.breaks.iter().map(|found| found.kind).collect()
    }

    #[test]
    fn the_examples_of_rfc_5424() {
        let record = parse(
            b"<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 \
              [exampleSDID@32473 iut=\"3\" eventID=\"1\\]\\\"\\\\\"][examplePriority@32473] \
              \xEF\xBB\xBFAn application \xC3\xA9vent",
        );
        assert!(record.breaks.is_empty(), "{:?}", record.breaks);
        assert_eq!(record.get("app-name"), Some("evntslog"));
        assert_eq!(record.get("procid"), Some("-"));
        assert_eq!(record.get("[exampleSDID@32473]eventID"), Some("1]\"\\"));
        assert_eq!(record.get("[examplePriority@32473]"), Some(""));
        assert_eq!(record.get("msg"), Some("An application évent"));
        assert!(parse(b"<0>1 - - - - - -").breaks.is_empty());
    }

    #[test]
    fn the_old_form_is_remarked() {
        let record = parse(b"<34>Oct 11 22:14:15 mymachine su[12]: 'su root' failed\n");
        assert_eq!(kinds(&record), [BreakKind::Legacy]);
        assert!(record.is_sound());
        assert_eq!(record.get("hostname"), Some("mymachine"));
        assert_eq!(record.get("tag"), Some("su[12]"));
        assert_eq!(record.get("msg"), Some("'su root' failed"));
        let bare = parse(b"<34>something else");
        assert_eq!(bare.get("msg"), Some("something else"));
    }

    #[test]
    fn what_is_broken_is_noted_where_it_is() {
        for (bytes, kind, offset) in [
            (&b"hello"[..], BreakKind::MissingPrefix, 0),
            (b"<1234>1 - - - - - -", BreakKind::BadPriority, 0),
            (b"<192>1 - - - - - -", BreakKind::BadPriority, 1),
            (b"<1>2 - - - - - -", BreakKind::BadVersion, 3),
            (b"<1>1 yesterday - - - - -", BreakKind::BadTimestamp, 5),
            (b"<1>1 -  - - - -", BreakKind::EmptyField, 7),
            (b"<1>1 - h\xC3\xB6st - - - -", BreakKind::BadField, 7),
            (b"<1>1 - - - -", BreakKind::MissingField, 12),
            (b"<1>1 - - - - - x", BreakKind::BadStructure, 15),
            (b"<1>1 - - - - - -x", BreakKind::BadStructure, 16),
            (b"<1>1 - - - - - [a b=\"c\"d\"] m", BreakKind::BadStructure, 23),
            (b"<1>1 - - - - - [a b=\"c]d\"] m", BreakKind::UnescapedBracket, 22),
            (b"<1>1 - - - - - [a b=\"c\\nd\"] m", BreakKind::UnknownEscape, 22),
            (b"<1>1 - - - - - [a b=\"c", BreakKind::Truncated, 22),
            (b"<1>1 - - - - - [a][a] m", BreakKind::AmbiguousKey, 19),
            (b"<1>1 - - - - - - m\nn", BreakKind::RawNewline, 18),
            (b"<1>1 - - - - - - caf\xC3\xA9", BreakKind::MissingBom, 17),
        ] {
            let record = parse(bytes);
            let found: Vec<_> = record.breaks.iter().map(|b| (b.kind, b.offset)).collect();
            if kind == BreakKind::EmptyField {
                // The fields behind it have moved.
                assert_eq!(found[0], (kind, offset), "{record:?}");
            } else {
                assert_eq!(found, [(kind, offset)], "{record:?}");
            }
        }
    }

    #[test]
    fn an_unescaped_quote_leaves_the_rest_as_message() {
        let record = parse(b"<1>1 - - - - - [a b=\"c\"d\"] m");
        assert_eq!(record.get("[a]b"), Some("c"));
        assert_eq!(record.get("msg"), Some("d\"] m"));
    }
}
