//! Surface 9, `is-error`: the flag of a failed result.
//!
//! The upstream sets it, the gateway reads it, and nobody relabels it (INV-9.2): what the log, the
//! tally of a batch and the client are told is one and the same. The gateway's own tool flags its
//! own errors.

use birdstrike_wire::json::Member;
use birdstrike_wire::shape::text_block;

use super::answer_reading::{Answer, Kind};
use super::upstream_read::Aftermath;
use crate::failure::{Cause, Failure};

/// How a call ended, in the log's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The tool did it.
    Ok,
    /// The tool said that it failed.
    ToolError,
    /// The upstream answered with a JSON-RPC error.
    RpcError,
    /// The gateway has no answer to give.
    Failed,
}

impl Outcome {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::RpcError => "rpc_error",
            Self::Failed => "failed",
        }
    }
}

/// Whether a call did what was asked of it, in the words of events, audit and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finish {
    /// It did.
    Completed,
    /// It did not, whoever says so.
    Failed,
}

impl Finish {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// The type of the event that tells of it.
    pub const fn event(self) -> &'static str {
        match self {
            Self::Completed => "call_completed",
            Self::Failed => "call_failed",
        }
    }

    /// Whether it is a failure.
    pub fn is_failed(self) -> bool {
        self == Self::Failed
    }
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Whether a result's members flag it as failed.
    pub is_flagged: fn(&[Member<'_>]) -> bool,
    /// What a flagged result is read as.
    pub tool_error: fn(result: &str) -> Answer,
    /// A result's label on its way to the client, on every route.
    pub label: fn(result: String, kind: Kind) -> String,
    /// A result of the gateway's own tool that says what is wrong.
    pub own_error: fn(words: &str) -> String,
    /// The log's word for how a call ended.
    pub outcome: fn(&Result<Answer, Failure>) -> Outcome,
    /// The word of events, audit and metrics for how a call ended.
    pub finish: fn(&Result<Answer, Failure>) -> Finish,
    /// The status of the span of a call.
    pub span_finish: fn(&Result<Answer, Failure>) -> Finish,
    /// Whether the upstream is well after a call that ended like this; `None` if that says nothing.
    pub healthy: fn(&Result<Answer, Failure>) -> Option<bool>,
    /// Whether a batch counts the answer as a success.
    pub is_success: fn(&Answer) -> bool,
    /// What becomes of the way to the upstream after an answer.
    pub aftermath: fn(&Answer) -> Aftermath,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        is_flagged,
        tool_error,
        label,
        own_error,
        outcome,
        finish,
        span_finish,
        healthy,
        is_success,
        aftermath,
    };
}

/// `isError`, spelled like this, is `true`; absent is false.
pub fn is_flagged(members: &[Member<'_>]) -> bool {
    members.iter().rfind(|member| member.is("isError")).is_some_and(|flag| flag.value == "true")
}

/// A result still: typed part, `_meta` and unknown members belong to a failure as well.
pub fn tool_error(result: &str) -> Answer {
    Answer { kind: Kind::ToolError, body: result.to_owned() }
}

/// Not touched: neither set, nor cleared, nor spelled out where it is absent.
pub fn label(result: String, _: Kind) -> String {
    result
}

/// One text block and the flag (R-ERR-01).
pub fn own_error(words: &str) -> String {
    format!("{{\"content\":[{}],\"isError\":true}}", text_block(words))
}

/// As the client sees it.
pub fn outcome(ended: &Result<Answer, Failure>) -> Outcome {
    match ended.as_ref().map(|answer| answer.kind) {
        Ok(Kind::Success | Kind::Task | Kind::InputRequired) => Outcome::Ok,
        Ok(Kind::ToolError) => Outcome::ToolError,
        Ok(Kind::RpcError) => Outcome::RpcError,
        Err(_) => Outcome::Failed,
    }
}

/// A failed result is a failure to everybody who is told of the call (INV-9.3).
pub fn finish(ended: &Result<Answer, Failure>) -> Finish {
    match outcome(ended) {
        Outcome::Ok => Finish::Completed,
        Outcome::ToolError | Outcome::RpcError | Outcome::Failed => Finish::Failed,
    }
}

/// The same as the event's (INV-9.5).
pub fn span_finish(ended: &Result<Answer, Failure>) -> Finish {
    finish(ended)
}

/// An upstream that answers is well, whatever it answers (INV-9.1). What the gateway itself cannot
/// hand on says nothing against it either.
pub fn healthy(ended: &Result<Answer, Failure>) -> Option<bool> {
    let Err(failure) = ended else { return Some(true) };
    match failure.cause {
        Cause::Unreachable | Cause::NotStarted | Cause::Timeout => Some(false),
        Cause::UnknownTool | Cause::UnknownPrompt | Cause::UnknownResource | Cause::Skipped => None,
        _ => Some(true),
    }
}

/// A failed result is none.
pub fn is_success(answer: &Answer) -> bool {
    matches!(answer.kind, Kind::Success | Kind::Task | Kind::InputRequired)
}

/// An upstream that answers is well, whatever it answers (INV-9.1).
pub fn aftermath(_: &Answer) -> Aftermath {
    Aftermath::Keep
}

#[cfg(test)]
mod tests {
    use birdstrike_wire::json;

    use super::*;

    fn flagged(result: &str) -> bool {
        is_flagged(&json::members(result).unwrap())
    }

    #[test]
    fn only_the_flag_itself_flags() {
        assert!(flagged(r#"{"isError":true}"#));
        assert!(flagged(r#"{"is\u0045rror":true}"#));
        for unflagged in [
            "{}",
            r#"{"isError":false}"#,
            r#"{"isError":"true"}"#,
            r#"{"IsError":true}"#,
            r#"{"a":{"isError":true}}"#,
        ] {
            assert!(!flagged(unflagged), "{unflagged}");
        }
    }

    #[test]
    fn own_errors_are_flagged() {
        let result = own_error("no \"calls\"");
        assert!(flagged(&result));
        assert!(result.contains(r#"no \"calls\""#));
    }
}
