//! Starting, stopping, losing and finding upstreams.

use std::time::{Duration, Instant};

use birdstrike_gateway::{Config, Gateway, StartError, Steps};
use birdstrike_wire::json;

use super::support::*;

const GOOD: &str = r#"{"resultType":"complete","content":[]}"#;

#[tokio::test]
async fn it_starts_while_its_upstream_is_down_and_finds_it_later() {
    for revision in [A, B, C] {
        let mut upstream = Upstream::start(revision, Framing::Length);
        upstream.result("x", GOOD);
        upstream.stop().await;
        let running = before(&upstream).await;
        let client = Client::new(&running, C);
        let got = client.call("x", "{}").await;
        assert_eq!((got.code(), got.cause().as_str()), (-31001, "unreachable"));
        assert!(got.message().contains("cannot be reached"), "{got:?}");
        upstream.restart().await;
        assert!(client.call("x", "{}").await.result().contains("content"));
        upstream.restart().await;
        assert!(client.call("x", "{}").await.result().contains("content"), "after a restart");
    }
}

#[tokio::test]
async fn a_session_that_ended_is_opened_anew_once() {
    let upstream = Upstream::start(B, Framing::Length);
    upstream.result("x", GOOD);
    let running = before(&upstream).await;
    let client = Client::new(&running, B);
    client.call("x", "{}").await;
    upstream.end_sessions();
    assert!(client.call("x", "{}").await.result().contains("content"));
    assert_eq!(upstream.received("initialize").len(), 2);
    assert_eq!(upstream.received("notifications/initialized").len(), 2);
    let calls = upstream.received("tools/call");
    assert_eq!(calls.last().unwrap().header("mcp-session-id"), Some("1"));
}

#[tokio::test]
async fn calls_that_come_together_share_one_handshake() {
    let upstream = Upstream::start(A, Framing::Length);
    upstream.result("x", GOOD);
    let running = before(&upstream).await;
    let client = Client::new(&running, C);
    let calls: Vec<_> = (0..20).map(|_| client.start_call("x")).collect();
    for call in calls {
        assert!(call.await.unwrap().result().contains("content"));
    }
    assert_eq!(upstream.received("initialize").len(), 1);
}

#[tokio::test]
async fn clients_with_equal_ids_get_their_own_answers() {
    for revision in [A, C] {
        let upstream = Upstream::start(revision, Framing::Events);
        upstream.tool("echo", Say::Echo);
        let running = before(&upstream).await;
        let calls = (0..40).map(|number| {
            let client = Client::new(&running, if number % 2 == 0 { B } else { C });
            let marker = format!("{{\"marker\":\"m-{number}-m\"}}");
            tokio::spawn(async move { (client.call("echo", &marker).await, marker) })
        });
        for call in calls.collect::<Vec<_>>() {
            let (got, marker) = call.await.unwrap();
            assert!(got.result().contains(&marker), "{got:?}");
        }
    }
}

#[tokio::test]
async fn a_stateless_client_that_goes_away_cancels_its_call() {
    for (up, down, cancelled) in [(C, C, true), (B, C, true), (C, B, false)] {
        let upstream = Upstream::start(up, Framing::Length);
        upstream.tool("slow", Say::Silence).result("x", GOOD);
        let running = before(&upstream).await;
        let client = Client::new(&running, down);
        let call = client.start_call("slow");
        until("the call is there", || upstream.received("tools/call").len() == 1).await;
        call.abort();
        if cancelled {
            until("the upstream's work ends", || upstream.open() == 0).await;
        }
        if up == B {
            until("the upstream is told", || {
                !upstream.received("notifications/cancelled").is_empty()
            })
            .await;
        }
        assert!(client.call("x", "{}").await.result().contains("content"));
        assert_eq!(upstream.open() == 0, cancelled);
        assert_eq!(running.log.text().contains(r#""error_type":"cancelled""#), cancelled);
    }
}

#[tokio::test]
async fn stopping_ends_everything_within_a_second() {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.tool("slow", Say::Silence);
    let running = before(&upstream).await;
    let call = Client::new(&running, B).start_call("slow");
    until("the call is there", || upstream.received("tools/call").len() == 1).await;
    let began = Instant::now();
    running.gateway.stop().await;
    assert!(began.elapsed() < Duration::from_secs(1));
    until("the upstream's work ends", || upstream.open() == 0).await;
    let got = call.await.unwrap();
    assert_eq!((got.code(), got.message().as_str()), (-32603, "the gateway is stopping"));
}

#[tokio::test]
async fn a_call_under_way_may_end_while_stopping() {
    let upstream = Upstream::start(C, Framing::Length);
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    upstream.tool("slow", Say::Gated(gate.clone(), Box::new(Say::Result(GOOD.into()))));
    let running = before(&upstream).await;
    let call = Client::new(&running, C).start_call("slow");
    until("the call is there", || upstream.received("tools/call").len() == 1).await;
    let stopping = tokio::spawn(running.gateway.stop());
    gate.add_permits(1);
    assert!(call.await.unwrap().result().contains("complete"));
    stopping.await.unwrap();
}

#[tokio::test]
async fn an_address_that_is_taken_is_said() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = before(&upstream).await;
    let text =
        format!("{{listen: '{}', upstreams: {{a: {{url: 'http://x/'}}}}}}", running.gateway.addr());
    let config = Config::from_text(&text).unwrap();
    let error = Gateway::start(config, Steps::RIGHT, Box::new(std::io::sink())).await.unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }));
    assert!(error.to_string().contains("cannot listen"));
}

#[tokio::test]
async fn the_log_tells_of_each_call_and_nothing_of_its_content() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = before(&upstream).await;
    upstream
        .result("good", r#"{"resultType":"complete","content":[{"type":"text","text":"secret"}]}"#);
    upstream.result(
        "fails",
        r#"{"resultType":"complete","content":[{"type":"text","text":"secret"}],"isError":true}"#,
    );
    upstream.tool("error", Say::Error(r#"{"code":-7,"message":"secret"}"#.into()));
    upstream.tool("broken", Say::Message(b"secret".to_vec()));
    let client = Client::new(&running, C);
    for tool in ["good", "fails", "error", "broken"] {
        client.call(tool, r#"{"a":"secret"}"#).await;
    }
    let calls = running.log.events("call");
    let outcomes: Vec<_> =
        calls.iter().map(|line| json::get_string(line, "outcome").unwrap()).collect();
    assert_eq!(outcomes, ["ok", "tool_error", "rpc_error", "failed"]);
    assert!(calls[2].contains(r#""code":-7"#) && calls[3].contains(r#""error_type":"bad_answer""#));
    for line in &calls {
        assert_eq!(json::get_string(line, "route").as_deref(), Some("flat"));
        assert!(json::get(line, "bytes").is_some() && json::get(line, "elapsed_ms").is_some());
    }
    assert!(!running.log.text().contains("secret"));
    assert!(running.log.text().lines().all(|line| json::members(line).is_ok()));
}
