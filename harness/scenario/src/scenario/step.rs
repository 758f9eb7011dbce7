//! Steps: what a scenario does, in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form::object;
use crate::check::Source;
use crate::mistake::Mistake;
use crate::word::named;

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
    /// The tool of the route itself is called with the arguments `{}`, which it cannot take, so
    /// that it fails before any upstream is asked. No answers are named then.
    pub misuse: bool,
    /// The name under which checks speak of this step; `batch` unless given. Its entries are
    /// `NAME.0`, `NAME.1` and so on.
    pub save: Option<String>,
}

impl Step {
    /// Checks what the step says for itself.
    pub(super) fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        named(self.name(), "a step", source)?;
        match self {
            Self::Call(call) => {
                let id = call.id.as_deref().map(serde_json::from_str::<serde_json::Value>);
                let legal = |id: &serde_json::Value| id.is_string() || id.is_i64() || id.is_u64();
                if id.is_some_and(|id| !id.as_ref().is_ok_and(legal)) {
                    let mend = "an id is a JSON string or integer, as text: '\"c-17\"' or '17'";
                    return Err(source.mistake("the id is none that MCP allows", mend));
                }
                let arguments = call.arguments.as_ref();
                arguments.map_or(Ok(()), |arguments| object(arguments, "arguments", source))
            }
            Self::Batch(batch) if batch.misuse == batch.answers.is_empty() => Ok(()),
            Self::Batch(_) => Err(source.mistake(
                "a batch names its answers or is a misuse of the tool, one of the two",
                "give `answers: [NAME]`, or `misuse: true`",
            )),
        }
    }

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
