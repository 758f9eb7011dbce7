//! One HTTP request: let in, read, answered.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use birdstrike_wire::capture::Capture;
use birdstrike_wire::envelope::error_object;
use birdstrike_wire::headers::{LAST_EVENT_ID, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};
use birdstrike_wire::{Envelope, Era, Revision, codes};
use bytes::Bytes;
use http::header::ALLOW;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;

use super::body::{AnswerBody, Broken};
use super::flush::Flushes;
use super::{gate, respond};
use crate::dispatch::{Content, Reply};
use crate::exchange::{Entry, Exchange, Transport};
use crate::headers::Headers;
use crate::in_flight::Waiting;
use crate::plan::{Delivery, Encoding, Ending};
use crate::reception::{self, Client, Received, header};
use crate::replies::Replied;
use crate::sessions::Session;
use crate::shared::Shared;
use crate::upstream::Upstream;

/// What answers the requests of one connection.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) shared: Arc<Shared>,
    pub(crate) flushes: Arc<Flushes>,
}

/// What became of a request before anything was sent back.
struct Taken {
    received: Received,
    body: Bytes,
    /// Headers of the answer that are the canary's own and no plan's.
    own: HeaderMap,
}

impl Taken {
    /// An HTTP request that carries no message, or none that was read.
    fn without_message(method: &Method, reply: Reply) -> Self {
        let received = Received {
            method: Cow::Owned(method.to_string()),
            ..Received::unread(reply, Vec::new())
        };
        Self { received, body: Bytes::new(), own: HeaderMap::new() }
    }
}

impl Service {
    /// Answers one request. An error closes the connection without an answer.
    pub(crate) async fn serve(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, Broken> {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        let upstream = self.shared.upstream_at(path);
        let name = upstream.map_or_else(|| path.into(), |upstream| Arc::clone(&upstream.name));
        let taken = match (gate::refuse(&head.headers, self.shared.exposed), upstream) {
            (Some(note), _) => {
                let refused = refused(&note.seen, 403);
                let mut taken = Taken::without_message(&head.method, refused);
                taken.received.notes.push(note);
                taken
            }
            (None, None) => {
                Taken::without_message(&head.method, refused("no upstream answers here", 404))
            }
            (None, Some(upstream)) if head.method == Method::POST => {
                self.post(upstream, &head.headers, body).await
            }
            (None, Some(upstream)) if head.method == Method::DELETE => {
                delete(upstream, &head.headers)
            }
            (None, Some(upstream)) if head.method == Method::GET => get(upstream, &head.headers),
            (None, Some(upstream)) => not_allowed(upstream, &head.method),
        };
        let waiting = upstream.and_then(|upstream| waiting(upstream, &head.headers, &taken));
        self.keep_reply(&taken, &name, &head.headers);
        let mut reply = taken.received.reply;
        if let Some(upstream) = upstream {
            reply = broken_off(upstream, &head.headers, reply);
        }
        let mut notes = taken.received.notes;
        respond::settle(&mut reply.delivery, &head.headers, &mut notes);
        let entry = Entry::open(
            &self.shared.journal,
            Exchange {
                seq: 0,
                upstream: name,
                transport: Transport::Http,
                revision: taken.received.revision,
                method: taken.received.method,
                nonce: taken.received.nonce,
                uri: taken.received.uri,
                // Copied, as what was read would keep the whole buffer of the connection alive.
                request: Capture::of(Bytes::copy_from_slice(&taken.body), true),
                request_headers: Headers::from(&head.headers),
                received: Instant::now(),
                answer: None,
                notes,
            },
        );
        respond::respond(self, reply, taken.own, entry, waiting).await
    }

    /// Keeps what the client replied to a question of a plan, if it did.
    fn keep_reply(&self, taken: &Taken, upstream: &Arc<str>, headers: &HeaderMap) {
        if let Some(id) = taken.received.answers.clone() {
            self.shared.journal.reply(Replied {
                id,
                upstream: Arc::clone(upstream),
                transport: Transport::Http,
                headers: Headers::from(headers),
                message: Capture::of(Bytes::copy_from_slice(&taken.body), true),
                received: Instant::now(),
            });
        }
    }

    async fn post(&self, upstream: &Upstream, headers: &HeaderMap, body: Incoming) -> Taken {
        let body = match self.read(body).await {
            Ok(body) => body,
            Err((why, status)) => {
                return Taken::without_message(&Method::POST, refused(why, status));
            }
        };
        let session = upstream.sessions.as_ref().zip(header(headers, MCP_SESSION_ID));
        let client = Client {
            headers: Some(headers),
            session: session.map(|(sessions, id)| sessions.look_up(id)),
        };
        let received = reception::receive(self.shared.desk(upstream), &body, client);
        let mut own = HeaderMap::new();
        if let Some(revision) = received.reply.agreed {
            upstream.agree(revision);
            let minted = upstream.sessions.as_ref().map(|sessions| sessions.mint(revision));
            if let Some(Ok(id)) = minted.map(HeaderValue::try_from) {
                own.insert(MCP_SESSION_ID, id);
            }
        }
        Taken { received, body, own }
    }

    /// The whole body of a request, if it is small enough and comes in time.
    async fn read(&self, body: Incoming) -> Result<Bytes, (&'static str, u16)> {
        let limits = &self.shared.limits;
        let whole = Limited::new(body, limits.request).collect();
        match tokio::time::timeout(limits.patience, whole).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                Err(("the request is too large", 413))
            }
            Ok(Err(_)) => Err(("the request broke off", 400)),
            Err(_) => Err(("the request took too long", 408)),
        }
    }
}

/// Cancels what the message cancels; or else enters an answer that waits among those that can be
/// cancelled. Only handshake revisions cancel by message over HTTP: later ones close the stream.
fn waiting(upstream: &Upstream, headers: &HeaderMap, taken: &Taken) -> Option<Waiting> {
    let received = &taken.received;
    received.revision.filter(|revision| revision.era() == Era::Handshake)?;
    let session = session(upstream, headers);
    if let Some(id) = &received.cancels {
        upstream.in_flight.cancel(session, id);
        return None;
    }
    if !received.reply.delivery.waits() {
        return None;
    }
    let envelope = Envelope::read(&taken.body).ok()?;
    Some(upstream.in_flight.enter(session, envelope.id()?))
}

/// Ends a session, where there are sessions (R-HTTP-28).
fn delete(upstream: &Upstream, headers: &HeaderMap) -> Taken {
    let Some(sessions) = &upstream.sessions else {
        return not_allowed(upstream, &Method::DELETE);
    };
    let reply = match header(headers, MCP_SESSION_ID) {
        None => refused("Mcp-Session-Id is missing", 400),
        Some(id) if sessions.end(id) => Reply::empty(204),
        Some(_) => refused("no such session", 404),
    };
    Taken::without_message(&Method::DELETE, reply)
}

/// The reply as a stream that breaks and is kept, if its delivery wants that.
fn broken_off(upstream: &Upstream, headers: &HeaderMap, reply: Reply) -> Reply {
    let Reply { content, mut delivery, agreed } = reply;
    let content = match (content, delivery.resumable.take()) {
        (Content::Message(text), Some(how)) if delivery.encoding == Encoding::Sse => {
            let first = upstream.replays.open(session(upstream, headers), text, &delivery, &how);
            delivery.gzip = false;
            if delivery.ending == Ending::Whole {
                delivery.ending = Ending::CutAfter(first.len());
            }
            Content::Events(first)
        }
        (content, _) => content,
    };
    Reply { content, delivery, agreed }
}

/// Resumes a stream behind the event that the client saw last; none if there is nothing to resume
/// here. Events of another session are nobody's (R-HTTP-10).
fn resume(upstream: &Upstream, headers: &HeaderMap) -> Option<Taken> {
    let last = header(headers, LAST_EVENT_ID)?;
    let (rest, delay) = upstream.replays.after(session(upstream, headers), last)?;
    let delivery = Delivery { delay, ..Delivery::of(Encoding::Sse) };
    let content = Content::Events(rest);
    Some(Taken::without_message(&Method::GET, Reply { content, delivery, agreed: None }))
}

/// Opens a stream for what belongs to no request, in handshake revisions and where there is
/// anything to hear.
fn get(upstream: &Upstream, headers: &HeaderMap) -> Taken {
    let newest = header(headers, MCP_PROTOCOL_VERSION) == Some(Revision::V2026_07_28.as_str());
    if let Some(resumed) = resume(upstream, headers).filter(|_| !newest) {
        return resumed;
    }
    let Some(listeners) = upstream.listeners.as_ref().filter(|_| !newest) else {
        return not_allowed(upstream, &Method::GET);
    };
    let session = session(upstream, headers);
    let known = upstream.sessions.as_ref().zip(session);
    if known.is_some_and(|(sessions, id)| sessions.look_up(id) == Session::Ended) {
        return Taken::without_message(&Method::GET, refused("the session has ended", 404));
    }
    let messages = listeners.listen(session.map(str::to_owned));
    let delivery = Delivery::of(Encoding::Sse);
    let content = Content::Announcements(messages);
    Taken::without_message(&Method::GET, Reply { content, delivery, agreed: None })
}

/// The session that a request names, where there are sessions.
fn session<'h>(upstream: &Upstream, headers: &'h HeaderMap) -> Option<&'h str> {
    upstream.sessions.as_ref().and_then(|_| header(headers, MCP_SESSION_ID))
}

/// There is no stream to open with GET, and nothing else to do.
fn not_allowed(upstream: &Upstream, method: &Method) -> Taken {
    let mut taken = Taken::without_message(method, Reply::empty(405));
    let allowed = match (upstream.listeners.is_some(), upstream.sessions.is_some()) {
        (false, false) => "POST",
        (false, true) => "POST, DELETE",
        (true, false) => "GET, POST",
        (true, true) => "GET, POST, DELETE",
    };
    taken.own.insert(ALLOW, HeaderValue::from_static(allowed));
    taken
}

fn refused(why: &str, status: u16) -> Reply {
    Reply::error(None, &error_object(codes::INVALID_REQUEST, why, None), status)
}
