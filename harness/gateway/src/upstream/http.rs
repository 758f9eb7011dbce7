//! The way to an upstream over Streamable HTTP: one POST a message.

use std::error::Error;

use birdstrike_wire::headers::MCP_SESSION_ID;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::body::{self, Read, Stopped};
use super::speaker::Speaker;
use crate::aside::Ear;
use crate::failure::{Cause, Failure};
use crate::surfaces::Steps;
use crate::surfaces::answer_reading::Message;
use crate::surfaces::transport::Broken;

/// An upstream's endpoint and the connections to it.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    client: reqwest::Client,
    url: reqwest::Url,
}

/// How the answer to one request is read.
#[derive(Clone, Copy)]
pub(crate) struct Exchange<'a> {
    /// The request's id, as JSON text.
    pub(crate) id: &'a str,
    pub(crate) limit_bytes: u64,
    /// Whether a stream that breaks can be taken up again.
    pub(crate) resumes: bool,
    /// Who hears what comes before the answer.
    pub(crate) ear: Option<&'a Ear>,
    pub(crate) steps: &'a Steps,
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

    /// Sends a request and reads the answer to it, over as many connections as that takes.
    pub(crate) async fn ask(
        &self,
        body: String,
        headers: HeaderMap,
        exchange: &Exchange<'_>,
    ) -> Result<Heard, Failure> {
        let in_session = headers.contains_key(MCP_SESSION_ID);
        let again = (exchange.steps.transport.again)().then(|| body.clone());
        let response = self.post(body, headers.clone()).await?;
        let over = (exchange.steps.transport.session_over)(response.status().as_u16());
        if in_session && over {
            return Ok(Heard::SessionGone);
        }
        let session = response.headers().get(MCP_SESSION_ID).cloned();
        let speaker = Speaker::Http(self.clone(), headers.clone());
        let mut read = body::read(response, exchange, &speaker).await?;
        let (mut last, mut in_vain) = (String::new(), 0);
        loop {
            let stopped = match read {
                Read::Message(message) => return Ok(Heard::Message(message, session)),
                Read::Broken(stopped) => stopped,
            };
            in_vain = if stopped.last_event_id == last { in_vain + 1 } else { 0 };
            last = stopped.last_event_id;
            let has_id = exchange.resumes && !last.is_empty();
            let broken = Broken { has_id, retry_ms: stopped.retry_ms, in_vain };
            let Some(wait) = (exchange.steps.transport.resume)(&broken) else {
                let Some(body) = again else { return Err(stopped.failure) };
                let response = self.post(body, headers).await?;
                return match body::read(response, exchange, &speaker).await? {
                    Read::Message(message) => Ok(Heard::Message(message, session)),
                    Read::Broken(stopped) => Err(stopped.failure),
                };
            };
            tokio::time::sleep(wait).await;
            let mut headers = headers.clone();
            let Ok(id) = HeaderValue::from_str(&last) else { return Err(stopped.failure) };
            headers.insert(HeaderName::from_static("last-event-id"), id);
            read = match self.listen(headers).await {
                Ok(response) if response.status().is_success() => {
                    match body::read(response, exchange, &speaker).await? {
                        // A stream that brings nothing new says nothing new of where it stopped.
                        Read::Broken(mut stopped) if stopped.last_event_id.is_empty() => {
                            stopped.last_event_id.clone_from(&last);
                            Read::Broken(stopped)
                        }
                        read => read,
                    }
                }
                // The server may be away for a moment.
                Err(_) => Read::Broken(Stopped { last_event_id: last.clone(), ..stopped }),
                Ok(_) => return Err(stopped.failure),
            };
        }
    }

    /// Opens a stream for what the upstream has to say beside any request, or takes one up again.
    pub(super) async fn listen(&self, headers: HeaderMap) -> Result<reqwest::Response, Failure> {
        let events = HeaderValue::from_static("text/event-stream");
        let get = self.client.get(self.url.clone()).header(ACCEPT, events).headers(headers);
        get.send().await.map_err(|error| unreachable(&error))
    }

    /// Sends a notification. Its answer has no body worth reading.
    pub(crate) async fn tell(&self, body: String, headers: HeaderMap) -> Result<(), Failure> {
        self.post(body, headers).await.map(drop)
    }

    pub(super) async fn post(
        &self,
        body: String,
        headers: HeaderMap,
    ) -> Result<reqwest::Response, Failure> {
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
            .map_err(|error| unreachable(&error))
    }
}

fn unreachable(error: &reqwest::Error) -> Failure {
    let what = if error.is_connect() { "cannot be reached" } else { "gave no answer" };
    let message = format!("the upstream {what}: {}", root_cause(error));
    Failure::new(Cause::Unreachable, message)
}

/// The innermost reason of an error; the outer ones only say that there is one.
pub(super) fn root_cause(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
