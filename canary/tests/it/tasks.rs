//! Tasks in both forms: made, followed, ended, and found in the journal under the nonce of the call.

use birdstrike_canary::{Canary, Plan, TaskEnd, TaskForm, TaskPlan};
use birdstrike_wire::{Revision, envelope, json, meta};

use crate::families::{assert_valid, schema};
use crate::support::{Seen, ask, call, canary, post, rules, send};

const B: Revision = Revision::V2025_11_25;
const C: Revision = Revision::V2026_07_28;
const RESULT: &str = r#"{"content":[{"type":"text","text":"sum"}],"structuredContent":{"n":1.0}}"#;
const FAILED: &str = r#"{"content":[],"isError":true}"#;

/// A client that asks for tasks, or says that it can follow them.
struct Client<'a> {
    canary: &'a Canary,
    revision: Revision,
}

impl Client<'_> {
    async fn call(&self, nonce: &str, plan: TaskPlan) -> Seen {
        self.canary.script().plan(nonce, Plan::new(plan));
        let task = if self.revision == B { ",\"task\":{\"ttl\":90000}" } else { "" };
        let members = format!("\"name\":\"echo\",\"arguments\":{{\"nonce\":\"{nonce}\"}}{task}");
        self.ask("tools/call", "echo", &members).await
    }

    async fn follow(&self, method: &str, id: &str) -> Seen {
        self.ask(method, id, &format!("\"taskId\":\"{id}\"")).await
    }

    async fn ask(&self, method: &str, name: &str, members: &str) -> Seen {
        let url = self.canary.url("main");
        if self.revision == B {
            return send(ask(&url, B, method, members)).await;
        }
        let me = meta::Implementation { name: "test".into(), version: "1".into() };
        let declared = format!("{{\"extensions\":{{\"{}\":{{}}}}}}", meta::TASKS_EXTENSION);
        let meta = meta::request_meta(C, &me, &declared);
        let params = format!("{{{members},\"_meta\":{meta}}}");
        let request = post(&url, envelope::request("\"id-1\"", method, &params));
        let request = request.header("mcp-protocol-version", C.as_str());
        send(request.header("mcp-method", method).header("mcp-name", name)).await
    }
}

fn status(seen: &Seen) -> String {
    json::get_string(seen.result(), "status").unwrap()
}

#[tokio::test]
async fn the_flat_form_holds_its_result_in_the_poll() {
    let canary = canary(|_| ()).await;
    let client = Client { canary: &canary, revision: C };
    let plan = TaskPlan {
        working: 1,
        members: r#""statusMessage":"m","x":1.0"#.into(),
        meta: Some(r#"{"a/b":[ ]}"#.into()),
        asks: Some("{}".into()),
        ..TaskPlan::new(TaskEnd::Result(RESULT.into()))
    };
    let handle = client.call("n", plan).await;
    assert_valid(&schema("ext-tasks", "CreateTaskResult"), handle.result(), "handle");
    assert!(handle.text().contains(r#""taskId":"task-n","status":"working""#));
    assert!(handle.text().contains(r#""statusMessage":"m","x":1.0,"_meta":{"a/b":[ ]}"#));
    let first = client.follow("tasks/get", "task-n").await;
    let second = client.follow("tasks/get", "task-n").await;
    assert_eq!((status(&first), status(&second)), ("working".into(), "input_required".into()));
    assert_ne!(
        json::get(first.result(), "pollIntervalMs"),
        json::get(second.result(), "pollIntervalMs")
    );
    let ack = client.follow("tasks/update", "task-n").await;
    assert_eq!(ack.result(), r#"{"resultType":"complete"}"#);
    let third = client.follow("tasks/get", "task-n").await;
    for seen in [&first, &second, &third] {
        assert_valid(&schema("ext-tasks", "GetTaskResult"), seen.result(), "get");
    }
    assert_eq!(
        (status(&third), json::get(third.result(), "result")),
        ("completed".into(), Some(RESULT))
    );
    assert_eq!(client.follow("tasks/cancel", "task-n").await.result(), ack.result());
    assert_eq!(status(&client.follow("tasks/get", "task-n").await), "completed");
    assert_eq!(client.follow("tasks/result", "task-n").await.code(), -32601);
    assert_eq!(client.follow("tasks/get", "task-m").await.code(), -32602);
    let taken = canary.journal().take("n");
    let methods: Vec<&str> = taken.iter().map(|exchange| &*exchange.method).collect();
    let get = "tasks/get";
    let all = ["tools/call", get, get, "tasks/update", get, "tasks/cancel", get, "tasks/result"];
    assert_eq!(methods, all);
    assert!(taken.iter().take(7).all(|exchange| rules(exchange).is_empty()));
    canary.stop().await;
}

#[tokio::test]
async fn the_nested_form_is_asked_for_its_result() {
    let canary = canary(|_| ()).await;
    let client = Client { canary: &canary, revision: B };
    let task =
        |result: &str| TaskPlan { working: 5, ..TaskPlan::new(TaskEnd::Result(result.into())) };
    let handle = client.call("n", task(RESULT)).await;
    assert_valid(&schema("2025-11-25", "CreateTaskResult"), handle.result(), "handle");
    let got = client.follow("tasks/get", "task-n").await;
    assert_valid(&schema("2025-11-25", "GetTaskResult"), got.result(), "get");
    assert_eq!(status(&got), "working");
    let result = client.follow("tasks/result", "task-n").await;
    let related = r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"task-n"}}"#;
    assert_eq!(result.result(), RESULT.replacen('{', &format!("{{{related},"), 1));
    assert_eq!(status(&client.follow("tasks/get", "task-n").await), "completed");
    assert_eq!(client.follow("tasks/cancel", "task-n").await.code(), -32602);

    client.call("f", task(FAILED)).await;
    assert!(client.follow("tasks/result", "task-f").await.result().contains("\"isError\":true"));
    assert_eq!(status(&client.follow("tasks/get", "task-f").await), "failed");
    client.call("c", task(RESULT)).await;
    assert_eq!(status(&client.follow("tasks/cancel", "task-c").await), "cancelled");
    assert_eq!(status(&client.follow("tasks/get", "task-c").await), "cancelled");
    assert_eq!(client.follow("tasks/result", "task-c").await.code(), -32602);
    let error = r#"{"code":-7,"message":"lost"}"#;
    client.call("e", TaskPlan::new(TaskEnd::Error(error.into()))).await;
    assert_eq!(client.follow("tasks/result", "task-e").await.code(), -7);
    let listed = client.ask("tasks/list", "", "").await;
    let listed = json::items(json::get(listed.result(), "tasks").unwrap()).unwrap();
    assert_eq!(listed.len(), 4);
    assert_eq!(client.follow("tasks/update", "task-n").await.code(), -32601);
    canary.stop().await;
}

#[tokio::test]
async fn ends_of_the_flat_form() {
    let canary = canary(|_| ()).await;
    let client = Client { canary: &canary, revision: C };
    let error = r#"{"code":-7,"message":"lost"}"#;
    client.call("e", TaskPlan::new(TaskEnd::Error(error.into()))).await;
    client.call("f", TaskPlan::new(TaskEnd::Result(FAILED.into()))).await;
    client.call("c", TaskPlan::new(TaskEnd::Cancelled)).await;
    client.call("d", TaskPlan { working: 3, ..TaskPlan::new(TaskEnd::Cancelled) }).await;
    client.follow("tasks/cancel", "task-d").await;
    for (id, ends, more) in [
        ("task-e", "failed", Some(("error", error))),
        ("task-f", "completed", Some(("result", FAILED))),
        ("task-c", "cancelled", None),
        ("task-d", "cancelled", None),
    ] {
        let seen = client.follow("tasks/get", id).await;
        assert_eq!(status(&seen), ends, "{id}");
        assert_valid(&schema("ext-tasks", "GetTaskResult"), seen.result(), id);
        if let Some((member, value)) = more {
            assert_eq!(json::get(seen.result(), member), Some(value), "{id}");
        }
    }
    canary.stop().await;
}

#[tokio::test]
async fn a_client_that_asked_for_no_task_gets_one_only_as_planned() {
    let canary = canary(|_| ()).await;
    let plan = TaskPlan::new(TaskEnd::Result(RESULT.into()));
    let url = canary.url("main");
    let call = async |revision| send(call(&url, revision, "echo", r#"{"nonce":"n"}"#)).await;
    canary.script().plan("n", Plan::new(plan.clone()));
    for revision in [Revision::V2025_06_18, B] {
        assert_eq!(call(revision).await.result(), RESULT);
    }
    let refused = call(C).await;
    assert_eq!((refused.status, refused.code()), (400, -32021));
    assert!(refused.text().contains(meta::TASKS_EXTENSION));
    let polled = send(ask(&url, C, "tasks/get", "\"taskId\":\"task-n\"")).await;
    assert_eq!(polled.code(), -32021);
    for form in [TaskForm::Flat, TaskForm::Nested] {
        let uninvited = TaskPlan { uninvited: true, form, ..plan.clone() };
        canary.script().plan("n", Plan::new(uninvited));
        for revision in Revision::ALL {
            let handle = call(revision).await;
            let nested = json::get(handle.result(), "task").is_some();
            assert_eq!(nested, form == TaskForm::Nested, "{revision}");
        }
    }
    canary.script().forget("n");
    let client = Client { canary: &canary, revision: C };
    assert_eq!(client.follow("tasks/get", "task-n").await.code(), -32602);
    canary.stop().await;
}
