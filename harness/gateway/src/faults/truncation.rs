//! Faults of surface 4, the budget of a batch and what is kept of it.

use birdstrike_wire::json;
use birdstrike_wire::shape::text_block;
use serde_json::Value;

use super::text::{half_an_escape, replacement};
use super::{Fault, blocks, edit, without};
use crate::surfaces::is_error;
use crate::surfaces::truncation::{self as right, Cut, Missing, Page, cut, kept};

const SURFACE: &str = "truncation";

/// A right cut with something done to it.
macro_rules! on_cut {
    (|$result:ident, $cut:ident| $edit:expr) => {
        |steps| {
            steps.truncation.cut = |$result, bytes, keep| {
                let $cut = cut::cut($result, bytes, keep)?;
                Some($edit)
            };
        }
    };
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "budget-ignores-failures",
        surface: SURFACE,
        mistake: "The bytes of a failure do not count against the budget.",
        apply: |steps| {
            steps.truncation.weighs = |ended| {
                let success = ended.as_ref().is_ok_and(is_error::is_success);
                if success { right::weighs(ended) } else { 0 }
            };
        },
    },
    Fault {
        name: "budget-counts-characters",
        surface: SURFACE,
        mistake: "The budget in bytes is counted in characters.",
        apply: |steps| {
            steps.truncation.weighs =
                |ended| ended.as_ref().map_or(0, |answer| answer.body.chars().count());
        },
    },
    Fault {
        name: "flagged-but-not-cut",
        surface: SURFACE,
        mistake: "The entry says that it was cut, and the whole result is sent.",
        apply: on_cut!(|result, cut| Cut { body: result.to_owned(), ..cut }),
    },
    Fault {
        name: "cut-as-text",
        surface: SURFACE,
        mistake: "A result over the budget is printed as text, and the text is cut.",
        apply: |steps| {
            steps.truncation.cut = |result, bytes, keep| {
                let text = keep(result, bytes / 2);
                let body = format!("{{\"content\":[{}]}}", text_block(&text));
                Some(Cut { body, ..cut::cut(result, bytes, keep)? })
            };
        },
    },
    Fault {
        name: "typed-part-cut-apart",
        surface: SURFACE,
        mistake: "The values of the typed part are cut like any text, and nothing says so.",
        apply: |steps| {
            steps.truncation.cut = |result, bytes, keep| {
                let body = edit(result.to_owned(), |result| {
                    let part = short_values(json::get(result, "structuredContent")?)?;
                    json::set(result, "structuredContent", &part).ok()
                });
                if body.len() < result.len() && body.len() <= bytes {
                    return Some(Cut { body, left_out: Vec::new(), shortened: Vec::new() });
                }
                cut::cut(result, bytes, keep)
            };
        },
    },
    Fault {
        name: "image-data-cut",
        surface: SURFACE,
        mistake: "The data of an image is cut, and is no base64 any more.",
        apply: |steps| {
            steps.truncation.cut = |result, bytes, keep| {
                let body = blocks(result.to_owned(), |_, block| {
                    let data = json::get_string(block, "data").filter(|data| data.len() > 101)?;
                    json::set(block, "data", &json::quote(&data[..101])).ok()
                });
                if body.len() < result.len() && body.len() <= bytes {
                    return Some(Cut { body, left_out: Vec::new(), shortened: Vec::new() });
                }
                cut::cut(result, bytes, keep)
            };
        },
    },
    Fault {
        name: "cut-loses-metadata",
        surface: SURFACE,
        mistake: "A cut result has no _meta, and nothing says so.",
        apply: on_cut!(|_result, cut| Cut { body: without(cut.body, "_meta"), ..cut }),
    },
    Fault {
        name: "long-texts-left-out",
        surface: SURFACE,
        mistake: "A text that does not fit is left out, where its beginning would fit.",
        apply: |steps| steps.truncation.keep = |_, _| String::new(),
    },
    Fault {
        name: "cut-breaks-a-character",
        surface: SURFACE,
        mistake: "A character of several bytes at the limit becomes U+FFFD.",
        apply: |steps| {
            steps.truncation.keep = |inside, bytes| replacement(inside, &cut::keep(inside, bytes));
        },
    },
    Fault {
        name: "cut-breaks-an-escape",
        surface: SURFACE,
        mistake: "The text is cut between a backslash and its letter, and the answer is no JSON.",
        apply: |steps| {
            steps.truncation.keep =
                |inside, bytes| half_an_escape(inside, &cut::keep(inside, bytes));
        },
    },
    Fault {
        name: "cut-entry-unmarked",
        surface: SURFACE,
        mistake: "The entry of a cut result looks like that of a whole one.",
        apply: |steps| steps.truncation.tells = |_| String::new(),
    },
    Fault {
        name: "stored-copy-cut",
        surface: SURFACE,
        mistake: "What is stored to be fetched is the result that was cut already.",
        apply: |steps| steps.truncation.stored = |_, cut| cut.body.clone(),
    },
    Fault {
        name: "continuation-never-expires",
        surface: SURFACE,
        mistake: "A stored result can be fetched after its time.",
        apply: |steps| steps.truncation.is_over = |_, _| false,
    },
    Fault {
        name: "continuation-for-anyone",
        surface: SURFACE,
        mistake: "Whoever knows the id of a stored result may fetch it.",
        apply: |steps| steps.truncation.may_read = |_, _| true,
    },
    Fault {
        name: "foreign-continuation-told-apart",
        surface: SURFACE,
        mistake: "A caller learns that an id exists and belongs to someone else.",
        apply: |steps| {
            steps.truncation.fetched = |page| match page {
                Err(Missing::Foreign) => is_error::own_error("this belongs to another caller"),
                page => kept::fetched(page),
            };
        },
    },
    Fault {
        name: "pages-overlap-by-one",
        surface: SURFACE,
        mistake: "Each page but the first begins with the last character of the one before.",
        apply: |steps| {
            steps.truncation.page = |stored, offset, limit| {
                let page = kept::page(stored, offset, limit);
                let before = stored[..page.offset].chars().next_back();
                let data = before.into_iter().chain(page.data.chars()).collect();
                Page { data, ..page }
            };
        },
    },
    Fault {
        name: "delete-ignored",
        surface: SURFACE,
        mistake: "A stored result that was deleted can still be fetched.",
        apply: |steps| steps.truncation.forget = |_, _| {},
    },
];

/// The members of an object, each text at most 20 characters long; `None` if none is longer.
fn short_values(object: &str) -> Option<String> {
    let mut members: serde_json::Map<String, Value> = serde_json::from_str(object).ok()?;
    for value in members.values_mut() {
        if let Value::String(text) = value {
            *text = text.chars().take(20).collect();
        }
    }
    serde_json::to_string(&members).ok()
}
