//! A launch: one start of the canary and of the gateway's processes, ready to be called.

mod files;
mod process;
mod ready;
mod watch;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_canary::{Canary, Config, ToolSpec, UpstreamSpec};
use birdstrike_judge::schema::OutputSchema;
use birdstrike_scenario::Catalogue;
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_wire::Revision;
use serde_json::json;
use tokio::sync::Mutex;

use crate::client::{Endpoint, Session};
use crate::error::EngineError;
use crate::plan::{LaunchPlan, Transport};
use crate::ports::Ports;
use crate::record::Watched;
use crate::template::{Names, fill};

pub use process::{Output, Process};

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
    endpoints: HashMap<String, Endpoint>,
    ports: Ports,
    sessions: Mutex<Sessions>,
}

/// Conversations by process and revision, and why there is none.
type Sessions = HashMap<(String, Revision), Result<Arc<Session>, String>>;

/// The name of a launch in reports.
pub fn name(plan: &LaunchPlan) -> String {
    let variant = plan.variant.as_ref().map(|name| format!("{name}-")).unwrap_or_default();
    format!("{variant}{}-{}", plan.transport.as_str(), plan.upstream)
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
        let tools = tools(catalogue);
        let own_schemas = schemas(tools.iter().map(|tool| (&tool.name, &tool.definition)));
        let canary = canary(tools, plan.upstream, ground.running.as_ref()).await?;
        let dir = tempfile::Builder::new()
            .prefix("birdstrike-")
            .tempdir()
            .map_err(|error| EngineError::io("no folder for the gateway", &error))?;
        let ports = watch::ports(shipped, ground).await?;
        let mut names = names(ground, &canary, plan, shipped, dir.path());
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
            endpoints: HashMap::new(),
            ports,
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

    /// Ends everything; gives what the ports have seen.
    pub async fn stop(mut self) -> Vec<Watched> {
        self.stop_processes().await;
        let watched = self.ports.watched(&self.name);
        self.canary.stop().await;
        watched
    }

    /// The conversation of a route in a revision; opened once and shared. One that could not be
    /// opened is not tried again until the gateway is started anew: a silent gateway costs one
    /// deadline, not one a cell.
    ///
    /// # Errors
    /// In words, when the route cannot be had or the handshake fails.
    pub async fn session(&self, route: &str, revision: Revision) -> Result<Arc<Session>, String> {
        let process = self.process_of(route)?;
        let mut sessions = self.sessions.lock().await;
        if let Some(known) = sessions.get(&(process.clone(), revision)) {
            return known.clone();
        }
        let opened = self.fresh_session(route, revision).await.map(Arc::new);
        sessions.insert((process, revision), opened.clone());
        opened
    }

    /// A conversation of its own, for a scenario that chooses its ids.
    ///
    /// # Errors
    /// As [`Launch::session`].
    pub async fn fresh_session(&self, route: &str, revision: Revision) -> Result<Session, String> {
        let endpoint = self.endpoint(route)?;
        Session::open(&self.ground.http, endpoint, revision, self.ground.deadline).await
    }

    /// Where a route is served; `direct` is the canary itself.
    fn endpoint(&self, route: &str) -> Result<&Endpoint, String> {
        let process = self.process_of(route)?;
        self.endpoints.get(&process).ok_or_else(|| format!("process `{process}` does not run"))
    }

    fn process_of(&self, route: &str) -> Result<String, String> {
        if route == DIRECT {
            return Ok(DIRECT.to_owned());
        }
        let known = self.shipped.profile.routes.get(route);
        known
            .map(|r| r.process.clone())
            .ok_or_else(|| format!("the profile has no route `{route}`"))
    }

    /// Lines that the gateway's processes printed since a moment, bounded.
    pub fn log_since(&self, from: Instant) -> Vec<String> {
        self.processes.iter().flat_map(|process| process.output().since(from, 8)).collect()
    }

    /// Values that say who calls; they never reach a report.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let identities = self.endpoints.values().flat_map(|endpoint| &endpoint.identity);
        identities.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The profile.
    pub fn profile(&self) -> &birdstrike_scenario::Profile {
        &self.shipped.profile
    }

    /// The ports through which its sinks are watched.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Whether events tell what clients received.
    pub fn keeps_answers(&self) -> bool {
        self.ground.keep_answers
    }

    /// The deadline of one call.
    pub fn deadline(&self) -> Duration {
        self.ground.deadline
    }

    /// The name under which the gateway lists a tool on a route.
    ///
    /// # Errors
    /// A template that cannot be filled.
    pub fn tool_name(&self, route: &str, tool: &str) -> Result<String, String> {
        let Some(known) = self.shipped.profile.routes.get(route) else {
            return Ok(tool.to_owned());
        };
        // Asked for every call, and most gateways keep the name.
        if known.tool == "{{ tool }}" {
            return Ok(tool.to_owned());
        }
        let names = json!({"tool": tool, "upstream": "main"});
        let names = names.as_object().cloned().unwrap_or_default();
        fill("the route's tool", &known.tool, &names).map_err(|error| error.to_string())
    }

    /// The `outputSchema` that the client's listing shows for a tool on a route.
    pub fn listed_schema(&self, route: &str, tool: &str) -> Option<&OutputSchema> {
        self.schemas.get(&self.tool_name(route, tool).ok()?)
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
        let direct = Endpoint { url: self.canary.url("main"), identity: Vec::new() };
        self.endpoints.insert(DIRECT.to_owned(), direct);
        if let Some(running) = self.ground.running.clone() {
            return self.join(&running).await;
        }
        let shipped = Arc::clone(&self.shipped);
        for (name, spec) in &shipped.profile.processes {
            let port = free_port()?;
            self.names.insert("port".into(), json!(port));
            self.names.insert("process".into(), json!(name));
            self.write_files(&spec.files)?;
            let command = self.fill_all(name, &spec.command)?;
            let env = self.fill_map(name, &spec.env)?;
            let tap = self.ports.tap(name);
            let process = Process::start(name, &command, &env, self.dir.path(), tap)?;
            self.processes.push(process);
            self.await_ready(name, spec).await?;
        }
        for (name, spec) in &shipped.profile.processes {
            self.await_call(name, spec).await?;
        }
        self.connect_ports().await
    }

    async fn stop_processes(&mut self) {
        self.ports.before_stop().await;
        let specs = &self.shipped.profile.processes;
        let stops = self.processes.drain(..).map(|process| {
            let within = specs.get(process.name()).map_or(5, |spec| spec.stop_within_s);
            process.stop(Duration::from_secs(within))
        });
        futures_util::future::join_all(stops).await;
        self.ports.after_stop().await;
    }
}

/// The route of the direct column.
pub const DIRECT: &str = "direct";

/// The built-in tools, and those whose definition a scenario puts under test.
fn tools(catalogue: &Catalogue) -> Vec<ToolSpec> {
    let mut tools = birdstrike_canary::builtin_tools();
    for scenario in &catalogue.scenarios {
        if let Some(definition) = &scenario.definition {
            tools.push(ToolSpec::new(scenario.tool.clone(), definition.clone()));
        }
    }
    tools
}

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

/// A gateway that runs already chose its upstream's revision, or will: then the canary speaks all.
async fn canary(
    tools: Vec<ToolSpec>,
    revision: Revision,
    running: Option<&Running>,
) -> Result<Canary, EngineError> {
    let revisions = if running.is_some() { Revision::ALL.to_vec() } else { vec![revision] };
    let upstream = UpstreamSpec { tools, ..UpstreamSpec::new("main", &revisions) };
    let mut config = Config { upstreams: vec![upstream], ..Config::default() };
    config.listen = running.map_or(config.listen, |running| running.canary);
    Canary::start(config)
        .await
        .map_err(|error| EngineError::Harness(format!("the canary cannot start: {error}")))
}

/// A port that was free a moment ago. Somebody may take it before the gateway does; then the
/// gateway does not get ready and says why.
fn free_port() -> Result<u16, EngineError> {
    let bound = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|l| l.local_addr());
    bound.map(|addr| addr.port()).map_err(|error| EngineError::io("no free port", &error))
}

fn names(
    ground: &Ground,
    canary: &Canary,
    plan: &LaunchPlan,
    shipped: &ShippedProfile,
    dir: &Path,
) -> Names {
    let bridge = canary.bridge_addr().to_string();
    let birdstrike = ground.birdstrike.to_string_lossy().into_owned();
    let command = [&birdstrike, "canary", "--stdio", "--bridge", &bridge, "--upstream", "main"];
    let main = match plan.transport {
        Transport::Http => json!({"url": canary.url("main")}),
        Transport::Stdio => json!({"command": command}),
    };
    let limit = shipped.profile.max_response_bytes;
    let mut names = ground.extra.clone();
    let install = ground.install.as_deref().unwrap_or(Path::new(""));
    names.extend([
        ("birdstrike".to_owned(), json!(birdstrike)),
        ("dir".to_owned(), json!(dir.to_string_lossy())),
        ("install".to_owned(), json!(install.to_string_lossy())),
        ("upstream".to_owned(), main.clone()),
        ("upstreams".to_owned(), json!({"main": main})),
        ("upstream_revision".to_owned(), json!(plan.upstream.as_str())),
        ("max_response_bytes".to_owned(), json!(limit.unwrap_or(crate::render::DEFAULT_LIMIT))),
    ]);
    names.entry("fault").or_insert(json!(""));
    names
}
