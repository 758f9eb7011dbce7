//! Every fault of the links shows where links are handed out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use birdstrike_gateway::{Steps, faults};
use birdstrike_wire::json;

use super::faults::{without_ids, without_times};
use super::links::{IDENTITIES, two, upstreams, uris};
use super::support::*;

type Seen = BTreeMap<String, String>;

async fn fire(upstreams: &[Upstream; 2], steps: &Steps) -> Seen {
    let mut seen = Seen::new();
    let open = two(upstreams, "task_key: k", steps).await;
    let client = Client::new(&open, C).with_tasks();
    let handle = client.call("one.long", "{}").await;
    let id = json::get_string(handle.result(), "taskId").unwrap();
    let member = format!("\"taskId\":{}", json::quote(&id));
    let got = client.ask("7", "tasks/get", Some(&id), &member).await;
    seen.insert("task".into(), got.body);
    for down in [A, C] {
        let client = Client::new(&open, down);
        let mut see = |what: &str, got: &Got| {
            let text = without_times(&without_ids(&got.body, "call_id"));
            seen.insert(format!("{down} {what}"), text);
        };
        for tool in ["one.linked", "two.failed", "two.kinds"] {
            let got = client.call(tool, "{}").await;
            see(tool, &got);
            for uri in uris(&got) {
                see(&format!("{tool} read"), &client.read(&uri).await);
            }
            let batch = format!(r#"{{"calls":[{{"tool":"{tool}"}}]}}"#);
            see(&format!("batch {tool}"), &client.call("gateway_call", &batch).await);
            let facade = client.invoke(&format!("{{\"tool\":\"{tool}\"}}")).await;
            see(&format!("facade {tool}"), &facade);
        }
        see("prompt", &client.prompt("one.p").await);
        for method in ["resources/list", "resources/templates/list", "prompts/list"] {
            see(method, &client.ask("7", method, None, "").await);
        }
        for uri in ["birdstrike://two/canary://e", "birdstrike://two/no", "canary://e"] {
            see(uri, &client.read(uri).await);
        }
    }
    let guarded = two(upstreams, IDENTITIES, steps).await;
    let [alice, bob] =
        ["token-of-alice", "token-of-bob"].map(|token| Client::new(&guarded, C).with_token(token));
    let handed = uris(&alice.call("one.other", "{}").await);
    for (who, client) in [("alice", alice), ("bob", bob)] {
        for uri in handed.iter().map(String::as_str).chain(["birdstrike://one/t:secret"]) {
            seen.insert(format!("{who} {uri}"), client.read(uri).await.body);
        }
    }
    seen
}

#[tokio::test]
async fn each_fault_shows_where_links_are_handed_out() {
    let upstreams = upstreams();
    let right = fire(&upstreams, &Steps::RIGHT).await;
    assert_eq!(right, fire(&upstreams, &Steps::RIGHT).await, "a right gateway does the same twice");
    let mut table = String::new();
    let of_links = |fault: &&faults::Fault| fault.surface == "resource-links";
    for fault in faults::all().iter().copied().flatten().filter(of_links) {
        let mut steps = Steps::RIGHT;
        (fault.apply)(&mut steps);
        let wrong = fire(&upstreams, &steps).await;
        let differ: Vec<&str> = right
            .iter()
            .filter(|(probe, seen)| wrong.get(*probe) != Some(*seen))
            .map(|(probe, _)| probe.as_str())
            .collect();
        writeln!(table, "{}: {differ:?}", fault.name).unwrap();
        assert!(!differ.is_empty(), "{} does not show", fault.name);
        let on_facade = differ.iter().any(|probe| probe.contains("facade"));
        assert_eq!(on_facade, fault.name.starts_with("facade"), "{}: {differ:?}", fault.name);
    }
    println!("{table}");
}
