//! The judge of birdstrike: evidence in, findings out.
//!
//! A check compares what the canary sent with what the client got, byte for byte. This crate holds
//! everything that it takes to say what became of a result, and nothing that has to be waited for:
//! no I/O, no clock, no configuration. The same evidence always gets the same answer, so a recorded
//! run can be judged again.
//!
//! * [`scan`] reads a JSON text without losing anything of how it was written; [`mod@pointer`]
//!   names places in it and [`number`] compares its numbers exactly.
//! * [`mod@compare`] tells how a value differs between the legs, on three levels.
//! * [`canonical`] spells a value as RFC 8785 has it, for digests.
//! * [`schema`] validates results against the schemas of MCP and of the tools themselves.
//! * [`marker`] makes values that are recognised anywhere, and finds them in any coding.
//! * [`formats`] reads what audit exports and sinks carry, and judges its escaping.
//! * [`sink`] tells which call a record of a sink belongs to, and what its fields say.
//! * [`fidelity`] and [`verdict`] are the words for what was found.
//!
//! Nothing here trusts its input. No bytes make it panic, no nesting makes it recurse, and every
//! list and text that it returns is bounded. The scanner and the comparison are never used by the
//! canary or the reference gateway: what is judged must not share the judge's mistakes.

pub mod canonical;
pub mod compare;
pub mod fidelity;
pub mod formats;
pub mod marker;
pub mod number;
pub mod pointer;
pub mod scan;
pub mod schema;
pub mod sink;
pub mod verdict;

pub use compare::{Allowances, Comparison, Difference, Sameness, compare};
pub use fidelity::Fidelity;
pub use marker::{Hit, Marker, Searcher};
pub use pointer::Pointer;
pub use scan::{Doc, JsonStr, Kind, Node, ScanError};
pub use schema::{McpSchemas, OutputSchema, SchemaError, SchemaOutcome};
pub use verdict::{Blame, Level, Verdict};
