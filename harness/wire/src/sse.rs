//! Server-Sent Events, read from raw bytes.
//!
//! [`Parser`] follows the event stream rules of the WHATWG HTML standard and keeps what ordinary
//! readers throw away: where each event lies in the stream, when it was complete, which rules the
//! stream broke, and what an event held that the stream cut off. It does no I/O, gives the same
//! answer however the bytes are split into chunks, and holds no more than its [`Limits`] allow.
//!
//! ```
//! use std::time::Duration;
//! use birdstrike_wire::sse::{Kind, Limits, Parser};
//!
//! let mut parser = Parser::new(Limits::default());
//! parser.push(b"id: 1\ndata:\n\nda", Duration::ZERO)?;
//! parser.push(b"ta: {}\n\ndata: {", Duration::from_millis(7))?;
//!
//! assert_eq!(parser.pop().map(|event| event.kind()), Some(Kind::Priming));
//! let message = parser.pop().unwrap_or_default();
//! assert_eq!((message.kind(), &message.data[..]), (Kind::Message, &b"{}"[..]));
//! assert_eq!(message.at, Duration::from_millis(7));
//!
//! let ended = parser.finish(Duration::from_millis(9));
//! assert!(ended.events[0].unfinished);
//! assert_eq!(ended.report.last_event_id, "1");
//! # Ok::<(), birdstrike_wire::sse::Exceeded>(())
//! ```

mod block;
mod parser;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

pub use parser::Parser;

/// Rule breaks beyond this number are counted and not kept.
pub const KEPT_BREAKS: usize = 64;
/// Comments beyond this number are counted and not kept.
pub const KEPT_COMMENTS: usize = 8;
/// Bytes that are kept of one comment.
pub const KEPT_COMMENT_BYTES: usize = 200;

/// How much a [`Parser`] takes before it keeps no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one event: its data so far plus the line being read. Comments do not count.
    pub event: usize,
    /// Bytes of the whole stream; what comes after is not read.
    pub stream: u64,
}

impl Default for Limits {
    /// 16 MiB an event, no end to the stream: a deadline ends an endless one.
    fn default() -> Self {
        Self { event: 16 << 20, stream: u64::MAX }
    }
}

/// A limit that the stream went over. The parser stays usable: after an event that is too large the
/// next ones are read as ever, after a stream that is too long nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    /// One event is larger than [`Limits::event`].
    #[error("the event at byte {offset} of the stream is larger than {limit} bytes")]
    Event {
        /// Where the event begins, in bytes from the start of the stream.
        offset: u64,
        /// The limit in bytes.
        limit: usize,
    },
    /// The stream is longer than [`Limits::stream`].
    #[error("the stream is longer than {limit} bytes")]
    Stream {
        /// The limit in bytes.
        limit: u64,
    },
}

impl Exceeded {
    /// Whether nothing of the stream is read any more.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Stream { .. })
    }
}

/// One event: the lines up to a blank line, at least one of which is `data`, `event`, `id` or
/// `retry`. Blocks of comments and unknown fields are no events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Where it lies in the stream, in bytes: from its first line that is no comment to the end of
    /// the blank line. Where that ends in CRLF, the LF is left out: the event is complete, and is
    /// dispatched, at the CR.
    pub span: Range<u64>,
    /// When its last byte came, counted as the caller of [`Parser::push`] counts.
    pub at: Duration,
    /// The `event` field; `None` when it is absent or empty. See [`Event::event_type`].
    pub event: Option<String>,
    /// The values of its `data` lines joined by LF: bytes, as no rule makes them UTF-8 here.
    pub data: Vec<u8>,
    /// How many bytes of data were sent. Larger than `data` only if the event is `too_large`.
    pub data_len: u64,
    /// How many `data` lines it has. With none, the standard dispatches nothing.
    pub data_lines: u64,
    /// The `id` field of this very event; empty resets the last event id.
    pub id: Option<String>,
    /// The last event id after this event: its own, or the one carried over from those before.
    pub last_event_id: String,
    /// The `retry` field in milliseconds (R-HTTP-09).
    pub retry: Option<u64>,
    /// The stream ended before its blank line: by the standard the event never was. It is kept as
    /// evidence of what was lost, and it did not change the last event id.
    pub unfinished: bool,
    /// It went over [`Limits::event`] and is not kept whole.
    pub too_large: bool,
}

/// What an event is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It carries data: in MCP a JSON-RPC message.
    Message,
    /// It carries an id and no data: a server of 2025-11-25 sends it first, so that a client can
    /// resume a stream that breaks before its first message.
    Priming,
    /// It carries neither data nor id, only a type, a retry time or an empty `data` line.
    Empty,
}

impl Event {
    /// What the event is good for.
    pub fn kind(&self) -> Kind {
        match (self.data_len, &self.id) {
            (1.., _) => Kind::Message,
            (0, Some(_)) => Kind::Priming,
            (0, None) => Kind::Empty,
        }
    }

    /// The event's type: `message` unless it says otherwise.
    pub fn event_type(&self) -> &str {
        self.event.as_deref().unwrap_or("message")
    }

    /// Whether a reader that follows the standard hands this event to its application.
    pub fn is_dispatched(&self) -> bool {
        self.data_lines > 0 && !self.unfinished
    }
}

/// A place where the stream broke a rule, or did what few readers are tested with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleBreak {
    /// Where, in bytes from the start of the stream.
    pub offset: u64,
    /// What.
    pub kind: BreakKind,
}

impl fmt::Display for RuleBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {} of the stream)", self.kind, self.offset)
    }
}

/// What a [`RuleBreak`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum BreakKind {
    /// Offset of the line.
    #[error("a line inside the stream begins with a byte order mark, which hides its field")]
    BomInside,
    /// Offset of the NUL.
    #[error("an id holds a NUL, so that the id is ignored")]
    NulInId,
    /// Offset of the line. Allowed by the standard, and ignored by every reader.
    #[error("a line has an unknown field name and is ignored")]
    UnknownField,
    /// Offset of the value.
    #[error("a retry time is not a row of digits and is ignored")]
    InvalidRetry,
    /// Offset of the first bad byte of a line.
    #[error("the value of a field is not UTF-8")]
    InvalidUtf8,
    /// Offset of the CR. Allowed by the standard; noted once a stream.
    #[error("a line ends in CR alone")]
    BareCr,
    /// Offset of the block.
    #[error("the stream ends inside an event, whose data are lost")]
    Unfinished,
    /// Offset of the event.
    #[error("an event is larger than the reader's limit")]
    EventTooLarge,
    /// Offset of the first byte that was not read.
    #[error("the stream is longer than the reader's limit")]
    StreamTooLong,
}

/// How the lines of a stream end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineEnds {
    /// Lines that end in LF alone.
    pub lf: u64,
    /// Lines that end in CR and LF.
    pub crlf: u64,
    /// Lines that end in CR alone.
    pub cr: u64,
}

/// The comments of a stream: keep-alives, mostly. Clients ignore them (wire facts, section 2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comments {
    /// How many there were.
    pub count: u64,
    /// Their bytes, without the colon and the line end.
    pub bytes: u64,
    /// The first [`KEPT_COMMENTS`], each cut to [`KEPT_COMMENT_BYTES`].
    pub kept: Vec<Vec<u8>>,
}

/// What is known of the stream as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Bytes that were read, up to [`Limits::stream`].
    pub len: u64,
    /// Whether the stream began with a byte order mark, which is skipped.
    pub bom: bool,
    /// What a client sends as `Last-Event-ID` to resume; empty for nothing.
    pub last_event_id: String,
    /// The reconnection time in milliseconds that was asked for last (R-HTTP-09).
    pub retry: Option<u64>,
    /// How the lines ended.
    pub line_ends: LineEnds,
    /// The comments.
    pub comments: Comments,
    /// The first [`KEPT_BREAKS`] rule breaks, in the order in which they were noticed.
    pub breaks: Vec<RuleBreak>,
    /// All rule breaks, kept or not.
    pub breaks_seen: u64,
}

impl Report {
    /// The kept rule breaks that lie in a span of the stream, such as an event's.
    pub fn breaks_in(&self, span: &Range<u64>) -> impl Iterator<Item = RuleBreak> {
        let breaks = self.breaks.iter().copied();
        breaks.filter(move |found| span.contains(&found.offset))
    }

    fn note(&mut self, offset: u64, kind: BreakKind) {
        self.breaks_seen += 1;
        if self.breaks.len() < KEPT_BREAKS {
            self.breaks.push(RuleBreak { offset, kind });
        }
    }

    fn count_comment(&mut self, text: &[u8], len: u64) {
        let comments = &mut self.comments;
        comments.count += 1;
        comments.bytes += len;
        if comments.kept.len() < KEPT_COMMENTS {
            let keep = text.len().min(KEPT_COMMENT_BYTES);
            comments.kept.push(text[..keep].to_vec());
        }
    }
}

/// A stream that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The events that nobody had popped; if the stream ended inside an event, that one is the last
    /// and marked as unfinished.
    pub events: Vec<Event>,
    /// What is known of the stream as a whole.
    pub report: Report,
}
