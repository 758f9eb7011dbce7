//! Steps: what a scenario does, in order.

mod check;
mod follow;
mod side;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use follow::{Fetch, Free, List, Listing, Prompt, Read, Task, TaskMethod};
pub use side::{
    CanaryDeed, CanaryStep, Cursors, GatewayDeed, GatewayStep, Listen, Notify, Request,
};

/// One step. A scenario without steps has one `call` of its only answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// One tool call over the cell's route.
    Call(Call),
    /// Several tool calls at once: one batch where the route is `batch` or `continuation`, one
    /// after another on every other route.
    Batch(Batch),
    /// One `resources/read`.
    Read(Read),
    /// One `prompts/get`.
    Prompt(Prompt),
    /// A listing, all its pages joined into one result.
    List(List),
    /// The continuation of a cut result, its slices joined into the result that they are of.
    Fetch(Fetch),
    /// A continuation is given up.
    Free(Free),
    /// A follow-up of a task.
    Task(Task),
    /// Any other request.
    Request(Request),
    /// A notification.
    Notify(Notify),
    /// A stream for what belongs to no request is opened, and read until the scenario is over.
    Listen(Listen),
    /// Steps that begin at the same time; the next step waits for all of them.
    Together(Vec<Step>),
    /// Something that the upstream does by itself. A scenario with such a step runs alone.
    Canary(CanaryStep),
    /// Something that is done to the gateway. A scenario with such a step runs alone.
    Gateway(GatewayStep),
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Call {
    /// Which answer the canary gives; `main` unless given.
    pub answer: Option<String>,
    /// Further arguments: a JSON object as text. Markers may stand in it.
    pub arguments: Option<String>,
    /// The JSON-RPC id as JSON text; a number of the client's own unless given.
    pub id: Option<String>,
    /// The name under which checks speak of this step; that of its answer unless given.
    pub save: Option<String>,
    /// The tool; the scenario's unless given.
    pub tool: Option<String>,
    /// The upstream whose tool it is; `main` unless given.
    pub upstream: Option<String>,
    /// Who calls: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than the cell's.
    pub via: Option<String>,
    /// Members of `params._meta` besides the protocol's own: a JSON object as text.
    pub meta: Option<String>,
    /// The client's capabilities in this request: a JSON object as text; none unless given. Where
    /// the revision has a handshake, a conversation that declares them is opened.
    pub capabilities: Option<String>,
    /// `params.task`, which asks for a task: a JSON object as text.
    pub task: Option<String>,
    /// What the client replies to requests that come before the answer, by their method: a result
    /// as JSON text. A ping is always replied to, and any other request refused.
    pub replies: IndexMap<String, String>,
    /// The client waits no longer than so many milliseconds, and closes the connection.
    pub gives_up_ms: Option<u64>,
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
    /// The upstream whose tool is called; `main` unless given.
    pub upstream: Option<String>,
    /// Who calls: an identity of the profile; its first unless given.
    #[serde(rename = "as")]
    pub identity: Option<String>,
    /// Another route than the cell's.
    pub via: Option<String>,
    /// Members of `params._meta` besides the protocol's own: a JSON object as text.
    pub meta: Option<String>,
}

/// Who sends a step's request, over which route, and what stands in its `_meta`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sender<'a> {
    /// An identity of the profile.
    pub identity: Option<&'a str>,
    /// Another route than the cell's.
    pub via: Option<&'a str>,
    /// Members of `params._meta`: a JSON object as text.
    pub meta: Option<&'a str>,
    /// The client's capabilities: a JSON object as text.
    pub capabilities: Option<&'a str>,
}

/// Makes the [`Sender`] of a step's members.
macro_rules! sender {
    ($step:expr, capabilities) => {
        Sender { capabilities: $step.capabilities.as_deref(), ..sender!($step) }
    };
    ($step:expr) => {
        Sender {
            identity: $step.identity.as_deref(),
            via: $step.via.as_deref(),
            meta: $step.meta.as_deref(),
            capabilities: None,
        }
    };
}

impl Step {
    /// The name under which checks speak of this step; empty for one that nothing can be said of.
    pub fn name(&self) -> &str {
        let named = match self {
            Self::Call(call) => return call.save.as_deref().unwrap_or(call.answer()),
            Self::Batch(batch) => (&batch.save, "batch"),
            Self::Read(read) => (&read.save, read.answer.as_deref().unwrap_or("read")),
            Self::Prompt(prompt) => (&prompt.save, prompt.answer.as_deref().unwrap_or("prompt")),
            Self::List(list) => (&list.save, "list"),
            Self::Fetch(fetch) => (&fetch.save, "fetch"),
            Self::Free(free) => (&free.save, "free"),
            Self::Task(task) => (&task.save, "task"),
            Self::Request(request) => (&request.save, "request"),
            Self::Notify(notify) => (&notify.save, ""),
            Self::Listen(listen) => (&listen.save, "listen"),
            Self::Together(_) | Self::Canary(_) | Self::Gateway(_) => return "",
        };
        named.0.as_deref().unwrap_or(named.1)
    }

    /// The answers that the step asks for, those of steps inside it too.
    pub fn answers(&self) -> Vec<&str> {
        match self {
            Self::Call(call) => vec![call.answer()],
            Self::Batch(batch) => batch.answers.iter().map(String::as_str).collect(),
            Self::Read(Read { answer, .. }) | Self::Prompt(Prompt { answer, .. }) => {
                answer.as_deref().into_iter().collect()
            }
            Self::Together(steps) => steps.iter().flat_map(Self::answers).collect(),
            _ => Vec::new(),
        }
    }

    /// The step itself, or the steps that begin together in it.
    pub fn flat(&self) -> &[Self] {
        match self {
            Self::Together(steps) => steps,
            one => std::slice::from_ref(one),
        }
    }

    /// Who sends it, and how.
    pub fn sender(&self) -> Sender<'_> {
        match self {
            Self::Call(call) => sender!(call, capabilities),
            Self::Batch(batch) => sender!(batch),
            Self::Read(read) => sender!(read, capabilities),
            Self::Prompt(prompt) => sender!(prompt, capabilities),
            Self::List(list) => sender!(list, capabilities),
            Self::Fetch(fetch) => sender!(fetch),
            Self::Free(free) => sender!(free),
            Self::Task(task) => sender!(task, capabilities),
            Self::Request(request) => sender!(request, capabilities),
            Self::Notify(notify) => sender!(notify, capabilities),
            Self::Listen(listen) => Sender {
                identity: listen.identity.as_deref(),
                capabilities: listen.capabilities.as_deref(),
                ..Sender::default()
            },
            Self::Together(_) | Self::Canary(_) | Self::Gateway(_) => Sender::default(),
        }
    }

    /// Whether other cells would notice it: such a step is done while nothing else runs.
    pub fn wants_to_be_alone(&self) -> bool {
        matches!(self, Self::Canary(_) | Self::Gateway(_))
    }
}

impl Call {
    /// The answer that the canary gives.
    pub fn answer(&self) -> &str {
        self.answer.as_deref().unwrap_or("main")
    }
}
