//! Exit codes of plain runs, and mistakes on the command line.

use super::support::{birdstrike, text, with_env};

#[test]
fn a_surface_that_holds_is_exit_0_with_its_table() {
    let done = birdstrike(&["run", "is-error", "--matrix", "core"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let lines: Vec<&str> = done.out.lines().collect();
    assert!(lines[0].starts_with("gateway reference "), "{}", lines[0]);
    let row = |slug: &str| lines.iter().find(|l| l.split_whitespace().nth(1) == Some(slug));
    let cells = |slug: &str| row(slug).unwrap().split_whitespace().skip(2).collect::<Vec<_>>();
    assert_eq!(cells("is-error")[1..], ["·"; 4]);
    assert!(cells("is-error")[0].parse::<u32>().unwrap() > 0);
    assert_eq!(cells("tasks"), ["·"; 5]);
    assert!(lines.last().unwrap().contains(" cells, "), "{:?}", lines.last());
    // Plain lines on standard error, where nobody watches it.
    assert!(done.err.contains("http-2026-07-28: waiting for the gateway\n"), "{}", done.err);
}

#[test]
fn gaps_are_exit_3_when_all_is_required() {
    let done = birdstrike(&["run", "is-error", "--require-complete", "--matrix", "core"]);
    assert_eq!(done.code, 3, "{}", done.err);
    assert!(done.err.contains("exit 3: upstream-read has "), "{}", done.err);
}

#[test]
fn a_surface_that_nothing_drives_is_exit_3() {
    let only = ["run", "tasks/result-not-in-this-form", "--revision", "2025-06-18"];
    let done = birdstrike(&only);
    assert_eq!(done.code, 3, "{}", done.err);
    assert!(done.err.contains("exit 3: nothing was driven"), "{}", done.err);
}

#[test]
fn mistakes_on_the_command_line_are_exit_2() {
    let wrong: [(&[&str], &str); 14] = [
        (&["run", "nonsense"], "`nonsense` picks no check"),
        (&["run", "is-error", "nonsense"], "`nonsense` picks no check"),
        (&["run", "--gateway", "nonsense"], "no gateway `nonsense`: use mcp-hangar, reference"),
        (&["run", "--gateway", "/nowhere/x.yaml"], "cannot be read"),
        (&["run", "--route", "nonsense"], "reference has no route `nonsense`: use flat, batch"),
        (&["run", "--report", "pdf=x"], "no format `pdf`: use json=PATH"),
        (&["run", "--report", "json"], "write it as FORMAT=PATH"),
        (&["run", "--revision", "1999-01-01"], "invalid value '1999-01-01'"),
        (&["run", "--deadline", "0s"], "a deadline is longer than nothing"),
        (&["run", "--jobs", "0"], "0 is not in 1..=256"),
        (&["run", "--url", "http://127.0.0.1:1/mcp"], "--canary-listen"),
        (&["run", "--baseline", "/nowhere/b.yaml"], "the baseline cannot be read"),
        (&["gateway", "--config", "/nowhere/g.yaml"], "/nowhere/g.yaml"),
        (&["nonsense"], "unrecognized subcommand"),
    ];
    for (arguments, said) in wrong {
        let done = birdstrike(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.err);
        assert!(done.err.contains(said), "{arguments:?}: {}", done.err);
        assert_eq!(done.out, "", "{arguments:?}");
    }
}

#[test]
fn a_header_from_a_variable_that_is_not_set_is_exit_2() {
    let url = ["--url", "http://127.0.0.1:1/mcp", "--canary-listen", "127.0.0.1:0"];
    let header = ["--header-env", "Authorization=BIRDSTRIKE_TEST_NO_SUCH_VARIABLE"];
    let done = birdstrike(&[&["run"], &url[..], &header[..]].concat());
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("the variable is not set"), "{}", done.err);
}

#[test]
fn an_unknown_fault_is_exit_2() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("gateway.yaml");
    std::fs::write(
        &config,
        "listen: 127.0.0.1:0\nupstreams: {main: {url: http://127.0.0.1:9/mcp}}\n",
    )
    .unwrap();
    let done = birdstrike(&["gateway", "--config", text(&config), "--fault", "nonsense"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("no fault `nonsense`"), "{}", done.err);
    assert_eq!(birdstrike(&["faults", "nonsense"]).code, 2);
}

#[test]
fn a_gateway_that_is_not_installed_is_exit_4() {
    let dir = tempfile::tempdir().unwrap();
    let nowhere = [("XDG_CACHE_HOME", text(dir.path())), ("HOME", text(dir.path()))];
    let done = with_env(&["run", "--gateway", "mcp-hangar@2.34.4"], &nowhere);
    assert_eq!(done.code, 4, "{}", done.err);
    assert!(done.err.contains("birdstrike install mcp-hangar@2.34.4"), "{}", done.err);
}
