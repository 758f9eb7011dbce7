//! A canary from its start to its stop.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bridge;
use crate::config::{Config, Cursors, ToolSpec, UpstreamSpec, path_of};
use crate::http;
use crate::journal::Journal;
use crate::listeners::Listeners;
use crate::script::Script;
use crate::shared::Shared;
use crate::upstream::Upstream;

/// How long answers may go on after a stop, before their connections are dropped.
const GRACE: Duration = Duration::from_millis(500);

/// How long the listener rests when it has run out of sockets or memory.
const REST: Duration = Duration::from_millis(20);

/// A running canary: one or more MCP upstreams over HTTP, a bridge for stdio, the plans for calls to
/// come and the journal of those that came. Dropping it ends everything at once.
#[derive(Debug)]
pub struct Canary {
    shared: Arc<Shared>,
    addr: SocketAddr,
    bridge_addr: SocketAddr,
    tasks: TaskTracker,
}

/// Why a canary cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken, or not one of this machine.
    #[error("cannot listen on {addr}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// A name that cannot stand in a path.
    #[error("`{0}` cannot name an upstream: use ASCII letters, digits, `-` and `_`")]
    BadName(String),
    /// Two upstreams at one path.
    #[error("two upstreams are called `{0}`")]
    SameName(String),
    /// An upstream that speaks nothing.
    #[error("the upstream `{0}` has no revision")]
    NoRevision(String),
    /// Two tools that a call could mean.
    #[error("the upstream `{upstream}` has two tools called `{tool}`")]
    SameTool {
        /// The upstream.
        upstream: String,
        /// The tool.
        tool: String,
    },
}

/// Why the tools of an upstream cannot be swapped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SwapError {
    /// No upstream has this name.
    #[error("no upstream is called `{0}`")]
    NoUpstream(String),
    /// Two tools that a call could mean.
    #[error("two of the tools are called `{0}`")]
    SameTool(String),
}

impl Canary {
    /// Starts a canary and returns once it can be reached.
    ///
    /// # Errors
    /// [`StartError`] when the configuration contradicts itself or the address cannot be had.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let mut upstreams = HashMap::new();
        for spec in config.upstreams {
            check(&spec)?;
            let name = spec.name.clone();
            let upstream = Arc::new(Upstream::new(spec));
            if upstreams.insert(path_of(&name), upstream).is_some() {
                return Err(StartError::SameName(name));
            }
        }
        let (listener, addr) = listen(config.listen).await?;
        let (bridge, bridge_addr) = listen((Ipv4Addr::LOCALHOST, 0).into()).await?;
        let shared = Arc::new(Shared {
            upstreams,
            script: Script::default(),
            journal: Arc::new(Journal::new(config.limits.journal)),
            identity: config.identity.to_json(),
            limits: config.limits,
            exposed: !addr.ip().is_loopback(),
            stopping: CancellationToken::new(),
            ending: CancellationToken::new(),
        });
        let canary = Self { shared, addr, bridge_addr, tasks: TaskTracker::new() };
        canary.accept(listener, http::serve);
        canary.accept(bridge, bridge::serve);
        Ok(canary)
    }

    /// Where it listens for HTTP.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The endpoint of an upstream. A name that no upstream has gives a URL that nobody answers.
    pub fn url(&self, upstream: &str) -> String {
        format!("http://{}{}", self.addr, path_of(upstream))
    }

    /// Puts other tools in the place of those of an upstream, at once and for everybody. Nobody is
    /// told: [`Canary::announce`] does that, or a plan whose delivery says so before its answer.
    ///
    /// # Errors
    /// [`SwapError`]; the tools are then those that they were.
    pub fn swap_tools(&self, upstream: &str, tools: Vec<ToolSpec>) -> Result<(), SwapError> {
        self.swap_pages(upstream, tools, None)
    }

    /// As [`Canary::swap_tools`], listed on so many pages with such cursors.
    ///
    /// # Errors
    /// [`SwapError`]; the tools are then those that they were.
    pub fn swap_pages(
        &self,
        upstream: &str,
        tools: Vec<ToolSpec>,
        on: Option<(usize, Cursors)>,
    ) -> Result<(), SwapError> {
        let found = self.shared.upstream(upstream);
        let found = found.ok_or_else(|| SwapError::NoUpstream(upstream.to_owned()))?;
        if let Some(tool) = twice(&tools) {
            return Err(SwapError::SameTool(tool.to_owned()));
        }
        found.swap(tools, on);
        Ok(())
    }

    /// Sends a raw message, such as `notifications/tools/list_changed`, to every client of a
    /// [listening](UpstreamSpec::listening) upstream that shook hands and has a stream open, or
    /// speaks over stdio: once to each (R-HTTP-08). How many there were.
    pub fn announce(&self, upstream: &str, message: &str) -> usize {
        let listeners = self.shared.upstream(upstream).and_then(|u| u.listeners.as_ref());
        listeners.map_or(0, |listeners| listeners.tell(message))
    }

    /// How many clients [announcements](Canary::announce) would reach.
    pub fn listeners(&self, upstream: &str) -> usize {
        let listeners = self.shared.upstream(upstream).and_then(|u| u.listeners.as_ref());
        listeners.map_or(0, Listeners::count)
    }

    /// The plans for calls to come.
    pub fn script(&self) -> &Script {
        &self.shared.script
    }

    /// The record of what came and went.
    pub fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Where it listens for stdio that is brought over by [`bridge`](crate::bridge()).
    pub fn bridge_addr(&self) -> SocketAddr {
        self.bridge_addr
    }

    /// Stops: nothing new is taken, what is being answered gets half a second, and when this
    /// returns, nothing of the canary runs any more.
    pub async fn stop(self) {
        self.shared.stopping.cancel();
        let listeners = self.shared.upstreams.values().filter_map(|u| u.listeners.as_ref());
        listeners.for_each(Listeners::close);
        self.tasks.close();
        if tokio::time::timeout(GRACE, self.tasks.wait()).await.is_err() {
            self.shared.ending.cancel();
            self.tasks.wait().await;
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Takes connections until the canary stops.
    fn accept<S>(&self, listener: TcpListener, serve: fn(TcpStream, Arc<Shared>) -> S)
    where
        S: Future<Output = ()> + Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        let tasks = self.tasks.clone();
        self.tasks.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    () = shared.stopping.cancelled() => return,
                    accepted = listener.accept() => accepted,
                };
                match accepted {
                    Ok((stream, _)) => drop(tasks.spawn(serve(stream, Arc::clone(&shared)))),
                    Err(error) => rest_after(&error).await,
                }
            }
        });
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.shared.stopping.cancel();
        self.shared.ending.cancel();
    }
}

/// A client that went away before it was accepted is none of our business; anything else (too many
/// open files) passes by itself, but not at once.
async fn rest_after(error: &io::Error) {
    let of_client =
        matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset);
    if !of_client {
        tokio::time::sleep(REST).await;
    }
}

async fn listen(addr: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let failed = |source| StartError::Listen { addr, source };
    let listener = TcpListener::bind(addr).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

fn check(spec: &UpstreamSpec) -> Result<(), StartError> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if spec.name.is_empty() || !spec.name.bytes().all(fits) {
        return Err(StartError::BadName(spec.name.clone()));
    }
    if spec.revisions.is_empty() {
        return Err(StartError::NoRevision(spec.name.clone()));
    }
    match twice(&spec.tools) {
        Some(tool) => {
            Err(StartError::SameTool { upstream: spec.name.clone(), tool: tool.to_owned() })
        }
        None => Ok(()),
    }
}

/// A name that two of the tools have.
fn twice(tools: &[ToolSpec]) -> Option<&str> {
    let mut names = HashSet::new();
    tools.iter().map(|tool| tool.name.as_str()).find(|name| !names.insert(*name))
}
