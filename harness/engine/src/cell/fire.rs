//! Firing: a scenario's steps become calls, and what both legs saw is gathered.

mod beside;
mod calls;
mod follow;
mod rest;
mod shot;
mod side;

use std::collections::BTreeMap;
use std::sync::Arc;

use birdstrike_canary::Note;
use birdstrike_scenario::Scenario;
use birdstrike_scenario::scenario::Step;
use birdstrike_wire::capture::Capture;

use crate::client::{Answer, Body, Claims, Transcript};
use crate::launch::{DIRECT, Launch};
use crate::nonce;
use crate::plan::Cell;

pub(crate) use beside::told;
pub use calls::known_good;

use shot::{Shot, State};

/// One exchange on both legs.
#[derive(Clone, Debug)]
pub struct Fired {
    /// The step's name, `NAME.N` for an entry of a batch.
    pub name: String,
    /// What kind of step it was.
    pub kind: Kind,
    /// The JSON-RPC method; empty on a facade.
    pub method: String,
    /// The route that it took.
    pub route: String,
    /// The tool that was called, by the canary's name for it.
    pub tool: String,
    /// The upstream whose tool it is.
    pub origin: String,
    /// What the call is known by.
    pub nonce: String,
    /// The trace that its request belongs to: 32 hex digits, or nothing.
    pub trace: String,
    /// What the client sent and received; shared by the entries of a batch.
    pub transcript: Arc<Transcript>,
    /// What it says.
    pub answer: Answer,
    /// Where the answer is inside that of another tool (a batch, a continuation): that tool's own.
    pub outer: Option<Arc<Answer>>,
    /// Of a batch: this call's raw entry.
    pub entry: Option<Vec<u8>>,
    /// Of a batch: what its entry says of a cut.
    pub claims: Option<Claims>,
    /// Of a batch or a continuation: what is wrong with its packing, shared by its entries.
    pub packing: Arc<Vec<String>>,
    /// What the canary saw and said.
    pub upstream: Upstream,
    /// Where each slot stands.
    pub slots: BTreeMap<String, String>,
    /// The gateway answers it by itself: no upstream need be asked.
    pub by_gateway: bool,
    /// No answer that obeys the protocol is due: the client cancels the call itself, listens, or
    /// breaks rules on purpose.
    pub exempt: bool,
    /// Nonces of the other calls of the batch: none of them may stand in this entry.
    pub siblings: Vec<String>,
    /// Of a listing: the digests that the gateway shows, by the name of the tool.
    pub digests: Vec<(String, String)>,
}

/// What kind of step an exchange belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call, or an entry of a batch.
    Call,
    /// A listing.
    List,
    /// The rest of a cut result.
    Fetch,
    /// A follow-up of a task.
    Task,
    /// Anything else.
    Other,
}

/// The upstream leg of one call.
#[derive(Clone, Debug, Default)]
pub struct Upstream {
    /// How often the canary was called with this nonce.
    pub calls: usize,
    /// What it received last.
    pub request: Option<Capture>,
    /// The raw ids of all requests with this nonce, in the order in which they came.
    pub ids: Vec<String>,
    /// The bytes that it put on the wire last.
    pub sent: Option<Capture>,
    /// The result or error in them; nothing for an answer that is no JSON-RPC response.
    pub body: Option<Body>,
    /// Bytes of the JSON-RPC message.
    pub bytes: u64,
    /// Which rules the gateway's requests broke: ids of requirements, and what was seen.
    pub notes: Vec<Note>,
    /// The session that it was called in.
    pub session: Option<String>,
    /// The answer ended before its end: the canary was told to stop, or was left.
    pub given_up: bool,
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

/// A launch as a cell has it: shared with other cells, or for itself.
pub enum Hold<'a> {
    /// Other cells run beside it.
    Shared(&'a Launch),
    /// Nothing else runs: the gateway may be started anew.
    Alone(&'a mut Launch),
}

impl Hold<'_> {
    /// The launch.
    pub fn launch(&self) -> &Launch {
        match self {
            Self::Shared(launch) => launch,
            Self::Alone(launch) => launch,
        }
    }
}

/// Fires all steps of a scenario over the cell's route.
///
/// # Errors
/// In words, when no conversation can be opened or a step cannot be done.
pub async fn steps(
    hold: &mut Hold<'_>,
    scenario: &Scenario,
    cell: &Cell,
) -> Result<Vec<Fired>, String> {
    let state = State::new(hold.launch(), scenario);
    let mut fired = Vec::new();
    let mut done = Ok(());
    for step in &scenario.steps {
        done = one(hold, scenario, cell, &state, step, &mut fired).await;
        if done.is_err() {
            break;
        }
    }
    fired.extend(beside::heard(&state).await);
    beside::settle(hold.launch(), scenario, cell, &mut fired).await;
    let restored = side::restore(hold.launch(), &state);
    state.nonces().for_each(|nonce| hold.launch().canary.script().forget(nonce));
    done.and(restored).map(|()| fired)
}

/// Fires one step, or those that begin together.
async fn one(
    hold: &mut Hold<'_>,
    scenario: &Scenario,
    cell: &Cell,
    state: &State,
    step: &Step,
    fired: &mut Vec<Fired>,
) -> Result<(), String> {
    match step {
        Step::Gateway(gateway) if cell.route != DIRECT => {
            return side::gateway(hold, state, gateway).await;
        }
        Step::Gateway(_) => return Ok(()),
        Step::Canary(canary) => {
            beside::listened(hold.launch(), canary).await;
            return side::canary(hold.launch(), state, canary);
        }
        _ => {}
    }
    let shot = Shot { launch: hold.launch(), scenario, cell, state };
    let together = step.flat().iter().map(|one| shot.step(one, fired));
    let together = futures_util::future::join_all(together).await;
    for one in together {
        fired.extend(one?);
    }
    Ok(())
}
