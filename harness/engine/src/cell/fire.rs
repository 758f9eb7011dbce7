//! Firing: a scenario's steps become calls, and what both legs saw is gathered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use birdstrike_canary::{Answered, Ending as CanaryEnding, Note};
use birdstrike_scenario::Scenario;
use birdstrike_scenario::scenario::{Form, Step};
use birdstrike_wire::capture::Capture;
use birdstrike_wire::sse::{Limits, Parser};
use birdstrike_wire::{Envelope, Era, Revision, json};

use crate::client::{Answer, Body, Session, Transcript, batch};
use crate::launch::{DIRECT, Launch};
use crate::nonce;
use crate::plan::Cell;
use crate::render::{self, Context};

/// How long the canary's own end of an exchange is waited for once the client has its answer.
const SETTLE: Duration = Duration::from_millis(250);

/// One call on both legs.
#[derive(Debug)]
pub struct Fired {
    /// The step's name, `NAME.N` for an entry of a batch.
    pub name: String,
    /// The tool that was called, by the canary's name for it.
    pub tool: String,
    /// What the call is known by.
    pub nonce: String,
    /// What the client sent and received; shared by the entries of a batch.
    pub transcript: Arc<Transcript>,
    /// What it says.
    pub answer: Answer,
    /// Of a batch: the batch tool's own answer, shared by its entries.
    pub outer: Option<Arc<Answer>>,
    /// Of a batch: this call's raw entry.
    pub entry: Option<Vec<u8>>,
    /// Of a batch: what is wrong with its packing, shared by its entries.
    pub packing: Arc<Vec<String>>,
    /// What the canary saw and said.
    pub upstream: Upstream,
    /// Where each slot stands.
    pub slots: BTreeMap<String, String>,
    /// The route's own tool was called with arguments that it cannot take: no upstream is asked.
    pub misuse: bool,
    /// Nonces of the other calls of the batch: none of them may stand in this entry.
    pub siblings: Vec<String>,
}

/// The upstream leg of one call.
#[derive(Debug, Default)]
pub struct Upstream {
    /// How often the canary was called with this nonce.
    pub calls: usize,
    /// What it received last.
    pub request: Option<Capture>,
    /// The bytes that it put on the wire last.
    pub sent: Option<Capture>,
    /// The result or error in them; nothing for an answer that is no JSON-RPC response.
    pub body: Option<Body>,
    /// Bytes of the JSON-RPC message.
    pub bytes: u64,
    /// Which rules the gateway's requests broke: ids of requirements, and what was seen.
    pub notes: Vec<Note>,
}

impl Fired {
    /// What the client received, with nonces erased: for the snapshot.
    pub(super) fn received(&self) -> (String, String) {
        let bytes = match (&self.entry, &self.answer.body) {
            (Some(entry), _) => entry.as_slice(),
            (None, Body::Result(bytes) | Body::Error(bytes)) => bytes.as_slice(),
            (None, _) => self.transcript.body.head(),
        };
        let mut nonces: Vec<&str> = self.siblings.iter().map(String::as_str).collect();
        nonces.push(&self.nonce);
        // Nonces and volatile values first: an excerpt could cut one in two, and its count of
        // bytes would be as volatile as they are.
        let text = nonce::erase(&String::from_utf8_lossy(bytes), &nonces);
        let text = crate::snapshot::redact(&text);
        (self.name.clone(), crate::evidence::excerpt(text.as_bytes(), 1_000))
    }
}

/// A call that is about to be fired.
struct Armed {
    name: String,
    tool: String,
    nonce: String,
    slots: BTreeMap<String, String>,
    arguments: String,
    /// The canary never ends this exchange by itself, or only when the gateway takes all of it.
    endless: bool,
    /// The answer is larger than a gateway may want to read.
    oversized: bool,
}

/// Fires all steps of a scenario over the cell's route.
///
/// # Errors
/// In words, when no conversation can be opened.
pub async fn steps(
    launch: &Launch,
    scenario: &Scenario,
    cell: &Cell,
) -> Result<Vec<Fired>, String> {
    let chooses_ids = scenario.steps.iter().any(|s| matches!(s, Step::Call(c) if c.id.is_some()));
    let alone = chooses_ids && cell.revision.era() == Era::Handshake;
    let session = if alone {
        Arc::new(launch.fresh_session(&cell.route, cell.revision).await?)
    } else {
        launch.session(&cell.route, cell.revision).await?
    };
    let deadline = scenario.deadline_ms.map_or(launch.deadline(), Duration::from_millis);
    let shot = Shot { launch, scenario, cell, session: &session, deadline };
    let mut fired = Vec::new();
    for step in &scenario.steps {
        match step {
            Step::Call(call) => {
                let armed = shot.arm(step.name(), call.answer(), call.arguments.as_deref())?;
                fired.extend(shot.fire(vec![armed], call.id.as_deref()).await?);
            }
            Step::Batch(batch) if batch.misuse => fired.extend(shot.misuse(step.name()).await?),
            Step::Batch(batch) => {
                let mut armed = Vec::new();
                for (at, answer) in batch.answers.iter().enumerate() {
                    armed.push(shot.arm(&format!("{}.{at}", step.name()), answer, None)?);
                }
                if shot.packs() {
                    fired.extend(shot.fire(armed, None).await?);
                } else {
                    for one in armed {
                        fired.extend(shot.fire(vec![one], None).await?);
                    }
                }
            }
            other => return Err(format!("step `{}` is not driven yet", other.name())),
        }
    }
    Ok(fired)
}

/// Everything that the calls of one cell share.
struct Shot<'a> {
    launch: &'a Launch,
    scenario: &'a Scenario,
    cell: &'a Cell,
    session: &'a Session,
    deadline: Duration,
}

impl Shot<'_> {
    /// Whether the route packs many calls into one.
    fn packs(&self) -> bool {
        self.codec().is_some()
    }

    fn codec(&self) -> Option<&birdstrike_scenario::profile::BatchCodec> {
        self.launch.profile().routes.get(&self.cell.route)?.batch.as_ref()
    }

    /// Plans the canary's answer under a fresh nonce.
    fn arm(&self, name: &str, answer: &str, arguments: Option<&str>) -> Result<Armed, String> {
        let spec =
            self.scenario.answers.get(answer).ok_or_else(|| format!("no answer `{answer}`"))?;
        let nonce = nonce::fresh();
        let limit = self.launch.profile().max_response_bytes.unwrap_or(render::DEFAULT_LIMIT);
        let (revision, encoding) = (self.launch.upstream, self.cell.encoding);
        let context = Context { nonce: &nonce, revision, encoding, limit };
        let prepared = render::prepare(spec, &context)?;
        let ending = prepared.plan.delivery.ending;
        let endless =
            matches!(ending, CanaryEnding::NeverAnswer | CanaryEnding::EndlessComments { .. });
        self.launch.canary.script().plan(nonce.clone(), prepared.plan);
        let arguments = render::fill(arguments.unwrap_or("{}").trim(), &nonce);
        let arguments = json::set(&arguments, "nonce", &json::quote(&nonce))
            .map_err(|error| format!("the step's arguments: {error}"))?;
        let (name, tool) = (name.to_owned(), self.scenario.tool.clone());
        let oversized = matches!(spec.form, Form::Oversized(_));
        Ok(Armed { name, tool, nonce, slots: prepared.slots, arguments, endless, oversized })
    }

    async fn fire(&self, armed: Vec<Armed>, id: Option<&str>) -> Result<Vec<Fired>, String> {
        let params = self.params(&armed)?;
        let sent = self.session.request("tools/call", &params, id, self.deadline);
        let transcript = Arc::new(sent.await);
        let outer = Answer::read(&transcript);
        let Some(codec) = self.codec() else {
            let upstream = self.upstreams(&armed, std::slice::from_ref(&outer)).await;
            let one = armed.into_iter().zip(upstream);
            return Ok(one.map(|(one, up)| fired(one, up, &transcript, outer.clone())).collect());
        };
        let entries = batch::entries(codec, &outer, armed.len());
        let upstream = self.upstreams(&armed, &entries.answers).await;
        let (outer, packing) = (Arc::new(outer), Arc::new(entries.breaks));
        let nonces: Vec<String> = armed.iter().map(|one| one.nonce.clone()).collect();
        let parts = armed.into_iter().zip(upstream);
        let parts = parts.zip(entries.answers.into_iter().zip(entries.raw));
        let fired = parts.map(|((one, upstream), (answer, raw))| {
            let siblings = nonces.iter().filter(|n| **n != one.nonce).cloned().collect();
            let plain = fired(one, upstream, &transcript, answer);
            let (outer, packing) = (Some(Arc::clone(&outer)), Arc::clone(&packing));
            Fired { outer, entry: Some(raw), packing, siblings, ..plain }
        });
        Ok(fired.collect())
    }

    /// The upstream legs of calls and their answers.
    async fn upstreams(&self, armed: &[Armed], answers: &[Answer]) -> Vec<Upstream> {
        let mut legs = Vec::new();
        for (one, answer) in armed.iter().zip(answers) {
            // A gateway that refuses a large answer leaves it lying; then nothing settles.
            let left_lying = one.oversized && answer.flagged;
            legs.push(self.upstream(&one.nonce, !one.endless && !left_lying).await);
            self.launch.canary.script().forget(&one.nonce);
        }
        legs
    }

    /// Calls the route's own tool with nothing.
    async fn misuse(&self, name: &str) -> Result<Option<Fired>, String> {
        if !self.packs() {
            return Ok(None);
        }
        let tool = self.launch.tool_name(&self.cell.route, &self.scenario.tool)?;
        let params = format!("{{\"name\":{},\"arguments\":{{}}}}", json::quote(&tool));
        let sent = self.session.request("tools/call", &params, None, self.deadline);
        let transcript = Arc::new(sent.await);
        let answer = Answer::read(&transcript);
        let armed = Armed {
            name: name.to_owned(),
            tool,
            nonce: nonce::fresh(),
            slots: BTreeMap::new(),
            arguments: String::new(),
            endless: false,
            oversized: false,
        };
        let plain = fired(armed, Upstream::default(), &transcript, answer);
        Ok(Some(Fired { misuse: true, ..plain }))
    }

    fn params(&self, armed: &[Armed]) -> Result<String, String> {
        let tool = &self.scenario.tool;
        let (name, arguments) = if let Some(codec) = self.codec() {
            let listed = tool.clone();
            let calls: Vec<_> = armed
                .iter()
                .map(|one| batch::Call { tool: listed.clone(), arguments: one.arguments.clone() })
                .collect();
            let name = self.launch.tool_name(&self.cell.route, tool)?;
            (name, batch::arguments(codec, "main", &calls))
        } else {
            let arguments = armed.first().map_or("{}", |one| one.arguments.as_str());
            (self.launch.tool_name(&self.cell.route, tool)?, arguments.to_owned())
        };
        Ok(format!("{{\"name\":{},\"arguments\":{arguments}}}", json::quote(&name)))
    }

    /// The upstream leg; where the canary's end of it settles, once it has.
    async fn upstream(&self, nonce: &str, settles: bool) -> Upstream {
        let journal = self.launch.canary.journal();
        let calls = journal.count(nonce);
        if calls > 0 && settles {
            journal.wait_finished(nonce, calls, Instant::now() + SETTLE).await;
        }
        let exchanges = journal.take(nonce);
        let calls = exchanges.len();
        let notes = exchanges.iter().flat_map(|exchange| exchange.notes.iter().cloned()).collect();
        let Some(last) = exchanges.into_iter().next_back() else {
            return Upstream::default();
        };
        let answered = last.answer.as_ref();
        let whole = |answer: &Answered| answer.body.whole().and_then(response_in);
        let message = answered.and_then(|answer| answer.message.clone().or_else(|| whole(answer)));
        Upstream {
            calls,
            request: Some(last.request),
            sent: answered.map(|answer| answer.body.clone()),
            bytes: message.as_ref().map_or(0, Capture::len),
            body: message.and_then(|message| said(&message)),
            notes,
        }
    }
}

fn fired(one: Armed, upstream: Upstream, transcript: &Arc<Transcript>, answer: Answer) -> Fired {
    Fired {
        name: one.name,
        tool: one.tool,
        nonce: one.nonce,
        transcript: Arc::clone(transcript),
        answer,
        outer: None,
        entry: None,
        packing: Arc::default(),
        upstream,
        slots: one.slots,
        misuse: false,
        siblings: Vec::new(),
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
    let session = launch.session(route, revision).await?;
    let arguments = format!("{{\"nonce\":{}}}", json::quote(nonce));
    let codec = launch.profile().routes.get(route).and_then(|known| known.batch.as_ref());
    let name = launch.tool_name(route, "echo")?;
    let arguments = match codec.filter(|_| route != DIRECT) {
        None => arguments,
        Some(codec) => {
            let call = batch::Call { tool: "echo".to_owned(), arguments };
            batch::arguments(codec, "main", &[call])
        }
    };
    let params = format!("{{\"name\":{},\"arguments\":{arguments}}}", json::quote(&name));
    let transcript = session.request("tools/call", &params, None, launch.deadline()).await;
    match transcript.status {
        None => Err(transcript.ending.words()),
        Some(_) => Ok(transcript.body.head().to_vec()),
    }
}
