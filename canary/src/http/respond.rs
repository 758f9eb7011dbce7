//! How a reply becomes a response.

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
use crate::notes::Note;
use crate::pieces::{Piece, Pieces};
use crate::plan::{Delivery, Encoding, Ending, Framing};
use crate::sse;

/// Sends the reply as its delivery says; an error closes the connection without an answer.
pub(crate) async fn respond(
    service: &Service,
    reply: Reply,
    own: HeaderMap,
    mut entry: Entry,
) -> Result<Response<AnswerBody>, Broken> {
    let Reply { content, delivery, .. } = reply;
    wait(service, &delivery).await?;
    let endless = matches!(delivery.ending, Ending::EndlessComments { .. });
    let has_body = endless || !matches!(content, Content::Nothing);
    let (content, then) = match content {
        Content::Announcements(messages) => (Content::Nothing, Then::Announcements(messages)),
        content => (content, Then::End),
    };
    let (pieces, message) = match content {
        _ if endless => (Pieces::default(), MessageIs::Unknown),
        content => frame(content, &delivery),
    };
    let status = StatusCode::from_u16(delivery.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = headers(&delivery, own, has_body);
    entry.begin(Some(status.as_u16()), Headers::from(&headers), message);
    let body = body(service, pieces, then, &delivery, entry);
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// What comes before the first byte, which may be the end of it.
async fn wait(service: &Service, delivery: &Delivery) -> Result<(), Broken> {
    let stopping = service.shared.stopping.cancelled();
    if delivery.ending == Ending::NeverAnswer {
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

/// The body of an answer, and where in it the JSON-RPC response stands.
fn frame(content: Content, delivery: &Delivery) -> (Pieces, MessageIs) {
    match (content, delivery.encoding) {
        (Content::Nothing | Content::Announcements(_), _) => {
            (Pieces::default(), MessageIs::Unknown)
        }
        (Content::Raw(bytes), _) => {
            let mut pieces = Pieces::default();
            pieces.push(Piece::Frame(bytes));
            (pieces, MessageIs::Unknown)
        }
        (Content::Message(text), Encoding::Json) => (Pieces::of(text), MessageIs::Body),
        (Content::Message(text), Encoding::Sse) => {
            (sse::frame(text, &delivery.sse), MessageIs::Inside)
        }
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
    pieces: Pieces,
    mut then: Then,
    delivery: &Delivery,
    entry: Entry,
) -> AnswerBody {
    let announced = delivery.framing == Framing::ContentLength && !delivery.gzip;
    let mut emitter = Emitter::new(pieces, entry);
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
