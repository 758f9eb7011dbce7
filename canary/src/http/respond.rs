//! How a reply becomes a response.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE,
    TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use super::body::{AnswerBody, Broken, Then};
use super::service::Service;
use crate::dispatch::{Content, Reply};
use crate::emit::Emitter;
use crate::exchange::{Entry, MessageIs};
use crate::headers::Headers;
use crate::in_flight::Waiting;
use crate::notes::Note;
use crate::pieces::{Piece, Pieces, Text};
use crate::plan::{Delivery, Encoding, Ending, Framing};
use crate::sse;
use crate::stages::{self, Stage, Wait};

/// Sends the reply as its delivery says; an error closes the connection without an answer.
pub(crate) async fn respond(
    service: &Service,
    reply: Reply,
    own: HeaderMap,
    mut entry: Entry,
    waiting: Option<Waiting>,
) -> Result<Response<AnswerBody>, Broken> {
    let Reply { content, delivery, .. } = reply;
    let staged = delivery.encoding == Encoding::Sse && matches!(content, Content::Message(_));
    let leads = staged && !delivery.before.is_empty();
    tokio::select! {
        () = cancelled(waiting.as_ref()) => return Ok(nothing(service, own, entry)),
        over = wait(service, &delivery, leads) => over?,
    }
    let endless = matches!(delivery.ending, Ending::EndlessComments { .. });
    let has_body = endless || !matches!(content, Content::Nothing);
    let (content, then) = match content {
        Content::Announcements(messages) => (Content::Nothing, Then::Announcements(messages)),
        content => (content, Then::End),
    };
    let (mut stages, message) = match content {
        _ if endless => (VecDeque::new(), MessageIs::Unknown),
        Content::Message(text) if staged => (in_stages(text, &delivery), MessageIs::Inside),
        content => {
            let (pieces, message) = frame(content);
            (VecDeque::from([Stage { wait: Wait::Not, pieces }]), message)
        }
    };
    if delivery.gzip {
        // What is packed is one piece of work from its first byte to its last.
        stages = together(stages);
    }
    let status = StatusCode::from_u16(delivery.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = headers(&delivery, own, has_body);
    entry.begin(Some(status.as_u16()), Headers::from(&headers), message);
    let body = body(service, stages, then, &delivery, entry).cancelled_by(waiting);
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// What comes before the first byte, which may be the end of it.
async fn wait(service: &Service, delivery: &Delivery, leads: bool) -> Result<(), Broken> {
    let stopping = service.shared.stopping.cancelled();
    if delivery.ending == Ending::NeverAnswer && !leads {
        stopping.await;
        return Err(Broken::Stopping);
    }
    if !delivery.delay.is_zero() {
        tokio::select! {
            () = stopping => return Err(Broken::Stopping),
            () = tokio::time::sleep(delivery.delay) => {}
        }
    }
    match delivery.ending {
        Ending::CloseBeforeHeaders => Err(Broken::Planned),
        _ => Ok(()),
    }
}

/// Returns when the answer is cancelled.
async fn cancelled(waiting: Option<&Waiting>) {
    match waiting {
        Some(waiting) => waiting.token().cancelled().await,
        None => std::future::pending().await,
    }
}

/// What is sent for a request that was cancelled: a stream without a response (R-CANC-02).
fn nothing(service: &Service, own: HeaderMap, mut entry: Entry) -> Response<AnswerBody> {
    let headers = headers(&Delivery::of(Encoding::Sse), own, true);
    entry.begin(Some(200), Headers::from(&headers), MessageIs::Unknown);
    entry.finish(false);
    let emitter = Emitter::new(Pieces::default(), entry);
    let body = AnswerBody::new(emitter, Then::End, None, Arc::clone(&service.flushes));
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    response
}

/// A stream of everything that the delivery says, the response among it.
fn in_stages(text: Text, delivery: &Delivery) -> VecDeque<Stage> {
    let style = &delivery.sse;
    let side = |message: &str| sse::event(Text::from(message.to_owned()), style);
    let mut stages = VecDeque::from(stages::of(sse::event(text, style), delivery, side));
    if let Some(first) = stages.front_mut() {
        let mut opened = sse::opening(style);
        opened.append(std::mem::take(&mut first.pieces));
        first.pieces = opened;
    }
    stages
}

/// All stages in one, but for what is never sent.
fn together(stages: VecDeque<Stage>) -> VecDeque<Stage> {
    let mut one = Pieces::default();
    let sent = stages.into_iter().filter(|stage| stage.wait != Wait::Forever);
    sent.for_each(|stage| one.append(stage.pieces));
    VecDeque::from([Stage { wait: Wait::Not, pieces: one }])
}

/// The body of an answer, and where in it the JSON-RPC response stands.
fn frame(content: Content) -> (Pieces, MessageIs) {
    match content {
        Content::Nothing | Content::Announcements(_) => (Pieces::default(), MessageIs::Unknown),
        Content::Raw(bytes) => {
            let mut pieces = Pieces::default();
            pieces.push(Piece::Frame(bytes));
            (pieces, MessageIs::Unknown)
        }
        Content::Events(pieces) => (pieces, MessageIs::Inside),
        Content::Message(text) => (Pieces::of(text), MessageIs::Body),
    }
}

fn headers(delivery: &Delivery, own: HeaderMap, has_body: bool) -> HeaderMap {
    let mut headers = own;
    if has_body {
        let stream = delivery.encoding == Encoding::Sse
            || matches!(delivery.ending, Ending::EndlessComments { .. });
        let kind = if stream { "text/event-stream" } else { "application/json" };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if stream {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
        }
        if delivery.gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
    }
    if !delivery.headers.is_empty() {
        put_last(&delivery.headers, &mut headers);
    }
    headers
}

/// Keeps proxies from holding a stream back (R-HTTP-26).
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Sets the headers of a plan in place of those of the same name. What HTTP cannot say is left out.
fn put_last(planned: &[(String, String)], headers: &mut HeaderMap) {
    let planned: Vec<(HeaderName, HeaderValue)> = planned
        .iter()
        .filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)))
        .filter(|(name, _)| ![CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION].contains(name))
        .collect();
    for (name, _) in &planned {
        headers.remove(name);
    }
    headers.extend(planned);
}

fn body(
    service: &Service,
    mut stages: VecDeque<Stage>,
    mut then: Then,
    delivery: &Delivery,
    entry: Entry,
) -> AnswerBody {
    let announced = delivery.framing == Framing::ContentLength && !delivery.gzip;
    let first = stages.pop_front().map(|stage| stage.pieces).unwrap_or_default();
    let mut emitter = Emitter::new(first, entry).then(stages);
    if delivery.gzip && !emitter.is_done() {
        emitter = emitter.packed();
    }
    if delivery.encoding == Encoding::Sse {
        emitter = emitter.in_steps_of(delivery.sse.chunk);
    }
    let mut pause = Duration::ZERO;
    match delivery.ending {
        Ending::Whole | Ending::CloseBeforeHeaders | Ending::NeverAnswer => {}
        Ending::Drip { bytes, every } => {
            emitter = emitter.in_steps_of(bytes.max(1));
            pause = every;
        }
        Ending::CutAfter(bytes) => {
            let all = announced && emitter.len().is_some_and(|len| len <= bytes);
            if !all {
                emitter = emitter.cut_after(bytes);
                then = Then::Cut;
            }
        }
        Ending::EndlessComments { every } => then = Then::Comments(every),
    }
    if emitter.is_done() && matches!(then, Then::End) {
        emitter.entry().finish(true);
    }
    let announced = announced && !matches!(then, Then::Comments(_) | Then::Announcements(_));
    let length = if announced { emitter.len() } else { None };
    AnswerBody::new(emitter, then, length, Arc::clone(&service.flushes)).paced(pause)
}

/// Leaves the content-coding away if the client does not accept it, and notes that.
pub(crate) fn settle(delivery: &mut Delivery, request: &HeaderMap, notes: &mut Vec<Note>) {
    // What has no end is sent at once and not gathered for packing.
    delivery.gzip &= !matches!(delivery.ending, Ending::EndlessComments { .. });
    if delivery.gzip && !accepts_gzip(request) {
        delivery.gzip = false;
        let seen = "Accept-Encoding does not list gzip: the answer is not packed";
        notes.push(Note::new("RFC-9110-12.5.3", seen));
    }
}

fn accepts_gzip(request: &HeaderMap) -> bool {
    let values = request.get_all(ACCEPT_ENCODING).iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(
        |coding| {
            let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
            let zero = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
            matches!(name.trim(), "gzip" | "x-gzip" | "*") && !zero
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_headers_replace_the_canarys_own() {
        let planned = [
            ("Content-Type", "text/plain"),
            ("Set-Cookie", "a"),
            ("set-cookie", "b"),
            ("Content-Length", "1"),
            ("bad name", "x"),
        ];
        let delivery = Delivery {
            headers: planned.map(|(n, v)| (n.to_owned(), v.to_owned())).to_vec(),
            ..Delivery::default()
        };
        let headers = headers(&delivery, HeaderMap::new(), true);
        assert_eq!(headers[CONTENT_TYPE], "text/plain");
        assert_eq!(headers.get_all("set-cookie").iter().count(), 2);
        assert_eq!(headers.len(), 3);
    }

    #[test]
    fn gzip_is_sent_to_those_who_accept_it() {
        let accepts = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
            accepts_gzip(&headers)
        };
        assert!(accepts("gzip") && accepts("br, gzip;q=0.5") && accepts("*"));
        assert!(!accepts("br") && !accepts("gzip;q=0") && !accepts(""));
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
