//! Every fault of what is off by default shows where it is on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use birdstrike_gateway::{Steps, faults};
use birdstrike_wire::json;

use super::faults::{without_ids, without_times};
use super::shaping::{batch_of, entries, fetch, part, text_result};
use super::support::*;

type Seen = BTreeMap<String, String>;

fn upstream() -> Upstream {
    let upstream = Upstream::start(C, Framing::Length);
    let image = |data: usize| {
        let data = "A".repeat(data);
        format!(r#"{{"type":"image","data":"{data}","mimeType":"image/png"}}"#)
    };
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let long = "é".repeat(30);
    let typed = r#""structuredContent":{"a":"an ordinary value of the typed part"},"_meta":{"a/b":1},"x":1.0"#;
    let of = |blocks: &[String], rest: &str| {
        format!(r#"{{"resultType":"complete","content":[{}]{rest}}}"#, blocks.join(","))
    };
    for (tool, result) in [
        ("small", text_result("s")),
        ("wide", of(&[text(&long), image(40)], &format!(",{typed}"))),
        ("pairs", text_result(&"😀".repeat(30))),
        ("escapes", text_result(&"\\n".repeat(30))),
        ("failed", of(&[text(&long)], r#","isError":true"#)),
        ("half", of(&[text(&long), text(&long), r#"{"type":"text","text":7}"#.into()], "")),
        ("wide-large", of(&[text(&"é".repeat(1800)), text("s")], &format!(",{typed}"))),
        ("pairs-large", text_result(&"😀".repeat(1200))),
        ("escapes-large", text_result(&"\\n".repeat(2000))),
        ("image-large", of(&[image(4000), text("s")], "")),
        (
            "typed-large",
            of(&[], &format!(r#","structuredContent":{{"a":"{}"}}"#, "x".repeat(4000))),
        ),
        ("failed-large", of(&[text(&"x".repeat(2500))], r#","isError":true"#)),
        ("twin", text_result(&"x".repeat(2000))),
        ("middle", text_result(&"x".repeat(900))),
    ] {
        upstream.result(tool, &result);
    }
    upstream
}

/// One firing at one gateway.
struct Shot {
    running: Running,
    name: &'static str,
}

impl Shot {
    async fn at(upstream: &Upstream, name: &'static str, config: &str, steps: &Steps) -> Self {
        let config = format!("upstreams: {{main: {{url: '{}'}}}}\n{config}", upstream.url);
        Self { running: gateway(&config, steps).await, name }
    }

    fn client(&self, key: &str) -> Client {
        let mut client = Client::new(&self.running, C);
        if !key.is_empty() {
            client.headers.push(("x-api-key".into(), key.into()));
        }
        client
    }

    async fn flat(&self, seen: &mut Seen, tools: &[&str]) {
        for tool in tools {
            let got = self.client("").call(tool, "{}").await;
            seen.insert(format!("flat {} {tool}", self.name), got.body);
        }
    }

    async fn facade(&self, seen: &mut Seen, tool: &str) {
        let got = self.client("").invoke(&format!("{{\"tool\":\"{tool}\"}}")).await;
        seen.insert(format!("facade {} {tool}", self.name), got.body);
    }

    async fn batch(&self, seen: &mut Seen, tools: &[&str]) {
        let got = self.client("").call("gateway_call", &batch_of(tools)).await;
        let body = without_ids(&without_ids(&got.body, "call_id"), "continuation_id");
        seen.insert(format!("batch {} {tools:?}", self.name), without_times(&body));
    }

    /// What the log says of changed and cut results.
    fn log(&self, seen: &mut Seen) {
        let mut text = String::new();
        for event in ["mutated", "mutator_failed", "truncated"] {
            for line in self.running.log.events(event) {
                let line = json::remove(&line, "time").unwrap();
                let line = without_ids(&without_ids(&line, "call_id"), "trace_id");
                writeln!(text, "{line}").unwrap();
            }
        }
        seen.insert(format!("log {}", self.name), text);
    }

    /// Follows a continuation to its end, as its owner and as others.
    async fn continuation(&self, seen: &mut Seen) {
        let owner = self.client("mine");
        let got = owner.call("gateway_call", &batch_of(&["wide-large"])).await;
        let entry = entries(&got).first().map(|entry| json::get_string(entry, "continuation_id"));
        let Some(Some(id)) = entry else {
            seen.insert("continuation".into(), "has no id".into());
            return;
        };
        let mut see =
            |what: &str, got: &Got| seen.insert(format!("continuation {what}"), got.body.clone());
        let mut joined = String::new();
        for page in 0..30 {
            let got = fetch(&owner, &id, joined.len(), 501).await;
            see(&format!("page {page}"), &got);
            joined += &json::get_string(part(&got), "data").unwrap();
            if json::get(part(&got), "has_more") != Some("true") {
                break;
            }
        }
        let others = [self.client("theirs"), self.client("")];
        for (other, who) in others.iter().zip(["other", "nameless"]) {
            see(who, &fetch(other, &id, 0, 10).await);
            see("unknown", &fetch(other, "none", 0, 10).await);
        }
        let delete = format!(r#"{{"continuation_id":"{id}"}}"#);
        for (client, who) in [(&others[0], "other"), (&owner, "owner")] {
            let got = client.call("gateway_delete_continuation", &delete).await;
            see(&format!("delete by {who}"), &got);
            see(&format!("after delete by {who}"), &fetch(&owner, &id, 0, 10).await);
        }
    }

    async fn expiry(&self, seen: &mut Seen) {
        let got = self.client("").call("gateway_call", &batch_of(&["wide-large"])).await;
        let Some(id) = json::get_string(entries(&got)[0], "continuation_id") else { return };
        tokio::time::sleep(Duration::from_millis(3)).await;
        let got = fetch(&self.client(""), &id, 0, 10).await;
        seen.insert("continuation after its time".into(), got.body);
    }
}

async fn fire(upstream: &Upstream, steps: &Steps) -> Seen {
    let mut seen = Seen::new();
    let one = "mutators: [{truncate_text: {max_chars: 8}}]";
    let shot = Shot::at(upstream, "one mutator", one, steps).await;
    let tools = ["small", "wide", "pairs", "escapes", "failed", "half"];
    shot.flat(&mut seen, &tools).await;
    shot.batch(&mut seen, &tools).await;
    shot.log(&mut seen);
    let two = "mutators: [{truncate_text: {max_chars: 12}}, {truncate_text: {max_chars: 8}}]";
    let shot = Shot::at(upstream, "two mutators", two, steps).await;
    shot.flat(&mut seen, &["wide"]).await;
    let budget = "truncation: {max_batch_bytes: 3000, min_result_bytes: 400}";
    let shot = Shot::at(upstream, "budget", budget, steps).await;
    shot.flat(&mut seen, &["wide-large", "failed-large"]).await;
    shot.facade(&mut seen, "wide-large").await;
    for tools in [
        &["small", "wide"][..],
        &["wide-large", "small"],
        &["pairs-large"],
        &["escapes-large"],
        &["image-large", "small"],
        &["typed-large"],
        &["failed-large", "middle"],
        &["twin", "twin", "small"],
        &["twin", "middle", "middle"],
    ] {
        shot.batch(&mut seen, tools).await;
    }
    shot.continuation(&mut seen).await;
    let short = format!("{}, keep_for_ms: 1}}", budget.strip_suffix('}').unwrap());
    Shot::at(upstream, "short", &short, steps).await.expiry(&mut seen).await;
    seen
}

#[tokio::test]
async fn each_fault_shows_where_its_surface_is_on() {
    let upstream = upstream();
    let right = fire(&upstream, &Steps::RIGHT).await;
    assert_eq!(right, fire(&upstream, &Steps::RIGHT).await, "a right gateway does the same twice");
    let mut table = String::new();
    for fault in faults::all().iter().copied().flatten() {
        // The one that is named shows with a mutator that is not on here.
        let shows = fault.name != "text-made-of-what-was-dropped";
        if !["mutators", "truncation"].contains(&fault.surface) || !shows {
            continue;
        }
        let mut steps = Steps::RIGHT;
        (fault.apply)(&mut steps);
        let wrong = fire(&upstream, &steps).await;
        let differ: Vec<&str> = right
            .iter()
            .filter(|(probe, seen)| wrong.get(*probe) != Some(*seen))
            .map(|(probe, _)| probe.as_str())
            .collect();
        writeln!(table, "{} ({}): {differ:?}", fault.name, fault.surface).unwrap();
        assert!(!differ.is_empty(), "{} does not show", fault.name);
        let strays = if fault.surface == "mutators" { "budget" } else { "flat" };
        assert!(!differ.iter().any(|probe| probe.contains(strays)), "{}: {differ:?}", fault.name);
    }
    println!("{table}");
}
