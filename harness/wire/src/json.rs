//! Raw JSON: an object's members and an array's items as spans of the text they came from.
//!
//! A gateway has to read two or three members of a result and must not touch the rest. Parsing into
//! a map loses duplicates, number spellings and escapes; so values stay text here, and [`set`],
//! [`remove`] and [`replace`] change one member while every other byte stays where it was.
//!
//! The grammar is checked by `serde_json` (which also bounds nothing: 200,000 nested arrays are one
//! flat pass); what is written here only finds the commas of the outermost container.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

/// Why a text could not be read as the JSON that was wanted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The bytes are not UTF-8; the offset is that of the first bad byte.
    #[error("not UTF-8 at byte {0}")]
    NotUtf8(usize),
    /// The text is not one JSON value (RFC 8259).
    #[error("not JSON: {0}")]
    NotJson(String),
    /// The text is JSON, but another kind of value.
    #[error("expected {wanted}, found {found}")]
    WrongKind {
        /// What the caller asked for.
        wanted: &'static str,
        /// What stands there.
        found: &'static str,
    },
}

/// One member of an object, as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The key with its quotes and escapes.
    pub raw_key: &'a str,
    /// The value, without the white space around it.
    pub value: &'a str,
    /// Where the key begins, in bytes from the start of the object's text.
    pub key_at: usize,
    /// Where the value stands, in bytes from the start of the object's text.
    pub value_at: Range<usize>,
}

impl Member<'_> {
    /// The key with its escapes resolved. A key that no Rust string can hold (a lone surrogate)
    /// is given as it is written, so that it equals no ordinary name.
    pub fn key(&self) -> Cow<'_, str> {
        if !self.raw_key.contains('\\') {
            return Cow::Borrowed(self.raw_key.trim_matches('"'));
        }
        serde_json::from_str::<String>(self.raw_key).map_or(Cow::Borrowed(self.raw_key), Cow::Owned)
    }

    /// Whether the key, escapes resolved, is `name`.
    pub fn is(&self, name: &str) -> bool {
        self.key() == name
    }
}

/// Reads bytes as one JSON value and gives its text without the white space around it.
///
/// # Errors
/// [`JsonError::NotUtf8`] or [`JsonError::NotJson`].
pub fn text(bytes: &[u8]) -> Result<&str, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|e| JsonError::NotUtf8(e.valid_up_to()))?;
    check(text).map(RawValue::get)
}

fn check(text: &str) -> Result<&RawValue, JsonError> {
    serde_json::from_str::<&RawValue>(text).map_err(|e| JsonError::NotJson(e.to_string()))
}

/// What kind of value a JSON text is, judged by its first character.
pub fn kind(text: &str) -> &'static str {
    match text.trim_start().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(b'-' | b'0'..=b'9') => "a number",
        _ => "nothing",
    }
}

/// The members of an object in their order, duplicates included.
///
/// # Errors
/// [`JsonError`] when the text is not JSON or not an object.
pub fn members(text: &str) -> Result<Vec<Member<'_>>, JsonError> {
    check(text)?;
    let elements = elements(text, b'{', "an object")?;
    Ok(elements.into_iter().filter_map(|span| member(text, span)).collect())
}

/// The items of an array in their order.
///
/// # Errors
/// [`JsonError`] when the text is not JSON or not an array.
pub fn items(text: &str) -> Result<Vec<&str>, JsonError> {
    check(text)?;
    let elements = elements(text, b'[', "an array")?;
    Ok(elements.into_iter().map(|span| &text[span]).collect())
}

/// Where the items of an array stand, in bytes from the start of its text.
///
/// # Errors
/// As [`items`].
pub fn item_spans(text: &str) -> Result<Vec<Range<usize>>, JsonError> {
    check(text)?;
    elements(text, b'[', "an array")
}

/// The value of the member `name`; the last one where the name stands twice, as most parsers read
/// it. `None` when the text is no object or has no such member.
pub fn get<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let members = members(object).ok()?;
    members.into_iter().rfind(|m| m.is(name)).map(|member| member.value)
}

/// The string that the member `name` holds, escapes resolved; `None` when it is absent, no string,
/// or holds a lone surrogate.
pub fn get_string(object: &str, name: &str) -> Option<String> {
    get(object, name).and_then(|value| serde_json::from_str(value).ok())
}

/// The object with the member `name` set to `value` (JSON text). An existing member is replaced
/// where it stands (the last, if there are several); a new one comes first. All other bytes stay.
///
/// # Errors
/// [`JsonError`] when the text is not an object.
pub fn set(object: &str, name: &str, value: &str) -> Result<String, JsonError> {
    let members = members(object)?;
    if let Some(member) = members.iter().rfind(|m| m.is(name)) {
        return Ok(replace(object, &member.value_at, value));
    }
    let after_brace = object.find('{').map_or(0, |at| at + 1);
    let comma = if members.is_empty() { "" } else { "," };
    let new = format!("{}:{value}{comma}", quote(name));
    Ok(replace(object, &(after_brace..after_brace), &new))
}

/// The object without any member called `name`. All other bytes stay, but for one comma.
///
/// # Errors
/// [`JsonError`] when the text is not an object.
pub fn remove(object: &str, name: &str) -> Result<String, JsonError> {
    let mut text = object.to_owned();
    loop {
        let members = members(&text)?;
        let Some(at) = members.iter().position(|m| m.is(name)) else {
            return Ok(text);
        };
        let cut = match (members.get(at + 1), at.checked_sub(1)) {
            (Some(next), _) => members[at].key_at..next.key_at,
            (None, Some(before)) => members[before].value_at.end..members[at].value_at.end,
            (None, None) => members[at].key_at..members[at].value_at.end,
        };
        text = replace(&text, &cut, "");
    }
}

/// The text with one span replaced.
pub fn replace(text: &str, span: &Range<usize>, with: &str) -> String {
    let mut out = String::with_capacity(text.len() + with.len());
    out.push_str(&text[..span.start]);
    out.push_str(with);
    out.push_str(&text[span.end..]);
    out
}

/// A string as JSON text.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Spans of what stands between the commas of the outermost container, white space trimmed.
/// The text was checked before: it is one valid JSON value.
fn elements(text: &str, open: u8, wanted: &'static str) -> Result<Vec<Range<usize>>, JsonError> {
    let bytes = text.as_bytes();
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace());
    let Some(start) = start.filter(|at| bytes[*at] == open) else {
        let found = kind(text);
        return Err(JsonError::WrongKind { wanted, found });
    };
    let mut spans = Vec::new();
    let (mut depth, mut from, mut at) = (0_usize, start + 1, start);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => depth += 1,
            b',' if depth == 1 => {
                spans.push(trim(bytes, from..at));
                from = at + 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let last = trim(bytes, from..at);
                    spans.extend((!last.is_empty()).then_some(last));
                    break;
                }
            }
            _ => {}
        }
        at += 1;
    }
    Ok(spans)
}

/// The offset of the quote that closes the string opened at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < bytes.len() {
        match memchr::memchr2(b'"', b'\\', &bytes[at..]) {
            Some(found) if bytes[at + found] == b'"' => return at + found,
            Some(found) => at += found + 2,
            None => break,
        }
    }
    bytes.len()
}

fn trim(bytes: &[u8], span: Range<usize>) -> Range<usize> {
    let inside = &bytes[span.clone()];
    let lead = inside.len() - inside.trim_ascii_start().len();
    let trail = inside.len() - inside.trim_ascii_end().len();
    if lead == inside.len() {
        return span.start..span.start;
    }
    span.start + lead..span.end - trail
}

fn member(text: &str, span: Range<usize>) -> Option<Member<'_>> {
    let bytes = text.as_bytes();
    let key_end = string_end(bytes, span.start) + 1;
    let colon = key_end + text.get(key_end..span.end)?.find(':')?;
    let value_at = trim(bytes, colon + 1..span.end);
    Some(Member {
        raw_key: text.get(span.start..key_end)?,
        value: text.get(value_at.clone())?,
        key_at: span.start,
        value_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = "{ \"a\" : [1, {\"b\":\"},\\\"\"}] ,\n\"a\":1E+02, \"\\u0063\" :\"\\ud800\"}";

    #[test]
    fn members_keep_order_duplicates_and_spelling() {
        let members = members(ODD).unwrap();
        let seen: Vec<_> = members.iter().map(|m| (m.key(), m.value)).collect();
        assert_eq!(seen[0], ("a".into(), "[1, {\"b\":\"},\\\"\"}]"));
        assert_eq!(seen[1], ("a".into(), "1E+02"));
        assert_eq!(seen[2], ("c".into(), "\"\\ud800\""));
        assert_eq!(get(ODD, "a"), Some("1E+02"));
        assert_eq!(get_string(ODD, "c"), None);
    }

    #[test]
    fn set_replaces_in_place_or_comes_first() {
        assert_eq!(set("{}", "k", "1").unwrap(), "{\"k\":1}");
        assert_eq!(set(" { \"x\": 1.0 }", "k", "[]").unwrap(), " {\"k\":[], \"x\": 1.0 }");
        assert_eq!(set("{\"k\" : 1 , \"l\":2}", "k", "9").unwrap(), "{\"k\" : 9 , \"l\":2}");
        assert!(set("[1]", "k", "9").is_err());
    }

    #[test]
    fn remove_takes_one_comma_and_nothing_else() {
        assert_eq!(remove("{\"a\":1, \"b\":2 }", "a").unwrap(), "{\"b\":2 }");
        assert_eq!(remove("{\"a\":1, \"b\":2 }", "b").unwrap(), "{\"a\":1 }");
        assert_eq!(remove("{ \"a\":1 }", "a").unwrap(), "{  }");
        assert_eq!(remove("{\"a\":1,\"a\":2,\"c\":3}", "a").unwrap(), "{\"c\":3}");
    }

    #[test]
    fn deep_nesting_is_one_flat_pass() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(members(&deep).unwrap()[0].value.len(), 400_000);
    }

    #[test]
    fn arrays_and_their_wrong_kinds() {
        assert_eq!(items(" [ 1 , \"a,b\" ,[2,3] ] ").unwrap(), ["1", "\"a,b\"", "[2,3]"]);
        assert_eq!(items("[]").unwrap(), Vec::<&str>::new());
        assert_eq!(item_spans(" [ 1 , [2] ] ").unwrap(), [3..4, 7..10]);
        let wrong = JsonError::WrongKind { wanted: "an array", found: "an object" };
        assert_eq!(items("{}"), Err(wrong));
        assert_eq!(text(b"\xff1"), Err(JsonError::NotUtf8(0)));
        assert!(matches!(text(b"01"), Err(JsonError::NotJson(_))));
    }
}
