//! Steps: what a scenario does, in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One step. A scenario without steps has one `call` of its only answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// One tool call over the cell's route.
    Call(Call),
    /// Several tool calls at once: one batch where the route is `batch`, one after another on
    /// every other route.
    Batch(Batch),
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Call {
    /// Which answer the canary gives; `main` unless given.
    pub answer: Option<String>,
    /// Further arguments: a JSON object as text.
    pub arguments: Option<String>,
    /// The JSON-RPC id as JSON text; a number of the client's own unless given.
    pub id: Option<String>,
    /// The name under which checks speak of this step; that of its answer unless given.
    pub save: Option<String>,
}

/// Several tool calls at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Batch {
    /// The answers that the canary gives, one a call.
    pub answers: Vec<String>,
    /// The name under which checks speak of this step; `batch` unless given. Its entries are
    /// `NAME.0`, `NAME.1` and so on.
    pub save: Option<String>,
}

impl Step {
    /// The name under which checks speak of this step.
    pub fn name(&self) -> &str {
        match self {
            Self::Call(call) => call.save.as_deref().unwrap_or(call.answer()),
            Self::Batch(batch) => batch.save.as_deref().unwrap_or("batch"),
        }
    }

    /// The answers that the step asks for.
    pub fn answers(&self) -> Vec<&str> {
        match self {
            Self::Call(call) => vec![call.answer()],
            Self::Batch(batch) => batch.answers.iter().map(String::as_str).collect(),
        }
    }
}

impl Call {
    /// The answer that the canary gives.
    pub fn answer(&self) -> &str {
        self.answer.as_deref().unwrap_or("main")
    }
}
