//! Every fault shows on at least one input, and on no route that it has nothing to do with.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use birdstrike_gateway::{Steps, faults};
use birdstrike_wire::{Revision, json};
use tokio::sync::Semaphore;

use super::limits::{LIMIT, sized};
use super::sink_faults;
use super::support::*;

const TYPED: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"one","annotations":{"priority":0.5},"_meta":{"a/b":1}},{"type":"text","text":"two"}],"structuredContent":{"n":9007199254740993,"n":1.50,"s":"\u0041\/"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"up","version":"1"},"a/b":[1]},"other":true}"#;
const FAILED: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"no"},{"type":"text","text":"really"}],"isError":true,"structuredContent":{"code":"E42"},"_meta":{"a/b":1}}"#;
/// A blank text before a picture with a member that nobody knows, each other kind of block, and a
/// vendor's mark of a wrapped value.
const ODD: &str = r#"{"resultType":"complete","content":[{"type":"text","text":" "},{"type":"image","data":"AA==","mimeType":"image/png","other":1},{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"a:b","text":"see ui://page"}},{"type":"resource_link","uri":"a:b","name":"l"}],"structuredContent":{"result":[1]},"_meta":{"a/wrapped":true}}"#;
const GOOD: &str = r#"{"resultType":"complete","content":[]}"#;

const ERROR: &str = r#"{"code":-7,"message":"mine","data":{"n":1.0}}"#;

/// What is called at the upstream `new`, in this order.
const FLAT: &[&str] = &[
    "typed",
    "good",
    "json-text",
    "null-part",
    "zero-part",
    "array-part",
    "upper-flag",
    "false-flag",
    "odd",
    "words",
    "beyond-a-buffer",
    "null-result",
    "odd-type",
    "task",
    "nested-task",
    "input",
    "error",
    "error-without-data",
    "error-400",
    "reason",
    "both",
    "other-id",
    "bad-text",
    "failed",
];

/// What was seen, by probe.
type Seen = BTreeMap<String, String>;

/// Upstreams that stay the same for all faults.
struct Range {
    new: Upstream,
    old: Upstream,
    framings: Vec<(&'static str, Upstream)>,
}

impl Range {
    fn open() -> Self {
        let (new, old) = (Upstream::start(C, Framing::Length), Upstream::start(A, Framing::Events));
        let typed = |part: &str| {
            format!(r#"{{"resultType":"complete","content":[],"structuredContent":{part}}}"#)
        };
        for (tool, result) in [
            ("typed", TYPED),
            ("failed", FAILED),
            ("good", GOOD),
            (
                "json-text",
                r#"{"resultType":"complete","content":[{"type":"text","text":"{\"a\":9007199254740993}"}]}"#,
            ),
            ("null-part", &typed("null")),
            ("zero-part", &typed("0")),
            ("array-part", &typed("[1,2]")),
            ("upper-flag", r#"{"resultType":"complete","content":[],"IsError":true}"#),
            (
                "false-flag",
                r#"{"resultType":"complete","content":[],"isError":false,"structuredContent":{},"_meta":{"a/b":1}}"#,
            ),
            ("odd", ODD),
            (
                "words",
                r#"{"resultType":"complete","content":[{"type":"text","text":"Error: none"}]}"#,
            ),
            ("null-result", "null"),
            ("odd-type", r#"{"resultType":"later","content":[]}"#),
            ("task", r#"{"resultType":"task","taskId":"t"}"#),
            ("nested-task", r#"{"task":{"taskId":"t"}}"#),
            ("input", r#"{"resultType":"input_required","requestState":"s"}"#),
        ] {
            new.result(tool, result);
        }
        odd_answers(&new);
        old.result("typed", &TYPED.replace(r#""resultType":"complete","#, ""));
        old.result("failed", &FAILED.replace(r#""resultType":"complete","#, ""));
        old.tool("error", Say::Error(ERROR.into()));
        let framings = [
            ("length", Framing::Length),
            ("chunked", Framing::Chunked),
            ("events", Framing::Events),
            ("gzip", Framing::Gzip),
        ];
        let framings = framings.map(|(name, framing)| (name, Upstream::start(C, framing)));
        let wide = sized(LIMIT - 20).replacen(&"x".repeat(600), &"é".repeat(400), 1);
        for (_, upstream) in &framings {
            upstream.result("small", GOOD).result("exact", &sized(LIMIT)).result("wide", &wide);
            upstream.result("over", &sized(LIMIT + 1)).result("far-over", &sized(LIMIT * 8));
        }
        Self { new, old, framings: framings.into() }
    }

    fn config(&self) -> String {
        let stdio = super::stdio::config(C);
        let stdio = stdio.strip_prefix("upstreams: {main: ").unwrap().strip_suffix('}').unwrap();
        let mut config = format!(
            "task_key: the same in every run\nupstreams:\n  stdio: {stdio}\n  old: {{url: '{}'}}\n",
            self.old.url
        );
        // One to each probe that may cost an upstream its next call.
        for name in ["new", "batch", "after-failure", "after-bad-answer"] {
            writeln!(config, "  {name}: {{url: '{}'}}", self.new.url).unwrap();
        }
        for (name, upstream) in &self.framings {
            writeln!(config, "  {name}: {{url: '{}', max_response_bytes: {LIMIT}}}", upstream.url)
                .unwrap();
        }
        config
    }

    /// Fires everything at a gateway with these steps.
    async fn fire(&self, steps: &Steps) -> Seen {
        let running = gateway(&self.config(), steps).await;
        let mut shot = Shot { running: &running, seen: Seen::new(), logged: 0 };
        for revision in [C, A] {
            for tool in FLAT {
                shot.flat(revision, &format!("new.{tool}"), "{}").await;
            }
            for tool in ["typed", "error", "failed"] {
                shot.flat(revision, &format!("old.{tool}"), "{}").await;
            }
        }
        for (framing, _) in &self.framings {
            for tool in ["exact", "wide", "over", "far-over", "small"] {
                shot.flat(C, &format!("{framing}.{tool}"), "{}").await;
            }
        }
        for bytes in [LIMIT, LIMIT + 1, 10] {
            let arguments = format!("{{\"bytes\":{bytes}}}");
            let tool = if bytes == 10 { "stdio.echo" } else { "stdio.large" };
            shot.flat(C, tool, &arguments).await;
        }
        for (upstream, tool) in [("after-failure", "failed"), ("after-bad-answer", "both")] {
            for tool in [tool, "good"] {
                shot.flat(C, &format!("{upstream}.{tool}"), "{}").await;
            }
        }
        shot.ids().await;
        shot.tasks().await;
        shot.batches(&self.new).await;
        for tool in ["typed", "failed", "error", "both"] {
            shot.facade(&format!("new.{tool}")).await;
        }
        let started = running.log.events("upstream_started").len();
        shot.seen.insert("stdio starts".into(), started.to_string());
        shot.seen
    }
}

/// Answers that are errors, or break a rule.
fn odd_answers(new: &Upstream) {
    new.tool("error", Say::Error(ERROR.into()));
    new.tool("error-without-data", Say::Error(r#"{"code":-7,"message":"mine"}"#.into()));
    new.result("beyond-a-buffer", &sized(70_000));
    new.tool("error-400", Say::ErrorWith(400, ERROR.into()));
    new.tool("reason", Say::Reason(422, r#"{"detail":"used up"}"#.into()));
    let message = |text: &str| Say::Message(text.as_bytes().to_vec());
    new.tool(
        "both",
        message(&format!(r#"{{"jsonrpc":"2.0","id":{{id}},"result":{GOOD},"error":{ERROR}}}"#)),
    );
    new.tool("other-id", message(&format!(r#"{{"jsonrpc":"2.0","id":"x","result":{GOOD}}}"#)));
    let bad_text = b"{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"content\":[],\"x\":\"\xff\"}}";
    new.tool("bad-text", Say::Message(bad_text.to_vec()));
}

/// One firing.
struct Shot<'a> {
    running: &'a Running,
    seen: Seen,
    /// Lines of the log that were looked at.
    logged: usize,
}

impl Shot<'_> {
    async fn flat(&mut self, revision: Revision, tool: &str, arguments: &str) {
        let got = Client::new(self.running, revision).call(tool, arguments).await;
        self.see(&format!("flat {revision} {tool} {arguments}"), &got);
    }

    async fn facade(&mut self, tool: &str) {
        let got = Client::new(self.running, C).invoke(&format!("{{\"tool\":\"{tool}\"}}")).await;
        self.see(&format!("facade {tool}"), &got);
    }

    async fn ids(&mut self) {
        for id in ["\"7\"", "9007199254740993"] {
            let got = Client::new(self.running, C).call_as(id, "length.small", "{}").await;
            self.see(&format!("flat id {id}"), &got);
        }
    }

    async fn tasks(&mut self) {
        for tool in ["after-failure.task", "after-failure.nested-task"] {
            let got = Client::new(self.running, C).with_tasks().call(tool, "{}").await;
            self.see(&format!("flat declared {tool}"), &got);
        }
    }

    async fn batches(&mut self, upstream: &Upstream) {
        let client = Client::new(self.running, C);
        let calls = |tools: &[&str]| {
            let calls: Vec<_> =
                tools.iter().map(|t| format!("{{\"tool\":\"batch.{t}\"}}")).collect();
            format!("{{\"calls\":[{}],\"max_concurrency\":1}}", calls.join(","))
        };
        for tools in [
            &["typed", "array-part", "failed", "error", "good"][..],
            &["good", "both", "typed"],
            &["good", "typed", "odd"],
        ] {
            let got = client.call("gateway_call", &calls(tools)).await;
            self.see(&format!("batch {tools:?}"), &got);
        }
        let got = client.call("gateway_call", "{}").await;
        self.see("batch without calls", &got);
        // Ends in another order than it begins.
        let gate = Arc::new(Semaphore::new(0));
        upstream.tool("slow", Say::Gated(gate.clone(), Box::new(Say::Result(TYPED.into()))));
        let before = self.running.log.events("call").len();
        let slow = calls(&["slow", "good"]).replace(",\"max_concurrency\":1", "");
        let batch = tokio::spawn(async move { client.call("gateway_call", &slow).await });
        let log = self.running.log.clone();
        until("the fast call ends", || log.events("call").len() > before).await;
        gate.add_permits(2);
        self.see("batch slow and fast", &batch.await.unwrap());
        let large = format!(
            r#"{{"calls":[{{"tool":"stdio.wait"}},{{"tool":"stdio.large","arguments":{{"bytes":{}}}}},{{"tool":"stdio.echo"}}]}}"#,
            LIMIT + 1
        );
        let got = Client::new(self.running, C).call("gateway_call", &large).await;
        self.see("batch stdio", &got);
    }

    /// Keeps what came, and what the log said of it, without what changes from run to run.
    fn see(&mut self, probe: &str, got: &Got) {
        let mut text = format!("{} {}", got.status, got.body);
        let calls = self.running.log.events("call");
        for line in &calls[std::mem::replace(&mut self.logged, calls.len())..] {
            let get = |name| json::get(line, name).unwrap_or_default();
            write!(text, " log {} {}", get("outcome"), get("error_type")).unwrap();
        }
        self.seen.insert(probe.into(), without_times(&without_ids(&text, "call_id")));
    }
}

/// Ids of this key, by the order in which they first stand there.
pub(crate) fn without_ids(text: &str, key: &str) -> String {
    let key = format!(r#""{key}":""#);
    let mut parts = text.split(&key);
    let mut out = parts.next().unwrap().to_owned();
    let mut ids = Vec::new();
    for part in parts {
        let (id, rest) = part.split_once('"').unwrap();
        let at = ids.iter().position(|known| *known == id).unwrap_or(ids.len());
        if at == ids.len() {
            ids.push(id);
        }
        write!(out, r#"{key}{at}"{rest}"#).unwrap();
    }
    out
}

pub(crate) fn without_times(text: &str) -> String {
    let mut parts = text.split("\"elapsed_ms\":");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|char: char| char.is_ascii_digit()));
    }
    out
}

#[tokio::test]
async fn each_fault_shows_and_stays_on_its_route() {
    let range = Range::open();
    let right = range.fire(&Steps::RIGHT).await;
    let again = range.fire(&Steps::RIGHT).await;
    assert_eq!(right, again, "a right gateway does the same twice");
    let mut table = String::new();
    let mut hidden = Vec::new();
    // Nothing that is fired here holds a link, a task or a pin, or has anything beside its results;
    // and sinks are looked at elsewhere.
    let elsewhere = ["resource-links", "listing", "transport", "schema-and-digest", "tasks"];
    let fired = |fault: &&faults::Fault| {
        !elsewhere.contains(&fault.surface) && !sink_faults::is_of_sinks(fault)
    };
    for fault in faults::all().iter().copied().flatten().filter(fired) {
        let mut steps = Steps::RIGHT;
        (fault.apply)(&mut steps);
        let wrong = range.fire(&steps).await;
        let differ: Vec<&str> = right
            .iter()
            .filter(|(probe, seen)| wrong[probe.as_str()] != **seen)
            .map(|(probe, _)| probe.as_str())
            .collect();
        writeln!(table, "{} ({}): {differ:?}", fault.name, fault.surface).unwrap();
        if ["mutators", "truncation"].contains(&fault.surface) {
            assert!(differ.is_empty(), "{} shows where its surface is off: {differ:?}", fault.name);
            continue;
        }
        if differ.is_empty() {
            hidden.push(fault.name);
            continue;
        }
        let strays = match fault.surface {
            "batch-packing" => "flat",
            "flat-return" => "batch",
            _ => continue,
        };
        assert!(
            !differ.iter().any(|probe| probe.starts_with(strays)),
            "{}: {differ:?}",
            fault.name
        );
    }
    println!("{table}");
    // They take a batch larger than any here, or a link without an address; the scenarios have them.
    assert_eq!(hidden, ["large-batch-sheds-meta", "empty-addresses-named"]);
}
