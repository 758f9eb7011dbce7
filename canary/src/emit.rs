//! The bytes of one answer, step by step: cut where planned, packed if wanted, and recorded.

use std::collections::VecDeque;
use std::io::Write;

use bytes::{Bytes, BytesMut};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::exchange::Entry;
use crate::pieces::{Pieces, STEP};
use crate::stages::{Stage, Wait};

/// Packed bytes are handed on when so many have gathered. Few, as filling packs 200 to 1 and other
/// tasks wait meanwhile.
const PACKED_STEP: usize = 4 << 10;

/// Makes the bytes that go on the wire, and keeps the exchange's entry up to date.
#[derive(Debug)]
pub(crate) struct Emitter {
    pieces: Pieces,
    entry: Entry,
    /// What comes after these pieces, each after a wait.
    later: VecDeque<Stage>,
    /// Open as long as there is something to pack.
    gzip: Option<Box<GzEncoder<Vec<u8>>>>,
    packed: BytesMut,
    /// Bytes of one step.
    step: usize,
    /// Bytes until the planned cut.
    until_cut: Option<u64>,
}

impl Emitter {
    /// All of the pieces, in steps of the canary's own choice.
    pub(crate) fn new(pieces: Pieces, entry: Entry) -> Self {
        let later = VecDeque::new();
        Self {
            pieces,
            entry,
            later,
            gzip: None,
            packed: BytesMut::new(),
            step: STEP,
            until_cut: None,
        }
    }

    /// More pieces after these.
    pub(crate) fn then(self, later: impl IntoIterator<Item = Stage>) -> Self {
        Self { later: later.into_iter().collect(), ..self }
    }

    /// Goes on to the next stage and says what has to be over before its first byte. None after the
    /// last stage, or after the cut.
    pub(crate) fn step(&mut self) -> Option<Wait> {
        if self.until_cut == Some(0) {
            return None;
        }
        let Stage { wait, pieces } = self.later.pop_front()?;
        self.pieces = pieces;
        Some(wait)
    }

    /// Packs what is sent.
    pub(crate) fn packed(self) -> Self {
        // The fastest level: a body of 8 GiB should not take minutes, and its filling packs well anyway.
        let gzip = Some(Box::new(GzEncoder::new(Vec::new(), Compression::fast())));
        Self { gzip, ..self }
    }

    /// Sends at most so many bytes at a time; 0 leaves it as it is.
    pub(crate) fn in_steps_of(self, bytes: usize) -> Self {
        let step = if bytes == 0 { self.step } else { bytes };
        Self { step, ..self }
    }

    /// Sends no more than so many bytes; the answer is never recorded as whole then.
    pub(crate) fn cut_after(self, bytes: u64) -> Self {
        let until_cut = Some(bytes);
        Self { until_cut, ..self }
    }

    /// Bytes that are still to be sent, if that is known.
    pub(crate) fn len(&self) -> Option<u64> {
        (self.gzip.is_none() && self.packed.is_empty()).then(|| {
            self.pieces.len() + self.later.iter().map(|stage| stage.pieces.len()).sum::<u64>()
        })
    }

    /// Whether everything was sent and the answer is whole.
    pub(crate) fn is_done(&self) -> bool {
        self.pieces.is_empty()
            && self.later.is_empty()
            && self.gzip.is_none()
            && self.packed.is_empty()
    }

    /// The next bytes. None after the last, or after the cut.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        if self.until_cut == Some(0) {
            return None;
        }
        let mut bytes = if self.gzip.is_none() && self.packed.is_empty() {
            let left = self.until_cut.unwrap_or(u64::MAX);
            let max = left.min(self.step as u64) as usize;
            self.pieces.next(max, &mut self.entry)?
        } else {
            self.pack();
            self.packed.split_to(self.step.min(self.packed.len())).freeze()
        };
        if let Some(left) = &mut self.until_cut {
            bytes.truncate((*left).min(bytes.len() as u64) as usize);
            *left -= bytes.len() as u64;
        }
        self.entry.sent(bytes.len());
        // Recorded as whole before the last bytes go out: whoever has read them finds it so.
        if self.is_done() && self.until_cut.is_none() {
            self.entry.finish(true);
        }
        Some(bytes)
    }

    /// The entry, to write into it what came of the answer.
    pub(crate) fn entry(&mut self) -> &mut Entry {
        &mut self.entry
    }

    /// Packs until there is enough for a step, or nothing is left.
    fn pack(&mut self) {
        let enough = PACKED_STEP.min(self.step);
        while self.packed.len() < enough
            && let Some(mut gzip) = self.gzip.take()
        {
            let written = match self.pieces.next(STEP, &mut self.entry) {
                Some(bytes) => gzip.write_all(&bytes).map(|()| Some(gzip)),
                None => gzip.finish().map(|rest| {
                    self.packed.extend_from_slice(&rest);
                    None
                }),
            };
            // Writing into memory does not fail; if it did, the answer would end here, unfinished.
            self.gzip = written.ok().flatten();
            if let Some(gzip) = &mut self.gzip {
                self.packed.extend_from_slice(gzip.get_ref());
                gzip.get_mut().clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Arc;

    use flate2::read::GzDecoder;

    use super::*;
    use crate::exchange::tests::exchange;
    use crate::exchange::{Answered, MessageIs};
    use crate::headers::Headers;
    use crate::journal::Journal;
    use crate::pieces::Text;

    fn emit(len: u64, build: impl FnOnce(Emitter) -> Emitter) -> (Vec<Bytes>, Answered) {
        let journal = Arc::new(Journal::new(1 << 20));
        let mut entry = Entry::open(&journal, exchange(Some("n"), b"{}"));
        entry.begin(Some(200), Headers::default(), MessageIs::Body);
        let text = Text::Filled { before: "<".into(), fill: len - 2, after: ">".into() };
        let mut emitter = build(Emitter::new(Pieces::of(text), entry));
        let sent: Vec<Bytes> = std::iter::from_fn(|| emitter.next()).collect();
        drop(emitter);
        (sent, journal.take("n").remove(0).answer.unwrap())
    }

    #[test]
    fn steps_are_as_large_as_asked_for() {
        let (sent, answer) = emit(10, |emitter| emitter.in_steps_of(3));
        let sizes: Vec<usize> = sent.iter().map(Bytes::len).collect();
        assert_eq!(sizes, [3, 3, 3, 1]);
        assert!(answer.complete);
        assert_eq!((answer.wire_bytes, answer.body.len()), (10, 10));
        assert_eq!(emit(10, |emitter| emitter.in_steps_of(0)).0.len(), 1);
    }

    #[test]
    fn a_cut_is_exact_and_leaves_the_answer_unfinished() {
        for cut in [0, 1, 9, 10, 11] {
            let (sent, answer) = emit(10, |emitter| emitter.cut_after(cut));
            assert_eq!(sent.concat().len() as u64, cut.min(10));
            assert_eq!(answer.body.len(), cut.min(10));
            assert!(!answer.complete, "{cut}");
        }
    }

    #[test]
    fn packed_bytes_unpack_to_what_was_recorded() {
        for step in [0, 1, 7, 100_000] {
            let (sent, answer) = emit(300_000, |emitter| emitter.packed().in_steps_of(step));
            let sent = sent.concat();
            let mut unpacked = Vec::new();
            GzDecoder::new(&sent[..]).read_to_end(&mut unpacked).unwrap();
            assert_eq!(answer.body.whole(), Some(&unpacked[..]));
            assert_eq!(answer.wire_bytes, sent.len() as u64);
            assert!(answer.complete && sent.len() < 30_000);
        }
    }

    #[test]
    fn a_packed_answer_is_cut_where_it_is_on_the_wire() {
        let (sent, answer) = emit(300_000, |emitter| emitter.packed().cut_after(20));
        assert_eq!((sent.concat().len(), answer.complete), (20, false));
    }
}
