//! Sinks: what a gateway wrote besides its answer, waited for and judged.
//!
//! A record is tied to its call by the W3C trace id that cells with such checks send in
//! `_meta.traceparent`, by the nonce, or by the id that the gateway itself gave the call in its
//! entry of a batch. A batch is one call with one trace id: records that carry no more than that
//! belong to all of its entries together.

mod port;
mod settle;

use std::sync::Arc;

use birdstrike_judge::sink::{Call, Ties};
use birdstrike_judge::{Doc, Pointer};
use birdstrike_scenario::check::SinkExpect;
use birdstrike_scenario::{Check, Expect, Scenario};
use birdstrike_wire::json;

use super::fire::Fired;
use super::{Judged, NEVER_CALLED, Run, place};
use crate::launch::{DIRECT, Launch};
use crate::nonce;
use crate::plan::Cell;
use crate::record::{SinkEvidence, Untested};

pub(super) use settle::{Seen, Watching};

use port::Found;

/// The checks of a cell that speak of sinks.
fn checks<'a>(
    scenario: &'a Scenario,
    cell: &'a Cell,
) -> impl Iterator<Item = (&'a Check, &'a SinkExpect)> {
    let concerned = scenario.checks.iter().filter(|check| super::concerns(check, cell));
    concerned.filter_map(|check| match &check.expect {
        Expect::Sink(expect) => Some((check, expect)),
        _ => None,
    })
}

/// Whether sinks are judged in a cell.
pub(super) fn are_judged(launch: &Launch, scenario: &Scenario, cell: &Cell) -> bool {
    cell.route != DIRECT
        && !launch.ports().all().is_empty()
        && checks(scenario, cell).next().is_some()
}

/// The `_meta` of a request with a trace context of its own, unless it has one already.
pub(super) fn traced(meta: &str) -> String {
    if json::get(meta, TRACEPARENT).is_some() {
        return meta.to_owned();
    }
    let parent = json::quote(&nonce::traceparent());
    json::set(meta, TRACEPARENT, &parent).unwrap_or_else(|_| meta.to_owned())
}

/// The member of `_meta`, and the HTTP header, that carries the trace context.
const TRACEPARENT: &str = "traceparent";

/// The trace id that a request carries.
pub(super) fn trace_in(request: &str) -> Option<&str> {
    const BEFORE: &str = "\"traceparent\":\"00-";
    let at = request.find(BEFORE)? + BEFORE.len();
    request.get(at..at + 32)
}

/// What tells the records of one call from those of all others.
fn ties(launch: &Launch, scenario: &Scenario, all: &[Fired], fired: &Fired) -> Call {
    let own = |one: &Fired| {
        let id = call_id(launch, one);
        [Some(one.nonce.clone()), id].into_iter().flatten().collect::<Vec<_>>()
    };
    let same = |one: &&Fired| {
        Arc::ptr_eq(&one.transcript, &fired.transcript) && !std::ptr::eq(*one, fired)
    };
    Call {
        trace: fired.trace.clone(),
        own: own(fired),
        others: all.iter().filter(same).flat_map(own).collect(),
        tool: scenario.definition.is_some().then(|| fired.tool.clone()),
    }
}

/// The id that the gateway gave a call in its entry of a batch.
fn call_id(launch: &Launch, fired: &Fired) -> Option<String> {
    let codec = launch.profile().routes.values().find_map(|route| route.batch.as_ref())?;
    let entry = Doc::scan(fired.entry.as_deref()?).ok()?;
    let id = entry.at(&Pointer::parse(codec.call_id.as_deref()?).ok()?)?;
    let id = id.string()?.text().into_owned();
    // A short one would stand in many a record.
    (id.len() >= SHORTEST_ID).then_some(id)
}

/// Bytes that an id must have to be sought in records.
const SHORTEST_ID: usize = 8;

/// How many calls share a trace with this one.
fn entries(all: &[Fired], fired: &Fired) -> usize {
    all.iter().filter(|one| Arc::ptr_eq(&one.transcript, &fired.transcript)).count()
}

/// The names of all markers that a scenario plants.
fn marker_names(scenario: &Scenario) -> Vec<String> {
    let texts = [
        serde_json::to_string(&scenario.answers).unwrap_or_default(),
        serde_json::to_string(&scenario.steps).unwrap_or_default(),
    ];
    let mut names: Vec<String> = texts
        .iter()
        .flat_map(|text| text.split('«').skip(1))
        .filter_map(|rest| rest.split_once('»').map(|(name, _)| name.to_owned()))
        .filter(|name| name != "id")
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl Run<'_> {
    /// Judges what is expected of sinks: every port of them by itself. One that breaks it is a
    /// finding, whatever the others show; one of which nothing can be said is `untested`.
    pub(super) fn sink(&mut self, check: &Check, expect: &SinkExpect, fired: &Fired) {
        if self.outcome.unreached {
            return self.untested(&check.name, NEVER_CALLED, fired);
        }
        let planted = marker_names(self.scenario);
        let (mut broken, mut unseen, mut held) = (Vec::new(), Vec::new(), false);
        for sink in &expect.sinks {
            let seen = self.seen.iter().flat_map(Seen::ports);
            let mut ports = seen.filter(|port| port.watch.port.sink == *sink).peekable();
            if ports.peek().is_none() {
                let reason = format!("the profile has no port of the sink `{sink}`");
                let unlock = format!("a port of the sink `{sink}` in the profile");
                unseen.push((reason, unlock));
            }
            for port in ports {
                match port::judge(port, expect, self.fired, fired, &planted) {
                    Found::Holds => held = true,
                    Found::Broken(judged, evidence) => broken.push((judged, evidence)),
                    Found::Unknown { reason, unlock } => unseen.push((reason, unlock)),
                }
            }
        }
        for (reason, unlock) in unseen {
            self.unseen(check, reason, unlock);
        }
        let evidence: Vec<SinkEvidence> =
            broken.iter().flat_map(|(_, evidence)| evidence.iter().cloned()).collect();
        let more = broken.len().saturating_sub(1);
        match broken.into_iter().next() {
            Some((judged, _)) => {
                let more =
                    if more > 0 { format!(" (and in {more} more ports)") } else { String::new() };
                let message = format!("{}{more}", judged.message);
                self.record(check, fired, Judged { message, ..judged });
                self.show(evidence);
            }
            None if held => self.record(check, fired, Judged::intact()),
            None => {}
        }
    }

    /// Adds records of sinks to the evidence of the check that was recorded last.
    fn show(&mut self, sinks: Vec<SinkEvidence>) {
        let last = self.outcome.records.last_mut().and_then(|record| record.evidence.as_mut());
        if let Some(evidence) = last {
            evidence.sinks = sinks;
            self.launch.secrets().for_each(|secret| evidence.remove(secret));
        }
    }

    fn unseen(&mut self, check: &Check, reason: String, unlock: String) {
        let what = place(&self.scenario.check_id(&check.name), self.cell);
        let surface = self.scenario.surface;
        self.outcome.untested.push(Untested { surface, what, reason, unlock });
    }
}

/// Everything that one cell needs to tie records to its calls.
pub(super) struct Calls {
    /// One for each call, in order.
    ties: Vec<Ties>,
    /// The same for ports that show how things stand: there the tool's name is enough, for what is
    /// shown after the call is shown of the call too.
    state: Vec<Ties>,
}

impl Calls {
    fn of(launch: &Launch, scenario: &Scenario, fired: &[Fired]) -> Self {
        let calls: Vec<(Call, String)> = fired
            .iter()
            .map(|one| (ties(launch, scenario, fired, one), one.tool.clone()))
            .collect();
        let state = calls.iter().cloned();
        let state = state.map(|(call, tool)| Ties::new(Call { tool: Some(tool), ..call }));
        let state = state.collect();
        Self { ties: calls.into_iter().map(|(call, _)| Ties::new(call)).collect(), state }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_of_a_request_is_read_back() {
        let parent = nonce::traceparent();
        let request = format!("{{\"params\":{{\"_meta\":{{\"traceparent\":\"{parent}\"}}}}}}");
        assert_eq!(trace_in(&request), parent.get(3..35));
        assert_eq!(trace_in("{}"), None);
        assert_ne!(parent, nonce::traceparent());
        let own = r#"{"traceparent":"00-x"}"#;
        assert_eq!(traced(own), own);
        assert_eq!(trace_in(&traced("{}")).map(str::len), Some(32));
    }
}
