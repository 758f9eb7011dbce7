//! Routes of a profile: how results are reached, written and read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How results are reached over one route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Route {
    /// The process that serves it.
    pub process: String,
    /// The name of the tool that is called: a template over `tool`, `upstream` and `variant`; the
    /// upstream's own name unless given.
    #[serde(default = "own_name")]
    pub tool: String,
    /// How several calls are written into one, where the route takes many.
    pub batch: Option<BatchCodec>,
    /// How a call is written as a plain HTTP request, where the route is not MCP.
    pub http: Option<HttpCodec>,
    /// How the rest of a cut result is fetched: route `continuation`.
    pub fetch: Option<FetchCodec>,
    /// How a continuation is given up: route `continuation`.
    pub delete: Option<FreeCodec>,
}

fn own_name() -> String {
    "{{ tool }}".to_owned()
}

/// How a batch is written and read. Values of `call` are JSON text already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BatchCodec {
    /// The name by which a call inside asks for its tool: a template over `tool`, `upstream` and
    /// `variant`; the upstream's own name unless given.
    #[serde(default = "own_name")]
    pub tool: String,
    /// The arguments of the batch tool: a template over `calls`, the list of filled `call`s.
    pub arguments: String,
    /// One call: a template over `tool`, `upstream` and `arguments`, all JSON text.
    pub call: String,
    /// Where the entries stand in the tool's result: a JSON Pointer.
    pub entries: String,
    /// Where an entry says its index; none if it does not.
    pub index: Option<String>,
    /// Where an entry has an id of its own; none if it has not.
    pub call_id: Option<String>,
    /// Where the batch says how many of its calls failed; none if it does not.
    pub failed_count: Option<String>,
    /// Where an entry says whether its call succeeded.
    pub success: String,
    /// Where an entry holds the upstream's result.
    pub result: String,
    /// Where an entry holds the upstream's failed result.
    pub failed_result: Option<String>,
    /// Where an entry holds the upstream's JSON-RPC error.
    pub rpc_error: Option<String>,
    /// Where an entry says in words what went wrong.
    pub message: String,
    /// Where an entry says by a kind what went wrong.
    pub error_type: Option<String>,
    /// Where an entry says how many milliseconds its call took.
    pub elapsed_ms: Option<String>,
    /// Where an entry says that its result was cut: true if it was.
    pub truncated: Option<String>,
    /// Where an entry says why.
    pub truncated_reason: Option<String>,
    /// Where an entry says how many bytes the whole result has.
    pub original_size: Option<String>,
    /// Where an entry holds the id by which the whole is fetched.
    pub continuation_id: Option<String>,
    /// Where an entry speaks of retries.
    pub retry_metadata: Option<String>,
}

/// How a call is written as a plain HTTP POST with a JSON body, and its answer read. Places in the
/// answer are JSON Pointers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HttpCodec {
    /// The path on the host of the process's endpoint, beginning with a slash.
    pub path: String,
    /// The name by which it asks for its tool: a template over `tool`, `upstream` and `variant`;
    /// the upstream's own name unless given.
    #[serde(default = "own_name")]
    pub tool: String,
    /// The body: `{{ tool }}`, `{{ upstream }}` and `{{ arguments }}` are filled with JSON text.
    pub body: String,
    /// Where the answer holds the upstream's result.
    pub result: String,
    /// Where the answer holds the upstream's failed result.
    pub failed_result: Option<String>,
    /// Where the answer holds the upstream's JSON-RPC error.
    pub rpc_error: Option<String>,
    /// Where the answer says in words what went wrong.
    pub message: String,
    /// Where the answer says by a kind what went wrong.
    pub error_type: Option<String>,
}

/// How a slice of a continuation is asked for and read. Places are JSON Pointers into the tool's
/// result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FetchCodec {
    /// The tool that fetches.
    pub tool: String,
    /// Its arguments: `{{ id }}` is filled with JSON text, `{{ offset }}` and `{{ limit }}` with
    /// bytes.
    pub arguments: String,
    /// Where the answer is a string with JSON in it, all other places are inside that: the text of
    /// a block, say.
    pub inside: Option<String>,
    /// Where the slice stands: a string with text of the result, or the whole result itself.
    pub data: String,
    /// Where it says whether there is anything under this id for this caller.
    pub found: Option<String>,
    /// Where it says whether more follows.
    pub more: Option<String>,
    /// Where it says how many bytes the whole has.
    pub total: Option<String>,
    /// Where it says in words that there is nothing.
    pub message: Option<String>,
}

/// How a continuation is given up. Places are JSON Pointers into the tool's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FreeCodec {
    /// The tool that gives it up.
    pub tool: String,
    /// Its arguments: `{{ id }}` is filled with JSON text.
    pub arguments: String,
    /// Where the answer is a string with JSON in it, all other places are inside that.
    pub inside: Option<String>,
    /// Where it says whether there was anything to give up.
    pub deleted: Option<String>,
}

/// Where the digests of tool definitions are read: a GET whose answer is JSON. Places are JSON
/// Pointers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Digests {
    /// The process that is asked.
    pub process: String,
    /// The path on the host of its endpoint, beginning with a slash.
    pub path: String,
    /// Where the list of tools stands.
    #[serde(default)]
    pub records: String,
    /// Where one of them says its name, that of the listing or the upstream's own.
    pub name: String,
    /// Where it says its upstream; nothing if it does not.
    pub upstream: Option<String>,
    /// Where its digest stands: hex digits, perhaps behind `sha256:`.
    pub digest: String,
}
