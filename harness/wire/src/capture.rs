//! Bodies as journal and transcript keep them.
//!
//! A [`Recorder`] takes a body in pieces while it is sent or received, a [`Capture`] is what stays
//! of it: all bytes up to [`KEEP_WHOLE`], of larger bodies the first and the last [`KEEP_EDGE`]
//! bytes, the length and the SHA-256. So an 8 GiB body costs no more memory than a small one, and
//! whether it came through whole can still be told from the digests of both legs.

use std::fmt;

use bytes::Bytes;
use sha2::{Digest, Sha256};

/// Bodies up to this many bytes (1 MiB) are kept whole.
pub const KEEP_WHOLE: usize = 1 << 20;
/// What is kept of each end of a larger body, in bytes (64 KiB).
pub const KEEP_EDGE: usize = 64 << 10;

/// What is kept of a body. Cheap to clone: the bytes are shared.
///
/// Two captures are equal (`==`) when the bodies are the same and ended the same way; ask
/// [`Capture::same_as`] for the bodies alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Capture {
    kept: Kept,
    /// Whether the sender finished; otherwise the body broke off after these bytes.
    pub complete: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum Kept {
    Whole(Bytes),
    Edges { head: Bytes, tail: Bytes, len: u64, sha256: [u8; 32] },
}

/// Parts that cannot have come from one capture: see [`Capture::restore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACapture {
    /// A body of this length is kept whole.
    #[error("a body of {0} bytes is kept whole, not as head and tail")]
    Short(u64),
    /// Head or tail has another length.
    #[error("head and tail hold {head} and {tail} bytes; each must hold {KEEP_EDGE}")]
    Edges {
        /// Length of the head in bytes.
        head: usize,
        /// Length of the tail in bytes.
        tail: usize,
    },
}

impl Capture {
    /// The capture of a body that is in memory already, complete or not.
    pub fn of(body: impl Into<Bytes>, complete: bool) -> Self {
        let body = body.into();
        if body.len() <= KEEP_WHOLE {
            let kept = Kept::Whole(body);
            return Self { kept, complete };
        }
        let mut recorder = Recorder::new();
        recorder.push(&body);
        recorder.end(complete)
    }

    /// A capture of a large body, put together again from its parts, as a recorded run is read
    /// back. Small ones are restored by [`Capture::of`].
    ///
    /// # Errors
    /// [`NotACapture`] when no recorder would have kept these parts.
    pub fn restore(
        head: impl Into<Bytes>,
        tail: impl Into<Bytes>,
        len: u64,
        sha256: [u8; 32],
        complete: bool,
    ) -> Result<Self, NotACapture> {
        let (head, tail) = (head.into(), tail.into());
        if len <= KEEP_WHOLE as u64 {
            return Err(NotACapture::Short(len));
        }
        if head.len() != KEEP_EDGE || tail.len() != KEEP_EDGE {
            let (head, tail) = (head.len(), tail.len());
            return Err(NotACapture::Edges { head, tail });
        }
        let kept = Kept::Edges { head, tail, len, sha256 };
        Ok(Self { kept, complete })
    }

    /// The length of the body in bytes, kept or not.
    pub fn len(&self) -> u64 {
        match &self.kept {
            Kept::Whole(body) => body.len() as u64,
            Kept::Edges { len, .. } => *len,
        }
    }

    /// Whether the body has no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The body, if it was small enough to be kept whole.
    pub fn whole(&self) -> Option<&[u8]> {
        match &self.kept {
            Kept::Whole(body) => Some(body),
            Kept::Edges { .. } => None,
        }
    }

    /// The first bytes of the body: all of it, but at most [`KEEP_EDGE`].
    pub fn head(&self) -> &[u8] {
        match &self.kept {
            Kept::Whole(body) => &body[..body.len().min(KEEP_EDGE)],
            Kept::Edges { head, .. } => head,
        }
    }

    /// The last bytes of the body: all of it, but at most [`KEEP_EDGE`].
    pub fn tail(&self) -> &[u8] {
        match &self.kept {
            Kept::Whole(body) => &body[body.len().saturating_sub(KEEP_EDGE)..],
            Kept::Edges { tail, .. } => tail,
        }
    }

    /// Every stretch of the body that was kept, in order: one of a small body, two of a large one.
    /// This is where markers are sought.
    pub fn kept(&self) -> impl Iterator<Item = &[u8]> {
        let (first, second) = match &self.kept {
            Kept::Whole(body) => (body, None),
            Kept::Edges { head, tail, .. } => (head, Some(tail)),
        };
        std::iter::once(first).chain(second).map(AsRef::as_ref)
    }

    /// The SHA-256 of the body. Worked out anew at each call for a body that is kept whole.
    pub fn sha256(&self) -> [u8; 32] {
        match &self.kept {
            Kept::Whole(body) => Sha256::digest(body).into(),
            Kept::Edges { sha256, .. } => *sha256,
        }
    }

    /// The SHA-256 of the body in lower-case hexadecimal digits.
    pub fn sha256_hex(&self) -> String {
        use fmt::Write as _;
        let digest = self.sha256();
        let mut hex = String::with_capacity(2 * digest.len());
        for byte in digest {
            // Writing into a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }

    /// Whether both bodies are the same bytes, however they ended. Large bodies are compared by
    /// length and digest.
    pub fn same_as(&self, other: &Self) -> bool {
        self.kept == other.kept
    }
}

impl fmt::Debug for Capture {
    /// Says what it is and not what is in it: up to 1 MiB helps nobody in a failed assertion.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("len", &self.len())
            .field("sha256", &self.sha256_hex())
            .field("complete", &self.complete)
            .finish_non_exhaustive()
    }
}

/// Takes a body in pieces. It holds the body up to [`KEEP_WHOLE`], beyond that a head and a tail of
/// together less than [`KEEP_WHOLE`]. Small bodies cost one copy and are not hashed.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The whole body so far, or its head once it is long.
    start: Vec<u8>,
    long: Option<Box<Long>>,
}

/// What a body past [`KEEP_WHOLE`] needs.
#[derive(Debug)]
struct Long {
    hash: Sha256,
    len: u64,
    tail: Vec<u8>,
}

impl Recorder {
    /// A recorder that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        if let Some(long) = &mut self.long {
            return long.push(bytes);
        }
        if self.start.len() + bytes.len() <= KEEP_WHOLE {
            self.start.extend_from_slice(bytes);
            return;
        }
        let mut long =
            Long { hash: Sha256::new(), len: 0, tail: Vec::with_capacity(2 * KEEP_EDGE) };
        long.push(&self.start);
        long.push(bytes);
        self.long = Some(Box::new(long));
        let missing = KEEP_EDGE.saturating_sub(self.start.len());
        self.start.extend_from_slice(&bytes[..missing.min(bytes.len())]);
        self.start.truncate(KEEP_EDGE);
        self.start.shrink_to_fit();
    }

    /// Bytes taken so far.
    pub fn len(&self) -> u64 {
        self.long.as_ref().map_or(self.start.len() as u64, |long| long.len)
    }

    /// Whether no byte was taken so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The capture of a body whose sender finished.
    pub fn finish(self) -> Capture {
        self.end(true)
    }

    /// The capture of a body that broke off here: the sender went away, or nobody read on.
    pub fn cut(self) -> Capture {
        self.end(false)
    }

    fn end(self, complete: bool) -> Capture {
        // A capture may live long: the room that the vector grew into goes back.
        let start = Bytes::from(self.start.into_boxed_slice());
        let kept = match self.long {
            None => Kept::Whole(start),
            Some(long) => Kept::Edges {
                head: start,
                len: long.len,
                sha256: long.hash.finalize().into(),
                tail: Bytes::copy_from_slice(last(&long.tail)),
            },
        };
        Capture { kept, complete }
    }
}

impl Long {
    fn push(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.len += bytes.len() as u64;
        let bytes = last(bytes);
        // The tail may grow to twice its size before its front goes, so that small pieces do not
        // move it every time.
        if self.tail.len() + bytes.len() > 2 * KEEP_EDGE {
            let spare = self.tail.len() + bytes.len() - KEEP_EDGE;
            self.tail.drain(..spare.min(self.tail.len()));
        }
        self.tail.extend_from_slice(bytes);
    }
}

/// The last [`KEEP_EDGE`] bytes.
fn last(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(KEEP_EDGE)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes in which every 64-bit word is another one, so that a shift cannot pass unseen.
    fn body(len: usize) -> Vec<u8> {
        let words = (0..len as u64).step_by(8);
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        bytes.truncate(len);
        bytes
    }

    fn record(body: &[u8], piece: usize) -> Capture {
        let mut recorder = Recorder::new();
        for part in body.chunks(piece) {
            recorder.push(part);
        }
        assert_eq!(recorder.len(), body.len() as u64);
        recorder.finish()
    }

    #[test]
    fn small_bodies_are_kept_whole() {
        for len in [0, 1, KEEP_EDGE, KEEP_EDGE + 1, KEEP_WHOLE] {
            let body = body(len);
            let capture = record(&body, 4096);
            assert_eq!(capture.whole(), Some(&body[..]));
            assert_eq!(capture.head(), &body[..len.min(KEEP_EDGE)]);
            assert_eq!(capture.tail(), &body[len - len.min(KEEP_EDGE)..]);
            assert_eq!(capture.sha256()[..], Sha256::digest(&body)[..]);
            assert_eq!((capture.len(), capture.is_empty()), (len as u64, len == 0));
        }
    }

    #[test]
    fn large_bodies_keep_their_edges_however_they_are_split() {
        for len in [KEEP_WHOLE + 1, KEEP_WHOLE + KEEP_EDGE, 3 * KEEP_WHOLE + 7] {
            let body = body(len);
            let capture = Capture::of(body.clone(), true);
            assert_eq!(capture.whole(), None);
            assert_eq!(capture.len(), len as u64);
            assert_eq!(capture.head(), &body[..KEEP_EDGE]);
            assert_eq!(capture.tail(), &body[len - KEEP_EDGE..]);
            assert_eq!(capture.kept().count(), 2);
            assert_eq!(capture.sha256()[..], Sha256::digest(&body)[..]);
            for piece in [977, KEEP_EDGE - 1, KEEP_EDGE, 2 * KEEP_EDGE + 1, KEEP_WHOLE] {
                assert_eq!(record(&body, piece), capture, "pieces of {piece} bytes");
            }
        }
    }

    #[test]
    fn memory_stays_bounded() {
        let mut recorder = Recorder::new();
        let piece = body(KEEP_EDGE - 1);
        for _ in 0..100 {
            recorder.push(&piece);
        }
        let tail = recorder.long.as_ref().unwrap().tail.capacity();
        assert!(recorder.start.capacity() + tail <= KEEP_WHOLE);
    }

    #[test]
    fn one_changed_byte_in_the_middle_is_noticed() {
        let before = body(2 * KEEP_WHOLE);
        let mut after = before.clone();
        after[KEEP_WHOLE] ^= 1;
        let (before, after) = (Capture::of(before, true), Capture::of(after, true));
        assert_eq!((before.head(), before.tail()), (after.head(), after.tail()));
        assert!(!before.same_as(&after));
    }

    #[test]
    fn a_body_that_broke_off_is_the_same_body_and_another_capture() {
        let mut recorder = Recorder::new();
        recorder.push(b"{\"half");
        let cut = recorder.cut();
        let whole = Capture::of(&b"{\"half"[..], true);
        assert!(cut.same_as(&whole));
        assert_ne!(cut, whole);
        let shown = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Recorder::new().finish().sha256_hex(), shown);
    }

    #[test]
    fn a_large_capture_is_restored_from_its_parts() {
        let capture = Capture::of(body(2 * KEEP_WHOLE), false);
        let (head, tail) = (capture.head().to_vec(), capture.tail().to_vec());
        let again = Capture::restore(head, tail, capture.len(), capture.sha256(), false);
        assert_eq!(again, Ok(capture));
        let short = Capture::restore("", "", 5, [0; 32], true);
        assert_eq!(short, Err(NotACapture::Short(5)));
        let edges = Capture::restore("a", "b", 1 << 30, [0; 32], true);
        assert_eq!(edges, Err(NotACapture::Edges { head: 1, tail: 1 }));
    }
}
