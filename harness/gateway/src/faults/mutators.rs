//! Faults of surface 3, the mutators.

use birdstrike_wire::json;

use super::text::{half_an_escape, replacement};
use super::{Fault, with_text};
use crate::surfaces::answer_reading::Kind;
use crate::surfaces::mutators::{self as right};

const SURFACE: &str = "mutators";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "truncator-reads-a-wrapper",
        surface: SURFACE,
        mistake: "The truncator looks for its blocks in a member result, which the result does \
                  not have, and so changes nothing.",
        apply: |steps| {
            steps.mutators.blocks = |result| json::get(json::get(result, "result")?, "content");
        },
    },
    Fault {
        name: "mutators-fed-failures",
        surface: SURFACE,
        mistake: "A failed result goes through the mutators like a successful one.",
        apply: |steps| {
            steps.mutators.takes =
                |kind, route| kind == Kind::ToolError || right::takes(kind, route);
        },
    },
    Fault {
        name: "text-made-of-what-was-dropped",
        surface: SURFACE,
        mistake: "The text is made anew of the typed part after that was left out: an empty object.",
        apply: |steps| {
            steps.mutators.drop = |result| right::drop(result).map(|left| with_text(left, "{}"));
        },
    },
    Fault {
        name: "mutators-skip-batch",
        surface: SURFACE,
        mistake: "Mutators run on the flat route and are forgotten in a batch.",
        apply: |steps| {
            steps.mutators.takes = |kind, route| route != "batch" && right::takes(kind, route);
        },
    },
    Fault {
        name: "mutators-skip-flat",
        surface: SURFACE,
        mistake: "Mutators run in a batch and are forgotten on the flat route.",
        apply: |steps| {
            steps.mutators.takes = |kind, route| route != "flat" && right::takes(kind, route);
        },
    },
    Fault {
        name: "mutator-half-applied",
        surface: SURFACE,
        mistake: "What a mutator changed before it failed reaches the client.",
        apply: |steps| {
            steps.mutators.settle = |_, mutated| mutated.unwrap_or_else(|broken| broken.half_done);
        },
    },
    Fault {
        name: "truncator-breaks-a-character",
        surface: SURFACE,
        mistake: "A character of several bytes at the limit becomes U+FFFD.",
        apply: |steps| {
            steps.mutators.keep =
                |inside, max_chars| replacement(inside, &right::keep(inside, max_chars));
        },
    },
    Fault {
        name: "truncator-breaks-an-escape",
        surface: SURFACE,
        mistake: "The text is cut between a backslash and its letter, and the answer is no JSON.",
        apply: |steps| {
            steps.mutators.keep =
                |inside, max_chars| half_an_escape(inside, &right::keep(inside, max_chars));
        },
    },
    Fault {
        name: "mutated-result-rebuilt",
        surface: SURFACE,
        mistake: "A changed result is rebuilt from its blocks; every other member is gone.",
        apply: |steps| {
            steps.mutators.put = |_, blocks| Some(format!("{{\"content\":{blocks}}}"));
        },
    },
];
