//! What is done and gathered beside the calls: streams that are listened to, cancellations.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use birdstrike_scenario::Scenario;
use birdstrike_scenario::check::Expect;
use birdstrike_scenario::scenario::{CanaryDeed, CanaryStep, Sender, Step};
use birdstrike_wire::{Envelope, json};

use super::shot::{Shot, State, fired};
use super::{Fired, Upstream};
use crate::cell::concerns;
use crate::client::Answer;
use crate::launch::Launch;
use crate::plan::Cell;

/// How long something is waited for that a gateway does on its own.
const WAIT: Duration = Duration::from_secs(1);
/// How often it is looked for.
const EVERY: Duration = Duration::from_millis(5);

impl<'a> Shot<'a> {
    /// Whether a check speaks of cancellations.
    pub(super) fn expects_cancellations(&self) -> bool {
        let speaks = |expect: &Expect| matches!(expect, Expect::Cancelled { .. });
        self.scenario.checks.iter().any(|check| speaks(&check.expect))
    }

    /// Opens a stream that is read until the scenario is over.
    pub(super) async fn listen(
        &self,
        name: &str,
        sender: Sender<'a>,
    ) -> Result<Vec<Fired>, String> {
        let way = self.way(sender, "main");
        let session = self.session(&way).await?;
        let listening = session.listen(self.deadline()).await;
        let transcript = Arc::new(listening.heard(Duration::ZERO).await);
        let answer = Answer::nothing("a stream for what belongs to no request".into());
        let nonce = self.state.nonce(name);
        let plain = fired(name, ("listen", &way), &nonce, &transcript, answer);
        let known = Fired { by_gateway: true, exempt: true, ..plain };
        let mut all = self.state.listening.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((known, listening));
        Ok(Vec::new())
    }
}

/// What the open streams brought.
pub(super) async fn heard(state: &State) -> Vec<Fired> {
    let open = std::mem::take(&mut *state.listening.lock().unwrap_or_else(PoisonError::into_inner));
    let mut all = Vec::new();
    for (known, listening) in open {
        let transcript = Arc::new(listening.heard(WAIT).await);
        all.push(Fired { transcript, ..known });
    }
    all
}

/// Waits until somebody hears what the upstream is about to announce: a gateway may take a moment to
/// open its own stream.
pub(super) async fn listened(launch: &Launch, step: &CanaryStep) {
    if step.deed != CanaryDeed::Announce {
        return;
    }
    let upstream = step.upstream.as_deref().unwrap_or("main");
    let until = Instant::now() + WAIT;
    while launch.canary.listeners(upstream) == 0 && Instant::now() < until {
        tokio::time::sleep(EVERY).await;
    }
}

/// Marks the calls that the scenario itself cancels, and waits until the upstream has heard of it.
pub(super) async fn settle(launch: &Launch, scenario: &Scenario, cell: &Cell, fired: &mut [Fired]) {
    for one in fired.iter_mut() {
        one.exempt |= scenario.all_steps().any(|step| cancels(step, &one.name));
    }
    for check in scenario.checks.iter().filter(|check| concerns(check, cell)) {
        let Expect::Cancelled { times: 1.. } = check.expect else { continue };
        let meant = fired.iter_mut().find(|one| check.of.as_ref().is_none_or(|of| *of == one.name));
        let Some(one) = meant else { continue };
        let until = Instant::now() + WAIT;
        while told(launch, one) == 0 && Instant::now() < until {
            tokio::time::sleep(EVERY).await;
        }
    }
}

/// Whether a step gives up the call of that name.
fn cancels(step: &Step, name: &str) -> bool {
    match step {
        Step::Notify(notify) => {
            let id = format!("«id-of:{name}»");
            let names = notify.params.as_ref().is_some_and(|params| params.contains(&id));
            notify.method == "notifications/cancelled" && names
        }
        Step::Call(call) => call.gives_up_ms.is_some() && step.name() == name,
        _ => false,
    }
}

/// How often the upstream was told to stop working on a call: by notification in handshake revisions
/// and on stdio, by the closed stream elsewhere.
pub(crate) fn told(launch: &Launch, one: &Fired) -> usize {
    let Upstream { request, session, given_up, .. } = &one.upstream;
    if launch.cancels_by_closing() {
        return usize::from(*given_up);
    }
    let request = request.as_ref().and_then(|request| Envelope::read(request.whole()?).ok());
    let Some(id) = request.as_ref().and_then(Envelope::id) else { return 0 };
    let others = launch.canary.journal().others();
    let means = others.iter().filter(|exchange| {
        let message = exchange.request.whole().and_then(|whole| Envelope::read(whole).ok());
        let named = message.and_then(|m| m.params().and_then(|p| json::get(p, "requestId")));
        exchange.method == "notifications/cancelled"
            && named == Some(id)
            && exchange.request_headers.get("mcp-session-id") == session.as_deref()
    });
    means.count()
}
