//! Calls and batches over every route.

use std::sync::Arc;
use std::time::Duration;

use birdstrike_scenario::profile::{BatchCodec, HttpCodec};
use birdstrike_scenario::scenario::{Batch, Call, Sender};
use birdstrike_wire::{Revision, json};
use indexmap::IndexMap;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::super::sinks;
use super::shot::{Armed, Shot, fired};
use super::{Fired, Kind, Upstream};
use crate::client::{Answer, Replies, Transcript, batch, facade, http};
use crate::launch::{DIRECT, Launch, Way};

/// How a call is written on a route.
enum Form<'a> {
    /// As itself.
    Flat,
    /// As one of many.
    Batch(&'a BatchCodec),
    /// As a plain HTTP request.
    Facade(&'a HttpCodec),
}

/// The route on which the calls of a cut result were made.
const BATCH: &str = "batch";
/// The route on which the rest of a cut result is fetched.
pub(super) const CONTINUATION: &str = "continuation";

fn form<'a>(launch: &'a Launch, route: &str) -> Form<'a> {
    let known = if route == DIRECT { None } else { launch.profile().routes.get(route) };
    let Some(known) = known else { return Form::Flat };
    match (&known.batch, &known.http) {
        (Some(codec), _) => Form::Batch(codec),
        (None, Some(codec)) => Form::Facade(codec),
        (None, None) => Form::Flat,
    }
}

/// What several calls share.
struct Volley<'a> {
    way: Way<'a>,
    tool: &'a str,
    sender: Sender<'a>,
    id: Option<&'a str>,
    /// `params.task`.
    task: Option<&'a str>,
    /// Whether the rest of what was cut is fetched at once.
    follows: bool,
    /// Replies that the client has ready, and how long it waits at most.
    replies: Option<&'a Replies>,
    gives_up: Option<Duration>,
}

impl<'a> Shot<'a> {
    pub(super) async fn call(
        &self,
        name: &str,
        call: &'a Call,
        sender: Sender<'a>,
    ) -> Result<Vec<Fired>, String> {
        let armed = self.arm(name, Some(call.answer()), call.arguments.as_deref())?;
        let upstream = call.upstream.as_deref().unwrap_or("main");
        let tool = call.tool.as_deref().unwrap_or(&self.scenario.tool);
        let mut volley = self.volley(sender, upstream, tool);
        volley.id = call.id.as_deref();
        volley.task = call.task.as_deref();
        volley.replies = Some(&call.replies);
        volley.gives_up = call.gives_up_ms.map(Duration::from_millis);
        self.fire(&volley, vec![armed]).await
    }

    pub(super) async fn batch(
        &self,
        name: &str,
        batch: &'a Batch,
        sender: Sender<'a>,
    ) -> Result<Vec<Fired>, String> {
        let upstream = batch.upstream.as_deref().unwrap_or("main");
        let volley = self.volley(sender, upstream, &self.scenario.tool);
        let packs = matches!(form(self.launch, volley.way.route), Form::Batch(_));
        if batch.misuse {
            return if packs { self.misuse(name, &volley).await } else { Ok(Vec::new()) };
        }
        let mut armed = Vec::new();
        for (at, answer) in batch.answers.iter().enumerate() {
            armed.push(self.arm(&format!("{name}.{at}"), Some(answer), None)?);
        }
        if packs {
            return self.fire(&volley, armed).await;
        }
        let mut fired = Vec::new();
        for one in armed {
            fired.extend(self.fire(&volley, vec![one]).await?);
        }
        Ok(fired)
    }

    fn volley(&self, sender: Sender<'a>, upstream: &'a str, tool: &'a str) -> Volley<'a> {
        let mut way = self.way(sender, upstream);
        let follows = way.route == CONTINUATION;
        if follows {
            way.route = BATCH;
        }
        Volley { way, tool, sender, id: None, task: None, follows, replies: None, gives_up: None }
    }

    async fn fire(&self, volley: &Volley<'_>, armed: Vec<Armed>) -> Result<Vec<Fired>, String> {
        match form(self.launch, volley.way.route) {
            Form::Flat => self.flat(volley, armed).await,
            Form::Batch(codec) => self.packed(volley, codec, armed).await,
            Form::Facade(codec) => self.facade(volley, codec, armed).await,
        }
    }

    async fn flat(&self, volley: &Volley<'_>, armed: Vec<Armed>) -> Result<Vec<Fired>, String> {
        let mut all = Vec::new();
        for one in armed {
            let name = self.launch.tool_name(volley.way.route, volley.tool, volley.way.upstream)?;
            let (name, arguments) = (json::quote(&name), &one.arguments);
            let mut params = format!("{{\"name\":{name},\"arguments\":{arguments}}}");
            if let Some(task) = volley.task {
                params = json::set(&params, "task", task).map_err(|error| error.to_string())?;
            }
            let params = self.with_meta(params, volley.sender)?;
            let deadline = volley.gives_up.unwrap_or(self.deadline());
            let (none, no_replies) = (IndexMap::new(), Replies::new());
            let extra = (&none, volley.replies.unwrap_or(&no_replies));
            let message = ("tools/call", params.as_str(), volley.id);
            let sent = self.send_with(&one.name, &volley.way, message, deadline, extra);
            let transcript = Arc::new(sent.await?);
            let answer = Answer::read(&transcript);
            all.push(self.gathered(volley, one, &transcript, answer).await);
        }
        Ok(all)
    }

    async fn packed(
        &self,
        volley: &Volley<'_>,
        codec: &BatchCodec,
        armed: Vec<Armed>,
    ) -> Result<Vec<Fired>, String> {
        let Way { route, upstream, .. } = volley.way;
        let called = self.launch.named(&codec.tool, volley.tool, upstream)?;
        let calls: Vec<_> = armed
            .iter()
            .map(|one| batch::Call { tool: called.clone(), arguments: one.arguments.clone() })
            .collect();
        let name = json::quote(&self.launch.tool_name(route, volley.tool, upstream)?);
        let arguments = batch::arguments(codec, upstream, &calls);
        let params = format!("{{\"name\":{name},\"arguments\":{arguments}}}");
        let params = self.with_meta(params, volley.sender)?;
        let step = armed.first().map(|one| one.name.clone()).unwrap_or_default();
        let sent = self.send(&step, &volley.way, "tools/call", &params, volley.id);
        let transcript = Arc::new(sent.await?);
        let outer = Answer::read(&transcript);
        let entries = batch::entries(codec, &outer, armed.len());
        let (outer, packing) = (Arc::new(outer), Arc::new(entries.breaks));
        let nonces: Vec<String> = armed.iter().map(|one| one.nonce.clone()).collect();
        let read = entries.answers.into_iter().zip(entries.raw).zip(entries.claims);
        let mut all = Vec::new();
        for (one, ((answer, raw), claims)) in armed.into_iter().zip(read) {
            let siblings = nonces.iter().filter(|n| **n != one.nonce).cloned().collect();
            let plain = self.gathered(volley, one, &transcript, answer).await;
            let (outer, packing) = (Some(Arc::clone(&outer)), Arc::clone(&packing));
            let claims = Some(claims);
            let entry = Fired { outer, entry: Some(raw), claims, packing, siblings, ..plain };
            all.push(if volley.follows {
                self.followed(entry, volley.sender).await?
            } else {
                entry
            });
        }
        Ok(all)
    }

    async fn facade(
        &self,
        volley: &Volley<'_>,
        codec: &HttpCodec,
        armed: Vec<Armed>,
    ) -> Result<Vec<Fired>, String> {
        let endpoint = self.launch.endpoint(&volley.way)?;
        let url = facade::url(&endpoint.url, codec)?;
        let upstream = volley.way.upstream;
        let tool = self.launch.named(&codec.tool, volley.tool, upstream)?;
        let mut all = Vec::new();
        for one in armed {
            let body = facade::body(codec, &tool, upstream, &one.arguments);
            let (http, deadline) = (self.launch.http(), self.deadline());
            // A facade has no `_meta`; of what stands there it takes the trace.
            let meta = self.with_meta("{}".to_owned(), volley.sender)?;
            let meta = json::get(&meta, "_meta");
            let headers = headers(&endpoint.identity, meta);
            let sent = http::post(http, &url, headers, body, None, deadline).await;
            let transcript = Arc::new(sent);
            let answer = facade::read(codec, &transcript);
            let plain = self.gathered(volley, one, &transcript, answer).await;
            let trace = meta.and_then(sinks::trace_in).unwrap_or_default().to_owned();
            all.push(Fired { method: String::new(), trace, ..plain });
        }
        Ok(all)
    }

    /// Calls the route's own tool with nothing.
    async fn misuse(&self, name: &str, volley: &Volley<'_>) -> Result<Vec<Fired>, String> {
        let Way { route, upstream, .. } = volley.way;
        let tool = self.launch.tool_name(route, volley.tool, upstream)?;
        let params = format!("{{\"name\":{},\"arguments\":{{}}}}", json::quote(&tool));
        let transcript = self.send(name, &volley.way, "tools/call", &params, None).await?;
        let transcript = Arc::new(transcript);
        let answer = Answer::read(&transcript);
        let nonce = self.state.nonce(name);
        let plain = fired(name, ("tools/call", &volley.way), &nonce, &transcript, answer);
        Ok(vec![Fired { kind: Kind::Call, tool, by_gateway: true, ..plain }])
    }

    /// A call with both of its legs.
    async fn gathered(
        &self,
        volley: &Volley<'_>,
        one: Armed,
        transcript: &Arc<Transcript>,
        answer: Answer,
    ) -> Fired {
        // A gateway that refuses a large answer leaves it lying; then nothing settles.
        let left_lying = one.oversized && answer.flagged;
        // What is to be cancelled ends after all.
        let ends = !one.endless || self.expects_cancellations();
        let upstream = self.upstream(&one.nonce, ends && !left_lying).await;
        let way = ("tools/call", &volley.way);
        let plain = fired(&one.name, way, &one.nonce, transcript, answer);
        let tool = volley.tool.to_owned();
        Fired { kind: Kind::Call, tool, upstream, slots: one.slots, ..plain }
    }
}

/// The headers of a facade's request: who calls, and the trace that the step names in its `_meta`.
fn headers(identity: &[(String, String)], meta: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let trace = meta.and_then(|meta| json::get_string(meta, "traceparent"));
    let trace = trace.map(|trace| ("traceparent".to_owned(), trace));
    for (name, value) in identity.iter().cloned().chain(trace) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
    headers
}

/// Fires the known-good call and gives the body that came back.
///
/// # Errors
/// In words, when nothing came back.
pub async fn known_good(
    launch: &Launch,
    route: &str,
    revision: Revision,
    nonce: &str,
) -> Result<Vec<u8>, String> {
    let route = if route == CONTINUATION { BATCH } else { route };
    let way = Way::plain(route, revision);
    let arguments = format!("{{\"nonce\":{}}}", json::quote(nonce));
    let transcript = match form(launch, route) {
        Form::Facade(codec) => {
            let endpoint = launch.endpoint(&way)?;
            let tool = launch.named(&codec.tool, "echo", "main")?;
            let body = facade::body(codec, &tool, "main", &arguments);
            let url = facade::url(&endpoint.url, codec)?;
            let headers = headers(&endpoint.identity, None);
            http::post(launch.http(), &url, headers, body, None, launch.deadline()).await
        }
        written => {
            let arguments = match written {
                Form::Batch(codec) => {
                    let tool = launch.named(&codec.tool, "echo", "main")?;
                    batch::arguments(codec, "main", &[batch::Call { tool, arguments }])
                }
                _ => arguments,
            };
            let name = json::quote(&launch.tool_name(route, "echo", "main")?);
            let params = format!("{{\"name\":{name},\"arguments\":{arguments}}}");
            let session = launch.session(&way).await?;
            session.request("tools/call", &params, None, launch.deadline()).await
        }
    };
    match transcript.status {
        None => Err(transcript.ending.words()),
        Some(_) => Ok(transcript.body.head().to_vec()),
    }
}

/// An upstream's leg that is the upstream's own word, with nothing sent for it.
pub(super) fn own_word(result: Vec<u8>) -> Upstream {
    let bytes = result.len() as u64;
    let body = Some(crate::client::Body::Result(result));
    Upstream { calls: 1, body, bytes, ..Upstream::default() }
}
