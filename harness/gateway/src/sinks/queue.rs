//! A queue with an end, and a task that empties it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::log::Log;

/// Records that may wait for a sink.
const CAPACITY: usize = 1024;
/// How long a sink may take for its last records when the gateway stops.
const LAST_WORDS: Duration = Duration::from_millis(150);

/// What did not arrive at a sink.
pub(super) struct Losses {
    sink: String,
    count: AtomicU64,
    log: Arc<Log>,
}

impl Losses {
    pub(super) fn new(sink: String, log: &Arc<Log>) -> Arc<Self> {
        Arc::new(Self { sink, count: AtomicU64::new(0), log: log.clone() })
    }

    /// Counts some that are lost. The log is told of the first, and then each time that there are
    /// twice as many, so that a dead collector does not fill it.
    pub(super) fn add(&self, records: u64, why: &str) {
        let before = self.count.fetch_add(records, Ordering::Relaxed);
        let after = before + records;
        if before == 0 || before.ilog2() < after.ilog2() {
            let line = self.log.event("sink_lost").text("sink", &self.sink);
            line.number("records", after.into()).text("cause", why).write();
        }
    }

    /// The sink's name, and how many are lost.
    pub(super) fn count(&self) -> (&str, u64) {
        (&self.sink, self.count.load(Ordering::Relaxed))
    }
}

/// The queue of one sink.
pub(super) struct Queue<T> {
    sender: Mutex<Option<mpsc::Sender<T>>>,
    task: Mutex<Option<JoinHandle<()>>>,
    losses: Arc<Losses>,
}

impl<T: Send + 'static> Queue<T> {
    /// A queue that is emptied by what `deliver` makes of its other end.
    pub(super) fn new<D>(losses: Arc<Losses>, deliver: impl FnOnce(mpsc::Receiver<T>) -> D) -> Self
    where
        D: Future<Output = ()> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let task = tokio::spawn(deliver(receiver));
        Self { sender: Mutex::new(Some(sender)), task: Mutex::new(Some(task)), losses }
    }

    /// Puts a record in, or drops it. Never waits.
    pub(super) fn put(&self, record: T) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let put = sender.as_ref().map(|sender| sender.try_send(record));
        drop(sender);
        match put {
            Some(Ok(())) => {}
            Some(Err(_)) => self.losses.add(1, "the queue is full"),
            None => self.losses.add(1, "the gateway is stopping"),
        }
    }

    pub(super) fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Takes no more, and waits a moment until the rest is delivered.
    pub(super) async fn close(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut task) = task
            && tokio::time::timeout(LAST_WORDS, &mut task).await.is_err()
        {
            task.abort();
        }
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            task.abort();
        }
    }
}
