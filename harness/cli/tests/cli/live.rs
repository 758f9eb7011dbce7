//! Commands that serve until they are told to end, and runs that are cut short.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::support::{BIN, Running, birdstrike, post, send, text, until, wait};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

#[test]
fn the_canary_serves_and_ends_on_a_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut canary = Running::start(&["canary"]);
        let url = canary.line("canary listening on ");
        canary.line("  echo");
        let (status, body) = post(&url, INITIALIZE);
        assert_eq!(status, 200, "{body}");
        assert!(body.contains(r#""protocolVersion":"2025-06-18""#), "{body}");
        assert_eq!(canary.end(signal), Some(0));
    }
}

#[test]
fn an_address_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let done = birdstrike(&["canary", "--listen", &address]);
    assert_eq!(done.code, 5, "{}", done.err);
    assert!(done.err.contains(&address), "{}", done.err);
}

/// A configuration of the reference gateway whose upstream is at `upstream`.
fn config(dir: &Path, upstream: &str) -> PathBuf {
    let path = dir.join("gateway.yaml");
    let upstreams = format!("upstreams: {{main: {{url: '{upstream}'}}}}");
    std::fs::write(&path, format!("listen: 127.0.0.1:0\n{upstreams}\n")).unwrap();
    path
}

#[test]
fn the_gateway_serves_and_ends_on_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    // Its upstream is not there: it starts all the same.
    let config = config(dir.path(), "http://127.0.0.1:9/mcp");
    let mut gateway = Running::start(&["gateway", "--config", text(&config)]);
    let url = gateway.line("birdstrike gateway listening on ");
    let (status, body) = post(&url, INITIALIZE);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("serverInfo"), "{body}");
    assert_eq!(gateway.end(Signal::TERM), Some(0));
}

#[test]
fn a_gateway_that_runs_already_is_driven() {
    let dir = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let config = config(dir.path(), &format!("http://{free}/mcp"));
    let mut gateway = Running::start(&["gateway", "--config", text(&config)]);
    let url = gateway.line("birdstrike gateway listening on ");
    let running = ["--url", &url, "--canary-listen", &free];
    let alone = birdstrike(&[&["run", "is-error/typed-part"], &running[..]].concat());
    assert_eq!(alone.code, 0, "{}\n{}", alone.err, alone.out);
    assert!(alone.out.starts_with(&format!("gateway {url} ")), "{}", alone.out);
    // With a profile its routes are known, and the process still is not ours to start.
    let more = ["--gateway", "reference", "--matrix", "core", "--route", "batch"];
    let known = birdstrike(&[&["run", "is-error/typed-part"], &running[..], &more[..]].concat());
    assert_eq!(known.code, 0, "{}\n{}", known.err, known.out);
    assert_eq!(gateway.end(Signal::TERM), Some(0));
}

/// Children of a process, by the kernel's own list.
fn children(of: u32) -> Vec<u32> {
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in brackets may hold anything; the parent is the second field behind it.
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| parent(*pid) == Some(of)).collect()
}

/// Whether a process runs; one that is only waited for does not.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn an_interrupted_run_writes_its_report_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("is-error")).unwrap();
    let scenario = "title: t\nrequirements: [INV-9.3]\nencodings: [json]\nmatrix: core\ndirect: broken\ndeadline-ms: 600000\noutcome: {text: a}\ndelivery: {ending: never-answer}\nexpect:\n  text: {intact: policy, slot: text}\n";
    std::fs::write(dir.path().join("is-error/mine.yaml"), scenario).unwrap();
    let report = dir.path().join("report.json");
    let to = format!("json={}", text(&report));
    let mut command = Command::new(BIN);
    command.args(["run", "is-error/mine", "--scenarios", text(dir.path()), "--report", &to]);
    command.env("TMPDIR", dir.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut run = command.spawn().unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines();
    said.find(|line| line.as_ref().unwrap().contains(": ready after ")).unwrap().unwrap();
    let gateways = children(run.id());
    assert_eq!(gateways.len(), 1, "{gateways:?}");
    send(&run, Signal::INT);
    assert_eq!(wait(&mut run).code(), Some(5));
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert_eq!(rest, ["error: interrupted"]);
    let written = std::fs::read_to_string(&report).unwrap();
    let written: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written["surfaces"].as_array().unwrap().len(), 12);
    assert_eq!(written["broken"], "interrupted");
    assert_eq!(written["environment"]["selected"][0], "is-error/mine");
    until("the gateway has ended", || !gateways.iter().any(|pid| runs(*pid)));
    let left = std::fs::read_dir(dir.path()).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("birdstrike-"));
    assert_eq!(left.count(), 0, "a folder was left behind");
}
