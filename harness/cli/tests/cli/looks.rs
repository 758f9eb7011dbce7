//! What the commands print, and that it never harms a terminal.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::support::{BIN, birdstrike, text, wait, with_env};

#[test]
fn checks_are_listed_with_level_and_requirements() {
    let done = birdstrike(&["list", "is-error/typed-part"]);
    assert_eq!(done.code, 0);
    let line = done.out.lines().find(|l| l.starts_with("is-error/typed-part/one-call ")).unwrap();
    assert!(line.contains(" policy ") && line.contains("INV-"), "{line}");
    assert!(done.out.lines().all(|line| line.starts_with("is-error/typed-part/")));
    let all = birdstrike(&["list"]).out;
    assert!(all.lines().count() > 150, "{}", all.lines().count());
    let wrong = birdstrike(&["list", "nonsense"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("`nonsense` picks no check"), "{}", wrong.err);
}

#[test]
fn gateways_are_listed_with_routes_and_revisions() {
    let out = birdstrike(&["list", "gateways"]).out;
    assert!(out.contains("reference      the reference gateway"), "{out}");
    assert!(out.contains("mcp-hangar     MCP Hangar"), "{out}");
    assert!(
        out.contains(
            "routes flat batch facade continuation task; clients 2026-07-28 2025-11-25 2025-06-18"
        ),
        "{out}"
    );
}

#[test]
fn requirements_are_listed_with_the_checks_that_rest_on_them() {
    let out = birdstrike(&["list", "--requirements", "inventory"]).out;
    assert!(out.contains("INV-2.3 ("), "{out}");
    assert!(out.lines().last().unwrap().contains(" with checks"), "{out}");
    let wrong = birdstrike(&["list", "--requirements", "nonsense"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("use one of inventory, wire, cases"), "{}", wrong.err);
}

#[test]
fn every_fault_that_was_reported_is_accounted_for() {
    let out = birdstrike(&["list", "--requirements", "cases"]).out;
    let last = out.lines().last().unwrap();
    assert!(last.starts_with("173 rows, ") && last.ends_with(" out of reach"), "{last}");
}

#[test]
fn a_check_is_explained() {
    let done = birdstrike(&["explain", "is-error/typed-part/typed-part"]);
    assert_eq!(done.code, 0, "{}", done.err);
    for part in [
        "the canary answers (tool is_error):",
        "read-only file system bs-text",
        "right looks like this:",
        "is-error/typed-part/typed-part (policy): slot data arrives as the canary sent it",
        "written at scenarios/is-error/typed-part.yaml:",
        "INV-2.4 (",
        "run it: birdstrike run is-error/typed-part",
    ] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    assert!(!done.out.contains("is-error/typed-part/metadata "), "{}", done.out);
}

#[test]
fn scenarios_requirements_and_the_common_check_are_explained() {
    let scenario = birdstrike(&["explain", "is-error/typed-part"]);
    assert!(scenario.out.contains("is-error/typed-part/metadata "), "{}", scenario.out);
    let valid = birdstrike(&["explain", "is-error/typed-part/valid"]);
    assert!(valid.out.contains("obeys the schema of its revision"), "{}", valid.out);
    let requirement = birdstrike(&["explain", "INV-2.3"]);
    assert_eq!(requirement.code, 0);
    assert!(requirement.out.starts_with("INV-2.3 ("), "{}", requirement.out);
    assert!(requirement.out.contains("\n  from "), "{}", requirement.out);
    for nonsense in ["nonsense", "is-error/typed-part/nonsense", "INV-99.9", ""] {
        let done = birdstrike(&["explain", nonsense]);
        assert_eq!(done.code, 2, "{nonsense}");
        assert!(done.err.contains("is no check, scenario or requirement"), "{}", done.err);
    }
}

#[test]
fn faults_are_listed_with_what_they_trip() {
    let out = birdstrike(&["faults", "--list"]).out;
    assert!(out.contains("\nflag-dropped ("), "{out}");
    assert!(out.contains("    trips is-error/text-only/flagged"), "{out}");
    let one = birdstrike(&["faults", "flag-dropped", "--list"]).out;
    assert!(one.ends_with("\n1 faults\n"), "{one}");
}

#[test]
fn nothing_is_styled_where_no_terminal_is() {
    let plain = birdstrike(&["run", "is-error/text-only", "--matrix", "core"]);
    assert!(!plain.out.contains('\u{1b}') && !plain.err.contains('\u{1b}'));
    let forced = [("CLICOLOR_FORCE", "1")];
    let styled = with_env(&["run", "is-error/text-only", "--matrix", "core"], &forced);
    assert!(styled.out.contains('\u{1b}'), "{}", styled.out);
    let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    let silenced = with_env(&["run", "nonsense"], &both);
    assert_eq!(silenced.err, "error: `nonsense` picks no check: see `birdstrike list`\n");
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let mut command = Command::new(BIN);
    command.arg("list").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let status = wait(&mut child);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

/// Clears the screen and names the window.
const HOSTILE: &str = "\\033[2J\\033]0;owned\\007";

#[test]
fn a_gateways_last_lines_are_no_commands_to_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.yaml");
    let profile = format!(
        "name: mine\ntitle: t\nprocesses:\n  gateway:\n    command: [sh, -c, \"printf '{}boo\\\\n' >&2; exit 3\"]\n    endpoint: none\n    ready: {{line: x}}\nroutes:\n  flat: {{process: gateway, tool: '{{{{ tool }}}}'}}\nrevisions: {{client: ['2026-07-28'], upstream: ['2026-07-28']}}\n",
        HOSTILE.replace('\\', "\\\\")
    );
    std::fs::write(&path, profile).unwrap();
    let styled = [("CLICOLOR_FORCE", "1")];
    let done = with_env(&["run", "is-error", "--gateway", text(&path)], &styled);
    assert_eq!(done.code, 4, "{}", done.err);
    assert!(done.err.contains("boo"), "{}", done.err);
    for printed in [&done.err, &done.out] {
        assert!(!printed.contains("\u{1b}[2J") && !printed.contains("\u{1b}]0"), "{printed:?}");
    }
}

#[test]
fn what_an_upstream_says_is_no_command_to_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("is-error")).unwrap();
    let scenario = "title: t\nrequirements: [INV-9.3]\ntool: is_error\nencodings: [json]\noutcome: {error: true, text: \"\\e[2J\\e]0;owned\\a«text»\"}\nexpect:\n  gone: {absent: policy, slot: text}\n  words: {refused: policy, cause: [nothing of this]}\n";
    std::fs::write(dir.path().join("is-error/mine.yaml"), scenario).unwrap();
    let styled = [("CLICOLOR_FORCE", "1")];
    let arguments = ["run", "is-error/mine", "--scenarios", text(dir.path()), "--matrix", "core"];
    let done = with_env(&arguments, &styled);
    // The canary too says what must not be said: the direct column fails.
    assert_eq!(done.code, 5, "{}", done.err);
    assert!(done.out.contains("owned"), "{}", done.out);
    for printed in [&done.err, &done.out] {
        assert!(!printed.contains("\u{1b}[2J") && !printed.contains("\u{1b}]0"), "{printed:?}");
    }
}
