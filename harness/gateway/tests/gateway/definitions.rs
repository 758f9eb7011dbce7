//! Digests, pins, and results held against the schema of their tool.

use birdstrike_gateway::Steps;
use birdstrike_wire::json;
use sha2::{Digest, Sha256};

use super::support::*;

const TOOL: &str = r#"{"title":"T","name":"one","inputSchema":{ "type":"object" },"annotations":{"readOnlyHint":true},"icons":[{"src":"data:,"}],"execution":{"taskSupport":"optional"},"outputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer","maximum":1.50},"d":{"default":7}}},"_meta":{"a/b":1E+02}}"#;
const CANONICAL: &str = r#"{"inputSchema":{"type":"object"},"name":"one","outputSchema":{"properties":{"d":{"default":7},"n":{"maximum":1.5,"type":"integer"}},"required":["n"],"type":"object"}}"#;

fn digest() -> String {
    Sha256::digest(CANONICAL).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn upstream(tool: &str) -> Upstream {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.page("", &format!("{{\"resultType\":\"complete\",\"tools\":[{tool}]}}"));
    for (name, part) in [
        ("good", r#""structuredContent":{"n":1.0}"#),
        ("bad", r#""structuredContent":{"n":"secret"}"#),
        ("none", r#""x":1"#),
        ("failed", r#""isError":true"#),
    ] {
        let text = r#""resultType":"complete","content":[{"type":"text","text":"{\"n\":1}"}]"#;
        upstream.result(name, &format!("{{{text},{part}}}"));
    }
    upstream
}

async fn with(upstream: &Upstream, more: &str) -> Running {
    gateway(&format!("upstreams: {{main: {{url: '{}'}}}}\n{more}", upstream.url), &Steps::RIGHT)
        .await
}

async fn get(running: &Running, path: &str) -> String {
    let url = running.gateway.url().replace("/mcp", path);
    let response = reqwest::Client::builder().no_proxy().build().unwrap().get(url).send();
    tokio::time::timeout(DEADLINE, response).await.unwrap().unwrap().text().await.unwrap()
}

#[tokio::test]
async fn a_definition_is_listed_whole_with_its_digest() {
    let upstream = upstream(TOOL);
    let running = with(&upstream, "").await;
    let shown = TOOL.replace(
        "\"_meta\":{",
        &format!("\"_meta\":{{\"birdstrike.dev/digest\":\"{}\",", digest()),
    );
    for revision in [A, B, C] {
        let listed = Client::new(&running, revision).list().await;
        assert!(listed.body.contains(&shown), "{listed:?}");
    }
    let table = get(&running, "/tools").await;
    let row = json::items(json::get(&table, "tools").unwrap()).unwrap()[0];
    let wanted = format!("{{\"upstream\":\"main\",\"digest\":\"{}\",{}", digest(), &TOOL[1..]);
    assert_eq!(row, wanted);
}

#[tokio::test]
async fn a_pinned_tool_that_changed_is_blocked_or_told() {
    for (mode, listed, calls) in [("block", false, 0), ("warn", true, 1), ("audit", true, 1)] {
        let upstream = upstream(TOOL);
        upstream.tool("one", Say::Echo);
        let pins = format!("pins: {{mode: {mode}, digests: {{one: {}}}}}", digest());
        let running = with(&upstream, &pins).await;
        let client = Client::new(&running, C);
        assert!(client.list().await.body.contains("\"one\""));
        client.call("one", "{}").await.result();
        assert!(running.log.events("digest_drift").is_empty());
        let other = TOOL.replace("1.50", "1.25");
        upstream.page("", &format!("{{\"resultType\":\"complete\",\"tools\":[{other}]}}"));
        let got = client.call("one", "{}").await;
        assert_eq!(upstream.received("tools/call").len(), 1 + calls, "{mode}");
        if mode == "block" {
            assert_eq!((got.code(), got.cause().as_str()), (-31006, "digest_drift"));
            assert!(got.message().contains(&digest()));
            let batch = client.call("gateway_call", r#"{"calls":[{"tool":"one"}]}"#).await;
            assert!(batch.body.contains(r#""error_type":"digest_drift""#), "{batch:?}");
            let row = get(&running, "/tools").await;
            assert!(
                row.contains("\"withheld\":\"digest_drift\"") && !row.contains("1.25"),
                "{row}"
            );
        }
        let list = client.list().await.body;
        assert_eq!(list.contains("\"title\":\"T\""), listed, "{list}");
        let warned = format!("\"birdstrike.dev/pinned-digest\":\"{}\"", digest());
        assert_eq!(list.contains(&warned), mode == "warn", "{list}");
        let told = running.log.events("digest_drift");
        assert!(told[0].contains(&format!("\"pin_mode\":\"{mode}\",\"pinned\":\"{}\"", digest())));
    }
}

#[tokio::test]
async fn a_pinned_tool_that_is_not_there_is_not_called() {
    let upstream = upstream(&TOOL.replace("\"one\"", "\"two\""));
    upstream.tool("one", Say::Echo);
    let pins = format!("pins: {{mode: block, digests: {{one: {}}}}}", digest());
    let running = with(&upstream, &pins).await;
    let got = Client::new(&running, C).call("one", "{}").await;
    assert!(got.message().ends_with("the digest none"), "{got:?}");
}

#[tokio::test]
async fn a_result_is_held_against_its_schema_as_configured() {
    let names = ["good", "bad", "none", "failed"];
    let tools: Vec<String> =
        names.iter().map(|name| TOOL.replace("\"one\"", &format!("\"{name}\""))).collect();
    let upstream = upstream(&tools.join(","));
    for (mode, blocked, told) in [("off", 0, 0), ("warn", 0, 2), ("block", 2, 2)] {
        let running = with(&upstream, &format!("output_schema: {mode}")).await;
        let client = Client::new(&running, C);
        let (mut refused, before) = (0, upstream.received("tools/call").len());
        for name in names {
            let got = client.call(name, "{}").await;
            if json::get(&got.body, "error").is_some() {
                assert_eq!((got.code(), got.cause().as_str()), (-31007, "output_schema"));
                assert!(!got.body.contains("secret"));
                refused += 1;
            } else if name == "good" {
                assert!(got.body.contains(r#""structuredContent":{"n":1.0}"#), "{got:?}");
            }
        }
        assert_eq!(upstream.received("tools/call").len(), before + 4);
        let lines = running.log.events("output_schema");
        assert_eq!((refused, lines.len()), (blocked, told), "{mode}: {lines:?}");
        assert!(lines.iter().all(|line| !line.contains("secret")));
    }
}
