//! The client alone: time and memory are bounded, whatever comes.

use std::time::Duration;

use birdstrike_engine::client::http::{client, post};
use birdstrike_engine::client::{Ending, Transcript};
use birdstrike_wire::capture::KEEP_EDGE;
use reqwest::Url;
use reqwest::header::HeaderMap;

use super::misdeed::Misdeed;
use super::server::Server;
use super::support::{LONG, SHORT};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"typed"}}"#;
/// How much later than its deadline a call may end.
const GRACE: Duration = Duration::from_millis(100);

async fn fire(misdeed: Misdeed, deadline: Duration) -> Transcript {
    let server = Server::start(misdeed).await;
    let (http, url) = (client().unwrap(), Url::parse(&server.url).unwrap());
    let id = Some("1".to_owned());
    post(&http, &url, HeaderMap::new(), CALL.to_owned(), id, deadline).await
}

/// A busy machine may be late once and again; what hangs is late every time.
async fn in_time(misdeed: Misdeed) -> Transcript {
    let mut late = Vec::new();
    for _ in 0..4 {
        let transcript = fire(misdeed, SHORT).await;
        if transcript.took <= SHORT + GRACE {
            return transcript;
        }
        late.push(transcript.took);
    }
    panic!("{misdeed:?} took {late:?}");
}

/// Bytes that a transcript holds.
fn held(transcript: &Transcript) -> usize {
    let body: usize = transcript.body.kept().map(<[u8]>::len).sum();
    let messages: usize = transcript.messages.iter().map(|message| message.len() + 64).sum();
    body + messages
}

#[tokio::test]
async fn nothing_hangs_past_its_deadline() {
    for misdeed in [
        Misdeed::NeverAnswer,
        Misdeed::SlowComments,
        Misdeed::EndlessComments,
        Misdeed::EndlessNotifications,
        Misdeed::EndlessBody,
        Misdeed::LongerLength,
        Misdeed::SlowDrip,
    ] {
        let transcript = in_time(misdeed).await;
        assert!(
            matches!(transcript.ending, Ending::Deadline | Ending::TooMuch),
            "{misdeed:?}: {:?}",
            transcript.ending
        );
    }
}

#[tokio::test]
async fn a_stream_that_has_its_answer_is_not_waited_for() {
    let transcript = in_time(Misdeed::AnswerThenComments).await;
    assert_eq!(transcript.ending, Ending::Complete);
    assert_eq!(transcript.messages.len(), 1);
    let twice = in_time(Misdeed::TwoAnswers).await;
    assert_eq!(twice.messages.len(), 2);
}

#[tokio::test]
async fn of_a_body_without_end_only_both_ends_are_held() {
    let transcript = fire(Misdeed::EndlessBody, LONG).await;
    assert_eq!(transcript.ending, Ending::TooMuch);
    assert!(transcript.body.len() > 64 << 20, "{}", transcript.body.len());
    assert_eq!(held(&transcript), 2 * KEEP_EDGE);
}

#[tokio::test]
async fn a_flood_of_notifications_is_not_held() {
    let transcript = fire(Misdeed::EndlessNotifications, LONG).await;
    assert_eq!(transcript.ending, Ending::TooMuch);
    // 1.2 MiB: a megabyte of messages and both ends of the body.
    assert!(held(&transcript) <= 1_258_291, "{}", held(&transcript));
}
