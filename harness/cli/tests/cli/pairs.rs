//! Pairs: what no scenario written by hand catches, made small.

use std::path::{Path, PathBuf};

use super::support::{Done, birdstrike, text};

/// The profile of the reference gateway, with a fault in it.
fn with_fault(dir: &Path, fault: &str) -> PathBuf {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../profiles/reference.yaml");
    let source = std::fs::read_to_string(shipped).unwrap();
    let faulty = source.replace("{% if fault %}--fault={{ fault }}{% endif %}", "--fault=FAULT");
    assert_ne!(source, faulty);
    let path = dir.join("faulty.yaml");
    std::fs::write(&path, faulty.replace("FAULT", fault)).unwrap();
    path
}

fn run(fault: &str, more: &[&str]) -> (Done, serde_json::Value) {
    let dir = tempfile::tempdir().unwrap();
    let (profile, report) = (with_fault(dir.path(), fault), dir.path().join("report.json"));
    let to = format!("json={}", text(&report));
    let arguments = ["run", "--gateway", text(&profile), "--report", &to];
    let done = birdstrike(&[&arguments[..], more].concat());
    let written = std::fs::read_to_string(&report).unwrap();
    (done, serde_json::from_str(&written).unwrap())
}

/// Ids of the checks that do not hold, each once.
fn broken(report: &serde_json::Value) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter();
    let broken = checks.filter(|check| check["verdict"] == "warn" || check["verdict"] == "fail");
    let mut ids: Vec<_> = broken.map(|check| check["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids.dedup();
    ids
}

#[test]
fn what_only_a_pair_shows_is_caught_by_pairs_alone_and_made_small() {
    let (done, report) = run("large-batch-sheds-meta", &["batch-packing", "--matrix", "core"]);
    assert_eq!(done.code, 1, "{}", done.err);
    let broken = broken(&report);
    assert!(broken.iter().any(|id| id == "batch-packing/pairs/metadata"), "{broken:?}");
    assert!(broken.iter().all(|id| id.starts_with("batch-packing/pairs/")), "{broken:?}");
    // The blanks in front and line ends are those of the terminal.
    let shown = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let smallest = "smallest result that shows it: meta plain, beside large";
    assert!(shown.contains(smallest), "{}", done.out);
    let checks = report["checks"].as_array().unwrap();
    let row = checks.iter().find(|check| check["combined"]["smallest"].is_string()).unwrap();
    assert!(row["combined"]["values"].as_str().unwrap().contains("beside large"), "{row}");
    assert!(row["evidence"]["downstream"].is_string(), "{row}");
}

#[test]
fn a_seed_fires_other_rows_under_the_same_ids() {
    let rows = |more: &[&str]| {
        let pairs = ["flat-return/pairs", "--matrix", "core"];
        let (done, report) = run("meta-lost-with-empty-content", &[&pairs[..], more].concat());
        assert_eq!(done.code, 1, "{}", done.err);
        let checks = report["checks"].as_array().unwrap().iter();
        let rows = checks.map(|check| check["combined"]["values"].to_string()).collect::<Vec<_>>();
        (rows, broken(&report))
    };
    let (own, ids) = rows(&[]);
    assert_eq!(rows(&[]), (own.clone(), ids.clone()));
    let (other, other_ids) = rows(&["--seed", "7"]);
    assert_ne!(own, other);
    assert_eq!(ids, other_ids);
}

#[test]
fn there_are_at_least_300_rows() {
    let done = birdstrike(&["run", "*/pairs/*"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let last = done.out.lines().last().unwrap();
    let cells: u32 =
        last.split(" checks in ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(cells >= 300, "{last}");
}
