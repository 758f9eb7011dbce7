//! Events: one JSON object a finished call, kept for `GET /history` and sent to whoever listens.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;

use crate::config::EventsConfig;
use crate::surfaces::record::Record;

/// Events that a slow listener may be behind; then it misses some and is told how many.
const BEHIND: usize = 1024;

pub(crate) struct Events {
    history: Mutex<VecDeque<Arc<str>>>,
    kept: usize,
    live: Mutex<Option<broadcast::Sender<Arc<str>>>>,
}

impl Events {
    pub(super) fn new(config: EventsConfig) -> Self {
        let live = Mutex::new(Some(broadcast::channel(BEHIND).0));
        Self { history: Mutex::default(), kept: config.history, live }
    }

    pub(super) fn tell(&self, record: &Record) {
        let event: Arc<str> = event(record).into();
        {
            let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
            while history.len() >= self.kept {
                history.pop_front();
            }
            history.push_back(event.clone());
        }
        if let Some(live) = &*self.live.lock().unwrap_or_else(PoisonError::into_inner) {
            // Nobody may be listening.
            let _ = live.send(event);
        }
    }

    /// The newest events, the newest last: a JSON array.
    pub(crate) fn history(&self) -> String {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let events: Vec<&str> = history.iter().map(|event| &**event).collect();
        format!("[{}]", events.join(","))
    }

    /// The events from now on; `None` when there are no more.
    pub(crate) fn listen(&self) -> Option<broadcast::Receiver<Arc<str>>> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.as_ref().map(broadcast::Sender::subscribe)
    }

    /// There are no more.
    pub(super) fn close(&self) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// An event holds no words of an upstream, on purpose: many listen.
fn event(record: &Record) -> String {
    let mut out =
        format!("{{\"type\":\"{}\",\"time\":\"{:.3}\"", record.finish.event(), record.ended);
    for (name, value) in record.members() {
        let _ = write!(out, ",\"{name}\":{}", value.json());
    }
    if let Some(healthy) = record.healthy {
        let _ = write!(out, ",\"health\":\"{}\"", if healthy { "up" } else { "down" });
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surfaces::record::tests::odd;

    #[test]
    fn history_has_an_end_and_the_newest_is_last() {
        let events = Events::new(EventsConfig { history: 2 });
        assert_eq!(events.history(), "[]");
        for bytes in [1, 2, 3] {
            events.tell(&Record { bytes, ..odd() });
        }
        let history: Vec<serde_json::Value> = serde_json::from_str(&events.history()).unwrap();
        let bytes: Vec<_> = history.iter().map(|event| event["bytes"].as_u64()).collect();
        assert_eq!(bytes, [Some(2), Some(3)]);
        assert_eq!(
            (&history[0]["health"], &history[0]["tool"]),
            (&"up".into(), &odd().tool.into())
        );
        assert!(!events.history().contains("\"error\""));
    }

    #[tokio::test]
    async fn a_listener_gets_what_comes_and_then_the_end() {
        let events = Events::new(EventsConfig { history: 2 });
        let mut listener = events.listen().unwrap();
        events.tell(&odd());
        assert!(listener.recv().await.unwrap().contains("call_failed"));
        events.close();
        assert!(listener.recv().await.is_err() && events.listen().is_none());
    }
}
