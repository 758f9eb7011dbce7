//! A launch: one start of the canary and of the gateway's processes, ready to be called.

mod files;
mod process;
mod ready;
mod setting;
mod talk;
mod watch;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_canary::{Canary, ToolSpec};
use birdstrike_judge::schema::OutputSchema;
use birdstrike_scenario::Catalogue;
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_wire::Revision;
use indexmap::IndexMap;
use serde_json::json;
use tokio::sync::Mutex;

use crate::error::EngineError;
use crate::plan::LaunchPlan;
use crate::ports::Ports;
use crate::record::Watched;
use crate::template::Names;

pub use process::{Output, Process};
pub(crate) use setting::{prompt_definitions, resource_definitions, template_definitions};
pub use talk::{Talk, Way};

use talk::Sessions;

/// What a launch needs besides its plan.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The birdstrike binary, which a profile may start again as gateway or canary.
    pub birdstrike: PathBuf,
    /// Where the gateway is installed, if it was.
    pub install: Option<PathBuf>,
    /// Further arguments for templates: `fault` names the fault of the reference gateway.
    pub extra: Names,
    /// The deadline of one call.
    pub deadline: Duration,
    /// The HTTP client that everything shares.
    pub http: reqwest::Client,
    /// Whether events tell what clients received, for snapshots.
    pub keep_answers: bool,
    /// A gateway that runs already, and where the canary listens for it.
    pub running: Option<Running>,
}

/// A gateway that somebody else started.
#[derive(Clone, Debug)]
pub struct Running {
    /// Its MCP endpoint.
    pub url: String,
    /// Where it expects its upstream.
    pub canary: SocketAddr,
    /// Headers that say who calls; secrets.
    pub headers: Vec<(String, String)>,
}

/// A running gateway with its canary.
pub struct Launch {
    /// The name in reports: `http-2026-07-28`.
    pub name: String,
    /// The revision that the upstream speaks.
    pub upstream: Revision,
    /// The canary.
    pub canary: Canary,
    /// Tool definitions as the client's listing shows them, by name.
    listed: HashMap<String, String>,
    /// Their `outputSchema`s, as far as they compile.
    schemas: HashMap<String, OutputSchema>,
    /// The `outputSchema`s of the canary's own definitions.
    own_schemas: HashMap<String, OutputSchema>,
    /// The gateway's version, as it told it.
    pub version: Option<String>,
    shipped: Arc<ShippedProfile>,
    ground: Ground,
    names: Names,
    dir: tempfile::TempDir,
    processes: Vec<Process>,
    /// Whether the upstream is reached over HTTP.
    over_http: bool,
    variant: Option<String>,
    /// Whether a second upstream stands beside `main`.
    second: bool,
    tools: Vec<ToolSpec>,
    /// Where processes, and the canary's own upstreams, are reached.
    urls: HashMap<String, String>,
    /// The headers of everybody who may call; the first is the default.
    identities: IndexMap<String, Headers>,
    ports: Ports,
    /// Whether anybody looks at the ports.
    watched: bool,
    sessions: Mutex<Sessions>,
}

/// Headers that say who calls.
type Headers = Vec<(String, String)>;

/// The name of a launch in reports.
pub fn name(plan: &LaunchPlan) -> String {
    let variant = plan.variant.as_ref().map(|name| format!("{name}-")).unwrap_or_default();
    format!("{variant}{}-{}{}", plan.transport.as_str(), plan.upstream, plan.share.suffix())
}

impl Launch {
    /// Starts canary and gateway, and waits until the gateway is ready.
    ///
    /// # Errors
    /// [`EngineError::Gateway`] with the gateway's own last lines when it does not start or does
    /// not get ready; [`EngineError::Profile`] for a profile that cannot be used.
    pub async fn start(
        catalogue: &Catalogue,
        shipped: &Arc<ShippedProfile>,
        plan: &LaunchPlan,
        ground: &Ground,
    ) -> Result<Self, EngineError> {
        let tools = setting::tools(catalogue, plan);
        let own_schemas = schemas(tools.iter().map(|tool| (&tool.name, &tool.definition)));
        let second = setting::has_second(shipped, plan);
        let running = ground.running.as_ref();
        let canary = setting::canary(tools.clone(), catalogue, plan, second, running).await?;
        let dir = tempfile::Builder::new()
            .prefix("birdstrike-")
            .tempdir()
            .map_err(|error| EngineError::io("no folder for the gateway", &error))?;
        let ports = watch::ports(shipped, ground).await?;
        let mut names = setting::names(ground, &canary, plan, shipped, dir.path());
        names.insert("ports".into(), ports.names());
        let mut launch = Self {
            name: name(plan),
            upstream: plan.upstream,
            canary,
            listed: HashMap::new(),
            schemas: HashMap::new(),
            own_schemas,
            version: None,
            shipped: Arc::clone(shipped),
            ground: ground.clone(),
            names,
            dir,
            processes: Vec::new(),
            over_http: plan.transport == crate::plan::Transport::Http,
            variant: plan.variant.clone(),
            second,
            tools,
            urls: HashMap::new(),
            identities: IndexMap::new(),
            ports,
            watched: plan.watched,
            sessions: Mutex::default(),
        };
        launch.prepare().await?;
        launch.start_processes().await?;
        Ok(launch)
    }

    /// Stops the gateway's processes and starts them again; the canary stays.
    ///
    /// # Errors
    /// As [`Launch::start`].
    pub async fn restart(&mut self) -> Result<(), EngineError> {
        self.stop_processes().await;
        self.start_processes().await
    }

    /// Asks the gateway's processes to read their configuration again.
    pub fn reload(&self) {
        self.processes.iter().for_each(Process::reload);
    }

    /// Ends everything; gives what the ports have seen.
    pub async fn stop(mut self) -> Vec<Watched> {
        self.stop_processes().await;
        let watched = if self.watched { self.ports.watched(&self.name) } else { Vec::new() };
        self.canary.stop().await;
        watched
    }

    /// Lines that the gateway's processes printed since a moment, bounded.
    pub fn log_since(&self, from: Instant) -> Vec<String> {
        self.processes.iter().flat_map(|process| process.output().since(from, 8)).collect()
    }

    /// Values that say who calls, and those that the profile made up; they never reach a report.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let identities = self.identities.values().flatten().map(|(_, value)| value.as_str());
        let made_up = self.names.get("secrets").and_then(serde_json::Value::as_object);
        let made_up = made_up.into_iter().flat_map(serde_json::Map::values);
        let made_up = made_up.filter_map(serde_json::Value::as_str);
        identities.chain(made_up).filter(|value| !value.is_empty())
    }

    /// The profile.
    pub fn profile(&self) -> &birdstrike_scenario::Profile {
        &self.shipped.profile
    }

    /// The ports through which its sinks are watched.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Whether the upstream is told to stop by a closed stream and not by a notification.
    pub fn cancels_by_closing(&self) -> bool {
        self.over_http && self.upstream.era() == birdstrike_wire::Era::Stateless
    }

    /// Whether events tell what clients received.
    pub fn keeps_answers(&self) -> bool {
        self.ground.keep_answers
    }

    /// The deadline of one call.
    pub fn deadline(&self) -> Duration {
        self.ground.deadline
    }

    /// The `outputSchema` that the client's listing shows for a tool on a route.
    pub fn listed_schema(&self, route: &str, tool: &str, upstream: &str) -> Option<&OutputSchema> {
        self.schemas.get(&self.tool_name(route, tool, upstream).ok()?)
    }

    /// The HTTP client that everything shares.
    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.ground.http
    }

    /// The canary's own tools, in the order of its listing.
    pub(crate) fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// The budget of one batch, in bytes, where the profile tells it.
    pub fn batch_bytes(&self) -> Option<u64> {
        self.profile().batch_bytes(self.variant.as_deref())
    }

    /// The upstreams that the canary plays.
    pub(crate) fn upstreams(&self) -> &'static [&'static str] {
        &setting::UPSTREAMS[..if self.second { 2 } else { 1 }]
    }

    /// The `outputSchema` of the canary's own definition of a tool.
    pub fn canary_schema(&self, tool: &str) -> Option<&OutputSchema> {
        self.own_schemas.get(tool)
    }

    /// How the gateway ended, if a process of it did.
    pub fn ended(&mut self) -> Option<EngineError> {
        self.processes.iter_mut().find_map(|process| {
            let how = process.ended()?;
            Some(process.failure(&format!("went away ({how})")))
        })
    }

    async fn start_processes(&mut self) -> Result<(), EngineError> {
        self.sessions.lock().await.clear();
        for upstream in self.upstreams() {
            self.urls.insert(talk::direct(upstream), self.canary.url(upstream));
        }
        if let Some(running) = self.ground.running.clone() {
            return self.join(&running).await;
        }
        self.identify()?;
        let shipped = Arc::clone(&self.shipped);
        for (name, spec) in &shipped.profile.processes {
            let port = free_port()?;
            self.names.insert("port".into(), json!(port));
            self.names.insert("process".into(), json!(name));
            self.write_files(&spec.files)?;
            let command = self.fill_all(name, &spec.command)?;
            let env = self.fill_map(name, &spec.env)?;
            let tap = self.ports.tap(name).filter(|_| self.watched);
            let process = Process::start(name, &command, &env, self.dir.path(), tap)?;
            self.processes.push(process);
            self.await_ready(name, spec).await?;
        }
        for (name, spec) in &shipped.profile.processes {
            self.await_call(name, spec).await?;
        }
        if self.watched {
            self.connect_ports().await?;
        }
        Ok(())
    }

    async fn stop_processes(&mut self) {
        if self.watched {
            self.ports.before_stop().await;
        }
        let specs = &self.shipped.profile.processes;
        let stops = self.processes.drain(..).map(|process| {
            let within = specs.get(process.name()).map_or(5, |spec| spec.stop_within_s);
            process.stop(Duration::from_secs(within))
        });
        futures_util::future::join_all(stops).await;
        if self.watched {
            self.ports.after_stop().await;
        }
    }
}

/// The route of the direct column.
pub const DIRECT: &str = "direct";

/// The `outputSchema`s of definitions, by tool name, as far as they compile.
fn schemas<'a>(
    definitions: impl Iterator<Item = (&'a String, &'a String)>,
) -> HashMap<String, OutputSchema> {
    let compiled = definitions.filter_map(|(name, definition)| {
        let schema = birdstrike_wire::json::get(definition, "outputSchema")?;
        Some((name.clone(), OutputSchema::compile(schema.as_bytes()).ok()?))
    });
    compiled.collect()
}

/// A port that was free a moment ago. Somebody may take it before the gateway does; then the
/// gateway does not get ready and says why.
fn free_port() -> Result<u16, EngineError> {
    let bound = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|l| l.local_addr());
    bound.map(|addr| addr.port()).map_err(|error| EngineError::io("no free port", &error))
}
