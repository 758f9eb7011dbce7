//! Faults of surface 11, digests of definitions and results held against schemas.

use birdstrike_wire::json;
use serde_json::Value;

use super::{Fault, edit};
use crate::config::{OutputSchema, PinMode};
use crate::surfaces::answer_reading::Kind;
use crate::surfaces::batch_packing::first_text;
use crate::surfaces::schema_and_digest::{self as right, Fate, canonical};

const SURFACE: &str = "schema-and-digest";

/// Characters of a digest that a hasty comparison looks at.
const PREFIX: usize = 8;

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "digest-as-written",
        surface: SURFACE,
        mistake: "The digest is over the definition as it is written, so that order and spaces count.",
        apply: |steps| {
            steps.schema_and_digest.canonical = |members| Some(right::object(members));
        },
    },
    Fault {
        name: "digest-without-description",
        surface: SURFACE,
        mistake: "The digest does not cover the description, which is what a model acts on.",
        apply: |steps| {
            steps.schema_and_digest.covered = |definition| {
                let covered = right::covered(definition).into_iter();
                covered.filter(|(name, _)| *name != "description").collect()
            };
        },
    },
    Fault {
        name: "digest-with-numbers-as-spelled",
        surface: SURFACE,
        mistake: "The digest is over numbers in the form of the gateway's own JSON library.",
        apply: |steps| {
            steps.schema_and_digest.canonical = |members| {
                canonical::canonical(&right::object(members), |number| Some(number.to_string()))
            };
        },
    },
    Fault {
        name: "pin-compared-by-prefix",
        surface: SURFACE,
        mistake: "A digest matches its pin when the first characters are the same.",
        apply: |steps| {
            steps.schema_and_digest.matches = |pin| {
                let front = pin.pinned.get(..PREFIX).unwrap_or(pin.pinned);
                pin.observed.is_some_and(|observed| observed.starts_with(front))
            };
        },
    },
    Fault {
        name: "block-only-hides",
        surface: SURFACE,
        mistake: "A tool that is blocked by its pin is not listed, and can be called.",
        apply: |steps| steps.schema_and_digest.may_call = |_| true,
    },
    Fault {
        name: "block-still-lists",
        surface: SURFACE,
        mistake: "A tool that is blocked by its pin is listed, and its new words reach a model.",
        apply: |steps| steps.schema_and_digest.may_list = |_| true,
    },
    Fault {
        name: "warned-tool-refused",
        surface: SURFACE,
        mistake: "A tool whose pin should only warn cannot be called.",
        apply: |steps| steps.schema_and_digest.may_call = |mode| mode == PinMode::Audit,
    },
    Fault {
        name: "drift-untold",
        surface: SURFACE,
        mistake: "Nobody is told that a tool is not what it is pinned to be.",
        apply: |steps| {
            steps.schema_and_digest.is_told = |_| false;
        },
    },
    Fault {
        name: "schema-held-against-failures",
        surface: SURFACE,
        mistake: "A failed result is held against the outputSchema as well.",
        apply: |steps| {
            steps.schema_and_digest.is_checked =
                |kind| matches!(kind, Kind::Success | Kind::ToolError);
        },
    },
    Fault {
        name: "schema-held-against-text",
        surface: SURFACE,
        mistake: "The text copy is held against the outputSchema in place of the typed part.",
        apply: |steps| {
            steps.schema_and_digest.typed_part =
                |result| serde_json::from_str(first_text(result)).ok();
        },
    },
    Fault {
        name: "mismatch-untold",
        surface: SURFACE,
        mistake: "A result that should be warned of passes in silence.",
        apply: |steps| {
            steps.schema_and_digest.fate = |mode, checked| match mode {
                OutputSchema::Warn => Fate::Passes,
                _ => right::fate(mode, checked),
            };
        },
    },
    Fault {
        name: "mismatch-not-blocked",
        surface: SURFACE,
        mistake: "A result that should be blocked is only told of.",
        apply: |steps| {
            steps.schema_and_digest.fate = |mode, checked| match right::fate(mode, checked) {
                Fate::Blocked(why) => Fate::Told(why),
                other => other,
            };
        },
    },
    Fault {
        name: "absent-members-inserted",
        surface: SURFACE,
        mistake: "Validation fills in the members that the schema has and the typed part lacks.",
        apply: |steps| steps.schema_and_digest.after = |result, schema| filled_in(result, schema),
    },
    Fault {
        name: "typed-list-wrapped",
        surface: SURFACE,
        mistake: "A typed part that is a list is wrapped into an object on its way past the schema.",
        apply: |steps| {
            steps.schema_and_digest.after = |result, _| {
                edit(result, |result| {
                    let part = json::get(result, "structuredContent")?;
                    let wrapped = format!("{{\"result\":{part}}}");
                    let is_list = json::kind(part) == "an array";
                    is_list.then(|| json::set(result, "structuredContent", &wrapped).ok())?
                })
            };
        },
    },
];

/// A result whose typed part has every property of its schema: the default, or null.
fn filled_in(result: String, schema: &str) -> String {
    edit(result, |result| {
        let mut part = json::get(result, "structuredContent")?.to_owned();
        let schema: Value = serde_json::from_str(schema).ok()?;
        for (name, property) in schema.get("properties")?.as_object()? {
            if json::get(&part, name).is_none() {
                let default = property.get("default").unwrap_or(&Value::Null).to_string();
                part = json::set(&part, name, &default).ok()?;
            }
        }
        json::set(result, "structuredContent", &part).ok()
    })
}
