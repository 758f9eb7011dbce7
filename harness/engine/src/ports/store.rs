//! What a port has seen: records in the order in which they arrived, bounded in number and bytes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use birdstrike_judge::formats::Break;
use tokio::sync::Notify;

/// Records held of one port; the oldest go first.
const MOST_RECORDS: usize = 100_000;
/// Bytes held of one port.
const MOST_BYTES: usize = 64 << 20;

/// One record that arrived in a port.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When it was seen.
    pub at: Instant,
    /// Its bytes, neither count nor line end included. Of OTLP: the span as JSON text.
    pub raw: Vec<u8>,
    /// What is wrong with its framing.
    pub breaks: Vec<Break>,
    /// Sought for markers and no record of its own: a body from which records were read, or a line
    /// that has not come to its end.
    pub shadow: bool,
}

impl Arrival {
    /// A record that is there now.
    pub fn now(raw: Vec<u8>) -> Self {
        Self { at: Instant::now(), raw, breaks: Vec::new(), shadow: false }
    }
}

/// The records since a mark.
#[derive(Clone, Debug, Default)]
pub struct Since {
    /// In the order of their arrival.
    pub records: Vec<Arc<Arrival>>,
    /// The mark behind them.
    pub mark: u64,
    /// Some were given up before anybody looked at them.
    pub lost: bool,
}

/// Everything that one port has seen.
#[derive(Debug)]
pub struct Store {
    inner: Mutex<Inner>,
    grown: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Inner {
    records: VecDeque<Arc<Arrival>>,
    /// The number of the oldest record that is held.
    first: u64,
    held: usize,
    counted: u64,
    bytes: u64,
    /// Of each stream what has come of its next record.
    unended: HashMap<u64, Vec<u8>>,
    streams: u64,
}

impl Store {
    /// An empty one; `grown` is told of every arrival.
    pub fn new(grown: Arc<Notify>) -> Self {
        Self { inner: Mutex::default(), grown }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a record.
    pub fn push(&self, arrival: Arrival) {
        let mut inner = self.inner();
        if !arrival.shadow {
            inner.counted += 1;
            inner.bytes += arrival.raw.len() as u64;
        }
        inner.held += arrival.raw.len();
        inner.records.push_back(Arc::new(arrival));
        while inner.records.len() > MOST_RECORDS || inner.held > MOST_BYTES {
            let Some(oldest) = inner.records.pop_front() else {
                break;
            };
            inner.first += 1;
            inner.held -= oldest.raw.len();
        }
        drop(inner);
        self.grown.notify_waiters();
    }

    /// Counts what is seen and held elsewhere, as a part of how things stand.
    pub fn count(&self, bytes: usize) {
        let mut inner = self.inner();
        inner.counted += 1;
        inner.bytes += bytes as u64;
    }

    /// A number for a stream of this port.
    pub fn stream(&self) -> u64 {
        let mut inner = self.inner();
        inner.streams += 1;
        inner.streams
    }

    /// What has come of a stream's next record.
    pub fn unended(&self, stream: u64, bytes: &[u8]) {
        let mut inner = self.inner();
        if bytes.is_empty() {
            inner.unended.remove(&stream);
        } else {
            inner.unended.insert(stream, bytes.to_vec());
        }
    }

    /// The place behind the last record.
    pub fn mark(&self) -> u64 {
        let inner = self.inner();
        inner.first + inner.records.len() as u64
    }

    /// The records behind a mark.
    pub fn since(&self, mark: u64) -> Since {
        let inner = self.inner();
        let skip = mark.saturating_sub(inner.first) as usize;
        Since {
            records: inner.records.iter().skip(skip).cloned().collect(),
            mark: inner.first + inner.records.len() as u64,
            lost: mark < inner.first,
        }
    }

    /// Lines that have not come to their end, as shadows.
    pub fn open_ends(&self) -> Vec<Arc<Arrival>> {
        let inner = self.inner();
        let ends = inner.unended.values().cloned();
        ends.map(|raw| Arc::new(Arrival { shadow: true, ..Arrival::now(raw) })).collect()
    }

    /// Records and their bytes so far.
    pub fn totals(&self) -> (u64, u64) {
        let inner = self.inner();
        (inner.counted, inner.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stay_true_when_the_oldest_are_given_up() {
        let store = Store::new(Arc::default());
        store.push(Arrival::now(b"a".to_vec()));
        let mark = store.mark();
        store.push(Arrival::now(b"b".to_vec()));
        assert_eq!(store.since(mark).records[0].raw, b"b");
        store.push(Arrival::now(vec![0; MOST_BYTES]));
        let since = store.since(mark);
        assert!(since.lost);
        assert_eq!((since.records.len(), since.mark), (1, 3));
        assert!(!store.since(2).lost);
        assert_eq!(store.totals(), (3, 2 + MOST_BYTES as u64));
    }

    #[test]
    fn shadows_are_not_counted_and_ends_are_seen() {
        let store = Store::new(Arc::default());
        store.push(Arrival { shadow: true, ..Arrival::now(b"body".to_vec()) });
        let stream = store.stream();
        store.unended(stream, b"half a li");
        assert_eq!(store.open_ends()[0].raw, b"half a li");
        store.unended(stream, b"");
        assert!(store.open_ends().is_empty());
        assert_eq!(store.totals().0, 0);
    }
}
