//! What clients answer to the requests that a plan sends before its own answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use birdstrike_wire::capture::Capture;

use crate::exchange::Transport;
use crate::headers::Headers;

/// How many replies are kept.
const KEPT: usize = 1_000;

/// A response that a client sent, to whatever question.
#[derive(Clone, Debug)]
pub struct Replied {
    /// The id as it is written, which says what question it answers; `null` if it has none.
    pub id: String,
    /// The upstream that it was sent to.
    pub upstream: Arc<str>,
    /// How it came.
    pub transport: Transport,
    /// The headers that it came with, its session among them; none on stdio.
    pub headers: Headers,
    /// The message.
    pub message: Capture,
    /// When it was there.
    pub received: Instant,
}

/// The last replies, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Replies(VecDeque<Replied>);

impl Replies {
    pub(crate) fn add(&mut self, reply: Replied) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(reply);
    }

    pub(crate) fn all(&self) -> Vec<Replied> {
        self.0.iter().cloned().collect()
    }

    /// Whether each of these ids was replied to.
    pub(crate) fn answer(&self, ids: &[String]) -> bool {
        ids.iter().all(|id| self.0.iter().any(|reply| reply.id == *id))
    }
}
