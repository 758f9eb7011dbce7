//! One POST, read under a deadline and a bound.

use std::time::{Duration, Instant};

use birdstrike_wire::capture::{KEEP_WHOLE, Recorder};
use birdstrike_wire::sse::{Kind, Limits, Parser};
use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

use super::beside::{Replier, Replies};
use super::transcript::{Ending, Transcript};

/// The most that is read of one answer, in bytes; beyond it the exchange is given up.
const MOST: u64 = 64 << 20;
/// What holding a message costs besides its bytes.
const MESSAGE_COST: usize = 64;
/// How long a stream may go on after the response before it is left alone (R-HTTP-07: it should
/// end by itself). Long enough to see a second answer, short enough to cost nothing.
const AFTER_RESPONSE: Duration = Duration::from_millis(50);

/// A client that touches nothing: no proxy, no redirects, no decoding.
///
/// # Errors
/// When the HTTP library cannot start.
pub fn client() -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .pool_idle_timeout(Duration::from_secs(30))
        .build()
}

/// Sends `body` and reads what comes, whatever it is.
pub async fn post(
    http: &reqwest::Client,
    url: &Url,
    headers: HeaderMap,
    body: String,
    id: Option<String>,
    deadline: Duration,
) -> Transcript {
    converse(http, url, headers, body, id, (deadline, &Replies::default())).await
}

/// As [`post`], with replies ready for what the server asks before its answer.
pub async fn converse(
    http: &reqwest::Client,
    url: &Url,
    headers: HeaderMap,
    body: String,
    id: Option<String>,
    (deadline, replies): (Duration, &Replies),
) -> Transcript {
    let started = Instant::now();
    let mut reading = Reading::new(body.clone(), id, started);
    let until = tokio::time::Instant::from_std(started + deadline);
    let replier = Replier { http, url, headers: &headers, replies };
    let sent = http.post(url.clone()).headers(headers.clone()).body(body).send();
    match tokio::time::timeout_at(until, sent).await {
        Err(_) => reading.end(Ending::Deadline),
        Ok(Err(error)) => reading.end(Ending::NoAnswer(words(&error))),
        Ok(Ok(response)) => read(&mut reading, response, until, &replier).await,
    }
    reading.finish()
}

async fn read(
    reading: &mut Reading,
    mut response: reqwest::Response,
    until: tokio::time::Instant,
    replier: &Replier<'_>,
) {
    reading.begin(&response);
    loop {
        let limit = reading.grace(until);
        match tokio::time::timeout_at(limit, response.chunk()).await {
            Err(_) => return reading.end(late(limit, until)),
            Ok(Err(error)) => return reading.end(Ending::Cut(words(&error))),
            Ok(Ok(None)) => return reading.end(Ending::Complete),
            Ok(Ok(Some(chunk))) => {
                let known = reading.transcript.messages.len();
                let fits = reading.push(&chunk);
                for message in reading.transcript.messages.iter().skip(known) {
                    replier.hear(message);
                }
                if !fits {
                    return reading.end(Ending::TooMuch);
                }
                // A server that always has more to send never lets the timer run out: the clock
                // is asked as well.
                if tokio::time::Instant::now() >= limit {
                    return reading.end(late(limit, until));
                }
            }
        }
    }
}

/// How an exchange ends whose time is over: one that has its response is complete, what keeps the
/// stream open is not waited for.
fn late(limit: tokio::time::Instant, until: tokio::time::Instant) -> Ending {
    if limit < until { Ending::Complete } else { Ending::Deadline }
}

/// The innermost cause of an HTTP error: the outer ones repeat the URL.
fn words(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// An answer while it comes.
struct Reading {
    transcript: Transcript,
    started: Instant,
    recorder: Recorder,
    events: Option<Parser>,
    answered: Option<Instant>,
    /// Memory that the messages of a stream take.
    held: usize,
}

impl Reading {
    fn new(request: String, id: Option<String>, started: Instant) -> Self {
        Self {
            transcript: Transcript {
                request,
                id,
                status: None,
                content_type: String::new(),
                session: None,
                body: Recorder::new().finish(),
                messages: Vec::new(),
                breaks: Vec::new(),
                ending: Ending::Complete,
                took: Duration::ZERO,
            },
            started,
            recorder: Recorder::new(),
            events: None,
            answered: None,
            held: 0,
        }
    }

    fn begin(&mut self, response: &reqwest::Response) {
        let header = |name: &str| response.headers().get(name).and_then(|v| v.to_str().ok());
        self.transcript.status = Some(response.status().as_u16());
        let content_type = header(CONTENT_TYPE.as_str()).unwrap_or_default();
        let bare = content_type.split(';').next().unwrap_or_default();
        self.transcript.content_type = bare.trim().to_ascii_lowercase();
        self.transcript.session = header("mcp-session-id").map(str::to_owned);
        if self.transcript.content_type == "text/event-stream" {
            let limits = Limits { event: KEEP_WHOLE, ..Limits::default() };
            self.events = Some(Parser::new(limits));
        }
    }

    /// Until when the next piece is waited for.
    fn grace(&self, until: tokio::time::Instant) -> tokio::time::Instant {
        match self.answered {
            Some(at) => until.min(tokio::time::Instant::from_std(at + AFTER_RESPONSE)),
            None => until,
        }
    }

    /// Takes a piece; `false` when more came than is held.
    fn push(&mut self, chunk: &Bytes) -> bool {
        self.recorder.push(chunk);
        if let Some(parser) = &mut self.events {
            let fits = parser.push(chunk, self.started.elapsed());
            for event in parser.drain().filter(|event| event.kind() == Kind::Message) {
                let answers = event.too_large
                    || birdstrike_wire::Envelope::read(&event.data)
                        .is_ok_and(|message| message.method().is_none());
                if answers {
                    self.answered.get_or_insert_with(Instant::now);
                }
                // What is too large to be held is judged by the capture of the whole body. A flood
                // of notifications must not crowd out the response.
                let room = if answers { 2 * KEEP_WHOLE } else { KEEP_WHOLE };
                let needed = event.data.len() + MESSAGE_COST;
                if !event.too_large && self.held + needed <= room {
                    self.held += needed;
                    self.transcript.messages.push(event.data);
                }
            }
            if fits.is_err_and(|exceeded| exceeded.is_final()) {
                return false;
            }
        }
        self.recorder.len() <= MOST
    }

    fn end(&mut self, ending: Ending) {
        self.transcript.ending = ending;
    }

    fn finish(mut self) -> Transcript {
        self.transcript.took = self.started.elapsed();
        let complete = self.transcript.ending == Ending::Complete;
        let recorder = self.recorder;
        self.transcript.body = if complete { recorder.finish() } else { recorder.cut() };
        if let Some(parser) = self.events {
            let report = parser.finish(self.transcript.took).report;
            let said = report.breaks.iter().map(ToString::to_string);
            self.transcript.breaks.extend(said);
        } else {
            let whole = self.transcript.body.whole().filter(|body| !body.is_empty());
            self.transcript.messages.extend(whole.map(<[u8]>::to_vec));
        }
        self.transcript
    }
}
