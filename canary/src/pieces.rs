//! An answer as a row of pieces that are made while they are sent.
//!
//! A message of 8 GiB is three pieces: what stands before the filling, the filling, what stands
//! after it. Nothing is held but what is on its way.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::exchange::Entry;

/// Bytes that the filling repeats. Its period makes a piece that was lost or moved show up.
const PERIOD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Bytes of one step of sending, if nothing else is asked for.
pub(crate) const STEP: usize = 64 << 10;

/// One step of filling from any place within the period.
static FILLING: [u8; STEP + PERIOD.len()] = filling();

#[expect(clippy::large_stack_arrays, reason = "the compiler runs it; no stack ever holds it")]
const fn filling() -> [u8; STEP + PERIOD.len()] {
    let mut bytes = [0; STEP + PERIOD.len()];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = PERIOD[at % PERIOD.len()];
        at += 1;
    }
    bytes
}

/// The filling of an oversized message, from its byte `at` on: as much as one piece holds, at most
/// `len` bytes.
fn fill(at: u64, len: u64) -> Bytes {
    let from = (at % PERIOD.len() as u64) as usize;
    let len = len.min(STEP as u64) as usize;
    Bytes::from_static(&FILLING).slice(from..from + len)
}

/// The text of a JSON-RPC message.
#[derive(Clone, Debug)]
pub(crate) enum Text {
    /// All of it.
    Whole(Bytes),
    /// With filling inside one of its strings.
    Filled { before: Bytes, fill: u64, after: Bytes },
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Whole(text.into())
    }
}

/// One piece of a body.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Bytes around the message.
    Frame(Bytes),
    /// Bytes of the message.
    Text(Bytes),
    /// The end of a line and the beginning of the next `data` line, which a reader of the stream
    /// sees as one line feed in the message.
    Break(Bytes),
    /// Filling of the message, from its byte `at` on.
    Fill { at: u64, len: u64 },
}

/// The pieces of a body that are still to be sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces(VecDeque<Piece>);

/// Bytes of a body, and whether they belong to the message.
struct Part {
    bytes: Bytes,
    message: PartOf,
}

enum PartOf {
    Frame,
    Message,
    LineFeed,
}

impl Pieces {
    /// The message alone.
    pub(crate) fn of(text: Text) -> Self {
        let mut pieces = Self::default();
        match text {
            Text::Whole(text) => pieces.push(Piece::Text(text)),
            Text::Filled { before, fill, after } => {
                pieces.push(Piece::Text(before));
                pieces.push(Piece::Fill { at: 0, len: fill });
                pieces.push(Piece::Text(after));
            }
        }
        pieces
    }

    /// Adds a piece at the end; an empty one is left out.
    pub(crate) fn push(&mut self, piece: Piece) {
        if piece.len() > 0 {
            self.0.push_back(piece);
        }
    }

    /// The same bytes as a frame of the message and no part of it.
    pub(crate) fn beside(self) -> Self {
        let framed = self.0.into_iter().map(|piece| match piece {
            Piece::Text(bytes) | Piece::Break(bytes) => Piece::Frame(bytes),
            piece => piece,
        });
        Self(framed.collect())
    }

    /// Adds other pieces at the end.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// All bytes at once, for what is short and held anyway. Filling is left out.
    pub(crate) fn into_bytes(self) -> Bytes {
        let bytes = self.0.iter().map(|piece| match piece {
            Piece::Frame(bytes) | Piece::Text(bytes) | Piece::Break(bytes) => &bytes[..],
            Piece::Fill { .. } => &[],
        });
        bytes.collect::<Vec<_>>().concat().into()
    }

    /// Bytes that are still to be sent.
    pub(crate) fn len(&self) -> u64 {
        self.0.iter().map(Piece::len).sum()
    }

    /// Whether all was sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next bytes, at most `max` and at least one, recorded in the entry. None when all was sent.
    pub(crate) fn next(&mut self, max: usize, entry: &mut Entry) -> Option<Bytes> {
        let first = self.part(max, entry)?;
        if first.len() == max || self.is_empty() {
            return Some(first);
        }
        // Small pieces go out together: one write, one chunk.
        let room = max.min(first.len().saturating_add(self.len() as usize));
        let mut gathered = BytesMut::with_capacity(room);
        gathered.extend_from_slice(&first);
        while gathered.len() < max {
            let Some(part) = self.part(max - gathered.len(), entry) else {
                break;
            };
            gathered.extend_from_slice(&part);
        }
        Some(gathered.freeze())
    }

    fn part(&mut self, max: usize, entry: &mut Entry) -> Option<Bytes> {
        let piece = self.0.pop_front()?;
        let (part, rest) = piece.split(max);
        if let Some(rest) = rest {
            self.0.push_front(rest);
        }
        let message: &[u8] = match part.message {
            PartOf::Frame => b"",
            PartOf::Message => &part.bytes,
            PartOf::LineFeed => b"\n",
        };
        entry.record(&part.bytes, message);
        Some(part.bytes)
    }
}

impl Piece {
    fn len(&self) -> u64 {
        match self {
            Self::Frame(bytes) | Self::Text(bytes) | Self::Break(bytes) => bytes.len() as u64,
            Self::Fill { len, .. } => *len,
        }
    }

    /// The first bytes of the piece, at most `max`, and what is left of it.
    fn split(self, max: usize) -> (Part, Option<Self>) {
        match self {
            Self::Frame(bytes) => split(bytes, max, PartOf::Frame, Self::Frame),
            Self::Text(bytes) => split(bytes, max, PartOf::Message, Self::Text),
            // The line feed is read where the break begins; what is left of it only frames.
            Self::Break(bytes) => split(bytes, max, PartOf::LineFeed, Self::Frame),
            Self::Fill { at, len } => {
                let bytes = fill(at, len.min(max as u64));
                let took = bytes.len() as u64;
                let rest = (took < len).then_some(Self::Fill { at: at + took, len: len - took });
                let message = PartOf::Message;
                (Part { bytes, message }, rest)
            }
        }
    }
}

fn split(
    mut bytes: Bytes,
    max: usize,
    message: PartOf,
    rest: impl FnOnce(Bytes) -> Piece,
) -> (Part, Option<Piece>) {
    let bytes_now = bytes.split_to(max.min(bytes.len()));
    let rest = (!bytes.is_empty()).then(|| rest(bytes));
    let part = Part { bytes: bytes_now, message };
    (part, rest)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::exchange::MessageIs;
    use crate::exchange::tests::exchange;
    use crate::headers::Headers;
    use crate::journal::Journal;

    fn drain(mut pieces: Pieces, max: usize) -> (Vec<u8>, Vec<u8>) {
        let journal = Arc::new(Journal::new(1 << 20));
        let mut entry = Entry::open(&journal, exchange(Some("n"), b"{}"));
        entry.begin(None, Headers::default(), MessageIs::Inside);
        let mut sent = Vec::new();
        while let Some(bytes) = pieces.next(max, &mut entry) {
            assert!(!bytes.is_empty() && bytes.len() <= max);
            sent.extend_from_slice(&bytes);
        }
        entry.finish(true);
        let answer = journal.take("n").remove(0).answer.unwrap();
        assert_eq!(answer.body.whole(), Some(&sent[..]));
        (sent, answer.message.unwrap().whole().unwrap().to_vec())
    }

    /// All bytes of a body.
    pub(crate) fn all(pieces: Pieces) -> Vec<u8> {
        drain(pieces, STEP).0
    }

    #[test]
    fn any_step_gives_the_same_bytes_and_the_same_message() {
        let mut pieces = Pieces::default();
        pieces.push(Piece::Frame("data: ".into()));
        pieces.push(Piece::Text("{\"a\":".into()));
        pieces.push(Piece::Break("\r\ndata: ".into()));
        pieces.push(Piece::Fill { at: 0, len: 200 });
        pieces.push(Piece::Text("}".into()));
        pieces.push(Piece::Frame("\r\n\r\n".into()));
        let whole = drain(pieces.clone(), STEP);
        assert!(whole.0.starts_with(b"data: {\"a\":\r\ndata: ABC"));
        assert!(whole.1.starts_with(b"{\"a\":\nABC"));
        assert_eq!(whole.1.len(), 5 + 1 + 200 + 1);
        for max in [1, 2, 3, 7, 64, 65, 1000] {
            assert_eq!(drain(pieces.clone(), max), whole, "steps of {max}");
        }
    }

    #[test]
    fn filling_goes_on_where_it_stopped() {
        let mut pieces = Pieces::default();
        let len = 2 * STEP as u64 + 77;
        pieces.push(Piece::Fill { at: 0, len });
        assert_eq!(pieces.len(), len);
        let (sent, _) = drain(pieces, STEP - 5);
        assert!(sent.iter().enumerate().all(|(at, b)| *b == PERIOD[at % 64]));
        assert_eq!(sent.len() as u64, len);
    }
}
