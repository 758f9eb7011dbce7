//! Lengths and encodings of answers, to the byte.

use std::io::Read;
use std::time::Duration;

use crate::support::{self, answer, call, canary, delivery, fire, send, take};
use birdstrike_canary::{
    Answer, Delivery, Encoding, Ending, Framing, LineEnd, Oversized, Plan, SseStyle,
};
use birdstrike_wire::sse::{Kind, Limits, Parser};
use birdstrike_wire::{Revision, json};
use flate2::read::GzDecoder;

const REVISION: Revision = Revision::V2026_07_28;

fn oversized(total: u64) -> Plan {
    Plan::new(Answer::Oversized(Oversized::text(total, REVISION, "<head>", "<tail>")))
}

fn message_of(stream: &[u8]) -> Vec<u8> {
    let mut parser = Parser::new(Limits::default());
    parser.push(stream, Duration::ZERO).unwrap();
    let mut events: Vec<_> = std::iter::from_fn(|| parser.pop()).collect();
    events.extend(parser.finish(Duration::ZERO).events);
    let mut messages = events.into_iter().filter(|e| e.kind() == Kind::Message);
    let message = messages.next().expect("a message");
    assert!(message.is_dispatched() && messages.next().is_none());
    message.data
}

#[tokio::test]
async fn a_message_has_its_length_in_every_framing() {
    let canary = canary(|_| ()).await;
    let limit = 1 << 20;
    for total in [limit - 1, limit, limit + 1] {
        for (encoding, framing, gzip) in [
            (Encoding::Json, Framing::ContentLength, false),
            (Encoding::Json, Framing::Chunked, false),
            (Encoding::Json, Framing::Chunked, true),
            (Encoding::Sse, Framing::Chunked, false),
            (Encoding::Sse, Framing::ContentLength, false),
            (Encoding::Sse, Framing::Chunked, true),
        ] {
            let by = Delivery { encoding, framing, gzip, ..Delivery::default() };
            canary.script().plan("n", oversized(total).by(by.clone()));
            let seen =
                send(support::call_nonce(&canary, "n").header("accept-encoding", "gzip")).await;
            let has_length = seen.headers.contains_key("content-length");
            assert_eq!(has_length, framing == Framing::ContentLength, "{by:?}");
            let mut body = seen.body.to_vec();
            if gzip {
                assert_eq!(seen.header("content-encoding"), "gzip");
                body.clear();
                GzDecoder::new(&seen.body[..]).read_to_end(&mut body).unwrap();
            }
            let message = if encoding == Encoding::Sse { message_of(&body) } else { body.clone() };
            assert_eq!(message.len() as u64, total, "{by:?}");
            let text = std::str::from_utf8(&message).unwrap();
            assert!(json::text(&message).is_ok() && text.contains("\"<head>A"));
            assert!(text.ends_with("<tail>\"}]}}"));

            let exchange = take(&canary, "n").await;
            let answer = answer(&exchange);
            assert!(answer.complete);
            assert_eq!(answer.wire_bytes, seen.body.len() as u64);
            let whole = |body: Vec<u8>| birdstrike_wire::capture::Capture::of(body, true);
            assert_eq!(answer.body, whole(body));
            assert_eq!(answer.message, Some(whole(message)));
        }
    }
    canary.stop().await;
}

#[tokio::test]
async fn the_tool_itself_measures_its_answers() {
    let canary = canary(|_| ()).await;
    for revision in Revision::ALL {
        for (which, length) in [("below", 1_999), ("at", 2_000), ("above", 2_001), ("x64", 128_000)]
        {
            let arguments = format!(r#"{{"limit":2000,"which":"{which}","framing":"chunked"}}"#);
            let seen = send(call(&canary.url("main"), revision, "oversized", &arguments)).await;
            assert_eq!(seen.body.len(), length);
            assert!(json::text(&seen.body).is_ok());
        }
        let seen = send(call(&canary.url("main"), revision, "oversized", r#"{"bytes":3}"#)).await;
        assert!(seen.result().contains("\"isError\":true"), "{}", seen.text());
    }
    canary.stop().await;
}

#[tokio::test]
async fn every_stream_style_carries_the_same_message() {
    let canary = canary(|_| ()).await;
    let body = "{\"content\":[],\r\n \"x\": 1E+2}".to_owned();
    let sent = format!(r#"{{"jsonrpc":"2.0","id":"id-1","result":{body}}}"#);
    for (at, line_end) in [LineEnd::Lf, LineEnd::CrLf, LineEnd::Cr].into_iter().enumerate() {
        for chunk in [0, 1, 5] {
            let odd = chunk == 1;
            let style = SseStyle {
                line_end,
                bom: odd,
                data_lines: at,
                priming: odd,
                comment: odd.then(|| "hold on".to_owned()),
                chunk,
            };
            let by = Delivery { sse: style.clone(), ..Delivery::of(Encoding::Sse) };
            let plan = Plan::new(Answer::Rendered { member: "result", body: body.clone() });
            let (seen, exchange) = fire(&canary, "n", plan.by(by)).await;
            let message = message_of(&seen.body);
            let squeeze = |text: &[u8]| -> Vec<u8> {
                text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect()
            };
            assert_eq!(squeeze(&message), squeeze(sent.as_bytes()), "{style:?}");
            let answer = answer(&exchange);
            assert_eq!(answer.body.whole(), Some(&seen.body[..]));
            assert_eq!(answer.message.as_ref().unwrap().whole(), Some(&message[..]));
        }
    }
    canary.stop().await;
}

#[tokio::test]
async fn gzip_is_left_out_for_a_client_that_does_not_accept_it() {
    let canary = canary(|_| ()).await;
    let (seen, exchange) = fire(&canary, "n", oversized(500).by(delivery(|d| d.gzip = true))).await;
    assert_eq!((seen.body.len(), seen.header("content-encoding")), (500, ""));
    assert_eq!(support::rules(&exchange), ["RFC-9110-12.5.3"]);
    canary.stop().await;
}

#[tokio::test]
async fn drops_add_up() {
    let canary = canary(|_| ()).await;
    for framing in [Framing::ContentLength, Framing::Chunked] {
        let by = delivery(|d| {
            d.framing = framing;
            d.ending = Ending::Drip { bytes: 7, every: Duration::from_millis(1) };
        });
        let (seen, exchange) = fire(&canary, "n", oversized(150).by(by)).await;
        assert_eq!(seen.body.len(), 150);
        assert!(answer(&exchange).complete);
        assert!(exchange.took().unwrap() >= Duration::from_millis(21));
    }
    canary.stop().await;
}

#[tokio::test]
async fn status_headers_and_delay_are_those_of_the_plan() {
    let canary = canary(|_| ()).await;
    let by = delivery(|d| {
        d.status = 418;
        d.headers =
            vec![("X-Marker".into(), "m".into()), ("content-type".into(), "text/plain".into())];
        d.delay = Duration::from_millis(20);
    });
    let (seen, exchange) = fire(&canary, "n", oversized(150).by(by)).await;
    assert_eq!((seen.status, seen.header("x-marker")), (418, "m"));
    assert_eq!(seen.header("content-type"), "text/plain");
    let answer = answer(&exchange);
    assert_eq!((answer.status, answer.headers.get("x-marker")), (Some(418), Some("m")));
    assert!(exchange.took().unwrap() >= Duration::from_millis(20));
    canary.stop().await;
}

/// 64 MiB go through a canary that never holds more than a step of it.
#[tokio::test]
async fn a_large_answer_is_generated_while_it_is_sent() {
    let canary = canary(|_| ()).await;
    let total = 64 << 20;
    canary.script().plan("n", oversized(total).by(Delivery::of(Encoding::Sse)));
    let mut response = support::call_nonce(&canary, "n").send().await.unwrap();
    let mut length = 0;
    while let Some(chunk) = support::in_time(response.chunk()).await.unwrap() {
        length += chunk.len() as u64;
    }
    let exchange = take(&canary, "n").await;
    let answer = answer(&exchange);
    assert_eq!((answer.wire_bytes, answer.body.len()), (length, length));
    assert_eq!(answer.message.as_ref().unwrap().len(), total);
    assert_eq!(answer.body.whole(), None);
    canary.stop().await;
}
