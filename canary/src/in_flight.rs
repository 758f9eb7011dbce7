//! Answers over HTTP that wait, and how `notifications/cancelled` reaches them (R-CANC-02).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// The session, where there is one, and the raw id of the request.
type Key = (Option<String>, String);

/// The waiting answers of one upstream.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    waiting: Mutex<HashMap<Key, Vec<CancellationToken>>>,
}

/// A waiting answer; it is forgotten when this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    all: Arc<InFlight>,
    key: Key,
    cancelled: CancellationToken,
}

impl InFlight {
    /// Adds an answer that waits.
    pub(crate) fn enter(self: &Arc<Self>, session: Option<&str>, id: &str) -> Waiting {
        let key = (session.map(str::to_owned), id.to_owned());
        let cancelled = CancellationToken::new();
        self.waiting().entry(key.clone()).or_default().push(cancelled.clone());
        Waiting { all: Arc::clone(self), key, cancelled }
    }

    /// Cancels the newest answer to this id in this session. Without sessions nobody can tell whose
    /// id it is, and the newest is the likeliest.
    pub(crate) fn cancel(&self, session: Option<&str>, id: &str) {
        let key = (session.map(str::to_owned), id.to_owned());
        if let Some(newest) = self.waiting().get_mut(&key).and_then(Vec::pop) {
            newest.cancel();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<Key, Vec<CancellationToken>>> {
        // Every step leaves the map whole, so a panic elsewhere does not make it unusable.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Fires when the answer is cancelled.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.cancelled
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Marked first, so that it is told apart from others of the same key.
        self.cancelled.cancel();
        let mut waiting = self.all.waiting();
        if let Some(tokens) = waiting.get_mut(&self.key) {
            tokens.retain(|token| !token.is_cancelled());
            if tokens.is_empty() {
                waiting.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_that_is_meant_is_cancelled() {
        let all = Arc::new(InFlight::default());
        let enter = |session| all.enter(session, "1");
        let (a, b, none) = (enter(Some("a")), enter(Some("b")), enter(None));
        let newer = enter(None);
        all.cancel(Some("a"), "\"1\"");
        all.cancel(None, "2");
        assert!(!a.token().is_cancelled());
        all.cancel(Some("a"), "1");
        all.cancel(None, "1");
        assert!(a.token().is_cancelled() && newer.token().is_cancelled());
        assert!(!b.token().is_cancelled() && !none.token().is_cancelled());
        drop((a, b, none, newer));
        assert!(all.waiting().is_empty());
    }
}
