//! Requests that no client should send.

use std::time::Duration;

use birdstrike_canary::{Canary, Config, StartError, UpstreamSpec};
use birdstrike_wire::{Revision, envelope};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{self, call, canary, canary_of, in_time, post, rules, send};

#[tokio::test]
async fn what_is_no_message_is_refused_and_noted() {
    let canary = canary(|_| ()).await;
    let url = canary.url("main");
    for (body, code) in [
        (&b"{"[..], -32700),
        (b"", -32700),
        (b"{\"a\":\"\xff\"}", -32700),
        (b"\xef\xbb\xbf{}", -32700),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
        (b"7", -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600),
    ] {
        let seen = send(post(&url, body.to_vec())).await;
        assert_eq!((seen.status, seen.code()), (400, code), "{:?}", String::from_utf8_lossy(body));
        let last = canary.journal().others().pop().unwrap();
        assert_eq!(rules(&last), ["R-BASE-01"]);
        assert_eq!(last.request.whole(), Some(body));
    }
    canary.stop().await;
}

#[tokio::test]
async fn a_deep_request_is_answered_like_any_other() {
    let canary = canary(|_| ()).await;
    let deep = format!("{{\"d\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
    let seen = send(call(&canary.url("main"), Revision::V2025_11_25, "echo", &deep)).await;
    assert!(seen.result().contains(&deep));
    canary.stop().await;
}

#[tokio::test]
async fn requests_are_bounded_in_length() {
    let canary = canary_of(|config| config.limits.request = 1_000).await;
    let url = canary.url("main");
    for length in [999, 1_000, 1_001, 100_000] {
        let text = envelope::request("1", "ping", "{}");
        let padded = format!("{text}{}", " ".repeat(length - text.len()));
        let status = send(post(&url, padded)).await.status;
        assert_eq!(status, if length > 1_000 { 413 } else { 200 });
    }
    canary.stop().await;
}

#[tokio::test]
async fn a_slow_sender_is_let_go() {
    let patience = Duration::from_millis(50);
    let canary = canary_of(|config| config.limits.patience = patience).await;
    for (sent, answered) in [
        ("POST /mcp HTTP/1.1\r\nhost: local", ""),
        ("POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{", "HTTP/1.1 408"),
    ] {
        let mut stream = TcpStream::connect(canary.addr()).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut seen = String::new();
        in_time(stream.read_to_string(&mut seen)).await.unwrap();
        assert!(seen.starts_with(answered) && seen.is_empty() == answered.is_empty(), "{seen}");
    }
    canary.stop().await;
}

#[tokio::test]
async fn only_this_machine_is_let_in() {
    let canary = canary(|_| ()).await;
    let url = canary.url("main");
    let ping = || post(&url, envelope::request("1", "ping", "{}"));
    for (name, value) in
        [("origin", "https://example.org"), ("host", "example.org"), ("origin", "null")]
    {
        let seen = send(ping().header(name, value)).await;
        assert_eq!((seen.status, seen.code()), (403, -32600));
        assert_eq!(rules(&canary.journal().others().pop().unwrap()), ["R-HTTP-02"]);
    }
    assert_eq!(send(ping().header("origin", "http://localhost:3000")).await.status, 200);
    canary.stop().await;
}

#[tokio::test]
async fn breaks_of_rules_are_noted_and_served() {
    let canary = canary(|upstream| upstream.sessions = true).await;
    let url = canary.url("main");
    let bare = support::client().post(&url);
    let bare = bare.body(r#"{"jsonrpc":"2.0","id":null,"method":"tools/list","method":"ping"}"#);
    let seen = send(bare.header("mcp-session-id", "made-up")).await;
    assert_eq!((seen.status, seen.text()), (200, r#"{"jsonrpc":"2.0","id":null,"result":{}}"#));
    let noted = canary.journal().others().pop().unwrap();
    let wanted =
        ["R-HTTP-04", "R-HTTP-04", "R-HTTP-04", "R-HTTP-28", "R-BASE-01", "R-BASE-02", "R-HTTP-11"];
    assert_eq!(rules(&noted), wanted, "{:?}", noted.notes);

    let body = support::call_body(Revision::V2026_07_28, "echo", r#"{"nonce":"n","region":"x"}"#);
    let seen = send(post(&url, body).header("mcp-name", "other")).await;
    assert_eq!(seen.status, 200);
    let noted = support::take(&canary, "n").await;
    let wanted = ["R-HTTP-14", "R-HTTP-17", "R-HTTP-17", "R-HTTP-17"];
    assert_eq!(rules(&noted), wanted, "{:?}", noted.notes);
    canary.stop().await;
}

#[tokio::test]
async fn a_configuration_that_contradicts_itself_does_not_start() {
    let start = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        Canary::start(config)
    };
    let spec = |name: &str| UpstreamSpec::new(name, &Revision::ALL);
    assert!(matches!(
        start(|c| c.upstreams[0].name = "a/b".into()).await,
        Err(StartError::BadName(name)) if name == "a/b"
    ));
    let twice = start(|c| c.upstreams.extend(c.upstreams.clone())).await;
    assert!(matches!(twice, Err(StartError::SameName(name)) if name == spec("main").name));
    let mute = start(|c| c.upstreams[0].revisions.clear()).await;
    assert!(matches!(mute, Err(StartError::NoRevision(_))));
    let tools = start(|c| {
        let first = c.upstreams[0].tools[0].clone();
        c.upstreams[0].tools.push(first);
    });
    assert!(matches!(tools.await, Err(StartError::SameTool { .. })));
    let canary = canary(|_| ()).await;
    let listen = canary.addr();
    let taken = Canary::start(Config { listen, ..Config::default() }).await;
    assert!(matches!(taken, Err(StartError::Listen { addr, .. }) if addr == listen));
    canary.stop().await;
}
