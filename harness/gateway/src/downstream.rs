//! The server side: one endpoint, `/mcp`, in three revisions; and the facade, `POST /invoke`.

mod door;
mod guard;
mod listing;
mod lists;
mod request;
mod session;
mod stream;
mod watch;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use birdstrike_wire::{Envelope, Era, Kind, Revision, codes, envelope, json};
use http::header::ACCEPT;
use http::{HeaderMap, StatusCode};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::aside::Aside;
use crate::client::Client;
use crate::pipeline::{Call, Method, Pipeline};
use crate::routes::{Reply, batch, continuation, facade, flat, relayed, task, tools};
use crate::sessions::{self, Session};
use crate::surfaces::tasks;
use crate::surfaces::truncation::Owner;
use crate::trace::Trace;
use crate::upstream::list::Listing;
use door::Unread;
use request::Asked;
use stream::Work;

/// What a request handler needs.
pub(crate) struct Server {
    pub(crate) pipeline: Pipeline,
    pub(crate) address: SocketAddr,
    /// When this is cancelled, streams that belong to no call end.
    pub(crate) stopping: CancellationToken,
    /// When this is cancelled, calls under way are answered with an error.
    pub(crate) stopped: CancellationToken,
}

/// The routes of the server. Any other method on the endpoint is answered with 405.
pub(crate) fn router(server: Arc<Server>) -> Router {
    let endpoint = post(receive).get(session::listen).delete(session::end);
    let router = Router::new().route("/mcp", endpoint).route("/invoke", post(invoke));
    router.route("/tools", get(table)).merge(watch::router()).with_state(server)
}

/// The tools, for whoever keeps an inventory.
async fn table(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let mut client = Client::new(Revision::NEWEST, None, Vec::new());
    client.owner = match door::admit(&server, &headers) {
        Ok(owner) => owner,
        Err(refused) => return refused.into_response(),
    };
    stream::json(Reply::ok(tools::table(&server.pipeline, &client).await))
}

async fn receive(State(server): State<Arc<Server>>, headers: HeaderMap, body: Body) -> Response {
    let owner = match door::admit(&server, &headers) {
        Ok(owner) => owner,
        Err(refused) => return refused.into_response(),
    };
    let bytes = match door::whole(&server, body).await {
        Ok(bytes) => bytes,
        Err(Unread::TooLong(message)) => {
            let error = envelope::error_object(codes::INVALID_REQUEST, &message, None);
            let body = envelope::error(None, &error);
            return stream::json(Reply { status: 413, body });
        }
        Err(Unread::TooSlow) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    let message = match Envelope::read(&bytes) {
        Ok(message) => message,
        Err(error) => {
            let code = match error {
                json::JsonError::WrongKind { .. } => codes::INVALID_REQUEST,
                _ => codes::PARSE_ERROR,
            };
            return stream::json(refusal(None, code, &error.to_string()));
        }
    };
    let session = match session::of(&server, &headers, &message, owner) {
        Ok(session) => session,
        Err(status) => {
            let refused = refusal(message.id(), codes::INVALID_REQUEST, "no such session");
            return stream::json(Reply { status, ..refused });
        }
    };
    match message.kind() {
        Kind::Request => request(&server, &headers, &message, owner, session).await,
        Kind::Notification | Kind::Result | Kind::Error => {
            session::take(&server, &message, session.as_deref());
            let accepted = server.pipeline.context.steps.transport.door.accepted;
            StatusCode::from_u16(accepted).unwrap_or(StatusCode::ACCEPTED).into_response()
        }
        Kind::Broken(why) => stream::json(refusal(None, codes::INVALID_REQUEST, why)),
    }
}

async fn request(
    server: &Arc<Server>,
    headers: &HeaderMap,
    message: &Envelope<'_>,
    owner: Owner,
    session: Option<Arc<Session>>,
) -> Response {
    let id = message.id().unwrap_or("null");
    let steps = server.pipeline.context.steps.transport;
    let (to_client, messages) = mpsc::channel(sessions::QUEUE);
    let to_client = (steps.streams)(reads_streams(headers)).then_some(to_client);
    let asked = Asked::read(
        message,
        headers,
        &Aside { to_client, session, ..Aside::default() },
        &steps.door,
    );
    let mut asked = match asked {
        Ok(asked) => asked,
        Err(refused) => return stream::json(refused.reply(id, &steps.door)),
    };
    asked.client.owner = owner;
    let id = (steps.id)(id);
    match asked.method.as_str() {
        "initialize" => session::open(server, &id, &asked).await,
        "subscriptions/listen" if asked.client.revision.era() == Era::Stateless => {
            session::subscribe(server, &id, &asked)
        }
        _ => stream::respond(serve(server, &id, asked), messages, steps).await,
    }
}

/// Whether a client takes its answer as an event stream, which it has to (R-HTTP-04).
fn reads_streams(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accept.flat_map(|value| value.split(',')).any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        range.eq_ignore_ascii_case("text/event-stream") || range == "*/*"
    })
}

async fn invoke(State(server): State<Arc<Server>>, headers: HeaderMap, body: Body) -> Response {
    let owner = match door::admit(&server, &headers) {
        Ok(owner) => owner,
        Err(refused) => return refused.into_response(),
    };
    let bytes = match door::whole(&server, body).await {
        Ok(bytes) => bytes,
        Err(Unread::TooLong(message)) => return stream::json(facade::refusal(413, &message)),
        Err(Unread::TooSlow) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    let text = match json::text(&bytes) {
        Ok(text) => text,
        Err(error) => return stream::json(facade::refusal(400, &error.to_string())),
    };
    let mut client = Client::new(Revision::NEWEST, None, Vec::new());
    client.owner = owner;
    client.trace = Trace::of(json::get(text, "_meta"), &headers);
    tokio::select! {
        reply = facade::invoke(&server.pipeline, text, &client) => stream::json(reply),
        () = server.stopped.cancelled() => stream::json(facade::refusal(503, "the gateway is stopping")),
    }
}

/// A message that could not be read is refused without its id.
fn refusal(id: Option<&str>, code: i64, message: &str) -> Reply {
    Reply::error(Revision::NEWEST, id, code, message, None)
}

/// Answers one request. A client of 2026-07-28 that goes away cancels it by that (R-HTTP-25): its
/// future is dropped. For the older revisions a lost connection says nothing (R-CANC-07), so that
/// the call runs to its end in a task of its own, unless its client cancels it by a notification.
fn serve(server: &Arc<Server>, id: &str, asked: Asked) -> Work {
    let (server, id) = (server.clone(), id.to_owned());
    let in_flight = asked.client.aside.session.as_ref().map(|session| {
        // By the id that the client knows.
        session.enter(&asked.client.aside.id)
    });
    let leaving_cancels = server.pipeline.context.steps.transport.door.leaving_cancels;
    let leaving_cancels = leaving_cancels(asked.client.revision.era());
    let own_id = id.clone();
    let work = async move {
        let cancelled = async {
            match &in_flight {
                Some(in_flight) => in_flight.cancelled.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            reply = answer(&server, &id, &asked) => Some(reply),
            () = cancelled => None,
            () = server.stopped.cancelled() => Some(stopping(&id)),
        }
    };
    if leaving_cancels {
        return Box::pin(work);
    }
    let task = tokio::spawn(work);
    Box::pin(async move { task.await.unwrap_or_else(|_| Some(stopping(&own_id))) })
}

fn stopping(id: &str) -> Reply {
    refusal(Some(id), codes::INTERNAL_ERROR, "the gateway is stopping")
}

async fn answer(server: &Server, id: &str, asked: &Asked) -> Reply {
    let (pipeline, client) = (&server.pipeline, &asked.client);
    let me = &pipeline.context.me_json;
    let revision = client.revision;
    match (revision.era(), asked.method.as_str()) {
        (Era::Handshake, "ping") => Reply::ok(envelope::result(id, "{}")),
        (Era::Handshake, "logging/setLevel") => session::set_level(id, asked),
        (Era::Stateless, "server/discover") => {
            let tasks = pipeline.offers_tasks(client, Era::Stateless).await;
            let served = (pipeline.context.steps.transport.capabilities)();
            Reply::ok(envelope::result(id, &request::discover(me, tasks, served)))
        }
        (_, "tools/list") => listing::list(pipeline, id, asked).await,
        (_, "tools/call") => call(pipeline, id, asked).await,
        (_, "resources/list") => lists::list(pipeline, id, asked, Listing::Resources).await,
        (_, "resources/templates/list") => {
            lists::list(pipeline, id, asked, Listing::Templates).await
        }
        (_, "prompts/list") => lists::list(pipeline, id, asked, Listing::Prompts).await,
        (_, "resources/read") => relay(pipeline, id, asked, Method::Resource).await,
        (_, "prompts/get") => relay(pipeline, id, asked, Method::Prompt).await,
        (_, method) => {
            if let Some(method) = tasks::METHODS.into_iter().find(|known| *known == method) {
                return task::relay(pipeline, id, method, &asked.params, client).await;
            }
            let shown: String = method.chars().take(100).collect();
            let message = format!("unknown method: {shown}");
            let code = (pipeline.context.steps.transport.door.code)(codes::METHOD_NOT_FOUND);
            Reply::error(revision, Some(id), code, &message, None)
        }
    }
}

async fn relay(pipeline: &Pipeline, id: &str, asked: &Asked, method: Method) -> Reply {
    let name = if method == Method::Resource { "uri" } else { "name" };
    let params = match request::CallParams::read(&asked.params, name) {
        Ok(params) => params,
        Err(why) => {
            let revision = asked.client.revision;
            return Reply::error(revision, Some(id), codes::INVALID_PARAMS, &why, None);
        }
    };
    let call = Call {
        route: "flat",
        method,
        tool: &params.name,
        arguments: params.arguments,
        others: &params.others,
        client: &asked.client,
    };
    relayed::ask(pipeline, id, &call).await
}

async fn call(pipeline: &Pipeline, id: &str, asked: &Asked) -> Reply {
    let params = match request::CallParams::read(&asked.params, "name") {
        Ok(params) => params,
        Err(why) => {
            let revision = asked.client.revision;
            return Reply::error(revision, Some(id), codes::INVALID_PARAMS, &why, None);
        }
    };
    let arguments = if params.arguments.is_empty() { "{}" } else { params.arguments };
    if params.name == batch::TOOL {
        // Progress of several calls is not that of one.
        let client = asked.client.without_progress();
        return batch::call(pipeline, id, arguments, &client).await;
    }
    if let Some(reply) = continuation::call(pipeline, id, &params.name, arguments, &asked.client) {
        return reply;
    }
    let mut client = asked.client.clone();
    if client.revision == Revision::V2025_11_25 {
        client.task = params.task.map(str::to_owned);
    }
    let call = Call {
        route: "flat",
        method: Method::Tool,
        tool: &params.name,
        arguments: params.arguments,
        others: &params.others,
        client: &client,
    };
    if let Err(mismatch) = pipeline.check_param_headers(&call)
        && (pipeline.context.steps.transport.door.refuses_headers)(false, false)
    {
        let message = mismatch.to_string();
        let code = (pipeline.context.steps.transport.door.code)(codes::HEADER_MISMATCH);
        return Reply::error(Revision::NEWEST, Some(id), code, &message, None);
    }
    flat::call(pipeline, id, &call).await
}
