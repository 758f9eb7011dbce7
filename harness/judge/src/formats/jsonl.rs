//! JSON lines: one object a line, read by the crate's own scanner so that nothing is smoothed away.

use std::collections::HashSet;

use super::draft::Draft;
use super::{BreakKind, Format, Framing, Part, Record, read};
use crate::scan::{Doc, JsonStr, Kind, Node, Problem};

/// How deep objects and arrays are taken apart.
const MAX_DEPTH: usize = 32;
/// How long the name of a container may be, in bytes, for its children to get names of their own.
const MAX_PREFIX: usize = 64;

/// Reads all lines of an input: a record a line, a run of blank lines being one.
pub fn parse(input: &[u8]) -> Vec<Record> {
    read(Format::JsonLines, Framing::Lines, input)
}

/// Reads one line, with or without its line end. Never fails: see [`Record::breaks`].
///
/// Every scalar is a field: a string as what it says, anything else as it is written. A member of an
/// inner value is named by its way there, the JSON Pointer (RFC 6901) without its first slash:
/// `detail/tool`. What is nested deeper than 32 levels, lies under a name of more than 64 bytes, or
/// is empty, stays whole as it is written. Members that repeat are all kept, and noted. A line of
/// more than [`MAX_LINE`](super::MAX_LINE) bytes has no fields.
pub fn record(line: &[u8]) -> Record {
    let mut draft = Draft::new(Format::JsonLines, line);
    if draft.has(BreakKind::TooLong) {
        return draft.finish();
    }
    let bytes = draft.bytes();
    match Doc::scan(bytes) {
        Ok(doc) if doc.root().kind() == Kind::Object => walk(&mut draft, doc.root(), "", 0),
        Ok(doc) => {
            let words = format!("{} where an object should stand", doc.root().kind());
            draft.note(doc.root().span().start, BreakKind::NotAnObject, words);
            draft.plain(Part::Body, "", doc.root().span());
        }
        Err(error) => {
            let offset = error.offset.min(bytes.len());
            match error.problem {
                // Noted already.
                Problem::NotUtf8 => {}
                Problem::Ended => {
                    draft.note(offset, BreakKind::Truncated, "the line ends inside of a value");
                }
                problem => draft.note(offset, BreakKind::BadJson, problem.to_string()),
            }
            draft.plain(Part::Body, "", 0..bytes.len());
        }
    }
    draft.finish()
}

/// Adds what a container holds. The depth is bounded, so recursion is.
fn walk(draft: &mut Draft<'_>, container: Node<'_>, prefix: &str, depth: usize) {
    let mut seen = HashSet::new();
    for member in container.members() {
        if !seen.insert(member.key.wtf8()) {
            draft.note_at(member.key.span(), BreakKind::AmbiguousKey, "a member that comes again");
        }
        value(draft, member.value, &join(prefix, &member.key.text()), depth);
    }
    for (index, item) in container.items().enumerate() {
        value(draft, item, &join(prefix, &index.to_string()), depth);
    }
}

fn value(draft: &mut Draft<'_>, node: Node<'_>, name: &str, depth: usize) {
    let has_children = node.members().next().is_some() || node.items().next().is_some();
    if has_children && depth + 1 < MAX_DEPTH && name.len() <= MAX_PREFIX {
        return walk(draft, node, name, depth + 1);
    }
    let said = node.string().map_or_else(|| node.raw().into(), JsonStr::text);
    draft.said(Part::Body, name, said.into_owned(), node.span());
}

fn join(prefix: &str, name: &str) -> String {
    let name = name.replace('~', "~0").replace('/', "~1");
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(record: &Record) -> Vec<(&str, &str)> {
        record.fields.iter().map(|field| (&*field.name, &*field.value)).collect()
    }

    #[test]
    fn scalars_are_fields_wherever_they_stand() {
        let record =
            record(br#"{"t":"a\nb","n":1.0,"d":{"x/y":[true,{"k":"\u00e9"}]},"e":{},"a":[]}"#);
        assert!(record.breaks.is_empty());
        let expected = [
            ("t", "a\nb"),
            ("n", "1.0"),
            ("d/x~1y/0", "true"),
            ("d/x~1y/1/k", "é"),
            ("e", "{}"),
            ("a", "[]"),
        ];
        assert_eq!(pairs(&record), expected);
    }

    #[test]
    fn repeated_members_are_kept_and_noted() {
        let record = record(br#"{"act":"denied","d":{"a":1,"a":2},"\u0061ct":"allowed"}"#);
        let kinds: Vec<_> = record.breaks.iter().map(|b| (b.kind, b.offset)).collect();
        assert_eq!(kinds, [(BreakKind::AmbiguousKey, 27), (BreakKind::AmbiguousKey, 34)]);
        assert_eq!(record.values("act").collect::<Vec<_>>(), ["denied", "allowed"]);
    }

    #[test]
    fn what_is_broken_is_noted_where_it_is() {
        for (bytes, kind, offset) in [
            (&b"[1]"[..], BreakKind::NotAnObject, 0),
            (b"{\"a\":NaN}", BreakKind::BadJson, 5),
            (b"{\"a\":\"b", BreakKind::Truncated, 7),
            (b"{\"a\":1} {\"forged\":2}", BreakKind::BadJson, 8),
            (b"{\"a\":\"\xFF\"}", BreakKind::InvalidUtf8, 6),
            (b"{\"a\":\n1}", BreakKind::RawNewline, 5),
        ] {
            let record = record(bytes);
            let kinds: Vec<_> = record.breaks.iter().map(|b| (b.kind, b.offset)).collect();
            assert_eq!(kinds, [(kind, offset)], "{record:?}");
        }
    }

    #[test]
    fn lines_end_as_they_do() {
        let records = parse(b"{\"a\":1}\r\n{\"b\":2}");
        assert!(records.iter().all(Record::is_sound));
        assert!(records[1].has(BreakKind::Unended));
        let cut = parse(b"{\"a\":1}\n{\"b\":");
        assert!(cut[1].has(BreakKind::Truncated));
    }

    #[test]
    fn hostile_lines_stay_bounded() {
        let deep = [b"{\"a\":".repeat(100_000), b"1".to_vec(), b"}".repeat(100_000)].concat();
        assert_eq!(record(&deep).fields.len(), 1);
        let wide = format!("{{\"{}\":[{}0]}}", "k".repeat(50_000), "0,".repeat(50_000));
        assert_eq!(record(wide.as_bytes()).fields.len(), 1);
        let long = format!("{{\"a\":\"{}\"}}", "b".repeat(crate::formats::MAX_LINE));
        let long = record(long.as_bytes());
        assert!(long.has(BreakKind::TooLong) && long.fields.is_empty());
    }
}
