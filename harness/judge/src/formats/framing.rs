//! Cutting what a sink received into records.

use std::ops::Range;

use memchr::memchr;
use serde::{Deserialize, Serialize};

use super::{Break, BreakKind, MAX_RECORDS};

/// How records are told apart in what a sink received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// All of it is one record: a UDP datagram.
    Datagram,
    /// A record a line, ended by LF or CR LF: a file, or TCP without syslog headers.
    Lines,
    /// Syslog over TCP: octet counting or line ends, whichever the first byte tells (RFC 6587,
    /// section 3.4).
    Stream,
}

/// One record's place in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Where its content stands, in bytes: neither count nor line end is included.
    pub span: Range<usize>,
    /// Whether an octet count told its end (RFC 6587, section 3.4.1); a line end or the end of the
    /// input did otherwise.
    pub counted: bool,
    /// What is wrong with its framing. A frame with [`BreakKind::BlankLine`] or
    /// [`BreakKind::TooMany`] holds no record.
    pub breaks: Vec<Break>,
}

impl Frame {
    fn new(span: Range<usize>, counted: bool) -> Self {
        Self { span, counted, breaks: Vec::new() }
    }

    fn note(&mut self, offset: usize, kind: BreakKind, words: &str) {
        self.breaks.push(Break { offset, kind, words: words.to_owned() });
    }
}

/// Cuts an input by any framing.
pub fn cut(framing: Framing, input: &[u8]) -> Vec<Frame> {
    match framing {
        Framing::Datagram => vec![Frame::new(0..input.len(), false)],
        Framing::Lines => lines(input),
        Framing::Stream => frames(input),
    }
}

/// Cuts an input into lines. A run of lines without content is one frame. After [`MAX_RECORDS`]
/// frames the rest is one more.
pub fn lines(input: &[u8]) -> Vec<Frame> {
    gather(input, |at| line(input, at))
}

/// Cuts a TCP stream of syslog messages (RFC 6587, section 3.4). A stream that begins with a digit
/// is read by its counts; where a count is missing or wrong, that is noted and reading goes on
/// behind the next line feed. Any other stream is read by line feeds, and a line that begins with no
/// priority is noted as the rest of the line before it. After [`MAX_RECORDS`] frames the rest is one
/// more.
///
/// A line feed that was not escaped and is followed by a well-formed message cannot be told from an
/// honest line end; that takes [`forged`](super::forged()).
pub fn frames(input: &[u8]) -> Vec<Frame> {
    if input.first().is_some_and(u8::is_ascii_digit) {
        return gather(input, |at| counted(input, at));
    }
    gather(input, |at| {
        let (mut frame, next) = line(input, at);
        let content = &input[frame.span.clone()];
        if frame.span.start > 0 && content.first() != Some(&b'<') && !is_blank(content) {
            let words = "no priority begins the line; the message before held a line feed";
            frame.note(at, BreakKind::SplitRecord, words);
        }
        (frame, next)
    })
}

/// Collects frames until the input or the patience ends.
fn gather(input: &[u8], mut next: impl FnMut(usize) -> (Frame, usize)) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut at = 0;
    while at < input.len() {
        if frames.len() == MAX_RECORDS {
            let mut rest = Frame::new(at..input.len(), false);
            rest.note(at, BreakKind::TooMany, "more records than are read");
            frames.push(rest);
            break;
        }
        let (frame, end) = next(at);
        frames.push(frame);
        // Every step takes at least one byte.
        at = end.max(at + 1);
    }
    frames
}

/// The line at an offset and where the next one begins.
fn line(input: &[u8], start: usize) -> (Frame, usize) {
    let (mut content, mut next) = bounds(input, start);
    if is_blank(&input[content.clone()]) {
        while next < input.len() {
            let (ahead, after) = bounds(input, next);
            if !is_blank(&input[ahead.clone()]) {
                break;
            }
            content.end = ahead.end;
            next = after;
        }
        let mut frame = Frame::new(content, false);
        frame.note(start, BreakKind::BlankLine, "a line without content");
        return (frame, next);
    }
    let mut frame = Frame::new(content, false);
    if !input[..next].ends_with(b"\n") {
        frame.note(next, BreakKind::Unended, "no line feed ends the last line");
    }
    (frame, next)
}

/// A line's content, and where the next line begins.
fn bounds(input: &[u8], start: usize) -> (Range<usize>, usize) {
    let Some(found) = memchr(b'\n', &input[start..]) else {
        return (start..input.len(), input.len());
    };
    let feed = start + found;
    let end = if found > 0 && input[feed - 1] == b'\r' { feed - 1 } else { feed };
    (start..end, feed + 1)
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// The frame at an offset of a stream with octet counts: MSG-LEN, a space, as many octets.
fn counted(input: &[u8], start: usize) -> (Frame, usize) {
    let rest = &input[start..];
    let digits = rest.iter().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let well_formed = (1..=10).contains(&digits) && rest.get(digits) == Some(&b' ');
    if !well_formed || rest.starts_with(b"0") {
        return uncounted(input, start);
    }
    let count = rest[..digits].iter().fold(0, |sum, digit| sum * 10 + u64::from(digit & 0x0F));
    let message = start + digits + 1;
    let end = usize::try_from(count).ok().and_then(|count| message.checked_add(count));
    if let Some(end) = end.filter(|end| *end <= input.len()) {
        return (Frame::new(message..end, true), end);
    }
    let mut frame = Frame::new(message..input.len(), true);
    let words = "the stream ends before the counted octets do";
    frame.note(input.len(), BreakKind::Truncated, words);
    (frame, input.len())
}

/// Something that stands where a count should.
fn uncounted(input: &[u8], start: usize) -> (Frame, usize) {
    let (mut frame, next) = line(input, start);
    if input[start] == b'<' {
        let words = "a message without a count among counted ones";
        frame.note(start, BreakKind::MixedFraming, words);
    } else {
        let words = "no count stands here; the one before was too small or a line feed was added";
        frame.note(start, BreakKind::BadCount, words);
    }
    (frame, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(input: &[u8]) -> Vec<(String, Vec<BreakKind>)> {
        let kinds = |frame: &Frame| frame.breaks.iter().map(|found| found.kind).collect();
        let text = |frame: &Frame| String::from_utf8_lossy(&input[frame.span.clone()]).into();
        frames(input).iter().map(|frame| (text(frame), kinds(frame))).collect()
    }

    fn frame(text: &str, kinds: &[BreakKind]) -> (String, Vec<BreakKind>) {
        (text.to_owned(), kinds.to_vec())
    }

    #[test]
    fn counts_lead_from_frame_to_frame() {
        let expected = [frame("<1>1 a\nb", &[]), frame("<1>x", &[])];
        assert_eq!(told(b"8 <1>1 a\nb4 <1>x"), expected);
    }

    #[test]
    fn a_wrong_count_is_noted() {
        let expected =
            [frame("<1>x", &[]), frame("yz", &[BreakKind::BadCount]), frame("<1>x", &[])];
        assert_eq!(told(b"4 <1>xyz\n4 <1>x"), expected);
        assert_eq!(told(b"9 <1>x"), [frame("<1>x", &[BreakKind::Truncated])]);
        assert_eq!(told(b"4 <1>x<1>y\n")[1], frame("<1>y", &[BreakKind::MixedFraming]));
        for hostile in [&b"99999999999 a"[..], b"0 a", b"9999999999 a", b"7"] {
            assert_eq!(frames(hostile).len(), 1);
        }
    }

    #[test]
    fn a_line_feed_splits_a_message() {
        let expected = [
            frame("<1>1 a", &[]),
            frame("b", &[BreakKind::SplitRecord]),
            frame("5 c", &[BreakKind::SplitRecord]),
            frame("<1>d", &[BreakKind::Unended]),
        ];
        assert_eq!(told(b"<1>1 a\r\nb\n5 c\n<1>d"), expected);
    }

    #[test]
    fn patience_is_bounded() {
        let input = b"a\n".repeat(MAX_RECORDS + 5);
        let frames = lines(&input);
        assert_eq!(frames.len(), MAX_RECORDS + 1);
        assert_eq!(frames[MAX_RECORDS].breaks[0].kind, BreakKind::TooMany);
        assert_eq!(lines(&b"\n".repeat(1 << 20)).len(), 1);
    }
}
