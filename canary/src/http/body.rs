//! The body of an HTTP answer: it keeps the pace of its plan and breaks where its plan breaks.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc::UnboundedReceiver;

use super::flush::Flushes;
use crate::emit::Emitter;
use crate::in_flight::Waiting;
use crate::sse;

/// What breaks the connection under an answer. It never reaches a client as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    /// The plan wants it so.
    #[error("the answer is cut here, as planned")]
    Planned,
    /// The canary stops.
    #[error("the canary stops")]
    Stopping,
}

/// What comes after the last byte.
#[derive(Debug)]
pub(crate) enum Then {
    /// The end of the body.
    End,
    /// The end of the connection.
    Cut,
    /// Comments without end, with this pause between them.
    Comments(Duration),
    /// Announcements, each an event of its own, until the canary stops.
    Announcements(UnboundedReceiver<String>),
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    emitter: Emitter,
    /// The pause before each step but the first.
    pause: Duration,
    then: Then,
    /// The length, if it is announced; a cut comes before it.
    length: Option<u64>,
    flushes: Arc<Flushes>,
    /// How often the connection had been flushed when the last byte was handed over.
    flushed: Option<u64>,
    waiting: Option<Until>,
    cancelled: Option<(Waiting, Until)>,
}

/// Something that will be over.
struct Until(Pin<Box<dyn Future<Output = ()> + Send>>);

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Until")
    }
}

impl Until {
    fn new(future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Box::pin(future))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl AnswerBody {
    /// A body of this length, if the length is announced.
    pub(crate) fn new(
        emitter: Emitter,
        then: Then,
        length: Option<u64>,
        flushes: Arc<Flushes>,
    ) -> Self {
        Self {
            emitter,
            pause: Duration::ZERO,
            then,
            length,
            flushes,
            flushed: None,
            waiting: None,
            cancelled: None,
        }
    }

    /// The same body with a pause between its steps.
    pub(crate) fn paced(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// The same body, which ends when it is cancelled while it waits.
    pub(crate) fn cancelled_by(self, waiting: Option<Waiting>) -> Self {
        let cancelled = waiting.map(|waiting| {
            let token = waiting.token().clone();
            (waiting, Until::new(async move { token.cancelled().await }))
        });
        Self { cancelled, ..self }
    }

    /// Ready once nothing has to be waited for; with true if the answer was cancelled meanwhile.
    fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let Some(waiting) = &mut self.waiting else {
            return Poll::Ready(false);
        };
        if waiting.poll(cx).is_pending() {
            let cancelled = self.cancelled.as_mut();
            return match cancelled.map(|(_, cancelled)| cancelled.poll(cx)) {
                Some(Poll::Ready(())) => Poll::Ready(true),
                _ => Poll::Pending,
            };
        }
        self.waiting = None;
        Poll::Ready(false)
    }

    /// Closes the connection, but not before everything is out of the buffers above it: a cut after
    /// n bytes shows the client n bytes.
    fn poll_cut(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let since = *self.flushed.get_or_insert_with(|| self.flushes.count());
        ready!(self.flushes.poll_beyond(since, cx));
        Poll::Ready(Some(Err(Broken::Planned)))
    }

    fn pause(&mut self, pause: Duration) {
        if !pause.is_zero() {
            self.waiting = Some(Until::new(tokio::time::sleep(pause)));
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        loop {
            if ready!(self.poll_wait(cx)) {
                return Poll::Ready(None);
            }
            if let Some(bytes) = self.emitter.next() {
                let pause = self.pause;
                self.pause(pause);
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            let Some(wait) = self.emitter.step() else {
                break;
            };
            let journal = self.emitter.entry().journal();
            self.waiting = Some(Until::new(wait.over(journal)));
        }
        match &mut self.then {
            Then::End => Poll::Ready(None),
            Then::Cut => self.poll_cut(cx),
            Then::Comments(every) => {
                let every = *every;
                self.pause(every);
                let comment = Bytes::from_static(b": still here\n\n");
                self.emitter.entry().add(&comment);
                Poll::Ready(Some(Ok(Frame::data(comment))))
            }
            Then::Announcements(messages) => {
                let Some(message) = ready!(messages.poll_recv(cx)) else {
                    self.emitter.entry().finish(true);
                    return Poll::Ready(None);
                };
                let event = sse::announced(&message);
                self.emitter.entry().add(&event);
                Poll::Ready(Some(Ok(Frame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.then, Then::End) && self.emitter.is_done()
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
