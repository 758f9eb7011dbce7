//! What the tests of the canary share: a raw client, and requests written by hand.

use std::time::{Duration, Instant};

use birdstrike_canary::{
    Answered, Canary, Config, Delivery, Exchange, Family, Plan, UpstreamSpec, builtin_tools,
};
use birdstrike_wire::{Revision, envelope, json, meta};
use bytes::Bytes;
use http::HeaderMap;

/// What no step of a test takes longer than.
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

/// The point in time that a test waits until.
pub(crate) fn deadline() -> Instant {
    Instant::now() + DEADLINE
}

/// Fails a test instead of letting it hang.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, work).await.expect("in time")
}

/// A canary with one upstream.
pub(crate) async fn canary(change: impl FnOnce(&mut UpstreamSpec)) -> Canary {
    canary_of(|config| change(&mut config.upstreams[0])).await
}

/// A canary with a configuration of its own.
pub(crate) async fn canary_of(change: impl FnOnce(&mut Config)) -> Canary {
    let mut config = Config::default();
    change(&mut config);
    Canary::start(config).await.unwrap()
}

/// An answer as a client sees it.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Seen {
    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The raw result.
    pub(crate) fn result(&self) -> &str {
        json::get(self.text(), "result").unwrap_or_else(|| panic!("no result: {}", self.text()))
    }

    /// The code of the error.
    pub(crate) fn code(&self) -> i64 {
        let error = json::get(self.text(), "error").unwrap_or_else(|| panic!("{}", self.text()));
        json::get(error, "code").unwrap().parse().unwrap()
    }
}

/// A client that sends exactly what it is told.
pub(crate) fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// A POST with the headers that every POST has.
pub(crate) fn post(url: &str, body: impl Into<reqwest::Body>) -> reqwest::RequestBuilder {
    client()
        .post(url)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(body)
}

/// Sends a request and reads the whole answer.
pub(crate) async fn send(request: reqwest::RequestBuilder) -> Seen {
    in_time(async {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Seen { status, headers, body: response.bytes().await.unwrap() }
    })
    .await
}

/// The `_meta` that a request of 2026-07-28 carries.
pub(crate) fn request_meta() -> String {
    let client = meta::Implementation { name: "test".into(), version: "1".into() };
    meta::request_meta(Revision::V2026_07_28, &client, "{}")
}

/// The body of a tool call in this revision.
pub(crate) fn call_body(revision: Revision, tool: &str, arguments: &str) -> String {
    let tool = json::quote(tool);
    let params = match revision {
        Revision::V2026_07_28 => {
            format!("{{\"name\":{tool},\"arguments\":{arguments},\"_meta\":{}}}", request_meta())
        }
        _ => format!("{{\"name\":{tool},\"arguments\":{arguments}}}"),
    };
    envelope::request("\"id-1\"", "tools/call", &params)
}

/// A tool call in this revision, with every header that belongs to it.
pub(crate) fn call(
    url: &str,
    revision: Revision,
    tool: &str,
    arguments: &str,
) -> reqwest::RequestBuilder {
    let request = post(url, call_body(revision, tool, arguments))
        .header("mcp-protocol-version", revision.as_str());
    match revision {
        Revision::V2026_07_28 => {
            request.header("mcp-method", "tools/call").header("mcp-name", tool)
        }
        _ => request,
    }
}

/// Any request in this revision, with every header that belongs to it. `members` are those of its
/// params, without `_meta`.
pub(crate) fn ask(
    url: &str,
    revision: Revision,
    method: &str,
    members: &str,
) -> reqwest::RequestBuilder {
    let params = format!("{{{members}}}");
    if revision != Revision::V2026_07_28 {
        return post(url, envelope::request("\"id-1\"", method, &params))
            .header("mcp-protocol-version", revision.as_str());
    }
    let with_meta = json::set(&params, "_meta", &request_meta()).unwrap();
    let request = post(url, envelope::request("\"id-1\"", method, &with_meta))
        .header("mcp-protocol-version", revision.as_str())
        .header("mcp-method", method);
    let named = birdstrike_wire::headers::name_param(method);
    match named.and_then(|named| json::get_string(&params, named)) {
        Some(name) => request.header("mcp-name", name),
        None => request,
    }
}

/// Calls `echo` with this nonce at 2026-07-28.
pub(crate) fn call_nonce(canary: &Canary, nonce: &str) -> reqwest::RequestBuilder {
    let arguments = format!("{{\"nonce\":{}}}", json::quote(nonce));
    call(&canary.url("main"), Revision::V2026_07_28, "echo", &arguments)
}

/// Makes a plan for a nonce, calls, and gives what the client saw and what the journal holds.
pub(crate) async fn fire(canary: &Canary, nonce: &str, plan: Plan) -> (Seen, Exchange) {
    canary.script().plan(nonce, plan);
    let seen = send(call_nonce(canary, nonce)).await;
    (seen, take(canary, nonce).await)
}

/// The one exchange with this nonce, finished.
pub(crate) async fn take(canary: &Canary, nonce: &str) -> Exchange {
    assert!(canary.journal().wait_finished(nonce, 1, deadline()).await, "{nonce} not finished");
    let mut taken = canary.journal().take(nonce);
    assert_eq!(taken.len(), 1, "{taken:?}");
    taken.remove(0)
}

/// The answer of an exchange.
pub(crate) fn answer(exchange: &Exchange) -> &Answered {
    exchange.answer.as_ref().expect("an answer")
}

/// The requirement ids of an exchange's notes.
pub(crate) fn rules(exchange: &Exchange) -> Vec<&'static str> {
    exchange.notes.iter().map(|note| note.requirement).collect()
}

/// A delivery that differs from the usual one.
pub(crate) fn delivery(change: impl FnOnce(&mut Delivery)) -> Delivery {
    let mut delivery = Delivery::default();
    change(&mut delivery);
    delivery
}

/// The names of all built-in tools.
pub(crate) fn names() -> Vec<&'static str> {
    assert_eq!(builtin_tools().len(), Family::ALL.len());
    Family::ALL.into_iter().map(Family::name).collect()
}
