//! What several commands share.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Reads `2s`, `500ms`, `1min`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if duration.is_zero() { Err("a deadline is longer than nothing".into()) } else { Ok(duration) }
}

/// Listens from now on for being asked to end (Ctrl-C, or a termination signal); the future is ready
/// once that has happened. Who announces that it is there calls this first.
pub(super) fn until_signal() -> impl Future<Output = ()> {
    let (interrupted, terminated) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async {
        tokio::select! {
            () = received(interrupted) => {}
            () = received(terminated) => {}
        }
    }
}

/// A signal that cannot be listened for never comes.
async fn received(signal: std::io::Result<Signal>) {
    match signal {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}
