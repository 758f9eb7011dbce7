//! Faults of surface 1, the bounded reader.

use birdstrike_wire::{envelope, json};

use super::Fault;
use crate::failure::{Cause, Failure};
use crate::surfaces::upstream_read::{self as right, Aftermath, Bound, Coding, Framing};

const SURFACE: &str = "upstream-read";

/// The limit, but for one framing.
macro_rules! unlimited {
    ($framing:ident) => {
        |steps| {
            steps.upstream_read.allowance = |bound| match bound.framing {
                Framing::$framing => u64::MAX,
                _ => right::allowance(bound),
            }
        }
    };
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "limit-off-by-one",
        surface: SURFACE,
        mistake: "An answer of exactly the limit is refused.",
        apply: |steps| steps.upstream_read.allowance = |bound| bound.limit_bytes - 1,
    },
    Fault {
        name: "limit-in-kibibytes",
        surface: SURFACE,
        mistake: "Sizes are compared in whole KiB, so that up to 1023 bytes too many pass.",
        apply: |steps| steps.upstream_read.allowance = |bound| bound.limit_bytes | 1023,
    },
    Fault {
        name: "limit-of-a-buffer",
        surface: SURFACE,
        mistake: "The reader has a buffer of 64 KiB, whatever limit was configured.",
        apply: |steps| {
            steps.upstream_read.allowance = |bound| right::allowance(bound).min(65_536);
        },
    },
    Fault {
        name: "limit-counts-characters",
        surface: SURFACE,
        mistake: "The limit counts characters in place of bytes.",
        apply: |steps| {
            steps.upstream_read.weigh =
                |piece| piece.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64;
            steps.upstream_read.announced = |_, _| true;
        },
    },
    Fault {
        name: "chunked-unlimited",
        surface: SURFACE,
        mistake: "Only Content-Length is checked: a body that does not announce its length is read \
                  to the end.",
        apply: unlimited!(Chunked),
    },
    Fault {
        name: "events-unlimited",
        surface: SURFACE,
        mistake: "The limit is applied to JSON bodies and forgotten for event streams.",
        apply: unlimited!(EventStream),
    },
    Fault {
        name: "gzip-not-decoded",
        surface: SURFACE,
        mistake: "Content-Encoding is not looked at, and the coded bytes are taken for the answer.",
        apply: |steps| steps.upstream_read.coding = |_| Ok(Coding::Identity),
    },
    Fault {
        name: "oversize-is-empty-success",
        surface: SURFACE,
        mistake: "An answer over the limit becomes a result without content.",
        apply: |steps| {
            steps.upstream_read.refuse = |held, bound| keep_cut(held, bound, emptied);
        },
    },
    Fault {
        name: "oversize-called-unreachable",
        surface: SURFACE,
        mistake: "Every error of the reader is reported as an upstream that cannot be reached.",
        apply: |steps| {
            steps.upstream_read.refuse =
                |_, _| Err(Failure::new(Cause::Unreachable, "the upstream cannot be reached"));
        },
    },
    Fault {
        name: "oversize-pauses-upstream",
        surface: SURFACE,
        mistake: "An answer over the limit counts against the upstream, whose next call is refused.",
        apply: |steps| {
            steps.upstream_read.aftermath = |failure| match failure.cause {
                Cause::ResponseTooLarge => Aftermath::Pause,
                _ => right::aftermath(failure),
            };
        },
    },
    Fault {
        name: "oversize-reconnects-upstream",
        surface: SURFACE,
        mistake: "An answer over the limit ends the session, or the process with all calls that it \
                  is working on.",
        apply: |steps| {
            steps.upstream_read.aftermath = |failure| match failure.cause {
                Cause::ResponseTooLarge => Aftermath::Reconnect,
                _ => right::aftermath(failure),
            };
        },
    },
    Fault {
        name: "bad-answer-pauses-upstream",
        surface: SURFACE,
        mistake: "One answer that cannot be read counts as an outage, and the next call is refused.",
        apply: |steps| {
            steps.upstream_read.aftermath = |failure| match failure.cause {
                Cause::BadAnswer => Aftermath::Pause,
                _ => right::aftermath(failure),
            };
        },
    },
];

/// What fits, after treatment. Nothing fits of a body that was refused by its announced length.
fn keep_cut(held: &[u8], bound: &Bound, treat: fn(&[u8]) -> Vec<u8>) -> Result<Vec<u8>, Failure> {
    if held.is_empty() {
        return right::refuse(held, bound);
    }
    Ok(treat(held))
}

/// Cut JSON with its string and its brackets closed.
fn mended(held: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(held);
    let mut text = text.trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned();
    let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
    for char in text.chars() {
        match char {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '{' if !in_string => open.push('}'),
            '[' if !in_string => open.push(']'),
            '}' | ']' if !in_string => drop(open.pop()),
            _ => {}
        }
    }
    if escaped {
        text.pop();
    }
    text.extend(in_string.then_some('"'));
    text.extend(open.into_iter().rev());
    text.into_bytes()
}

fn emptied(held: &[u8]) -> Vec<u8> {
    let mended = String::from_utf8(mended(held)).unwrap_or_default();
    let id = json::get(&mended, "id").unwrap_or("null");
    envelope::result(id, "{\"content\":[]}").into_bytes()
}
