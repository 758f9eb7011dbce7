//! An upstream that answers each tool with what the test gave it, byte for byte.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use axum::serve::ListenerExt;
use birdstrike_wire::{Envelope, Era, Revision, envelope, json};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use http::{HeaderMap, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// What a tool answers. `{id}` in raw texts stands for the request's id.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    /// A raw result.
    Result(String),
    /// A raw error object.
    Error(String),
    /// A raw error object with an HTTP status.
    ErrorWith(u16, String),
    /// A body of JSON that is no message, with an HTTP status.
    Reason(u16, String),
    /// A whole message.
    Message(Vec<u8>),
    /// A body of this type, sent as it is and never ended if `endless`.
    Body { content_type: &'static str, bytes: Vec<u8>, endless: bool },
    /// A status without a message.
    Status(u16),
    /// A body that announces more than it has.
    Short(String),
    /// Nothing, for ever.
    Silence,
    /// Waits for a permit, then as the other.
    Gated(Arc<Semaphore>, Box<Say>),
    /// The raw params that came, as text and typed part.
    Echo,
}

/// How answers are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Length,
    Chunked,
    Events,
    Gzip,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) body: String,
    pub(crate) headers: HeaderMap,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn params(&self) -> &str {
        json::get(&self.body, "params").unwrap_or("{}")
    }
}

#[derive(Clone)]
struct Behaviour {
    revision: Revision,
    framing: Framing,
    /// The session that `initialize` opens, and how often it was opened.
    sessions: Arc<Mutex<u64>>,
    with_session: bool,
    tools: Arc<Mutex<HashMap<String, Say>>>,
    /// What `tools/list` answers, by cursor; the empty one first.
    pages: Arc<Mutex<HashMap<String, String>>>,
    received: Arc<Mutex<Vec<Received>>>,
    open: Arc<Mutex<u64>>,
}

impl Behaviour {
    /// What it says to any other method: known as `resources/list`, `resources/read URI`,
    /// `prompts/get NAME`.
    fn say_of(&self, method: &str, params: &str) -> Say {
        let target = json::get_string(params, "uri").or(json::get_string(params, "name"));
        let key = target.map_or(method.to_owned(), |target| format!("{method} {target}"));
        let code = if method == "resources/read" { -32002 } else { -32601 };
        let unknown = Say::Error(format!(r#"{{"code":{code},"message":"no {method}"}}"#));
        self.tools.lock().unwrap().get(&key).cloned().unwrap_or(unknown)
    }
}

pub(crate) struct Upstream {
    pub(crate) url: String,
    address: std::net::SocketAddr,
    behaviour: Behaviour,
    runtime: Option<Runtime>,
}

impl Upstream {
    pub(crate) fn start(revision: Revision, framing: Framing) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let behaviour = Behaviour {
            revision,
            framing,
            sessions: Arc::default(),
            with_session: true,
            tools: Arc::default(),
            pages: Arc::default(),
            received: Arc::default(),
            open: Arc::default(),
        };
        let runtime = Some(serve(listener, behaviour.clone()));
        Self { url: format!("http://{address}/mcp"), address, behaviour, runtime }
    }

    pub(crate) fn tool(&self, name: &str, say: Say) -> &Self {
        self.behaviour.tools.lock().unwrap().insert(name.into(), say);
        self
    }

    pub(crate) fn result(&self, name: &str, result: &str) -> &Self {
        self.tool(name, Say::Result(result.into()))
    }

    pub(crate) fn page(&self, cursor: &str, result: &str) -> &Self {
        self.behaviour.pages.lock().unwrap().insert(cursor.into(), result.into());
        self
    }

    pub(crate) fn received(&self, method: &str) -> Vec<Received> {
        let all = self.behaviour.received.lock().unwrap();
        all.iter().filter(|received| received.method == method).cloned().collect()
    }

    /// Requests whose answer is still being waited for.
    pub(crate) fn open(&self) -> u64 {
        *self.behaviour.open.lock().unwrap()
    }

    /// Forgets every session.
    pub(crate) fn end_sessions(&self) {
        *self.behaviour.sessions.lock().unwrap() += 1;
    }

    /// Ends with all its connections. When this returns, nobody listens there.
    pub(crate) async fn stop(&mut self) {
        drop(self.free_address().await);
    }

    /// Starts again at the same address.
    pub(crate) async fn restart(&mut self) {
        let listener = self.free_address().await;
        self.end_sessions();
        self.runtime = Some(serve(listener, self.behaviour.clone()));
    }

    async fn free_address(&mut self) -> std::net::TcpListener {
        self.runtime = None;
        let bound = async {
            loop {
                match std::net::TcpListener::bind(self.address) {
                    Ok(listener) => return listener,
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        };
        tokio::time::timeout(super::DEADLINE, bound).await.unwrap()
    }
}

/// A server in a runtime of its own: ended with it are all its connections, as in a crash.
fn serve(listener: std::net::TcpListener, behaviour: Behaviour) -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = Runtime(Some(runtime.worker_threads(1).enable_all().build().unwrap()));
    let router = Router::new().route("/mcp", post(answer)).with_state(behaviour);
    runtime.0.as_ref().unwrap().spawn(async move {
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        axum::serve(listener.tap_io(|stream| stream.set_nodelay(true).unwrap()), router).await
    });
    runtime
}

struct Runtime(Option<tokio::runtime::Runtime>);

impl Drop for Runtime {
    fn drop(&mut self) {
        self.0.take().unwrap().shutdown_background();
    }
}

/// Counts a request as open until it is dropped.
struct Open(Arc<Mutex<u64>>);

impl Drop for Open {
    fn drop(&mut self) {
        *self.0.lock().unwrap() -= 1;
    }
}

async fn answer(State(me): State<Behaviour>, headers: HeaderMap, body: Bytes) -> Response {
    let envelope = Envelope::read(&body).unwrap();
    let method = envelope.method().unwrap().into_owned();
    let params = envelope.params().unwrap_or("{}");
    let id = envelope.id().unwrap_or("null").to_owned();
    me.received.lock().unwrap().push(Received {
        method: method.clone(),
        body: envelope.text().into(),
        headers: headers.clone(),
    });
    *me.open.lock().unwrap() += 1;
    let _open = Open(me.open.clone());
    let stateless = me.revision.era() == Era::Stateless;
    if envelope.id().is_none() {
        return status(202);
    }
    if !stateless && me.with_session && method != "initialize" {
        let current = me.sessions.lock().unwrap().to_string();
        let theirs = headers.get("mcp-session-id").map(|value| value.to_str().unwrap());
        if theirs.is_none() {
            return status(400);
        }
        if theirs != Some(&current) {
            return status(404);
        }
    }
    let say = match method.as_str() {
        "server/discover" if stateless => Say::Result(format!(
            r#"{{"resultType":"complete","supportedVersions":["{}"],"capabilities":{{"tools":{{}}}},"ttlMs":0,"cacheScope":"private"}}"#,
            me.revision
        )),
        "initialize" if !stateless => Say::Result(format!(
            r#"{{"protocolVersion":"{}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"raw","version":"1"}}}}"#,
            me.revision
        )),
        "tools/list" => {
            let cursor = json::get_string(params, "cursor").unwrap_or_default();
            let page = me.pages.lock().unwrap().get(&cursor).cloned();
            page.map_or(
                Say::Error(r#"{"code":-32602,"message":"no such page"}"#.into()),
                Say::Result,
            )
        }
        "tools/call" => {
            let name = json::get_string(params, "name").unwrap();
            let unknown = Say::Error(r#"{"code":-32602,"message":"no such tool"}"#.into());
            me.tools.lock().unwrap().get(&name).cloned().unwrap_or(unknown)
        }
        method => me.say_of(method, params),
    };
    let mut response = say_it(say, &me, &id, params).await;
    if method == "initialize" && me.with_session {
        let session = me.sessions.lock().unwrap().to_string();
        response.headers_mut().insert("mcp-session-id", session.parse().unwrap());
    }
    response
}

async fn say_it(say: Say, me: &Behaviour, id: &str, params: &str) -> Response {
    match say {
        Say::Result(result) => framed(me.framing, 200, envelope::result(id, &result).into()),
        Say::Error(error) => framed(me.framing, 200, envelope::error(Some(id), &error).into()),
        Say::ErrorWith(status, error) => {
            framed(me.framing, status, envelope::error(Some(id), &error).into())
        }
        Say::Reason(status, body) => framed(me.framing, status, body.into()),
        Say::Message(bytes) => framed(me.framing, 200, with_id(&bytes, id)),
        Say::Body { content_type, bytes, endless } => {
            let first = stream::iter([Ok::<_, Infallible>(Bytes::from(with_id(&bytes, id)))]);
            let body = if endless {
                let rest = stream::repeat_with(|| Ok(Bytes::from_static(b": still here\n\n")));
                Body::from_stream(futures_util::StreamExt::chain(first, rest))
            } else {
                Body::from_stream(first)
            };
            Response::builder().header("content-type", content_type).body(body).unwrap()
        }
        Say::Status(code) => status(code),
        Say::Short(text) => {
            // Enough to be on its way before the end comes.
            let blanks = Bytes::from(vec![b' '; 2 << 20]);
            let pieces = [Ok(Bytes::from(text)), Ok(blanks), Err(std::io::Error::other("cut"))];
            let failing = stream::iter(pieces);
            let response = Response::builder().header("content-type", "application/json");
            response.body(Body::from_stream(failing)).unwrap()
        }
        Say::Silence => std::future::pending().await,
        Say::Gated(gate, then) => {
            gate.acquire().await.unwrap().forget();
            Box::pin(say_it(*then, me, id, params)).await
        }
        Say::Echo => {
            let result =
                format!(r#"{{"resultType":"complete","content":[],"structuredContent":{params}}}"#);
            framed(me.framing, 200, envelope::result(id, &result).into())
        }
    }
}

fn with_id(bytes: &[u8], id: &str) -> Vec<u8> {
    let Some(at) = bytes.windows(4).position(|window| window == b"{id}") else {
        return bytes.to_vec();
    };
    let mut out = [&bytes[..at], id.as_bytes()].concat();
    out.extend(with_id(&bytes[at + 4..], id));
    out
}

fn status(code: u16) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    response
}

fn framed(framing: Framing, status: u16, message: Vec<u8>) -> Response {
    let response = Response::builder().status(status);
    let json = || Response::builder().status(status).header("content-type", "application/json");
    let chunks = |bytes: Vec<u8>| {
        let chunks: Vec<_> =
            bytes.chunks(1000).map(|c| Ok::<_, Infallible>(Bytes::copy_from_slice(c))).collect();
        Body::from_stream(stream::iter(chunks))
    };
    match framing {
        Framing::Length => json().body(Body::from(message)).unwrap(),
        Framing::Chunked => json().body(chunks(message)).unwrap(),
        Framing::Events => {
            let note = b"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n";
            let bytes = [&note[..], b"data: ", &message, b"\n\n"].concat();
            response.header("content-type", "text/event-stream").body(chunks(bytes)).unwrap()
        }
        Framing::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&message).unwrap();
            let bytes = encoder.finish().unwrap();
            json().header("content-encoding", "gzip").body(chunks(bytes)).unwrap()
        }
    }
}
