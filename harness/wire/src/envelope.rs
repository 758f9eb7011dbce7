//! The JSON-RPC envelope, read from raw bytes and written around raw values.
//!
//! A derived struct would fail on a repeated member and hide which rule a message broke; the
//! envelope is read member by member instead, and says in words what is wrong with it.

use std::borrow::Cow;

use crate::json::{self, JsonError, Member};

/// What a message is, by its members (JSON-RPC 2.0; R-BASE-01, R-ERR-07, R-ERR-08).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `method` and `id`.
    Request,
    /// `method` without `id` (R-BASE-04).
    Notification,
    /// `result` and `id`.
    Result,
    /// `error`; `id` may be absent only when the request's could not be read.
    Error,
    /// None of these; the reason in plain words.
    Broken(&'static str),
}

/// One JSON-RPC message as spans of its own text.
#[derive(Clone, Debug)]
pub struct Envelope<'a> {
    text: &'a str,
    members: Vec<Member<'a>>,
}

impl<'a> Envelope<'a> {
    /// Reads one message. Says nothing yet about whether its members make sense: see
    /// [`Envelope::kind`].
    ///
    /// # Errors
    /// [`JsonError`] when the bytes are not a JSON object.
    pub fn read(bytes: &'a [u8]) -> Result<Self, JsonError> {
        let text = json::text(bytes)?;
        let members = json::members(text)?;
        Ok(Self { text, members })
    }

    /// The whole message, without the white space around it.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// A member's value as it is written; the last where the name stands twice.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let member = self.members.iter().rfind(|member| member.is(name))?;
        Some(member.value)
    }

    /// The id as it is written, quotes included: `7` and `"7"` are two ids (R-BASE-03).
    pub fn id(&self) -> Option<&'a str> {
        self.get("id")
    }

    /// The method, escapes resolved.
    pub fn method(&self) -> Option<Cow<'a, str>> {
        let raw = self.get("method")?;
        let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
        if !inside.contains('\\') {
            return Some(Cow::Borrowed(inside));
        }
        serde_json::from_str(raw).ok().map(Cow::Owned)
    }

    /// The params as they are written.
    pub fn params(&self) -> Option<&'a str> {
        self.get("params")
    }

    /// The result as it is written.
    pub fn result(&self) -> Option<&'a str> {
        self.get("result")
    }

    /// The error object as it is written.
    pub fn error(&self) -> Option<&'a str> {
        self.get("error")
    }

    /// Names that stand more than once in the envelope itself.
    pub fn repeated(&self) -> Vec<Cow<'_, str>> {
        let mut seen: Vec<Cow<'_, str>> = Vec::new();
        let mut twice = Vec::new();
        for key in self.members.iter().map(Member::key) {
            if seen.contains(&key) {
                twice.push(key);
            } else {
                seen.push(key);
            }
        }
        twice
    }

    /// What kind of message this is, or the rule it breaks.
    pub fn kind(&self) -> Kind {
        if self.get("jsonrpc") != Some("\"2.0\"") {
            return Kind::Broken("`jsonrpc` is not \"2.0\"");
        }
        let id = self.id();
        let has = |name| self.get(name).is_some();
        match (has("method"), has("result"), has("error")) {
            (true, false, false) if self.method().is_none() => {
                Kind::Broken("`method` is not a string")
            }
            (true, false, false) => match id {
                None => Kind::Notification,
                Some(id) if is_legal_id(id) => Kind::Request,
                Some(_) => Kind::Broken("the id is neither a string nor an integer"),
            },
            (false, true, false) if id.is_none() => Kind::Broken("a result without an id"),
            (false, true, false) => Kind::Result,
            (false, false, true) => Kind::Error,
            (false, true, true) => Kind::Broken("both `result` and `error`"),
            (false, false, false) => Kind::Broken("no `method`, no `result`, no `error`"),
            _ => Kind::Broken("`method` beside `result` or `error`"),
        }
    }
}

/// Whether a raw id is a string or an integer (R-BASE-02).
pub fn is_legal_id(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    raw.starts_with('"') || (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// A request; `id` and `params` are JSON text.
pub fn request(id: &str, method: &str, params: &str) -> String {
    let method = json::quote(method);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}")
}

/// A notification; `params` is JSON text, or nothing.
pub fn notification(method: &str, params: Option<&str>) -> String {
    let method = json::quote(method);
    match params {
        Some(params) => {
            format!("{{\"jsonrpc\":\"2.0\",\"method\":{method},\"params\":{params}}}")
        }
        None => format!("{{\"jsonrpc\":\"2.0\",\"method\":{method}}}"),
    }
}

/// A response with a result; `id` and `result` are JSON text.
pub fn result(id: &str, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// A response with an error; `id` and `error` are JSON text. Without an id the member is `null`,
/// which JSON-RPC wants for a request whose id could not be read.
pub fn error(id: Option<&str>, error: &str) -> String {
    let id = id.unwrap_or("null");
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}")
}

/// An error object; `data` is JSON text.
pub fn error_object(code: i64, message: &str, data: Option<&str>) -> String {
    let message = json::quote(message);
    match data {
        Some(data) => format!("{{\"code\":{code},\"message\":{message},\"data\":{data}}}"),
        None => format!("{{\"code\":{code},\"message\":{message}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Kind {
        Envelope::read(text.as_bytes()).unwrap().kind()
    }

    #[test]
    fn written_messages_read_back() {
        let text = request("\"a\"", "tools/call", "{\"name\":\"x\"}");
        let read = Envelope::read(text.as_bytes()).unwrap();
        assert_eq!(read.kind(), Kind::Request);
        assert_eq!((read.id(), read.method().as_deref()), (Some("\"a\""), Some("tools/call")));
        assert_eq!(read.params(), Some("{\"name\":\"x\"}"));
        assert_eq!(kind(&notification("notifications/initialized", None)), Kind::Notification);
        assert_eq!(kind(&result("1", "{}")), Kind::Result);
        assert_eq!(kind(&error(None, &error_object(-32700, "no", None))), Kind::Error);
    }

    #[test]
    fn broken_messages_say_why() {
        for (text, why) in [
            (r#"{"id":1,"result":{}}"#, "`jsonrpc` is not \"2.0\""),
            (r#"{"jsonrpc":"2.0","id":1}"#, "no `method`, no `result`, no `error`"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "both `result` and `error`"),
            (r#"{"jsonrpc":"2.0","result":{}}"#, "a result without an id"),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
                "the id is neither a string nor an integer",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.0,"method":"x"}"#,
                "the id is neither a string nor an integer",
            ),
        ] {
            assert_eq!(kind(text), Kind::Broken(why), "{text}");
        }
    }

    #[test]
    fn ids_keep_their_type_and_digits() {
        let text = r#"{"jsonrpc":"2.0","id":9007199254740993,"result":1,"id":"1"}"#;
        let read = Envelope::read(text.as_bytes()).unwrap();
        assert_eq!(read.id(), Some("\"1\""));
        assert_eq!(read.repeated(), ["id"]);
    }
}
