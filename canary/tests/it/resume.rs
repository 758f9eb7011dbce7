//! Streams that break, and what a GET brings of the rest.

use std::time::{Duration, Instant};

use birdstrike_canary::{Answer, Canary, Delivery, Encoding, Ending, Plan, Resumable};
use birdstrike_wire::Revision;

use crate::support::{answer, call, canary, client, in_time, send, take};

const OLD: Revision = Revision::V2025_11_25;
const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;

fn plan(canary: &Canary, events: usize, ending: Ending, ready: Duration) {
    let resumable = Some(Resumable { events, ready, retry: Some(250) });
    let before = vec![LOG.to_owned()];
    let by = Delivery { resumable, before, ending, ..Delivery::of(Encoding::Sse) };
    let body = r#"{"content":[]}"#.to_owned();
    canary.script().plan("n", Plan::new(Answer::Rendered { member: "result", body }).by(by));
}

/// Calls in this session and reads until the stream breaks.
async fn broken(canary: &Canary, session: &str) -> String {
    let request = call(&canary.url("main"), OLD, "echo", "{\"nonce\":\"n\"}");
    let request = request.header("mcp-session-id", session);
    let mut response = in_time(request.send()).await.unwrap();
    let mut read = Vec::new();
    while let Ok(Some(chunk)) = in_time(response.chunk()).await {
        read.extend_from_slice(&chunk);
    }
    assert!(!answer(&take(canary, "n").await).complete);
    String::from_utf8(read).unwrap()
}

async fn resumed(canary: &Canary, session: &str, last: &str) -> String {
    let get = client().get(canary.url("main")).header("mcp-session-id", session);
    let seen = send(get.header("last-event-id", last)).await;
    assert_eq!((seen.status, seen.header("content-type")), (200, "text/event-stream"));
    seen.text().to_owned()
}

#[tokio::test]
async fn the_rest_comes_after_any_event_and_to_its_own_session() {
    let canary = canary(|upstream| upstream.sessions = true).await;
    plan(&canary, 1, Ending::Whole, Duration::ZERO);
    assert_eq!(broken(&canary, "a").await, "id: 1-0\nretry: 250\ndata:\n\n");
    plan(&canary, 2, Ending::Whole, Duration::ZERO);
    let second = broken(&canary, "b").await;
    assert!(second.ends_with(&format!("id: 2-1\nevent: message\ndata: {LOG}\n\n")));
    plan(&canary, 9, Ending::CutAfter(20), Duration::ZERO);
    assert_eq!(broken(&canary, "c").await.len(), 20);

    let response = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"id-1\",\"result\":{\"content\":[]}}\n\n";
    let first = resumed(&canary, "a", "1-0").await;
    assert_eq!(first, format!("id: 1-1\nevent: message\ndata: {LOG}\n\nid: 1-2\n{response}"));
    assert_eq!(resumed(&canary, "a", "1-0").await, first, "again, as nobody knows what arrived");
    assert_eq!(resumed(&canary, "b", "2-1").await, format!("id: 2-2\n{response}"));
    for (session, last) in [("b", "1-0"), ("a", "2-1"), ("a", "1-2"), ("a", "9-0"), ("a", "x")] {
        assert_eq!(resumed(&canary, session, last).await, "", "{session} {last}");
    }
    canary.stop().await;
}

#[tokio::test]
async fn an_early_resume_waits_for_the_response() {
    let canary = canary(|_| ()).await;
    let ready = Duration::from_millis(60);
    plan(&canary, 1, Ending::Whole, ready);
    let began = Instant::now();
    broken(&canary, "").await;
    assert!(resumed(&canary, "", "1-0").await.contains("\"result\""));
    assert!(began.elapsed() >= ready);
    let seen = canary.journal().others().pop().unwrap();
    assert_eq!((&*seen.method, seen.request_headers.get("last-event-id")), ("GET", Some("1-0")));
    let message = answer(&seen).message.as_ref().unwrap();
    assert!(message.whole().unwrap().starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":\"id-1\""));
    canary.stop().await;
}

#[tokio::test]
async fn the_newest_revision_has_no_such_thing() {
    let canary = canary(|_| ()).await;
    plan(&canary, 1, Ending::Whole, Duration::ZERO);
    let new = Revision::V2026_07_28;
    let seen = send(call(&canary.url("main"), new, "echo", "{\"nonce\":\"n\"}")).await;
    assert!(seen.text().contains("\"result\"") && !seen.text().contains("id: "));
    let get = client().get(canary.url("main")).header("last-event-id", "1-0");
    assert_eq!(send(get).await.status, 405);
    canary.stop().await;
}
