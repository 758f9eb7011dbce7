//! Faults of surface 7, the links.

use std::ops::Range;

use birdstrike_wire::envelope::error_object;
use birdstrike_wire::{Revision, json};

use super::{Fault, edit, without};
use crate::surfaces::answer_reading::Kind;
use crate::surfaces::resource_links::places::{each, in_block};
use crate::surfaces::resource_links::{self as right, Handed, Source, places, uri};

const SURFACE: &str = "resource-links";

/// Sources in which nothing is found.
macro_rules! forgotten {
    ($($source:pat_param)|+) => {
        |steps| {
            steps.resource_links.places = |source, result| match source {
                $($source)|+ => Vec::new(),
                _ => places::places(source, result),
            };
        }
    };
}

/// A URI that is handed out in another way; `None` leaves it to the right one.
macro_rules! given_as {
    (|$uri:ident, $upstream:ident| $edit:expr) => {
        |steps| {
            steps.resource_links.give = |spelled, $upstream| {
                let edit = |$uri: String| -> Option<String> { $edit };
                let given = serde_json::from_str(spelled).ok().and_then(edit);
                given.map_or_else(|| uri::give(spelled, $upstream), |uri| Some(json::quote(&uri)))
            };
        }
    };
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "batch-links-raw",
        surface: SURFACE,
        mistake: "The links in a batch keep their upstream's URIs.",
        apply: |steps| {
            steps.resource_links.takes =
                |kind, route| route != "batch" && right::takes(kind, route);
        },
    },
    Fault {
        name: "facade-links-rewritten",
        surface: SURFACE,
        mistake: "The facade, which knows no resources, rewrites links as well.",
        apply: |steps| steps.resource_links.takes = |kind, _| kind != Kind::RpcError,
    },
    Fault {
        name: "embedded-resources-raw",
        surface: SURFACE,
        mistake: "Links are rewritten, and resources that are embedded in a result are forgotten.",
        apply: |steps| {
            steps.resource_links.places = |source, result| match source {
                Source::Call => each(result, "content", |block| {
                    in_block(block).filter(|_| json::get(block, "resource").is_none())
                }),
                _ => places::places(source, result),
            };
        },
    },
    Fault {
        name: "page-in-metadata-raw",
        surface: SURFACE,
        mistake: "The page that a result names in its metadata keeps its upstream's URI.",
        apply: |steps| {
            steps.resource_links.places = |source, result| match source {
                Source::Call => each(result, "content", in_block),
                _ => places::places(source, result),
            };
        },
    },
    Fault {
        name: "first-link-only",
        surface: SURFACE,
        mistake: "Only the first link of a result is rewritten.",
        apply: |steps| {
            steps.resource_links.places = |source, result| {
                let mut places = places::places(source, result);
                places.truncate(1);
                places
            };
        },
    },
    Fault {
        name: "text-uris-rewritten",
        surface: SURFACE,
        mistake: "A text that is a URI is taken for a link.",
        apply: |steps| {
            steps.resource_links.places = |source, result| {
                let mut places = places::places(source, result);
                let list = match source {
                    Source::Call => "content",
                    Source::Read => "contents",
                    _ => return places,
                };
                places.extend(each(result, list, |item| {
                    let text = json::members(item).ok()?.into_iter().find(|m| m.is("text"))?;
                    text.value.contains("://").then_some(text.value_at)
                }));
                in_order(places)
            };
        },
    },
    Fault {
        name: "prompt-links-raw",
        surface: SURFACE,
        mistake: "The links of a prompt keep their upstream's URIs.",
        apply: forgotten!(Source::Prompt),
    },
    Fault {
        name: "contents-under-another-uri",
        surface: SURFACE,
        mistake: "What is read names its upstream's URI in place of the one that was asked for.",
        apply: forgotten!(Source::Read),
    },
    Fault {
        name: "listed-uris-raw",
        surface: SURFACE,
        mistake: "The listing of resources shows URIs that cannot be read here.",
        apply: forgotten!(Source::Resource | Source::Template),
    },
    Fault {
        name: "prefixed-twice",
        surface: SURFACE,
        mistake: "A link gets its prefix once where it is read and once where it is returned.",
        apply: |steps| {
            steps.resource_links.give = |spelled, upstream| {
                uri::give(spelled, upstream).and_then(|once| uri::give(&once, upstream))
            };
        },
    },
    Fault {
        name: "query-dropped",
        surface: SURFACE,
        mistake: "Query and fragment of a URI are lost.",
        apply: given_as!(|own, upstream| {
            let end = own.find(['?', '#'])?;
            Some(uri::prefix(&own, upstream)? + own.get(..end)?)
        }),
    },
    Fault {
        name: "links-for-everybody",
        surface: SURFACE,
        mistake: "Whoever knows a link may read it, also one that another identity was handed out.",
        apply: |steps| {
            steps.resource_links.may_read =
                |handed, is_listed| handed != Handed::ToNobody || is_listed;
        },
    },
    Fault {
        name: "only-listed-links-read",
        surface: SURFACE,
        mistake: "A link that was handed out is refused unless its resource is listed.",
        apply: |steps| steps.resource_links.may_read = |_, is_listed| is_listed,
    },
    Fault {
        name: "foreign-told-from-unknown",
        surface: SURFACE,
        mistake: "Whoever tries another identity's link learns that it exists.",
        apply: |steps| {
            steps.resource_links.missing = |handed, uri, client| match handed {
                Handed::ToOthers => error_object(-31006, "Not yours to read", None),
                _ => right::missing(handed, uri, client),
            };
        },
    },
    Fault {
        name: "missing-resource-is-empty",
        surface: SURFACE,
        mistake: "A resource that is not there is one without contents.",
        apply: |steps| {
            steps.resource_links.instead = |_| Some("{\"contents\":[]}".to_owned());
        },
    },
    Fault {
        name: "contents-lose-their-address",
        surface: SURFACE,
        mistake: "The contents of a resource do not say which it is.",
        apply: |steps| {
            steps.resource_links.relayed = |result| {
                edit(result, |result| {
                    let contents = json::items(json::get(result, "contents")?).ok()?;
                    let bare = contents.iter().map(|one| without((*one).to_owned(), "uri"));
                    let bare = bare.collect::<Vec<_>>().join(",");
                    json::set(result, "contents", &format!("[{bare}]")).ok()
                })
            };
        },
    },
    Fault {
        name: "prompt-flattened",
        surface: SURFACE,
        mistake: "The messages of a prompt become one text of the assistant.",
        apply: |steps| {
            steps.resource_links.relayed = |result| {
                edit(result, |result| {
                    json::get(result, "messages")?;
                    let one =
                        "[{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"\"}}]";
                    json::set(result, "messages", one).ok()
                })
            };
        },
    },
    Fault {
        name: "old-code-for-missing-resources",
        surface: SURFACE,
        mistake: "A resource that is not there has the code of the older revisions in every one.",
        apply: |steps| {
            steps.resource_links.missing =
                |handed, uri, _| right::missing(handed, uri, Revision::V2025_11_25);
            steps.resource_links.not_there = |error, _| error;
        },
    },
];

fn in_order(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_by_key(|place| place.start);
    places.dedup();
    places
}
