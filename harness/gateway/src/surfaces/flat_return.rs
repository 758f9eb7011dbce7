//! Surface 6, `flat-return`: the answer of one call on its way to the client.
//!
//! Upstream and client may speak different revisions. What the client's revision demands is spliced
//! in, what it cannot carry is left out, and every other byte of the result stays where it was
//! (INV-6.1): spelling of numbers, escapes, repeated keys, white space, members nobody knows.

use birdstrike_wire::{Revision, envelope, json, meta};

use super::answer_reading::{Answer, Kind};
use super::is_error;
use crate::failure::Failure;

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

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The result itself, before anything is spliced.
    pub result: fn(result: String) -> String,
    /// Whether the client's revision can carry this typed part.
    pub carries: fn(typed_part: &str, &Cell<'_>) -> bool,
    /// Sees to `resultType`.
    pub result_type: fn(result: String, &Cell<'_>) -> String,
    /// Sees to `serverInfo`.
    pub server_info: fn(result: String, &Cell<'_>) -> String,
    /// The error object of an upstream's JSON-RPC error.
    pub rpc_error: fn(error: String) -> String,
    /// The error object of a failure of the gateway's own.
    pub own_failure: fn(&Failure, client: Revision, upstream: &str) -> String,
    /// The message, around the client's own id.
    pub envelope: fn(id: &str, member: &str, body: &str) -> String,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self =
        Self { result, carries, result_type, server_info, rpc_error, own_failure, envelope };
}

/// Here most gateways parse the result into types of their own. Nothing happens, on purpose.
pub fn result(result: String) -> String {
    result
}

/// Below 2026-07-28 a typed part is an object (R-TOOLS-15); from then on any value, null included
/// (R-TOOLS-16).
pub fn carries(typed_part: &str, cell: &Cell<'_>) -> bool {
    cell.client.typed_part_may_be_any_value() || json::kind(typed_part) == "an object"
}

/// Every result has one at 2026-07-28 (R-BASE-05), and none has one below. Absent stands for
/// complete (R-BASE-06), but for a handle in the nested form, which stays one.
pub fn result_type(result: String, cell: &Cell<'_>) -> String {
    let theirs = json::get(&result, "resultType");
    let edited = match (cell.client.has_result_type(), theirs) {
        (true, None) if cell.kind == Kind::Task => json::set(&result, "resultType", "\"task\""),
        (true, None) => json::set(&result, "resultType", "\"complete\""),
        (false, Some("\"complete\"")) if cell.upstream.has_result_type() => {
            json::remove(&result, "resultType")
        }
        _ => return result,
    };
    edited.unwrap_or(result)
}

/// A client of 2026-07-28 is told who answers (R-BASE-15): the upstream, if it said so itself.
pub fn server_info(result: String, cell: &Cell<'_>) -> String {
    if !cell.client.has_result_type() {
        return result;
    }
    let meta = match json::get(&result, "_meta") {
        None => json::set("{}", meta::SERVER_INFO, cell.identity),
        Some(meta) if json::get(meta, meta::SERVER_INFO).is_some() => return result,
        Some(meta) => json::set(meta, meta::SERVER_INFO, cell.identity),
    };
    // A `_meta` that is no object has no room for it, and is the upstream's affair.
    let edited = meta.and_then(|meta| json::set(&result, "_meta", &meta));
    edited.unwrap_or(result)
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
    let mut body = (flags.label)(answer.body, answer.kind);
    body = (steps.result)(body);
    let mut left_out = None;
    if !cell.client.typed_part_may_be_any_value() {
        let carried =
            json::get(&body, "structuredContent").is_none_or(|part| (steps.carries)(part, cell));
        if !carried && let Ok(rest) = json::remove(&body, "structuredContent") {
            body = rest;
            left_out = Some("structuredContent");
        }
    }
    body = (steps.result_type)(body, cell);
    body = (steps.server_info)(body, cell);
    Fitted { member: "result", body, left_out }
}

#[cfg(test)]
mod tests;
