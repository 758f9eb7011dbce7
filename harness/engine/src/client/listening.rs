//! An open stream for what belongs to no request.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use birdstrike_wire::Envelope;
use birdstrike_wire::capture::Capture;
use birdstrike_wire::sse::{Kind, Limits, Parser};
use reqwest::RequestBuilder;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::transcript::{Ending, Transcript};

/// Messages that are held of one stream.
const MOST: usize = 1_000;
/// The first message of a subscription, which says that it is open.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// A stream that is read until this is dropped.
#[derive(Debug)]
pub struct Listening {
    transcript: Transcript,
    heard: Arc<Heard>,
    task: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Heard {
    messages: Mutex<Vec<Vec<u8>>>,
    changed: Notify,
}

impl Heard {
    fn all(&self) -> Vec<Vec<u8>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Messages but for the one that says that the stream is open.
    fn news(&self) -> usize {
        let method = |message: &Vec<u8>| {
            Envelope::read(message).ok().and_then(|m| m.method().map(std::borrow::Cow::into_owned))
        };
        let all = self.all();
        all.iter().filter(|message| method(message).as_deref() != Some(ACKNOWLEDGED)).count()
    }

    async fn until(&self, deadline: Duration, holds: impl Fn(&Self) -> bool) {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                if holds(self) {
                    return;
                }
                changed.await;
            }
        };
        let _ = tokio::time::timeout(deadline, waiting).await;
    }
}

impl Listening {
    /// Opens the stream. One that `acknowledges` is open once it has said so.
    pub(super) async fn open(
        request: RequestBuilder,
        body: String,
        id: Option<String>,
        acknowledges: bool,
        deadline: Duration,
    ) -> Self {
        let started = Instant::now();
        let mut transcript = Transcript {
            request: body,
            id,
            status: None,
            content_type: "text/event-stream".into(),
            session: None,
            body: Capture::of(Vec::new(), true),
            messages: Vec::new(),
            breaks: Vec::new(),
            ending: Ending::Complete,
            took: Duration::ZERO,
        };
        let heard = Arc::new(Heard::default());
        let response = match tokio::time::timeout(deadline, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                transcript.ending = Ending::NoAnswer(error.to_string());
                return Self { transcript, heard, task: None };
            }
            Err(_) => {
                transcript.ending = Ending::Deadline;
                return Self { transcript, heard, task: None };
            }
        };
        transcript.status = Some(response.status().as_u16());
        transcript.took = started.elapsed();
        let opened = response.status().is_success();
        let task = opened.then(|| tokio::spawn(read(response, Arc::clone(&heard))));
        if opened && acknowledges {
            heard.until(deadline, |heard| !heard.all().is_empty()).await;
        }
        Self { transcript, heard, task }
    }

    /// What was heard; waited for until the deadline if it is nothing yet.
    pub async fn heard(&self, deadline: Duration) -> Transcript {
        if self.task.is_some() {
            self.heard.until(deadline, |heard| heard.news() > 0).await;
        }
        Transcript { messages: self.heard.all(), ..self.transcript.clone() }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn read(mut response: reqwest::Response, heard: Arc<Heard>) {
    let mut parser = Parser::new(Limits::default());
    while let Ok(Some(chunk)) = response.chunk().await {
        if parser.push(&chunk, Duration::ZERO).is_err_and(|exceeded| exceeded.is_final()) {
            return;
        }
        for event in parser.drain().filter(|event| event.kind() == Kind::Message) {
            let mut messages = heard.messages.lock().unwrap_or_else(PoisonError::into_inner);
            if messages.len() < MOST {
                messages.push(event.data);
            }
        }
        heard.changed.notify_waiters();
    }
}
