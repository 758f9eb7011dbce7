//! The handshake, its session, and what a client sends or hears beside its requests.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use birdstrike_wire::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID};
use birdstrike_wire::{Envelope, Era, Kind, Revision, codes, envelope, json};
use http::header::ALLOW;
use http::{HeaderMap, HeaderValue, StatusCode};

use super::request::{self, Asked};
use super::{Server, door, stream};
use crate::aside::CHANGES;
use crate::client::Client;
use crate::routes::Reply;
use crate::sessions::{Session, subscription_meta};
use crate::surfaces::transport::{self, Named};
use crate::surfaces::truncation::Owner;

/// The session that a message names; none for one that names none, and for 2026-07-28, which has no
/// sessions.
///
/// # Errors
/// The HTTP status with which the message is refused.
pub(super) fn of(
    server: &Server,
    headers: &HeaderMap,
    message: &Envelope<'_>,
    owner: Owner,
) -> Result<Option<Arc<Session>>, u16> {
    let opens = message.method().is_some_and(|method| method == "initialize");
    if opens || version(headers) == Some(Revision::NEWEST.as_str()) {
        return Ok(None);
    }
    named(server, headers, owner)
}

/// The session of the header. One of somebody else is as good as none (R-AUTH-04).
fn named(server: &Server, headers: &HeaderMap, owner: Owner) -> Result<Option<Arc<Session>>, u16> {
    let Some(id) = headers.get(MCP_SESSION_ID) else { return Ok(None) };
    let context = &server.pipeline.context;
    let session = id.to_str().ok().and_then(|id| context.sessions.find(id));
    let session = session.filter(|session| session.owner == owner);
    let named = if session.is_some() { Named::Open } else { Named::Unknown };
    (context.steps.transport.session)(named).map_or(Ok(session), Err)
}

fn version(headers: &HeaderMap) -> Option<&str> {
    headers.get(MCP_PROTOCOL_VERSION).and_then(|value| value.to_str().ok())
}

/// Answers `initialize`, and opens a session.
pub(super) async fn open(server: &Server, id: &str, asked: &Asked) -> Response {
    let context = &server.pipeline.context;
    let revision = request::agreed(&asked.params);
    let tasks = server.pipeline.offers_tasks(&asked.client, Era::Handshake).await;
    let served = (context.steps.transport.capabilities)();
    let result = request::initialize(revision, &context.me_json, tasks, served);
    let capabilities = request::answerable(&asked.params);
    let session = context.sessions.open(revision, asked.client.owner, capabilities);
    let mut response = stream::json(Reply::ok(envelope::result(id, &result)));
    if let Ok(id) = HeaderValue::from_str(&session.id) {
        response.headers_mut().insert(MCP_SESSION_ID, id);
    }
    response
}

/// Takes a message that gets no answer: one that cancels, or the answer to a question.
pub(super) fn take(server: &Server, message: &Envelope<'_>, session: Option<&Session>) {
    // Without a session nobody can tell whose ids these are.
    let Some(session) = session else { return };
    let steps = &server.pipeline.context.steps.transport;
    match (message.kind(), message.id()) {
        (Kind::Notification, _) => {
            let cancels = message.method().is_some_and(|m| m == "notifications/cancelled");
            let id = message.params().and_then(|params| json::get(params, "requestId"));
            if let Some(asked) = id.filter(|_| cancels) {
                session.cancel(|in_flight| (steps.cancels)(asked, in_flight));
            }
        }
        (_, Some(id)) => {
            session.answer(id, message.text());
        }
        (_, None) => {}
    }
}

/// `logging/setLevel`: kept for the session, and applied to what upstreams say.
pub(super) fn set_level(id: &str, asked: &Asked) -> Reply {
    let level = json::get_string(&asked.params, "level").filter(|l| transport::is_level(l));
    let Some(level) = level else {
        let (revision, message) = (asked.client.revision, "`level` is none of the log levels");
        return Reply::error(revision, Some(id), codes::INVALID_PARAMS, message, None);
    };
    if let Some(session) = &asked.client.aside.session {
        session.set_log_level(level);
    }
    Reply::ok(envelope::result(id, "{}"))
}

/// `GET`: opens a stream for what belongs to no request, below 2026-07-28.
pub(super) async fn listen(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let session = match in_session(&server, &headers) {
        Ok(session) => session,
        Err(refused) => return *refused,
    };
    let (messages, ended) = (session.listen(), session.ended.clone());
    let client = Client::new(session.revision, None, Vec::new());
    wake(&server, client);
    let stopping = server.stopping.clone();
    let until = async move {
        tokio::select! {
            () = ended.cancelled() => {}
            () = stopping.cancelled() => {}
        }
    };
    stream::listen(messages, until, server.pipeline.context.steps.transport)
}

/// `DELETE`: ends the session.
pub(super) async fn end(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    match in_session(&server, &headers) {
        Ok(session) => {
            server.pipeline.context.sessions.end(&session);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(refused) => *refused,
    }
}

/// The session that a request without a body is for.
fn in_session(server: &Server, headers: &HeaderMap) -> Result<Arc<Session>, Box<Response>> {
    let owner = door::admit(server, headers).map_err(|e| Box::new(e.into_response()))?;
    if version(headers) == Some(Revision::NEWEST.as_str()) {
        let allow = [(ALLOW, HeaderValue::from_static("POST"))];
        return Err(Box::new((StatusCode::METHOD_NOT_ALLOWED, allow).into_response()));
    }
    let refused = |status: u16| {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        Box::new(status.into_response())
    };
    let session = named(server, headers, owner).map_err(refused)?.ok_or_else(|| refused(400))?;
    let steps = &server.pipeline.context.steps.transport.door;
    request::handshake_revision(version(headers), Some(&session), steps)
        .map_err(|_| refused(400))?;
    Ok(session)
}

/// `subscriptions/listen` of 2026-07-28: the acknowledgement first, then what was asked for, each
/// marked with the id of the request (R-SUB-01), and its result when the gateway stops.
pub(super) fn subscribe(server: &Arc<Server>, id: &str, asked: &Asked) -> Response {
    const KINDS: [&str; 3] = ["toolsListChanged", "resourcesListChanged", "promptsListChanged"];
    let wanted = json::get(&asked.params, "notifications").unwrap_or("{}");
    let wants = |kind: &&str| json::get(wanted, kind) == Some("true");
    let kinds = KINDS.into_iter().zip(CHANGES).filter(|(kind, _)| wants(kind));
    let (kinds, methods): (Vec<_>, Vec<_>) = kinds.unzip();
    let kinds: Vec<String> = kinds.iter().map(|kind| format!("\"{kind}\":true")).collect();
    let meta = subscription_meta(id);
    let params = format!("{{\"notifications\":{{{}}},\"_meta\":{meta}}}", kinds.join(","));
    let method = "notifications/subscriptions/acknowledged";
    let acknowledged = envelope::notification(method, Some(&params));
    let messages = server.pipeline.context.sessions.subscribe(methods, id, acknowledged);
    wake(server, asked.client.without_progress());
    let result = format!("{{\"resultType\":\"complete\",\"_meta\":{meta}}}");
    let reply = Reply::ok(envelope::result(id, &result));
    let stopping = server.stopping.clone();
    let work = Box::pin(async move {
        stopping.cancelled().await;
        Some(reply)
    });
    stream::begun(work, messages, server.pipeline.context.steps.transport)
}

/// Connects to all upstreams in the background, so that their changes are heard.
fn wake(server: &Arc<Server>, client: Client) {
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let wakes = server.pipeline.upstreams.iter().map(|upstream| upstream.wake(&client));
        futures_util::future::join_all(wakes).await;
    });
}
