//! Faults of surface 2, the reading of the answer.

use birdstrike_wire::json;

use super::Fault;
use crate::failure::{Cause, Failure};
use crate::surfaces::answer_reading::{self as right, Arrival, Kind, Side};

const SURFACE: &str = "answer-reading";

/// An error that came in one encoding is read as a result without content.
macro_rules! error_lost {
    ($arrival:ident) => {
        |steps| {
            steps.answer_reading.side = |envelope, arrival| match envelope.error() {
                Some(_) if arrival == Arrival::$arrival => Ok(Side::Result("{\"content\":[]}")),
                _ => right::side(envelope, arrival),
            }
        }
    };
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "call-sent-twice",
        surface: SURFACE,
        mistake: "Each call is sent a second time, against slow answers, and the later one counts.",
        apply: |steps| steps.answer_reading.again = |_| true,
    },
    Fault {
        name: "list-refused-below",
        surface: SURFACE,
        mistake: "A result whose typed part the client's revision cannot carry is refused as \
                  invalid, text and all.",
        apply: |steps| {
            steps.answer_reading.kind = |members, asked| {
                let typed = members.iter().rfind(|member| member.is("structuredContent"));
                let fits = typed.is_none_or(|typed| json::kind(typed.value) == "an object");
                if fits || asked.client.typed_part_may_be_any_value() {
                    right::kind(members, asked)
                } else {
                    Err(Failure::bad_answer("an invalid result"))
                }
            };
        },
    },
    Fault {
        name: "failure-retried",
        surface: SURFACE,
        mistake: "A call that failed is sent again, whatever it did the first time.",
        apply: |steps| {
            steps.answer_reading.again =
                |ended| ended.as_ref().map_or(true, |answer| answer.kind == Kind::ToolError);
        },
    },
    Fault {
        name: "status-hides-rpc-error",
        surface: SURFACE,
        mistake: "An HTTP status other than 2xx is reported, and the JSON-RPC error that came with \
                  it is not read.",
        apply: |steps| {
            steps.answer_reading.status = |status, is_message| {
                right::status(status, is_message && (200..300).contains(&status))
            };
        },
    },
    Fault {
        name: "bad-utf8-replaced",
        surface: SURFACE,
        mistake: "Bytes that are not UTF-8 are silently replaced.",
        apply: |steps| {
            steps.answer_reading.text = |bytes| Ok(String::from_utf8_lossy(&bytes).into_owned());
        },
    },
    Fault {
        name: "any-id-taken",
        surface: SURFACE,
        mistake: "The first response that comes is taken, whatever its id.",
        apply: |steps| steps.answer_reading.is_ours = |_, _| true,
    },
    Fault {
        name: "error-beside-result-ignored",
        surface: SURFACE,
        mistake: "If there is a result, the error beside it is not looked at.",
        apply: |steps| {
            steps.answer_reading.side = |envelope, arrival| match envelope.result() {
                Some(result) => Ok(Side::Result(result)),
                None => right::side(envelope, arrival),
            };
        },
    },
    Fault {
        name: "rpc-error-lost-in-json",
        surface: SURFACE,
        mistake: "A JSON-RPC error in a JSON body is read as a result without content.",
        apply: error_lost!(Json),
    },
    Fault {
        name: "result-of-any-kind",
        surface: SURFACE,
        mistake: "A result that is null or an array is passed as a success.",
        apply: |steps| {
            steps.answer_reading.members = |result| Ok(right::members(result).unwrap_or_default());
        },
    },
    Fault {
        name: "unknown-result-type-complete",
        surface: SURFACE,
        mistake: "Any resultType that is not known counts as complete.",
        apply: |steps| {
            steps.answer_reading.kind =
                |members, asked| Ok(right::kind(members, asked).unwrap_or(Kind::Success));
        },
    },
    Fault {
        name: "absent-result-type-refused",
        surface: SURFACE,
        mistake: "A result without resultType is refused towards a client of 2026-07-28, though \
                  older upstreams have none.",
        apply: |steps| {
            steps.answer_reading.kind = |members, asked| {
                let absent = !members.iter().any(|member| member.is("resultType"));
                if absent && asked.client.has_result_type() {
                    return Err(Failure::bad_answer("`resultType` is missing"));
                }
                right::kind(members, asked)
            };
        },
    },
    Fault {
        name: "flat-task-unseen",
        surface: SURFACE,
        mistake: "A task handle is known by its nested form alone; the flat one passes as a result.",
        apply: |steps| {
            steps.answer_reading.kind = |members, asked| {
                let flat = members.iter().any(|m| m.is("resultType") && m.value == "\"task\"");
                if flat { Ok(Kind::Success) } else { right::kind(members, asked) }
            };
        },
    },
    Fault {
        name: "nested-task-unseen",
        surface: SURFACE,
        mistake: "A task handle is known by its resultType alone; the nested one passes as a result.",
        apply: |steps| {
            steps.answer_reading.kind = |members, asked| match right::kind(members, asked) {
                Ok(Kind::Task) if !members.iter().any(|m| m.is("resultType")) => Ok(Kind::Success),
                kind => kind,
            };
        },
    },
    Fault {
        name: "task-passed-unasked",
        surface: SURFACE,
        mistake: "A task is handed to a client that did not declare the extension.",
        apply: |steps| {
            steps.answer_reading.withhold = |kind, asked| match kind {
                Kind::Task => None,
                _ => right::withhold(kind, asked),
            };
        },
    },
    Fault {
        name: "task-refused-though-declared",
        surface: SURFACE,
        mistake: "Capabilities are read at the handshake only, so that a task which the request \
                  declared is refused.",
        apply: |steps| {
            steps.answer_reading.withhold = |kind, asked| match kind {
                Kind::Task => {
                    let message = "the upstream answered with a task that nobody asked for";
                    Some(Failure::new(Cause::TaskNotDeclared, message))
                }
                _ => right::withhold(kind, asked),
            };
        },
    },
    Fault {
        name: "input-request-refused",
        surface: SURFACE,
        mistake: "A request for more input is taken for a broken result.",
        apply: |steps| {
            steps.answer_reading.kind = |members, asked| match right::kind(members, asked) {
                Ok(Kind::InputRequired) => Err(Failure::bad_answer("`content` is missing")),
                kind => kind,
            };
        },
    },
    Fault {
        name: "code-lost-in-sinks",
        surface: SURFACE,
        mistake: "The code of a JSON-RPC error reaches the client and no sink.",
        apply: |steps| {
            steps.answer_reading.code = |ended, client| match ended {
                Ok(_) => None,
                Err(_) => right::code(ended, client),
            };
        },
    },
    Fault {
        name: "error-body-unread",
        surface: SURFACE,
        mistake: "An HTTP error is told by its status, whatever reason stands in its body.",
        apply: |steps| steps.answer_reading.reason = |_| None,
    },
];
