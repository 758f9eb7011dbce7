//! What came in and what went out, byte for byte.
//!
//! An exchange stands in the journal from the moment its request was read; its answer is added when
//! the last byte of it was handed over, or when the client went away. Exchanges of a call that
//! carries a nonce are kept until they are taken, all others in a ring. The journal holds no more
//! than it is allowed to: beyond that the oldest exchanges go first, and are counted.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::exchange::{Answered, Exchange};
use crate::replies::{Replied, Replies};

/// How many exchanges without a nonce are kept.
pub const KEPT_OTHERS: usize = 1_000;

/// How many exchanges with a nonce are kept until somebody takes them.
pub const KEPT_CALLS: usize = 50_000;

/// The record of everything that a canary was asked and answered.
#[derive(Debug)]
pub struct Journal {
    shelf: Mutex<Shelf>,
    replies: Mutex<Replies>,
    /// Tells waiting readers that something was added.
    changed: Notify,
    limit: usize,
}

#[derive(Debug, Default)]
struct Shelf {
    calls: HashMap<Arc<str>, Vec<Exchange>>,
    /// The nonce of each exchange in `calls`, oldest first.
    order: BTreeMap<u64, Arc<str>>,
    others: VecDeque<Exchange>,
    next: u64,
    held: usize,
    dropped: u64,
}

impl Journal {
    /// A journal that holds about `limit` bytes of bodies and headers.
    pub(crate) fn new(limit: usize) -> Self {
        Self { shelf: Mutex::default(), replies: Mutex::default(), changed: Notify::new(), limit }
    }

    /// All exchanges that carried this nonce, in the order in which they came, and out of the
    /// journal: an answer that is not finished yet is not recorded any more.
    pub fn take(&self, nonce: &str) -> Vec<Exchange> {
        let mut shelf = self.shelf();
        let taken = shelf.calls.remove(nonce).unwrap_or_default();
        for exchange in &taken {
            shelf.order.remove(&exchange.seq);
            shelf.held -= exchange.held();
        }
        taken
    }

    /// How many exchanges with this nonce the journal holds, finished or not.
    pub fn count(&self, nonce: &str) -> usize {
        self.shelf().calls.get(nonce).map_or(0, Vec::len)
    }

    /// Waits until `n` exchanges with this nonce were read. False when the deadline came first.
    pub async fn wait_for(&self, nonce: &str, n: usize, deadline: Instant) -> bool {
        self.wait_until(deadline, || self.count(nonce) >= n).await
    }

    /// Waits until `n` exchanges with this nonce have ended, whole or not. False when the deadline
    /// came first.
    pub async fn wait_finished(&self, nonce: &str, n: usize, deadline: Instant) -> bool {
        let finished = || {
            let shelf = self.shelf();
            let exchanges = shelf.calls.get(nonce).map_or(&[][..], Vec::as_slice);
            exchanges.iter().filter(|e| e.answer.is_some()).count() >= n
        };
        self.wait_until(deadline, finished).await
    }

    /// The exchanges without a nonce: lifecycle, listings, whatever could not be read. A copy of
    /// the last [`KEPT_OTHERS`], oldest first.
    pub fn others(&self) -> Vec<Exchange> {
        self.shelf().others.iter().cloned().collect()
    }

    /// How many exchanges with a nonce were let go because nobody took them in time. As long as
    /// this is zero, a nonce without exchanges was never seen.
    pub fn dropped(&self) -> u64 {
        self.shelf().dropped
    }

    /// What clients replied to requests of the canary's own: a copy of the last 1000, oldest first.
    pub fn replies(&self) -> Vec<Replied> {
        self.said().all()
    }

    /// Waits until there is a reply to this raw id. False when the deadline came first.
    pub async fn wait_reply(&self, id: &str, deadline: Instant) -> bool {
        let ids = [id.to_owned()];
        self.wait_until(deadline, || self.said().answer(&ids)).await
    }

    /// Waits until there is a reply to each of these raw ids.
    pub(crate) async fn replied(&self, ids: &[String]) {
        let long = Duration::from_hours(1);
        while !self.wait_until(Instant::now() + long, || self.said().answer(ids)).await {}
    }

    /// Adds a reply.
    pub(crate) fn reply(&self, reply: Replied) {
        self.said().add(reply);
        self.changed.notify_waiters();
    }

    fn said(&self) -> MutexGuard<'_, Replies> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn wait_until(&self, deadline: Instant, reached: impl Fn() -> bool) -> bool {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Listening begins before the look, or a change in between would be missed.
            changed.as_mut().enable();
            if reached() {
                return true;
            }
            if tokio::time::timeout_at(deadline.into(), changed).await.is_err() {
                return reached();
            }
        }
    }

    /// Adds an exchange whose request was just read, and gives its number.
    pub(crate) fn open(&self, mut exchange: Exchange) -> u64 {
        let mut shelf = self.shelf();
        let seq = shelf.next;
        shelf.next += 1;
        exchange.seq = seq;
        shelf.held += exchange.held();
        if let Some(nonce) = &exchange.nonce {
            let nonce = Arc::clone(nonce);
            shelf.order.insert(seq, Arc::clone(&nonce));
            // Most nonces are called once; room for more than one exchange would be wasted on them.
            shelf.calls.entry(nonce).or_insert_with(|| Vec::with_capacity(1)).push(exchange);
        } else {
            shelf.others.push_back(exchange);
        }
        shelf.shrink(self.limit);
        drop(shelf);
        self.changed.notify_waiters();
        seq
    }

    /// Adds the answer to an exchange, if the journal still has it.
    pub(crate) fn close(&self, nonce: Option<&str>, seq: u64, answered: Answered) {
        let mut shelf = self.shelf();
        let held = answered.held();
        if let Some(exchange) = shelf.find(nonce, seq) {
            exchange.answer = Some(answered);
            shelf.held += held;
            shelf.shrink(self.limit);
        }
        drop(shelf);
        self.changed.notify_waiters();
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Every step leaves the shelf whole, so a panic elsewhere does not make it unusable.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn find(&mut self, nonce: Option<&str>, seq: u64) -> Option<&mut Exchange> {
        if let Some(nonce) = nonce {
            return self.calls.get_mut(nonce)?.iter_mut().find(|e| e.seq == seq);
        }
        let at = self.others.binary_search_by_key(&seq, |e| e.seq).ok()?;
        self.others.get_mut(at)
    }

    /// Lets go of the oldest exchanges until the limits hold again; the newest always stays.
    fn shrink(&mut self, limit: usize) {
        while self.others.len() > KEPT_OTHERS {
            self.drop_other();
        }
        while self.order.len() > KEPT_CALLS {
            self.drop_call();
        }
        while self.held > limit && self.others.len() + self.order.len() > 1 {
            let other = self.others.front().map(|exchange| exchange.seq);
            let call = self.order.first_key_value().map(|(seq, _)| *seq);
            match (other, call) {
                (Some(other), Some(call)) if other > call => self.drop_call(),
                (None, _) => self.drop_call(),
                _ => self.drop_other(),
            }
        }
    }

    fn drop_other(&mut self) {
        if let Some(oldest) = self.others.pop_front() {
            self.held -= oldest.held();
        }
    }

    fn drop_call(&mut self) {
        let Some((seq, nonce)) = self.order.pop_first() else {
            return;
        };
        let Some(calls) = self.calls.get_mut(&nonce) else {
            return;
        };
        if let Some(at) = calls.iter().position(|e| e.seq == seq) {
            self.held -= calls.remove(at).held();
            self.dropped += 1;
        }
        if calls.is_empty() {
            self.calls.remove(&nonce);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::tests::{answered, exchange};

    fn journal(limit: usize) -> Journal {
        Journal::new(limit)
    }

    #[test]
    fn an_exchange_is_seen_before_its_answer() {
        let journal = journal(1 << 20);
        let seq = journal.open(exchange(Some("n"), b"{}"));
        assert_eq!(journal.count("n"), 1);
        journal.close(Some("n"), seq, answered(b"{}", true));
        let taken = journal.take("n");
        assert!(taken[0].answer.as_ref().unwrap().complete);
        assert_eq!((journal.count("n"), journal.take("n").len()), (0, 0));
        assert_eq!(journal.shelf().held, 0);
    }

    #[test]
    fn others_are_a_ring() {
        let journal = journal(1 << 30);
        let first = journal.open(exchange(None, b"{}"));
        for _ in 0..KEPT_OTHERS {
            journal.open(exchange(None, b"{}"));
        }
        let others = journal.others();
        assert_eq!((others.len(), others[0].seq), (KEPT_OTHERS, first + 1));
        journal.close(None, first, answered(b"{}", true));
        journal.close(None, first + 1, answered(b"{}", true));
        assert!(journal.others()[0].answer.is_some());
    }

    #[test]
    fn the_oldest_go_first_when_bytes_run_out() {
        let journal = journal(10_000);
        for n in 0..20 {
            journal.open(exchange(None, b"{}"));
            journal.open(exchange(Some(&n.to_string()), &[b'x'; 1_000]));
        }
        assert_eq!(journal.count("0"), 0);
        assert_eq!(journal.count("19"), 1);
        assert!(journal.dropped() > 0);
        assert!(journal.shelf().held <= 10_000);
        let shelf = journal.shelf();
        assert_eq!(shelf.calls.len(), shelf.order.len());
        assert!(shelf.others.len().abs_diff(shelf.order.len()) <= 1, "both kinds go by age");
    }

    #[tokio::test]
    async fn waiting_ends_with_the_event_or_the_deadline() {
        let journal = Arc::new(journal(1 << 20));
        let later = Instant::now() + Duration::from_secs(5);
        let waiting = tokio::spawn({
            let journal = Arc::clone(&journal);
            async move {
                journal.wait_for("n", 1, later).await && journal.wait_finished("n", 1, later).await
            }
        });
        tokio::task::yield_now().await;
        let seq = journal.open(exchange(Some("n"), b"{}"));
        tokio::task::yield_now().await;
        journal.close(Some("n"), seq, answered(b"{}", false));
        assert!(waiting.await.unwrap());
        assert!(!journal.wait_for("n", 2, Instant::now()).await);
    }
}
