//! What an upstream says beside any request: that one of its lists has changed (R-TOOLS-05).

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use birdstrike_wire::{Era, envelope, meta, sse};
use http::HeaderMap;
use tokio_util::task::AbortOnDropHandle;

use super::Upstream;
use super::http::Http;
use super::link::{Link, Request, Way};
use super::speaker::Speaker;
use crate::aside::{self, CHANGES};

use crate::client::Client;
use crate::context::Context;

/// How long a stream that ended is left alone.
const PAUSE: Duration = Duration::from_millis(500);
/// Bytes of one message on it.
const MESSAGE_BYTES: usize = 1 << 20;

/// What is asked of an upstream of 2026-07-28.
const WANTED: &str =
    r#"{"toolsListChanged":true,"resourcesListChanged":true,"promptsListChanged":true}"#;

/// An open ear for one link. It is closed when this is dropped.
pub(super) struct Listening {
    link: Weak<Link>,
    _task: AbortOnDropHandle<()>,
}

impl Upstream {
    /// Listens on a new link, unless another does: what changes is told once. Over stdio the program
    /// speaks without being asked, at least below 2026-07-28.
    pub(super) fn listen<'a>(
        &self,
        link: &Arc<Link>,
        mut open: impl Iterator<Item = &'a Arc<Link>>,
    ) {
        let Way::Http { http, .. } = &link.way else { return };
        if !link.told.announces {
            return;
        }
        let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = &*listening {
            if open.any(|open| std::ptr::eq(Arc::as_ptr(open), old.link.as_ptr())) {
                return;
            }
            // What changed while the upstream was away, nobody heard.
            self.context.changed(CHANGES[0]);
        }
        let task = tokio::spawn(listen(Call::new(link, http, &self.context), self.context.clone()));
        let link = Arc::downgrade(link);
        *listening = Some(Listening { link, _task: AbortOnDropHandle::new(task) });
    }

    /// Connects, so that changes are heard. An upstream that is away is heard once it is needed.
    pub(crate) async fn wake(&self, client: &Client) {
        let _ = self.in_time(self.link(client)).await;
    }
}

/// How a stream is opened.
struct Call {
    http: Http,
    headers: HeaderMap,
    /// The subscription of 2026-07-28; before it, a GET says all.
    body: Option<String>,
}

impl Call {
    fn new(link: &Link, http: &Http, context: &Context) -> Self {
        let http = http.clone();
        if link.revision.era() == Era::Handshake {
            return Self { http, headers: link.session_headers(), body: None };
        }
        let meta = meta::request_meta(link.revision, &context.me, "{}");
        let params = format!("{{\"notifications\":{WANTED},\"_meta\":{meta}}}");
        let request = Request {
            id: "\"listen\"",
            method: "subscriptions/listen",
            name: None,
            params: &params,
            param_headers: &[],
            ear: None,
        };
        let body = envelope::request(request.id, request.method, request.params);
        Self { http, headers: link.headers(&request), body: Some(body) }
    }
}

/// Listens until the upstream wants no listeners, or for ever.
async fn listen(call: Call, context: Arc<Context>) {
    let speaker = Speaker::Http(call.http.clone(), call.headers.clone());
    loop {
        let response = match &call.body {
            None => call.http.listen(call.headers.clone()).await,
            Some(body) => call.http.post(body.clone(), call.headers.clone()).await,
        };
        match response {
            Ok(response) if response.status().is_success() => {
                hear(response, &context, &speaker).await;
            }
            // It has no such stream, or the session is over: the next call opens another.
            Ok(_) => return,
            Err(_) => {}
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn hear(mut response: reqwest::Response, context: &Context, speaker: &Speaker) {
    let limits = sse::Limits { event: MESSAGE_BYTES, ..sse::Limits::default() };
    let mut parser = sse::Parser::new(limits);
    while let Ok(Some(piece)) = response.chunk().await {
        // An event that is too large is passed over.
        let _ = parser.push(&piece, Duration::ZERO);
        for event in parser.drain() {
            if event.is_dispatched() && event.kind() == sse::Kind::Message && !event.too_large {
                aside::unbidden(&event.data, context, speaker);
            }
        }
    }
}
