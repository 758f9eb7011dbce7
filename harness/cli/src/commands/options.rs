//! What several commands share.

use std::time::Duration;

/// Reads `2s`, `500ms`, `1min`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if duration.is_zero() { Err("a deadline is longer than nothing".into()) } else { Ok(duration) }
}

/// Returns when the process is asked to end (Ctrl-C, or a termination signal).
pub(super) async fn until_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
