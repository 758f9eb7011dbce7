//! The sessions of clients of the handshake revisions (R-HTTP-28): what each declared, what it has
//! in flight, what it was asked, and where it listens.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use birdstrike_wire::Revision;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::surfaces::truncation::Owner;

/// Sessions that are kept; with more, the oldest ends.
const KEPT: usize = 10_000;
/// Messages that may wait for a client to read them.
pub(crate) const QUEUE: usize = 64;

/// All open sessions, and the subscriptions of clients without one.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: Mutex<Known>,
    subscribers: Mutex<Vec<Subscriber>>,
}

#[derive(Debug, Default)]
struct Known {
    by_id: HashMap<String, Arc<Session>>,
    order: VecDeque<String>,
}

/// A `subscriptions/listen` of a client of 2026-07-28.
#[derive(Debug)]
struct Subscriber {
    /// The methods that it asked for.
    methods: Vec<&'static str>,
    /// What its notifications are marked with: the raw id of its request.
    id: String,
    to: mpsc::Sender<String>,
}

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) revision: Revision,
    /// Whose it is: nobody else may use it.
    pub(crate) owner: Owner,
    /// What an upstream may ask its client for, a raw object.
    pub(crate) capabilities: String,
    /// Fires when the session ends.
    pub(crate) ended: CancellationToken,
    log_level: Mutex<Option<String>>,
    calls: Mutex<Vec<(u64, String, CancellationToken)>>,
    questions: Mutex<HashMap<String, oneshot::Sender<String>>>,
    streams: Mutex<Vec<mpsc::Sender<String>>>,
    numbers: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every step leaves the value whole, so a panic elsewhere does not make it unusable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    /// Opens a session.
    pub(crate) fn open(
        &self,
        revision: Revision,
        owner: Owner,
        capabilities: String,
    ) -> Arc<Session> {
        let session = Arc::new(Session {
            // Nobody can guess one from others (R-HTTP-28).
            id: uuid::Uuid::new_v4().to_string(),
            revision,
            owner,
            capabilities,
            ended: CancellationToken::new(),
            log_level: Mutex::default(),
            calls: Mutex::default(),
            questions: Mutex::default(),
            streams: Mutex::default(),
            numbers: AtomicU64::new(1),
        });
        let mut known = lock(&self.known);
        known.by_id.insert(session.id.clone(), Arc::clone(&session));
        known.order.push_back(session.id.clone());
        if known.order.len() > KEPT
            && let Some(oldest) = known.order.pop_front()
            && let Some(oldest) = known.by_id.remove(&oldest)
        {
            oldest.ended.cancel();
        }
        session
    }

    /// The open session of this id.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.known).by_id.get(id).cloned()
    }

    /// Ends a session with everything that it has in flight.
    pub(crate) fn end(&self, session: &Session) {
        let mut known = lock(&self.known);
        known.by_id.remove(&session.id);
        known.order.retain(|id| *id != session.id);
        session.ended.cancel();
    }

    /// Subscribes a client of 2026-07-28 to these notifications, which are marked with its id, and
    /// sends it a first message.
    pub(crate) fn subscribe(
        &self,
        methods: Vec<&'static str>,
        id: &str,
        first: String,
    ) -> mpsc::Receiver<String> {
        let (to, messages) = mpsc::channel(QUEUE);
        let _ = to.try_send(first);
        let mut subscribers = lock(&self.subscribers);
        subscribers.retain(|subscriber| !subscriber.to.is_closed());
        subscribers.push(Subscriber { methods, id: id.to_owned(), to });
        messages
    }

    /// Tells everybody who listens that a list has changed: each once (R-HTTP-08, R-SUB-01). Whoever
    /// does not read is passed over, and finds out at its next listing.
    pub(crate) fn tell_all(&self, method: &str) {
        let plain = birdstrike_wire::envelope::notification(method, None);
        let sessions: Vec<_> = lock(&self.known).by_id.values().cloned().collect();
        for session in sessions {
            session.tell(plain.clone());
        }
        for subscriber in lock(&self.subscribers).iter().filter(|s| s.methods.contains(&method)) {
            let meta = format!("{{\"_meta\":{}}}", subscription_meta(&subscriber.id));
            let message = birdstrike_wire::envelope::notification(method, Some(&meta));
            let _ = subscriber.to.try_send(message);
        }
    }
}

/// The `_meta` of what belongs to a subscription.
pub(crate) fn subscription_meta(id: &str) -> String {
    format!("{{\"io.modelcontextprotocol/subscriptionId\":{id}}}")
}

impl Session {
    /// Opens a stream for what belongs to no request.
    pub(crate) fn listen(&self) -> mpsc::Receiver<String> {
        let (to, messages) = mpsc::channel(QUEUE);
        lock(&self.streams).push(to);
        messages
    }

    /// Whether a stream is open.
    pub(crate) fn listens(&self) -> bool {
        lock(&self.streams).iter().any(|stream| !stream.is_closed())
    }

    /// Sends a message on the newest stream that is open. Whether there is one.
    pub(crate) fn tell(&self, message: String) -> bool {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| !stream.is_closed());
        streams.last().is_some_and(|stream| stream.try_send(message).is_ok())
    }

    /// The level from which on log messages are wanted, if the client set one.
    pub(crate) fn log_level(&self) -> Option<String> {
        lock(&self.log_level).clone()
    }

    /// Sets it.
    pub(crate) fn set_log_level(&self, level: String) {
        *lock(&self.log_level) = Some(level);
    }

    /// Enters a request that can be cancelled from now on.
    pub(crate) fn enter(self: &Arc<Self>, id: &str) -> InFlight {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let cancelled = self.ended.child_token();
        lock(&self.calls).push((number, id.to_owned(), cancelled.clone()));
        InFlight { session: Arc::clone(self), number, cancelled }
    }

    /// Cancels the requests that are meant.
    pub(crate) fn cancel(&self, means: impl Fn(&str) -> bool) {
        for (_, _, cancelled) in lock(&self.calls).iter().filter(|(_, id, _)| means(id)) {
            cancelled.cancel();
        }
    }

    /// A question to the client, whose answer is waited for.
    pub(crate) fn ask(self: &Arc<Self>) -> Question {
        let id = self.numbers.fetch_add(1, Ordering::Relaxed).to_string();
        let (to, answer) = oneshot::channel();
        lock(&self.questions).insert(id.clone(), to);
        Question { session: Arc::clone(self), id, answer }
    }

    /// Takes the client's answer to a question. Whether somebody waits for it.
    pub(crate) fn answer(&self, id: &str, message: &str) -> bool {
        let waiting = lock(&self.questions).remove(id);
        waiting.is_some_and(|to| to.send(message.to_owned()).is_ok())
    }
}

/// A request under way; it is forgotten when this is dropped.
#[derive(Debug)]
pub(crate) struct InFlight {
    session: Arc<Session>,
    number: u64,
    /// Fires when the client cancels it, or ends its session.
    pub(crate) cancelled: CancellationToken,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        lock(&self.session.calls).retain(|(number, ..)| *number != self.number);
    }
}

/// A question that waits for its answer; it is forgotten when this is dropped.
#[derive(Debug)]
pub(crate) struct Question {
    session: Arc<Session>,
    /// The raw id under which the client is asked.
    pub(crate) id: String,
    /// The whole message that answers it.
    pub(crate) answer: oneshot::Receiver<String>,
}

impl Drop for Question {
    fn drop(&mut self) {
        lock(&self.session.questions).remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(sessions: &Sessions) -> Arc<Session> {
        sessions.open(Revision::V2025_11_25, Owner::default(), "{}".into())
    }

    #[test]
    fn a_session_is_found_until_it_ends() {
        let sessions = Sessions::default();
        let (one, two) = (session(&sessions), session(&sessions));
        assert!(sessions.find(&one.id).is_some() && sessions.find("x").is_none());
        let call = one.enter("1");
        sessions.end(&one);
        assert!(sessions.find(&one.id).is_none() && call.cancelled.is_cancelled());
        assert!(sessions.find(&two.id).is_some());
    }

    #[test]
    fn only_so_many_are_kept() {
        let sessions = Sessions::default();
        let first = session(&sessions);
        for _ in 0..KEPT {
            session(&sessions);
        }
        assert!(sessions.find(&first.id).is_none() && first.ended.is_cancelled());
    }

    #[test]
    fn a_message_goes_over_one_stream_of_a_session() {
        let sessions = Sessions::default();
        let one = session(&sessions);
        assert!(!one.tell("m".into()));
        let (mut first, mut second) = (one.listen(), one.listen());
        let mut subscriber = sessions.subscribe(vec!["a"], "\"s\"", "first".into());
        sessions.tell_all("a");
        sessions.tell_all("b");
        assert!(second.try_recv().is_ok() && second.try_recv().is_ok());
        assert!(first.try_recv().is_err());
        assert_eq!(subscriber.try_recv().as_deref(), Ok("first"));
        assert!(subscriber.try_recv().unwrap().contains(r#"subscriptionId":"s""#));
        assert!(subscriber.try_recv().is_err());
        drop(second);
        assert!(one.tell("m".into()) && first.try_recv().is_ok());
    }

    #[test]
    fn an_answer_finds_its_question_once() {
        let sessions = Sessions::default();
        let one = session(&sessions);
        let mut question = one.ask();
        assert!(!one.answer("\"x\"", "m"));
        assert!(one.answer(&question.id, "m") && !one.answer(&question.id, "m"));
        assert_eq!(question.answer.try_recv().as_deref(), Ok("m"));
        let gone = one.ask();
        let id = gone.id.clone();
        drop(gone);
        assert!(!one.answer(&id, "m"));
    }
}
