//! How an answer is written: as one JSON object, or as an event stream when something comes before it
//! (R-HTTP-05).

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use tokio::sync::mpsc;

use crate::routes::Reply;
use crate::surfaces::transport::Steps;

/// An answer under way. `None` for a request that was cancelled: nothing more is said (R-CANC-02).
pub(super) type Work = Pin<Box<dyn Future<Output = Option<Reply>> + Send>>;

/// Waits for the answer or for the first message before it, whichever is first. Dropping the response
/// drops the work.
pub(super) async fn respond(
    mut work: Work,
    mut messages: mpsc::Receiver<String>,
    steps: Steps,
) -> Response {
    let (first, reply) = tokio::select! {
        biased;
        Some(first) = messages.recv(), if steps.answer_last => (Some(first), None),
        reply = &mut work => {
            let first = if steps.answer_last { messages.try_recv().ok() } else { None };
            (first, Some(reply))
        }
    };
    let nothing_waits = first.is_none() && messages.is_empty();
    if let Some(Some(reply)) = reply.clone().filter(|_| nothing_waits) {
        return json(reply);
    }
    let (state, work) = match reply {
        Some(reply) => (State::Answered(reply), None),
        None => (State::Working, Some(work)),
    };
    talk(Talk { waiting: first.into_iter().collect(), messages, work, state, steps })
}

/// An event stream from the start, for an answer that is far away.
pub(super) fn begun(work: Work, messages: mpsc::Receiver<String>, steps: Steps) -> Response {
    let waiting = VecDeque::new();
    talk(Talk { waiting, messages, work: Some(work), state: State::Working, steps })
}

fn talk(talk: Talk) -> Response {
    let chunks = stream::unfold(talk, |mut talk| async move {
        let message = talk.next().await?;
        Some((Ok::<_, Infallible>((talk.steps.event)(&message)), talk))
    });
    events(Body::from_stream(chunks))
}

/// A whole answer at once.
pub(super) fn json(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], reply.body).into_response()
}

/// A stream of messages that belong to no request; it ends with `until`.
pub(super) fn listen(
    messages: mpsc::Receiver<String>,
    until: impl Future<Output = ()> + Send + 'static,
    steps: Steps,
) -> Response {
    // Headers go out with the first bytes, and the client wants to know that it is heard.
    let open = stream::once(async { Ok::<_, Infallible>(": open\n\n".to_owned()) });
    let until = Box::pin(until);
    let chunks = stream::unfold((messages, until), move |(mut messages, mut until)| async move {
        tokio::select! {
            message = messages.recv() => {
                Some((Ok((steps.event)(&message?)), (messages, until)))
            }
            () = &mut until => None,
        }
    });
    events(Body::from_stream(futures_util::StreamExt::chain(open, chunks)))
}

fn events(body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        // Proxies must not hold it back (R-HTTP-26).
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, body).into_response()
}

/// The messages of one event stream: first what comes before the answer, then the answer.
struct Talk {
    waiting: VecDeque<String>,
    messages: mpsc::Receiver<String>,
    work: Option<Work>,
    state: State,
    steps: Steps,
}

enum State {
    Working,
    Answered(Option<Reply>),
    Over,
}

impl Talk {
    async fn next(&mut self) -> Option<String> {
        if let Some(message) = self.waiting.pop_front() {
            return Some(message);
        }
        if let (State::Working, Some(work)) = (&self.state, &mut self.work) {
            tokio::select! {
                biased;
                Some(message) = self.messages.recv(), if self.steps.answer_last => {
                    return Some(message);
                }
                reply = work => self.state = State::Answered(reply),
            }
        }
        if let State::Over = self.state {
            return None;
        }
        // What was said before the answer may still wait.
        if self.steps.answer_last
            && let Ok(message) = self.messages.try_recv()
        {
            return Some(message);
        }
        match std::mem::replace(&mut self.state, State::Over) {
            State::Answered(reply) => {
                if !self.steps.answer_last {
                    self.waiting.extend(std::iter::from_fn(|| self.messages.try_recv().ok()));
                }
                Some(reply?.body)
            }
            _ => None,
        }
    }
}
