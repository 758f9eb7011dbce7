//! The gate: baselines and levels, on a gateway with a fault.

use std::path::{Path, PathBuf};

use super::support::{Done, birdstrike, text};

/// The reference gateway's profile with a fault switched on.
fn faulty(dir: &Path, fault: &str) -> PathBuf {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../profiles/reference.yaml");
    let shipped = std::fs::read_to_string(shipped).unwrap();
    let switch = "{% if fault %}--fault={{ fault }}{% endif %}";
    assert!(shipped.contains(switch), "the profile switches faults on in another way");
    let path = dir.join("faulty.yaml");
    std::fs::write(&path, shipped.replace(switch, &format!("--fault={fault}"))).unwrap();
    path
}

/// Runs one scenario, two routes, on a gateway that tells failures as successes.
fn run(further: &[&str]) -> Done {
    let dir = tempfile::tempdir().unwrap();
    let profile = faulty(dir.path(), "flag-dropped");
    let arguments = ["run", "is-error/text-only", "--matrix", "core", "--gateway", text(&profile)];
    birdstrike(&[&arguments[..], further].concat())
}

/// Runs it with a baseline.
fn with_baseline(entries: &str) -> Done {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("baseline.yaml");
    std::fs::write(&path, entries).unwrap();
    run(&["--require", "policy", "--baseline", text(&path)])
}

/// Entries for these checks.
fn entries(checks: &[&str]) -> String {
    let entry = |check: &&str| format!("- {{check: {check}, reason: known, since: 2026-11-30}}\n");
    format!("entries:\n{}", checks.iter().map(entry).collect::<String>())
}

/// Checks of the scenario that the fault breaks, as the run itself tells them.
fn broken() -> Vec<String> {
    let done = run(&["--require", "policy"]);
    assert_eq!(done.code, 1, "{}", done.err);
    let ids = done.err.lines().filter_map(|line| {
        let id = line.strip_prefix("exit 1: ")?;
        Some(id.split_once(" does not hold")?.0.to_owned())
    });
    ids.collect()
}

#[test]
fn the_level_decides_what_counts() {
    assert!(broken().contains(&"is-error/text-only/flagged".to_owned()));
    let done = run(&["--require", "must"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("warn is-error/text-only/flagged on flat: lost"), "{}", done.out);
    assert!(done.out.contains("told a success"), "{}", done.out);
}

#[test]
fn a_baseline_covers_what_is_known() {
    let broken = broken();
    let broken: Vec<&str> = broken.iter().map(String::as_str).collect();
    let done = with_baseline(&entries(&broken));
    assert_eq!(done.code, 0, "{}", done.err);
    // What is covered is shown all the same.
    assert!(done.out.contains("warn is-error/text-only/flagged"), "{}", done.out);
}

#[test]
fn a_stale_entry_fails() {
    let broken = broken();
    let stale = "is-error/text-only/nothing-added";
    assert!(!broken.iter().any(|id| id == stale));
    let mut ids: Vec<&str> = broken.iter().map(String::as_str).collect();
    ids.push(stale);
    let done = with_baseline(&entries(&ids));
    assert_eq!(done.code, 1, "{}", done.err);
    let said = format!("baseline.yaml:{}: `{stale}` holds now (remove the entry)", ids.len() + 1);
    assert!(done.err.contains(&said), "{}", done.err);
}

#[test]
fn an_unknown_entry_fails() {
    let broken = broken();
    let mut ids = vec!["is-error/text-only/flaggd"];
    ids.extend(broken.iter().map(String::as_str));
    let done = with_baseline(&entries(&ids));
    assert_eq!(done.code, 1, "{}", done.err);
    let said = "baseline.yaml:2: `is-error/text-only/flaggd` is no check";
    assert!(done.err.contains(said), "{}", done.err);
}

#[test]
fn an_entry_for_another_route_covers_nothing() {
    let entry = "entries:\n- {check: is-error/text-only/flagged, route: task, reason: x, since: 2026-11-30}\n";
    let done = with_baseline(entry);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("is-error/text-only/flagged does not hold"), "{}", done.err);
}

#[test]
fn a_broken_baseline_is_exit_2() {
    let done =
        with_baseline("entries:\n- {check: is-error/text-only/flagged, since: 2026-11-30}\n");
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("baseline.yaml:2"), "{}", done.err);
    assert!(done.err.contains("reason"), "{}", done.err);
}
