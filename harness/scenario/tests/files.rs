//! The files that ship parse, and fit together.
#![expect(clippy::panic, reason = "the helpers of tests may fail loudly")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::requirement::Kind;
use birdstrike_scenario::{Catalogue, Mistake, Surface};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn lines(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    if let Err(mistakes) = catalogue.read_scenarios(&root().join("scenarios")) {
        panic!("{}", lines(&mistakes));
    }
    match ShippedProfile::read_all(&root().join("harness/profiles")) {
        Ok(profiles) => catalogue.profiles = profiles,
        Err(mistakes) => panic!("{}", lines(&mistakes)),
    }
    catalogue
}

#[test]
fn all_files_parse_and_fit_together() {
    let mistakes = catalogue().mistakes();
    assert!(mistakes.is_empty(), "{}", lines(&mistakes));
}

#[test]
fn ids_are_unique() {
    let catalogue = catalogue();
    let mut seen = HashSet::new();
    for scenario in &catalogue.scenarios {
        for check in &scenario.checks {
            let id = scenario.check_id(&check.name);
            assert!(catalogue.has_check(&id), "{id}");
            assert!(seen.insert(id.clone()), "{id} stands twice");
        }
    }
}

/// `--scenarios DIR` on top of what is built in.
#[test]
fn the_same_folder_twice_changes_nothing() {
    let once = catalogue();
    let mut twice = once.clone();
    assert_eq!(twice.read_scenarios(&root().join("scenarios")), Ok(()));
    assert_eq!(twice, once);
}

/// A promise that nobody checks is a promise that nobody keeps.
#[test]
fn every_promise_of_the_inventory_has_a_check() {
    let catalogue = catalogue();
    let rests = |id: &str| {
        let mut checks = catalogue.scenarios.iter().flat_map(|scenario| &scenario.checks);
        checks.any(|check| check.requirements.iter().any(|found| found == id))
    };
    let left: Vec<_> = catalogue
        .requirements
        .iter()
        .filter(|requirement| requirement.id.starts_with("INV-"))
        .filter(|requirement| requirement.kind != Kind::Observation)
        .filter(|requirement| requirement.out_of_reach.is_none() && !rests(&requirement.id))
        .map(|requirement| requirement.id.as_str())
        .collect();
    assert!(left.is_empty(), "no check rests on {left:?}");
}

/// Both routes must be driven where both exist.
#[test]
fn the_five_surfaces_have_scenarios() {
    let catalogue = catalogue();
    let driven = [
        Surface::UpstreamRead,
        Surface::AnswerReading,
        Surface::BatchPacking,
        Surface::FlatReturn,
        Surface::IsError,
    ];
    for surface in driven {
        let count = catalogue.scenarios.iter().filter(|s| s.surface == surface).count();
        assert!(count >= 10, "{surface}: {count}");
    }
}

/// A misspelt tool is not refused by the canary's listing but by every gateway in its own way.
#[test]
fn tools_are_built_in_or_defined() {
    const BUILT_IN: [&str; 11] = [
        "echo",
        "is_error",
        "rpc_error",
        "oversized",
        "meta_carrying",
        "task_handle",
        "structured",
        "typed",
        "links",
        "media",
        "slow",
    ];
    for scenario in &catalogue().scenarios {
        let known = BUILT_IN.contains(&scenario.tool.as_str()) || scenario.definition.is_some();
        assert!(known, "{} calls `{}`", scenario.id, scenario.tool);
    }
}

/// What people read first: one sentence each, without a full stop at its end.
#[test]
fn titles_are_one_sentence() {
    for scenario in &catalogue().scenarios {
        let title = &scenario.title;
        let capital = title.chars().next().is_some_and(char::is_uppercase);
        assert!(capital && !title.ends_with('.') && !title.contains(". "), "{}", scenario.id);
        assert!(title.len() <= 120, "{} has a title of {} bytes", scenario.id, title.len());
    }
}
