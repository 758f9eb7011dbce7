//! What the canary answers: an outcome without a shape, or raw bytes; and how it is delivered.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One answer of the canary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerSpec {
    /// What it says.
    pub form: Form,
    /// How it is sent.
    pub delivery: Delivery,
    /// The handle of a task comes first, and what the answer says when the task ends.
    pub task: Option<TaskSpec>,
}

/// The life of a task that ends with what the answer says: a result, or a JSON-RPC error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct TaskSpec {
    /// How the handle lies in the result.
    pub form: TaskForm,
    /// Whether a client gets the handle that did not ask for it, which no server may do.
    pub uninvited: bool,
    /// Further members of the task wherever it is told: a JSON object as text.
    pub members: Option<String>,
    /// The `_meta` of the handle: a JSON object as text.
    pub meta: Option<String>,
    /// How many polls find it working.
    pub working: usize,
    /// What it asks for after those polls: a map of input requests as JSON text.
    pub asks: Option<String>,
    /// It ends by itself as cancelled; what the answer says is never told.
    pub cancelled: bool,
}

/// How a task's handle lies in a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskForm {
    /// As the upstream's revision has it.
    #[default]
    Own,
    /// In the result itself.
    Flat,
    /// Under `task`.
    Nested,
}

/// The two forms of an answer, the generated one, and the tool's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Rendered into whatever shape is under test.
    Outcome(OutcomeSpec),
    /// Bytes, for what only bytes can say.
    Raw(RawSpec),
    /// A body of a given size, generated while it is sent.
    Oversized(OversizedSpec),
    /// What the tool's family makes of its arguments.
    Builtin,
}

/// An outcome: what a tool answers, without a wire shape. JSON values are JSON text. `«name»` in
/// any of them becomes the marker of that name, unique for every call; `«nonce»` its nonce;
/// `«name-of:STEP»` the marker of another step; `«TEXT*N»` the text N times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct OutcomeSpec {
    /// A first text block.
    pub text: Option<String>,
    /// Further content blocks, each as JSON text.
    pub blocks: Vec<String>,
    /// The typed part.
    pub data: Option<String>,
    /// The result's `_meta`.
    pub meta: Option<String>,
    /// `isError`; not written unless given.
    pub error: Option<bool>,
    /// Further members of the result, unknown to every revision.
    pub extra: IndexMap<String, String>,
    /// A task handle in place of a complete result: an object.
    pub task: Option<String>,
    /// A JSON-RPC error in place of a result: an object with `code`, `message`, perhaps `data`.
    pub rpc_error: Option<String>,
    /// Of a `resources/read`: the contents, a list. No other part but `meta` stands beside it.
    pub contents: Option<String>,
    /// Of a `prompts/get`: the messages, a list. No other part but `meta` stands beside it.
    pub messages: Option<String>,
}

/// A raw answer. Exactly one member is given. `«name»` becomes a marker; `«id»` the raw id of the
/// request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RawSpec {
    /// The result, as JSON text, in a right envelope.
    pub result: Option<String>,
    /// The error object, as JSON text, in a right envelope.
    pub error: Option<String>,
    /// The whole JSON-RPC message.
    pub message: Option<String>,
    /// The body as it is: text in which `\xNN` stands for one byte.
    pub body: Option<String>,
}

/// A result whose whole message has an exact number of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OversizedSpec {
    /// How large.
    pub size: Size,
    /// The text stands in a typed part as well, and each of the two has half of the bytes. The
    /// message is then held in memory: for sizes of some megabytes.
    #[serde(default)]
    pub twice: bool,
    /// Some of its characters have more than one byte, so that it has fewer characters than bytes.
    #[serde(default)]
    pub wide: bool,
}

/// The size of an oversized answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// One byte under the gateway's limit.
    Below,
    /// The gateway's limit.
    At,
    /// One byte over it.
    Above,
    /// 64 times the limit.
    X64,
    /// Bytes, whatever the limit.
    Bytes(u64),
}

/// How an answer is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Delivery {
    /// Content-length or chunked.
    pub framing: Framing,
    /// `Content-Encoding: gzip`.
    pub gzip: bool,
    /// The HTTP status; the one that the message calls for unless given.
    pub status: Option<u16>,
    /// Further headers.
    pub headers: IndexMap<String, String>,
    /// Wait before the answer, in milliseconds.
    pub delay_ms: u64,
    /// How the answer ends.
    pub ending: Ending,
    /// How an SSE answer is written.
    pub sse: SseStyle,
    /// Messages before the response, each JSON text: progress, logs, requests. Only in an event
    /// stream and on stdio. `«id»` is the raw id of the request, `«token»` its progress token; what
    /// names a token is left out for a client that sent none.
    pub before: Vec<String>,
    /// Messages after the response, under the same rules.
    pub after: Vec<String>,
    /// The pause between these messages, in milliseconds.
    pub pause_ms: u64,
    /// The response waits until the client has replied to the requests among `before`.
    pub await_replies: bool,
    /// The answer is sent although the client cancelled its request. On stdio alone: over HTTP a
    /// client that cancels has gone.
    pub heedless: bool,
    /// Lines that the upstream's process writes to its standard error before the answer, on stdio.
    pub stderr: Vec<String>,
    /// The event stream breaks and can be resumed with a GET, in handshake revisions.
    pub resumable: Option<Resumable>,
}

/// An event stream that breaks and can be resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Resumable {
    /// After how many events the connection is cut.
    pub events: usize,
    /// How long after the request the rest is there, in milliseconds.
    pub ready_ms: u64,
    /// Milliseconds that the client is asked to wait before it comes back.
    pub retry_ms: Option<u64>,
}

/// The framing of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// `Content-Length`.
    #[default]
    ContentLength,
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// As it should.
    #[default]
    Whole,
    /// The connection is closed before a header is sent.
    CloseBeforeHeaders,
    /// The connection is cut after so many bytes of the body.
    CutAfter(u64),
    /// Nothing ever comes.
    NeverAnswer,
    /// An SSE stream of comments without end.
    EndlessComments,
}

/// How an SSE answer is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SseStyle {
    /// The end of a line.
    pub line_end: LineEnd,
    /// Begin with a byte order mark.
    pub bom: bool,
    /// Split the message over several `data:` lines where JSON allows a line feed.
    pub split_data: bool,
    /// A priming event (`id:` and empty `data:`) first.
    pub priming: bool,
    /// A comment before the answer.
    pub comment: bool,
    /// Send in pieces of so many bytes; 0 for one piece.
    pub piece: usize,
}

/// The end of a line in SSE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LineEnd {
    /// Line feed.
    #[default]
    Lf,
    /// Carriage return and line feed.
    Crlf,
    /// Carriage return.
    Cr,
}
