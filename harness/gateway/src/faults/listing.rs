//! Faults of the area `listing`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use birdstrike_wire::{Revision, json};

use super::{Fault, edit, without};
use crate::surfaces::listing::{self as right, Next};

const SURFACE: &str = "listing";

/// The right definition without one of its members.
macro_rules! lacks {
    ($member:literal) => {
        |steps| {
            steps.listing.definition = |definition, name, client| {
                without(right::definition(definition, name, client), $member)
            }
        }
    };
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "first-page-only",
        surface: SURFACE,
        mistake: "`nextCursor` is not looked at, so that the listing ends with its first page.",
        apply: |steps| steps.listing.next = |_, _| Next::End,
    },
    Fault {
        name: "empty-cursor-is-none",
        surface: SURFACE,
        mistake: "An empty cursor is taken for the end of the listing.",
        apply: |steps| {
            steps.listing.next = |cursor, read| match cursor {
                Some("\"\"") => Next::End,
                cursor => right::next(cursor, read),
            };
        },
    },
    Fault {
        name: "cursor-circle-followed",
        surface: SURFACE,
        mistake: "Pages are followed as long as there is a cursor, also when it is the same again.",
        apply: |steps| {
            steps.listing.next = |cursor, read| match (cursor, right::next(cursor, read)) {
                (Some(_), Next::Cut(_)) if read.cursors.len() < 20 => Next::Page,
                (_, next) => next,
            };
        },
    },
    Fault {
        name: "definition-of-three-members",
        surface: SURFACE,
        mistake: "Of a definition only name, description and inputSchema are kept.",
        apply: |steps| {
            steps.listing.definition =
                |definition, name, client| kept(right::definition(definition, name, client), &BARE);
        },
    },
    Fault {
        name: "hints-dropped",
        surface: SURFACE,
        mistake: "The annotations of a tool are left out, so that a harmless one looks destructive.",
        apply: lacks!("annotations"),
    },
    Fault {
        name: "output-schema-dropped",
        surface: SURFACE,
        mistake: "The outputSchema of a tool is left out.",
        apply: lacks!("outputSchema"),
    },
    Fault {
        name: "output-schema-of-any-type-below",
        surface: SURFACE,
        mistake: "An outputSchema that is none of an object goes to clients that cannot read it.",
        apply: |steps| {
            steps.listing.definition =
                |definition, name, _| right::definition(definition, name, Revision::NEWEST);
        },
    },
    Fault {
        name: "schema-of-three-keywords",
        surface: SURFACE,
        mistake: "Of an inputSchema only type, properties and required are kept.",
        apply: |steps| {
            steps.listing.definition = |definition, name, client| {
                edit(right::definition(definition, name, client), |definition| {
                    let schema = json::get(definition, "inputSchema")?.to_owned();
                    let schema = kept(schema, &["type", "properties", "required"]);
                    json::set(definition, "inputSchema", &schema).ok()
                })
            };
        },
    },
    Fault {
        name: "description-cut",
        surface: SURFACE,
        mistake: "A description is cut after 200 characters.",
        apply: |steps| {
            steps.listing.definition = |definition, name, client| {
                edit(right::definition(definition, name, client), |definition| {
                    let whole = json::get_string(definition, "description")?;
                    let cut: String = whole.chars().take(200).collect();
                    json::set(definition, "description", &json::quote(&cut)).ok()
                })
            };
        },
    },
    Fault {
        name: "definition-through-value",
        surface: SURFACE,
        mistake: "A definition is decoded and encoded again, which spells its numbers anew.",
        apply: |steps| {
            steps.listing.definition = |definition, name, client| {
                edit(right::definition(definition, name, client), |definition| {
                    let value: serde_json::Value = serde_json::from_str(definition).ok()?;
                    serde_json::to_string(&value).ok()
                })
            };
        },
    },
    Fault {
        name: "names-made-safe",
        surface: SURFACE,
        mistake: "Characters of a name that a model's vendor refuses become underscores.",
        apply: |steps| {
            steps.listing.name = |upstream, tool, several| {
                let legal = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
                let safe = |char: char| if legal(char) { char } else { '_' };
                let tool: String = tool.chars().map(safe).collect();
                right::name(upstream, &tool, several)
            };
        },
    },
    Fault {
        name: "names-in-lower-case",
        surface: SURFACE,
        mistake: "Names are compared without case, and therefore listed in lower case.",
        apply: |steps| {
            steps.listing.name =
                |upstream, tool, several| right::name(upstream, tool, several).to_ascii_lowercase();
        },
    },
    Fault {
        name: "listing-in-another-order-each-time",
        surface: SURFACE,
        mistake: "Tools are kept in a table that has no order, and listed as they come out of it.",
        apply: |steps| {
            steps.listing.joined = |lists| {
                static LISTINGS: AtomicUsize = AtomicUsize::new(1);
                let mut tools = right::joined(lists);
                let turn = LISTINGS.fetch_add(1, Ordering::Relaxed);
                let turn = turn.checked_rem(tools.len()).unwrap_or(0);
                tools.rotate_left(turn);
                tools
            };
        },
    },
    Fault {
        name: "no-upstream-is-no-failure",
        surface: SURFACE,
        mistake: "A listing that failed is a listing without tools.",
        apply: |steps| steps.listing.fails = |_, _| false,
    },
    Fault {
        name: "broken-tools-listed",
        surface: SURFACE,
        mistake: "A definition that no client can read is listed beside all others.",
        apply: |steps| steps.listing.unusable = |_| None,
    },
    Fault {
        name: "description-dropped",
        surface: SURFACE,
        mistake: "The description of a tool is left out.",
        apply: lacks!("description"),
    },
    Fault {
        name: "input-schema-without-type",
        surface: SURFACE,
        mistake: "An inputSchema does not say that it is one of an object, as that goes without saying.",
        apply: |steps| {
            steps.listing.definition = |definition, name, client| {
                edit(right::definition(definition, name, client), |definition| {
                    let schema = json::get(definition, "inputSchema")?;
                    let bare = without(schema.to_owned(), "type");
                    json::set(definition, "inputSchema", &bare).ok()
                })
            };
        },
    },
    Fault {
        name: "task-support-claimed",
        surface: SURFACE,
        mistake: "Every tool is said to be callable as a task, whatever its upstream can do.",
        apply: |steps| {
            steps.listing.definition = |definition, name, client| {
                edit(right::definition(definition, name, client), |definition| {
                    json::set(definition, "execution", "{\"taskSupport\":\"optional\"}").ok()
                })
            };
        },
    },
    Fault {
        name: "listing-kept-for-ever",
        surface: SURFACE,
        mistake: "The first listing of an upstream is the one that is shown from then on.",
        apply: |steps| {
            steps.listing.fresh = |upstream, definitions| {
                let mut first = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
                first.entry(upstream.to_owned()).or_insert(definitions).clone()
            };
        },
    },
    Fault {
        name: "bad-header-annotations-listed",
        surface: SURFACE,
        mistake: "A tool whose annotations no header can obey is listed like any.",
        apply: |steps| steps.listing.drops_bad_headers = false,
    },
    Fault {
        name: "resource-definition-rebuilt",
        surface: SURFACE,
        mistake: "Of the definition of a resource or template only its address is listed.",
        apply: |steps| {
            steps.listing.resource = |definition| kept(definition, &["uri"]);
        },
    },
    Fault {
        name: "changes-kept-quiet",
        surface: SURFACE,
        mistake: "That a list has changed is told by the upstream, and to nobody else.",
        apply: |steps| steps.listing.announces = |_| false,
    },
];

/// What was listed, by upstream.
static KEPT: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());

const BARE: [&str; 3] = ["name", "description", "inputSchema"];
/// An object with these of its members.
fn kept(object: String, names: &[&str]) -> String {
    edit(object, |object| {
        let members = json::members(object).ok()?;
        let kept = members.iter().filter(|member| names.iter().any(|name| member.is(name)));
        let kept: Vec<String> = kept.map(|m| format!("{}:{}", m.raw_key, m.value)).collect();
        Some(format!("{{{}}}", kept.join(",")))
    })
}
