//! Profiles: how a gateway is installed, started, reached and understood.
//!
//! A profile is commands, templates and data; an ordinary gateway needs no code. Strings marked
//! as templates are filled by minijinja: `{{ dir }}`, `{{ port }}`, `{{ upstreams.main.url }}`.
//! Whoever runs a stranger's profile runs a stranger's commands.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mistake::Mistake;
use crate::yaml;

mod check;
mod port;
mod route;

pub use port::{Means, Port, PortField, PortFormat, Served, Sink};
pub use route::{BatchCodec, Digests, FetchCodec, FreeCodec, HttpCodec, Route};

use check::Check;

/// A gateway's adapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Profile {
    /// The name on the command line.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Where its maintainers are.
    pub homepage: Option<String>,
    /// How a private copy is installed; nothing for a gateway that is simply there.
    pub install: Option<Install>,
    /// Commands run once before the processes of every launch, in order.
    #[serde(default)]
    pub prepare: Vec<Prepare>,
    /// The processes of one launch, started in this order.
    pub processes: IndexMap<String, Process>,
    /// Who calls: headers by identity; the first is the default.
    #[serde(default)]
    pub identities: IndexMap<String, Identity>,
    /// How results are reached.
    pub routes: IndexMap<String, Route>,
    /// How its sinks are watched, by the name that reports and templates have for the port.
    #[serde(default)]
    pub ports: IndexMap<String, Port>,
    /// Where digests of tool definitions are shown; nothing if they are not.
    pub digests: Option<Digests>,
    /// Revisions on either side.
    pub revisions: Revisions,
    /// Transports of the upstream that it can be given.
    #[serde(default = "http_only")]
    pub transports: Vec<String>,
    /// Whether its calls may run at the same time, and how many; 8 unless given.
    #[serde(default = "eight")]
    pub concurrency: usize,
    /// How many launches may run at the same time; 1 unless given. Heavy gateways want one.
    #[serde(default = "one")]
    pub launches_at_once: usize,
    /// The limit on an upstream's body that the configuration sets, in bytes.
    pub max_response_bytes: Option<u64>,
    /// The budget of one batch that the default configuration sets, in bytes.
    pub max_batch_bytes: Option<u64>,
    /// Features that the default configuration has: see `needs` of a scenario.
    #[serde(default)]
    pub provides: Vec<String>,
    /// Features that the gateway does not have in any configuration, with the reason. Scenarios
    /// that need one are not applicable.
    #[serde(default)]
    pub lacks: IndexMap<String, String>,
    /// Other configurations by name. Each costs launches of its own, for the scenarios that need
    /// what it provides; the first that provides all of it is taken.
    #[serde(default)]
    pub variants: IndexMap<String, Variant>,
    /// The deadline of a call in milliseconds; the runner's unless given.
    pub deadline_ms: Option<u64>,
    /// The level that the run's exit code counts; `must` unless given.
    pub require: Option<crate::Level>,
    /// Which cells run unless the user says otherwise; `core` unless given.
    #[serde(default)]
    pub matrix: Matrix,
    /// What the gateway does on purpose.
    #[serde(default)]
    pub declares: Vec<Declared>,
    /// What the inventory of this gateway can say.
    #[serde(default)]
    pub inventory: Inventory,
    /// Surfaces that this profile cannot drive, with the reason and what would unlock them.
    #[serde(default)]
    pub unreached: IndexMap<String, Unreached>,
}

fn http_only() -> Vec<String> {
    vec!["http".to_owned()]
}

fn one() -> usize {
    1
}

fn eight() -> usize {
    8
}

/// One configuration besides the default. Templates know its name as `{{ variant }}` (empty for the
/// default) and its values as `{{ vars.KEY }}`; a value that the default has no use for is asked
/// for as `{% if vars.KEY %}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Variant {
    /// Features that it has besides those of the default.
    pub provides: Vec<String>,
    /// Values for templates.
    pub vars: IndexMap<String, serde_json::Value>,
    /// The budget of one batch that it sets, in bytes.
    pub max_batch_bytes: Option<u64>,
}

/// Which cells run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Matrix {
    /// Each check once a route on the preferred revision.
    #[default]
    Core,
    /// Every pair of revisions, both encodings.
    Full,
}

/// How a private copy is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Install {
    /// A Python package in an environment of its own.
    Pip(Pip),
}

/// A Python package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pip {
    /// The distribution's name.
    pub package: String,
    /// The console script that it brings.
    pub command: String,
    /// The oldest Python that it runs on, `3.11`.
    pub python: String,
    /// Versions that this profile was measured with, newest first.
    pub versions: Vec<String>,
    /// Arguments with which the script is run once after the install, to warm it up.
    #[serde(default)]
    pub warm_up: Vec<String>,
}

/// A command run before the processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Prepare {
    /// Templates.
    pub command: Vec<String>,
    /// The name under which its standard output, one JSON value, is known to later templates.
    pub output: Option<String>,
    /// Files written first: name to template, or `file:NAME` for one beside the profile.
    #[serde(default)]
    pub files: IndexMap<String, String>,
}

/// One process of the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Process {
    /// Templates.
    pub command: Vec<String>,
    /// Templates; `PATH` and `HOME` are given too.
    #[serde(default)]
    pub env: IndexMap<String, String>,
    /// Files written first: name to template, or `file:NAME` for one beside the profile.
    #[serde(default)]
    pub files: IndexMap<String, String>,
    /// The URL of its MCP endpoint, a template; `{{ ready }}` is what followed the ready line.
    pub endpoint: String,
    /// When it is ready.
    pub ready: Ready,
    /// Seconds it is given to end by itself; 5 unless given.
    #[serde(default = "five")]
    pub stop_within_s: u64,
}

fn five() -> u64 {
    5
}

/// When a process is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ready {
    /// A line on its output begins with this; the rest is `{{ ready }}`.
    pub line: Option<String>,
    /// A URL that answers 200, a template.
    pub url: Option<String>,
    /// The listing, asked for as the default identity, shows the canary's tools.
    #[serde(default)]
    pub listing: bool,
    /// A call over this route reaches the canary.
    pub call: Option<String>,
    /// Seconds to wait in all; 30 unless given.
    #[serde(default = "thirty")]
    pub within_s: u64,
}

fn thirty() -> u64 {
    30
}

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Identity {
    /// Headers: name to template. Values are secrets and never reported.
    pub headers: IndexMap<String, String>,
}

/// Revisions on either side of the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Revisions {
    /// What its clients may speak; the first is preferred.
    pub client: Vec<String>,
    /// What its upstreams may speak; the first is preferred.
    pub upstream: Vec<String>,
}

/// Something that the gateway does on purpose. A policy or should check that it covers has the
/// verdict `pass` and the fidelity `declared`; a must cannot be declared away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Declared {
    /// What it does, in one sentence.
    pub does: String,
    /// Where that is documented.
    pub link: Option<String>,
    /// Checks that it covers: ids or globs.
    #[serde(default)]
    pub checks: Vec<String>,
    /// Requirements that it covers.
    #[serde(default)]
    pub requirements: Vec<String>,
    /// Fidelities that it covers; empty for any.
    #[serde(default)]
    pub fidelity: Vec<String>,
    /// Routes that it covers; empty for all.
    #[serde(default)]
    pub routes: Vec<String>,
    /// Client revisions that it covers; empty for all.
    #[serde(default)]
    pub revisions: Vec<String>,
    /// Members that the gateway adds to a result, as JSON Pointers; these are not `added`.
    #[serde(default)]
    pub adds: Vec<String>,
}

/// What the inventory of a gateway can say besides what a run shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Inventory {
    /// The places in the rows of the inventory (`file:function`) are those of this gateway's code.
    pub places: bool,
}

/// A surface that this profile cannot drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Unreached {
    /// Why.
    pub reason: String,
    /// What would unlock it.
    pub unlock: String,
}

impl Profile {
    /// Parses a profile.
    ///
    /// # Errors
    /// A [`Mistake`]: bad YAML, a route to a process that there is not, a declaration that covers
    /// nothing.
    pub fn parse(file: &str, source: &str) -> Result<Self, Mistake> {
        let profile: Self = yaml::parse(file, source)?;
        Check { profile: &profile, file, source }.all()?;
        Ok(profile)
    }

    /// The features that a variant has; those of the default configuration without a name. A
    /// variant has what the default has, and what it provides itself.
    pub fn features(&self, variant: Option<&str>) -> impl Iterator<Item = &str> {
        let own = variant.and_then(|name| self.variants.get(name));
        let own = own.into_iter().flat_map(|variant| &variant.provides);
        self.provides.iter().chain(own).map(String::as_str)
    }

    /// The bytes of one batch's results that a variant allows; none if they are not known.
    pub fn batch_bytes(&self, variant: Option<&str>) -> Option<u64> {
        let own = variant.and_then(|name| self.variants.get(name)?.max_batch_bytes);
        own.or(self.max_batch_bytes)
    }
}
