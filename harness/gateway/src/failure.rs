//! What the gateway says when a call fails through no word of the upstream.
//!
//! An upstream's own errors never come here: they pass as they are. These are the gateway's, with
//! codes outside every range that JSON-RPC and MCP reserve (R-ERR-13), so that nobody takes them for
//! an upstream's (R-ERR-14).

use std::fmt::Write as _;

use birdstrike_wire::{Revision, codes, json, meta};

/// What the handshake revisions say of a resource that is not there.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// Why the gateway has no answer to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// No connection, or one that closed before the answer began.
    Unreachable,
    /// The command of a stdio upstream cannot be run, or ended before its first answer.
    NotStarted,
    /// No answer within the time limit.
    Timeout,
    /// The answer is larger than the limit.
    ResponseTooLarge,
    /// The answer breaks a rule that it cannot be read without.
    BadAnswer,
    /// The upstream answered with a task, and the client has not declared the tasks extension.
    TaskNotDeclared,
    /// The upstream asks for input, and the client's revision has no way to give it.
    InputNotCarried,
    /// No tool of that name.
    UnknownTool,
    /// A pinned tool has another digest now.
    DigestDrift,
    /// The result does not keep to its tool's outputSchema.
    OutputSchema,
    /// No prompt of that name.
    UnknownPrompt,
    /// No resource of that URI, or none for this caller.
    UnknownResource,
    /// The call was not made, as its batch ended before its turn.
    Skipped,
}

impl Cause {
    /// The word for it in `data.cause`, in a batch entry's `error_type` and in the log.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::NotStarted => "not_started",
            Self::Timeout => "timeout",
            Self::ResponseTooLarge => "response_too_large",
            Self::BadAnswer => "bad_answer",
            Self::TaskNotDeclared => "task_not_declared",
            Self::InputNotCarried => "input_not_carried",
            Self::UnknownTool => "unknown_tool",
            Self::DigestDrift => "digest_drift",
            Self::OutputSchema => "output_schema",
            Self::UnknownPrompt => "unknown_prompt",
            Self::UnknownResource => "unknown_resource",
            Self::Skipped => "skipped",
        }
    }

    /// The JSON-RPC code towards a client of this revision. What MCP has a code for gets that one;
    /// the gateway's own lie from -31001 to -31007.
    pub const fn code(self, client: Revision) -> i64 {
        match self {
            Self::Unreachable => -31001,
            Self::Timeout => -31002,
            Self::ResponseTooLarge => -31003,
            Self::BadAnswer => -31004,
            Self::NotStarted => -31005,
            Self::DigestDrift => -31006,
            Self::OutputSchema => -31007,
            Self::TaskNotDeclared if client.has_result_type() => codes::MISSING_CLIENT_CAPABILITY,
            Self::TaskNotDeclared | Self::InputNotCarried | Self::Skipped => codes::INTERNAL_ERROR,
            // Each era has a code of its own (R-ERR-19).
            Self::UnknownResource if !client.has_result_type() => RESOURCE_NOT_FOUND,
            Self::UnknownTool | Self::UnknownPrompt | Self::UnknownResource => {
                codes::INVALID_PARAMS
            }
        }
    }
}

/// A call that the gateway could not finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind of trouble.
    pub cause: Cause,
    /// The trouble itself, in words. Holds nothing of a result; of an HTTP error it may hold the
    /// head of the body.
    pub message: String,
    /// The limit that was hit, in bytes.
    pub limit_bytes: Option<u64>,
    /// The time limit that ran out, in milliseconds.
    pub timeout_ms: Option<u64>,
}

impl Failure {
    /// A failure with its words and no numbers.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into(), limit_bytes: None, timeout_ms: None }
    }

    /// The upstream did not answer in time.
    pub fn timeout(timeout_ms: u64) -> Self {
        let message = format!("the upstream did not answer within {timeout_ms} ms");
        Self { timeout_ms: Some(timeout_ms), ..Self::new(Cause::Timeout, message) }
    }

    /// The upstream's answer is larger than `limit_bytes`.
    pub fn too_large(limit_bytes: u64) -> Self {
        let message = format!("the upstream's answer is larger than {limit_bytes} bytes");
        Self { limit_bytes: Some(limit_bytes), ..Self::new(Cause::ResponseTooLarge, message) }
    }

    /// The upstream's answer cannot be read, for this reason.
    pub fn bad_answer(why: impl std::fmt::Display) -> Self {
        Self::new(Cause::BadAnswer, format!("the upstream's answer cannot be used: {why}"))
    }

    /// The same failure, with the HTTP status that it came with, and what the body said.
    #[must_use]
    pub fn with_status(self, status: u16, reason: Option<&str>) -> Self {
        let said = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let message = format!("{} (HTTP status {status}{said})", self.message);
        Self { message, ..self }
    }

    /// Whether nothing came back at all, so that nothing else is worth a try.
    pub(crate) fn is_no_answer(&self) -> bool {
        matches!(self.cause, Cause::Unreachable | Cause::NotStarted)
    }

    /// The JSON-RPC error object that tells a client of this revision about it.
    pub fn to_error(&self, client: Revision, upstream: &str) -> String {
        let mut data = format!("{{\"cause\":\"{}\"", self.cause.slug());
        if !upstream.is_empty() {
            data.push_str(",\"upstream\":");
            data.push_str(&json::quote(upstream));
        }
        if self.cause == Cause::TaskNotDeclared && client.has_result_type() {
            let extension = json::quote(meta::TASKS_EXTENSION);
            data.push_str(",\"requiredCapabilities\":{\"extensions\":{");
            data.push_str(&extension);
            data.push_str(":{}}}");
        }
        for (name, number) in [("limit_bytes", self.limit_bytes), ("timeout_ms", self.timeout_ms)] {
            if let Some(number) = number {
                let _ = write!(data, ",\"{name}\":{number}");
            }
        }
        data.push('}');
        birdstrike_wire::envelope::error_object(self.cause.code(client), &self.message, Some(&data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_codes_lie_outside_the_reserved_ranges() {
        let own = [
            Cause::Unreachable,
            Cause::NotStarted,
            Cause::Timeout,
            Cause::ResponseTooLarge,
            Cause::BadAnswer,
            Cause::DigestDrift,
            Cause::OutputSchema,
        ];
        for cause in own {
            let code = cause.code(Revision::NEWEST);
            assert!(!(-32768..=-32000).contains(&code), "{cause:?}");
        }
    }

    #[test]
    fn the_error_names_cause_upstream_and_limit() {
        let error = Failure::too_large(131_072).to_error(Revision::V2025_06_18, "main");
        assert_eq!(
            error,
            "{\"code\":-31003,\"message\":\"the upstream's answer is larger than 131072 bytes\",\
             \"data\":{\"cause\":\"response_too_large\",\"upstream\":\"main\",\"limit_bytes\":131072}}"
        );
    }

    #[test]
    fn an_undeclared_task_names_the_capability_where_there_is_a_code_for_it() {
        let failure = Failure::new(Cause::TaskNotDeclared, "a task");
        let new = failure.to_error(Revision::V2026_07_28, "a");
        assert!(new.contains("-32021"));
        assert!(new.contains(
            r#""requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#
        ));
        let old = failure.to_error(Revision::V2025_11_25, "a");
        assert!(old.contains("-32603") && !old.contains("requiredCapabilities"));
    }
}
