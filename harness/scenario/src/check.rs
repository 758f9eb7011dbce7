//! Checks: one expectation in a scenario, with a stable id.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::level::Level;

mod beside;
mod file;
mod sink;

pub use beside::{Heard, Replied};
pub(crate) use file::Source;
pub use file::{CheckFile, Or};
pub use sink::{SinkExpect, SinkHolds};

/// One expectation as it is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The last part of the id `surface/scenario/check`.
    pub name: String,
    /// The line in the scenario's file, from 1.
    pub line: usize,
    /// How binding it is.
    pub level: Level,
    /// The requirements it rests on.
    pub requirements: Vec<String>,
    /// The step whose answer is judged: the name that the step saves, or `name.N` for an entry of
    /// a batch. Without it the scenario's first call is meant.
    pub of: Option<String>,
    /// Of a listing: the item of this name, by the upstream's own name for it; places are then
    /// pointers into that item.
    pub tool: Option<String>,
    /// What is expected.
    pub expect: Expect,
    /// Only on these routes; empty for all that the scenario reaches.
    pub routes: Vec<String>,
    /// Only for these client revisions; empty for all.
    pub revisions: Vec<String>,
}

/// What a check expects (design, section 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// The value arrives as the upstream sent it.
    Intact {
        /// Where it stands.
        place: Target,
        /// On which level the two legs must agree.
        same: Precision,
        /// A value that does not arrive at all satisfies the check too: what is left out is not
        /// changed.
        or_absent: bool,
    },
    /// The value that arrives is this JSON.
    Equals {
        /// Where it stands.
        place: Target,
        /// The JSON text that is wanted; markers may stand in it.
        json: String,
        /// On which level it must agree.
        same: Precision,
    },
    /// Nothing arrives in this place.
    Absent {
        /// The place.
        place: Target,
    },
    /// Something arrives in this place, whatever it is.
    Present {
        /// The place.
        place: Target,
    },
    /// The upstream is called exactly so often by this step.
    Count {
        /// Calls wanted.
        calls: u32,
    },
    /// The gateway refuses, with the request's own id, in time, naming a true cause; where
    /// `or_intact` is set a whole result is as good.
    Refused {
        /// Words of which one must stand in the refusal (any case); empty where any words do.
        cause: Vec<String>,
        /// A result that arrives whole satisfies the check too.
        or_intact: bool,
    },
    /// The answer is that of another step.
    SameAs {
        /// The other step.
        step: String,
        /// The place compared in both.
        place: Target,
        /// Where the value stands in the other step, if not in the same place: a JSON Pointer.
        there: Option<String>,
        /// On which level they must agree.
        same: Precision,
    },
    /// The answer obeys the protocol: envelope, schema of its revision, `outputSchema` as the
    /// client's listing shows it. Every call carries this check; a scenario names it only to give
    /// it other requirements or another level.
    Valid,
    /// The client is told a failure exactly when the upstream told one.
    Flagged,
    /// A batch has an entry for every call, in order, each with its own answer.
    Packed,
    /// A typed part stands as JSON in a text block of the same answer too (R-TOOLS-12); where the
    /// step is a batch on the route `batch`, the answer of the batch tool itself is meant.
    Mirrored,
    /// The value's fate is the same on every route.
    AcrossRoutes {
        /// Where it stands.
        place: Target,
    },
    /// The entry of a batch differs from what the upstream sent exactly when it says that it was
    /// cut; then it gives a reason, the true size of the whole, and the id of a continuation. Of a
    /// whole batch: each of its entries.
    CutTold,
    /// The string is the upstream's own, or a beginning of it by code points, with at most a short
    /// mark behind; no character is broken.
    Prefix {
        /// Where the string stands.
        place: Target,
        /// It is not whole.
        shorter: bool,
        /// Code points of the upstream's string that are there at the least.
        least: u32,
    },
    /// All results and errors of a batch together keep the budget that the configuration sets.
    WithinBudget,
    /// The value differs from that of another step.
    Unlike {
        /// The other step.
        step: String,
        /// The place compared in both.
        place: Target,
    },
    /// The digest that a listing shows for a tool is SHA-256 over RFC 8785 of its `name`,
    /// `description`, `inputSchema` and `outputSchema`, as the upstream defines them.
    Digest,
    /// Something holds in sinks.
    Sink(SinkExpect),
    /// What the gateway asked of the upstream breaks no rule: the canary, which serves it all the
    /// same, noted nothing under the requirements that the check rests on.
    Asked,
    /// No two requests of the scenario's calls reached the upstream under one id.
    FreshIds,
    /// The value stands in the request that reached the upstream.
    Reached {
        /// Where: a JSON Pointer into the JSON-RPC message.
        place: Target,
        /// The JSON text that is wanted; markers may stand in it.
        json: String,
        /// On which level it must agree.
        same: Precision,
    },
    /// Messages reach the client beside its answer.
    Heard(Heard),
    /// The client's reply to a request of the upstream's own reached the upstream.
    Replied(Replied),
    /// The upstream is told exactly so often to stop working on this call.
    Cancelled {
        /// Cancellations wanted.
        times: u32,
    },
    /// The answer does not come before so many milliseconds have passed.
    NotBefore {
        /// Milliseconds since the request.
        ms: u64,
    },
    /// Every item of a listing has a name that no other has.
    Distinct,
    /// The HTTP status of the answer is one of these.
    Status {
        /// The statuses.
        codes: Vec<u16>,
    },
}

impl Expect {
    /// The word for this expectation in files and reports.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Intact { .. } => "intact",
            Self::Equals { .. } => "equals",
            Self::Absent { .. } => "absent",
            Self::Present { .. } => "present",
            Self::Count { .. } => "count",
            Self::Refused { .. } => "refused",
            Self::SameAs { .. } => "same-as",
            Self::Valid => "valid",
            Self::Flagged => "flagged",
            Self::Packed => "packed",
            Self::Mirrored => "mirrored",
            Self::AcrossRoutes { .. } => "across-routes",
            Self::CutTold => "cut-told",
            Self::Prefix { .. } => "prefix",
            Self::WithinBudget => "within-budget",
            Self::Unlike { .. } => "unlike",
            Self::Digest => "digest",
            Self::Sink(sink) => sink.word(),
            Self::Asked => "asked",
            Self::FreshIds => "fresh-ids",
            Self::Reached { .. } => "reached",
            Self::Heard(_) => "heard",
            Self::Replied(_) => "replied",
            Self::Cancelled { .. } => "cancelled",
            Self::NotBefore { .. } => "not-before",
            Self::Status { .. } => "status",
            Self::Distinct => "distinct",
        }
    }

    /// The place that is judged, where the expectation speaks of one.
    pub const fn place(&self) -> Option<&Target> {
        match self {
            Self::Intact { place, .. }
            | Self::Equals { place, .. }
            | Self::Absent { place }
            | Self::Present { place }
            | Self::SameAs { place, .. }
            | Self::AcrossRoutes { place }
            | Self::Prefix { place, .. }
            | Self::Reached { place, .. }
            | Self::Unlike { place, .. } => Some(place),
            _ => None,
        }
    }

    /// The other step that the judged one is compared with.
    pub fn other_step(&self) -> Option<&str> {
        match self {
            Self::SameAs { step, .. } | Self::Unlike { step, .. } => Some(step),
            _ => None,
        }
    }
}

/// A place in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A slot of the outcome: `text`, `data`, `meta`, `error`, `content`, `block.0`, `link.0`,
    /// `link.0.uri`, `extra.NAME`, `rpc-error`, `rpc-error.code`, `result` for the whole.
    Slot(String),
    /// A JSON Pointer into the result or error object, for what has no slot.
    At(String),
}

/// The three levels on which two values can agree (design, section 3).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// The same value: numbers equal, strings equal, objects as sets.
    #[default]
    Value,
    /// The same JSON: number spelling, code points, duplicates and order too.
    Json,
    /// The same bytes.
    Bytes,
}
