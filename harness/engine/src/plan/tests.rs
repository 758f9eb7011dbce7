//! Tests of the plan.

use super::*;

/// A gateway with two routes, two client revisions and three upstream revisions.
const PROFILE: &str = "\
name: p
title: t
processes:
  gateway: {command: [x], endpoint: none, ready: {}}
routes:
  flat: {process: gateway, tool: t}
  batch: {process: gateway, tool: b}
revisions:
  client: ['2026-07-28', '2025-06-18']
  upstream: ['2026-07-28', '2025-11-25', '2025-06-18']
";

fn profile() -> Profile {
    Profile::parse("p.yaml", PROFILE).unwrap()
}

/// A catalogue of scenarios: id and what stands in the file besides the usual.
fn catalogue(files: &[(&str, &str)]) -> Catalogue {
    let scenario = |(id, more): &(&str, &str)| {
        let answer = if more.contains("outcome:") { "" } else { "outcome: {text: a}\n" };
        let source = format!(
            "title: t\nrequirements: [INV-1.1]\n{answer}{more}\nexpect:\n  told: {{flagged: must}}\n"
        );
        Scenario::parse(&format!("s/{id}.yaml"), &source).unwrap()
    };
    Catalogue { scenarios: files.iter().map(scenario).collect(), ..Catalogue::default() }
}

fn cells_of(files: &[(&str, &str)], matrix: Matrix) -> usize {
    plan(&catalogue(files), &profile(), matrix, &Selection::default()).cells()
}

#[test]
fn core_is_once_a_route_on_the_preferred_revisions() {
    let planned =
        plan(&catalogue(&[("is-error/a", "")]), &profile(), Matrix::Core, &Selection::default());
    let [launch] = &planned.launches[..] else { panic!("{:?}", planned.launches) };
    assert_eq!((launch.upstream, launch.transport), (Revision::NEWEST, Transport::Http));
    let routes: Vec<_> = launch.cells.iter().map(|cell| cell.route.as_str()).collect();
    assert_eq!(routes, ["flat", "batch"]);
    let newest = |cell: &Cell| cell.revision == Revision::NEWEST && cell.encoding == Encoding::Json;
    assert!(launch.cells.iter().all(newest));
}

#[test]
fn full_is_every_pair_and_both_encodings_where_the_legs_speak_alike() {
    // 3 x 2 pairs in JSON, and SSE for the two pairs of equal revisions; on two routes.
    assert_eq!(cells_of(&[("is-error/a", "")], Matrix::Full), 2 * (6 + 2));
    assert_eq!(cells_of(&[("flat-return/a", "")], Matrix::Full), 6 + 2);
    assert_eq!(cells_of(&[("is-error/a", "encodings: [sse]")], Matrix::Full), 2 * 6);
    assert_eq!(cells_of(&[("is-error/a", "matrix: core")], Matrix::Full), 2);
    assert_eq!(cells_of(&[("is-error/a", "revisions: ['2025-06-18']")], Matrix::Full), 2 * (3 + 1));
}

#[test]
fn an_outcome_runs_only_where_the_upstreams_revision_can_carry_it() {
    // A list as typed part has a place in the newest revision alone.
    let list = "outcome: {text: a, data: '[1]'}";
    let planned =
        plan(&catalogue(&[("is-error/a", list)]), &profile(), Matrix::Full, &Selection::default());
    let upstreams: Vec<_> = planned.launches.iter().map(|launch| launch.upstream).collect();
    assert_eq!(upstreams, [Revision::NEWEST]);
}

#[test]
fn launches_come_newest_first_and_harmful_cells_last() {
    let files = [("is-error/a", "harmful: true"), ("is-error/b", "")];
    let planned = plan(&catalogue(&files), &profile(), Matrix::Full, &Selection::default());
    let upstreams: Vec<_> = planned.launches.iter().map(|launch| launch.upstream).collect();
    let mut sorted = upstreams.clone();
    sorted.sort_by_key(|revision| std::cmp::Reverse(*revision));
    assert_eq!((upstreams.len(), &upstreams), (3, &sorted));
    for launch in &planned.launches {
        let scenarios: Vec<_> = launch.cells.iter().map(|cell| cell.scenario).collect();
        assert!(scenarios.is_sorted_by(|a, b| a >= b), "{scenarios:?}");
    }
}

#[test]
fn stress_waits_for_its_tier_and_is_not_untested() {
    let files = [("is-error/a", "stress: true")];
    let planned = plan(&catalogue(&files), &profile(), Matrix::Full, &Selection::default());
    assert_eq!((planned.cells(), planned.not_applicable.len()), (0, 0));
    assert!(planned.untested.iter().all(|untested| untested.surface != Surface::IsError));
}

#[test]
fn what_the_profile_does_not_claim_has_its_reason() {
    let why = |more: &str| {
        let planned = plan(
            &catalogue(&[("is-error/a", more)]),
            &profile(),
            Matrix::Core,
            &Selection::default(),
        );
        assert_eq!(planned.cells(), 0);
        planned.not_applicable[0].1.clone()
    };
    assert_eq!(why("routes: [task]"), "the gateway has no route task");
    assert_eq!(why("routes: [task, facade]"), "the gateway has no route task or facade");
    let clients = "the gateway's clients speak none of its revisions";
    assert_eq!(why("revisions: ['2025-11-25']"), clients);
    assert_eq!(why("transports: [stdio]"), "the gateway takes no upstream over stdio");
    let upstreams = "no revision of the gateway's upstreams can carry it";
    assert_eq!(
        why("outcome: {text: a, data: '[1]'}\nupstream-revisions: ['2025-06-18']"),
        upstreams
    );
}

#[test]
fn a_selection_narrows_scenarios_and_cells() {
    let files = [("is-error/a", ""), ("is-error/b", ""), ("flat-return/a", "")];
    let count = |selection: &Selection| {
        plan(&catalogue(&files), &profile(), Matrix::Full, selection).cells()
    };
    let checks =
        |text: &str| Selection { checks: vec![Selector::new(text)], ..Selection::default() };
    assert_eq!(count(&Selection::default()), 16 + 16 + 8);
    assert_eq!(count(&checks("is-error")), 32);
    assert_eq!(count(&checks("is-error/b/told")), 16);
    assert_eq!(count(&checks("*/a/valid")), 24);
    assert_eq!(count(&checks("tasks")), 0);
    let flat = Selection { routes: vec!["flat".into()], ..checks("is-error/a") };
    assert_eq!(count(&flat), 8);
    let old: Revision = "2025-06-18".parse().unwrap();
    let older = Selection { revisions: vec![old], ..flat.clone() };
    assert_eq!(count(&older), 4);
    let sse = Selection { encodings: vec![Encoding::Sse], ..flat };
    assert_eq!(count(&sse), 2);
}

#[test]
fn surfaces_that_nothing_drives_are_untested_where_they_are_selected() {
    let files = [("is-error/a", "")];
    let untested = |text: Option<&str>, profile: &Profile| {
        let checks = text.map(Selector::new).into_iter().collect();
        let selection = Selection { checks, ..Selection::default() };
        plan(&catalogue(&files), profile, Matrix::Core, &selection).untested
    };
    let all = untested(None, &profile());
    // Eleven of the twelve and the two areas.
    assert_eq!(all.len(), 13);
    assert!(all.iter().all(|row| row.what == "the whole surface" && !row.unlock.is_empty()));
    assert!(untested(Some("is-error"), &profile()).is_empty());
    assert_eq!(untested(Some("tasks"), &profile()).len(), 1);
    let source =
        format!("{PROFILE}unreached:\n  is-error: {{reason: no way in, unlock: a door}}\n");
    let shut = Profile::parse("p.yaml", &source).unwrap();
    let told = untested(Some("is-error"), &shut);
    assert_eq!((told[0].reason.as_str(), told[0].unlock.as_str()), ("no way in", "a door"));
}
