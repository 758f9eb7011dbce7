//! What people and programs watch a gateway by: `GET /history`, `GET /metrics`, the WebSocket
//! `/events`. The same may look that may call.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::Server;
use super::door::admit;
use crate::sinks::events::Events;

/// The routes.
pub(super) fn router() -> Router<Arc<Server>> {
    Router::new()
        .route("/history", get(history))
        .route("/events", get(events))
        .route("/metrics", get(metrics))
}

async fn history(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    if let Err(refused) = admit(&server, &headers) {
        return refused.into_response();
    }
    match &server.pipeline.context.sinks.events {
        Some(events) => page("application/json", events.history()),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn metrics(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    if let Err(refused) = admit(&server, &headers) {
        return refused.into_response();
    }
    let sinks = &server.pipeline.context.sinks;
    page("text/plain; version=0.0.4; charset=utf-8", sinks.metrics.page(&sinks.losses()))
}

fn page(content_type: &'static str, body: String) -> Response {
    ([(CONTENT_TYPE, content_type)], body).into_response()
}

async fn events(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if let Err(refused) = admit(&server, &headers) {
        return refused.into_response();
    }
    let events = &server.pipeline.context.sinks.events;
    match events.as_ref().and_then(Events::listen) {
        Some(events) => upgrade.on_upgrade(move |socket| send(socket, events)),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// One event a text frame, until either side has enough.
async fn send(mut socket: WebSocket, mut events: Receiver<Arc<str>>) {
    loop {
        let text = tokio::select! {
            event = events.recv() => match event {
                Ok(event) => event.to_string(),
                Err(RecvError::Lagged(missed)) => {
                    format!("{{\"type\":\"events_missed\",\"events\":{missed}}}")
                }
                Err(RecvError::Closed) => break,
            },
            // Nothing is expected from a listener but its end.
            said = socket.recv() => match said {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
        };
        if socket.send(Message::Text(text.into())).await.is_err() {
            return;
        }
    }
    let _ = socket.send(Message::Close(None)).await;
}
