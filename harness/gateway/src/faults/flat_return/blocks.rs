//! Faults of surface 6 that think for the client: blocks, texts and typed parts are judged by what
//! they look like.

use birdstrike_wire::json;
use birdstrike_wire::shape::text_block;
use serde_json::Value;

use super::super::text::doubles;
use super::super::{Fault, blocks, edit, with_text, without};

const SURFACE: &str = "flat-return";

/// Members that blocks of the known kinds have.
const OF_A_BLOCK: [&str; 12] = [
    "type",
    "text",
    "data",
    "mimeType",
    "resource",
    "uri",
    "name",
    "title",
    "description",
    "size",
    "annotations",
    "_meta",
];
/// How long a text may be before a gateway that shows previews cuts it, in characters.
const PREVIEW: usize = 1000;
/// How deep a value may be before a serialiser with a depth limit prints it as text.
const DEPTH: usize = 2;

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault {
        name: "picture-described",
        surface: SURFACE,
        mistake: "Behind a picture stands a text that says so, for clients that show none.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                let has_image = kinds(&result).iter().any(|kind| kind == "image");
                if has_image { with_block(result, "[an image]") } else { result }
            };
        },
    },
    Fault {
        name: "typed-part-printed-behind",
        surface: SURFACE,
        mistake: "A typed part that the text does not repeat is printed in a further block.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                let Some(part) = json::get(&result, "structuredContent").map(str::to_owned) else {
                    return result;
                };
                let repeated = first(&result).is_some_and(|text| text == part);
                if repeated { result } else { with_block(result, &part) }
            };
        },
    },
    Fault {
        name: "no-text-is-failure",
        surface: SURFACE,
        mistake: "A result without any text is taken for a failed one.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                if kinds(&result).iter().any(|kind| kind == "text") {
                    return result;
                }
                edit(result, |result| json::set(result, "isError", "true").ok())
            };
        },
    },
    Fault {
        name: "strict-blocks",
        surface: SURFACE,
        mistake: "A block with a member that the gateway does not know spoils the whole result.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                if !has_unknown_member(&result) {
                    return result;
                }
                let failed = with_text(result, "invalid content block");
                edit(failed, |failed| json::set(failed, "isError", "true").ok())
            };
        },
    },
    Fault {
        name: "deep-values-as-text",
        surface: SURFACE,
        mistake: "What lies deep inside a typed part is printed as text.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                edit(result, |result| {
                    let part = json::get(result, "structuredContent")?;
                    let mut tree = serde_json::from_str::<Value>(part).ok()?;
                    flatten(&mut tree, DEPTH);
                    json::set(result, "structuredContent", &tree.to_string()).ok()
                })
            };
        },
    },
    Fault {
        name: "json-text-through-doubles",
        surface: SURFACE,
        mistake: "A text that is JSON is parsed and printed anew, its numbers through doubles.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                blocks(result, |_, block| {
                    let text = json::get_string(block, "text")?;
                    json::members(&text).ok()?;
                    json::set(block, "text", &json::quote(&doubles(&text))).ok()
                })
            };
        },
    },
    Fault {
        name: "long-text-shortened",
        surface: SURFACE,
        mistake: "A text of more than a thousand characters is cut as for a preview.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                blocks(result, |_, block| {
                    let text = json::get_string(block, "text")?;
                    let (cut, _) = text.char_indices().nth(PREVIEW)?;
                    json::set(block, "text", &json::quote(&format!("{}…", &text[..cut]))).ok()
                })
            };
        },
    },
    Fault {
        name: "audio-refused",
        surface: SURFACE,
        mistake: "A block of sound is none of the kinds that the gateway knows, and a failure.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                let audio = kinds(&result).iter().any(|kind| kind == "audio");
                let failed = |result: &str| json::set(result, "isError", "true").ok();
                if audio { edit(result, failed) } else { result }
            };
        },
    },
    Fault {
        name: "embedded-contents-left-out",
        surface: SURFACE,
        mistake: "An embedded resource is passed on as its address, to be read when it is wanted.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                blocks(result, |_, block| {
                    let bare = json::get(block, "resource")?.to_owned();
                    let bare = without(without(bare, "text"), "blob");
                    json::set(block, "resource", &bare).ok()
                })
            };
        },
    },
    Fault {
        name: "page-address-replaced-in-texts",
        surface: SURFACE,
        mistake: "The address of a page is replaced wherever it stands, in a text too.",
        apply: |steps| {
            steps.flat_return.result = |result| result.replace("see ui://", "see https://");
        },
    },
    Fault {
        name: "blank-text-filled",
        surface: SURFACE,
        mistake: "A blank text takes in the typed part, which is then gone.",
        apply: |steps| {
            steps.flat_return.result = |result| {
                let blank = first(&result).is_some_and(|text| text.trim().is_empty());
                let part = json::get(&result, "structuredContent").map(str::to_owned);
                match part.filter(|_| blank) {
                    Some(part) => without(with_text(result, &part), "structuredContent"),
                    None => result,
                }
            };
        },
    },
    Fault {
        name: "rpc-data-null-added",
        surface: SURFACE,
        mistake: "A JSON-RPC error without data gets one that is null.",
        apply: |steps| {
            steps.flat_return.rpc_error = |error| {
                edit(error, |error| match json::get(error, "data") {
                    None => json::set(error, "data", "null").ok(),
                    Some(_) => None,
                })
            };
        },
    },
];

fn items(result: &str) -> Vec<&str> {
    json::get(result, "content").and_then(|blocks| json::items(blocks).ok()).unwrap_or_default()
}

/// The kind of each block.
fn kinds(result: &str) -> Vec<String> {
    items(result).into_iter().filter_map(|block| json::get_string(block, "type")).collect()
}

/// The text of the first block.
fn first(result: &str) -> Option<String> {
    json::get_string(items(result).first()?, "text")
}

/// With one more text block at the end.
fn with_block(result: String, text: &str) -> String {
    edit(result, |result| {
        let mut all: Vec<String> = items(result).into_iter().map(str::to_owned).collect();
        all.push(text_block(text));
        json::set(result, "content", &format!("[{}]", all.join(","))).ok()
    })
}

fn has_unknown_member(result: &str) -> bool {
    let members = items(result).into_iter().filter_map(|block| json::members(block).ok());
    members.flatten().any(|member| !OF_A_BLOCK.contains(&member.key().as_ref()))
}

/// What lies deeper than this becomes text.
fn flatten(value: &mut Value, depth: usize) {
    if depth == 0 && (value.is_object() || value.is_array()) {
        *value = Value::String(value.to_string());
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| flatten(item, depth - 1)),
        Value::Object(members) => members.values_mut().for_each(|item| flatten(item, depth - 1)),
        _ => {}
    }
}
