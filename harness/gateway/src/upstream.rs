//! The upstreams: found when they are needed, asked in their own revision.

mod body;
mod connect;
mod head;
pub(crate) mod http;
mod link;
pub(crate) mod list;
mod listening;
mod speaker;
mod stdio;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::http::{HeaderName, HeaderValue};
use birdstrike_wire::headers::{self, Annotation};
use birdstrike_wire::{Era, Revision};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::aside::Ear;
use crate::client::Client;
use crate::config::{Target, UpstreamConfig};
use crate::context::Context;
use crate::failure::{Cause, Failure};
use crate::surfaces::answer_reading::Message;
use crate::surfaces::schema_and_digest::Known;
use crate::surfaces::upstream_read::Aftermath;
use http::{Heard, Http};
use link::{Link, Request, Way};
pub(crate) use speaker::Speaker;
use stdio::Process;

/// How long an upstream that could not be started is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// Links that are kept for unlike clients. Whoever comes with yet other capabilities is served as one
/// that has none.
const MAX_LINKS: usize = 8;

/// One upstream.
pub(crate) struct Upstream {
    pub(crate) name: String,
    pub(crate) timeout_ms: u64,
    limit_bytes: u64,
    reach: Reach,
    context: Arc<Context>,
    /// The ways to it, by what it may ask the clients on it for: at the handshake the gateway
    /// declares no more than they did. Each is opened once there is need of it.
    links: tokio::sync::Mutex<HashMap<String, Arc<Link>>>,
    /// Who hears that its lists have changed, and over which link.
    listening: Mutex<Option<listening::Listening>>,
    next_id: AtomicU64,
    paused_until: Mutex<Option<Instant>>,
    /// The arguments that tools want in headers, by tool, as they were last listed. Most want none
    /// and have no entry.
    mirrored: Mutex<HashMap<String, Arc<[Annotation]>>>,
    /// The tools as they were last listed, by their names.
    known: Mutex<HashMap<String, Arc<Known>>>,
}

/// How an upstream is reached.
enum Reach {
    Http(Http),
    Stdio { command: Vec<String>, env: BTreeMap<String, String> },
}

/// What is to be asked.
pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    /// What `Mcp-Name` repeats.
    pub(crate) name: Option<&'a str>,
    /// The members of the params but for `_meta`, raw: `"key":value`, joined by commas.
    pub(crate) members: &'a str,
    pub(crate) client: &'a Client,
    pub(crate) param_headers: &'a [(HeaderName, HeaderValue)],
}

/// An answer, not yet read.
pub(crate) struct Answered {
    pub(crate) message: Message,
    /// The id under which it was asked for, as JSON text.
    pub(crate) id: String,
    /// The way that it came.
    pub(crate) link: Arc<Link>,
}

impl Upstream {
    /// Nothing is connected yet.
    pub(crate) fn new(
        name: &str,
        config: &UpstreamConfig,
        context: Arc<Context>,
    ) -> Result<Self, String> {
        let reach = match &config.target {
            Target::Url(url) => Reach::Http(Http::new(url)?),
            Target::Command { command, env } => {
                Reach::Stdio { command: command.clone(), env: env.clone() }
            }
        };
        let limits = &context.limits;
        Ok(Self {
            name: name.to_owned(),
            timeout_ms: config.timeout_ms.unwrap_or(limits.call_timeout_ms),
            limit_bytes: config.max_response_bytes.unwrap_or(limits.max_response_bytes),
            reach,
            context,
            links: tokio::sync::Mutex::default(),
            listening: Mutex::default(),
            next_id: AtomicU64::new(1),
            paused_until: Mutex::default(),
            mirrored: Mutex::default(),
            known: Mutex::default(),
        })
    }

    /// Gives some work with this upstream the upstream's time limit.
    ///
    /// # Errors
    /// A [`Failure`] that names the limit.
    pub(crate) async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        let limit = Duration::from_millis(self.timeout_ms);
        if let Ok(done) = tokio::time::timeout(limit, work).await {
            return Ok(done);
        }
        Err(self.failed(Failure::timeout(self.timeout_ms), None).await)
    }

    /// Asks once, connecting first if need be.
    ///
    /// # Errors
    /// A [`Failure`] with its cause.
    pub(crate) async fn ask(&self, ask: &Ask<'_>) -> Result<Answered, Failure> {
        let mut link = None;
        match self.ask_over(ask, &mut link).await {
            Ok(answered) => Ok(answered),
            Err(failure) => Err(self.failed(failure, link.as_ref()).await),
        }
    }

    /// `used` becomes the link that the answer, or its failure, came over.
    async fn ask_over(
        &self,
        ask: &Ask<'_>,
        used: &mut Option<Arc<Link>>,
    ) -> Result<Answered, Failure> {
        for _ in 0..=1 {
            let link = used.insert(self.link(ask.client).await?).clone();
            let fresh = self.next_id.fetch_add(1, Ordering::Relaxed);
            let id = (self.context.steps.transport.own_id)(fresh, link.mirrors());
            let over = CancellationToken::new();
            let ear = Ear::new(ask.client, &id, &self.context, over.clone());
            let _over = over.drop_guard();
            let params = params(ask, link.revision, ear.token.as_deref(), &self.context);
            let request = Request {
                id: &id,
                method: ask.method,
                name: ask.name,
                params: &params,
                param_headers: ask.param_headers,
                ear: Some(&ear),
            };
            match link.ask(&request, &self.context).await? {
                Heard::Message(message, _) => {
                    return Ok(Answered { message, id, link });
                }
                Heard::SessionGone => self.forget(&link).await,
            }
        }
        Err(Failure::bad_answer("it ends every session at once"))
    }

    /// The open link for a client like this, or a new one. Callers that come together share one
    /// handshake.
    async fn link(&self, client: &Client) -> Result<Arc<Link>, Failure> {
        let mut links = self.links.lock().await;
        let mut key = client.aside.capabilities();
        if !links.contains_key(key) && links.len() >= MAX_LINKS {
            key = "{}";
        }
        let paused = *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        if paused.is_some_and(|until| Instant::now() < until) {
            let message = "the upstream failed a moment ago and is left alone for a second";
            return Err(Failure::new(Cause::Unreachable, message));
        }
        if let Some(link) = links.get(key).filter(|link| link.is_alive()) {
            return Ok(link.clone());
        }
        links.remove(key);
        let way = match &self.reach {
            Reach::Http(http) => Way::Http { http: http.clone(), session: None },
            Reach::Stdio { command, env } => Way::Stdio(Arc::new(Process::spawn(
                &self.name,
                command,
                env,
                self.limit_bytes,
                &self.context,
            )?)),
        };
        let timeout = Duration::from_millis(self.timeout_ms);
        let link = connect::connect(way, self.limit_bytes, timeout, key, &self.context).await?;
        let event = self.context.log.event("connected").text("upstream", &self.name);
        event.text("revision", link.revision.as_str()).write();
        let link = Arc::new(link);
        links.insert(key.to_owned(), link.clone());
        self.listen(&link, links.values());
        Ok(link)
    }

    /// Learns which arguments the tools want in headers, once a link: for a call whose client does
    /// not write them itself (R-HTTP-17). A listing that fails is no reason not to call.
    ///
    /// # Errors
    /// A [`Failure`] when there is no way to the upstream.
    pub(crate) async fn prepare(&self, client: &Client) -> Result<(), Failure> {
        let link = match self.link(client).await {
            Ok(link) => link,
            Err(failure) => return Err(self.failed(failure, None).await),
        };
        if link.mirrors() {
            let list = async || drop(self.list_all(client).await);
            link.listed.get_or_init(list).await;
        }
        Ok(())
    }

    /// Whether the upstream offers tasks in the form of this era. One that cannot be reached offers
    /// nothing.
    pub(crate) async fn offers_tasks(&self, client: &Client, era: Era) -> bool {
        let link = self.link(client).await;
        link.is_ok_and(|link| link.told.offers_tasks && link.revision.era() == era)
    }

    /// Sees to the way that a failed call took, and gives the failure back.
    async fn failed(&self, failure: Failure, link: Option<&Arc<Link>>) -> Failure {
        let aftermath = (self.context.steps.upstream_read.aftermath)(&failure);
        self.settle(aftermath, link).await;
        failure
    }

    /// Drops a link that is of no more use, unless somebody has put a new one in its place.
    async fn forget(&self, link: &Arc<Link>) {
        self.links.lock().await.retain(|_, current| !Arc::ptr_eq(current, link));
    }

    /// Applies what was decided about the way that a call took.
    pub(crate) async fn settle(&self, aftermath: Aftermath, link: Option<&Arc<Link>>) {
        if aftermath == Aftermath::Keep {
            return;
        }
        if aftermath == Aftermath::Pause {
            let until = Instant::now() + PAUSE;
            *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        }
        if let Some(link) = link {
            link.close();
            self.forget(link).await;
        }
    }

    /// What a tool wants mirrored in headers; `None` for nothing, as far as it was listed.
    pub(crate) fn annotations(&self, tool: &str) -> Option<Arc<[Annotation]>> {
        self.mirrored.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }

    /// A tool as it was last listed.
    pub(crate) fn known(&self, tool: &str) -> Option<Arc<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }

    /// The `Mcp-Param-*` headers of a call (R-HTTP-17): those that the tool's definition asks for,
    /// and, of the client's own, those that it does not know (R-HTTP-20).
    pub(crate) fn param_headers(
        &self,
        tool: &str,
        arguments: &str,
        client: &Client,
    ) -> Vec<(HeaderName, HeaderValue)> {
        let mut headers = client.param_headers.clone();
        let annotations = self.annotations(tool);
        // An argument that no header can mirror is the tool's to refuse.
        let own = annotations.and_then(|known| headers::param_headers(&known, arguments).ok());
        for (name, value) in own.into_iter().flatten() {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                headers.retain(|(theirs, _)| *theirs != name);
                headers.push((name, value));
            }
        }
        headers
    }
}

/// The params of a request in the upstream's revision.
fn params(ask: &Ask<'_>, upstream: Revision, token: Option<&str>, context: &Context) -> String {
    let told = context.steps.tasks.told;
    let meta = ask.client.meta_for(upstream, &context.me, token, told);
    match (meta, ask.members.is_empty()) {
        (Some(meta), true) => format!("{{\"_meta\":{meta}}}"),
        (Some(meta), false) => format!("{{{},\"_meta\":{meta}}}", ask.members),
        (None, _) => format!("{{{}}}", ask.members),
    }
}
