//! Steps that follow something up: reads, prompts, listings, continuations, tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One `resources/read`. Its URI is written here, or is taken from what the client received. The
/// canary finds the read by the value of the URI's query parameter `nonce`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Read {
    /// The URI. `«nonce»` in it is the nonce of this step.
    pub uri: Option<String>,
    /// The step whose answer holds the URI.
    pub from: Option<String>,
    /// Where it stands there: a JSON Pointer; `/content/0/uri` unless given.
    pub at: Option<String>,
    /// Which answer the canary gives; the contents of the resource unless given.
    pub answer: Option<String>,
    /// The name under which checks speak of this step; that of its answer, or `read`.
    pub save: Option<String>,
    /// Who reads: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than the cell's.
    pub via: Option<String>,
    /// Members of `params._meta`: a JSON object as text.
    pub meta: Option<String>,
    /// The client's capabilities: a JSON object as text.
    pub capabilities: Option<String>,
}

/// One `prompts/get`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Prompt {
    /// The prompt, by the canary's own name for it; `canary_prompt` unless given.
    pub name: Option<String>,
    /// Further arguments: a JSON object as text.
    pub arguments: Option<String>,
    /// The upstream whose prompt it is; `main` unless given.
    pub upstream: Option<String>,
    /// Which answer the canary gives; the messages of the prompt unless given.
    pub answer: Option<String>,
    /// The name under which checks speak of this step; that of its answer, or `prompt`.
    pub save: Option<String>,
    /// Who asks: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than the cell's.
    pub via: Option<String>,
    /// Members of `params._meta`: a JSON object as text.
    pub meta: Option<String>,
    /// The client's capabilities: a JSON object as text.
    pub capabilities: Option<String>,
}

/// A listing. What is judged is one result with all its pages' items. The upstream's leg is the
/// listing as the canary would give it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct List {
    /// What is listed; tools unless given.
    pub what: Listing,
    /// The name under which checks speak of this step; `list` unless given.
    pub save: Option<String>,
    /// Who asks: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than the cell's.
    pub via: Option<String>,
    /// Members of `params._meta`: a JSON object as text.
    pub meta: Option<String>,
    /// The client's capabilities: a JSON object as text.
    pub capabilities: Option<String>,
}

/// What is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Listing {
    /// `tools/list`.
    #[default]
    Tools,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    ResourceTemplates,
    /// `prompts/list`.
    Prompts,
}

impl Listing {
    /// The method that lists.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The member of its result that holds the items.
    pub const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

/// The continuation of a cut entry is fetched, slice by slice. What is judged is the result that
/// the slices join to; the upstream's leg is that of the entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fetch {
    /// The entry that was cut: `batch.0`.
    pub from: String,
    /// Bytes of one slice; 0 for all at once.
    #[serde(default)]
    pub slice: u64,
    /// The name under which checks speak of this step; `fetch` unless given.
    pub save: Option<String>,
    /// Who fetches: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than `continuation`.
    pub via: Option<String>,
    /// Members of `params._meta`: a JSON object as text.
    pub meta: Option<String>,
}

/// A continuation is given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Free {
    /// The entry that was cut: `batch.0`.
    pub from: String,
    /// The name under which checks speak of this step; `free` unless given.
    pub save: Option<String>,
    /// Who gives it up: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than `continuation`.
    pub via: Option<String>,
    /// Members of `params._meta`: a JSON object as text.
    pub meta: Option<String>,
}

/// A follow-up of a task, in the shape of the client's revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Task {
    /// What is asked.
    pub method: TaskMethod,
    /// The step whose answer holds the handle; not needed for `list`.
    pub from: Option<String>,
    /// Further params: a JSON object as text.
    pub params: Option<String>,
    /// The name under which checks speak of this step; `task` unless given.
    pub save: Option<String>,
    /// Who asks: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than the cell's.
    pub via: Option<String>,
    /// Members of `params._meta`: a JSON object as text.
    pub meta: Option<String>,
    /// The client's capabilities: a JSON object as text.
    pub capabilities: Option<String>,
}

/// A follow-up's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskMethod {
    /// `tasks/get`.
    Get,
    /// `tasks/result`.
    Result,
    /// `tasks/update`.
    Update,
    /// `tasks/cancel`.
    Cancel,
    /// `tasks/list`.
    List,
}

impl TaskMethod {
    /// The JSON-RPC method.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Get => "tasks/get",
            Self::Result => "tasks/result",
            Self::Update => "tasks/update",
            Self::Cancel => "tasks/cancel",
            Self::List => "tasks/list",
        }
    }
}
