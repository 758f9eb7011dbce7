//! What the steps of one cell share: nonces, ids, conversations, plans, and the upstream's leg.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use birdstrike_canary::{Answered, Ending as CanaryEnding, ToolSpec};
use birdstrike_scenario::Scenario;
use birdstrike_scenario::scenario::{Form, Sender, Step};
use birdstrike_wire::capture::Capture;
use birdstrike_wire::sse::{Limits, Parser};
use birdstrike_wire::{Envelope, Era, json};
use indexmap::IndexMap;

use super::super::sinks;
use super::{Fired, Kind, Upstream};
use crate::client::{Answer, Body, Listening, Replies, Session, Transcript};
use crate::launch::{DIRECT, Launch, Talk, Way};
use crate::nonce;
use crate::plan::Cell;
use crate::render::{self, Context, Filler, Nonces};

/// How long the canary's own end of an exchange is waited for once the client has its answer.
const SETTLE: Duration = Duration::from_millis(250);

/// What lasts from the first step of a cell to the last.
pub(super) struct State {
    nonces: Nonces,
    /// Raw ids of requests, by step.
    ids: Mutex<BTreeMap<String, String>>,
    /// Conversations of this cell alone, where a scenario chooses its ids.
    own: Option<tokio::sync::Mutex<HashMap<Talk, Arc<Session>>>>,
    /// Streams that steps opened, with what each is known by.
    pub(super) listening: Mutex<Vec<(Fired, Listening)>>,
    /// The tools that upstreams have now, where a step swapped them.
    pub(super) swapped: Mutex<BTreeMap<String, Vec<ToolSpec>>>,
}

impl State {
    pub(super) fn new(_: &Launch, scenario: &Scenario) -> Self {
        let mut nonces = Nonces::new();
        let mut chooses_ids = false;
        for step in scenario.all_steps() {
            match step {
                Step::Batch(batch) => {
                    for at in 0..batch.answers.len() {
                        nonces.insert(format!("{}.{at}", step.name()), nonce::fresh());
                    }
                }
                _ if step.name().is_empty() => {}
                _ => drop(nonces.insert(step.name().to_owned(), nonce::fresh())),
            }
            chooses_ids |= match step {
                Step::Call(call) => call.id.is_some(),
                Step::Request(request) => request.id.is_some(),
                _ => false,
            };
        }
        let own = chooses_ids.then(tokio::sync::Mutex::default);
        Self {
            nonces,
            ids: Mutex::default(),
            own,
            listening: Mutex::default(),
            swapped: Mutex::default(),
        }
    }

    pub(super) fn nonces(&self) -> impl Iterator<Item = &str> {
        self.nonces.values().map(String::as_str)
    }

    /// The nonce of a step.
    pub(super) fn nonce(&self, step: &str) -> String {
        self.nonces.get(step).cloned().unwrap_or_else(nonce::fresh)
    }

    /// The id under which a step's request went out.
    pub(super) fn id_of(&self, step: &str) -> Option<String> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).get(step).cloned()
    }

    fn sent(&self, step: &str, id: &str) {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.insert(step.to_owned(), id.to_owned());
    }

    /// Conversations end with the gateway that they were held with.
    pub(super) async fn hang_up(&self) {
        if let Some(own) = &self.own {
            own.lock().await.clear();
        }
    }
}

/// A step about to be fired.
#[derive(Clone, Copy)]
pub(super) struct Shot<'a> {
    pub(super) launch: &'a Launch,
    pub(super) scenario: &'a Scenario,
    pub(super) cell: &'a Cell,
    pub(super) state: &'a State,
}

/// A call that is about to be fired.
pub(super) struct Armed {
    pub(super) name: String,
    pub(super) nonce: String,
    pub(super) slots: BTreeMap<String, String>,
    pub(super) arguments: String,
    /// The canary never ends this exchange by itself, or only when the gateway takes all of it.
    pub(super) endless: bool,
    /// The answer is larger than a gateway may want to read.
    pub(super) oversized: bool,
}

impl<'a> Shot<'a> {
    /// Fires one step that sends something.
    pub(super) async fn step(self, step: &Step, before: &[Fired]) -> Result<Vec<Fired>, String> {
        let name = step.name();
        let sender = step.sender();
        if self.cell.route == DIRECT && self.launch.is_stranger(sender.identity) {
            // The canary tells nobody apart: what others see is the gateway's doing.
            return Ok(Vec::new());
        }
        match step {
            Step::Call(call) => self.call(name, call, sender).await,
            Step::Batch(batch) => self.batch(name, batch, sender).await,
            Step::Read(read) => self.read(name, read, sender, before).await.map(|f| vec![f]),
            Step::Prompt(prompt) => self.prompt(name, prompt, sender).await.map(|f| vec![f]),
            Step::List(list) => self.list(name, list, sender).await.map(|f| vec![f]),
            Step::Task(task) => self.task(name, task, sender, before).await.map(|f| vec![f]),
            Step::Fetch(fetch) => self.fetch(name, fetch, sender, before).await,
            Step::Free(free) => self.free(name, free, sender, before).await,
            Step::Request(request) => self.request(name, request, sender).await.map(|f| vec![f]),
            Step::Notify(notify) => self.notify(name, notify, sender).await,
            Step::Listen(_) => self.listen(name, sender).await,
            Step::Together(_) | Step::Canary(_) | Step::Gateway(_) => Ok(Vec::new()),
        }
    }

    /// The way that a step's request takes.
    pub(super) fn way(&self, sender: Sender<'a>, upstream: &'a str) -> Way<'a> {
        let route = sender.via.unwrap_or(&self.cell.route);
        Way {
            route: if self.cell.route == DIRECT { DIRECT } else { route },
            upstream,
            identity: sender.identity,
            revision: self.cell.revision,
            capabilities: sender.capabilities,
        }
    }

    /// The conversation of a way: one of this cell's own where the scenario chooses ids that other
    /// requests of the conversation may have, too.
    pub(super) async fn session(&self, way: &Way<'_>) -> Result<Arc<Session>, String> {
        let Some(own) = self.state.own.as_ref().filter(|_| way.revision.era() == Era::Handshake)
        else {
            return self.launch.session(way).await;
        };
        let talk = self.launch.talk(way)?;
        let mut own = own.lock().await;
        if let Some(known) = own.get(&talk) {
            return Ok(Arc::clone(known));
        }
        let opened = Arc::new(self.launch.fresh_session(way).await?);
        own.insert(talk, Arc::clone(&opened));
        Ok(opened)
    }

    /// Sends a request and remembers its id.
    pub(super) async fn send(
        &self,
        name: &str,
        way: &Way<'_>,
        method: &str,
        params: &str,
        id: Option<&str>,
    ) -> Result<Transcript, String> {
        let session = self.session(way).await?;
        let id = id.map_or_else(|| session.next_id(), str::to_owned);
        self.state.sent(name, &id);
        Ok(session.request(method, params, Some(&id), self.deadline()).await)
    }

    /// As [`Shot::send`], with headers of its own and replies ready.
    pub(super) async fn send_with(
        &self,
        name: &str,
        way: &Way<'_>,
        (method, params, id): (&str, &str, Option<&str>),
        deadline: Duration,
        extra: (&IndexMap<String, String>, &Replies),
    ) -> Result<Transcript, String> {
        let session = self.session(way).await?;
        let id = id.map_or_else(|| session.next_id(), str::to_owned);
        self.state.sent(name, &id);
        Ok(session.request_with(method, params, &id, deadline, extra).await)
    }

    pub(super) fn deadline(&self) -> Duration {
        self.scenario.deadline_ms.map_or(self.launch.deadline(), Duration::from_millis)
    }

    /// Params with the members that a step wants in their `_meta`.
    pub(super) fn with_meta(&self, params: String, sender: Sender<'_>) -> Result<String, String> {
        let meta = sender.meta.map(|meta| self.fill(meta.trim(), ""));
        let meta = if sinks::are_judged(self.launch, self.scenario, self.cell) {
            Some(sinks::traced(meta.as_deref().unwrap_or("{}")))
        } else {
            meta
        };
        let Some(meta) = meta else { return Ok(params) };
        json::set(&params, "_meta", &meta).map_err(|error| format!("the step's `_meta`: {error}"))
    }

    /// Fills the markers of a step and of others.
    pub(super) fn fill(&self, text: &str, nonce: &str) -> String {
        render::fill(text, Filler::new(nonce, &self.state.nonces))
    }

    /// Plans the canary's answer under the nonce of a step.
    pub(super) fn arm(
        &self,
        name: &str,
        answer: Option<&str>,
        arguments: Option<&str>,
    ) -> Result<Armed, String> {
        self.armed(name, &self.state.nonce(name), answer, arguments)
    }

    /// Plans the canary's answer under a nonce.
    pub(super) fn armed(
        &self,
        name: &str,
        nonce: &str,
        answer: Option<&str>,
        arguments: Option<&str>,
    ) -> Result<Armed, String> {
        let mut armed = Armed {
            name: name.to_owned(),
            slots: BTreeMap::new(),
            arguments: String::new(),
            endless: false,
            oversized: false,
            nonce: nonce.to_owned(),
        };
        if let Some(answer) = answer {
            let spec =
                self.scenario.answers.get(answer).ok_or_else(|| format!("no answer `{answer}`"))?;
            let limit = self.launch.profile().max_response_bytes.unwrap_or(render::DEFAULT_LIMIT);
            let (revision, encoding) = (self.launch.upstream, self.cell.encoding);
            let others = &self.state.nonces;
            let context = Context { nonce: &armed.nonce, revision, encoding, limit, others };
            let prepared = render::prepare(spec, &context)?;
            let ending = prepared.plan.delivery.ending;
            armed.endless =
                matches!(ending, CanaryEnding::NeverAnswer | CanaryEnding::EndlessComments { .. });
            armed.oversized = matches!(spec.form, Form::Oversized(_));
            armed.slots = prepared.slots;
            self.launch.canary.script().plan(armed.nonce.clone(), prepared.plan);
        }
        let arguments = self.fill(arguments.unwrap_or("{}").trim(), &armed.nonce);
        armed.arguments = json::set(&arguments, "nonce", &json::quote(&armed.nonce))
            .map_err(|error| format!("the step's arguments: {error}"))?;
        Ok(armed)
    }

    /// The upstream leg; where the canary's end of it settles, once it has.
    pub(super) async fn upstream(&self, nonce: &str, settles: bool) -> Upstream {
        let journal = self.launch.canary.journal();
        let calls = journal.count(nonce);
        if calls > 0 && settles {
            journal.wait_finished(nonce, calls, Instant::now() + SETTLE).await;
        }
        let exchanges = journal.take(nonce);
        let calls = exchanges.len();
        let notes = exchanges.iter().flat_map(|exchange| exchange.notes.iter().cloned()).collect();
        let ids = exchanges.iter().filter_map(|exchange| {
            let message = Envelope::read(exchange.request.whole()?).ok()?;
            message.id().map(str::to_owned)
        });
        let ids = ids.collect();
        let Some(last) = exchanges.into_iter().next_back() else {
            return Upstream::default();
        };
        let answered = last.answer.as_ref();
        let whole = |answer: &Answered| answer.body.whole().and_then(response_in);
        let message = answered.and_then(|answer| answer.message.clone().or_else(|| whole(answer)));
        Upstream {
            calls,
            request: Some(last.request.clone()),
            ids,
            sent: answered.map(|answer| answer.body.clone()),
            bytes: message.as_ref().map_or(0, Capture::len),
            body: message.and_then(|message| said(&message)),
            notes,
            session: last.request_headers.get("mcp-session-id").map(str::to_owned),
            given_up: answered.is_some_and(|answer| !answer.complete),
        }
    }
}

/// An exchange with nothing in it yet but its names and both ends of it.
pub(super) fn fired(
    name: &str,
    (method, way): (&str, &Way<'_>),
    nonce: &str,
    transcript: &Arc<Transcript>,
    answer: Answer,
) -> Fired {
    Fired {
        name: name.to_owned(),
        kind: Kind::Other,
        method: method.to_owned(),
        route: way.route.to_owned(),
        tool: String::new(),
        origin: way.upstream.to_owned(),
        nonce: nonce.to_owned(),
        trace: sinks::trace_in(&transcript.request).unwrap_or_default().to_owned(),
        transcript: Arc::clone(transcript),
        answer,
        outer: None,
        entry: None,
        claims: None,
        packing: Arc::default(),
        upstream: Upstream::default(),
        slots: BTreeMap::new(),
        by_gateway: false,
        exempt: false,
        siblings: Vec::new(),
        digests: Vec::new(),
    }
}

/// The JSON-RPC response in a body that a scenario wrote byte for byte, as JSON or as SSE.
fn response_in(body: &[u8]) -> Option<Capture> {
    let answers = |message: &[u8]| {
        let read = Envelope::read(message);
        read.is_ok_and(|m| m.result().is_some() || m.error().is_some())
    };
    if answers(body) {
        return Some(Capture::of(body.to_vec(), true));
    }
    let mut parser = Parser::new(Limits::default());
    parser.push(body, Duration::ZERO).ok()?;
    let response = parser.drain().find(|event| answers(&event.data))?;
    Some(Capture::of(response.data, true))
}

/// The result or error that the canary said.
fn said(message: &Capture) -> Option<Body> {
    let Some(whole) = message.whole() else {
        return Some(Body::Large(message.clone()));
    };
    let envelope = Envelope::read(whole).ok()?;
    match (envelope.result(), envelope.error()) {
        (Some(result), None) => Some(Body::Result(result.into())),
        (None, Some(error)) => Some(Body::Error(error.into())),
        _ => None,
    }
}
