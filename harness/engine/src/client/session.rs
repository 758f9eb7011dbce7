//! Sessions: how a revision wants to be spoken to.
//!
//! A handshake revision is opened once and then named in a header; a stateless one says everything
//! in every request (wire facts, sections 1 and 2).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use birdstrike_wire::headers::{
    MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, MCP_SESSION_ID, encode_value, name_param,
};
use birdstrike_wire::meta::{self, Implementation};
use birdstrike_wire::{Era, Revision, envelope, json};
use indexmap::IndexMap;
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::answer::{Answer, Body};
use super::beside::Replies;
use super::http::{converse, post};
use super::listening::Listening;
use super::transcript::Transcript;

/// Where calls go, and as whom.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The URL of the MCP endpoint.
    pub url: String,
    /// Headers that say who calls; secrets.
    pub identity: Vec<(String, String)>,
}

/// A conversation in one revision with one endpoint.
#[derive(Debug)]
pub struct Session {
    http: reqwest::Client,
    url: Url,
    identity: Vec<(String, String)>,
    revision: Revision,
    client: Implementation,
    /// The `_meta` of every stateless request.
    meta: String,
    id: Option<String>,
    next: AtomicU64,
    /// What the server said in `initialize` or `server/discover`.
    server: Option<String>,
}

/// Ids of our own begin here, so that they meet none that a scenario chooses.
const FIRST_ID: u64 = 1_000;

impl Session {
    /// Opens a conversation: the handshake where the revision has one, `server/discover` where not.
    /// `capabilities` are the client's, a JSON object: told once, or in every request.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub async fn open(
        http: &reqwest::Client,
        endpoint: &Endpoint,
        revision: Revision,
        capabilities: &str,
        deadline: Duration,
    ) -> Result<Self, String> {
        let url =
            Url::parse(&endpoint.url).map_err(|error| format!("{}: {error}", endpoint.url))?;
        let name = "birdstrike".to_owned();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let client = Implementation { name, version };
        let mut session = Self {
            http: http.clone(),
            url,
            identity: endpoint.identity.clone(),
            revision,
            meta: meta::request_meta(revision, &client, capabilities),
            client,
            id: None,
            next: AtomicU64::new(FIRST_ID),
            server: None,
        };
        match revision.era() {
            Era::Handshake => session.shake_hands(capabilities, deadline).await?,
            Era::Stateless => session.discover(deadline).await,
        }
        Ok(session)
    }

    async fn shake_hands(&mut self, capabilities: &str, deadline: Duration) -> Result<(), String> {
        let params = format!(
            "{{\"protocolVersion\":\"{}\",\"capabilities\":{capabilities},\"clientInfo\":{}}}",
            self.revision,
            self.client.to_json()
        );
        let transcript = self.request("initialize", &params, None, deadline).await;
        let result = expect_result(&transcript)?;
        let answered = json::get_string(&result, "protocolVersion").unwrap_or_default();
        if answered != self.revision.as_str() {
            return Err(format!("asked for revision {}, was offered {answered}", self.revision));
        }
        self.id.clone_from(&transcript.session);
        self.server = Some(result);
        let told = self.notify("notifications/initialized", None, deadline).await;
        match told.status {
            Some(200..=299) => Ok(()),
            status => Err(format!("notifications/initialized was answered with {status:?}")),
        }
    }

    /// A client may ask; a gateway that does not answer is still spoken to (wire facts, 1).
    async fn discover(&mut self, deadline: Duration) {
        let transcript = self.request("server/discover", "{}", None, deadline).await;
        self.server = expect_result(&transcript).ok();
    }

    /// The revision that is spoken.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The server's version, as it told it.
    pub fn server_version(&self) -> Option<String> {
        let server = self.server.as_deref()?;
        let info = match self.revision.era() {
            Era::Handshake => json::get(server, "serverInfo"),
            Era::Stateless => {
                json::get(server, "_meta").and_then(|m| json::get(m, meta::SERVER_INFO))
            }
        };
        json::get_string(info?, "version")
    }

    /// Sends one notification; `params` as those of a request, or nothing.
    pub async fn notify(
        &self,
        method: &str,
        params: Option<&str>,
        deadline: Duration,
    ) -> Transcript {
        let params = params.map(|params| self.params(params));
        let body = envelope::notification(method, params.as_deref());
        let headers = self.headers(method, params.as_deref().unwrap_or("{}"));
        post(&self.http, &self.url, headers, body, None, deadline).await
    }

    /// Sends one request; `params` is a JSON object without the `_meta` of its revision (members of
    /// its own in `_meta` stay), `id` a raw id or nothing for one of our own.
    pub async fn request(
        &self,
        method: &str,
        params: &str,
        id: Option<&str>,
        deadline: Duration,
    ) -> Transcript {
        let id = id.map_or_else(|| self.next_id(), str::to_owned);
        let params = self.params(params);
        let body = envelope::request(&id, method, &params);
        let headers = self.headers(method, &params);
        post(&self.http, &self.url, headers, body, Some(id), deadline).await
    }

    /// As [`Session::request`], with headers in place of those of the same name (an empty value leaves
    /// one out), and with replies ready for what the server asks before its answer.
    pub async fn request_with(
        &self,
        method: &str,
        params: &str,
        id: &str,
        deadline: Duration,
        (others, replies): (&IndexMap<String, String>, &Replies),
    ) -> Transcript {
        let params = self.params(params);
        let body = envelope::request(id, method, &params);
        let mut headers = self.headers(method, &params);
        for (name, value) in others {
            let Ok(name) = HeaderName::try_from(name) else { continue };
            headers.remove(&name);
            if let Some(value) = HeaderValue::from_str(value).ok().filter(|_| !value.is_empty()) {
                headers.insert(name, value);
            }
        }
        converse(&self.http, &self.url, headers, body, Some(id.to_owned()), (deadline, replies))
            .await
    }

    /// Opens a stream for what belongs to no request.
    pub async fn listen(&self, deadline: Duration) -> Listening {
        if self.revision.era() == Era::Handshake {
            let mut headers = self.headers("", "{}");
            headers.remove(CONTENT_TYPE);
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
            let request = self.http.get(self.url.clone()).headers(headers);
            return Listening::open(request, String::new(), None, false, deadline).await;
        }
        let (id, params) = (self.next_id(), self.params(WANTED));
        let method = "subscriptions/listen";
        let body = envelope::request(&id, method, &params);
        let headers = self.headers(method, &params);
        let request = self.http.post(self.url.clone()).headers(headers).body(body.clone());
        Listening::open(request, body, Some(id), true, deadline).await
    }

    /// Every tool that is listed: its definition as JSON text, all pages.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub async fn tools(&self, deadline: Duration) -> Result<Vec<String>, String> {
        let mut tools = Vec::new();
        let mut params = "{}".to_owned();
        for _ in 0..MOST_PAGES {
            let transcript = self.request("tools/list", &params, None, deadline).await;
            let result = expect_result(&transcript)?;
            let listed = json::get(&result, "tools").ok_or("the listing has no `tools`")?;
            let items = json::items(listed).map_err(|error| error.to_string())?;
            tools.extend(items.into_iter().map(str::to_owned));
            let next = json::get(&result, "nextCursor").filter(|cursor| *cursor != "null");
            let Some(next) = next else {
                return Ok(tools);
            };
            let following = format!("{{\"cursor\":{next}}}");
            if following == params {
                return Err("the listing's cursor points at its own page".into());
            }
            params = following;
        }
        Err(format!("the listing has more than {MOST_PAGES} pages"))
    }

    /// An id that no other request of this conversation has.
    pub fn next_id(&self) -> String {
        self.next.fetch_add(1, Ordering::Relaxed).to_string()
    }

    fn params(&self, params: &str) -> String {
        match self.revision.era() {
            Era::Handshake => params.to_owned(),
            Era::Stateless => {
                let more = json::get(params, "_meta").and_then(|meta| json::members(meta).ok());
                let meta = more.unwrap_or_default().iter().fold(self.meta.clone(), |meta, one| {
                    json::set(&meta, &one.key(), one.value).unwrap_or(meta)
                });
                json::set(params, "_meta", &meta).unwrap_or_else(|_| params.to_owned())
            }
        }
    }

    fn headers(&self, method: &str, params: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut add = |name: &str, value: &str| {
            let name = HeaderName::try_from(name);
            // A value that no header can carry is left out; the server will say that it misses.
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
                headers.insert(name, value);
            }
        };
        add(CONTENT_TYPE.as_str(), "application/json");
        add(ACCEPT.as_str(), "application/json, text/event-stream");
        if method != "initialize" {
            add(MCP_PROTOCOL_VERSION, self.revision.as_str());
        }
        if let Some(session) = &self.id {
            add(MCP_SESSION_ID, session);
        }
        if self.revision.era() == Era::Stateless {
            add(MCP_METHOD, method);
            let named = name_param(method).and_then(|param| json::get_string(params, param));
            if let Some(named) = named {
                add(MCP_NAME, &encode_value(&named));
            }
        }
        for (name, value) in &self.identity {
            add(name, value);
        }
        headers
    }
}

/// What a stream of 2026-07-28 is asked for.
const WANTED: &str = r#"{"notifications":{"toolsListChanged":true,"resourcesListChanged":true,"promptsListChanged":true}}"#;

/// Pages of a listing that are followed.
const MOST_PAGES: usize = 64;

fn expect_result(transcript: &Transcript) -> Result<String, String> {
    match Answer::read(transcript).body {
        Body::Result(result) => {
            String::from_utf8(result).map_err(|_| "the result is not UTF-8".to_owned())
        }
        Body::Error(error) => Err(format!("it answered with {}", String::from_utf8_lossy(&error))),
        Body::Large(capture) => Err(format!("it answered with {} bytes", capture.len())),
        Body::Nothing(why) => Err(why),
    }
}
