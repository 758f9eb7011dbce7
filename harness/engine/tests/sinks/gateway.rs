//! A gateway that passes every call on and writes records of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::routing::{get, post};
use birdstrike_wire::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinHandle;

/// What it writes, and where.
#[derive(Clone, Debug)]
pub(crate) enum Record {
    /// A line of its log file.
    Log(String),
    /// An item of its history.
    Event(String),
    /// A body that is posted.
    Alert(String),
    /// A datagram.
    Udp(String),
    /// A counted frame.
    Tcp(String),
    /// A body for the collector.
    Span(String),
}

/// A call that it passed on.
pub(crate) struct Call {
    pub(crate) trace: String,
    arguments: serde_json::Value,
}

impl Call {
    pub(crate) fn argument(&self, name: &str) -> &str {
        self.arguments[name].as_str().unwrap()
    }
}

/// A value as an extension of CEF has it.
pub(crate) fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('=', "\\=").replace('\n', "\\n")
}

/// One right record in each sink.
pub(crate) fn right(call: &Call) -> Vec<Record> {
    let (trace, note) = (&call.trace, call.argument("note"));
    let title = escaped(call.argument("title"));
    let header = "<134>1 2026-01-01T00:00:00Z gate gate - - -";
    let cef = format!("{header} CEF:0|a|gate|1|call|call|3|cs1={trace} msg={title} act=allowed");
    let attributes = r#"[{"key":"tool","value":{"stringValue":"echo"}}]"#;
    let span = format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"{trace}","name":"call","attributes":{attributes}}}]}}]}}]}}"#
    );
    vec![
        Record::Log(format!(
            r#"{{"trace_id":"{trace}","note":"{note}","password":"***","why":"end"}}"#
        )),
        Record::Event(format!(r#"{{"type":"call_completed","trace":"{trace}","bytes":7}}"#)),
        Record::Alert(format!(r#"{{"alert":"{trace}"}}"#)),
        Record::Udp(cef.clone()),
        Record::Tcp(cef),
        Record::Span(span),
    ]
}

type Manner = fn(&Call) -> Vec<Record>;

/// A running gateway; it ends when it is dropped.
pub(crate) struct Gateway {
    pub(crate) url: String,
    pub(crate) dir: tempfile::TempDir,
    task: JoinHandle<()>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Inner {
    manner: Manner,
    log: PathBuf,
    history: Mutex<Vec<String>>,
}

impl Gateway {
    /// Serves on a free port and writes in this manner.
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log.jsonl");
        let inner = Arc::new(Inner { manner, log, history: Mutex::default() });
        let router = Router::new()
            .route("/mcp", post(serve))
            .route("/history", get(history))
            .with_state(inner);
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, dir, task }
    }
}

async fn history(State(inner): State<Arc<Inner>>) -> String {
    format!("{{\"events\":[{}]}}", inner.history.lock().unwrap().join(","))
}

async fn serve(
    State(inner): State<Arc<Inner>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Vec<u8> {
    let query = query.unwrap_or_default();
    let to = |name: &str| {
        let parts = query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        parts.unwrap().to_owned()
    };
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut sent = http.post(to("up")).body(body.to_vec());
    for (name, value) in &headers {
        if name.as_str().starts_with("mcp-") || name == "accept" || name == "content-type" {
            sent = sent.header(name.as_str(), value.as_bytes());
        }
    }
    let answer = sent.send().await.unwrap().bytes().await.unwrap().to_vec();
    let Some(call) = call(std::str::from_utf8(&body).unwrap()) else {
        return answer;
    };
    for record in (inner.manner)(&call) {
        match record {
            Record::Log(text) => {
                let mut options = tokio::fs::OpenOptions::new();
                let mut file = options.create(true).append(true).open(&inner.log).await.unwrap();
                file.write_all(format!("{text}\n").as_bytes()).await.unwrap();
                file.flush().await.unwrap();
            }
            Record::Event(text) => inner.history.lock().unwrap().push(text),
            Record::Alert(text) => {
                http.post(to("hook")).body(text).send().await.unwrap();
            }
            Record::Udp(text) => {
                let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                socket.send_to(text.as_bytes(), to("udp")).await.unwrap();
            }
            Record::Tcp(text) => {
                let mut stream = TcpStream::connect(to("tcp")).await.unwrap();
                let frame = format!("{} {text}", text.len());
                stream.write_all(frame.as_bytes()).await.unwrap();
            }
            Record::Span(text) => {
                let post = http.post(format!("{}/v1/traces", to("otlp")));
                post.header("content-type", "application/json").body(text).send().await.unwrap();
            }
        }
    }
    answer
}

/// The call in a request that carries a trace.
fn call(body: &str) -> Option<Call> {
    let params = json::get(body, "params")?;
    let parent = json::get_string(json::get(params, "_meta")?, "traceparent")?;
    let arguments = serde_json::from_str(json::get(params, "arguments")?).ok()?;
    Some(Call { trace: parent.get(3..35)?.to_owned(), arguments })
}
