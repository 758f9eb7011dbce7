//! An open way to an upstream: the revision that was agreed on, and how its requests are dressed.

use std::sync::Arc;

use birdstrike_wire::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID, Mirrored};
use birdstrike_wire::{Era, Revision, envelope};
use http::{HeaderMap, HeaderName, HeaderValue};

use tokio::sync::OnceCell;

use super::http::{Heard, Http};
use super::stdio::{self, Process};
use crate::context::Context;
use crate::failure::Failure;

/// A way to an upstream.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) revision: Revision,
    /// Whether both sides agreed on the revision. Until then it is told in no header (R-HTTP-11),
    /// and nothing is cancelled, as `initialize` must not be.
    pub(crate) agreed: bool,
    pub(crate) limit_bytes: u64,
    pub(crate) way: Way,
    /// Whether the upstream says that it has tasks, in the form of its revision.
    pub(crate) offers_tasks: bool,
    /// Set once the tools were listed over this link.
    pub(crate) listed: OnceCell<()>,
}

/// The transport of a link.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Streamable HTTP, in a session if the upstream opened one.
    Http { http: Http, session: Option<HeaderValue> },
    /// A running program.
    Stdio(Arc<Process>),
}

/// One request to an upstream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The gateway's own id for it, as JSON text.
    pub(crate) id: &'a str,
    pub(crate) method: &'a str,
    /// What `Mcp-Name` repeats.
    pub(crate) name: Option<&'a str>,
    /// The params, a raw object.
    pub(crate) params: &'a str,
    pub(crate) param_headers: &'a [(HeaderName, HeaderValue)],
}

impl Link {
    /// A way on which nothing is agreed yet.
    pub(crate) fn new(revision: Revision, limit_bytes: u64, way: Way) -> Self {
        Self {
            revision,
            agreed: false,
            limit_bytes,
            way,
            offers_tasks: false,
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
        let mut flight = Flight { link: self, id: request.id, landed: false };
        let heard = match &self.way {
            Way::Http { http, .. } => {
                let headers = self.headers(request);
                http.ask(body, headers, request.id, self.limit_bytes, &context.steps).await
            }
            Way::Stdio(process) => {
                process.ask(request.id, body).await.map(|message| Heard::Message(message, None))
            }
        };
        flight.landed = true;
        heard
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

    fn headers(&self, request: &Request<'_>) -> HeaderMap {
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

    fn session_headers(&self) -> HeaderMap {
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
    fn cancel(&self, id: &str) {
        match &self.way {
            Way::Stdio(process) => {
                if process.forget(id) && self.agreed {
                    process.tell(stdio::cancelled(id));
                }
            }
            Way::Http { http, .. } if self.agreed && self.revision.era() == Era::Handshake => {
                let (http, headers) = (http.clone(), self.session_headers());
                let body = stdio::cancelled(id);
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn(async move { http.tell(body, headers).await });
                }
            }
            Way::Http { .. } => {}
        }
    }
}

/// A request under way. Dropped before it landed, by a deadline or because the client went away, it
/// cancels itself.
struct Flight<'a> {
    link: &'a Link,
    id: &'a str,
    landed: bool,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if !self.landed {
            self.link.cancel(self.id);
        }
    }
}
