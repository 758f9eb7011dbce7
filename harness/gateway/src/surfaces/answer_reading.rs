//! Surface 2, `answer-reading`: what an upstream's answer says.
//!
//! A result, a failed result, a JSON-RPC error, a task, a request for input, or nothing that can be
//! used. Two or three members are looked at; the rest stays bytes. An answer that could be read two
//! ways is refused with its reason and never guessed at.

use birdstrike_wire::json::{self, Member};
use birdstrike_wire::{Envelope, Kind as MessageKind, Revision};

use super::is_error;
use crate::failure::{Cause, Failure};

/// A JSON-RPC message as it came from an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The message's bytes.
    pub bytes: Vec<u8>,
    /// How it came.
    pub arrival: Arrival,
    /// The HTTP status it came with; 200 for a stdio upstream.
    pub status: u16,
}

/// How a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// As an `application/json` body.
    Json,
    /// As an event of a `text/event-stream`.
    EventStream,
    /// As a line of a stdio upstream.
    Line,
}

/// What the answer is read against.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The id under which the upstream was asked, as JSON text.
    pub id: &'a str,
    /// The upstream's revision.
    pub upstream: Revision,
    /// The client's revision.
    pub client: Revision,
    /// Whether the client declared the tasks extension for this call (R-TASK2-01), or asked for a
    /// task by the call itself (2025-11-25).
    pub declares_tasks: bool,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A result without an error flag.
    Success,
    /// A result with `isError: true`.
    ToolError,
    /// A task handle in place of a result, flat or nested.
    Task,
    /// A request for more input in place of a result (R-TOOLS-26).
    InputRequired,
    /// A JSON-RPC error.
    RpcError,
}

/// An answer that was read: what it is, and its result or error object, every byte as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it is.
    pub kind: Kind,
    /// The raw result, or the raw error object.
    pub body: String,
}

/// The member of a response that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side<'a> {
    /// The result.
    Result(&'a str),
    /// The error object.
    Error(&'a str),
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Whether an HTTP status settles the matter before the body is looked at. `is_message` says
    /// whether the body claims to be a message (`application/json` or `text/event-stream`).
    pub status: fn(status: u16, is_message: bool) -> Result<(), Failure>,
    /// The bytes as text.
    pub text: fn(Vec<u8>) -> Result<String, Failure>,
    /// Whether a response answers the request with this id.
    pub is_ours: fn(&Envelope<'_>, id: &str) -> bool,
    /// Result or error.
    pub side: for<'a> fn(&Envelope<'a>, Arrival) -> Result<Side<'a>, Failure>,
    /// The members of a result.
    pub members: for<'a> fn(result: &'a str) -> Result<Vec<Member<'a>>, Failure>,
    /// What a result without its error flag is.
    pub kind: fn(&[Member<'_>], &Asked<'_>) -> Result<Kind, Failure>,
    /// Why the client cannot be given an answer of this kind, if so.
    pub withhold: fn(Kind, &Asked<'_>) -> Option<Failure>,
    /// Whether the same call is sent once more after it ended like this.
    pub again: fn(&Result<Answer, Failure>) -> bool,
    /// The size of a message, as the sinks are told it.
    pub size: fn(message: &[u8]) -> usize,
    /// The code that the sinks are told of a call that ended like this.
    pub code: fn(&Result<Answer, Failure>, client: Revision) -> Option<i64>,
    /// What the body of an HTTP error that is no message says of the reason.
    pub reason: fn(body: &[u8]) -> Option<String>,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self =
        Self { status, text, is_ours, side, members, kind, withhold, again, size, code, reason };
}

/// A body that is a message speaks for itself: servers of 2026-07-28 send their errors with
/// statuses such as 400, and the error says more than the status.
pub fn status(status: u16, is_message: bool) -> Result<(), Failure> {
    if is_message {
        return Ok(());
    }
    Err(Failure::bad_answer(format_args!("HTTP status {status} without a JSON-RPC message")))
}

/// Strict: a replaced byte would be a changed result.
pub fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::bad_answer(format_args!("not UTF-8 at byte {at}"))
    })
}

/// The id as it was sent (R-BASE-03). An error may come without one, or with `null`, when the
/// upstream could not read the request (R-ERR-07).
pub fn is_ours(envelope: &Envelope<'_>, id: &str) -> bool {
    match envelope.id() {
        Some(theirs) if theirs == id => true,
        None | Some("null") => envelope.error().is_some(),
        Some(_) => false,
    }
}

/// Exactly one of the two (R-ERR-08).
pub fn side<'a>(envelope: &Envelope<'a>, _: Arrival) -> Result<Side<'a>, Failure> {
    match (envelope.kind(), envelope.result(), envelope.error()) {
        (MessageKind::Result, Some(result), _) => Ok(Side::Result(result)),
        (MessageKind::Error, _, Some(error)) if json::kind(error) == "an object" => {
            Ok(Side::Error(error))
        }
        (MessageKind::Error, ..) => Err(Failure::bad_answer("`error` is no object")),
        (MessageKind::Broken(why), ..) => Err(Failure::bad_answer(why)),
        _ => Err(Failure::bad_answer("a message that is no response")),
    }
}

/// A result is an object; anything else is not read as an empty one.
pub fn members(result: &str) -> Result<Vec<Member<'_>>, Failure> {
    json::members(result).map_err(|_| {
        Failure::bad_answer(format_args!("`result` is {}, not an object", json::kind(result)))
    })
}

/// By `resultType`: absent means complete (R-BASE-06), an unknown one is invalid (R-BASE-07), but
/// for two parties of the handshake revisions, to whom it is a member like any other. A nested
/// handle (2025-11-25) has `task` in place of `content`.
pub fn kind(members: &[Member<'_>], asked: &Asked<'_>) -> Result<Kind, Failure> {
    let get = |name: &str| members.iter().rfind(|member| member.is(name)).map(|m| m.value);
    let has_type = asked.upstream.has_result_type() || asked.client.has_result_type();
    match get("resultType") {
        Some("\"task\"") => Ok(Kind::Task),
        Some("\"input_required\"") => Ok(Kind::InputRequired),
        Some(other) if has_type && other != "\"complete\"" => {
            let shown: String = other.chars().take(60).collect();
            Err(Failure::bad_answer(format_args!("unknown `resultType` {shown}")))
        }
        _ if is_nested_task(get("task"), get("content")) => Ok(Kind::Task),
        _ => Ok(Kind::Success),
    }
}

/// Whether `task` is a handle that stands where a result would.
pub fn is_nested_task(task: Option<&str>, content: Option<&str>) -> bool {
    content.is_none() && task.is_some_and(|task| json::get_string(task, "taskId").is_some())
}

/// A task goes only to a client that declared it (R-BASE-08, R-TASK2-01), a request for input only
/// to one whose revision has it.
pub fn withhold(kind: Kind, asked: &Asked<'_>) -> Option<Failure> {
    let stateless = asked.client.has_result_type();
    match kind {
        Kind::Task if !asked.declares_tasks || asked.client == Revision::V2025_06_18 => {
            let extension = birdstrike_wire::meta::TASKS_EXTENSION;
            let message = format!(
                "the upstream answered with a task, and the client did not declare `{extension}`"
            );
            Some(Failure::new(Cause::TaskNotDeclared, message))
        }
        Kind::InputRequired if !stateless => {
            let message = format!(
                "the upstream asks for input, which revision {} has no way to give",
                asked.client
            );
            Some(Failure::new(Cause::InputNotCarried, message))
        }
        _ => None,
    }
}

/// Never: a tool may have done its work although its answer was lost, and would do it twice.
pub fn again(_: &Result<Answer, Failure>) -> bool {
    false
}

/// Its bytes as they came (against INV-2.9, which counts the characters of the result as printed).
pub fn size(message: &[u8]) -> usize {
    message.len()
}

/// That of the error that the client gets: the upstream's own (INV-2.2), or the gateway's. A result
/// has none, even a failed one.
pub fn code(ended: &Result<Answer, Failure>, client: Revision) -> Option<i64> {
    match ended {
        Ok(Answer { kind: Kind::RpcError, body }) => json::get(body, "code")?.parse().ok(),
        Ok(_) => None,
        Err(failure) => Some(failure.cause.code(client)),
    }
}

/// The most that is told of such a body, in characters.
const REASON: usize = 200;

/// The head of the body, in one line. A message is not told: if it could not be used it may be the
/// answer to somebody else.
pub fn reason(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    if text.is_empty() || json::get(text, "jsonrpc").is_some() {
        return None;
    }
    let plain = |one: char| if one.is_control() { ' ' } else { one };
    Some(text.chars().map(plain).take(REASON).collect())
}

/// Reads one answer to the end.
///
/// # Errors
/// A [`Failure`]: the answer cannot be used, or not by this client.
pub fn read(
    message: Message,
    asked: &Asked<'_>,
    steps: &Steps,
    flags: &is_error::Steps,
) -> Result<Answer, Failure> {
    let (arrival, status) = (message.arrival, message.status);
    let reason = if status >= 400 { (steps.reason)(&message.bytes) } else { None };
    read_message(message.bytes, arrival, asked, steps, flags).map_err(|failure| {
        match failure.cause {
            // What cannot be read as an answer has a status, and perhaps words.
            Cause::BadAnswer if status >= 400 => failure.with_status(status, reason.as_deref()),
            _ => failure,
        }
    })
}

fn read_message(
    bytes: Vec<u8>,
    arrival: Arrival,
    asked: &Asked<'_>,
    steps: &Steps,
    flags: &is_error::Steps,
) -> Result<Answer, Failure> {
    let text = (steps.text)(bytes)?;
    let envelope = Envelope::read(text.as_bytes()).map_err(Failure::bad_answer)?;
    if envelope.result().is_none() && envelope.error().is_none() {
        return Err(Failure::bad_answer(
            "it holds neither `result` nor `error`, no JSON-RPC response",
        ));
    }
    if !(steps.is_ours)(&envelope, asked.id) {
        return Err(Failure::bad_answer("its id is not that of the request"));
    }
    let result = match (steps.side)(&envelope, arrival)? {
        Side::Error(error) => return Ok(Answer { kind: Kind::RpcError, body: error.to_owned() }),
        Side::Result(result) => result,
    };
    let members = (steps.members)(result)?;
    let kind = (steps.kind)(&members, asked)?;
    if let Some(failure) = (steps.withhold)(kind, asked) {
        return Err(failure);
    }
    if kind == Kind::Success && (flags.is_flagged)(&members) {
        return Ok((flags.tool_error)(result));
    }
    Ok(Answer { kind, body: result.to_owned() })
}

#[cfg(test)]
mod tests;
