//! Each fault of the surfaces `tasks` and `schema-and-digest` shows, and only where it should.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use birdstrike_canary::{Canary, Plan, TaskEnd, TaskPlan};
use birdstrike_gateway::{Steps, faults};
use birdstrike_wire::json;

use super::definitions;
use super::faults::{without_ids, without_times};
use super::support::*;
use super::tasks::{behind, canary, follow, start};

type Seen = BTreeMap<String, String>;

fn plans(canary: &Canary) {
    let result = r#"{"content":[],"structuredContent":{"id":"task-done"}}"#;
    let failed = r#"{"content":[],"isError":true,"structuredContent":{"errors":3}}"#;
    let members = r#""statusMessage":"m""#.to_owned();
    let meta = Some(r#"{"a/b":1}"#.to_owned());
    let task = |result: &str| TaskPlan {
        members: members.clone(),
        meta: meta.clone(),
        working: 1,
        ..TaskPlan::new(TaskEnd::Result(result.into()))
    };
    canary.script().plan("done", Plan::new(task(result)));
    canary.script().plan("failed", Plan::new(task(failed)));
}

async fn tasks(canary: &Canary, steps: &Steps, seen: &mut Seen) {
    plans(canary);
    let running = behind(canary, &["main", "second"], "", steps).await;
    let mut see = |what: String, got: &Got| seen.insert(format!("task {what}"), got.body.clone());
    let declared = |key: &str| {
        let mut client = Client::new(&running, C).with_tasks();
        client.headers.push(("authorization".into(), format!("Bearer {key}")));
        client
    };
    let client = declared("alice");
    for nonce in ["done", "failed"] {
        let handle = start(&client, "second.echo", nonce).await;
        see(format!("{nonce} handle"), &handle);
        let id = json::get_string(handle.result(), "taskId").unwrap();
        for at in 0..3 {
            see(format!("{nonce} poll {at}"), &follow(&client, "tasks/get", &id).await);
        }
        see(format!("{nonce} foreign"), &follow(&declared("bob"), "tasks/get", &id).await);
        see(format!("{nonce} malformed"), &follow(&client, "tasks/get", "x").await);
        let undeclared = Client::new(&running, C);
        see(format!("{nonce} undeclared"), &follow(&undeclared, "tasks/get", &id).await);
        see(format!("{nonce} cancel"), &follow(&client, "tasks/cancel", &id).await);
        see(format!("{nonce} uninvited"), &start(&undeclared, "second.echo", nonce).await);
        let asked = canary.journal().take(nonce);
        let asked =
            asked.iter().map(|exchange| format!("{} {}", exchange.upstream, exchange.method));
        let asked = Got { status: 0, body: asked.collect::<Vec<_>>().join(", ") };
        see(format!("{nonce} requests"), &asked);
    }
}

const TOOL: &str = r#"{"title":"T","name":"NAME","description":"d","inputSchema":{ "type":"object" },"outputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":1.0},"d":{}}}}"#;
const LIST: &str =
    r#"{"name":"list","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}"#;

async fn definitions(steps: &Steps, seen: &mut Seen) {
    let names = ["good", "bad", "none", "failed"];
    let tools = names.map(|name| TOOL.replace("NAME", name));
    let upstream = definitions::upstream(&format!("{},{LIST}", tools.join(",")));
    upstream.result("list", r#"{"resultType":"complete","content":[],"structuredContent":[1]}"#);
    let pinned = format!("pins: {{digests: {{good: {}}}, mode: ", drifted());
    for more in ["block", "warn", "audit"]
        .map(|mode| format!("{pinned}{mode}}}"))
        .into_iter()
        .chain(["off", "warn", "block"].map(|mode| format!("output_schema: {mode}")))
    {
        let config = format!("upstreams: {{main: {{url: '{}'}}}}\n{more}", upstream.url);
        let running = gateway(&config, steps).await;
        let client = Client::new(&running, C);
        seen.insert(format!("definition list {more}"), client.list().await.body);
        for name in names.iter().chain(&["list"]) {
            let got = client.call(name, "{}").await;
            seen.insert(format!("definition call {name} {more}"), got.body);
        }
        let mut told = String::new();
        for event in ["digest_drift", "output_schema"] {
            for line in running.log.events(event) {
                let line = json::remove(&line, "time").unwrap();
                writeln!(told, "{}", json::remove(&line, "trace_id").unwrap()).unwrap();
            }
        }
        seen.insert(
            format!("definition log {more}"),
            without_times(&without_ids(&told, "call_id")),
        );
    }
}

/// A digest that begins as that of `good` does, and goes on in another way.
fn drifted() -> String {
    let steps = birdstrike_gateway::surfaces::schema_and_digest::Steps::RIGHT;
    let good = TOOL.replace("NAME", "good");
    let canonical = (steps.canonical)(&(steps.covered)(&good)).unwrap();
    let digest = (steps.digest)(&canonical);
    format!("{}{}", &digest[..32], "0".repeat(32))
}

async fn fire(canary: &Canary, steps: &Steps) -> Seen {
    let mut seen = Seen::new();
    tasks(canary, steps, &mut seen).await;
    definitions(steps, &mut seen).await;
    seen
}

/// Faults that take an upstream without tasks. The scenarios of `tasks` catch them.
const NOT_FIRED: [&str; 1] = ["task-asked-of-everybody"];

#[tokio::test]
async fn each_fault_shows_on_its_surface() {
    let canary = canary(C).await;
    let right = fire(&canary, &Steps::RIGHT).await;
    let again = fire(&canary, &Steps::RIGHT).await;
    for (probe, seen) in &right {
        assert_eq!(seen, &again[probe], "{probe}: a right gateway does the same twice");
    }
    let (mut table, mut hidden) = (String::new(), Vec::new());
    for fault in faults::all().iter().copied().flatten() {
        let strays = match fault.surface {
            "tasks" => "definition",
            "schema-and-digest" => "task",
            _ => continue,
        };
        let mut steps = Steps::RIGHT;
        (fault.apply)(&mut steps);
        let wrong = fire(&canary, &steps).await;
        let differ: Vec<&str> = right
            .iter()
            .filter(|(probe, seen)| wrong.get(*probe) != Some(*seen))
            .map(|(probe, _)| probe.as_str())
            .collect();
        writeln!(table, "{} ({}): {differ:?}", fault.name, fault.surface).unwrap();
        if differ.is_empty() {
            hidden.push(fault.name);
        }
        assert!(!differ.iter().any(|probe| probe.starts_with(strays)), "{table}");
    }
    println!("{table}");
    canary.stop().await;
    assert_eq!(hidden, NOT_FIRED, "nothing that is fired shows the first");
}
