//! A connection that tells when everything written to it has left.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Counts how often a connection was flushed to its end.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    count: AtomicU64,
    waiting: Mutex<Option<Waker>>,
}

impl Flushes {
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Ready once the connection was flushed more often than `since`.
    pub(crate) fn poll_beyond(&self, since: u64, cx: &mut Context<'_>) -> Poll<()> {
        // The waker goes in before the look, or a flush in between would wake nobody.
        *self.waiting() = Some(cx.waker().clone());
        if self.count() > since {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn flushed(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
        if let Some(waker) = self.waiting().take() {
            waker.wake();
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A TCP connection that counts its flushes. The HTTP layer flushes only when its own buffer is
/// empty, so a flush means that all it was given is with the operating system.
#[derive(Debug)]
pub(crate) struct Counted {
    stream: TcpStream,
    flushes: Arc<Flushes>,
}

impl Counted {
    pub(crate) fn new(stream: TcpStream) -> (Self, Arc<Flushes>) {
        let flushes = Arc::new(Flushes::default());
        let counted = Self { stream, flushes: Arc::clone(&flushes) };
        (counted, flushes)
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        if polled.is_ready() {
            self.flushes.flushed();
        }
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
