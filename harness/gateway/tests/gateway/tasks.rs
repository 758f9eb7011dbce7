//! Tasks behind the gateway: made by the canary, followed through the gateway.

use birdstrike_canary::{Canary, Config, Plan, TaskEnd, TaskForm, TaskPlan, UpstreamSpec};
use birdstrike_gateway::Steps;
use birdstrike_wire::{Revision, json};

use super::support::*;

const RESULT: &str = r#"{"content":[{"type":"text","text":"a long text"}],"structuredContent":{"taskId":"task-n"},"_meta":{"a/b":1.0}}"#;

/// A canary with two upstreams of one revision.
pub(crate) async fn canary(revision: Revision) -> Canary {
    let upstreams = ["main", "second"].map(|name| UpstreamSpec::new(name, &[revision])).to_vec();
    Canary::start(Config { upstreams, ..Config::default() }).await.unwrap()
}

pub(crate) async fn behind(canary: &Canary, names: &[&str], more: &str, steps: &Steps) -> Running {
    let upstreams: Vec<String> =
        names.iter().map(|name| format!("{name}: {{url: '{}'}}", canary.url(name))).collect();
    let upstreams = upstreams.join(", ");
    gateway(&format!("upstreams: {{{upstreams}}}\ntask_key: k\n{more}\n"), steps).await
}

/// Calls with a nonce, and asks for a task in the way of the client's revision.
pub(crate) async fn start(client: &Client, tool: &str, nonce: &str) -> Got {
    let task = if client.revision == B { ",\"task\":{\"ttl\":1.0}" } else { "" };
    let tool_text = json::quote(tool);
    let members = format!("\"name\":{tool_text},\"arguments\":{{\"nonce\":\"{nonce}\"}}{task}");
    client.ask("7", "tools/call", Some(tool), &members).await
}

pub(crate) async fn follow(client: &Client, method: &str, id: &str) -> Got {
    client.ask("7", method, Some(id), &format!("\"taskId\":{}", json::quote(id))).await
}

pub(crate) fn id_of(got: &Got) -> String {
    let handle = got.result();
    json::get_string(json::get(handle, "task").unwrap_or(handle), "taskId").unwrap()
}

fn keyed(running: &Running, revision: Revision, key: &str) -> Client {
    let mut client = Client::new(running, revision).with_tasks();
    client.headers.push(("authorization".into(), format!("Bearer {key}")));
    client
}

#[tokio::test]
async fn a_flat_handle_keeps_its_members_and_is_followed_to_its_end() {
    let canary = canary(C).await;
    let running = behind(&canary, &["main"], "", &Steps::RIGHT).await;
    let client = keyed(&running, C, "alice");
    let plan = TaskPlan {
        members: r#""statusMessage":"task-n","x":1E+02"#.into(),
        meta: Some(
            r#"{ "io.modelcontextprotocol/related-task":{"taskId":"task-n"},"a/b":[ ] }"#.into(),
        ),
        working: 1,
        ..TaskPlan::new(TaskEnd::Result(RESULT.into()))
    };
    canary.script().plan("n", Plan::new(plan));
    let handle = start(&client, "echo", "n").await;
    let id = id_of(&handle);
    assert_ne!(id, "task-n");
    let kept = r#""ttlMs":60000,"pollIntervalMs":10,"statusMessage":"task-n","x":1E+02,"_meta":{"#;
    assert!(handle.body.contains(kept), "{handle:?}");
    let related =
        format!(r#""io.modelcontextprotocol/related-task":{{"taskId":"{id}"}},"a/b":[ ] }}"#);
    assert!(handle.body.contains(&related), "{handle:?}");
    for (wanted, interval) in [("working", "20"), ("completed", "30")] {
        let got = follow(&client, "tasks/get", &id).await;
        assert_eq!(json::get_string(got.result(), "status").as_deref(), Some(wanted), "{got:?}");
        assert_eq!(json::get(got.result(), "pollIntervalMs"), Some(interval));
        assert_eq!(id_of(&got), id);
    }
    let done = follow(&client, "tasks/get", &id).await;
    assert_eq!(json::get(done.result(), "result"), Some(RESULT));
    let ack = follow(&client, "tasks/cancel", &id).await;
    assert!(ack.result().contains(r#""resultType":"complete""#));
    let gone = follow(&client, "tasks/result", &id).await;
    assert_eq!((gone.status, gone.code()), (404, -32601));
    let taken = canary.journal().take("n");
    assert_eq!(taken.len(), 6, "one request for each of the client's");
    assert!(taken.iter().all(|exchange| exchange.notes.is_empty()), "{taken:?}");
    let lines = running.log.events("call");
    assert!(
        lines[1].contains(r#""route":"task","method":"tasks/get","tool":"echo","upstream":"main""#),
        "{lines:?}"
    );

    let foreign = follow(&keyed(&running, C, "bob"), "tasks/get", &id).await;
    let unknown = follow(&client, "tasks/get", "task-n").await;
    assert_eq!((foreign.status, foreign.code()), (200, -32602));
    assert_eq!(foreign, unknown);
    assert_eq!(follow(&client, "tasks/get", &format!("{id}A")).await, unknown);
    let undeclared = follow(&Client::new(&running, C), "tasks/get", &id).await;
    assert_eq!((undeclared.status, undeclared.code()), (400, -32021));
    assert!(undeclared.body.contains(r#""requiredCapabilities":{"extensions""#));
    assert_eq!(canary.journal().count("n"), 0, "none of these went up");
    canary.stop().await;
}

#[tokio::test]
async fn a_nested_handle_goes_to_who_asked_for_a_task() {
    let canary = canary(B).await;
    let running = behind(&canary, &["main"], "", &Steps::RIGHT).await;
    let client = Client::new(&running, B);
    let opened = client.ask("1", "initialize", None, r#""protocolVersion":"2025-11-25""#).await;
    assert!(opened.body.contains(r#""tasks":{"cancel":{},"requests""#), "{opened:?}");
    let plan = TaskPlan {
        meta: Some(r#"{"io.modelcontextprotocol/model-immediate-response":"m"}"#.into()),
        working: 9,
        ..TaskPlan::new(TaskEnd::Result(RESULT.into()))
    };
    canary.script().plan("n", Plan::new(plan));
    let plain = client.call("echo", r#"{"nonce":"n"}"#).await;
    assert_eq!(plain.result(), RESULT, "nobody asked for a task");
    let handle = start(&client, "echo", "n").await;
    let id = id_of(&handle);
    assert!(
        handle.body.contains(r#""_meta":{"io.modelcontextprotocol/model-immediate-response":"m"}"#)
    );
    let got = follow(&client, "tasks/get", &id).await;
    assert_eq!(
        (id_of(&got), json::get_string(got.result(), "status")),
        (id.clone(), Some("working".into()))
    );
    let result = follow(&client, "tasks/result", &id).await;
    let related = format!(r#""io.modelcontextprotocol/related-task":{{"taskId":"{id}"}}"#);
    assert_eq!(result.result(), RESULT.replace("{\"a/b\"", &format!("{{{related},\"a/b\"")));
    assert_eq!(follow(&client, "tasks/cancel", &id).await.code(), -32602);
    assert_eq!(client.ask("1", "tasks/list", None, "").await.code(), -32601);
    let old = follow(&Client::new(&running, A), "tasks/get", &id).await;
    assert_eq!(old.code(), -32601);
    let taken = canary.journal().take("n");
    assert!(
        taken[1].request.whole().is_some_and(|text| {
            String::from_utf8_lossy(text).contains(r#""task":{"ttl":1.0}"#)
        })
    );
    canary.stop().await;
}

#[tokio::test]
async fn what_the_client_can_do_is_told_as_it_says_and_never_remembered() {
    let canary = canary(C).await;
    let running = behind(&canary, &["main"], "", &Steps::RIGHT).await;
    canary.script().plan("n", Plan::new(TaskPlan::new(TaskEnd::Result(RESULT.into()))));
    let declared = Client::new(&running, C).with_tasks();
    id_of(&start(&declared, "echo", "n").await);
    let plain = start(&Client::new(&running, C), "echo", "n").await;
    assert_eq!(
        (plain.status, plain.message().as_str()),
        (400, "Missing required client capability")
    );
    let discovered = declared.ask("1", "server/discover", None, "").await;
    assert!(discovered.body.contains(r#""extensions":{"io.modelcontextprotocol/tasks":{}}"#));
    // An upstream without tasks is not asked for one.
    let old = Upstream::start(B, Framing::Length);
    old.tool("x", Say::Echo);
    let running = before(&old).await;
    let client = Client::new(&running, B);
    let got = start(&client, "x", "n").await;
    assert!(!got.body.contains("ttl"), "{got:?}");
    let opened = client.ask("1", "initialize", None, r#""protocolVersion":"2025-11-25""#).await;
    assert!(!opened.body.contains("\"tasks\""));
    canary.stop().await;
}

#[tokio::test]
async fn each_task_is_asked_about_where_it_is() {
    let canary = canary(C).await;
    let running = behind(&canary, &["main", "second"], "", &Steps::RIGHT).await;
    let client = Client::new(&running, C).with_tasks();
    for (upstream, nonce) in [("main", "m"), ("second", "s")] {
        let task =
            TaskPlan { form: TaskForm::Flat, ..TaskPlan::new(TaskEnd::Result(RESULT.into())) };
        canary.script().plan(nonce, Plan::new(task));
        let id = id_of(&start(&client, &format!("{upstream}.echo"), nonce).await);
        assert_eq!(id_of(&follow(&client, "tasks/get", &id).await), id);
        let taken = canary.journal().take(nonce);
        assert_eq!(taken.len(), 2);
        assert!(taken.iter().all(|exchange| &*exchange.upstream == upstream));
    }
    canary.stop().await;
}

#[tokio::test]
async fn the_result_of_a_task_is_treated_like_that_of_a_call() {
    let canary = canary(C).await;
    let shaped = "mutators: [{truncate_text: {max_chars: 4}}]\noutput_schema: block";
    let running = behind(&canary, &["main"], shaped, &Steps::RIGHT).await;
    let client = Client::new(&running, C).with_tasks();
    canary.script().plan("n", Plan::new(TaskPlan::new(TaskEnd::Result(RESULT.into()))));
    let id = id_of(&start(&client, "echo", "n").await);
    let got = follow(&client, "tasks/get", &id).await;
    assert!(got.body.contains(r#""text":"a lo""#) && !got.body.contains("long"), "{got:?}");
    let id = id_of(&start(&client, "typed", "n").await);
    let got = follow(&client, "tasks/get", &id).await;
    assert_eq!((got.code(), got.cause().as_str()), (-31007, "output_schema"));
    canary.stop().await;
}
