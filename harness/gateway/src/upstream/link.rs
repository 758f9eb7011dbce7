//! An open way to an upstream: the revision that was agreed on, and how its requests are dressed.

use std::sync::Arc;

use birdstrike_wire::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID, Mirrored};
use birdstrike_wire::{Era, Revision, envelope};
use http::{HeaderMap, HeaderName, HeaderValue};

use tokio::sync::OnceCell;

use super::http::{Exchange, Heard, Http};
use super::speaker::Speaker;
use super::stdio::{self, Process};
use crate::aside::Ear;
use crate::context::Context;
use crate::failure::Failure;

/// What an upstream says of itself when it is met.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    /// Whether it tells when its lists change.
    pub(crate) announces: bool,
    /// Whether it has tasks, in the form of its revision.
    pub(crate) offers_tasks: bool,
}

/// A way to an upstream.
pub(crate) struct Link {
    pub(crate) revision: Revision,
    /// Whether both sides agreed on the revision. Until then it is told in no header (R-HTTP-11),
    /// and nothing is cancelled, as `initialize` must not be.
    pub(crate) agreed: bool,
    pub(crate) limit_bytes: u64,
    pub(crate) way: Way,
    /// What the upstream says of itself.
    pub(crate) told: Told,
    /// Set once the tools were listed over this link.
    pub(crate) listed: OnceCell<()>,
}

/// The transport of a link.
#[derive(Clone)]
pub(crate) enum Way {
    /// Streamable HTTP, in a session if the upstream opened one.
    Http { http: Http, session: Option<HeaderValue> },
    /// A running program.
    Stdio(Arc<Process>),
}

/// One request to an upstream.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    /// The gateway's own id for it, as JSON text.
    pub(crate) id: &'a str,
    pub(crate) method: &'a str,
    /// What `Mcp-Name` repeats.
    pub(crate) name: Option<&'a str>,
    /// The params, a raw object.
    pub(crate) params: &'a str,
    pub(crate) param_headers: &'a [(HeaderName, HeaderValue)],
    /// Who hears what comes before the answer.
    pub(crate) ear: Option<&'a Ear>,
}

impl Link {
    /// A way on which nothing is agreed yet.
    pub(crate) fn new(revision: Revision, limit_bytes: u64, way: Way) -> Self {
        Self {
            revision,
            agreed: false,
            limit_bytes,
            way,
            told: Told::default(),
            listed: OnceCell::new(),
        }
    }

    /// Whether requests can still go this way.
    pub(crate) fn is_alive(&self) -> bool {
        match &self.way {
            Way::Http { .. } => true,
            Way::Stdio(process) => process.is_alive(),
        }
    }

    /// Whether requests on this way repeat parts of themselves in headers.
    pub(crate) fn mirrors(&self) -> bool {
        matches!(self.way, Way::Http { .. }) && self.revision.era() == Era::Stateless
    }

    /// Gives the way up. A program is ended; a session is left to the upstream.
    pub(crate) fn close(&self) {
        if let Way::Stdio(process) = &self.way {
            process.kill();
        }
    }

    /// Sends a request and waits for its answer. If the wait is given up, the upstream is told so.
    pub(crate) async fn ask(
        &self,
        request: &Request<'_>,
        context: &Context,
    ) -> Result<Heard, Failure> {
        let body = envelope::request(request.id, request.method, request.params);
        let door = &context.steps.transport.door;
        let body = (door.request)(body);
        let mut flight = Flight { link: self, request, context, landed: false };
        let heard = match &self.way {
            Way::Http { http, .. } => {
                let headers = (door.headers)(self.headers(request));
                let exchange = Exchange {
                    id: request.id,
                    limit_bytes: self.limit_bytes,
                    // What was agreed on in a handshake can be taken up again (R-HTTP-10).
                    resumes: self.agreed && self.revision.era() == Era::Handshake,
                    ear: request.ear,
                    steps: &context.steps,
                };
                http.ask(body, headers, &exchange).await
            }
            Way::Stdio(process) => {
                let ear = request.ear.cloned();
                process
                    .ask(request.id, body, ear)
                    .await
                    .map(|message| Heard::Message(message, None))
            }
        };
        flight.landed = true;
        heard
    }

    /// How to tell the upstream what is no request.
    pub(crate) fn speaker(&self) -> Speaker {
        match &self.way {
            Way::Http { http, .. } => Speaker::Http(http.clone(), self.session_headers()),
            Way::Stdio(process) => process.speaker(),
        }
    }

    /// Sends a notification of the handshake revisions.
    pub(crate) async fn tell(&self, method: &str) -> Result<(), Failure> {
        let body = envelope::notification(method, None);
        match &self.way {
            Way::Http { http, .. } => http.tell(body, self.session_headers()).await,
            Way::Stdio(process) => {
                process.tell(body);
                Ok(())
            }
        }
    }

    pub(super) fn headers(&self, request: &Request<'_>) -> HeaderMap {
        if self.revision.era() == Era::Handshake {
            return self.session_headers();
        }
        let mirrored = Mirrored {
            version: Some(self.revision.as_str()),
            method: request.method,
            name: request.name,
        };
        let mut headers = HeaderMap::new();
        for (name, value) in mirrored.headers() {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value.as_ref()))
            {
                headers.insert(name, value);
            }
        }
        headers.extend(request.param_headers.iter().cloned());
        headers
    }

    pub(super) fn session_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Way::Http { session: Some(session), .. } = &self.way {
            headers.insert(MCP_SESSION_ID, session.clone());
        }
        if self.agreed {
            let version = HeaderValue::from_static(self.revision.as_str());
            headers.insert(MCP_PROTOCOL_VERSION, version);
        }
        headers
    }

    /// Tells the upstream to stop working on a request. Over HTTP at 2026-07-28 the closed stream
    /// has said so already (R-HTTP-25); elsewhere a notification does (R-CANC-07).
    fn cancel(&self, request: &Request<'_>, context: &Context) {
        let waited = match &self.way {
            Way::Stdio(process) => process.forget(request.id),
            Way::Http { .. } => self.revision.era() == Era::Handshake,
        };
        let clients = request.ear.map_or("", |ear| &ear.aside.id);
        let id = (context.steps.transport.cancelled)(request.id, clients);
        if let Some(id) = id.filter(|_| waited && self.agreed) {
            self.speaker().say(stdio::cancelled(&id));
        }
    }
}

/// A request under way. Dropped before it landed, by a deadline or because the client went away, it
/// cancels itself.
struct Flight<'a> {
    link: &'a Link,
    request: &'a Request<'a>,
    context: &'a Context,
    landed: bool,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if !self.landed {
            self.link.cancel(self.request, self.context);
        }
    }
}
