//! The JSON report, and its schema.

use super::support::{birdstrike, text};

#[test]
fn the_json_report_obeys_its_published_schema() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    let to = format!("json={}", text(&path));
    let done = birdstrike(&["run", "--matrix", "core", "--report", &to]);
    assert_eq!(done.code, 0, "{}", done.err);
    let schema: serde_json::Value =
        serde_json::from_str(&birdstrike(&["report", "schema"]).out).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    let report: serde_json::Value = serde_json::from_str(&written).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&report).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let surfaces = report["surfaces"].as_array().unwrap();
    let numbers: Vec<u64> = surfaces.iter().map(|s| s["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
    assert_eq!(report["areas"].as_array().unwrap().len(), 2);
    assert_eq!(report["schema_version"], "1.0");
    assert_eq!(report["gateway"]["name"], "reference");
    assert_eq!(report.get("broken"), None);
    assert_eq!(report["tool"]["scenario_set"].as_str().unwrap().len(), 64);
    // Every surface that nothing drives has its reason.
    for surface in surfaces.iter().filter(|surface| surface["pass"] == 0) {
        let slug = &surface["surface"];
        let rows = report["untested"].as_array().unwrap();
        assert!(rows.iter().any(|row| row["surface"] == *slug), "{slug}");
    }
    let ends = report["checks"].as_array().unwrap().iter();
    assert_eq!(ends.filter(|c| c["verdict"] == "pass" && c.get("evidence").is_some()).count(), 0);
}

#[test]
fn a_report_that_cannot_be_written_is_exit_5_and_the_other_reports_are() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good.json");
    let good_to = format!("json={}", text(&good));
    let bad = dir.path().join("no-such-folder/bad.json");
    let bad_to = format!("json={}", text(&bad));
    let arguments = [
        "run",
        "is-error/text-only",
        "--matrix",
        "core",
        "--report",
        &bad_to,
        "--report",
        &good_to,
    ];
    let done = birdstrike(&arguments);
    assert_eq!(done.code, 5, "{}", done.err);
    let said = format!("{} cannot be written", text(&bad));
    assert!(done.err.contains(&said), "{}", done.err);
    assert!(done.out.contains("is-error"), "{}", done.out);
    assert!(good.is_file());
}

#[test]
fn verdicts_do_not_depend_on_what_runs_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let verdicts = |jobs: &str| {
        let path = dir.path().join(jobs);
        let to = format!("json={}", text(&path));
        let done =
            birdstrike(&["run", "is-error", "batch-packing", "--jobs", jobs, "--report", &to]);
        assert_eq!(done.code, 0, "{}", done.err);
        let report = std::fs::read_to_string(&path).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let row = |check: &serde_json::Value| {
            ["id", "launch", "route", "revision", "encoding", "verdict", "fidelity", "blame"]
                .map(|member| check[member].to_string())
        };
        report["checks"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let (one, eight) = (verdicts("1"), verdicts("8"));
    assert!(one.len() > 100);
    // The order is the same too.
    assert_eq!(one, eight);
}
