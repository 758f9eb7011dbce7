//! Surface 1, `upstream-read`: the bounded reader.
//!
//! An answer is counted while it comes in and refused at the first byte too many, with a cause that
//! names the limit (INV-1.1). What is counted is the message itself, the same in every framing: a
//! JSON body after its content coding, the data of one event, one line of a stdio upstream. So the
//! same result passes, or does not, however the upstream chose to send it.

use crate::failure::{Cause, Failure};

/// How the bytes of an answer come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// A body whose length was announced.
    ContentLength,
    /// A body that ends when it ends.
    Chunked,
    /// A body that has to be inflated.
    Gzip,
    /// The data of one server-sent event.
    EventStream,
    /// One line of a stdio upstream.
    StdioLine,
}

/// What an answer is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// How it comes in.
    pub framing: Framing,
    /// The most bytes it may have.
    pub limit_bytes: u64,
}

/// How a body is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// As it is.
    Identity,
    /// RFC 1952.
    Gzip,
}

/// What becomes of the way to an upstream after a call over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aftermath {
    /// It stays as it is; the next call uses it.
    Keep,
    /// It is opened anew at the next call: a new session, or a new process.
    Reconnect,
    /// As `Reconnect`, but calls of the next second are refused unsent, so that a program that
    /// cannot be run is not tried a hundred times by one batch.
    Pause,
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// How many bytes an answer may have.
    pub allowance: fn(&Bound) -> u64,
    /// Whether a body of this announced length is read at all.
    pub announced: fn(length: u64, allowance: u64) -> bool,
    /// What a piece of an answer counts.
    pub weigh: fn(piece: &[u8]) -> u64,
    /// How the body is coded, by its `Content-Encoding` header.
    pub coding: fn(header: Option<&str>) -> Result<Coding, Failure>,
    /// What becomes of an answer that grew over its limit, of which the first bytes are held. A
    /// gateway that cuts answers would hand on a part; this one refuses the whole.
    pub refuse: fn(held: &[u8], &Bound) -> Result<Vec<u8>, Failure>,
    /// What becomes of the way to the upstream after a failure.
    pub aftermath: fn(&Failure) -> Aftermath,
    /// The cause that the sinks are told.
    pub told: fn(&Failure, route: &str) -> &'static str,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self { allowance, announced, weigh, coding, refuse, aftermath, told };
}

/// The limit, whatever the framing.
pub fn allowance(bound: &Bound) -> u64 {
    bound.limit_bytes
}

/// Refused before a byte of it is read.
pub fn announced(length: u64, allowance: u64) -> bool {
    length <= allowance
}

/// Its bytes.
pub fn weigh(piece: &[u8]) -> u64 {
    piece.len() as u64
}

/// Only what was asked for is decoded.
pub fn coding(header: Option<&str>) -> Result<Coding, Failure> {
    match header.map(str::trim) {
        None | Some("" | "identity") => Ok(Coding::Identity),
        Some(name) if name.eq_ignore_ascii_case("gzip") || name == "x-gzip" => Ok(Coding::Gzip),
        Some(other) => {
            let why = format!("it is coded as `{other}`, which was not asked for");
            Err(Failure::bad_answer(why))
        }
    }
}

/// Names the limit; nothing of the answer is used.
pub fn refuse(_held: &[u8], bound: &Bound) -> Result<Vec<u8>, Failure> {
    Err(Failure::too_large(bound.limit_bytes))
}

/// Only a connection that broke is opened anew: an upstream that answers too much, too late or
/// wrongly still answers, and its next call is none the worse (INV-1.1).
pub fn aftermath(failure: &Failure) -> Aftermath {
    match failure.cause {
        Cause::Unreachable => Aftermath::Reconnect,
        Cause::NotStarted => Aftermath::Pause,
        _ => Aftermath::Keep,
    }
}

/// The one that the client is told, on every route (INV-1.4).
pub fn told(failure: &Failure, _: &str) -> &'static str {
    failure.cause.slug()
}

/// One answer on its way in. It holds no more than its allowance.
#[derive(Debug)]
pub struct Intake<'s> {
    steps: &'s Steps,
    bound: Bound,
    allowance: u64,
    weight: u64,
    held: Vec<u8>,
}

/// The answer is larger than it may be. Only what fits is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl<'s> Intake<'s> {
    /// An answer of which nothing is here yet.
    pub fn new(steps: &'s Steps, bound: Bound) -> Self {
        let allowance = (steps.allowance)(&bound);
        Self { steps, bound, allowance, weight: 0, held: Vec::new() }
    }

    /// How many bytes the answer may have.
    pub fn allowance(&self) -> u64 {
        self.allowance
    }

    /// Room for a body of this announced length, so that it is not moved as it grows.
    pub fn expect(&mut self, length: u64) {
        let length = length.min(self.allowance).min(1 << 20);
        self.held.reserve_exact(usize::try_from(length).unwrap_or(0));
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// [`Full`]: take no more, and ask [`Intake::refuse`].
    pub fn take(&mut self, piece: &[u8]) -> Result<(), Full> {
        self.weight += (self.steps.weigh)(piece);
        if self.weight <= self.allowance {
            self.held.extend_from_slice(piece);
            return Ok(());
        }
        let room = self.allowance.saturating_sub(self.held.len() as u64);
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(piece.len());
        self.held.extend_from_slice(&piece[..fits]);
        Err(Full)
    }

    /// The answer, which has come to its end.
    pub fn finish(self) -> Vec<u8> {
        self.held
    }

    /// The bytes so far.
    pub fn held(&self) -> &[u8] {
        &self.held
    }

    /// What becomes of an answer that is full.
    ///
    /// # Errors
    /// The failure that names the limit.
    pub fn refuse(self) -> Result<Vec<u8>, Failure> {
        (self.steps.refuse)(&self.held, &self.bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Bound = Bound { framing: Framing::Chunked, limit_bytes: 4 };

    #[test]
    fn the_limit_itself_passes_and_one_more_byte_does_not() {
        let mut intake = Intake::new(&Steps::RIGHT, BOUND);
        assert_eq!(intake.take(b"ab"), Ok(()));
        assert_eq!(intake.take(b"cd"), Ok(()));
        assert_eq!(intake.take(b"e"), Err(Full));
        assert_eq!(intake.held(), b"abcd");
        assert_eq!(intake.refuse(), Err(Failure::too_large(4)));
        assert!(announced(4, 4) && !announced(5, 4));
    }

    #[test]
    fn no_more_is_held_than_allowed_however_large_the_piece() {
        let mut intake = Intake::new(&Steps::RIGHT, BOUND);
        assert_eq!(intake.take(&vec![b'x'; 1 << 20]), Err(Full));
        assert_eq!(intake.held().len(), 4);
    }

    #[test]
    fn only_gzip_is_decoded() {
        assert_eq!(coding(None), Ok(Coding::Identity));
        assert_eq!(coding(Some("GZip")), Ok(Coding::Gzip));
        assert!(coding(Some("br")).unwrap_err().message.contains("`br`"));
    }
}
