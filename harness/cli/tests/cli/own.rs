//! Scenarios and profiles that users write.

use std::path::Path;

use super::support::{birdstrike, settings, text};

fn scenario(dir: &Path, source: &str) {
    let folder = dir.join("is-error");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mine.yaml"), source).unwrap();
}

const GOOD: &str = "\
title: A failure of mine keeps its words
requirements: [INV-9.3]
tool: is_error
outcome: {error: true, text: 'mine «text»'}
expect:
  text: {intact: policy, slot: text}
";

#[test]
fn a_scenario_of_ones_own_runs() {
    let dir = tempfile::tempdir().unwrap();
    scenario(dir.path(), GOOD);
    let folder = ["--scenarios", text(dir.path())];
    let done = birdstrike(&[&["run", "is-error/mine", "--matrix", "core"], &folder[..]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    // `text` and `valid` on three routes.
    assert!(done.out.contains("\n6 checks in 3 cells"), "{}", done.out);
}

#[test]
fn a_failing_check_shows_where_it_is_written_and_how_to_repeat_it() {
    let dir = tempfile::tempdir().unwrap();
    scenario(dir.path(), &GOOD.replace("{intact: policy, slot: text}", "{count: 2}"));
    let folder = ["--scenarios", text(dir.path())];
    let arguments = ["run", "is-error/mine", "--matrix", "core", "--route", "flat"];
    let done = birdstrike(&[&arguments[..], &folder[..]].concat());
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("exit 1: is-error/mine/text does not hold"), "{}", done.err);
    let mut settings = settings();
    settings.add_filter(text(dir.path()), "[dir]");
    settings.add_filter(r"(?s)\A.*?\n(fail|warn) ", "[the table]\n$1 ");
    settings.add_filter(r"bs[0-9a-f]{14}", "bs");
    settings.add_filter(r#""id": \d+"#, r#""id": [id]"#);
    settings.add_filter(r#""version": "[0-9.]+""#, r#""version": [version]"#);
    settings.bind(|| insta::assert_snapshot!("failing-check", done.out));
}

#[test]
fn a_broken_scenario_is_exit_2_with_file_line_caret_and_mend() {
    let dir = tempfile::tempdir().unwrap();
    scenario(dir.path(), &GOOD.replace("slot: text}", "slot: text}\nroutes: [flot]"));
    let done = birdstrike(&["run", "--scenarios", text(dir.path())]);
    assert_eq!((done.code, done.out.as_str()), (2, ""));
    let mut settings = settings();
    settings.add_filter(text(dir.path()), "[dir]");
    settings.bind(|| insta::assert_snapshot!("broken-scenario", done.err));
}

#[test]
fn a_scenario_on_a_requirement_that_nobody_wrote_is_exit_2() {
    let dir = tempfile::tempdir().unwrap();
    scenario(dir.path(), &GOOD.replace("INV-9.3", "INV-99.9"));
    let done = birdstrike(&["run", "--scenarios", text(dir.path())]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("rests on `INV-99.9`, which nobody wrote"), "{}", done.err);
}

#[test]
fn a_folder_that_does_not_exist_is_exit_2() {
    let done = birdstrike(&["run", "--scenarios", "/nowhere"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("/nowhere"), "{}", done.err);
}

const PROFILE: &str = "\
name: mine
title: a gateway of mine
processes:
  gateway: {command: [/no/such/gateway], endpoint: none, ready: {line: x}}
routes:
  flat: {process: gateway, tool: '{{ tool }}'}
revisions: {client: ['2026-07-28'], upstream: ['2026-07-28']}
";

fn with_profile(source: &str) -> super::support::Done {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.yaml");
    std::fs::write(&path, source).unwrap();
    birdstrike(&["run", "is-error", "--gateway", text(&path)])
}

#[test]
fn a_broken_profile_is_exit_2_with_file_line_caret_and_mend() {
    let done = with_profile(&PROFILE.replace("process: gateway", "process: gatewax"));
    assert_eq!((done.code, done.out.as_str()), (2, ""));
    let mut settings = settings();
    settings.add_filter(r"--> .*/mine.yaml", "--> [dir]/mine.yaml");
    settings.bind(|| insta::assert_snapshot!("broken-profile", done.err));
}

#[test]
fn a_template_that_names_what_there_is_not_is_exit_2() {
    let done = with_profile(&PROFILE.replace("/no/such/gateway", "'{{ birdstrke }}'"));
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("birdstrke"), "{}", done.err);
}

#[test]
fn a_gateway_that_does_not_start_is_exit_4_and_the_report_says_so() {
    let done = with_profile(PROFILE);
    assert_eq!(done.code, 4, "{}", done.err);
    assert!(done.err.contains("error: process `gateway` cannot be started"), "{}", done.err);
    assert!(done.out.contains("the launch did not come to its end"), "{}", done.out);
    let last = done.out.lines().last().unwrap();
    assert!(last.starts_with("the run did not come to its end: process `gateway`"), "{last}");
}
