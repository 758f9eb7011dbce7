//! The server side: one endpoint, `POST /mcp`, in three revisions; and the facade, `POST /invoke`.

mod guard;
mod listing;
mod lists;
mod request;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use birdstrike_wire::{Envelope, Era, Kind, Revision, codes, envelope, json};
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::client::Client;
use crate::pipeline::{Call, Method, Pipeline};
use crate::routes::{Reply, batch, continuation, facade, flat, relayed, task, tools};
use crate::surfaces::tasks;
use crate::surfaces::truncation::Owner;
use crate::upstream::list::Listing;
use request::Asked;
use tokio_util::sync::CancellationToken;

/// How long a client may take to send its request.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// What a request handler needs.
pub(crate) struct Server {
    pub(crate) pipeline: Pipeline,
    pub(crate) address: SocketAddr,
    /// When this is cancelled, calls under way are answered with an error.
    pub(crate) stopped: CancellationToken,
}

/// The routes of the server. Any other method on the endpoint is answered with 405.
pub(crate) fn router(server: Arc<Server>) -> Router {
    let router = Router::new().route("/mcp", post(receive)).route("/invoke", post(invoke));
    router.route("/tools", get(table)).with_state(server)
}

/// The tools, for whoever keeps an inventory.
async fn table(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let mut client = Client::new(Revision::NEWEST, None, Vec::new());
    client.owner = match admit(&server, &headers) {
        Ok(owner) => owner,
        Err(refused) => return refused.into_response(),
    };
    respond(Reply::ok(tools::table(&server.pipeline, &client).await))
}

async fn receive(State(server): State<Arc<Server>>, headers: HeaderMap, body: Body) -> Response {
    let owner = match admit(&server, &headers) {
        Ok(owner) => owner,
        Err(refused) => return refused.into_response(),
    };
    let bytes = match whole(&server, body).await {
        Ok(bytes) => bytes,
        Err(Unread::TooLong(message)) => {
            let error = envelope::error_object(codes::INVALID_REQUEST, &message, None);
            let body = envelope::error(None, &error);
            return respond(Reply { status: 413, body });
        }
        Err(Unread::TooSlow) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    match Envelope::read(&bytes) {
        Err(error) => {
            let code = match error {
                json::JsonError::WrongKind { .. } => codes::INVALID_REQUEST,
                _ => codes::PARSE_ERROR,
            };
            respond(refusal(None, code, &error.to_string()))
        }
        Ok(message) => match message.kind() {
            Kind::Request => {
                let id = message.id().unwrap_or("null");
                match Asked::read(&message, &headers) {
                    Ok(mut asked) => {
                        asked.client.owner = owner;
                        respond(serve(&server, id, asked).await)
                    }
                    Err(refused) => respond(refused.reply(id)),
                }
            }
            Kind::Notification | Kind::Result | Kind::Error => StatusCode::ACCEPTED.into_response(),
            Kind::Broken(why) => respond(refusal(None, codes::INVALID_REQUEST, why)),
        },
    }
}

async fn invoke(State(server): State<Arc<Server>>, headers: HeaderMap, body: Body) -> Response {
    let owner = match admit(&server, &headers) {
        Ok(owner) => owner,
        Err(refused) => return refused.into_response(),
    };
    let bytes = match whole(&server, body).await {
        Ok(bytes) => bytes,
        Err(Unread::TooLong(message)) => return respond(facade::refusal(413, &message)),
        Err(Unread::TooSlow) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    let text = match json::text(&bytes) {
        Ok(text) => text,
        Err(error) => return respond(facade::refusal(400, &error.to_string())),
    };
    let mut client = Client::new(Revision::NEWEST, None, Vec::new());
    client.owner = owner;
    tokio::select! {
        reply = facade::invoke(&server.pipeline, text, &client) => respond(reply),
        () = server.stopped.cancelled() => respond(facade::refusal(503, "the gateway is stopping")),
    }
}

/// Who asks, if it may.
fn admit(server: &Server, headers: &HeaderMap) -> Result<Owner, NotAdmitted> {
    guard::check(headers, server.address).map_err(NotAdmitted::Elsewhere)?;
    server.pipeline.context.identities.owner(headers).ok_or(NotAdmitted::Unknown)
}

/// Why a client is not listened to.
enum NotAdmitted {
    /// What it says of its origin, in words.
    Elsewhere(&'static str),
    /// It is none of those who may call.
    Unknown,
}

impl IntoResponse for NotAdmitted {
    fn into_response(self) -> Response {
        match self {
            Self::Elsewhere(why) => (StatusCode::FORBIDDEN, why).into_response(),
            Self::Unknown => {
                (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]).into_response()
            }
        }
    }
}

/// Why a body was not read.
enum Unread {
    /// In words that name the limit.
    TooLong(String),
    TooSlow,
}

async fn whole(server: &Server, body: Body) -> Result<Bytes, Unread> {
    let limit = server.pipeline.context.limits.max_request_bytes;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match tokio::time::timeout(REQUEST_TIME, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            Err(Unread::TooLong(format!("the request is larger than {limit} bytes, or broke off")))
        }
        Err(_) => Err(Unread::TooSlow),
    }
}

/// A message that could not be read is refused without its id.
fn refusal(id: Option<&str>, code: i64, message: &str) -> Reply {
    Reply::error(Revision::NEWEST, id, code, message, None)
}

fn respond(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], reply.body).into_response()
}

/// Answers one request. A client of 2026-07-28 that goes away cancels it by that (R-HTTP-25): its
/// future is dropped. For the older revisions a lost connection says nothing (R-CANC-07), so that
/// the call runs to its end in a task of its own.
async fn serve(server: &Arc<Server>, id: &str, asked: Asked) -> Reply {
    if asked.client.revision.era() == Era::Stateless {
        return answer_until_stopped(server, id, &asked).await;
    }
    let (server, own_id) = (server.clone(), id.to_owned());
    let task = tokio::spawn(async move { answer_until_stopped(&server, &own_id, &asked).await });
    task.await.unwrap_or_else(|_| stopping(id))
}

async fn answer_until_stopped(server: &Server, id: &str, asked: &Asked) -> Reply {
    tokio::select! {
        reply = answer(server, id, asked) => reply,
        () = server.stopped.cancelled() => stopping(id),
    }
}

fn stopping(id: &str) -> Reply {
    refusal(Some(id), codes::INTERNAL_ERROR, "the gateway is stopping")
}

async fn answer(server: &Server, id: &str, asked: &Asked) -> Reply {
    let (pipeline, client) = (&server.pipeline, &asked.client);
    let me = &pipeline.context.me_json;
    let revision = client.revision;
    match (revision.era(), asked.method.as_str()) {
        (_, "initialize") => {
            let tasks = pipeline.offers_tasks(Era::Handshake).await;
            Reply::ok(envelope::result(id, &request::initialize(&asked.params, me, tasks)))
        }
        (Era::Handshake, "ping") => Reply::ok(envelope::result(id, "{}")),
        (Era::Stateless, "server/discover") => Reply::ok(envelope::result(
            id,
            &request::discover(me, pipeline.offers_tasks(Era::Stateless).await),
        )),
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
            Reply::error(revision, Some(id), codes::METHOD_NOT_FOUND, &message, None)
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
        return batch::call(pipeline, id, arguments, &asked.client).await;
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
    if let Err(mismatch) = pipeline.check_param_headers(&call) {
        let message = mismatch.to_string();
        return Reply::error(Revision::NEWEST, Some(id), codes::HEADER_MISMATCH, &message, None);
    }
    flat::call(pipeline, id, &call).await
}
