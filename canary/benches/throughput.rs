//! Calls per second of a canary, with its journal and a plan a call, beside two axum handlers that
//! answer with the same result: one that never looks at what it was asked, and one that reads the
//! request with `serde_json` to answer under its id, as every server must.
//!
//! `cargo bench -p birdstrike-canary`. The server has one core, the client another: a plain socket
//! that writes a request and reads an answer, so that the server is what is measured.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it prints what it measured")]

use std::net::SocketAddr;
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, post};
use birdstrike_canary::{Answer, Canary, Config, Plan};
use birdstrike_wire::{Revision, envelope, json, meta};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

const CONNECTIONS: usize = 8;
const CALLS: usize = 2_000;
const ROUNDS: usize = 9;

const BODY: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"marker-0123456789"}],"structuredContent":{"code":"marker-0123456789","retry":false},"isError":true,"_meta":{"example.org/trace":"marker-0123456789"}}"#;

fn main() {
    let server = runtime("server");
    let client = runtime("client");
    let canary = server.block_on(Canary::start(Config::default())).unwrap();
    let blind = server.block_on(serve(post(blind)));
    let bare = server.block_on(serve(post(bare)));
    let mut best = [0.0_f64; 3];
    for _ in 0..ROUNDS {
        best[0] = best[0].max(client.block_on(round(blind, None)));
        best[1] = best[1].max(client.block_on(round(bare, None)));
        best[2] = best[2].max(client.block_on(round(canary.addr(), Some(&canary))));
    }
    for (what, calls) in ["axum, blind", "axum, reads the request", "canary"].iter().zip(best) {
        println!("{what:<24}{calls:>8.0} calls/s, canary is at {:.2}", best[2] / calls);
    }
}

fn runtime(name: &str) -> Runtime {
    Builder::new_multi_thread().worker_threads(1).thread_name(name).enable_all().build().unwrap()
}

/// Answers every request with the same message.
async fn blind(_: Bytes) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], envelope::result("\"id-1\"", BODY))
}

/// Answers a request under its own id.
async fn bare(body: Bytes) -> impl IntoResponse {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let message = envelope::result(&request["id"].to_string(), BODY);
    ([(CONTENT_TYPE, "application/json")], message)
}

async fn serve(answer: MethodRouter) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let router = Router::new().route("/mcp", answer);
    tokio::spawn(async move { axum::serve(listener, router).await });
    addr
}

/// Calls per second over all connections. With a canary, each call has a nonce with a plan of its
/// own, made before the clock starts, and its exchange is taken from the journal after it stops.
async fn round(addr: SocketAddr, canary: Option<&Canary>) -> f64 {
    for nonce in all_nonces() {
        let answer = Answer::Rendered { member: "result", body: BODY.to_owned() };
        canary.inspect(|canary| canary.script().plan(nonce, Plan::new(answer)));
    }
    let began = Instant::now();
    let connections = (0..CONNECTIONS).map(|connection| tokio::spawn(calls(addr, connection)));
    for connection in connections.collect::<Vec<_>>() {
        connection.await.unwrap();
    }
    let took = began.elapsed();
    for nonce in all_nonces() {
        canary.inspect(|canary| {
            let taken = canary.journal().take(&nonce);
            assert!(taken[0].answer.as_ref().is_some_and(|answer| answer.complete));
            canary.script().forget(&nonce);
        });
    }
    (CONNECTIONS * CALLS) as f64 / took.as_secs_f64()
}

fn all_nonces() -> impl Iterator<Item = String> {
    (0..CONNECTIONS).flat_map(|connection| (0..CALLS).map(move |call| nonce(connection, call)))
}

fn nonce(connection: usize, call: usize) -> String {
    format!("{connection}-{call:05}")
}

async fn calls(addr: SocketAddr, connection: usize) {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut answer = vec![0; 64 << 10];
    for call in 0..CALLS {
        stream.write_all(request(&nonce(connection, call)).as_bytes()).await.unwrap();
        let mut length = 0;
        while !answer[..length].ends_with(b"}}}") {
            length += stream.read(&mut answer[length..]).await.unwrap();
        }
    }
}

/// A call of 2026-07-28 with all its headers.
fn request(nonce: &str) -> String {
    let client = meta::Implementation { name: "bench".into(), version: "1".into() };
    let meta = meta::request_meta(Revision::V2026_07_28, &client, "{}");
    let nonce = json::quote(nonce);
    let params =
        format!("{{\"name\":\"is_error\",\"arguments\":{{\"nonce\":{nonce}}},\"_meta\":{meta}}}");
    let body = envelope::request("\"id-1\"", "tools/call", &params);
    format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
         mcp-name: is_error\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}
