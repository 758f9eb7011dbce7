//! Faults of surface 9, the flag of a failed result.

use birdstrike_wire::envelope::error_object;
use birdstrike_wire::json;

use super::{Fault, blocks, edit, without};
use crate::surfaces::answer_reading::{Answer, Kind};
use crate::surfaces::batch_packing::first_text;
use crate::surfaces::is_error::{self as right, Finish, Outcome};
use crate::surfaces::upstream_read::Aftermath;

const SURFACE: &str = "is-error";

/// Something done to failed results alone.
macro_rules! on_failure {
    (|$result:ident| $edit:expr) => {
        |steps| {
            steps.is_error.label = |$result, kind| match kind {
                Kind::ToolError => $edit,
                _ => $result,
            }
        }
    };
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "spelled-out-success-loses-typed-part",
        surface: SURFACE,
        mistake: "A result that says isError: false is rebuilt from its content alone.",
        apply: |steps| {
            steps.is_error.label = |result, _| match json::get(&result, "isError") {
                Some("false") => without(result, "structuredContent"),
                _ => result,
            };
        },
    },
    Fault {
        name: "flag-in-any-case",
        surface: SURFACE,
        mistake: "Member names are compared without case, so that IsError is read as isError.",
        apply: |steps| {
            steps.is_error.is_flagged = |members| {
                members.iter().any(|m| m.key().eq_ignore_ascii_case("isError") && m.value == "true")
            };
        },
    },
    Fault {
        name: "flag-by-presence",
        surface: SURFACE,
        mistake: "isError: false is read as a failure, as the member is there.",
        apply: |steps| {
            steps.is_error.is_flagged = |members| members.iter().any(|m| m.is("isError"));
        },
    },
    Fault {
        name: "tool-error-as-rpc-error",
        surface: SURFACE,
        mistake: "A failed result is turned into a JSON-RPC error with its text as the message.",
        apply: |steps| {
            steps.is_error.tool_error = |result| {
                let text: String = serde_json::from_str(first_text(result)).unwrap_or_default();
                Answer { kind: Kind::RpcError, body: error_object(-32000, &text, None) }
            };
        },
    },
    Fault {
        name: "tool-error-counted-as-success",
        surface: SURFACE,
        mistake: "A batch counts every answered call as succeeded and does not look at the flag.",
        apply: |steps| {
            steps.is_error.is_success =
                |answer| answer.kind == Kind::ToolError || right::is_success(answer);
        },
    },
    Fault {
        name: "tool-error-logged-as-ok",
        surface: SURFACE,
        mistake: "The log line says ok for a result that says it failed.",
        apply: |steps| {
            steps.is_error.outcome = |ended| match right::outcome(ended) {
                Outcome::ToolError => Outcome::Ok,
                outcome => outcome,
            };
        },
    },
    Fault {
        name: "rpc-error-logged-as-tool-error",
        surface: SURFACE,
        mistake: "The log line does not tell a JSON-RPC error from a failed result.",
        apply: |steps| {
            steps.is_error.outcome = |ended| match right::outcome(ended) {
                Outcome::RpcError => Outcome::ToolError,
                outcome => outcome,
            };
        },
    },
    Fault {
        name: "text-alone-told-as-failed",
        surface: SURFACE,
        mistake: "An answer without a typed part is told as a failure, as nothing could be read of it.",
        apply: |steps| {
            steps.is_error.finish = |ended| match ended {
                Ok(answer) if json::get(&answer.body, "structuredContent").is_none() => {
                    Finish::Failed
                }
                _ => right::finish(ended),
            };
        },
    },
    Fault {
        name: "tool-error-told-as-completed",
        surface: SURFACE,
        mistake: "Event and audit say completed for a result that says it failed, as an answer came.",
        apply: |steps| {
            steps.is_error.finish = |ended| match ended {
                Ok(answer) if answer.kind == Kind::ToolError => Finish::Completed,
                _ => right::finish(ended),
            };
        },
    },
    Fault {
        name: "span-of-tool-error-ok",
        surface: SURFACE,
        mistake: "The span of a call is in error only when there was no answer at all.",
        apply: |steps| {
            steps.is_error.span_finish = |ended| match ended {
                Ok(_) => Finish::Completed,
                Err(_) => right::span_finish(ended),
            };
        },
    },
    Fault {
        name: "tool-error-counts-as-outage",
        surface: SURFACE,
        mistake: "The health of an upstream goes down with each failed result of a tool.",
        apply: |steps| {
            steps.is_error.healthy = |ended| match ended {
                Ok(answer) if answer.kind == Kind::ToolError => Some(false),
                _ => right::healthy(ended),
            };
        },
    },
    Fault {
        name: "tool-error-pauses-upstream",
        surface: SURFACE,
        mistake: "A failed result counts as an outage of the upstream, whose next call is refused.",
        apply: |steps| {
            steps.is_error.aftermath = |answer| match answer.kind {
                Kind::ToolError => Aftermath::Pause,
                _ => right::aftermath(answer),
            };
        },
    },
    Fault {
        name: "false-flag-added",
        surface: SURFACE,
        mistake: "A result without the flag gets isError: false.",
        apply: |steps| {
            steps.is_error.label = |result, kind| match json::get(&result, "isError") {
                None if kind == Kind::Success => {
                    edit(result, |result| json::set(result, "isError", "false").ok())
                }
                _ => result,
            };
        },
    },
    Fault {
        name: "flag-dropped",
        surface: SURFACE,
        mistake: "The flag does not reach the client, and a failure looks like a success.",
        apply: on_failure!(|result| without(result, "isError")),
    },
    Fault {
        name: "failure-loses-typed-part",
        surface: SURFACE,
        mistake: "A failed result is rebuilt from its text and its flag; the typed part is gone.",
        apply: on_failure!(|result| without(result, "structuredContent")),
    },
    Fault {
        name: "failure-loses-meta",
        surface: SURFACE,
        mistake: "_meta is kept for a success and forgotten for a failure.",
        apply: on_failure!(|result| without(result, "_meta")),
    },
    Fault {
        name: "failure-text-prefixed",
        surface: SURFACE,
        mistake: "The text of a failure gets the gateway's own words in front.",
        apply: on_failure!(|result| blocks(result, |at, block| {
            let text = json::get(block, "text").filter(|_| at == 0)?.strip_prefix('"')?;
            json::set(block, "text", &format!("\"tool_error: {text}")).ok()
        })),
    },
    Fault {
        name: "failure-keeps-first-block",
        surface: SURFACE,
        mistake: "Only the first block of a failed result is returned.",
        apply: on_failure!(|result| super::first_block(result)),
    },
    Fault {
        name: "own-error-unflagged",
        surface: SURFACE,
        mistake: "The gateway's own tool says in words that it failed, without the flag.",
        apply: |steps| {
            steps.is_error.own_error = |words| without(right::own_error(words), "isError");
        },
    },
    Fault {
        name: "failure-by-words",
        surface: SURFACE,
        mistake: "A text that begins with the word for an error makes a failure of its result.",
        apply: |steps| {
            steps.is_error.is_flagged = |members| {
                let content = members.iter().find(|member| member.is("content"));
                let begins = |content: &str| content.contains("\"text\":\"Error");
                right::is_flagged(members) || content.is_some_and(|member| begins(member.value))
            };
            steps.is_error.label = |result, kind| match kind {
                Kind::ToolError => edit(result, |result| json::set(result, "isError", "true").ok()),
                _ => result,
            };
        },
    },
];
