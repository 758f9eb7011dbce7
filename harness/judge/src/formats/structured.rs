//! The structured data of a syslog message (RFC 5424, section 6.3).

use memchr::memchr3;

use super::draft::{Draft, Escapes};
use super::{BreakKind, Part};

const ESCAPES: Escapes<'static> = &[(b"\"", b"\""), (b"\\", b"\\"), (b"]", b"]")];

/// Where structured data was left: behind its end, or where it stopped making sense.
type Left = Result<usize, usize>;

/// Reads STRUCTURED-DATA from `at` on. Gives the offset behind it; an error if it stopped making
/// sense there, which has been noted.
pub(super) fn read(draft: &mut Draft<'_>, part: Part, at: usize) -> Left {
    let bytes = draft.bytes();
    if bytes.get(at) == Some(&b'-') {
        return Ok(at + 1);
    }
    if bytes.get(at) != Some(&b'[') {
        draft.note(at, BreakKind::BadStructure, "neither a dash nor a bracket");
        return Err(at);
    }
    let mut at = at;
    while bytes.get(at) == Some(&b'[') {
        at = element(draft, part, at + 1)?;
    }
    Ok(at)
}

/// Reads an SD-ELEMENT whose bracket has been read.
fn element(draft: &mut Draft<'_>, part: Part, start: usize) -> Left {
    let bytes = draft.bytes();
    let mut at = name(draft, start)?;
    draft.claim(start..at, "is the id of an earlier element; a value may have closed that one");
    let id = String::from_utf8_lossy(&bytes[start..at]).into_owned();
    if bytes.get(at) == Some(&b']') {
        draft.plain(part, &format!("[{id}]"), at..at);
    }
    loop {
        match bytes.get(at) {
            Some(b']') => return Ok(at + 1),
            Some(b' ') => at = param(draft, part, &id, at + 1)?,
            Some(_) => {
                let words = "neither a space nor a bracket; a quote may be unescaped";
                draft.note(at, BreakKind::BadStructure, words);
                return Err(at);
            }
            None => {
                draft.note(at, BreakKind::Truncated, "the element has no end");
                return Err(at);
            }
        }
    }
}

/// Reads an SD-PARAM.
fn param(draft: &mut Draft<'_>, part: Part, id: &str, start: usize) -> Left {
    let bytes = draft.bytes();
    let end = name(draft, start)?;
    if !bytes[end..].starts_with(b"=\"") {
        draft.note(end, BreakKind::BadStructure, "no quoted value follows the name");
        return Err(end);
    }
    let value = end + 2;
    let mut at = value;
    loop {
        match memchr3(b'"', b'\\', b']', &bytes[at..]).map(|found| at + found) {
            None => {
                at = bytes.len();
                draft.note(at, BreakKind::Truncated, "the value has no closing quote");
                break;
            }
            Some(found) if bytes[found] == b'"' => {
                at = found;
                break;
            }
            Some(found) if bytes[found] == b'\\' => at = (found + 2).min(bytes.len()),
            Some(found) => {
                draft.note(found, BreakKind::UnescapedBracket, "a bracket that is not escaped");
                at = found + 1;
            }
        }
    }
    let name = format!("[{id}]{}", String::from_utf8_lossy(&bytes[start..end]));
    draft.field(part, &name, value..at, ESCAPES);
    if at < bytes.len() { Ok(at + 1) } else { Err(at) }
}

/// Reads an SD-NAME: 1 to 32 printable ASCII characters, none of `= ]"`.
fn name(draft: &mut Draft<'_>, start: usize) -> Left {
    let allowed = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'=' | b']' | b'"');
    let len = draft.bytes()[start..].iter().take(33).take_while(|byte| allowed(byte)).count();
    if len == 0 || len > 32 {
        draft.note(start, BreakKind::BadStructure, "no name of 1 to 32 characters");
        return Err(start);
    }
    Ok(start + len)
}
