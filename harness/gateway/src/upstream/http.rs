//! The way to an upstream over Streamable HTTP: one POST a message.

use std::error::Error;

use birdstrike_wire::headers::MCP_SESSION_ID;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::body;
use crate::failure::{Cause, Failure};
use crate::surfaces::Steps;
use crate::surfaces::answer_reading::Message;

/// An upstream's endpoint and the connections to it.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    client: reqwest::Client,
    url: reqwest::Url,
}

/// What came back for a request.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A message, and the session that the upstream opened with it.
    Message(Message, Option<HeaderValue>),
    /// The session of the request has ended (R-HTTP-28).
    SessionGone,
}

impl Http {
    /// No connection is made yet.
    pub(crate) fn new(url: &str) -> Result<Self, String> {
        let url = reqwest::Url::parse(url).map_err(|error| error.to_string())?;
        let client = reqwest::Client::builder()
            .no_proxy()
            // A redirect would send the call, and what it carries, to somebody else.
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .build()
            .map_err(|error| root_cause(&error))?;
        Ok(Self { client, url })
    }

    /// Sends a request and reads the answer to it.
    pub(crate) async fn ask(
        &self,
        body: String,
        headers: HeaderMap,
        id: &str,
        limit_bytes: u64,
        steps: &Steps,
    ) -> Result<Heard, Failure> {
        let in_session = headers.contains_key(MCP_SESSION_ID);
        let response = self.post(body, headers).await?;
        if in_session && response.status() == StatusCode::NOT_FOUND {
            return Ok(Heard::SessionGone);
        }
        let session = response.headers().get(MCP_SESSION_ID).cloned();
        let message = body::read(response, id, limit_bytes, steps).await?;
        Ok(Heard::Message(message, session))
    }

    /// Sends a notification. Its answer has no body worth reading.
    pub(crate) async fn tell(&self, body: String, headers: HeaderMap) -> Result<(), Failure> {
        self.post(body, headers).await.map(drop)
    }

    async fn post(&self, body: String, headers: HeaderMap) -> Result<reqwest::Response, Failure> {
        let json = HeaderValue::from_static("application/json");
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        self.client
            .post(self.url.clone())
            .header(CONTENT_TYPE, json)
            .header(ACCEPT, accept)
            .header(ACCEPT_ENCODING, HeaderValue::from_static("gzip"))
            .headers(headers)
            .body(body)
            .send()
            .await
            .map_err(|error| {
                let what = if error.is_connect() { "cannot be reached" } else { "gave no answer" };
                let message = format!("the upstream {what}: {}", root_cause(&error));
                Failure::new(Cause::Unreachable, message)
            })
    }
}

/// The innermost reason of an error; the outer ones only say that there is one.
pub(super) fn root_cause(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
