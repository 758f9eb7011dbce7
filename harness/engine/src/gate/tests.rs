//! Tests of the gate.

use super::*;
use crate::event::{Event, Reporter};
use crate::record::{Gateway, Untested};
use crate::report::Collector;
use birdstrike_scenario::{Scenario, Surface};

fn check(verdict: Verdict, level: Level) -> CheckRecord {
    CheckRecord {
        id: "is-error/a/b".into(),
        surface: Surface::IsError,
        launch: String::new(),
        route: "flat".into(),
        revision: String::new(),
        encoding: String::new(),
        verdict,
        fidelity: None,
        blame: None,
        level,
        requirements: Vec::new(),
        message: String::new(),
        written: String::new(),
        combined: None,
        evidence: None,
    }
}

fn code(checks: &[CheckRecord], gate: &Gate) -> u8 {
    ruling(checks, &[], gate).code
}

/// A ruling on these checks and untested surfaces, by a catalogue that has `is-error/a/b` and
/// `is-error/a/c`.
fn ruling(checks: &[CheckRecord], untested: &[Surface], gate: &Gate) -> Ruling {
    let mut collector = Collector::new(Gateway::default());
    for check in checks {
        collector.take(&Event::Checked(Box::new(check.clone())));
    }
    for surface in untested {
        let (what, reason, unlock) = (String::new(), String::new(), String::new());
        collector.take(&Event::Untested(Untested { surface: *surface, what, reason, unlock }));
    }
    let source = "title: t\noutcome: {text: a}\nrequirements: [INV-1.1]\nexpect:\n  b: {flagged: must}\n  c: {flagged: must}\n";
    let scenario = Scenario::parse("s/is-error/a.yaml", source).unwrap();
    let catalogue = Catalogue { scenarios: vec![scenario], ..Catalogue::default() };
    rule(collector.report(), &catalogue, gate)
}

fn baseline_gate(require: Level, text: &str) -> Gate {
    Gate { baseline: Some(Baseline::parse("b.yaml", text).unwrap()), ..gate(require) }
}

fn gate(require: Level) -> Gate {
    Gate { require, complete: false, baseline: None }
}

#[test]
fn exit_codes_follow_their_order() {
    let must = check(Verdict::Fail, Level::Must);
    let policy = check(Verdict::Warn, Level::Policy);
    let error = check(Verdict::Error, Level::Policy);
    let pass = check(Verdict::Pass, Level::Must);
    assert_eq!(code(&[], &gate(Level::Must)), 3);
    assert_eq!(code(std::slice::from_ref(&pass), &gate(Level::Policy)), 0);
    assert_eq!(code(&[pass.clone(), policy.clone()], &gate(Level::Must)), 0);
    assert_eq!(code(std::slice::from_ref(&policy), &gate(Level::Policy)), 1);
    assert_eq!(code(std::slice::from_ref(&must), &gate(Level::Must)), 1);
    assert_eq!(code(&[must, error], &gate(Level::Must)), 5);
    let complete = Gate { complete: true, ..gate(Level::Must) };
    assert_eq!(code(&[pass], &complete), 3);
}

const KNOWN: &str =
    "entries:\n- {check: is-error/a/b, route: flat, reason: known, since: 2026-11-30}\n";

#[test]
fn a_baseline_covers_what_it_names_and_no_more() {
    let broken = check(Verdict::Warn, Level::Policy);
    let gate = baseline_gate(Level::Policy, KNOWN);
    assert_eq!(ruling(std::slice::from_ref(&broken), &[], &gate), Ruling::default());
    let other = CheckRecord { id: "is-error/a/c".into(), ..broken.clone() };
    assert_eq!(code(&[broken.clone(), other], &gate), 1);
    // On another route it is another failure.
    let elsewhere = CheckRecord { route: "batch".into(), ..broken.clone() };
    assert_eq!(code(&[broken, elsewhere], &gate), 1);
    // An error is the harness's and no known failure of the gateway's.
    assert_eq!(code(&[check(Verdict::Error, Level::Policy)], &gate), 5);
}

#[test]
fn a_stale_entry_fails_and_one_that_did_not_run_does_not() {
    let gate = baseline_gate(Level::Must, KNOWN);
    let holds = check(Verdict::Pass, Level::Policy);
    let told = ruling(std::slice::from_ref(&holds), &[], &gate);
    let reason = "b.yaml:2: `is-error/a/b` holds now (remove the entry)".to_owned();
    assert_eq!(told, Ruling { code: 1, reasons: vec![reason] });
    // It holds in one cell and not in the next: the entry is still true.
    let broken = check(Verdict::Warn, Level::Policy);
    assert_eq!(code(&[holds.clone(), broken], &gate), 0);
    let other = CheckRecord { id: "is-error/a/c".into(), ..holds.clone() };
    assert_eq!(code(std::slice::from_ref(&other), &gate), 0);
    let claimed = CheckRecord { verdict: Verdict::NotApplicable, ..holds };
    assert_eq!(code(&[other, claimed], &gate), 0);
}

#[test]
fn an_unknown_entry_fails_whatever_ran() {
    let text = KNOWN.replace("a/b", "a/x");
    let told =
        ruling(&[check(Verdict::Pass, Level::Must)], &[], &baseline_gate(Level::Must, &text));
    let reason = "b.yaml:2: `is-error/a/x` is no check (mend the id or remove the entry)";
    assert_eq!(told, Ruling { code: 1, reasons: vec![reason.to_owned()] });
}

#[test]
fn gaps_count_only_where_all_is_required_and_the_baseline_does_not_list_them() {
    let pass = check(Verdict::Pass, Level::Must);
    let checks = std::slice::from_ref(&pass);
    assert_eq!(ruling(checks, &[Surface::Tasks], &gate(Level::Must)).code, 0);
    let complete = Gate { complete: true, ..gate(Level::Must) };
    let told = ruling(checks, &[Surface::Tasks], &complete);
    assert_eq!((told.code, told.reasons.len()), (3, 11), "{:?}", told.reasons);
    assert!(told.reasons.contains(&"tasks has 1 untested".to_owned()), "{:?}", told.reasons);
    let others = Surface::TWELVE.iter().filter(|surface| **surface != Surface::IsError);
    let rows: String = others
        .map(|surface| format!("- {{surface: {}, reason: r, since: 2026-11-30}}\n", surface.slug()))
        .collect();
    let listed = baseline_gate(Level::Must, &format!("untested:\n{rows}"));
    let listed = Gate { complete: true, ..listed };
    assert_eq!(ruling(checks, &[Surface::Tasks], &listed), Ruling::default());
    // A surface that is tested by now must leave the list.
    let tested = CheckRecord { surface: Surface::Tasks, ..pass.clone() };
    let told = ruling(&[pass, tested], &[], &listed);
    assert_eq!(told.code, 1, "{:?}", told.reasons);
    assert!(told.reasons[0].contains("tasks is tested now"), "{:?}", told.reasons);
}

#[test]
fn a_failure_is_told_once_however_many_cells_it_has() {
    let broken = check(Verdict::Fail, Level::Must);
    let told = ruling(&[broken.clone(), broken], &[], &gate(Level::Must));
    assert_eq!(told.reasons, ["is-error/a/b does not hold (counted: must and above)"]);
}

#[test]
fn what_does_not_apply_drives_nothing() {
    assert_eq!(code(&[check(Verdict::NotApplicable, Level::Must)], &gate(Level::Must)), 3);
}
