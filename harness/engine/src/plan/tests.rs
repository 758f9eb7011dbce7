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
        let of = if more.contains("batch:") { ", of: batch.0" } else { "" };
        let source = format!(
            "title: t\nrequirements: [INV-1.1]\n{answer}{more}\nexpect:\n  told: {{flagged: must{of}}}\n"
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
fn full_is_the_core_and_what_it_takes_for_any_two_values_to_meet() {
    // 3 x 2 pairs of revisions, one of which is the core's, on the first of two routes.
    assert_eq!(cells_of(&[("is-error/a", "")], Matrix::Full), 2 + 5);
    assert_eq!(cells_of(&[("flat-return/a", "")], Matrix::Full), 1 + 5);
    assert_eq!(cells_of(&[("is-error/a", "encodings: [sse]")], Matrix::Full), 2 + 5);
    assert_eq!(cells_of(&[("is-error/a", "matrix: core")], Matrix::Full), 2);
    assert_eq!(cells_of(&[("is-error/a", "revisions: ['2025-06-18']")], Matrix::Full), 2 + 5);
}

#[test]
fn in_the_full_matrix_any_two_values_of_two_axes_meet() {
    let planned =
        plan(&catalogue(&[("is-error/a", "")]), &profile(), Matrix::Full, &Selection::default());
    let mut met = std::collections::HashSet::new();
    for launch in &planned.launches {
        for cell in &launch.cells {
            let values = [
                format!("upstream {}", launch.upstream),
                format!("client {}", cell.revision),
                cell.route.clone(),
                encoding_word(cell.encoding).to_owned(),
            ];
            met.extend((0..4).flat_map(|a| {
                let values = values.clone();
                (a + 1..4).map(move |b| (values[a].clone(), values[b].clone()))
            }));
        }
    }
    // Upstreams 3, clients 2, routes 2, encodings 2.
    assert_eq!(met.len(), 3 * 2 + 3 * 2 + 3 * 2 + 2 * 2 + 2 * 2 + 2 * 2);
}

#[test]
fn a_long_launch_is_shared_out_where_several_run_at_once() {
    let source = format!("{PROFILE}launches-at-once: 2\n");
    let parallel = Profile::parse("p.yaml", &source).unwrap();
    let ids: Vec<String> = (0..40).map(|at| format!("is-error/s{at}")).collect();
    let mut files: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "")).collect();
    files.push(("is-error/harmful", "harmful: true"));
    let shares = |profile: &Profile, files: &[(&str, &str)]| -> Vec<(Share, usize)> {
        let planned = plan(&catalogue(files), profile, Matrix::Core, &Selection::default());
        planned.launches.iter().map(|launch| (launch.share, launch.cells.len())).collect()
    };
    assert_eq!(shares(&profile(), &files), [(Share::All, 82)]);
    assert_eq!(shares(&parallel, &files), [(Share::Answers, 80), (Share::Alone, 2)]);
    assert_eq!(shares(&parallel, &files[20..]), [(Share::All, 42)]);
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

/// A profile with a feature of its default, two variants, and one that it lacks.
fn featured() -> Profile {
    let more = "provides: [second-identity]
lacks: {pin-block: it knows no pins}
variants:
  small: {provides: [small-budget]}
  both: {provides: [small-budget, text-mutator]}
";
    Profile::parse("p.yaml", &format!("{PROFILE}{more}")).unwrap()
}

#[test]
fn what_a_scenario_needs_chooses_the_variant() {
    let variants = |needs: &str| {
        let files = [("is-error/a", needs)];
        let planned = plan(&catalogue(&files), &featured(), Matrix::Core, &Selection::default());
        planned.launches.into_iter().map(|launch| launch.variant).collect::<Vec<_>>()
    };
    assert_eq!(variants(""), [None]);
    assert_eq!(variants("needs: [second-identity]"), [None]);
    assert_eq!(variants("needs: [small-budget, second-identity]"), [Some("small".to_owned())]);
    assert_eq!(variants("needs: [text-mutator, small-budget]"), [Some("both".to_owned())]);
    let files = [("is-error/a", "needs: [text-mutator]"), ("is-error/b", ""), ("is-error/c", "")];
    let planned = plan(&catalogue(&files), &featured(), Matrix::Core, &Selection::default());
    let launches: Vec<_> =
        planned.launches.iter().map(|l| (l.variant.as_deref(), l.cells.len())).collect();
    assert_eq!(launches, [(None, 4), (Some("both"), 2)]);
}

#[test]
fn a_need_that_nothing_meets_is_untested_and_one_that_is_lacking_does_not_apply() {
    let planned = |needs: &str| {
        let files = [("is-error/a", needs)];
        plan(&catalogue(&files), &featured(), Matrix::Core, &Selection::default())
    };
    let told = planned("needs: [small-budget, own-limit]").untested;
    let told = told.iter().find(|row| row.what == "is-error/a").unwrap();
    assert_eq!(told.reason, "no configuration of the profile has the feature own-limit");
    let lacking = planned("needs: [own-limit, pin-block]");
    assert_eq!(lacking.not_applicable[0].1, "the gateway has no pin-block: it knows no pins");
    assert_eq!(lacking.cells(), 0);
}

#[test]
fn steps_that_take_another_way_need_it() {
    let steps = "steps:\n- batch: {answers: [main]}\n- fetch: {from: batch.0}\n";
    let files = [("flat-return/a", steps)];
    let planned = plan(&catalogue(&files), &profile(), Matrix::Core, &Selection::default());
    assert_eq!(planned.not_applicable[0].1, "the gateway has no route continuation");
}

#[test]
fn a_facade_is_asked_once_unless_a_scenario_asks_for_it() {
    let facade =
        "  facade: {process: gateway, http: {path: /i, body: b, result: /r, message: /m}}\n";
    let source = PROFILE.replace("routes:\n", &format!("routes:\n{facade}"));
    let profile = Profile::parse("p.yaml", &source).unwrap();
    let facades = |more: &str| {
        let files = [("is-error/a", more)];
        let planned = plan(&catalogue(&files), &profile, Matrix::Full, &Selection::default());
        let cells = planned.launches.iter().flat_map(|launch| &launch.cells);
        cells.filter(|cell| cell.route == "facade").count()
    };
    assert_eq!(facades(""), 1);
    assert_eq!(facades("routes: [facade]"), 6);
}

#[test]
fn a_selection_narrows_scenarios_and_cells() {
    let files = [("is-error/a", ""), ("is-error/b", ""), ("flat-return/a", "")];
    let count = |selection: &Selection| {
        plan(&catalogue(&files), &profile(), Matrix::Full, selection).cells()
    };
    let checks =
        |text: &str| Selection { checks: vec![Selector::new(text)], ..Selection::default() };
    assert_eq!(count(&Selection::default()), 7 + 7 + 6);
    assert_eq!(count(&checks("is-error")), 14);
    assert_eq!(count(&checks("is-error/b/told")), 7);
    assert_eq!(count(&checks("*/a/valid")), 13);
    assert_eq!(count(&checks("tasks")), 0);
    let flat = Selection { routes: vec!["flat".into()], ..checks("is-error/a") };
    assert_eq!(count(&flat), 6);
    let old: Revision = "2025-06-18".parse().unwrap();
    let older = Selection { revisions: vec![old], ..flat.clone() };
    assert_eq!(count(&older), 6);
    let sse = Selection { encodings: vec![Encoding::Sse], ..flat };
    assert_eq!(count(&sse), 6);
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
