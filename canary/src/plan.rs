//! What a call is answered with, and how the answer is brought over.
//!
//! A [`Plan`] is made for a nonce before the call is fired. Its [`Answer`] is what is said, its
//! [`Delivery`] how it travels: the same answer can come as JSON or as a stream, at once or in
//! drops, whole or cut.

use std::time::Duration;

use birdstrike_wire::Revision;
use birdstrike_wire::json;
use birdstrike_wire::shape::Rendered;

use crate::tasks::TaskPlan;

/// Stands for the raw id of the request that is being answered, quotes included.
pub const ID: &str = "«id»";

/// Stands for the raw progress token of the request, in what a [`Delivery`] says beside the answer.
pub const TOKEN: &str = "«token»";

/// Stands for the filling in the body of an [`Oversized`] answer.
pub const FILL: &str = "«fill»";

/// The largest message that a canary generates, in bytes (8 GiB).
pub const LARGEST: u64 = 8 << 30;

/// An answer and its delivery, made for one nonce. It serves every call that carries the nonce
/// until it is forgotten or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is answered.
    pub answer: Answer,
    /// How it travels.
    pub delivery: Delivery,
}

impl Plan {
    /// An answer as JSON, whole and at once.
    pub fn new(answer: impl Into<Answer>) -> Self {
        Self { answer: answer.into(), delivery: Delivery::default() }
    }

    /// The same answer with another delivery.
    #[must_use]
    pub fn by(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }
}

/// What a call is answered with. Nothing is added to it: at 2026-07-28 too it goes out exactly as
/// it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A raw result or error object, put into an envelope with the request's own raw id.
    Rendered {
        /// The member of the envelope that carries it: `result` or `error`.
        member: &'static str,
        /// The raw object.
        body: String,
    },
    /// A whole JSON-RPC message, in which every [`ID`] is replaced by the request's raw id: a wrong
    /// id, two answers, an odd envelope.
    Message(String),
    /// The HTTP body, or what is written to stdio before a newline, as it is; [`ID`] is replaced
    /// here too. Half a JSON, invalid UTF-8, a raw event stream.
    Bytes(Vec<u8>),
    /// A message of an exact length, generated while it is sent.
    Oversized(Oversized),
    /// The handle of a task, which then leads the life that was planned.
    Task(Box<TaskPlan>),
    /// What the tool's family makes of the arguments.
    Builtin,
}

impl From<Rendered> for Answer {
    fn from(rendered: Rendered) -> Self {
        Self::Rendered { member: rendered.member, body: rendered.body }
    }
}

impl From<TaskPlan> for Answer {
    fn from(plan: TaskPlan) -> Self {
        Self::Task(Box::new(plan))
    }
}

/// A message of exactly [`Oversized::total`] bytes, which nobody ever holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oversized {
    /// Length of the whole JSON-RPC message in bytes, without any framing around it; at most
    /// [`LARGEST`].
    pub total: u64,
    /// The member of the envelope that carries the body: `result` or `error`.
    pub member: &'static str,
    /// The raw result or error object, with [`FILL`] once, where the filling goes: inside any of
    /// its strings.
    pub body: String,
}

impl Oversized {
    /// One text block of `head`, filling, `tail`: a marker at either end tells a cut copy from a
    /// whole one. At 2026-07-28 the result says that it is complete.
    pub fn text(total: u64, revision: Revision, head: &str, tail: &str) -> Self {
        let kind = if revision.has_result_type() { "\"resultType\":\"complete\"," } else { "" };
        let text = json::quote(&format!("{head}{FILL}{tail}"));
        Self {
            total,
            member: "result",
            body: format!("{{{kind}\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}"),
        }
    }
}

/// How an answer travels. On stdio only `delay`, `ending`, and what is said before and after the
/// answer mean something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// JSON or an event stream; [`Delivery::of`] sets the framing that goes with it.
    pub encoding: Encoding,
    /// Whether the length is announced. Gzip and endless streams are always chunked.
    pub framing: Framing,
    /// Content-coding gzip, if the client accepts it; otherwise the answer goes as it is, and the
    /// journal notes it.
    pub gzip: bool,
    /// The HTTP status; one that HTTP does not know becomes 500.
    pub status: u16,
    /// Headers that are set last, in place of the canary's own of the same name. Framing headers
    /// (`Content-Length`, `Transfer-Encoding`, `Connection`) are left out: see [`Ending`] for broken
    /// framing.
    pub headers: Vec<(String, String)>,
    /// How long the answer waits before its first byte.
    pub delay: Duration,
    /// How the answer ends, or does not.
    pub ending: Ending,
    /// What the event stream looks like.
    pub sse: SseStyle,
    /// Raw messages that are sent before the response: progress, logs, and in handshake revisions
    /// pings and other requests, which are left out at 2026-07-28 (R-HTTP-24). [`ID`] and [`TOKEN`]
    /// are replaced; what names a token is left out for a client that sent none (R-PROG-02). With
    /// [`Ending::NeverAnswer`] they are sent and the response is not. Only in an event stream and on
    /// stdio, and not if the answer is given as bytes.
    pub before: Vec<String>,
    /// Raw messages that are sent after the response, under the same rules: late progress, say.
    pub after: Vec<String>,
    /// The pause between any two of these messages and the response. None if the answer is packed.
    pub pause: Duration,
    /// Whether the response waits, in place of that pause, until the client has replied to all
    /// requests among `before`. Their ids have to be unique within the canary then.
    pub await_replies: bool,
    /// Whether the answer is sent although its request was cancelled, so that it comes too late. Only
    /// on stdio.
    pub heedless: bool,
    /// Lines for the standard error of the process that stands for the upstream, before the answer.
    /// Only on stdio over a [`bridge`](crate::bridge()).
    pub stderr: Vec<String>,
    /// Makes the event stream one that breaks and can be resumed with a GET, in handshake revisions.
    /// `before` and `after` are events of it, without pauses; it is never packed.
    pub resumable: Option<Resumable>,
}

/// An event stream that breaks and can be resumed (R-HTTP-10). Every event has an id; the first one
/// is empty, as 2025-11-25 primes a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumable {
    /// After how many events the connection is cut; with all of them, or more, it is cut behind the
    /// last. [`Ending::CutAfter`] cuts these further, at a byte.
    pub events: usize,
    /// How long after the request the rest is there: a GET that comes earlier waits.
    pub ready: Duration,
    /// Milliseconds that the client is asked to wait before it comes back (R-HTTP-09).
    pub retry: Option<u64>,
}

impl Default for Delivery {
    /// JSON with its length, status 200, whole and at once.
    fn default() -> Self {
        Self {
            encoding: Encoding::Json,
            framing: Framing::ContentLength,
            gzip: false,
            status: 200,
            headers: Vec::new(),
            delay: Duration::ZERO,
            ending: Ending::Whole,
            sse: SseStyle::default(),
            before: Vec::new(),
            after: Vec::new(),
            pause: Duration::ZERO,
            await_replies: false,
            heedless: false,
            stderr: Vec::new(),
            resumable: None,
        }
    }
}

impl Delivery {
    /// The usual delivery in this encoding: JSON with its length, or a chunked event stream.
    pub fn of(encoding: Encoding) -> Self {
        let framing = match encoding {
            Encoding::Json => Framing::ContentLength,
            Encoding::Sse => Framing::Chunked,
        };
        Self { encoding, framing, ..Self::default() }
    }

    /// Whether there is a time in which the answer can be cancelled.
    pub(crate) fn waits(&self) -> bool {
        let dwells = !matches!(self.ending, Ending::Whole | Ending::CutAfter(_));
        dwells || self.await_replies || !(self.delay.is_zero() && self.pause.is_zero())
    }
}

/// Whether an answer is one JSON object or an event stream (R-HTTP-05).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `application/json`.
    #[default]
    Json,
    /// `text/event-stream`.
    Sse,
}

/// Whether the length of an answer is announced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Framing {
    /// `Content-Length`.
    #[default]
    ContentLength,
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// How an answer ends. Only [`Ending::Whole`] and [`Ending::Drip`] make a complete one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// All of it is sent.
    #[default]
    Whole,
    /// The connection is closed before any header.
    CloseBeforeHeaders,
    /// The connection is closed after so many bytes of the body, as they are on the wire. With the
    /// length of the body or more, a chunked answer lacks only its last chunk.
    CutAfter(u64),
    /// Not a byte is sent until the client goes away or the canary stops.
    NeverAnswer,
    /// An event stream of comments, one each `every`, in which the answer never comes. On stdio the
    /// same as [`Ending::NeverAnswer`].
    EndlessComments {
        /// The pause between two comments; zero sends as fast as the client reads.
        every: Duration,
    },
    /// All of it is sent, `bytes` at a time, with a pause before each but the first.
    Drip {
        /// Bytes at a time, at least one; each is a chunk of its own if the body is chunked.
        bytes: usize,
        /// The pause; zero only splits.
        every: Duration,
    },
}

/// What an event stream looks like. All of it is legal (WHATWG HTML, section 9.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseStyle {
    /// What ends a line.
    pub line_end: LineEnd,
    /// A byte order mark before the first line.
    pub bom: bool,
    /// Into how many `data` lines the message is split, at commas and braces outside its strings;
    /// 0 and 1 leave it in one. Line breaks that the message has anyway always split it.
    pub data_lines: usize,
    /// An event with an id and empty data comes first, as 2025-11-25 primes a stream.
    pub priming: bool,
    /// A comment before the event.
    pub comment: Option<String>,
    /// Bytes in one chunk of the body; 0 leaves it to the canary. Ignored if the answer drips.
    pub chunk: usize,
}

/// The three line ends of an event stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineEnd {
    /// Line feed.
    #[default]
    Lf,
    /// Carriage return and line feed.
    CrLf,
    /// Carriage return alone.
    Cr,
}

impl LineEnd {
    /// The bytes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }
}
