//! Any request, notifications, and what upstream and gateway do beside the calls.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use birdstrike_canary::ToolSpec;
use birdstrike_scenario::scenario::{
    CanaryDeed, CanaryStep, Cursors, GatewayDeed, GatewayStep, Notify, Request, Sender,
};
use birdstrike_wire::json;

use super::shot::{Shot, State, fired};
use super::{Fired, Hold};
use crate::client::{Answer, Body, Replies};
use crate::launch::Launch;

/// How long a notification waits for the call that it speaks of.
const WAIT: Duration = Duration::from_secs(2);

/// That the list of tools changed.
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

impl<'a> Shot<'a> {
    pub(super) async fn request(
        &self,
        name: &str,
        request: &Request,
        sender: Sender<'a>,
    ) -> Result<Fired, String> {
        let way = self.way(sender, "main");
        let nonce = self.state.nonce(name);
        let params = self.known(request.params.as_deref().unwrap_or("{}"), &nonce).await?;
        let params = self.with_meta(params, sender)?;
        let headers = request.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.clone(), self.fill(value, &nonce))).collect();
        let extra = (&headers, &Replies::new());
        let message = (request.method.as_str(), params.as_str(), request.id.as_deref());
        let sent = self.send_with(name, &way, message, self.deadline(), extra);
        let transcript = Arc::new(sent.await?);
        let answer = Answer::read(&transcript);
        let upstream = self.upstream(&nonce, true).await;
        let plain = fired(name, (&request.method, &way), &nonce, &transcript, answer);
        Ok(Fired { by_gateway: true, exempt: !request.headers.is_empty(), upstream, ..plain })
    }

    /// A notification. Only one that has a name leaves something to be judged.
    pub(super) async fn notify(
        &self,
        name: &str,
        notify: &Notify,
        sender: Sender<'a>,
    ) -> Result<Vec<Fired>, String> {
        let way = self.way(sender, "main");
        let nonce = self.state.nonce(name);
        let params = match &notify.params {
            Some(params) => Some(self.known(params, &nonce).await?),
            None => sender.meta.map(|_| "{}".to_owned()),
        };
        let params = params.map(|params| self.with_meta(params, sender)).transpose()?;
        let session = self.session(&way).await?;
        let sent = session.notify(&notify.method, params.as_deref(), self.deadline());
        let transcript = Arc::new(sent.await);
        if name.is_empty() {
            return Ok(Vec::new());
        }
        let accepted = matches!(transcript.status, Some(200..=299));
        let status = transcript.status.map_or("none".to_owned(), |status| status.to_string());
        let why = format!("a notification is not answered (HTTP status {status})");
        let breaks = if accepted { Vec::new() } else { vec![why.clone()] };
        let body = Body::Nothing(why);
        let answer = Answer { body, breaks, flagged: !accepted, words: String::new() };
        let plain = fired(name, (&notify.method, &way), &nonce, &transcript, answer);
        Ok(vec![Fired { by_gateway: true, ..plain }])
    }

    /// Params with the ids of other steps, once their calls have reached the canary.
    async fn known(&self, params: &str, nonce: &str) -> Result<String, String> {
        const BEFORE: &str = "«id-of:";
        let mut out = String::new();
        let mut rest = params.trim();
        while let Some((before, after)) = rest.split_once(BEFORE) {
            let (step, behind) = after.split_once('»').ok_or("a marker without its end")?;
            let journal = self.launch.canary.journal();
            let until = Instant::now() + WAIT.min(self.deadline());
            journal.wait_for(&self.state.nonce(step), 1, until).await;
            let id = self.state.id_of(step);
            out.push_str(before);
            out.push_str(&id.ok_or_else(|| format!("step `{step}` has no id yet"))?);
            rest = behind;
        }
        out.push_str(rest);
        Ok(self.fill(&out, nonce))
    }
}

/// Something that the upstream does by itself.
///
/// # Errors
/// In words, when it cannot.
pub(super) fn canary(launch: &Launch, state: &State, step: &CanaryStep) -> Result<(), String> {
    let upstream = step.upstream.as_deref().unwrap_or("main");
    match step.deed {
        CanaryDeed::Announce => {
            launch.canary.announce(upstream, step.message.as_deref().unwrap_or(CHANGED));
            Ok(())
        }
        CanaryDeed::SwapTools => {
            let mut swapped = state.swapped.lock().unwrap_or_else(PoisonError::into_inner);
            let now = swapped.get(upstream).map_or(launch.tools(), Vec::as_slice);
            let tools = with(now, step);
            let cursors = match step.cursors {
                Cursors::Proper => birdstrike_canary::Cursors::Proper,
                Cursors::Repeated => birdstrike_canary::Cursors::Repeated,
                Cursors::Empty => birdstrike_canary::Cursors::Empty,
            };
            let pages = step.pages.map(|pages| (pages, cursors));
            let done = launch.canary.swap_pages(upstream, tools.clone(), pages);
            swapped.insert(upstream.to_owned(), tools);
            done.map_err(|error| error.to_string())
        }
    }
}

/// The tools after a swap.
fn with(now: &[ToolSpec], step: &CanaryStep) -> Vec<ToolSpec> {
    let stays = |tool: &&ToolSpec| !step.without.contains(&tool.name);
    let mut tools: Vec<ToolSpec> = now.iter().filter(stays).cloned().collect();
    for (name, definition) in &step.tools {
        // The name that a call is routed by is the one in the definition.
        let listed = json::get_string(definition, "name").unwrap_or_else(|| name.clone());
        // A long text can be written short: «TEXT*N».
        let fresh = ToolSpec::new(listed, crate::render::fill(definition.trim(), ""));
        match tools.iter_mut().find(|tool| tool.name == *name) {
            Some(tool) => *tool = fresh,
            None => tools.push(fresh),
        }
    }
    tools
}

/// Puts the upstreams' own tools back.
///
/// # Errors
/// In words, when they cannot be.
pub(super) fn restore(launch: &Launch, state: &State) -> Result<(), String> {
    let mut swapped = state.swapped.lock().unwrap_or_else(PoisonError::into_inner);
    let done = swapped.keys().map(|upstream| {
        let tools = launch.tools().to_vec();
        launch.canary.swap_tools(upstream, tools).map_err(|error| error.to_string())
    });
    let done = done.collect();
    swapped.clear();
    done
}

/// Something that is done to the gateway.
///
/// # Errors
/// In words, when the gateway does not take it.
pub(super) async fn gateway(
    hold: &mut Hold<'_>,
    state: &State,
    step: &GatewayStep,
) -> Result<(), String> {
    match (step.deed, hold) {
        (GatewayDeed::Reload, hold) => {
            hold.launch().reload();
            Ok(())
        }
        (GatewayDeed::Restart, Hold::Alone(launch)) => {
            state.hang_up().await;
            launch.restart().await.map_err(|error| error.to_string())
        }
        (GatewayDeed::Restart, Hold::Shared(_)) => {
            Err("a gateway that others use is not started anew".into())
        }
    }
}
