//! What a client does beside its request: it replies to what it is asked before its answer.

use birdstrike_wire::{Envelope, Kind, codes, envelope};
use indexmap::IndexMap;
use reqwest::Url;
use reqwest::header::HeaderMap;

/// The replies that a client has ready: results as JSON text, by method.
pub type Replies = IndexMap<String, String>;

/// Who replies to requests of the server, and where.
pub(super) struct Replier<'a> {
    pub(super) http: &'a reqwest::Client,
    pub(super) url: &'a Url,
    pub(super) headers: &'a HeaderMap,
    pub(super) replies: &'a Replies,
}

impl Replier<'_> {
    /// Replies to a message, if it is a request; reading goes on meanwhile.
    pub(super) fn hear(&self, message: &[u8]) {
        if let Some(reply) = reply(message, self.replies) {
            let request = self.http.post(self.url.clone()).headers(self.headers.clone());
            tokio::spawn(request.body(reply).send());
        }
    }
}

/// The reply to a request; nothing for any other message. A ping has an empty result, and what is
/// not ready is refused.
fn reply(message: &[u8], replies: &Replies) -> Option<String> {
    let message = Envelope::read(message).ok()?;
    let (Kind::Request, Some(id), Some(method)) = (message.kind(), message.id(), message.method())
    else {
        return None;
    };
    Some(match (replies.get(&*method), &*method) {
        (Some(result), _) => envelope::result(id, result),
        (None, "ping") => envelope::result(id, "{}"),
        (None, _) => {
            let error = envelope::error_object(codes::METHOD_NOT_FOUND, "not answered here", None);
            envelope::error(Some(id), &error)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_alone_are_replied_to() {
        let replies = Replies::from([("roots/list".to_owned(), "{\"roots\":[]}".to_owned())]);
        let asked =
            |method: &str| reply(envelope::request("\"q\"", method, "{}").as_bytes(), &replies);
        assert_eq!(asked("ping").unwrap(), envelope::result("\"q\"", "{}"));
        assert_eq!(asked("roots/list").unwrap(), envelope::result("\"q\"", "{\"roots\":[]}"));
        assert!(asked("sampling/createMessage").unwrap().contains("-32601"));
        for message in [envelope::notification("n", None), envelope::result("1", "{}")] {
            assert_eq!(reply(message.as_bytes(), &replies), None);
        }
    }
}
