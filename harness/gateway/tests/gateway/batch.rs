//! The route `batch`.

use birdstrike_wire::json;

use super::support::*;

fn calls(tools: &[&str]) -> String {
    let calls: Vec<String> = tools.iter().map(|tool| format!("{{\"tool\":\"{tool}\"}}")).collect();
    format!("{{\"calls\":[{}]}}", calls.join(","))
}

fn entries(got: &Got) -> Vec<&str> {
    let packed = json::get(got.result(), "structuredContent").unwrap();
    json::items(json::get(packed, "results").unwrap()).unwrap()
}

#[tokio::test]
async fn every_call_has_an_entry_in_order_whatever_became_of_it() {
    for client_revision in [A, B, C] {
        let upstream = Upstream::start(C, Framing::Chunked);
        let running = before(&upstream).await;
        let good = r#"{ "resultType":"complete","content":[],"structuredContent":[1.0] }"#;
        let failed =
            r#"{"resultType":"complete","content":[{"type":"text","text":"no"}],"isError":true}"#;
        upstream.result("good", good).result("failed", failed);
        upstream.tool("broken", Say::Message(b"{\"jsonrpc\":".to_vec()));
        upstream.tool("error", Say::Error(r#"{"code":-7,"message":"m","data":[ ]}"#.into()));
        upstream.result("task", r#"{"resultType":"task","taskId":"t"}"#);
        let tools = ["good", "failed", "broken", "error", "task", "good"];
        let got = Client::new(&running, client_revision).call("gateway_call", &calls(&tools)).await;
        let entries = entries(&got);
        for (index, (entry, says)) in entries.iter().zip([
            format!(r#""success":true,"result":{good},"#),
            format!(r#""success":false,"error":"no","error_type":"tool_error","upstream_result":{failed},"#),
            r#""error_type":"bad_answer","#.into(),
            r#""error":"m","error_type":"rpc_error","upstream_error":{"code":-7,"message":"m","data":[ ]},"#.into(),
            r#""error_type":"task_not_declared","#.into(),
            format!(r#""success":true,"result":{good},"#),
        ]).enumerate() {
            assert!(entry.starts_with(&format!("{{\"index\":{index},\"call_id\":")), "{entry}");
            assert!(entry.contains(&says), "{entry} lacks {says}");
        }
        assert_eq!(entries.len(), 6);
        assert!(got.result().contains(r#""text":"6 calls, 4 failed""#));
        assert!(got.result().contains(r#""total":6,"succeeded":2,"failed":4"#));
        assert_eq!(
            got.result().contains(r#""resultType":"complete","content":[{"type":"text","text":"6"#),
            client_revision == C
        );
        let ids: std::collections::HashSet<_> =
            entries.iter().map(|entry| json::get(entry, "call_id").unwrap()).collect();
        assert_eq!(ids.len(), 6);
    }
}

#[tokio::test]
async fn calls_run_together_up_to_the_limit_and_keep_their_places() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = before(&upstream).await;
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let slow = Say::Result(r#"{"resultType":"complete","content":[],"who":"slow"}"#.into());
    upstream.tool("slow", Say::Gated(gate.clone(), Box::new(slow)));
    upstream.result("fast", r#"{"resultType":"complete","content":[],"who":"fast"}"#);
    let client = Client::new(&running, C);
    let arguments = calls(&["slow", "fast"]);
    let batch = tokio::spawn(async move { client.call("gateway_call", &arguments).await });
    until("the fast call ends", || running.log.events("call").len() == 1).await;
    gate.add_permits(1);
    let got = batch.await.unwrap();
    let entries = entries(&got);
    assert!(entries[0].contains("slow") && entries[1].contains("fast"), "{got:?}");
}

#[tokio::test]
async fn one_at_a_time_is_one_at_a_time() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = before(&upstream).await;
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let done = Say::Result(r#"{"resultType":"complete","content":[]}"#.into());
    upstream.tool("slow", Say::Gated(gate.clone(), Box::new(done)));
    let client = Client::new(&running, C);
    let batch = tokio::spawn(async move {
        let arguments = r#"{"calls":[{"tool":"slow"},{"tool":"slow"}],"max_concurrency":1}"#;
        client.call("gateway_call", arguments).await
    });
    until("the first call is there", || upstream.received("tools/call").len() == 1).await;
    gate.add_permits(1);
    until("the second call is there", || upstream.received("tools/call").len() == 2).await;
    assert_eq!(running.log.events("call").len(), 1);
    gate.add_permits(1);
    assert_eq!(entries(&batch.await.unwrap()).len(), 2);
}

#[tokio::test]
async fn bad_arguments_are_the_tools_own_error() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = before(&upstream).await;
    for (arguments, says) in [
        ("{}", "`calls` is missing"),
        (r#"{"calls":[]}"#, "is empty"),
        (r#"{"calls":[7]}"#, "has no `tool`"),
        (&calls(&["x"; 101]), "101 calls are too many: at most 100"),
    ] {
        let got = Client::new(&running, C).call("gateway_call", arguments).await;
        assert!(got.result().contains(r#""isError":true"#), "{got:?}");
        assert!(got.result().contains(says), "{got:?}");
        assert!(got.result().contains(r#""resultType":"complete""#));
    }
    assert!(upstream.received("tools/call").is_empty());
}

#[tokio::test]
async fn an_unknown_tool_is_an_entry_too() {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.result("x", r#"{"resultType":"complete","content":[]}"#);
    let config = format!("upstreams: {{a: {{url: '{0}'}}, b: {{url: '{0}'}}}}", upstream.url);
    let running = gateway(&config, &birdstrike_gateway::Steps::RIGHT).await;
    let got = Client::new(&running, C).call("gateway_call", &calls(&["c.x", "a.x", "x"])).await;
    let entries = entries(&got);
    assert!(entries[0].contains(r#""error_type":"unknown_tool""#), "{got:?}");
    assert!(entries[1].contains(r#""success":true"#), "{got:?}");
    assert!(entries[2].contains(r#""error":"unknown tool: x""#), "{got:?}");
}
