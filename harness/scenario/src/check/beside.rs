//! Expectations on what travels beside the results: notifications, questions, cancellations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Messages of one method that reach the client before its answer; of a `listen` step, those that
/// come at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Heard {
    /// Their method.
    pub method: String,
    /// How many there are; as many as `values` unless given.
    pub times: Option<u32>,
    /// A JSON Pointer into the params of each.
    pub at: String,
    /// What stands there, one message after the other: JSON text, in which markers may stand.
    pub values: Vec<String>,
}

/// The reply to a request of the upstream's own, as it reached the upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Replied {
    /// The request: its id is the marker of this name, as a string.
    pub to: String,
    /// A JSON Pointer into the reply: `/result`, `/error`.
    pub at: String,
    /// What stands there, as JSON text; anything unless given.
    pub json: Option<String>,
}
