//! What is said before and after an answer, what the client replies to it, and how it is cancelled.

use std::time::Duration;

use birdstrike_canary::{Answer, Canary, Delivery, Encoding, Ending, Plan, Transport};
use birdstrike_wire::sse::{Kind, Limits, Parser};
use birdstrike_wire::{Revision, envelope, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::support::{
    Seen, answer, canary, deadline, delivery, in_time, post, request_meta, send, take,
};

const OLD: Revision = Revision::V2025_11_25;
const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":«token»,"progress":1}}"#;
const LOG: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"of «id»"}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":"ask-1","method":"ping"}"#;

/// An event stream with a change.
fn stream(change: impl FnOnce(&mut Delivery)) -> Delivery {
    let mut by = Delivery::of(Encoding::Sse);
    change(&mut by);
    by
}

fn plan(canary: &Canary, by: Delivery) {
    let body = r#"{"content":[]}"#.to_owned();
    canary.script().plan("n", Plan::new(Answer::Rendered { member: "result", body }).by(by));
}

/// A call with the nonce `n` and this `_meta`.
fn call(canary: &Canary, revision: Revision, meta: &str) -> reqwest::RequestBuilder {
    let meta = match revision {
        Revision::V2026_07_28 => {
            let comma = if meta.is_empty() { "" } else { "," };
            request_meta().replacen('{', &format!("{{{meta}{comma}"), 1)
        }
        _ => format!("{{{meta}}}"),
    };
    let params =
        format!("{{\"name\":\"echo\",\"arguments\":{{\"nonce\":\"n\"}},\"_meta\":{meta}}}");
    post(&canary.url("main"), envelope::request("\"id-1\"", "tools/call", &params))
        .header("mcp-protocol-version", revision.as_str())
}

fn messages(seen: &Seen) -> Vec<String> {
    let mut parser = Parser::new(Limits::default());
    parser.push(&seen.body, Duration::ZERO).unwrap();
    let events = std::iter::from_fn(|| parser.pop()).filter(|e| e.kind() == Kind::Message);
    events.map(|e| String::from_utf8(e.data).unwrap()).collect()
}

#[tokio::test]
async fn progress_and_logs_stand_around_the_response() {
    let canary = canary(|_| ()).await;
    for pause in [Duration::ZERO, Duration::from_millis(15)] {
        plan(
            &canary,
            stream(|d| {
                d.before = vec![PROGRESS.into(), LOG.into()];
                d.after = vec![PROGRESS.into()];
                d.pause = pause;
            }),
        );
        for revision in Revision::ALL {
            let progress = PROGRESS.replace("«token»", "\"p-7\"");
            let seen = send(call(&canary, revision, r#""progressToken":"p-7""#)).await;
            let all = messages(&seen);
            assert_eq!(all.len(), 4, "{all:?}");
            assert_eq!((&all[0], &all[3]), (&progress, &progress));
            assert!(all[1].contains("of \"id-1\"") && all[2].contains("\"result\""));
            let exchange = take(&canary, "n").await;
            let answer = answer(&exchange);
            assert!(answer.complete && exchange.took().unwrap() >= 3 * pause);
            assert_eq!(answer.body.whole(), Some(&seen.body[..]));
            assert_eq!(answer.message.as_ref().unwrap().whole(), Some(all[2].as_bytes()));
        }
        let silent = messages(&send(call(&canary, OLD, "")).await);
        assert_eq!(silent.len(), 2, "no progress without a token: {silent:?}");
        canary.journal().take("n");
    }
    canary.stop().await;
}

#[tokio::test]
async fn an_answer_as_json_or_packed_says_what_it_can() {
    let canary = canary(|_| ()).await;
    plan(&canary, delivery(|d| d.before = vec![LOG.into()]));
    assert!(send(call(&canary, OLD, "")).await.text().starts_with("{\"jsonrpc\""));
    let by = |d: &mut Delivery| {
        d.before = vec![LOG.into()];
        d.gzip = true;
        d.pause = Duration::from_mins(1);
    };
    plan(&canary, stream(by));
    let packed = send(call(&canary, OLD, "").header("accept-encoding", "gzip")).await;
    assert_eq!((packed.status, packed.header("content-encoding")), (200, "gzip"));
    canary.stop().await;
}

#[tokio::test]
async fn the_response_waits_for_the_replies_to_its_questions() {
    let canary = canary(|_| ()).await;
    plan(
        &canary,
        stream(|d| {
            d.before = vec![PING.into()];
            d.await_replies = true;
        }),
    );
    let mut response = in_time(call(&canary, OLD, "").send()).await.unwrap();
    let first = in_time(response.chunk()).await.unwrap().unwrap();
    assert!(first.ends_with(format!("data: {PING}\n\n").as_bytes()));
    let early = tokio::time::timeout(Duration::from_millis(30), response.chunk()).await;
    assert!(early.is_err(), "{early:?}");
    let reply = post(&canary.url("main"), envelope::result("\"ask-1\"", "{}"));
    assert_eq!(send(reply.header("mcp-session-id", "s")).await.status, 202);
    assert!(canary.journal().wait_reply("\"ask-1\"", deadline()).await);
    assert!(in_time(response.text()).await.unwrap().contains("\"result\""));
    let replies = canary.journal().replies();
    assert_eq!((replies.len(), &*replies[0].id, &*replies[0].upstream), (1, "\"ask-1\"", "main"));
    assert_eq!(replies[0].headers.get("mcp-session-id"), Some("s"));

    canary.journal().take("n");
    let newest = messages(&send(call(&canary, Revision::V2026_07_28, "")).await);
    assert_eq!(newest.len(), 1, "no questions at 2026-07-28: {newest:?}");
    canary.stop().await;
}

#[tokio::test]
async fn a_waiting_answer_is_cancelled_by_a_message() {
    let canary = canary(|upstream| upstream.sessions = true).await;
    let url = canary.url("main");
    let by = [
        delivery(|d| d.delay = Duration::from_mins(1)),
        delivery(|d| d.ending = Ending::NeverAnswer),
        stream(|d| {
            d.before = vec![LOG.into()];
            d.ending = Ending::NeverAnswer;
        }),
        stream(|d| {
            d.before = vec![LOG.into()];
            d.pause = Duration::from_mins(1);
        }),
    ];
    for (at, by) in by.into_iter().enumerate() {
        plan(&canary, by);
        let session = format!("s-{at}");
        let calling = send(call(&canary, OLD, "").header("mcp-session-id", &session));
        let cancelling = async {
            assert!(canary.journal().wait_for("n", 1, deadline()).await);
            for (session, id) in [("other", "\"id-1\""), (&*session, "7"), (&session, "\"id-1\"")] {
                let params = format!("{{\"requestId\":{id}}}");
                let cancel = envelope::notification("notifications/cancelled", Some(&params));
                let cancel = post(&url, cancel).header("mcp-session-id", session);
                let cancel = cancel.header("mcp-protocol-version", OLD.as_str());
                assert!(!canary.journal().wait_finished("n", 1, std::time::Instant::now()).await);
                assert_eq!(send(cancel).await.status, 202);
            }
        };
        let (seen, ()) = tokio::join!(calling, cancelling);
        assert_eq!(seen.header("content-type"), "text/event-stream");
        assert!(!seen.text().contains("result"), "{}", seen.text());
        assert!(!answer(&take(&canary, "n").await).complete);
    }
    canary.stop().await;
}

#[tokio::test]
async fn lines_carry_it_all_as_well() {
    let canary = canary(|_| ()).await;
    let (reader, mut writer) =
        tokio::net::TcpStream::connect(canary.bridge_addr()).await.unwrap().into_split();
    let mut lines = BufReader::new(reader).lines();
    let mut hear = async || in_time(lines.next_line()).await.unwrap().unwrap();
    let mut say = async |line: String| {
        writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    };
    let params = r#"{"protocolVersion":"2025-11-25"}"#;
    say(format!("main\n{}", envelope::request("1", "initialize", params))).await;
    hear().await;
    plan(
        &canary,
        delivery(|d| {
            d.before = vec![PROGRESS.into(), PING.into()];
            d.after = vec![LOG.into()];
            d.pause = Duration::from_millis(5);
            d.await_replies = true;
        }),
    );
    let params = r#"{"name":"echo","arguments":{"nonce":"n"},"_meta":{"progressToken":7}}"#;
    say(envelope::request("2", "tools/call", params)).await;
    assert_eq!(hear().await, PROGRESS.replace("«token»", "7"));
    assert_eq!(hear().await, PING);
    say(envelope::result("\"ask-1\"", "{}")).await;
    assert_eq!(json::get(&hear().await, "result"), Some(r#"{"content":[]}"#));
    assert_eq!(hear().await, LOG.replace("«id»", "2"));
    let replies = canary.journal().replies();
    assert_eq!((replies.len(), replies[0].transport), (1, Transport::Stdio));
    canary.stop().await;
}
