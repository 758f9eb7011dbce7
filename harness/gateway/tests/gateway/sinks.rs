//! The sinks, as those who read them see them.

use std::net::UdpSocket;

use birdstrike_gateway::{Config, Gateway, StartError, Steps};
use birdstrike_wire::json;
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::support::receiver::{Folder, Posted, Receiver};
use super::support::*;

const GOOD: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"in-result"}]}"#;
const FAILED: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"E42 no: password=in-words"}],"isError":true}"#;
const ARGUMENTS: &str =
    r#"{"note":"a-note","list":[{"Api_Key":"in-list"}],"text":"Bearer in-form"}"#;
const SECRETS: [&str; 3] = ["in-list", "in-form", "in-words"];
pub(crate) const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

fn upstream() -> Upstream {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.result("good", GOOD).result("fails", FAILED);
    upstream.tool("error", Say::Error(r#"{"code":-7,"message":"password=in-words"}"#.into()));
    upstream.tool("broken", Say::Message(b"nothing".to_vec()));
    upstream
}

async fn running(upstream: &Upstream, config: &str) -> Running {
    gateway(&format!("upstreams: {{main: {{url: '{}'}}}}\n{config}", upstream.url), &Steps::RIGHT)
        .await
}

fn traced(running: &Running) -> Client {
    let mut client = Client::new(running, C);
    client.meta = format!(",\"traceparent\":\"00-{TRACE}-b7ad6b7169203331-01\"");
    client
}

async fn page(running: &Running, path: &str) -> String {
    let url = running.gateway.url().replace("/mcp", path);
    reqwest::get(url).await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn every_sink_is_told_the_same_of_a_call_and_no_secret() {
    let (upstream, folder) = (upstream(), Folder::new());
    let (receiver, url) = Receiver::start().await;
    let config = format!(
        "log: {{file: '{}'}}\nevents: {{}}\nalerts: {{webhook: '{url}/alert'}}\n\
         audit: [{{format: jsonl, to: {{file: '{}'}}}}]\ntelemetry: {{otlp: '{url}'}}\n",
        folder.file("log"),
        folder.file("audit"),
    );
    let running = running(&upstream, &config).await;
    for tool in ["good", "fails", "error", "broken"] {
        traced(&running).call(tool, ARGUMENTS).await;
    }
    let history = page(&running, "/history").await;
    let events: Vec<Value> = serde_json::from_str(&history).unwrap();
    // Spans that wait are sent together.
    let is_alert = |posted: &&Posted| posted.0 == "/alert";
    until("the alerts arrive", || receiver.all().iter().filter(is_alert).count() >= 3).await;
    until("the audit is written", || folder.lines("audit").len() >= 4).await;
    let mut log = folder.json("log");
    log.retain(|line| line["event"] == "call");
    let audit = folder.json("audit");
    let all = receiver.all();
    let alerts = all.iter().filter(is_alert);
    let alerts: Vec<Value> = alerts.map(|a| serde_json::from_slice(&a.2).unwrap()).collect();
    assert_eq!((events.len(), log.len(), audit.len(), alerts.len()), (4, 4, 4, 3));
    let expected = [
        ("completed", Value::Null, Value::Null),
        ("failed", "tool_error".into(), Value::Null),
        ("failed", "rpc_error".into(), (-7).into()),
        ("failed", "bad_answer".into(), (-31004).into()),
    ];
    for (at, (outcome, error_type, code)) in expected.into_iter().enumerate() {
        let alert = at.checked_sub(1).map(|at| &alerts[at]);
        for record in [Some(&events[at]), Some(&log[at]), Some(&audit[at]), alert] {
            let Some(record) = record else { continue };
            assert_eq!(record["error_type"], error_type, "{record}");
            assert_eq!(record["code"], code, "{record}");
            assert_eq!(record["trace_id"], TRACE);
            assert_eq!(record["arguments"]["note"], "a-note");
            for name in ["call_id", "tool", "upstream", "route", "bytes", "arguments_sha256"] {
                assert_eq!(record[name], events[at][name], "{name}");
            }
        }
        assert_eq!(events[at]["outcome"], outcome);
        assert_eq!(audit[at]["type"], format!("call_{outcome}"));
        assert_eq!(events[at]["health"], "up");
    }
    let received = all.iter().map(|(.., body)| String::from_utf8(body.clone()).unwrap());
    let told = [
        history,
        running.log.text(),
        folder.lines("log").join("\n"),
        folder.lines("audit").join("\n"),
        page(&running, "/metrics").await,
        received.collect(),
    ];
    holds_no_secret(&told);
    assert!(alerts[0]["error"].as_str().unwrap().starts_with("E42 no: password=[redacted]"));
    assert!(told[0].contains("a-note") && !told[0].contains("E42") && !told[3].contains("E42"));
    assert_eq!(upstream.received("tools/call").len(), 4);
}

fn holds_no_secret(told: &[String]) {
    for (at, text) in told.iter().enumerate() {
        for secret in SECRETS.into_iter().chain(["in-result"]) {
            assert!(!text.contains(secret), "{secret} in {at}: {text}");
        }
    }
}

#[tokio::test]
async fn a_batch_tells_each_of_its_calls_as_flat_ones() {
    let upstream = upstream();
    let running = running(&upstream, "events: {history: 3}").await;
    let client = traced(&running);
    for tool in ["good", "fails", "error"] {
        client.call(tool, "{}").await;
    }
    let flat: Vec<Value> = serde_json::from_str(&page(&running, "/history").await).unwrap();
    let got = client
        .call("gateway_call", r#"{"calls":[{"tool":"good"},{"tool":"fails"},{"tool":"error"}]}"#)
        .await;
    let batch: Vec<Value> = serde_json::from_str(&page(&running, "/history").await).unwrap();
    assert_eq!(batch.len(), 3);
    for flat in &flat {
        let event = batch.iter().find(|event| event["tool"] == flat["tool"]).unwrap();
        for name in ["outcome", "error_type", "code", "bytes", "trace_id", "upstream"] {
            assert_eq!(event[name], flat[name], "{name}");
        }
        assert_eq!(event["route"], "batch");
        assert!(got.body.contains(&json::quote(event["call_id"].as_str().unwrap())));
    }
}

#[tokio::test]
async fn a_trace_of_its_own_and_one_of_a_header() {
    let upstream = upstream();
    let running = running(&upstream, "events: {}").await;
    let mut client = Client::new(&running, A);
    client.call("good", "{}").await;
    client.headers.push(("traceparent".into(), format!("00-{TRACE}-b7ad6b7169203331-00")));
    client.call("good", "{}").await;
    let events: Vec<Value> = serde_json::from_str(&page(&running, "/history").await).unwrap();
    assert_eq!(events[0]["trace_id"].as_str().unwrap().len(), 32);
    assert_ne!(events[0]["trace_id"], TRACE);
    assert_eq!(events[1]["trace_id"], TRACE);
}

#[tokio::test]
async fn spans_arrive_in_both_encodings_with_the_trace_of_the_client() {
    let upstream = upstream();
    for (protocol, kind) in [("json", "application/json"), ("protobuf", "application/x-protobuf")] {
        let (receiver, url) = Receiver::start().await;
        let config = format!(
            "telemetry: {{otlp: '{url}/', protocol: {protocol}}}\n\
             mutators: [{{truncate_text: {{max_chars: 2}}}}]"
        );
        let running = running(&upstream, &config).await;
        traced(&running).call("good", "{}").await;
        let got = receiver.wait_for(1).await;
        assert_eq!((got[0].0.as_str(), got[0].1.as_str()), ("/v1/traces", kind));
        let trace: Vec<u8> = match protocol {
            "json" => TRACE.into(),
            _ => uuid::Uuid::parse_str(TRACE).unwrap().as_bytes().to_vec(),
        };
        let body = got.into_iter().flat_map(|(.., body)| body).collect::<Vec<u8>>();
        assert!(body.windows(trace.len()).any(|window| window == trace));
        assert!(!body.windows(9).any(|window| window == b"in-result"));
    }
}

#[tokio::test]
async fn audit_records_go_by_udp_and_tcp_and_a_collector_may_come_late() {
    let (upstream, udp) = (upstream(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = format!(
        "audit:\n  - {{format: syslog, to: {{udp: '{}'}}}}\n  - {{format: cef, to: {{tcp: '{port}'}}}}\n",
        udp.local_addr().unwrap()
    );
    let running = running(&upstream, &config).await;
    let got = traced(&running).call("good", "{}").await;
    assert_eq!(got.status, 200);
    udp.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut datagram = [0; 8192];
    let count = tokio::task::spawn_blocking(move || {
        udp.recv(&mut datagram).map(|n| datagram[..n].to_vec())
    });
    let datagram = String::from_utf8(count.await.unwrap().unwrap()).unwrap();
    assert!(datagram.starts_with("<110>1 ") && datagram.contains(TRACE), "{datagram}");
    let listener = TcpListener::bind(port).await.unwrap();
    let (mut stream, _) = tokio::time::timeout(DEADLINE, listener.accept()).await.unwrap().unwrap();
    traced(&running).call("fails", "{}").await;
    let mut bytes = Vec::new();
    let both = async {
        while String::from_utf8_lossy(&bytes).matches("CEF:0|").count() < 2
            // The last of the hash of no arguments.
            || !bytes.ends_with(b"caaff8a")
        {
            stream.read_buf(&mut bytes).await.unwrap();
        }
    };
    assert!(
        tokio::time::timeout(DEADLINE, both).await.is_ok(),
        "{}",
        String::from_utf8_lossy(&bytes)
    );
    let text = String::from_utf8(bytes).unwrap();
    let (length, rest) = text.split_once(' ').unwrap();
    let (first, second) = rest.split_at(length.parse().unwrap());
    assert!(first.starts_with("<110>1 ") && first.contains("|call_completed|"), "{first}");
    assert!(second.split_once(' ').unwrap().1.starts_with("<108>1 "), "{second}");
    // The collector goes away and comes back.
    drop(stream);
    for _ in 0..3 {
        traced(&running).call("error", "{}").await;
    }
    let (mut stream, _) = tokio::time::timeout(DEADLINE, listener.accept()).await.unwrap().unwrap();
    let mut bytes = Vec::new();
    let read = async {
        while String::from_utf8_lossy(&bytes).matches("cn1=-7").count() < 1 {
            stream.read_buf(&mut bytes).await.unwrap();
        }
    };
    assert!(tokio::time::timeout(DEADLINE, read).await.is_ok());
}

#[tokio::test]
async fn a_dead_collector_costs_no_call_anything_and_what_is_lost_is_counted() {
    let upstream = upstream();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = format!(
        "audit: [{{format: leef, to: {{tcp: '{port}'}}}}]\nalerts: {{webhook: 'http://{port}/'}}\n\
         telemetry: {{otlp: 'http://{port}'}}\n"
    );
    let running = running(&upstream, &config).await;
    let calls: Vec<&str> = vec![r#"{"tool":"good"}"#; 100];
    let calls = format!("{{\"calls\":[{}]}}", calls.join(","));
    let client = Client::new(&running, C);
    for _ in 0..11 {
        let got = client.call("gateway_call", &calls).await;
        assert!(got.body.contains(r#""failed":0"#));
    }
    client.call("fails", "{}").await;
    until("the log tells of it", || running.log.events("sink_lost").len() >= 3).await;
    let lost = page(&running, "/metrics").await;
    let audit = lost.lines().find(|line| line.contains(r#"lost_records_total{sink="audit 0"}"#));
    let count: u64 = audit.unwrap().rsplit_once(' ').unwrap().1.parse().unwrap();
    assert!((1..200).contains(&count), "{count}");
}

#[tokio::test]
async fn health_is_what_the_upstream_is_and_not_what_its_tools_say() {
    let upstream = upstream();
    let config = format!(
        "upstreams: {{main: {{url: '{}'}}, gone: {{url: 'http://127.0.0.1:9/'}}}}\nevents: {{}}",
        upstream.url
    );
    let running = gateway(&config, &Steps::RIGHT).await;
    for tool in ["main.fails", "main.error", "gone.x", "nobody.x"] {
        traced(&running).call(tool, "{}").await;
    }
    let metrics = page(&running, "/metrics").await;
    assert!(metrics.contains("upstream_up{upstream=\"main\"} 1\n"), "{metrics}");
    assert!(metrics.contains("upstream_up{upstream=\"gone\"} 0\n"), "{metrics}");
    let events: Vec<Value> = serde_json::from_str(&page(&running, "/history").await).unwrap();
    let health: Vec<_> = events.iter().map(|event| event["health"].as_str()).collect();
    assert_eq!(health, [Some("up"), Some("up"), Some("down"), None]);
    assert_eq!(events[3]["error_type"], "unknown_tool");
}

#[tokio::test]
async fn who_may_not_call_may_not_look_and_what_is_off_is_not_there() {
    let upstream = upstream();
    let running = running(&upstream, "").await;
    let url = running.gateway.url().replace("/mcp", "/history");
    assert_eq!(reqwest::get(&url).await.unwrap().status(), 404);
    for path in ["/history", "/metrics"] {
        let request = reqwest::Client::new().get(running.gateway.url().replace("/mcp", path));
        let got = request.header("origin", "http://example.org").send().await.unwrap();
        assert_eq!(got.status(), 403, "{path}");
    }
    let config = "upstreams: {a: {url: 'http://x/'}}\nlog: {file: /nowhere/at/all}";
    let config = Config::from_text(config).unwrap();
    let error = Gateway::start(config, Steps::RIGHT, Box::new(std::io::sink())).await.unwrap_err();
    assert!(matches!(error, StartError::Sink { sink: "log", .. }), "{error}");
}

#[tokio::test]
async fn a_caller_has_its_name_and_never_its_token_in_a_record() {
    let upstream = upstream();
    let config = "identities: {alice: {token: a-token-1}}\nevents: {}";
    let running = running(&upstream, config).await;
    let mut client = traced(&running);
    client.headers.push(("authorization".into(), "Bearer a-token-1".into()));
    client.call("good", r#"{"said":"a-token-1"}"#).await;
    let url = running.gateway.url().replace("/mcp", "/history");
    assert_eq!(reqwest::get(&url).await.unwrap().status(), 401);
    let request = reqwest::Client::new().get(&url).bearer_auth("a-token-1");
    let history = request.send().await.unwrap().text().await.unwrap();
    let events: Vec<Value> = serde_json::from_str(&history).unwrap();
    assert_eq!((&events[0]["caller"], events.len()), (&"alice".into(), 1));
    assert!(!history.contains("a-token-1"));
}

#[tokio::test]
async fn a_listener_gets_each_event_as_it_comes() {
    let upstream = upstream();
    let running = running(&upstream, "events: {}").await;
    let address = running.gateway.addr();
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /events HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    tokio::io::AsyncWriteExt::write_all(&mut socket, request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let mut read_until = async |what: &[u8]| {
        let reading = async {
            while !bytes.windows(what.len()).any(|window| window == what) {
                socket.read_buf(&mut bytes).await.unwrap();
            }
        };
        assert!(tokio::time::timeout(DEADLINE, reading).await.is_ok());
        bytes.clone()
    };
    let head = read_until(b"\r\n\r\n").await;
    assert!(head.starts_with(b"HTTP/1.1 101"));
    traced(&running).call("fails", "{}").await;
    let frames = read_until(b"\"health\":\"up\"}").await;
    // A text frame, whole, with a length of two bytes.
    assert_eq!(frames[head.len()..][..2], [0x81, 126]);
}

#[tokio::test]
async fn last_records_arrive_when_the_gateway_stops() {
    let (upstream, folder) = (upstream(), Folder::new());
    let config = format!("audit: [{{format: cef, to: {{file: '{}'}}}}]", folder.file("audit"));
    let running = running(&upstream, &config).await;
    for _ in 0..20 {
        traced(&running).call("good", ARGUMENTS).await;
    }
    running.gateway.stop().await;
    assert_eq!(folder.lines("audit").len(), 20);
}
