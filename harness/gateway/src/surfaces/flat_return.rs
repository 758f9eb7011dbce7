//! Surface 6, `flat-return`: the answer of one call on its way to the client.
//!
//! Upstream and client may speak different revisions. What the client's revision demands is spliced
//! in, what it cannot carry is left out, and every other byte of the result stays where it was
//! (INV-6.1): spelling of numbers, escapes, repeated keys, white space, members nobody knows.
//!
//! The facade is a flat return too, for callers that speak plain HTTP in place of MCP.

use std::cmp::Reverse;

use birdstrike_wire::json::{self, Member};
use birdstrike_wire::{Revision, envelope, meta};

use super::answer_reading::{Answer, Kind};
use super::{batch_packing, is_error};
use crate::failure::Failure;

const TYPED_PART: &str = "structuredContent";

/// The two ends between which a result travels.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// The upstream's revision.
    pub upstream: Revision,
    /// The client's revision.
    pub client: Revision,
    /// What the result is.
    pub kind: Kind,
    /// The gateway's own `serverInfo`, as JSON text.
    pub identity: &'a str,
}

/// What happens to a member of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Splice {
    /// It stays, or stays away.
    Keep,
    /// It gets this value, as JSON text.
    Set(String),
    /// It is left out.
    Remove,
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The result itself, before anything is spliced.
    pub result: fn(result: String) -> String,
    /// What happens to `structuredContent`, given its value.
    pub typed_part: fn(typed_part: &str, &Cell<'_>) -> Splice,
    /// What happens to `resultType`, given the upstream's.
    pub result_type: fn(theirs: Option<&str>, &Cell<'_>) -> Splice,
    /// What happens to `_meta`, given the upstream's.
    pub server_info: fn(meta: Option<&str>, &Cell<'_>) -> Splice,
    /// The error object of an upstream's JSON-RPC error.
    pub rpc_error: fn(error: String) -> String,
    /// The error object of a failure of the gateway's own.
    pub own_failure: fn(&Failure, client: Revision, upstream: &str) -> String,
    /// The message, around the client's own id.
    pub envelope: fn(id: &str, member: &str, body: &str) -> String,
    /// The answer of the facade, which speaks no JSON-RPC.
    pub facade: fn(&Result<Answer, Failure>, success: bool) -> String,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        result,
        typed_part,
        result_type,
        server_info,
        rpc_error,
        own_failure,
        envelope,
        facade,
    };
}

/// Here most gateways parse the result into types of their own. Nothing happens, on purpose.
pub fn result(result: String) -> String {
    result
}

/// Below 2026-07-28 a typed part is an object (R-TOOLS-15); from then on any value, null included
/// (R-TOOLS-16).
pub fn typed_part(typed_part: &str, cell: &Cell<'_>) -> Splice {
    if cell.client.typed_part_may_be_any_value() || json::kind(typed_part) == "an object" {
        return Splice::Keep;
    }
    Splice::Remove
}

/// Every result has one at 2026-07-28 (R-BASE-05), and none has one below. Absent stands for
/// complete (R-BASE-06), but for a handle in the nested form, which stays one.
pub fn result_type(theirs: Option<&str>, cell: &Cell<'_>) -> Splice {
    match (cell.client.has_result_type(), theirs) {
        (true, None) if cell.kind == Kind::Task => Splice::Set("\"task\"".into()),
        (true, None) => Splice::Set("\"complete\"".into()),
        (false, Some("\"complete\"")) if cell.upstream.has_result_type() => Splice::Remove,
        _ => Splice::Keep,
    }
}

/// A client of 2026-07-28 is told who answers (R-BASE-15): the upstream, if it said so itself. A
/// `_meta` that is no object has no room for it, and is the upstream's affair.
pub fn server_info(meta: Option<&str>, cell: &Cell<'_>) -> Splice {
    let meta = meta.unwrap_or("{}");
    if !cell.client.has_result_type() || json::get(meta, meta::SERVER_INFO).is_some() {
        return Splice::Keep;
    }
    json::set(meta, meta::SERVER_INFO, cell.identity).map_or(Splice::Keep, Splice::Set)
}

/// Code, message and data are the upstream's, never reworded (INV-9.2).
pub fn rpc_error(error: String) -> String {
    error
}

/// Names the true cause, with a code that no upstream uses by the rules (R-ERR-14).
pub fn own_failure(failure: &Failure, client: Revision, upstream: &str) -> String {
    failure.to_error(client, upstream)
}

/// The id as the client wrote it (R-BASE-03).
pub fn envelope(id: &str, member: &str, body: &str) -> String {
    match member {
        "error" => envelope::error(Some(id), body),
        _ => envelope::result(id, body),
    }
}

/// One of four forms. What the upstream said stands there whole, as it said it, beside a few words:
/// a caller that is no MCP client reads those first.
pub fn facade(ended: &Result<Answer, Failure>, success: bool) -> String {
    match ended {
        Ok(Answer { body, .. }) if success => format!("{{\"result\":{body}}}"),
        Ok(Answer { kind: Kind::RpcError, body }) => {
            let words = batch_packing::rpc_message(body);
            format!("{{\"upstream_error\":{body},\"error\":{words}}}")
        }
        Ok(Answer { body, .. }) => {
            let words = batch_packing::first_text(body);
            format!("{{\"upstream_result\":{body},\"error\":{words}}}")
        }
        Err(failure) => {
            let (words, kind) = (json::quote(&failure.message), failure.cause.slug());
            format!("{{\"error\":{words},\"error_type\":\"{kind}\"}}")
        }
    }
}

/// A result made fit for its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The member of the envelope that carries it.
    pub member: &'static str,
    /// The raw result or error object.
    pub body: String,
    /// The member that had to be left out, for the log.
    pub left_out: Option<&'static str>,
}

/// Takes an answer through the steps.
pub fn fit(answer: Answer, cell: &Cell<'_>, steps: &Steps, flags: &is_error::Steps) -> Fitted {
    if answer.kind == Kind::RpcError {
        let body = (steps.rpc_error)(answer.body);
        return Fitted { member: "error", body, left_out: None };
    }
    let body = (steps.result)((flags.label)(answer.body, answer.kind));
    // One look at the result, which may be large, for all that is decided about it.
    let members = json::members(&body).unwrap_or_default();
    let get = |name: &str| members.iter().rfind(|member| member.is(name)).map(|m| m.value);
    let typed_part = get(TYPED_PART).map(|part| (steps.typed_part)(part, cell));
    let left_out = (typed_part == Some(Splice::Remove)).then_some(TYPED_PART);
    let splices = [
        (TYPED_PART, typed_part.unwrap_or(Splice::Keep)),
        ("resultType", (steps.result_type)(get("resultType"), cell)),
        ("_meta", (steps.server_info)(get("_meta"), cell)),
    ];
    let spliced = spliced(&body, &members, splices);
    Fitted { member: "result", body: spliced.unwrap_or(body), left_out }
}

/// The result after what was decided for its members; `None` if nothing changes. New members come
/// first, the last one of them in front.
pub fn spliced(
    result: &str,
    members: &[Member<'_>],
    splices: impl IntoIterator<Item = (&'static str, Splice)>,
) -> Option<String> {
    let first = result.find('{')? + 1;
    let mut comma = if members.is_empty() { "" } else { "," };
    let (mut edits, mut removed) = (Vec::new(), Vec::new());
    for (name, splice) in splices {
        match (splice, members.iter().rfind(|member| member.is(name))) {
            (Splice::Keep, _) => {}
            (Splice::Set(value), Some(member)) => edits.push((member.value_at.clone(), value)),
            (Splice::Set(value), None) => {
                edits.push((first..first, format!("{}:{value}{comma}", json::quote(name))));
                comma = ",";
            }
            (Splice::Remove, _) => removed.push(name),
        }
    }
    // From the end, so that what is still to be edited stays where it was seen.
    edits.sort_by_key(|(span, _)| Reverse(span.start));
    let mut edited = None;
    for (span, value) in edits {
        edited = Some(json::replace(edited.as_deref().unwrap_or(result), &span, &value));
    }
    for name in removed {
        edited = json::remove(edited.as_deref().unwrap_or(result), name).ok().or(edited);
    }
    edited
}

#[cfg(test)]
mod tests;
