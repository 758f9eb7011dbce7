//! Faults of surface 5, the packing of a batch.

use birdstrike_wire::json;
use birdstrike_wire::shape::text_block;

use super::text::through_value;
use super::{Fault, blocks, edit, with_text, without};
use crate::failure::{Cause, Failure};
use crate::surfaces::answer_reading::{Answer, Kind};
use crate::surfaces::batch_packing::{self as right, Done};
use crate::surfaces::is_error;

const SURFACE: &str = "batch-packing";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "batch-stops-at-failure",
        surface: SURFACE,
        mistake: "The calls behind the first failure are not made.",
        apply: |steps| {
            steps.batch_packing.goes_on = |ended| ended.as_ref().is_ok_and(is_error::is_success);
        },
    },
    Fault {
        name: "entries-as-they-end",
        surface: SURFACE,
        mistake: "Entries stand in the order in which the calls ended.",
        apply: |steps| steps.batch_packing.arrange = |done| done,
    },
    Fault {
        name: "neighbours-result",
        surface: SURFACE,
        mistake: "The entry of a call that failed holds the result of the call before it.",
        apply: |steps| {
            steps.batch_packing.arrange = |done| {
                let mut done = right::arrange(done);
                for at in 1..done.len() {
                    if !succeeded(&done[at]) && succeeded(&done[at - 1]) {
                        let before = done[at - 1].ended.clone();
                        done[at].ended = before;
                    }
                }
                done
            };
        },
    },
    Fault {
        name: "entry-through-value",
        surface: SURFACE,
        mistake: "The result is parsed into a generic tree and written anew on the batch route.",
        apply: |steps| steps.batch_packing.result = through_value,
    },
    Fault {
        name: "entry-loses-typed-part",
        surface: SURFACE,
        mistake: "The typed part is kept on the flat route and lost in a batch.",
        apply: |steps| {
            steps.batch_packing.result = |result| without(result.to_owned(), "structuredContent");
        },
    },
    Fault {
        name: "entry-loses-meta",
        surface: SURFACE,
        mistake: "_meta is kept on the flat route and lost in a batch.",
        apply: |steps| {
            steps.batch_packing.result = |result| without(result.to_owned(), "_meta");
        },
    },
    Fault {
        name: "entry-links-as-text",
        surface: SURFACE,
        mistake: "A link in an entry becomes a text that says where it leads.",
        apply: |steps| {
            steps.batch_packing.result = |result| {
                blocks(result.to_owned(), |_, block| {
                    let link = json::get_string(block, "type")? == "resource_link";
                    let address = json::get_string(block, "uri").filter(|_| link);
                    address.map(|address| text_block(&address))
                })
            };
        },
    },
    Fault {
        name: "entry-of-data-and-meta-loses-text",
        surface: SURFACE,
        mistake: "An entry with a typed part and metadata is rebuilt from these two.",
        apply: |steps| {
            steps.batch_packing.result = |result| {
                let has = |name: &str| json::get(result, name).is_some();
                if has("structuredContent") && has("_meta") {
                    edit(result.to_owned(), |result| json::set(result, "content", "[]").ok())
                } else {
                    result.to_owned()
                }
            };
        },
    },
    Fault {
        name: "entry-mirrors-typed-part",
        surface: SURFACE,
        mistake: "The typed part of an entry stands in its text once more.",
        apply: |steps| {
            steps.batch_packing.result = |result| {
                let part = json::get(result, "structuredContent");
                part.map_or(result.to_owned(), |part| with_text(result.to_owned(), part))
            };
        },
    },
    Fault {
        name: "upstream-result-dropped",
        surface: SURFACE,
        mistake: "Of a failed result only its text is kept.",
        apply: |steps| {
            steps.batch_packing.failure =
                |ended| without_member(&right::failure(ended), "upstream_result");
        },
    },
    Fault {
        name: "upstream-error-dropped",
        surface: SURFACE,
        mistake: "Of a JSON-RPC error only its message is kept.",
        apply: |steps| {
            steps.batch_packing.failure =
                |ended| without_member(&right::failure(ended), "upstream_error");
        },
    },
    Fault {
        name: "entry-index-from-one",
        surface: SURFACE,
        mistake: "Entries are numbered from 1.",
        apply: |steps| {
            steps.batch_packing.entry = |done, success, tells| {
                let done = Done { index: done.index + 1, ..done.clone() };
                right::entry(&done, success, tells)
            };
        },
    },
    Fault {
        name: "last-entry-lost",
        surface: SURFACE,
        mistake: "The list of entries is one too short.",
        apply: |steps| {
            steps.batch_packing.pack = |entries, tally| {
                let kept = entries.len().saturating_sub(1).max(1);
                right::pack(&entries[..kept.min(entries.len())], tally)
            };
        },
    },
    Fault {
        name: "large-batch-sheds-meta",
        surface: SURFACE,
        mistake: "To save room a batch of more than 16 KiB leaves out the _meta of its results.",
        apply: |steps| {
            steps.batch_packing.pack = |entries, tally| {
                if entries.iter().map(String::len).sum::<usize>() <= 16 << 10 {
                    return right::pack(entries, tally);
                }
                let shed = |result: &str| json::remove(result, "_meta").ok();
                right::pack(&results(entries, shed), tally)
            };
        },
    },
    Fault {
        name: "batch-without-content",
        surface: SURFACE,
        mistake: "The batch has a typed part and no content at all.",
        apply: |steps| {
            steps.batch_packing.pack =
                |entries, tally| without(right::pack(entries, tally), "content");
        },
    },
    Fault {
        name: "entry-unknown-members-dropped",
        surface: SURFACE,
        mistake: "The result of an entry goes through a typed struct that knows five members.",
        apply: |steps| {
            steps.batch_packing.result = known_members;
        },
    },
    Fault {
        name: "oversize-is-empty-entry",
        surface: SURFACE,
        mistake: "A call whose answer was too large has an entry of success without content.",
        apply: |steps| {
            steps.batch_packing.arrange = |mut done| {
                for one in done.iter_mut().filter(|one| is_oversize(one)) {
                    let body = "{\"content\":[]}".to_owned();
                    one.ended = Ok(Answer { kind: Kind::Success, body });
                }
                right::arrange(done)
            };
        },
    },
    Fault {
        name: "oversize-spoils-siblings",
        surface: SURFACE,
        mistake: "When one answer of a batch was too large the calls behind it are told to have \
                  failed too.",
        apply: |steps| {
            steps.batch_packing.arrange = |done| {
                let mut done = right::arrange(done);
                let first = done.iter().position(is_oversize).unwrap_or(done.len());
                for one in done.iter_mut().skip(first + 1) {
                    one.ended = Err(Failure::new(Cause::Skipped, "the batch was ended"));
                }
                done
            };
        },
    },
    Fault {
        name: "first-entry-not-ready",
        surface: SURFACE,
        mistake: "The first of several calls finds the way not open yet and is told to have failed.",
        apply: |steps| {
            steps.batch_packing.arrange = |done| {
                let mut done = right::arrange(done);
                if let [first, _, _, ..] = &mut done[..] {
                    first.ended = Err(Failure::new(Cause::Unreachable, "not connected"));
                }
                done
            };
        },
    },
];

/// Members of a result that every revision knows.
const KNOWN: [&str; 5] = ["resultType", "content", "structuredContent", "isError", "_meta"];

fn is_oversize(done: &Done) -> bool {
    done.ended.as_ref().is_err_and(|failure| failure.cause == Cause::ResponseTooLarge)
}

fn succeeded(done: &Done) -> bool {
    let success = |kind| matches!(kind, Kind::Success | Kind::Task | Kind::InputRequired);
    done.ended.as_ref().is_ok_and(|answer| success(answer.kind))
}

/// Entries with their results edited.
fn results(entries: &[String], change: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let changed = |entry: &String| {
        edit(entry.clone(), |entry| {
            json::set(entry, "result", &change(json::get(entry, "result")?)?).ok()
        })
    };
    entries.iter().map(changed).collect()
}

/// A result less the members that not every revision knows.
fn known_members(result: &str) -> String {
    let members = json::members(result).unwrap_or_default();
    let unknown = members.iter().filter(|m| !KNOWN.iter().any(|known| m.is(known)));
    unknown.fold(result.to_owned(), |result, member| without(result, &member.key()))
}

/// Members of an object, given without its braces, less one.
fn without_member(tells: &str, name: &str) -> String {
    let tells = without(format!("{{{tells}}}"), name);
    tells[1..tells.len() - 1].to_owned()
}
