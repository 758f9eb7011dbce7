//! What a client sent, read from its raw bytes.

use std::borrow::Cow;
use std::sync::Arc;

use birdstrike_wire::json::{self, JsonError, Member};
use birdstrike_wire::{Envelope, Kind, codes, meta};

use crate::notes::Note;
use crate::resources;
use crate::tasks;

/// A message as the canary understands it.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// Wants an answer.
    Request(Request<'a>),
    /// Wants none.
    Notification(Request<'a>),
    /// An answer of the client's own, to a question that only a plan asks, with its raw id.
    Response(&'a str),
    /// Cannot be served.
    Broken(Broken<'a>),
}

/// A request or notification as spans of its message.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// The id as it is written; `null` for a notification.
    pub(crate) id: &'a str,
    /// The method.
    pub(crate) method: Cow<'static, str>,
    /// The params as they are written.
    pub(crate) params: Option<&'a str>,
    /// The members of their `_meta`.
    pub(crate) meta: Vec<Member<'a>>,
    /// The revision that the `_meta` names.
    pub(crate) meta_version: Option<Cow<'a, str>>,
    /// `params.name`.
    pub(crate) name: Option<Cow<'a, str>>,
    /// `params.arguments`.
    pub(crate) arguments: Option<&'a str>,
    /// `params.uri`.
    pub(crate) uri: Option<Cow<'a, str>>,
    /// `params.cursor` as it is written.
    pub(crate) cursor: Option<&'a str>,
    /// `params.arguments.nonce` of a tool call or a prompt; of a read the nonce in its URI, of
    /// a follow-up the one in its task id.
    pub(crate) nonce: Option<Arc<str>>,
}

/// Why a message cannot be served.
#[derive(Debug)]
pub(crate) struct Broken<'a> {
    /// The JSON-RPC error code.
    pub(crate) code: i64,
    /// In plain words.
    pub(crate) why: String,
    /// The id, if it could be read.
    pub(crate) id: Option<&'a str>,
    /// The requirement that it breaks.
    pub(crate) requirement: &'static str,
}

/// Reads one message, and notes what is wrong with it although it can be served.
pub(crate) fn read<'a>(bytes: &'a [u8], notes: &mut Vec<Note>) -> Incoming<'a> {
    let envelope = match Envelope::read(bytes) {
        Ok(envelope) => envelope,
        Err(error) => return Incoming::Broken(unreadable(bytes, &error)),
    };
    for name in envelope.repeated() {
        let seen = format!("`{name}` stands twice in the message");
        notes.push(Note { requirement: "R-BASE-01", seen });
    }
    match envelope.kind() {
        Kind::Request => Incoming::Request(request(&envelope)),
        Kind::Notification => Incoming::Notification(request(&envelope)),
        Kind::Result | Kind::Error => Incoming::Response(envelope.id().unwrap_or("null")),
        Kind::Broken(why) if served_all_the_same(&envelope) => {
            let seen = why.to_owned();
            notes.push(Note { requirement: "R-BASE-02", seen });
            Incoming::Request(request(&envelope))
        }
        Kind::Broken(why) => Incoming::Broken(Broken {
            code: codes::INVALID_REQUEST,
            why: why.to_owned(),
            id: envelope.id(),
            requirement: "R-BASE-01",
        }),
    }
}

/// Whether nothing but the id is wrong: such a request can be answered, with that very id.
fn served_all_the_same(envelope: &Envelope<'_>) -> bool {
    envelope.get("jsonrpc") == Some("\"2.0\"")
        && envelope.method().is_some()
        && envelope.result().is_none()
        && envelope.error().is_none()
}

fn unreadable<'a>(bytes: &'a [u8], error: &JsonError) -> Broken<'a> {
    let (code, why) = match error {
        JsonError::WrongKind { found: "an array", .. } => {
            let why = "a batch: no revision since 2025-06-18 has them".to_owned();
            (codes::INVALID_REQUEST, why)
        }
        JsonError::WrongKind { .. } => (codes::INVALID_REQUEST, error.to_string()),
        _ if bytes.is_empty() => (codes::PARSE_ERROR, "an empty body".to_owned()),
        _ => (codes::PARSE_ERROR, error.to_string()),
    };
    Broken { code, why, id: None, requirement: "R-BASE-01" }
}

fn request<'a>(envelope: &Envelope<'a>) -> Request<'a> {
    let mut request = Request {
        id: envelope.id().unwrap_or("null"),
        method: known(envelope.method().unwrap_or_default()),
        params: envelope.params(),
        meta: Vec::new(),
        meta_version: None,
        name: None,
        arguments: None,
        uri: None,
        cursor: None,
        nonce: None,
    };
    // One pass over the params instead of one for each member; the last of two equal names counts.
    for member in request.params.and_then(|p| json::members(p).ok()).unwrap_or_default() {
        match &*member.key() {
            "_meta" => request.meta = json::members(member.value).unwrap_or_default(),
            "name" => request.name = string(member.value),
            "arguments" => request.arguments = Some(member.value),
            "uri" => request.uri = string(member.value),
            "cursor" => request.cursor = Some(member.value),
            _ => {}
        }
    }
    let version = request.meta.iter().rfind(|member| member.is(meta::PROTOCOL_VERSION));
    request.meta_version = version.and_then(|member| string(member.value));
    request.nonce = match &*request.method {
        "tools/call" | "prompts/get" => {
            let nonce = request.arguments.and_then(|arguments| json::get(arguments, "nonce"));
            nonce.and_then(string).map(Into::into)
        }
        "resources/read" => request.uri.as_deref().and_then(resources::nonce_of).map(Into::into),
        _ => tasks::nonce_of(&request).map(Into::into),
    };
    request
}

impl Request<'_> {
    /// Whether it asks for the first page of a listing.
    pub(crate) fn is_first_page(&self) -> bool {
        matches!(self.cursor, None | Some("null"))
    }
}

/// The string that a JSON text stands for, without a copy if it has no escapes.
fn string(text: &str) -> Option<Cow<'_, str>> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') {
        return serde_json::from_str(text).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inside))
}

/// The method, without a copy if it is one that clients often send.
fn known(method: Cow<'_, str>) -> Cow<'static, str> {
    const OFTEN: [&str; 5] =
        ["tools/call", "tools/list", "initialize", "notifications/initialized", "server/discover"];
    match OFTEN.into_iter().find(|often| *often == method) {
        Some(often) => Cow::Borrowed(often),
        None => Cow::Owned(method.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(bytes: &[u8]) -> (i64, Option<String>) {
        match read(bytes, &mut Vec::new()) {
            Incoming::Broken(broken) => (broken.code, broken.id.map(str::to_owned)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_call_shows_its_nonce_and_nothing_of_it_is_changed() {
        let text = br#"{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":"e\u0063ho",
            "arguments":{"nonce":"n-1","x":1.0},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let Incoming::Request(request) = read(text, &mut Vec::new()) else { panic!("no request") };
        assert_eq!((request.id, request.name.as_deref()), ("\"7\"", Some("echo")));
        assert_eq!(request.nonce.as_deref(), Some("n-1"));
        assert_eq!(request.arguments, Some(r#"{"nonce":"n-1","x":1.0}"#));
        assert_eq!(request.meta_version.as_deref(), Some("2026-07-28"));
    }

    #[test]
    fn a_nonce_is_a_string_among_the_arguments_of_a_call() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"nonce":7}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","nonce":"n"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"arguments":{"nonce":"n"}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
        ] {
            let Incoming::Request(request) = read(text.as_bytes(), &mut Vec::new()) else {
                panic!("no request: {text}")
            };
            assert_eq!(request.nonce, None, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_served_says_why() {
        assert_eq!(broken(b"{"), (codes::PARSE_ERROR, None));
        assert_eq!(broken(b""), (codes::PARSE_ERROR, None));
        assert_eq!(broken(b"{\"a\":\"\xff\"}"), (codes::PARSE_ERROR, None));
        assert_eq!(broken(b"[{}]"), (codes::INVALID_REQUEST, None));
        let half = br#"{"jsonrpc":"2.0","id":3}"#;
        assert_eq!(broken(half), (codes::INVALID_REQUEST, Some("3".into())));
    }

    #[test]
    fn an_illegal_id_is_noted_and_served() {
        let mut notes = Vec::new();
        let text = br#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#;
        let Incoming::Request(request) = read(text, &mut notes) else { panic!("no request") };
        assert_eq!((request.id, notes[0].requirement), ("1.0", "R-BASE-02"));
    }

    #[test]
    fn a_deep_message_is_read_like_any_other() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"d":{deep},"nonce":"n"}}}}}}"#
        );
        let Incoming::Request(request) = read(text.as_bytes(), &mut Vec::new()) else {
            panic!("no request")
        };
        assert_eq!(request.nonce.as_deref(), Some("n"));
    }
}
