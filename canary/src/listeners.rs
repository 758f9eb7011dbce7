//! Clients that listen for messages beside any answer: with an open GET stream, or on stdio.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Those who listen to one upstream.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Mutex<Vec<Listener>>);

#[derive(Debug)]
struct Listener {
    /// Whoever has no session is a client of its own.
    session: Option<String>,
    to: UnboundedSender<String>,
}

impl Listeners {
    /// Everything that is announced from now on.
    pub(crate) fn listen(&self, session: Option<String>) -> UnboundedReceiver<String> {
        let (to, messages) = unbounded_channel();
        self.all().push(Listener { session, to });
        messages
    }

    /// Tells every client a message, once: never on two streams of one session (R-HTTP-08). How many
    /// were told.
    pub(crate) fn tell(&self, message: &str) -> usize {
        let mut listeners = self.all();
        listeners.retain(|listener| !listener.to.is_closed());
        let mut sessions = HashSet::new();
        listeners
            .iter()
            .filter(|l| l.session.as_ref().is_none_or(|id| sessions.insert(id)))
            .filter(|listener| listener.to.send(message.to_owned()).is_ok())
            .count()
    }

    /// How many listen.
    pub(crate) fn count(&self) -> usize {
        self.all().iter().filter(|listener| !listener.to.is_closed()).count()
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        self.all().clear();
    }

    fn all(&self) -> MutexGuard<'_, Vec<Listener>> {
        // Every step leaves the list whole, so a panic elsewhere does not make it unusable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_told_once_and_a_stranger_each_time() {
        let listeners = Listeners::default();
        let mut first = listeners.listen(Some("s".into()));
        let mut second = listeners.listen(Some("s".into()));
        let mut strangers = [listeners.listen(None), listeners.listen(None)];
        assert_eq!(listeners.tell("m"), 3);
        assert_eq!(first.try_recv().as_deref(), Ok("m"));
        assert!(second.try_recv().is_err());
        assert!(strangers.iter_mut().all(|s| s.try_recv().is_ok()));
        drop(first);
        assert_eq!(listeners.tell("m"), 3);
        assert!(second.try_recv().is_ok());
        listeners.close();
        assert_eq!(listeners.tell("m"), 0);
    }
}
