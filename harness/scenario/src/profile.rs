//! Profiles: how a gateway is installed, started, reached and understood.
//!
//! A profile is commands, templates and data; an ordinary gateway needs no code. Strings marked
//! as templates are filled by minijinja: `{{ dir }}`, `{{ port }}`, `{{ upstreams.main.url }}`.
//! Whoever runs a stranger's profile runs a stranger's commands.

mod port;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mistake::{Mistake, Place};
use crate::surface::Surface;
use crate::word::{REVISIONS, ROUTES};
use crate::yaml;

pub use port::{Means, Port, PortField, PortFormat, Served, Sink};

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

/// How results are reached over one route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Route {
    /// The process that serves it.
    pub process: String,
    /// The name of the tool that is called: a template over `tool` and `upstream`.
    pub tool: String,
    /// How several calls are written into one, where the route takes many.
    pub batch: Option<BatchCodec>,
}

/// How a batch is written and read. Values of `call` are JSON text already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BatchCodec {
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
        let check = Check { profile: &profile, file, source };
        check.routes()?;
        check.declares()?;
        check.revisions()?;
        port::check(&profile, &check)?;
        check.known("transport", &profile.transports, &["http", "stdio"])?;
        let unreached: Vec<_> = profile.unreached.keys().cloned().collect();
        let surfaces: Vec<_> = Surface::all().map(Surface::slug).collect();
        check.known("surface", &unreached, &surfaces)?;
        Ok(profile)
    }
}

/// A profile while it is checked. Places are found by their words: a profile is a plain value.
struct Check<'a> {
    profile: &'a Profile,
    file: &'a str,
    source: &'a str,
}

impl Check<'_> {
    fn mistake(&self, near: &str, title: &str, mend: &str) -> Mistake {
        Mistake::at(self.file, self.source, Place::find(self.source, near), title, mend)
    }

    fn known(&self, what: &str, given: &[String], known: &[&str]) -> Result<(), Mistake> {
        match given.iter().find(|word| !known.contains(&word.as_str())) {
            Some(word) => {
                let mend = format!("use one of {}", known.join(", "));
                Err(self.mistake(word, &format!("no {what} `{word}`"), &mend))
            }
            None => Ok(()),
        }
    }

    fn routes(&self) -> Result<(), Mistake> {
        let names: Vec<_> = self.profile.routes.keys().cloned().collect();
        self.known("route", &names, &ROUTES)?;
        let processes = &self.profile.processes;
        for (name, route) in &self.profile.routes {
            if !processes.contains_key(&route.process) {
                let process = &route.process;
                let title = format!("route `{name}` names process `{process}`, which there is not");
                let known: Vec<_> = processes.keys().map(String::as_str).collect();
                let mend = format!("the processes are {}", known.join(", "));
                return Err(self.mistake(&format!("process: {process}"), &title, &mend));
            }
        }
        Ok(())
    }

    fn declares(&self) -> Result<(), Mistake> {
        for declared in &self.profile.declares {
            let lists = [&declared.checks, &declared.requirements, &declared.adds];
            if lists.into_iter().all(Vec::is_empty) {
                let title = format!("the declaration \"{}\" covers nothing", declared.does);
                let mend = "name `checks`, `requirements` or `adds`";
                return Err(self.mistake(&declared.does, &title, mend));
            }
            self.known("fidelity", &declared.fidelity, &FIDELITIES)?;
            self.known("route", &declared.routes, &ROUTES)?;
            self.known("revision", &declared.revisions, &REVISIONS)?;
        }
        Ok(())
    }

    fn revisions(&self) -> Result<(), Mistake> {
        let Revisions { client, upstream } = &self.profile.revisions;
        self.known("revision", client, &REVISIONS)?;
        self.known("revision", upstream, &REVISIONS)?;
        if client.is_empty() || upstream.is_empty() {
            let mend = "give at least one revision on either side";
            return Err(self.mistake("revisions:", "the profile speaks no revision", mend));
        }
        Ok(())
    }
}

/// What can become of a value or a call (design, section 1), but for `intact`.
const FIDELITIES: [&str; 7] =
    ["declared", "altered", "lost", "added", "leaked", "refused", "unreachable"];
