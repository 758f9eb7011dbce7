//! The same canary over lines: in memory and over the bridge.

use std::time::{Duration, Instant};

use birdstrike_canary::{
    Answer, Canary, Ending, Oversized, Plan, TaskEnd, TaskPlan, Transport, serve_stdio,
};
use birdstrike_wire::{Revision, envelope, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use crate::support::{answer, call_body, canary, canary_of, deadline, delivery, in_time, take};

const REVISION: Revision = Revision::V2026_07_28;

/// A client that writes and reads lines.
struct Client<R, W> {
    lines: BufReader<R>,
    out: W,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Client<R, W> {
    fn new(reader: R, out: W) -> Self {
        Self { lines: BufReader::new(reader), out }
    }

    async fn say(&mut self, line: &str) {
        self.out.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// The next line without its end; none when the canary has closed.
    async fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        in_time(self.lines.read_line(&mut line)).await.unwrap();
        let whole = line.strip_suffix('\n').map(str::to_owned);
        whole.or_else(|| (!line.is_empty()).then_some(line))
    }

    async fn call(&mut self, nonce: &str) {
        self.say(&call_body(REVISION, "echo", &format!("{{\"nonce\":\"{nonce}\"}}"))).await;
    }
}

/// A client at the bridge of a canary.
async fn at_bridge(canary: &Canary, upstream: &str) -> Client<OwnedReadHalf, OwnedWriteHalf> {
    let (reader, writer) = TcpStream::connect(canary.bridge_addr()).await.unwrap().into_split();
    let mut client = Client::new(reader, writer);
    client.say(upstream).await;
    client
}

#[tokio::test]
async fn every_revision_is_served_and_kept() {
    let canary = canary(|_| ()).await;
    let mut client = at_bridge(&canary, "main").await;
    client.say("").await;
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let params = format!("{{\"protocolVersion\":\"{revision}\"}}");
        client.say(&envelope::request("0", "initialize", &params)).await;
        assert!(client.hear().await.unwrap().contains(revision.as_str()));
        client.say(&envelope::notification("notifications/initialized", None)).await;
        client.say(&call_body(revision, "echo", "{\"nonce\":\"n\"}")).await;
        assert!(!client.hear().await.unwrap().contains("resultType"));
        let exchange = take(&canary, "n").await;
        assert_eq!((exchange.revision, exchange.transport), (Some(revision), Transport::Stdio));
        assert_eq!(exchange.notes, []);
    }
    client.call("n").await;
    let line = client.hear().await.unwrap();
    assert!(line.contains("resultType"));
    let exchange = take(&canary, "n").await;
    let sent = call_body(REVISION, "echo", "{\"nonce\":\"n\"}");
    assert_eq!(exchange.request.whole(), Some(sent.as_bytes()));
    let answer = answer(&exchange);
    assert_eq!(answer.message.as_ref().unwrap().whole(), Some(line.as_bytes()));
    assert_eq!(answer.body.whole(), Some(format!("{line}\n").as_bytes()));
    assert_eq!((answer.status, answer.complete), (None, true));
    canary.stop().await;
}

#[tokio::test]
async fn plans_are_served_on_one_line() {
    let canary = canary(|_| ()).await;
    let mut client = at_bridge(&canary, "main").await;
    let body = "{\"content\":[],\r\n\"x\":1.0}".to_owned();
    canary.script().plan("r", Plan::new(Answer::Rendered { member: "result", body }));
    client.call("r").await;
    let line = client.hear().await.unwrap();
    assert!(line.ends_with("\"result\":{\"content\":[],  \"x\":1.0}}"), "{line}");
    canary.script().plan("b", Plan::new(Answer::Bytes("{\"half\":«id»".into())));
    client.call("b").await;
    assert_eq!(client.hear().await.unwrap(), "{\"half\":\"id-1\"");
    for total in [65_535, 65_536, 65_537, 3_000_000] {
        let oversized = Oversized::text(total, REVISION, "<head>", "<tail>");
        canary.script().plan("o", Plan::new(Answer::Oversized(oversized)));
        client.call("o").await;
        let line = client.hear().await.unwrap();
        assert_eq!(line.len() as u64, total);
        assert!(json::text(line.as_bytes()).is_ok());
        assert_eq!(answer(&take(&canary, "o").await).wire_bytes, total + 1);
    }
    canary.stop().await;
}

#[tokio::test]
async fn a_slow_answer_does_not_hold_the_next_one_up_and_can_be_cancelled() {
    let canary = canary(|_| ()).await;
    let mut client = at_bridge(&canary, "main").await;
    let by = delivery(|d| d.ending = Ending::NeverAnswer);
    canary.script().plan("never", Plan::new(Answer::Builtin).by(by));
    client.call("never").await;
    client.say(&envelope::request("2", "tools/call", r#"{"name":"echo"}"#)).await;
    assert!(client.hear().await.unwrap().contains("\"id\":2"));
    assert_eq!(canary.journal().count("never"), 1);
    let cancel = r#"{"requestId":"id-1","reason":"enough"}"#;
    client.say(&envelope::notification("notifications/cancelled", Some(cancel))).await;
    assert!(!answer(&take(&canary, "never").await).complete);
    client.call("next").await;
    assert!(client.hear().await.unwrap().contains("next"));
    canary.stop().await;
}

#[tokio::test]
async fn a_cut_ends_the_conversation_in_the_middle_of_a_line() {
    let canary = canary(|_| ()).await;
    for (ending, seen) in
        [(Ending::CutAfter(17), Some("{\"jsonrpc\":\"2.0\",")), (Ending::CloseBeforeHeaders, None)]
    {
        let mut client = at_bridge(&canary, "main").await;
        let by = delivery(|d| d.ending = ending);
        canary.script().plan("n", Plan::new(Answer::Builtin).by(by));
        client.call("n").await;
        assert_eq!(client.hear().await.as_deref(), seen);
        assert_eq!(client.hear().await, None);
        assert!(!answer(&take(&canary, "n").await).complete);
    }
    canary.stop().await;
}

#[tokio::test]
async fn what_is_no_message_is_refused_on_a_line() {
    let canary = canary_of(|config| config.limits.request = 200).await;
    let mut client = at_bridge(&canary, "main").await;
    for (line, code) in [
        ("{", "-32700"),
        ("[]", "-32600"),
        (&format!("{{\"x\":\"{}\"}}", "y".repeat(300)), "-32700"),
    ] {
        client.say(line).await;
        let answer = client.hear().await.unwrap();
        assert!(answer.contains(code) && answer.contains("\"id\":null"), "{answer}");
    }
    let cut = canary.journal().others().pop().unwrap();
    assert_eq!((cut.request.len(), cut.request.complete), (200, false));
    canary.stop().await;
}

#[tokio::test]
async fn the_end_of_the_input_waits_for_answers_but_not_for_ever() {
    let canary = canary(|_| ()).await;
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let by = delivery(|d| d.ending = Ending::NeverAnswer);
    canary.script().plan("never", Plan::new(Answer::Builtin).by(by));
    let (our_reader, our_writer) = tokio::io::split(ours);
    let mut client = Client::new(our_reader, our_writer);
    client.say(&call_body(REVISION, "slow", r#"{"delay_ms":30}"#)).await;
    client.call("never").await;
    client.out.shutdown().await.unwrap();
    let began = Instant::now();
    in_time(serve_stdio(&canary, "main", reader, writer)).await.unwrap();
    assert!(client.hear().await.unwrap().contains("waited 30 ms"));
    assert!(began.elapsed() < Duration::from_secs(1));
    assert!(!answer(&take(&canary, "never").await).complete);
    let (reader, writer) = tokio::io::split(tokio::io::duplex(8).0);
    let unknown = serve_stdio(&canary, "nobody", reader, writer).await;
    assert_eq!(unknown.unwrap_err().kind(), std::io::ErrorKind::NotFound);
    canary.stop().await;
}

#[tokio::test]
async fn the_bridge_closes_on_a_name_that_nobody_has() {
    let canary = canary(|_| ()).await;
    for name in ["nobody", &"x".repeat(10_000)] {
        let mut client = at_bridge(&canary, name).await;
        assert_eq!(client.hear().await, None);
    }
    assert!(canary.journal().wait_for("n", 0, deadline()).await);
    canary.stop().await;
}

#[tokio::test]
async fn a_task_is_followed_over_lines() {
    let canary = canary(|_| ()).await;
    let mut client = at_bridge(&canary, "main").await;
    client.say("").await;
    let params = "{\"protocolVersion\":\"2025-11-25\"}";
    client.say(&envelope::request("0", "initialize", params)).await;
    assert!(client.hear().await.unwrap().contains(r#""tasks":{"list":{}"#));
    let result = r#"{"content":[]}"#.to_owned();
    canary.script().plan("n", Plan::new(TaskPlan::new(TaskEnd::Result(result))));
    let call = r#"{"name":"echo","arguments":{"nonce":"n"},"task":{}}"#;
    for (method, params, says) in [
        ("tools/call", call, r#""task":{"taskId":"task-n""#),
        ("tasks/get", r#"{"taskId":"task-n"}"#, r#""status":"completed""#),
        ("tasks/result", r#"{"taskId":"task-n"}"#, r#""content":[]"#),
    ] {
        client.say(&envelope::request("1", method, params)).await;
        let heard = client.hear().await.unwrap();
        assert!(heard.contains(says), "{heard}");
    }
    assert!(canary.journal().wait_finished("n", 3, deadline()).await);
    canary.stop().await;
}
