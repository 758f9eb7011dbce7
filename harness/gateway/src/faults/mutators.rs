//! Faults of surface 3, the mutators.

use birdstrike_wire::json;

use super::text::{half_a_pair, half_an_escape, replacement};
use super::{Fault, with_text, without};
use crate::spelled;
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
        name: "only-the-first-mutator",
        surface: SURFACE,
        mistake: "The mutators behind the first do not run.",
        apply: |steps| {
            steps.mutators.chosen = |mutators| &mutators[..mutators.len().min(1)];
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
        name: "truncator-counts-bytes",
        surface: SURFACE,
        mistake: "The limit in characters is taken for one in bytes.",
        apply: |steps| {
            steps.mutators.keep =
                |inside, max_chars| spelled::fitting(inside, max_chars).to_owned();
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
        name: "truncator-breaks-a-pair",
        surface: SURFACE,
        mistake: "Of a character outside the basic plane at the limit a lone surrogate is left.",
        apply: |steps| {
            steps.mutators.keep =
                |inside, max_chars| half_a_pair(inside, &right::keep(inside, max_chars));
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
        name: "truncator-cuts-image-data",
        surface: SURFACE,
        mistake: "The data of an image is cut like a text, and is no base64 any more.",
        apply: |steps| {
            steps.mutators.member = |block| {
                let has_data = json::get(block, "data").is_some();
                if has_data { Some("data") } else { right::member(block) }
            };
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
    Fault {
        name: "mutated-result-loses-typed-part",
        surface: SURFACE,
        mistake: "A changed result has no typed part any more.",
        apply: |steps| {
            steps.mutators.put =
                |result, blocks| Some(without(right::put(result, blocks)?, "structuredContent"));
        },
    },
];
