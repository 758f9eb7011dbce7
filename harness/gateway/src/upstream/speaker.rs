//! How an upstream is told something that is no request: answers, notifications.

use http::HeaderMap;
use tokio::sync::mpsc;

use super::http::Http;

/// A way to say something to an upstream, that may outlive the request which it belongs to.
#[derive(Clone, Debug)]
pub(crate) enum Speaker {
    /// A POST of its own, in the session.
    Http(Http, HeaderMap),
    /// A line.
    Stdio(mpsc::Sender<String>),
}

impl Speaker {
    /// Says it, without waiting until it arrives.
    pub(crate) fn say(&self, message: String) {
        match self.clone() {
            Self::Http(http, headers) => {
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn(async move { http.tell(message, headers).await });
                }
            }
            // A program that does not read has no use for it either.
            Self::Stdio(lines) => drop(lines.try_send(message)),
        }
    }
}
