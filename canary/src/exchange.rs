//! One request and its answer, as the journal keeps them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_wire::Revision;
use birdstrike_wire::capture::{Capture, Recorder};
use bytes::Bytes;

use crate::headers::Headers;
use crate::journal::Journal;
use crate::notes::Note;

/// How a message reached the canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Streamable HTTP.
    Http,
    /// One message a line, over a process's own streams or over the bridge.
    Stdio,
}

/// One request (or notification, or an HTTP request without a message) and what became of it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its number in the order in which requests were read; unique within a canary.
    pub seq: u64,
    /// The upstream that was asked; the path, if no upstream answers there.
    pub upstream: Arc<str>,
    /// How it came.
    pub transport: Transport,
    /// The revision that it was served in; none if it could not be told.
    pub revision: Option<Revision>,
    /// The JSON-RPC method; `GET` or `DELETE` for an HTTP request without a message; empty if the
    /// message has none that could be read.
    pub method: Cow<'static, str>,
    /// The argument `nonce` of a call or a prompt, that in the URI of a read or in the task id of a
    /// follow-up, which correlates it.
    pub nonce: Option<Arc<str>>,
    /// The URI of a `resources/read`.
    pub uri: Option<Arc<str>>,
    /// The headers of the request; none on stdio.
    pub request_headers: Headers,
    /// The body of the request, or the line without its end.
    pub request: Capture,
    /// When the whole request was there.
    pub received: Instant,
    /// The answer; none until it has ended, whole or not.
    pub answer: Option<Answered>,
    /// Which rules the request broke on this leg.
    pub notes: Vec<Note>,
}

/// An answer that has ended.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The HTTP status; none on stdio, and none if no header was sent.
    pub status: Option<u16>,
    /// The headers of the answer, but for those that frame it; none on stdio.
    pub headers: Headers,
    /// What went on the wire, before any content-coding and without transfer framing. On stdio with
    /// the end of the line. Of a gzip answer that was cut it holds what was coded until then.
    pub body: Capture,
    /// How many bytes of the body went on the wire, after content-coding.
    pub wire_bytes: u64,
    /// The JSON-RPC response alone, as a client reads it, from a stream too. None if there is none
    /// or if the answer was given as bytes.
    pub message: Option<Capture>,
    /// When the last byte was handed to the connection, or when the answer was given up.
    pub finished: Instant,
    /// Whether all of it was handed over. False after a planned cut, and when the client went away
    /// or the canary stopped first.
    pub complete: bool,
}

impl Exchange {
    /// The time from the request to the end of its answer; none while it is not answered.
    pub fn took(&self) -> Option<Duration> {
        let answer = self.answer.as_ref()?;
        Some(answer.finished.saturating_duration_since(self.received))
    }

    /// About how many bytes of memory it holds.
    pub(crate) fn held(&self) -> usize {
        let answer = self.answer.as_ref().map_or(0, Answered::held);
        let nonce = self.nonce.as_ref().map_or(0, |nonce| nonce.len());
        let uri = self.uri.as_ref().map_or(0, |uri| uri.len());
        let own = size_of::<Self>() + self.method.len() + nonce + uri;
        own + self.request_headers.held() + capture_held(&self.request) + answer
    }
}

impl Answered {
    pub(crate) fn held(&self) -> usize {
        let message = self.message.as_ref().map_or(0, capture_held);
        self.headers.held() + capture_held(&self.body) + message
    }
}

fn capture_held(capture: &Capture) -> usize {
    capture.kept().map(<[u8]>::len).sum()
}

/// The open end of an exchange: takes what is sent and writes the answer into the journal when it
/// is finished or, if the client goes away first, when it is dropped.
#[derive(Debug)]
pub(crate) struct Entry {
    journal: Arc<Journal>,
    seq: u64,
    nonce: Option<Arc<str>>,
    status: Option<u16>,
    headers: Headers,
    /// The first part of the body: often the only one, and then kept without a copy.
    first: Option<Bytes>,
    body: Recorder,
    /// Set apart from the body if the two differ.
    message: Option<Recorder>,
    message_is_body: bool,
    wire_bytes: u64,
    closed: bool,
}

/// Where the JSON-RPC response stands in the body of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageIs {
    /// There is none to tell apart.
    Unknown,
    /// The body is the response.
    Body,
    /// The body holds it among other bytes.
    Inside,
}

impl Entry {
    /// Puts the exchange into the journal.
    pub(crate) fn open(journal: &Arc<Journal>, exchange: Exchange) -> Self {
        let nonce = exchange.nonce.clone();
        Self {
            seq: journal.open(exchange),
            journal: Arc::clone(journal),
            nonce,
            status: None,
            headers: Headers::default(),
            first: None,
            body: Recorder::new(),
            message: None,
            message_is_body: false,
            wire_bytes: 0,
            closed: false,
        }
    }

    /// Where it is written.
    pub(crate) fn journal(&self) -> Arc<Journal> {
        Arc::clone(&self.journal)
    }

    /// Says what the answer begins with.
    pub(crate) fn begin(&mut self, status: Option<u16>, headers: Headers, message: MessageIs) {
        self.status = status;
        self.headers = headers;
        self.message_is_body = message == MessageIs::Body;
        self.message = (message == MessageIs::Inside).then(Recorder::new);
    }

    /// Records bytes of the body, and what of them belongs to the response.
    pub(crate) fn record(&mut self, body: &Bytes, message: &[u8]) {
        if let Some(recorder) = &mut self.message {
            recorder.push(message);
        }
        match self.first.take() {
            None if self.body.is_empty() => self.first = Some(body.clone()),
            None => self.body.push(body),
            Some(first) => {
                self.body.push(&first);
                self.body.push(body);
            }
        }
    }

    /// Records and counts bytes that go on the wire as they are, and belong to no response.
    pub(crate) fn add(&mut self, bytes: &Bytes) {
        self.record(bytes, b"");
        self.sent(bytes.len());
    }

    /// Counts bytes that go on the wire.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.wire_bytes += bytes as u64;
    }

    /// Writes the answer into the journal. Only the first time counts.
    pub(crate) fn finish(&mut self, complete: bool) {
        if self.closed {
            return;
        }
        self.closed = true;
        let end = |recorder: Recorder| if complete { recorder.finish() } else { recorder.cut() };
        let body = match self.first.take() {
            Some(all) if complete => Capture::of(all, complete),
            // Copied, as a part would keep all of the answer in memory.
            Some(part) => Capture::of(Bytes::copy_from_slice(&part), complete),
            None => end(std::mem::take(&mut self.body)),
        };
        let message = match self.message.take() {
            Some(recorder) => Some(end(recorder)),
            None => self.message_is_body.then(|| body.clone()),
        };
        let answered = Answered {
            status: self.status,
            headers: std::mem::take(&mut self.headers),
            body,
            wire_bytes: self.wire_bytes,
            message,
            finished: Instant::now(),
            complete,
        };
        self.journal.close(self.nonce.as_deref(), self.seq, answered);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.finish(false);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn exchange(nonce: Option<&str>, request: &'static [u8]) -> Exchange {
        Exchange {
            seq: 0,
            upstream: "main".into(),
            transport: Transport::Http,
            revision: None,
            method: "tools/call".into(),
            nonce: nonce.map(Into::into),
            uri: None,
            request_headers: Headers::default(),
            request: Capture::of(request, true),
            received: Instant::now(),
            answer: None,
            notes: Vec::new(),
        }
    }

    pub(crate) fn answered(body: &'static [u8], complete: bool) -> Answered {
        Answered {
            status: Some(200),
            headers: Headers::default(),
            body: Capture::of(body, complete),
            wire_bytes: body.len() as u64,
            message: None,
            finished: Instant::now(),
            complete,
        }
    }

    #[test]
    fn a_dropped_entry_leaves_what_was_sent_so_far() {
        let journal = Arc::new(Journal::new(1 << 20));
        let mut entry = Entry::open(&journal, exchange(Some("n"), b"{}"));
        entry.begin(Some(200), Headers::default(), MessageIs::Inside);
        entry.record(&Bytes::from_static(b"data: {"), b"{");
        entry.sent(7);
        drop(entry);
        let taken = journal.take("n");
        let answer = taken[0].answer.as_ref().unwrap();
        assert!(!answer.complete);
        assert_eq!(answer.body.whole(), Some(&b"data: {"[..]));
        assert_eq!(answer.message.as_ref().unwrap().whole(), Some(&b"{"[..]));
        assert_eq!(answer.wire_bytes, 7);
    }
}
