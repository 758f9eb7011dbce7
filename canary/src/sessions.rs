//! Sessions of the handshake revisions (R-HTTP-28).

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use birdstrike_wire::Revision;

/// How many sessions are remembered, open and ended ones together.
const KEPT: usize = 10_000;

/// The sessions of one upstream.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: Mutex<Known>,
    /// Keyed by the operating system's randomness, so that ids cannot be guessed from one another.
    keys: [RandomState; 2],
}

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<String, Session>,
    order: VecDeque<String>,
    minted: u64,
}

/// What is known of a session id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Session {
    /// Open; it agreed on this revision.
    Open(Revision),
    /// Ended by the client.
    Ended,
    /// Never minted here, or forgotten.
    Unknown,
}

impl Sessions {
    /// A new session.
    pub(crate) fn mint(&self, revision: Revision) -> String {
        let mut known = self.known();
        known.minted += 1;
        let [a, b] = self.keys.each_ref().map(|key| key.hash_one(known.minted));
        let id = format!("{a:016x}{b:016x}");
        known.order.push_back(id.clone());
        known.sessions.insert(id.clone(), Session::Open(revision));
        if known.order.len() > KEPT
            && let Some(oldest) = known.order.pop_front()
        {
            known.sessions.remove(&oldest);
        }
        id
    }

    /// What is known of this id.
    pub(crate) fn look_up(&self, id: &str) -> Session {
        self.known().sessions.get(id).copied().unwrap_or(Session::Unknown)
    }

    /// Ends a session. False if it was not open.
    pub(crate) fn end(&self, id: &str) -> bool {
        match self.known().sessions.get_mut(id) {
            Some(session @ Session::Open(_)) => {
                *session = Session::Ended;
                true
            }
            _ => false,
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Every step leaves the maps whole, so a panic elsewhere does not make them unusable.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_opens_once_and_ends_once() {
        let sessions = Sessions::default();
        let id = sessions.mint(Revision::V2025_06_18);
        assert!(id.bytes().all(|b| b.is_ascii_graphic()));
        assert_ne!(id, sessions.mint(Revision::V2025_06_18));
        assert_eq!(sessions.look_up(&id), Session::Open(Revision::V2025_06_18));
        assert!(sessions.end(&id) && !sessions.end(&id));
        assert_eq!(sessions.look_up(&id), Session::Ended);
        assert_eq!(sessions.look_up("x"), Session::Unknown);
    }

    #[test]
    fn only_so_many_are_remembered() {
        let sessions = Sessions::default();
        let first = sessions.mint(Revision::V2025_11_25);
        for _ in 0..KEPT {
            sessions.mint(Revision::V2025_11_25);
        }
        assert_eq!(sessions.look_up(&first), Session::Unknown);
        assert_eq!(sessions.known().sessions.len(), KEPT);
    }
}
