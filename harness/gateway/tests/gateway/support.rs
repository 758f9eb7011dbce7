//! A gateway, an upstream of our own that says exactly what it is told to, and a client that reads
//! bytes.

pub(crate) mod receiver;
pub(crate) mod upstream;

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use birdstrike_gateway::{Config, Gateway, Steps};
use birdstrike_wire::headers::Mirrored;
use birdstrike_wire::meta::{Implementation, request_meta};
use birdstrike_wire::{Era, Revision, envelope, json};

pub(crate) use upstream::{Framing, Say, Upstream};

/// No answer in a test takes longer.
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

pub(crate) const A: Revision = Revision::V2025_06_18;
pub(crate) const B: Revision = Revision::V2025_11_25;
pub(crate) const C: Revision = Revision::V2026_07_28;

/// The log of a gateway under test.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The lines of an event, each as JSON text.
    pub(crate) fn events(&self, event: &str) -> Vec<String> {
        let wanted = json::quote(event);
        let text = self.text();
        let lines = text.lines().filter(|line| json::get(line, "event") == Some(&wanted));
        lines.map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) struct Running {
    pub(crate) gateway: Gateway,
    pub(crate) log: Log,
    http: reqwest::Client,
}

/// A gateway with this configuration.
pub(crate) async fn gateway(config: &str, steps: &Steps) -> Running {
    let log = Log::default();
    let config = Config::from_text(config).unwrap();
    let gateway = Gateway::start(config, *steps, Box::new(log.clone())).await.unwrap();
    let http = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap();
    Running { gateway, log, http }
}

/// A right gateway in front of one upstream.
pub(crate) async fn before(upstream: &Upstream) -> Running {
    gateway(&format!("upstreams: {{main: {{url: '{}'}}}}", upstream.url), &Steps::RIGHT).await
}

/// What a client got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn result(&self) -> &str {
        json::get(&self.body, "result").unwrap_or_else(|| panic!("no result: {self:?}"))
    }

    pub(crate) fn error(&self) -> &str {
        json::get(&self.body, "error").unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    pub(crate) fn code(&self) -> i64 {
        json::get(self.error(), "code").unwrap().parse().unwrap()
    }

    /// The word for a failure of the gateway's own.
    pub(crate) fn cause(&self) -> String {
        let data = json::get(self.error(), "data").unwrap_or_else(|| panic!("no data: {self:?}"));
        json::get_string(data, "cause").unwrap()
    }

    pub(crate) fn message(&self) -> String {
        json::get_string(self.error(), "message").unwrap()
    }
}

/// A client of one revision.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) url: String,
    pub(crate) revision: Revision,
    pub(crate) capabilities: String,
    /// Further members of `_meta`, each with a comma before it.
    pub(crate) meta: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Client {
    pub(crate) fn new(running: &Running, revision: Revision) -> Self {
        Self {
            http: running.http.clone(),
            url: running.gateway.url(),
            revision,
            capabilities: "{}".into(),
            meta: String::new(),
            headers: Vec::new(),
        }
    }

    pub(crate) fn with_tasks(mut self) -> Self {
        self.capabilities = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#.into();
        self
    }

    /// Calls a tool. `arguments` is JSON text.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Got {
        self.call_as("7", tool, arguments).await
    }

    /// Calls a tool under this id, which is JSON text.
    pub(crate) async fn call_as(&self, id: &str, tool: &str, arguments: &str) -> Got {
        let members = format!("\"name\":{},\"arguments\":{arguments}", json::quote(tool));
        self.ask(id, "tools/call", Some(tool), &members).await
    }

    pub(crate) async fn list(&self) -> Got {
        self.ask("7", "tools/list", None, "").await
    }

    /// Sends a request with these members of its params, raw.
    pub(crate) async fn ask(
        &self,
        id: &str,
        method: &str,
        name: Option<&str>,
        members: &str,
    ) -> Got {
        let mut params = members.to_owned();
        if self.revision.era() == Era::Stateless {
            let me = Implementation { name: "test".into(), version: "1".into() };
            let meta = request_meta(self.revision, &me, &self.capabilities);
            let meta = format!("{}{}}}", &meta[..meta.len() - 1], self.meta);
            params =
                format!("{}{}\"_meta\":{meta}", members, if members.is_empty() { "" } else { "," });
        } else if !self.meta.is_empty() {
            params = format!("{members},\"_meta\":{{{}}}", self.meta.trim_start_matches(','));
        }
        self.send(&envelope::request(id, method, &format!("{{{params}}}")), method, name).await
    }

    /// Sends a body with the headers that the revision asks for.
    pub(crate) async fn send(&self, body: &str, method: &str, name: Option<&str>) -> Got {
        let version = self.revision.as_str();
        let mut headers: Vec<(String, String)> = Vec::new();
        if self.revision.era() == Era::Stateless {
            let mirrored = Mirrored { version: Some(version), method, name };
            headers.extend(mirrored.headers().into_iter().map(|(n, v)| (n.into(), v.into())));
        } else {
            headers.push(("mcp-protocol-version".into(), version.into()));
        }
        headers.extend(self.headers.iter().cloned());
        self.raw(body, &headers).await
    }

    /// Sends a body with these headers alone.
    pub(crate) async fn raw(&self, body: &str, headers: &[(String, String)]) -> Got {
        let mut request = self.http.post(&self.url).body(body.to_owned());
        request = request.header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response = tokio::time::timeout(DEADLINE, request.send()).await.unwrap().unwrap();
        let status = response.status().as_u16();
        Got { status, body: response.text().await.unwrap() }
    }

    /// Sends a body to the facade.
    pub(crate) async fn invoke(&self, body: &str) -> Got {
        let facade = Self { url: self.url.replace("/mcp", "/invoke"), ..self.clone() };
        facade.raw(body, &self.headers).await
    }

    /// Asks for a resource.
    pub(crate) async fn read(&self, uri: &str) -> Got {
        let member = format!("\"uri\":{}", json::quote(uri));
        self.ask("7", "resources/read", Some(uri), &member).await
    }

    /// Asks for a prompt.
    pub(crate) async fn prompt(&self, name: &str) -> Got {
        let members = format!("\"name\":{},\"arguments\":{{\"a\":\"1\"}}", json::quote(name));
        self.ask("7", "prompts/get", Some(name), &members).await
    }

    /// The same client with a token.
    pub(crate) fn with_token(mut self, token: &str) -> Self {
        self.headers.push(("authorization".into(), format!("Bearer {token}")));
        self
    }

    /// A request that is not waited for.
    pub(crate) fn start_call(&self, tool: &str) -> tokio::task::JoinHandle<Got> {
        let (client, tool) = (self.clone(), tool.to_owned());
        tokio::spawn(async move { client.call(&tool, "{}").await })
    }
}

/// Waits until something holds; a test fails when it does not within the deadline.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(DEADLINE, waiting).await.is_ok(), "never: {what}");
}
