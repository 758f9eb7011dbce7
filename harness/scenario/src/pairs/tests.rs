//! Tests of the model of pairs: the one that ships, and small ones.

use std::collections::HashSet;

use super::*;
use crate::scenario::Form;

fn shipped() -> Model {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/pairs.yaml");
    let source = std::fs::read_to_string(path).unwrap();
    Model::parse("scenarios/pairs.yaml", &source).unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn offer(routes: &[&str], revisions: &[&str]) -> Offer {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    Offer {
        routes: owned(routes),
        clients: owned(revisions),
        upstreams: owned(revisions),
        features: owned(&["second-upstream", "small-budget"]),
    }
}

const ALL: [&str; 3] = ["2026-07-28", "2025-11-25", "2025-06-18"];

#[test]
fn the_shipped_model_makes_at_least_300_rows_and_the_seed_decides_which() {
    let model = shipped();
    let everything = offer(&["flat", "batch", "facade"], &ALL);
    let rows = model.rows(&everything, model.seed, model.rows);
    assert!(rows.len() >= 300, "{}", rows.len());
    assert_eq!(rows, model.rows(&everything, model.seed, model.rows));
    assert_ne!(rows, model.rows(&everything, model.seed + 1, model.rows));
}

#[test]
fn every_pair_that_can_be_stands_in_a_row_that_is_judged() {
    let model = shipped();
    let everything = offer(&["flat", "batch", "facade"], &ALL);
    let rows = model.rows(&everything, model.seed, model.rows);
    let masked = |row: &Row| model.values(row).any(|value| !value.only.is_empty());
    let mut left = Vec::new();
    for (a, one) in model.axes.iter().enumerate() {
        for (b, other) in model.axes.iter().enumerate().skip(a + 1) {
            for i in 0..one.values.len() {
                for j in 0..other.values.len() {
                    let masks =
                        [&one.values[i], &other.values[j]].iter().any(|v| !v.only.is_empty());
                    let judged = |row: &&Row| masks || !masked(row);
                    if !rows.iter().filter(judged).any(|row| row.0[a] == i && row.0[b] == j) {
                        let (one, other) = (&one.values[i].name, &other.values[j].name);
                        left.push(format!(
                            "{} {one}, {} {other}",
                            model.axes[a].name, model.axes[b].name
                        ));
                    }
                }
            }
        }
    }
    let both = |pair: &str, one: &str, other: &str| {
        let (a, b) = pair.split_once(", ").unwrap();
        a.starts_with(one) && b.starts_with(other)
    };
    let expected = |pair: &String| {
        let across = !pair.ends_with("-to-new") && !pair.ends_with("middle-to-middle");
        let across = across && !pair.ends_with("old-to-old");
        let across = across || pair.ends_with("middle-to-new") || pair.ends_with("old-to-new");
        both(pair, "encoding json", "stream ")
            || both(pair, "encoding sse", "framing chunked")
            || both(pair, "stream ", "framing chunked")
            || (both(pair, "typed list", "rev") && !pair.ends_with("new-to-new"))
            || (both(pair, "typed null", "rev") && !pair.ends_with("new-to-new"))
            || both(pair, "route ", "beside ")
            || both(pair, "route ", "budget small")
            || (both(pair, "route facade", "revisions ") && across)
            || both(pair, "blocks unknown-kind", "error true")
            || both(pair, "blocks unknown-kind", "budget small")
            || both(pair, "blocks embedded", "upstreams second")
            || both(pair, "upstreams second", "budget small")
    };
    left.retain(|pair| !expected(pair));
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn rows_keep_to_what_a_gateway_offers() {
    let model = shipped();
    let little = offer(&["flat"], &["2025-06-18"]);
    let rows = model.rows(&little, model.seed, model.rows);
    assert!(rows.len() >= 300);
    for row in &rows {
        let scenario = model.scenario(row).unwrap();
        assert_eq!(
            (&scenario.routes[..], &scenario.revisions[..]),
            (&["flat".to_owned()][..], &["2025-06-18".to_owned()][..])
        );
        assert_eq!(scenario.id, "flat-return/pairs");
    }
    assert!(model.rows(&offer(&["task"], &ALL), 1, 9).is_empty());
}

#[test]
fn values_bring_their_checks_and_their_parts() {
    let model = shipped();
    let at = |axis: &str, value: &str| {
        let axis_at = model.axes.iter().position(|known| known.name == axis).unwrap();
        let values = &model.axes[axis_at].values;
        (axis_at, values.iter().position(|known| known.name == value).unwrap())
    };
    let row = |values: &[(&str, &str)]| {
        let mut row = Row(vec![0; model.axes.len()]);
        for (axis, value) in values {
            let (axis, value) = at(axis, value);
            row.0[axis] = value;
        }
        row
    };
    let wide =
        row(&[("text", "none"), ("typed", "object"), ("route", "batch"), ("beside", "failure")]);
    assert_eq!(model.words(&wide), "text none, typed object, beside failure");
    let scenario = model.scenario(&wide).unwrap();
    assert_eq!(scenario.id, "batch-packing/pairs");
    let names: Vec<_> = scenario.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["whole", "flagged", "content", "typed-part", "packed"]);
    assert_eq!(scenario.checks[0].of.as_deref(), Some("batch.1"));
    let Form::Outcome(main) = &scenario.answers["main"].form else { panic!() };
    assert!(main.text.is_none() && main.data.is_some());
    let kind = row(&[("blocks", "unknown-kind"), ("typed", "object")]);
    let kind = model.scenario(&kind).unwrap();
    let names: Vec<_> = kind.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!((names, kind.direct_broken), (vec!["fate"], true));
}

#[test]
fn axes_are_led_back_one_by_one_and_never_to_another_surface_or_launch() {
    let model = shipped();
    let offer = offer(&["flat", "batch"], &ALL);
    let rows = model.rows(&offer, model.seed, model.rows);
    for row in &rows {
        let scenario = model.scenario(row).unwrap();
        for axis in 0..model.axes.len() {
            let Some(simpler) = model.simpler(row, axis, &offer) else { continue };
            let other = model.scenario(&simpler).unwrap();
            assert_eq!(other.id, scenario.id);
            assert_eq!(other.upstream_revisions, scenario.upstream_revisions);
            assert_eq!(other.needs, scenario.needs);
            assert!(model.holds(row, &simpler) || model.axes[axis].name == "revisions");
            assert!(model.words(&simpler).len() <= model.words(row).len() + 24);
        }
    }
}

#[test]
fn there_is_one_entry_a_surface_with_all_checks() {
    let entries = shipped().entries();
    let ids: HashSet<_> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, HashSet::from(["flat-return/pairs", "batch-packing/pairs"]));
    assert!(entries.iter().all(|entry| entry.checks.len() >= 10 && entry.origin == Origin::Model));
}

fn mistake(change: (&str, &str)) -> String {
    const SMALL: &str = "\
title: t
seed: 1
rows: 4
surfaces:
  flat-return: {routes: [flat], requirements: [INV-6.2]}
checks: {whole: {intact: policy, slot: result}, typed: {intact: policy, slot: data}}
always: [whole]
axes:
  text: {plain: {outcome: {text: a}}, none: {}}
  data: {none: {}, object: {outcome: {data: '{}'}, adds: [typed]}}
  route: {flat: {route: flat}}
exclude: [{text: [none], data: [none]}]
";
    let source = SMALL.replace(change.0, change.1);
    assert!(change.0 == change.1 || source != SMALL);
    Model::parse("pairs.yaml", &source).err().map_or(String::new(), |mistake| mistake.title)
}

#[test]
fn slips_are_told() {
    assert_eq!(mistake(("", "")), "");
    assert_eq!(mistake(("adds: [typed]", "adds: [typd]")), "no check `typd`");
    assert_eq!(mistake(("{text: [none], data", "{txt: [none], data")), "no axis `txt`");
    assert_eq!(mistake(("data: [none]}", "data: [no]}")), "no value `no`");
    assert_eq!(mistake((", data: [none]}", "}")), "an exclusion of one axis alone");
    assert_eq!(
        mistake(("{text: a}}", "{text: a}, adds: [typed]}")),
        "answer `main` does not fill slot `data`"
    );
    assert_eq!(mistake(("{route: flat}", "{}")), "rows have no route to a surface");
    assert_eq!(mistake(("{data: '{}'}", "{text: b}")), "`text` is filled by text and data");
}
