//! Answers that break off, hang, or are no answers, and clients that go away.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use birdstrike_canary::{Answer, Canary, Config, Encoding, Ending, Framing, Oversized, Plan};
use birdstrike_wire::{Revision, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{self, answer, canary, deadline, delivery, fire, in_time, take};

fn large(total: u64) -> Answer {
    Answer::Oversized(Oversized::text(total, Revision::V2026_07_28, "<head>", "<tail>"))
}

/// A call over a socket of its own: what is read is what was on the wire.
async fn call_raw(canary: &Canary, nonce: &str) -> TcpStream {
    let arguments = format!("{{\"nonce\":{}}}", json::quote(nonce));
    let body = support::call_body(Revision::V2026_07_28, "echo", &arguments);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        canary.addr(),
        body.len()
    );
    let mut stream = TcpStream::connect(canary.addr()).await.unwrap();
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    stream
}

/// Everything until the connection ends, split after the head.
async fn read_all(mut stream: TcpStream) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    in_time(stream.read_to_end(&mut bytes)).await.unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let head = text.split_inclusive("\r\n\r\n").next().unwrap_or_default().to_owned();
    let body = bytes[head.len()..].to_vec();
    (head, body)
}

#[tokio::test]
async fn a_cut_shows_the_client_exactly_so_many_bytes_and_no_end() {
    let canary = canary(|_| ()).await;
    for cut in [0_u64, 1, 100, 3_000_000] {
        let by = delivery(|d| d.ending = Ending::CutAfter(cut));
        canary.script().plan("n", Plan::new(large(4_000_000)).by(by));
        let (head, body) = read_all(call_raw(&canary, "n").await).await;
        assert!(head.contains("content-length: 4000000"), "{head}");
        assert_eq!(body.len() as u64, cut);
        let exchange = take(&canary, "n").await;
        assert_eq!((answer(&exchange).wire_bytes, answer(&exchange).complete), (cut, false));
        assert_eq!(answer(&exchange).body.len(), cut);
    }
    canary.stop().await;
}

#[tokio::test]
async fn a_chunked_answer_can_lack_its_last_chunk_alone() {
    let canary = canary(|_| ()).await;
    let by = delivery(|d| {
        d.framing = Framing::Chunked;
        d.ending = Ending::CutAfter(200);
    });
    canary.script().plan("n", Plan::new(large(200)).by(by));
    let (_, body) = read_all(call_raw(&canary, "n").await).await;
    assert!(body.starts_with(b"C8\r\n{") && body.ends_with(b"}\r\n"), "no last chunk");
    let exchange = take(&canary, "n").await;
    assert_eq!((answer(&exchange).wire_bytes, answer(&exchange).complete), (200, false));
    let seen = support::call_nonce(&canary, "n").send().await.unwrap().bytes().await;
    assert!(seen.is_err(), "a client must notice");
    canary.stop().await;
}

#[tokio::test]
async fn a_connection_can_close_before_any_header() {
    let canary = canary(|_| ()).await;
    let by = delivery(|d| d.ending = Ending::CloseBeforeHeaders);
    canary.script().plan("n", Plan::new(Answer::Builtin).by(by));
    let (head, body) = read_all(call_raw(&canary, "n").await).await;
    assert_eq!((head.len(), body.len()), (0, 0));
    let exchange = take(&canary, "n").await;
    assert_eq!((answer(&exchange).status, answer(&exchange).complete), (None, false));
    canary.stop().await;
}

#[tokio::test]
async fn a_silent_answer_ends_when_its_client_goes_away() {
    let canary = canary(|_| ()).await;
    let by = delivery(|d| d.ending = Ending::NeverAnswer);
    canary.script().plan("n", Plan::new(Answer::Builtin).by(by));
    let mut stream = call_raw(&canary, "n").await;
    assert!(canary.journal().wait_for("n", 1, deadline()).await);
    assert_eq!(canary.journal().count("n"), 1);
    let soon = Instant::now() + Duration::from_millis(30);
    assert!(!canary.journal().wait_finished("n", 1, soon).await, "nothing was sent so far");
    stream.shutdown().await.unwrap();
    assert!(!answer(&take(&canary, "n").await).complete);
    canary.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_mid_answer_leaves_it_unfinished() {
    let canary = canary(|_| ()).await;
    canary.script().plan("n", Plan::new(large(1 << 30)));
    let mut stream = call_raw(&canary, "n").await;
    let mut some = [0; 10_000];
    in_time(stream.read_exact(&mut some)).await.unwrap();
    drop(stream);
    let exchange = take(&canary, "n").await;
    let answer = answer(&exchange);
    assert!(!answer.complete && answer.wire_bytes >= 9_000 && answer.wire_bytes < 1 << 30);
    canary.stop().await;
}

#[tokio::test]
async fn a_stream_of_comments_has_no_end() {
    let canary = canary(|_| ()).await;
    for every in [Duration::ZERO, Duration::from_millis(1)] {
        let by = delivery(|d| d.ending = Ending::EndlessComments { every });
        canary.script().plan("n", Plan::new(Answer::Builtin).by(by));
        let mut response = support::call_nonce(&canary, "n").send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut seen = Vec::new();
        while seen.len() < 200 {
            seen.extend(in_time(response.chunk()).await.unwrap().expect("never the end"));
        }
        assert!(seen.starts_with(b": still here\n\n: still here\n\n"));
        drop(response);
        let exchange = take(&canary, "n").await;
        assert!(!answer(&exchange).complete && answer(&exchange).message.is_none());
    }
    canary.stop().await;
}

#[tokio::test]
async fn bytes_and_messages_go_out_as_they_are() {
    let canary = canary(|_| ()).await;
    let half = Plan::new(Answer::Bytes("{\"jsonrpc\":\"2.0\",\"id\":«id»,\"res".into()));
    let (seen, exchange) = fire(&canary, "n", half).await;
    assert_eq!(seen.text(), "{\"jsonrpc\":\"2.0\",\"id\":\"id-1\",\"res");
    assert_eq!(answer(&exchange).body.whole(), Some(&seen.body[..]));
    assert!(answer(&exchange).complete && answer(&exchange).message.is_none());
    let invalid = Plan::new(Answer::Bytes(b"\xff\xfe".to_vec()));
    assert_eq!(&fire(&canary, "n", invalid).await.0.body[..], b"\xff\xfe");
    let stream = Plan::new(Answer::Bytes("data: {\"id\":«id»}\n\ndata: {}\n\n".into()));
    let stream = stream.by(delivery(|d| d.encoding = Encoding::Sse));
    let (seen, _) = fire(&canary, "n", stream).await;
    assert_eq!(seen.header("content-type"), "text/event-stream");
    assert_eq!(seen.text(), "data: {\"id\":\"id-1\"}\n\ndata: {}\n\n");
    let wrong = Plan::new(Answer::Message(r#"{"jsonrpc":"2.0","id":"other","result":{}}"#.into()));
    let (seen, exchange) = fire(&canary, "n", wrong).await;
    assert_eq!(answer(&exchange).message.as_ref().unwrap().whole(), Some(&seen.body[..]));
    canary.stop().await;
}

#[tokio::test]
async fn a_stop_ends_everything_within_a_second() {
    let canary = canary(|_| ()).await;
    let endings = [
        Ending::NeverAnswer,
        Ending::EndlessComments { every: Duration::from_millis(5) },
        Ending::Drip { bytes: 1, every: Duration::from_secs(5) },
    ];
    let mut streams = vec![TcpStream::connect(canary.addr()).await.unwrap()];
    streams.push(TcpStream::connect(canary.bridge_addr()).await.unwrap());
    for (at, ending) in endings.into_iter().enumerate() {
        let nonce = at.to_string();
        canary
            .script()
            .plan(&nonce, Plan::new(Answer::Builtin).by(delivery(|d| d.ending = ending)));
        streams.push(call_raw(&canary, &nonce).await);
        assert!(canary.journal().wait_for(&nonce, 1, deadline()).await);
    }
    let began = Instant::now();
    canary.stop().await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    for stream in streams {
        let stream = stream.into_std().unwrap();
        stream.shutdown(Shutdown::Write).ok();
        read_all(TcpStream::from_std(stream).unwrap()).await;
    }
}

#[tokio::test]
async fn a_dropped_canary_frees_its_port() {
    let canary = canary(|_| ()).await;
    let listen = canary.addr();
    let by = delivery(|d| d.ending = Ending::NeverAnswer);
    canary.script().plan("n", Plan::new(Answer::Builtin).by(by));
    let open = call_raw(&canary, "n").await;
    assert!(canary.journal().wait_for("n", 1, deadline()).await);
    drop(canary);
    assert_eq!(read_all(open).await.0, "");
    let again = Canary::start(Config { listen, ..Config::default() });
    assert_eq!(in_time(again).await.unwrap().addr(), listen);
}
