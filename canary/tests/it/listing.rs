//! Pages, cursors, and tools that change while somebody looks.

use birdstrike_canary::{Canary, Cursors, SwapError, ToolSpec, builtin_tools};
use birdstrike_wire::{Revision, envelope, json};

use crate::support::{self, ask, call, canary, client, in_time, send};

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const OLD: Revision = Revision::V2025_11_25;

/// The names on the pages that a client sees that follows cursors, at most five.
async fn follow(canary: &Canary, revision: Revision) -> Vec<Vec<String>> {
    let (mut pages, mut members) = (Vec::new(), String::new());
    while pages.len() < 5 {
        let seen = send(ask(&canary.url("main"), revision, "tools/list", &members)).await;
        let tools = json::items(json::get(seen.result(), "tools").unwrap()).unwrap();
        pages.push(tools.into_iter().map(|t| json::get_string(t, "name").unwrap()).collect());
        match json::get(seen.result(), "nextCursor") {
            Some(next) => members = format!("\"cursor\":{next}"),
            None => break,
        }
    }
    pages
}

#[tokio::test]
async fn a_listing_comes_on_pages_in_every_revision() {
    for cursors in [Cursors::Proper, Cursors::Empty] {
        let canary = canary(|upstream| {
            upstream.pages = 3;
            upstream.cursors = cursors;
        })
        .await;
        for revision in Revision::ALL {
            let pages = follow(&canary, revision).await;
            assert_eq!(pages.len(), 3);
            assert_eq!(pages.concat(), support::names());
            for cursor in ["\"x\"", "7", "{}"] {
                let members = format!("\"cursor\":{cursor}");
                let lost = send(ask(&canary.url("main"), revision, "tools/list", &members)).await;
                assert_eq!(lost.code(), -32602, "{cursor}");
            }
        }
        canary.stop().await;
    }
}

#[tokio::test]
async fn a_repeated_cursor_leads_in_a_circle() {
    let canary = canary(|upstream| {
        upstream.pages = 2;
        upstream.cursors = Cursors::Repeated;
    })
    .await;
    let pages = follow(&canary, OLD).await;
    assert_eq!((pages.len(), &pages[1]), (5, &pages[4]));
    canary.stop().await;
}

#[tokio::test]
async fn swapped_tools_are_listed_and_called_and_told_to_those_who_listen() {
    let canary = canary(|upstream| upstream.listening = true).await;
    let url = canary.url("main");
    let opened = send(ask(&url, OLD, "initialize", "\"protocolVersion\":\"2025-11-25\"")).await;
    assert!(opened.result().contains(r#""tools":{"listChanged":true}"#));
    let get = client().get(&url).header("mcp-protocol-version", OLD.as_str());
    let mut stream = in_time(get.send()).await.unwrap();
    assert_eq!((stream.status().as_u16(), canary.announce("none", CHANGED)), (200, 0));

    let fresh = ToolSpec::new("fresh", r#"{"name":"fresh","inputSchema":{"type":"object"}}"#);
    canary.swap_tools("main", vec![fresh.clone()]).unwrap();
    assert_eq!(canary.announce("main", CHANGED), 1);
    let heard = in_time(stream.chunk()).await.unwrap().unwrap();
    assert_eq!(heard, format!("event: message\ndata: {CHANGED}\n\n"));

    assert_eq!(follow(&canary, OLD).await, [["fresh"]]);
    assert!(send(call(&url, OLD, "fresh", "{}")).await.text().contains("result"));
    assert_eq!(send(call(&url, OLD, "echo", "{}")).await.code(), -32602);

    let twice = canary.swap_tools("main", vec![fresh.clone(), fresh]);
    assert_eq!(twice, Err(SwapError::SameTool("fresh".into())));
    let nobody = canary.swap_tools("none", builtin_tools());
    assert_eq!(nobody, Err(SwapError::NoUpstream("none".into())));

    let newest = client().get(&url).header("mcp-protocol-version", "2026-07-28");
    assert_eq!(send(newest).await.status, 405);
    let ended = async { while stream.chunk().await.unwrap().is_some() {} };
    tokio::join!(canary.stop(), in_time(ended));
}

#[tokio::test]
async fn a_session_hears_on_one_stream_and_not_after_its_end() {
    let canary = canary(|upstream| {
        upstream.listening = true;
        upstream.sessions = true;
    })
    .await;
    let url = canary.url("main");
    let opened = send(ask(&url, OLD, "initialize", "\"protocolVersion\":\"2025-11-25\"")).await;
    let session = opened.header("mcp-session-id");
    let get = || client().get(&url).header("mcp-session-id", session);
    let mut first = in_time(get().send()).await.unwrap();
    let _second = in_time(get().send()).await.unwrap();
    assert_eq!(canary.announce("main", CHANGED), 1);
    assert!(in_time(first.chunk()).await.unwrap().is_some());
    let end = client().delete(&url).header("mcp-session-id", session);
    assert_eq!(send(end).await.status, 204);
    assert_eq!(send(get()).await.status, 404);
    canary.stop().await;
}

#[tokio::test]
async fn a_line_hears_it_too_once_it_shook_hands() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    let canary = canary(|upstream| upstream.listening = true).await;
    let stream = tokio::net::TcpStream::connect(canary.bridge_addr()).await.unwrap();
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    let params = r#"{"protocolVersion":"2025-11-25"}"#;
    let opening = format!("main\n{}\n", envelope::request("1", "initialize", params));
    writer.write_all(opening.as_bytes()).await.unwrap();
    assert!(in_time(lines.next_line()).await.unwrap().unwrap().contains("listChanged"));
    assert_eq!(canary.announce("main", CHANGED), 1);
    assert_eq!(in_time(lines.next_line()).await.unwrap().as_deref(), Some(CHANGED));
    canary.stop().await;
}
