//! Cutting a stream of bytes into records while it comes. The judge's own
//! [`framing`](birdstrike_judge::formats::framing) cuts what is there as a whole; the rules are the
//! same.

use std::sync::Arc;

use birdstrike_judge::formats::{Break, BreakKind, MAX_LINE};

use super::store::{Arrival, Store};

/// How records are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cutting {
    /// A record a line.
    Lines,
    /// Syslog over TCP: by octet counts or line ends, as the first byte tells (RFC 6587).
    Syslog,
}

/// Cuts one stream.
#[derive(Debug)]
pub(super) struct Cutter {
    store: Arc<Store>,
    stream: u64,
    cutting: Cutting,
    /// What has come and belongs to no record yet.
    open: Vec<u8>,
    /// Whether the stream began with an octet count.
    counted: Option<bool>,
    records: u64,
}

impl Cutter {
    /// For a stream of which nothing has come yet; records go to `store`.
    pub(super) fn new(store: Arc<Store>, cutting: Cutting) -> Self {
        let stream = store.stream();
        Self { store, stream, cutting, open: Vec::new(), counted: None, records: 0 }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.open.extend_from_slice(bytes);
        if self.counted.is_none()
            && let Some(first) = self.open.first()
        {
            self.counted = Some(self.cutting == Cutting::Syslog && first.is_ascii_digit());
        }
        let mut at = 0;
        while let Some(end) = self.next(at) {
            at = end;
        }
        self.open.drain(..at);
        self.store.unended(self.stream, &self.open);
    }

    /// The stream has ended: what is left is a record that was cut off.
    pub(super) fn end(&mut self) {
        let rest = std::mem::take(&mut self.open);
        self.store.unended(self.stream, b"");
        if !rest.trim_ascii().is_empty() {
            let (kind, words) = if self.counted == Some(true) {
                (BreakKind::Truncated, "the stream ends before the counted octets do")
            } else {
                (BreakKind::Unended, "no line feed ends the last line")
            };
            self.record(&rest, vec![note(kind, words)]);
        }
        self.counted = None;
        self.records = 0;
    }

    /// Takes one record from `at` on and gives the place behind it; nothing when it has not come to
    /// its end.
    fn next(&mut self, at: usize) -> Option<usize> {
        let rest = self.open.get(at..).filter(|rest| !rest.is_empty())?;
        if self.counted == Some(true) {
            match octets(rest) {
                Count::Frame(start, end) => {
                    let record = rest.get(start..end).unwrap_or_default().to_vec();
                    self.record(&record, Vec::new());
                    return Some(at + end);
                }
                Count::More => return None,
                Count::None => {}
            }
        }
        let Some(feed) = rest.iter().take(MAX_LINE).position(|byte| *byte == b'\n') else {
            let piece = rest.get(..MAX_LINE)?.to_vec();
            self.record(&piece, vec![note(BreakKind::TooLong, "a line without an end")]);
            return Some(at + MAX_LINE);
        };
        let line = rest.get(..feed).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        let breaks = self.misframed(&line);
        if !line.trim_ascii().is_empty() {
            self.record(&line, breaks);
        }
        Some(at + feed + 1)
    }

    /// What a line that a line end told apart says of the framing of a syslog stream.
    fn misframed(&self, line: &[u8]) -> Vec<Break> {
        let priority = line.first() == Some(&b'<');
        let found = match (self.cutting, self.counted, priority) {
            (Cutting::Syslog, Some(true), true) => {
                Some((BreakKind::MixedFraming, "a message without a count among counted ones"))
            }
            (Cutting::Syslog, Some(true), false) => {
                Some((BreakKind::BadCount, "no count stands here"))
            }
            (Cutting::Syslog, _, false) if self.records > 0 => {
                let words = "no priority begins the line; the message before held a line feed";
                Some((BreakKind::SplitRecord, words))
            }
            _ => None,
        };
        found.map(|(kind, words)| note(kind, words)).into_iter().collect()
    }

    fn record(&mut self, raw: &[u8], breaks: Vec<Break>) {
        self.records += 1;
        self.store.push(Arrival { breaks, ..Arrival::now(raw.to_vec()) });
    }
}

fn note(kind: BreakKind, words: &str) -> Break {
    Break { offset: 0, kind, words: words.to_owned() }
}

/// What stands where an octet count should.
enum Count {
    /// A whole frame: where its message begins and ends.
    Frame(usize, usize),
    /// Perhaps one, once more has come.
    More,
    /// Something else.
    None,
}

fn octets(rest: &[u8]) -> Count {
    let digits = rest.iter().take(8).take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits > 7 || rest.first() == Some(&b'0') {
        return Count::None;
    }
    match rest.get(digits) {
        None => return Count::More,
        Some(b' ') => {}
        Some(_) => return Count::None,
    }
    let count = rest.iter().take(digits);
    let count = count.fold(0_usize, |sum, digit| sum * 10 + usize::from(digit & 0x0F));
    if count > MAX_LINE {
        return Count::None;
    }
    let (start, end) = (digits + 1, digits + 1 + count);
    if rest.len() < end { Count::More } else { Count::Frame(start, end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(cutting: Cutting, pieces: &[&[u8]]) -> Vec<(String, Vec<BreakKind>)> {
        let store = Arc::new(Store::new(Arc::default()));
        let mut cutter = Cutter::new(Arc::clone(&store), cutting);
        for piece in pieces {
            cutter.push(piece);
        }
        cutter.end();
        let records = store.since(0).records;
        records
            .iter()
            .map(|record| {
                let kinds = record.breaks.iter().map(|found| found.kind).collect();
                (String::from_utf8_lossy(&record.raw).into_owned(), kinds)
            })
            .collect()
    }

    fn told(text: &str, kinds: &[BreakKind]) -> (String, Vec<BreakKind>) {
        (text.to_owned(), kinds.to_vec())
    }

    #[test]
    fn lines_come_in_any_pieces() {
        let whole: &[u8] = b"one\r\n\ntwo\nthree";
        let expected = [told("one", &[]), told("two", &[]), told("three", &[BreakKind::Unended])];
        assert_eq!(cut(Cutting::Lines, &[whole]), expected);
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(cut(Cutting::Lines, &bytes), expected);
    }

    #[test]
    fn counted_frames_hold_line_feeds() {
        let whole: &[u8] = b"8 <1>1 a\nb4 <1>x";
        let expected = [told("<1>1 a\nb", &[]), told("<1>x", &[])];
        assert_eq!(cut(Cutting::Syslog, &[whole]), expected);
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(cut(Cutting::Syslog, &bytes), expected);
    }

    #[test]
    fn wrong_framing_is_noted() {
        assert_eq!(
            cut(Cutting::Syslog, &[b"4 <1>xyz\n4 <1>y9 <1>z"]),
            [
                told("<1>x", &[]),
                told("yz", &[BreakKind::BadCount]),
                told("<1>y", &[]),
                told("9 <1>z", &[BreakKind::Truncated]),
            ]
        );
        assert_eq!(
            cut(Cutting::Syslog, &[b"<1>1 a\nb\n<1>c\n"]),
            [told("<1>1 a", &[]), told("b", &[BreakKind::SplitRecord]), told("<1>c", &[])]
        );
    }

    #[test]
    fn an_endless_line_is_held_in_pieces() {
        let long = vec![b'a'; MAX_LINE + 10];
        let records = cut(Cutting::Lines, &[&long]);
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].1, [BreakKind::TooLong]);
    }
}
