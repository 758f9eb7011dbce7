//! The state machine: bytes into lines, lines into blocks, blocks into events.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use memchr::memchr2;

use super::block::{BOM, Block, Field};
use super::{BreakKind, Ended, Event, Exceeded, KEPT_COMMENT_BYTES, Limits, Report};

const CR: u8 = b'\r';
const LF: u8 = b'\n';

/// Kept of any line, whatever the limit, so that its field can be told.
const LINE_FLOOR: usize = 16;

/// An incremental reader of one event stream. See the [module](super) for an example.
///
/// Besides the events that nobody has popped it holds the event being built and the line being
/// read, each of which may be [`Limits::event`] long.
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
    /// How much of a leading byte order mark was seen; `None` once that is decided.
    mark: Option<usize>,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    line: Line,
    block: Block,
    events: VecDeque<Event>,
    exceeded: Option<Exceeded>,
    report: Report,
}

/// The line being read.
#[derive(Debug, Default)]
struct Line {
    /// Where it begins in the stream.
    start: u64,
    /// Its first bytes: all of them, unless it goes over a limit.
    kept: Vec<u8>,
    /// Its length so far.
    len: u64,
}

impl Parser {
    /// A reader at the start of a stream.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            mark: Some(0),
            after_cr: false,
            line: Line::default(),
            block: Block::default(),
            events: VecDeque::new(),
            exceeded: None,
            report: Report::default(),
        }
    }

    /// Reads the next bytes of the stream. `at` is the time when they came, best counted from the
    /// stream's start; it becomes the time of the events that they complete.
    ///
    /// # Errors
    /// [`Exceeded`] when not all of these bytes could be kept. The caller may stop here, or go on:
    /// see [`Exceeded`] for what is still read. Events that were complete can be popped either way.
    pub fn push(&mut self, chunk: &[u8], at: Duration) -> Result<(), Exceeded> {
        let room = self.limits.stream.saturating_sub(self.report.len);
        let taken = usize::try_from(room).map_or(chunk.len(), |room| room.min(chunk.len()));
        if !self.block.event.too_large {
            // That event is over; a stream that is too long stays so.
            self.exceeded = self.exceeded.filter(Exceeded::is_final);
        }
        self.read(&chunk[..taken], at);
        if taken < chunk.len() {
            self.stop();
        }
        self.exceeded.map_or(Ok(()), Err)
    }

    /// Takes the oldest event that nobody has taken yet.
    pub fn pop(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Takes all events that nobody has taken yet, oldest first.
    pub fn drain(&mut self) -> impl Iterator<Item = Event> {
        self.events.drain(..)
    }

    /// Bytes of data so far of the event that is not complete yet, the line being read included. It
    /// costs nothing, and lets a caller refuse an answer before it is all there.
    pub fn pending_data_len(&self) -> u64 {
        let event = &self.block.event;
        if !self.line.kept.starts_with(b"data:") {
            return event.data_len;
        }
        let value = Field::new(self.line.start, &self.line.kept, self.line.len).value_len;
        event.data_len + value + u64::from(event.data_lines > 0)
    }

    /// What is known of the stream so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Ends the stream at the time `at`. A block without its blank line becomes an unfinished
    /// event; a line without its end counts only if it is `data`, as any other would mislead.
    pub fn finish(mut self, at: Duration) -> Ended {
        if self.after_cr {
            self.bare_cr();
        }
        self.settle_mark();
        let kept = mem::take(&mut self.line.kept);
        match kept.first() {
            None => {}
            Some(b':') => self.report.count_comment(&kept[1..], self.line.len - 1),
            Some(_) => {
                self.block.start.get_or_insert(self.line.start);
                if kept.starts_with(b"data:") {
                    let field = Field::new(self.line.start, &kept, self.line.len).without_end();
                    self.block.take(field, self.limits.event, &mut self.report);
                }
            }
        }
        if let Some(start) = self.block.start {
            self.report.note(start, BreakKind::Unfinished);
            self.end_block(at, true);
        }
        Ended { events: self.events.into(), report: self.report }
    }

    /// Nothing is read from here on.
    fn stop(&mut self) {
        let limit = self.limits.stream;
        if !self.exceeded.as_ref().is_some_and(Exceeded::is_final) {
            self.report.note(limit, BreakKind::StreamTooLong);
        }
        self.exceeded = Some(Exceeded::Stream { limit });
    }

    /// Cuts bytes into lines.
    fn read(&mut self, bytes: &[u8], at: Duration) {
        let mut rest = self.skip_mark(bytes);
        while let Some(first) = rest.first() {
            if mem::take(&mut self.after_cr) {
                if *first == LF {
                    self.report.line_ends.crlf += 1;
                    self.report.len += 1;
                    self.line.start = self.report.len;
                    rest = &rest[1..];
                    continue;
                }
                self.bare_cr();
            }
            let Some(end) = memchr2(CR, LF, rest) else {
                self.report.len += rest.len() as u64;
                self.grow_line(rest);
                return;
            };
            self.report.len += end as u64 + 1;
            self.end_line(&rest[..end], at);
            self.after_cr = rest[end] == CR;
            self.report.line_ends.lf += u64::from(!self.after_cr);
            rest = &rest[end + 1..];
        }
    }

    /// Takes a byte order mark off the start of the stream, also when it comes in pieces.
    fn skip_mark<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let mut rest = bytes;
        while let (Some(seen), Some(byte)) = (self.mark, rest.first()) {
            if BOM.get(seen) != Some(byte) {
                self.settle_mark();
                break;
            }
            rest = &rest[1..];
            self.report.len += 1;
            self.mark = Some(seen + 1);
            if seen + 1 == BOM.len() {
                self.mark = None;
                self.report.bom = true;
                self.line.start = self.report.len;
            }
        }
        rest
    }

    /// What looked like a byte order mark is none: it belongs to the first line.
    fn settle_mark(&mut self) {
        if let Some(seen) = self.mark.take() {
            self.grow_line(&BOM[..seen]);
        }
    }

    /// The CR before the next byte, or before the end of the stream, has no LF.
    fn bare_cr(&mut self) {
        if self.report.line_ends.cr == 0 {
            self.report.note(self.report.len - 1, BreakKind::BareCr);
        }
        self.report.line_ends.cr += 1;
    }

    /// More of a line whose end is not here yet.
    fn grow_line(&mut self, bytes: &[u8]) {
        self.line.len += bytes.len() as u64;
        let first = self.line.kept.first().or(bytes.first());
        let room = if first == Some(&b':') {
            KEPT_COMMENT_BYTES + 1
        } else {
            self.weigh(self.line.len);
            self.line_room()
        };
        let more = room.saturating_sub(self.line.kept.len()).min(bytes.len());
        self.line.kept.extend_from_slice(&bytes[..more]);
    }

    /// A line ends; `tail` is what it has beyond the bytes already kept.
    fn end_line(&mut self, tail: &[u8], at: Duration) {
        if self.line.len == 0 {
            // The usual case, a line in one piece, needs no copy.
            self.take_line(tail, tail.len() as u64, at);
        } else {
            self.grow_line(tail);
            let mut kept = mem::take(&mut self.line.kept);
            self.take_line(&kept, self.line.len, at);
            kept.clear();
            kept.shrink_to(1 << 16);
            self.line.kept = kept;
        }
        self.line.len = 0;
        self.line.start = self.report.len;
    }

    /// Adds a line of `len` bytes to the block, or ends the block if the line is blank.
    fn take_line(&mut self, line: &[u8], len: u64, at: Duration) {
        match line.first() {
            None => self.end_block(at, false),
            Some(b':') => self.report.count_comment(&line[1..], len - 1),
            Some(_) => {
                self.weigh(len);
                let kept = line.len().min(self.line_room());
                let field = Field::new(self.line.start, &line[..kept], len);
                self.block.start.get_or_insert(self.line.start);
                self.block.take(field, self.limits.event, &mut self.report);
            }
        }
    }

    fn end_block(&mut self, at: Duration, unfinished: bool) {
        let end = self.report.len;
        let event = self.block.end(end, at, unfinished, &mut self.report);
        self.events.extend(event);
    }

    /// How many bytes of the line being read may be kept.
    fn line_room(&self) -> usize {
        let room = self.limits.event.saturating_sub(self.block.event.data.len());
        room.max(LINE_FLOOR)
    }

    /// Notices when a line of this length makes the event too large.
    fn weigh(&mut self, line_len: u64) {
        let limit = self.limits.event;
        let event = &mut self.block.event;
        if event.too_large || event.data.len() as u64 + line_len <= limit as u64 {
            return;
        }
        event.too_large = true;
        let offset = self.block.start.unwrap_or(self.line.start);
        self.exceeded = Some(Exceeded::Event { offset, limit });
        self.report.note(offset, BreakKind::EventTooLarge);
    }
}
