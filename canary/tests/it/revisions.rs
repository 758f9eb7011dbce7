//! The three revisions over HTTP, as a client without any library sees them.

use crate::support::{self, Seen, call, canary, canary_of, post, request_meta, rules, send};
use birdstrike_canary::{Encoding, UpstreamSpec};
use birdstrike_wire::{Revision, envelope, json};

const OLD: [Revision; 2] = [Revision::V2025_06_18, Revision::V2025_11_25];
const NEW: Revision = Revision::V2026_07_28;

fn initialize(version: &str) -> String {
    let client = r#"{"name":"test","version":"1"}"#;
    let params =
        format!(r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{client}}}"#);
    envelope::request("0", "initialize", &params)
}

fn stateless(method: &str) -> String {
    envelope::request("1", method, &format!("{{\"_meta\":{}}}", request_meta()))
}

async fn ask_new(url: &str, method: &str) -> Seen {
    let request = post(url, stateless(method));
    let request = request.header("mcp-protocol-version", "2026-07-28");
    send(request.header("mcp-method", method)).await
}

fn tool_names(seen: &Seen) -> Vec<String> {
    let tools = json::items(json::get(seen.result(), "tools").unwrap()).unwrap();
    tools.into_iter().map(|tool| json::get_string(tool, "name").unwrap()).collect()
}

#[tokio::test]
async fn a_handshake_opens_a_session_and_delete_ends_it() {
    for revision in OLD {
        let canary = canary(|upstream| upstream.sessions = true).await;
        let url = canary.url("main");
        let opened = send(post(&url, initialize(revision.as_str()))).await;
        let version = json::get_string(opened.result(), "protocolVersion");
        assert_eq!(version.as_deref(), Some(revision.as_str()));
        assert!(opened.result().contains("birdstrike-canary"));
        let session = opened.header("mcp-session-id");
        assert!(!session.is_empty());

        let done = envelope::notification("notifications/initialized", None);
        let within = |body: String| {
            post(&url, body)
                .header("mcp-session-id", session)
                .header("mcp-protocol-version", revision.as_str())
        };
        let accepted = send(within(done)).await;
        assert_eq!((accepted.status, accepted.body.len()), (202, 0));
        let listed = send(within(envelope::request("1", "tools/list", "{}"))).await;
        assert_eq!(tool_names(&listed), support::names());
        assert!(json::get(listed.result(), "resultType").is_none());
        let pong = send(within(envelope::request("2", "ping", "{}"))).await;
        assert_eq!(pong.result(), "{}");

        let end = || support::client().delete(&url).header("mcp-session-id", session);
        assert_eq!(send(end()).await.status, 204);
        assert_eq!(send(end()).await.status, 404);
        let late = send(within(envelope::request("3", "ping", "{}"))).await;
        assert_eq!(late.status, 404);
        let others = canary.journal().others();
        assert_eq!(others.iter().filter(|e| !e.notes.is_empty()).count(), 1, "{others:?}");
        canary.stop().await;
    }
}

#[tokio::test]
async fn a_client_without_version_and_session_is_served_and_noted() {
    let canary = canary(|_| ()).await;
    let url = canary.url("main");
    send(post(&url, initialize("2025-06-18"))).await;
    let listed = send(post(&url, envelope::request("1", "tools/list", "{}"))).await;
    assert_eq!(tool_names(&listed).len(), 11);
    let last = canary.journal().others().pop().unwrap();
    assert_eq!(last.revision, Some(Revision::V2025_06_18));
    assert_eq!(rules(&last), ["R-HTTP-11"]);
    canary.stop().await;
}

#[tokio::test]
async fn a_stateless_client_discovers_lists_and_calls() {
    let canary = canary(|upstream| upstream.revisions = vec![NEW]).await;
    let url = canary.url("main");
    let found = ask_new(&url, "server/discover").await;
    assert_eq!(json::get(found.result(), "supportedVersions"), Some(r#"["2026-07-28"]"#));
    let listed = ask_new(&url, "tools/list").await;
    assert_eq!(tool_names(&listed), support::names());
    for result in [found.result(), listed.result()] {
        assert_eq!(json::get(result, "resultType"), Some("\"complete\""));
        assert!(json::get(result, "ttlMs").is_some() && json::get(result, "cacheScope").is_some());
        assert!(result.contains("io.modelcontextprotocol/serverInfo"));
    }
    let called = send(call(&url, NEW, "echo", r#"{"x":1.0}"#)).await;
    assert_eq!(json::get(called.result(), "structuredContent"), Some(r#"{"x":1.0}"#));
    assert_eq!(json::get(called.text(), "id"), Some("\"id-1\""));
    assert!(canary.journal().others().iter().all(|e| e.notes.is_empty()));
    canary.stop().await;
}

#[tokio::test]
async fn what_a_revision_does_not_have_is_refused_in_its_own_way() {
    let canary = canary(|upstream| upstream.revisions = vec![NEW]).await;
    let url = canary.url("main");
    let missing = ask_new(&url, "ping").await;
    assert_eq!((missing.status, missing.code()), (404, -32601));
    let opened = send(post(&url, initialize("2026-07-28"))).await;
    assert_eq!((opened.status, opened.code()), (200, -32601));
    let old = send(call(&url, OLD[0], "echo", "{}")).await;
    assert_eq!((old.status, old.code()), (400, -32022));
    assert!(old.text().contains(r#""supported":["2026-07-28"],"requested":"2025-06-18""#));
    let task = ask_new(&url, "tasks/get").await;
    assert_eq!((task.status, task.code()), (400, -32021));
    let unknown = send(call(&url, NEW, "nope", "{}")).await;
    assert_eq!(unknown.code(), -32602);
    canary.stop().await;
}

#[tokio::test]
async fn an_upstream_of_handshakes_lets_a_newer_client_fall_back() {
    let canary = canary(|upstream| upstream.revisions = OLD.to_vec()).await;
    let url = canary.url("main");
    let found = ask_new(&url, "server/discover").await;
    assert_eq!((found.status, found.code()), (400, -32601));
    assert_eq!(json::get(found.text(), "id"), Some("1"));
    let opened = send(post(&url, initialize("2026-07-28"))).await;
    let version = json::get_string(opened.result(), "protocolVersion");
    assert_eq!(version.as_deref(), Some("2025-11-25"));
    assert_eq!(opened.header("mcp-session-id"), "");
    let missing = send(post(&url, envelope::request("1", "no/such", "{}"))).await;
    assert_eq!((missing.status, missing.code()), (200, -32601));
    canary.stop().await;
}

#[tokio::test]
async fn other_methods_of_http_are_refused_and_seen() {
    let canary = canary(|_| ()).await;
    let url = canary.url("main");
    for method in [reqwest::Method::GET, reqwest::Method::DELETE, reqwest::Method::PUT] {
        let seen = send(support::client().request(method, &url)).await;
        assert_eq!((seen.status, seen.header("allow")), (405, "POST"));
    }
    let methods: Vec<_> = canary.journal().others().into_iter().map(|e| e.method).collect();
    assert_eq!(methods, ["GET", "DELETE", "PUT"]);
    canary.stop().await;
}

#[tokio::test]
async fn upstreams_answer_at_their_own_paths_and_in_their_own_encoding() {
    let canary = canary_of(|config| {
        let mut second = UpstreamSpec::new("second", &[NEW]);
        second.tools = vec![second.tools[0].prefixed("b_")];
        second.encoding = Encoding::Sse;
        config.upstreams.push(second);
    })
    .await;
    assert!(canary.url("second").ends_with("/second/mcp"));
    let listed = ask_new(&canary.url("second"), "tools/list").await;
    assert_eq!(listed.header("content-type"), "text/event-stream");
    assert_eq!(listed.header("x-accel-buffering"), "no");
    assert!(
        listed.text().starts_with("event: message\ndata: {") && listed.text().contains("b_echo")
    );
    let third = send(post(&canary.url("third"), stateless("tools/list"))).await;
    assert_eq!(third.status, 404);
    let upstreams: Vec<_> = canary.journal().others().into_iter().map(|e| e.upstream).collect();
    assert_eq!(upstreams.iter().map(AsRef::as_ref).collect::<Vec<_>>(), ["second", "/third/mcp"]);
    canary.stop().await;
}
