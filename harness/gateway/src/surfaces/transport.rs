//! The area `transport`: what travels beside the results.
//!
//! Progress, logs and questions of an upstream find the one client whose request they belong to, and
//! that client's cancellations and answers find their way back. Each side keeps ids and tokens of its
//! own; the gateway stands between and translates.

pub mod door;

use std::time::Duration;

use birdstrike_wire::{Era, Revision, json};

/// What an upstream asks a client for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The gateway answers for itself, with an empty result.
    Own,
    /// The client is asked.
    Relay,
    /// Nobody is asked; the upstream is told that there is no such method here.
    Refuse,
}

/// An event stream that ended before the answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Whether its last event had an id from which it can go on.
    pub has_id: bool,
    /// How long the upstream asked to be left alone, in milliseconds.
    pub retry_ms: Option<u64>,
    /// How often it was taken up again without anything new.
    pub in_vain: u32,
}

/// What became of a session that a client names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// It is open, and the client's own.
    Open,
    /// It has ended, or never was, or is somebody else's.
    Unknown,
}

/// The steps of this area.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The id under which a client gets its answer.
    pub id: fn(id: &str) -> String,
    /// The id of a request to an upstream, of a number that no other has; `alone` where each
    /// request has a connection for itself.
    pub own_id: fn(fresh: u64, alone: bool) -> String,
    /// What a client is told that is served here: members of its capabilities, raw.
    pub capabilities: fn() -> &'static str,
    /// Whether an answer that nobody waits for is given to the one request that waits.
    pub stray: fn() -> bool,
    /// Whether a request whose stream was lost is sent again just as it was.
    pub again: fn() -> bool,
    /// Whether an answer for which messages wait goes out as an event stream.
    pub streams: fn(accepts: bool) -> bool,
    /// One message as an event.
    pub event: fn(message: &str) -> String,
    /// Whether what came before an answer is also sent before it.
    pub answer_last: bool,
    /// The progress token that the upstream is given, of the client's and one of our own.
    pub token: fn(clients: &str, own: &str) -> String,
    /// The token under which the client is told of progress with `token`, if it is told.
    pub progress: fn(token: &str, own: &str, clients: &str) -> Option<String>,
    /// The token under which a client is told of progress that gave none, if it is told.
    pub uninvited: fn(token: &str) -> Option<String>,
    /// Whether a log message of this level goes to a client that wants those from `wanted` on.
    pub log: fn(level: &str, wanted: Option<&str>, client: Revision) -> bool,
    /// Whether a notification of no known kind is passed on.
    pub unknown: fn(method: &str) -> bool,
    /// Who answers a request of an upstream; `capabilities` is what the client declared.
    pub ruling: fn(method: &str, capabilities: &str) -> Ruling,
    /// The id under which the upstream gets the client's answer, of its own and ours.
    pub reply_id: fn(upstreams: &str, own: &str) -> String,
    /// Whether a client that cancels `asked` means its request `in_flight`.
    pub cancels: fn(asked: &str, in_flight: &str) -> bool,
    /// The request that the upstream is told to stop, by our id for it and by the client's.
    pub cancelled: fn(own: &str, clients: &str) -> Option<String>,
    /// The HTTP status for a request in this session, if it is not served.
    pub session: fn(Named) -> Option<u16>,
    /// After how long a broken stream is taken up again, if it is.
    pub resume: fn(&Broken) -> Option<Duration>,
    /// Whether this status of an answer says that the session with the upstream is over.
    pub session_over: fn(status: u16) -> bool,
    /// What is asked of requests, and what becomes of them.
    pub door: door::Steps,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        id,
        own_id,
        capabilities,
        stray,
        again,
        streams,
        event,
        answer_last: true,
        token,
        progress,
        uninvited,
        log,
        unknown,
        ruling,
        reply_id,
        cancels,
        cancelled,
        session,
        resume,
        session_over,
        door: door::Steps::RIGHT,
    };
}

/// The same, byte for byte (R-BASE-03).
pub fn id(id: &str) -> String {
    id.to_owned()
}

/// A new one for each, on every way (R-MRTR-07, R-HTTP-27).
pub fn own_id(fresh: u64, _alone: bool) -> String {
    fresh.to_string()
}

/// What is served, empty lists included: which upstreams have what shows when they are asked.
pub fn capabilities() -> &'static str {
    r#""tools":{"listChanged":true},"resources":{"listChanged":true},"prompts":{"listChanged":true},"logging":{}"#
}

/// Not: it came too late for its own request, and is none of another's (R-CANC-03).
pub fn stray() -> bool {
    false
}

/// Not: whether a call may be made twice is its client's to know.
pub fn again() -> bool {
    false
}

/// Wherever the client can read one (R-HTTP-05).
pub fn streams(accepts: bool) -> bool {
    accepts
}

/// A line break ends a field of an event, so that each line of the message becomes a field.
pub fn event(message: &str) -> String {
    let mut event = String::with_capacity(message.len() + 32);
    event.push_str("event: message\n");
    for line in message.split("\r\n").flat_map(|lines| lines.split(['\r', '\n'])) {
        event.push_str("data: ");
        event.push_str(line);
        event.push('\n');
    }
    event.push('\n');
    event
}

/// Our own: two clients may well have chosen the same (R-PROG-01).
pub fn token(_clients: &str, own: &str) -> String {
    own.to_owned()
}

/// The client's own, of the same type, and only for the request that it belongs to (R-PROG-02).
pub fn progress(token: &str, own: &str, clients: &str) -> Option<String> {
    (token == own).then(|| clients.to_owned())
}

/// Not: it did not ask (R-PROG-02).
pub fn uninvited(_token: &str) -> Option<String> {
    None
}

/// The levels of RFC 5424, the least first.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Whether there is a log level of this name.
pub fn is_level(level: &str) -> bool {
    LEVELS.contains(&level)
}

/// Those of the wanted level and above. At 2026-07-28 whoever asks for nothing gets nothing
/// (R-LOG-03), below it a server may send what it likes until a level is set.
pub fn log(level: &str, wanted: Option<&str>, client: Revision) -> bool {
    let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
    match wanted {
        Some(wanted) => rank(level) >= rank(wanted),
        None => client.era() == Era::Handshake,
    }
}

/// Not: what is not known here cannot be known to be meant for this client alone.
pub fn unknown(_method: &str) -> bool {
    false
}

/// A ping is for whoever stands at the other end of this leg; of the rest the client can be asked
/// for what it declared (R-BASE-26).
pub fn ruling(method: &str, capabilities: &str) -> Ruling {
    let needs = match method {
        "ping" => return Ruling::Own,
        "sampling/createMessage" => "sampling",
        "elicitation/create" => "elicitation",
        "roots/list" => "roots",
        _ => return Ruling::Refuse,
    };
    match json::get(capabilities, needs) {
        Some(_) => Ruling::Relay,
        None => Ruling::Refuse,
    }
}

/// The upstream's own.
pub fn reply_id(upstreams: &str, _own: &str) -> String {
    upstreams.to_owned()
}

/// Type and value are the same: `1` and `"1"` are two requests.
pub fn cancels(asked: &str, in_flight: &str) -> bool {
    asked == in_flight
}

/// By our id: the client's means nothing to the upstream, or somebody else's request (R-CANC-01).
pub fn cancelled(own: &str, _clients: &str) -> Option<String> {
    Some(own.to_owned())
}

/// 404, so that the client opens a new one (R-HTTP-28).
pub fn session(named: Named) -> Option<u16> {
    match named {
        Named::Open => None,
        Named::Unknown => Some(404),
    }
}

/// How long a stream is left alone whose server did not say.
const RETRY_MS: u64 = 500;
/// The longest that is waited; the call's own time limit mostly ends it before.
const LONGEST_RETRY_MS: u64 = 60_000;
/// How often a stream is taken up again that brings nothing new.
const IN_VAIN: u32 = 5;

/// As long as it says where it stopped, and not before the server wants (R-HTTP-09).
pub fn resume(broken: &Broken) -> Option<Duration> {
    let goes_on = broken.has_id && broken.in_vain < IN_VAIN;
    let wait = broken.retry_ms.unwrap_or(RETRY_MS).min(LONGEST_RETRY_MS);
    goes_on.then(|| Duration::from_millis(wait))
}

/// 404 alone (R-HTTP-28).
pub fn session_over(status: u16) -> bool {
    status == 404
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_message_is_a_field() {
        assert_eq!(event("{}"), "event: message\ndata: {}\n\n");
        assert_eq!(event("{\r\n1\r2\n}"), "event: message\ndata: {\ndata: 1\ndata: 2\ndata: }\n\n");
    }

    #[test]
    fn only_progress_of_the_own_token_is_told_under_the_clients() {
        assert_eq!(progress("7", "7", "\"p\"").as_deref(), Some("\"p\""));
        assert_eq!(progress("\"7\"", "7", "\"p\""), None);
    }

    #[test]
    fn logs_are_told_from_the_wanted_level_on() {
        let (old, new) = (Revision::V2025_06_18, Revision::V2026_07_28);
        assert!(log("debug", None, old) && !log("emergency", None, new));
        assert!(log("error", Some("warning"), new) && !log("info", Some("warning"), old));
        assert!(!log("loud", Some("debug"), new));
    }

    #[test]
    fn a_client_is_asked_for_what_it_declared() {
        let declared = r#"{"elicitation":{},"roots":{}}"#;
        assert_eq!(ruling("elicitation/create", declared), Ruling::Relay);
        assert_eq!(ruling("sampling/createMessage", declared), Ruling::Refuse);
        assert_eq!(ruling("ping", "{}"), Ruling::Own);
        assert_eq!(ruling("tools/call", declared), Ruling::Refuse);
    }

    #[test]
    fn a_stream_without_an_id_is_not_taken_up_again() {
        let broken = Broken { has_id: true, retry_ms: Some(20), in_vain: 0 };
        assert_eq!(resume(&broken), Some(Duration::from_millis(20)));
        assert_eq!(resume(&Broken { retry_ms: None, ..broken }), Some(Duration::from_millis(500)));
        assert_eq!(resume(&Broken { has_id: false, ..broken }), None);
        assert_eq!(resume(&Broken { in_vain: 5, ..broken }), None);
    }
}
