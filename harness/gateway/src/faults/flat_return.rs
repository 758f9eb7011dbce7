//! Faults of surface 6, the flat return.

pub(super) mod blocks;

use birdstrike_wire::{envelope, json};
use serde_json::Value;

use super::text::{doubles, through_value};
use super::{Fault, blocks as each_block, edit, with_text, without};
use crate::failure::{Cause, Failure};
use crate::surfaces::flat_return::{self as right, Splice};

const SURFACE: &str = "flat-return";

/// Members of a result that every revision knows.
const KNOWN: [&str; 5] = ["resultType", "content", "structuredContent", "isError", "_meta"];

/// A typed part that is dropped if it looks like nothing.
macro_rules! dropped_if {
    ($($nothing:literal)|+) => {
        |steps| {
            steps.flat_return.result = |result| {
                match json::get(&result, "structuredContent") {
                    Some($($nothing)|+) => without(result, "structuredContent"),
                    _ => result,
                }
            }
        }
    };
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "meta-lost-with-empty-content",
        surface: SURFACE,
        mistake: "A result without blocks is rebuilt from its typed part, and its _meta is gone.",
        apply: |steps| {
            steps.flat_return.result = |result| match json::get(&result, "content") {
                Some("[]") => without(result, "_meta"),
                _ => result,
            };
        },
    },
    Fault {
        name: "result-through-value",
        surface: SURFACE,
        mistake: "The result is parsed into a generic tree and written anew: spelling of numbers \
                  and escapes, repeated keys and white space change.",
        apply: |steps| steps.flat_return.result = |result| through_value(&result),
    },
    Fault {
        name: "numbers-through-doubles",
        surface: SURFACE,
        mistake: "Every number goes through a double, and large integers lose digits.",
        apply: |steps| steps.flat_return.result = |result| doubles(&result),
    },
    Fault {
        name: "unknown-members-dropped",
        surface: SURFACE,
        mistake: "The result goes through a typed struct that knows five members.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                let members = json::members(&result).unwrap_or_default();
                let unknown = members.iter().map(|member| member.key().into_owned());
                let unknown = unknown.filter(|key| !KNOWN.contains(&key.as_str()));
                let unknown: Vec<String> = unknown.collect();
                unknown.iter().fold(result, |result, key| without(result, key))
            };
        },
    },
    Fault {
        name: "typed-part-dropped",
        surface: SURFACE,
        mistake: "Only content is returned.",
        apply: |steps| {
            steps.flat_return.result = |result| without(result, "structuredContent");
        },
    },
    Fault {
        name: "falsy-typed-part-dropped",
        surface: SURFACE,
        mistake: "A typed part that counts as false, such as 0 or an empty list, is taken for none.",
        apply: dropped_if!("null" | "0" | "false" | "\"\"" | "[]" | "{}"),
    },
    Fault {
        name: "typed-part-wrapped",
        surface: SURFACE,
        mistake: "A typed part that is no object is wrapped into one.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                edit(result, |result| {
                    let part = json::get(result, "structuredContent")?;
                    let part = (json::kind(part) != "an object").then_some(part)?;
                    let wrapped = format!("{{\"result\":{part}}}");
                    json::set(result, "structuredContent", &wrapped).ok()
                })
            };
        },
    },
    Fault {
        name: "text-from-typed-part",
        surface: SURFACE,
        mistake: "The blocks are replaced by the typed part printed as text.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                let part = json::get(&result, "structuredContent").map(str::to_owned);
                part.map_or(result.clone(), |part| with_text(result, &part))
            };
        },
    },
    Fault {
        name: "typed-part-from-text",
        surface: SURFACE,
        mistake: "Text that happens to be a JSON object becomes a typed part that nobody sent.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                edit(result, |result| {
                    let absent = json::get(result, "structuredContent").is_none();
                    let first = *json::items(json::get(result, "content")?).ok()?.first()?;
                    let text = json::get_string(first, "text").filter(|_| absent)?;
                    json::members(&text).ok()?;
                    json::set(result, "structuredContent", &text).ok()
                })
            };
        },
    },
    Fault {
        name: "empty-typed-part-added",
        surface: SURFACE,
        mistake: "A result without a typed part gets an empty one.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                edit(result, |result| match json::get(result, "structuredContent") {
                    None => json::set(result, "structuredContent", "{}").ok(),
                    Some(_) => Some(result.to_owned()),
                })
            };
        },
    },
    Fault {
        name: "block-meta-added",
        surface: SURFACE,
        mistake: "Each block gets a _meta of its own.",
        apply: |steps| {
            steps.flat_return.result =
                |result| each_block(result, |_, block| json::set(block, "_meta", "{}").ok());
        },
    },
    Fault {
        name: "empty-content-filled",
        surface: SURFACE,
        mistake: "A result without blocks gets an empty text block.",
        apply: |steps| {
            steps.flat_return.result = |result| match json::get(&result, "content") {
                Some("[]") => with_text(result, ""),
                _ => result,
            };
        },
    },
    Fault {
        name: "first-block-only",
        surface: SURFACE,
        mistake: "Only the first block is returned.",
        apply: |steps| steps.flat_return.result = super::first_block,
    },
    Fault {
        name: "block-meta-dropped",
        surface: SURFACE,
        mistake: "Blocks lose their _meta.",
        apply: |steps| {
            steps.flat_return.result =
                |result| each_block(result, |_, block| json::remove(block, "_meta").ok());
        },
    },
    Fault {
        name: "null-members-added",
        surface: SURFACE,
        mistake: "Absent members of a block are written as null.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                each_block(result, |_, block| match json::get(block, "annotations") {
                    None => json::set(block, "annotations", "null").ok(),
                    Some(_) => None,
                })
            };
        },
    },
    Fault {
        name: "meta-dropped",
        surface: SURFACE,
        mistake: "The result loses its _meta.",
        apply: |steps| steps.flat_return.result = |result| without(result, "_meta"),
    },
    Fault {
        name: "array-sent-below",
        surface: SURFACE,
        mistake: "A typed part that is no object goes to clients whose revision does not have it.",
        apply: |steps| steps.flat_return.typed_part = |_, _| Splice::Keep,
    },
    Fault {
        name: "result-type-never-added",
        surface: SURFACE,
        mistake: "The result of an older upstream goes to a client of 2026-07-28 without resultType.",
        apply: |steps| {
            steps.flat_return.result_type = |theirs, cell| match theirs {
                None => Splice::Keep,
                Some(_) => right::result_type(theirs, cell),
            };
        },
    },
    Fault {
        name: "result-type-left-below",
        surface: SURFACE,
        mistake: "Clients of a handshake revision get a resultType that they do not know.",
        apply: |steps| {
            steps.flat_return.result_type = |theirs, cell| match theirs {
                Some(_) => Splice::Keep,
                None => right::result_type(theirs, cell),
            };
        },
    },
    Fault {
        name: "server-info-left-out",
        surface: SURFACE,
        mistake: "No result says which server gave it.",
        apply: |steps| steps.flat_return.server_info = |_, _| Splice::Keep,
    },
    Fault {
        name: "rpc-code-flattened",
        surface: SURFACE,
        mistake: "Every JSON-RPC error gets the code -32603.",
        apply: |steps| {
            steps.flat_return.rpc_error =
                |error| edit(error, |error| json::set(error, "code", "-32603").ok());
        },
    },
    Fault {
        name: "rpc-message-wrapped",
        surface: SURFACE,
        mistake: "The message of a JSON-RPC error gets the gateway's own words in front.",
        apply: |steps| {
            steps.flat_return.rpc_error = |error| {
                edit(error, |error| {
                    let message = json::get(error, "message")?.strip_prefix('"')?;
                    json::set(error, "message", &format!("\"tool_error: {message}")).ok()
                })
            };
        },
    },
    Fault {
        name: "rpc-data-dropped",
        surface: SURFACE,
        mistake: "The data of a JSON-RPC error does not reach the client.",
        apply: |steps| steps.flat_return.rpc_error = |error| without(error, "data"),
    },
    Fault {
        name: "own-cause-hidden",
        surface: SURFACE,
        mistake: "Each failure of the gateway's own is an internal error without a cause.",
        apply: |steps| {
            steps.flat_return.own_failure = |failure, _, _| match failure.cause {
                Cause::TaskNotDeclared | Cause::UnknownTool => keep(failure),
                _ => envelope::error_object(-32603, "internal error", None),
            };
        },
    },
    Fault {
        name: "id-as-string",
        surface: SURFACE,
        mistake: "A number that came as id goes back as a string.",
        apply: |steps| {
            steps.flat_return.envelope = |id, member, body| match id.as_bytes().first() {
                Some(b'"') => right::envelope(id, member, body),
                _ => right::envelope(&format!("\"{id}\""), member, body),
            };
        },
    },
    Fault {
        name: "id-as-number",
        surface: SURFACE,
        mistake: "A string of digits that came as id goes back as a number.",
        apply: |steps| {
            steps.flat_return.envelope = |id, member, body| {
                let number = serde_json::from_str::<Value>(id.trim_matches('"'));
                let is_number = number.is_ok_and(|number| number.is_i64());
                let id = if is_number { id.trim_matches('"') } else { id };
                right::envelope(id, member, body)
            };
        },
    },
];

/// What the client did wrong is still told as it is.
fn keep(failure: &Failure) -> String {
    right::own_failure(failure, birdstrike_wire::Revision::NEWEST, "")
}
