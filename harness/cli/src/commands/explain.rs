//! `birdstrike explain`: what a check expects, why, and what right looks like.

use std::fmt::Write;

use birdstrike_canary::{Answer, Encoding};
use birdstrike_engine::EngineError;
use birdstrike_engine::render::{self, Context, DEFAULT_LIMIT};
use birdstrike_scenario::check::{Check, Expect, SinkExpect, SinkHolds, Target};
use birdstrike_scenario::{Catalogue, Requirement, Scenario};
use birdstrike_wire::Revision;
use clap::Args;

use super::Done;
use super::list::checks_on;
use crate::{catalogue, output};

/// Say what a check expects, why, and what right looks like.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A check (`surface/scenario/check`), a scenario, or a requirement
    id: String,
}

impl Explain {
    pub(crate) fn run(self) -> Done {
        let catalogue = catalogue::load(None)?.catalogue;
        let id = self.id.trim_matches('/');
        if let Some(requirement) = catalogue.requirement(id) {
            output::print(&explain_requirement(&catalogue, requirement));
            return Ok(0);
        }
        let (scenario, check) = match catalogue.scenario(id) {
            Some(scenario) => (Some(scenario), None),
            None => id.rsplit_once('/').map_or((None, None), |(scenario, check)| {
                (catalogue.scenario(scenario), Some(check))
            }),
        };
        let known = |s: &Scenario| {
            check.is_none_or(|c| c == "valid" || s.checks.iter().any(|k| k.name == c))
        };
        let Some(scenario) = scenario.filter(|scenario| known(scenario)) else {
            let text =
                format!("`{id}` is no check, scenario or requirement: see `birdstrike list`");
            return Err(EngineError::Usage(text));
        };
        output::print(&explain_scenario(&catalogue, scenario, check));
        Ok(0)
    }
}

fn explain_requirement(catalogue: &Catalogue, requirement: &Requirement) -> String {
    let mut out = String::new();
    requirement_lines(&mut out, requirement);
    let checks = checks_on(catalogue, &requirement.id);
    if checks.is_empty() {
        let _ = writeln!(out, "no check rests on it");
    }
    for check in checks {
        let _ = writeln!(out, "  {check}");
    }
    out
}

fn requirement_lines(out: &mut String, requirement: &Requirement) {
    let _ =
        writeln!(out, "{} ({}): {}", requirement.id, requirement.level.as_str(), requirement.text);
    let place = requirement.place.as_deref().map_or(String::new(), |place| format!(", {place}"));
    let _ = writeln!(out, "  from {}{place}", requirement.source);
}

fn explain_scenario(catalogue: &Catalogue, scenario: &Scenario, only: Option<&str>) -> String {
    let mut out = format!("{}\n", scenario.title);
    if !scenario.why.trim().is_empty() {
        let _ = writeln!(out, "\n{}", scenario.why.trim());
    }
    let _ = writeln!(out, "\nthe canary answers (tool {}):", scenario.tool);
    for (name, answer) in &scenario.answers {
        let said = canary_says(answer);
        let _ = writeln!(out, "  {name}: {said}");
    }
    let _ = writeln!(out, "\nright looks like this:");
    if only == Some("valid") {
        let _ = writeln!(
            out,
            "  the answer has the right envelope, its own id, and obeys the schema of its revision"
        );
    }
    for check in scenario.checks.iter().filter(|check| only.is_none_or(|name| name == check.name)) {
        let _ = writeln!(
            out,
            "  {} ({}): {}",
            scenario.check_id(&check.name),
            check.level.as_str(),
            right(check)
        );
        let _ = writeln!(out, "    written at {}:{}", scenario.file, check.line);
        for requirement in check.requirements.iter().filter_map(|id| catalogue.requirement(id)) {
            let mut lines = String::new();
            requirement_lines(&mut lines, requirement);
            for line in lines.lines() {
                let _ = writeln!(out, "    {line}");
            }
        }
    }
    let _ = writeln!(out, "\nrun it: birdstrike run {}", scenario.id);
    out
}

fn canary_says(answer: &birdstrike_scenario::scenario::AnswerSpec) -> String {
    let encoding = Encoding::Json;
    let rendered = Revision::ALL.iter().rev().find_map(|revision| {
        let (others, limit) = (render::Nonces::new(), DEFAULT_LIMIT);
        let context =
            Context { nonce: "bs", revision: *revision, encoding, limit, others: &others };
        render::prepare(answer, &context).ok()
    });
    match rendered.map(|prepared| prepared.plan.answer) {
        Some(Answer::Rendered { member, body }) => format!("{member} {body}"),
        Some(Answer::Message(message)) => message,
        Some(Answer::Bytes(bytes)) => birdstrike_engine::evidence::excerpt(&bytes, 600),
        Some(Answer::Oversized(large)) => {
            format!(
                "a message of {} bytes where the gateway's limit is {DEFAULT_LIMIT}",
                large.total
            )
        }
        Some(Answer::Task(_)) => "a task, led through its life by follow-ups".to_owned(),
        Some(Answer::Builtin) => "what the tool makes of its arguments".to_owned(),
        None => "an outcome that no revision can carry".to_owned(),
    }
}

fn place(target: &Target) -> String {
    match target {
        Target::Slot(slot) => format!("slot {slot}"),
        Target::At(pointer) => format!("the value at {pointer}"),
    }
}

fn right(check: &Check) -> String {
    let of = check.of.as_deref().map_or(String::new(), |of| format!(" (step {of})"));
    let said = match &check.expect {
        Expect::Intact { place: p, same, or_absent } => {
            let or = if *or_absent { ", or not at all" } else { "" };
            format!("{} arrives as the canary sent it (same {same:?}){or}", place(p)).to_lowercase()
        }
        Expect::Equals { place: p, json, .. } => format!("{} is {json}", place(p)),
        Expect::Absent { place: p } => format!("nothing arrives in {}", place(p)),
        Expect::Present { place: p } => format!("something arrives in {}", place(p)),
        Expect::Count { calls } => format!("the upstream is called exactly {calls} time(s)"),
        Expect::Refused { cause, or_intact } => {
            let or = if *or_intact { ", or the whole result" } else { "" };
            let cause = if cause.is_empty() {
                String::new()
            } else {
                format!(" naming one of: {}", cause.join(", "))
            };
            format!("a refusal with the request's own id, in time,{cause}{or}")
        }
        Expect::SameAs { step, place: p, there, .. } => {
            let there = there.as_ref().map_or(String::new(), |at| format!(" at {at}"));
            format!("{} is that of step {step}{there}", place(p))
        }
        Expect::Valid => "the answer obeys the protocol of the client's revision".to_owned(),
        Expect::Flagged => "a failure is told exactly when the upstream told one".to_owned(),
        Expect::Packed => "an entry for every call, in order, each with its own answer".to_owned(),
        Expect::Mirrored => "the typed part stands as JSON in a text block too".to_owned(),
        Expect::AcrossRoutes { place: p } => {
            format!("{} has the same fate on every route", place(p))
        }
        Expect::CutTold => "what differs from the upstream's answer is told to be cut".to_owned(),
        Expect::Prefix { place: p, shorter, .. } => {
            let whole = if *shorter { "" } else { "whole, or " };
            format!("{} is {whole}a beginning without a broken character", place(p))
        }
        Expect::WithinBudget => "all results of the batch together keep its budget".to_owned(),
        Expect::Unlike { step, place: p } => format!("{} is not that of step {step}", place(p)),
        Expect::Digest => "the digest shown is that of the definition".to_owned(),
        Expect::Asked => "what the gateway asks of the upstream breaks no rule".to_owned(),
        Expect::FreshIds => "no two requests reach the upstream under one id".to_owned(),
        Expect::Reached { place: p, json, .. } => {
            format!("{} of the request that reaches the upstream is {json}", place(p))
        }
        Expect::Sink(sink) => in_sinks(sink),
        Expect::Heard(heard) => {
            let times = heard.times.map_or(heard.values.len(), |times| times as usize);
            format!("`{}` reaches the client {times} time(s) before its answer", heard.method)
        }
        Expect::Replied(replied) => {
            format!("a reply to the upstream's request {} reaches it", replied.to)
        }
        Expect::Cancelled { times } => {
            format!("the upstream is told {times} time(s) to stop working on the call")
        }
        Expect::NotBefore { ms } => format!("the answer does not come before {ms} ms"),
        Expect::Distinct => "no two items of the listing have one name".to_owned(),
        Expect::Status { codes } => format!("the HTTP status is one of {codes:?}"),
    };
    format!("{said}{of}")
}

fn in_sinks(expected: &SinkExpect) -> String {
    let sinks: Vec<_> = expected.sinks.iter().map(|sink| sink.as_str()).collect();
    let sinks = sinks.join(", ");
    match &expected.holds {
        SinkHolds::Never(marker) => format!("the marker {marker} stands nowhere in: {sinks}"),
        SinkHolds::Marker(marker) => format!("the marker {marker} stands in a record of: {sinks}"),
        SinkHolds::Field { field, json } => {
            format!("the field {field} of the call's record is {json} in: {sinks}")
        }
        SinkHolds::Records(count) => format!("{count} record(s) of the call arrive in: {sinks}"),
        SinkHolds::WellFormed => {
            format!("the call's records obey their format, nothing escapes its field, in: {sinks}")
        }
        SinkHolds::Longest(most) => {
            format!("no field of the call's records has over {most} characters in: {sinks}")
        }
    }
}
