//! An MCP client that was written by others on one side, the canary on the other: the one refuses
//! what is no MCP, the other notes every rule that its client breaks.

use std::collections::BTreeSet;

use birdstrike_canary::{Canary, Config, Encoding, PromptMessage, PromptSpec, ResourceSpec};
use birdstrike_gateway::Steps;
use birdstrike_wire::Revision;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientConfig, GetPromptRequestParams, ProtocolVersion,
    ReadResourceRequestParams,
};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt, ServiceError};
use serde_json::{Value, json};

use super::support::{A, B, C, DEADLINE, Running, gateway};

type Client = RunningService<RoleClient, ClientConfig>;

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, work).await.unwrap()
}

async fn connect(running: &Running, revision: Revision) -> Client {
    let (version, mode) = match revision {
        A => (ProtocolVersion::V_2025_06_18, ClientLifecycleMode::Initialize),
        B => (ProtocolVersion::V_2025_11_25, ClientLifecycleMode::Initialize),
        _ => {
            let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
            (ProtocolVersion::V_2026_07_28, ClientLifecycleMode::Discover { preferred_versions })
        }
    };
    let mut config = ClientConfig::default().with_protocol_version(version);
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    config.capabilities = serde_json::from_value(capabilities).unwrap();
    let mut transport = StreamableHttpClientTransportConfig::default();
    transport.uri = running.gateway.url().into();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let transport = StreamableHttpClientTransport::with_client(http, transport);
    in_time(Box::pin(config.serve_with_lifecycle(transport, mode))).await.unwrap()
}

fn params(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let result = in_time(client.call_tool(params(tool, arguments))).await.unwrap();
    serde_json::to_value(result).unwrap()
}

/// Does with the gateway what a client does.
async fn use_it(client: &Client) {
    let tools = in_time(client.list_all_tools()).await.unwrap();
    let names: BTreeSet<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert!(names.contains("echo") && names.contains("gateway_call"), "{names:?}");
    let echo = call(client, "echo", json!({"nonce": "n", "region": "Zürich", "a": [1]})).await;
    assert_eq!(echo["structuredContent"], json!({"nonce": "n", "region": "Zürich", "a": [1]}));
    let failed = call(client, "is_error", json!({"text": "no", "data": {"code": 7}})).await;
    assert_eq!(
        (&failed["isError"], &failed["structuredContent"]),
        (&json!(true), &json!({"code": 7}))
    );
    let large = call(client, "oversized", json!({"bytes": 300_000, "framing": "sse"})).await;
    assert!(large["content"][0]["text"].as_str().unwrap().ends_with("<tail>"));
    let asked = json!({"code": 4007, "message": "m", "data": {"d": 1}});
    match in_time(client.call_tool(params("rpc_error", asked))).await {
        Err(ServiceError::McpError(error)) => {
            let told = (error.code.0, &*error.message, error.data);
            assert_eq!(told, (4007, "m", Some(json!({"d": 1}))));
        }
        other => panic!("{other:?}"),
    }
    let calls = json!({"calls": [{"tool": "echo", "arguments": {"nonce": "b", "region": "Bern"}}, {"tool": "is_error"}]});
    let batch = call(client, "gateway_call", calls).await;
    assert_eq!(batch["structuredContent"]["succeeded"], 1);
    assert_eq!(batch["structuredContent"]["results"][1]["error_type"], "tool_error");
}

#[tokio::test]
async fn each_pair_of_revisions_works_and_breaks_no_rule() {
    for up in [A, B, C] {
        for (encoding, sessions) in [(Encoding::Json, false), (Encoding::Sse, true)] {
            let mut config = Config::default();
            let upstream = &mut config.upstreams[0];
            (upstream.revisions, upstream.encoding, upstream.sessions) =
                (vec![up], encoding, sessions);
            let canary = Canary::start(config).await.unwrap();
            let config = format!("upstreams: {{main: {{url: '{}'}}}}", canary.url("main"));
            for down in [A, B, C] {
                let running = gateway(&config, &Steps::RIGHT).await;
                let client = connect(&running, down).await;
                use_it(&client).await;
                if (up, down) == (C, C) {
                    let asked = params("task_handle", json!({}));
                    let task = in_time(client.call_tool_once(asked)).await.unwrap();
                    assert!(matches!(task, CallToolResponse::Task(_)), "{task:?}");
                }
                in_time(client.cancel()).await.unwrap();
            }
            let others = canary.journal().others();
            let calls = ["n", "b"].into_iter().flat_map(|nonce| canary.journal().take(nonce));
            for exchange in others.into_iter().chain(calls) {
                let probe = up != C && exchange.method == "server/discover";
                assert!(
                    probe || exchange.notes.is_empty(),
                    "{up}: {} {:?}",
                    exchange.method,
                    exchange.notes
                );
            }
            canary.stop().await;
        }
    }
}

/// A link that a tool hands out, a listed resource and a prompt, as they are used by a client that
/// knows no gateway.
#[tokio::test]
async fn resources_and_prompts_of_two_upstreams_are_read() {
    for up in [A, B, C] {
        let mut config = Config::default();
        config.upstreams[0].revisions = vec![up];
        config.upstreams[0].resources = vec![ResourceSpec::text("ui://canary/p", "a page")];
        config.upstreams[0].prompts = vec![PromptSpec::new(
            "linked",
            vec![PromptMessage::link("ui://canary/p?nonce=l", "l"), PromptMessage::text("t")],
        )];
        let canary = Canary::start(config).await.unwrap();
        let url = canary.url("main");
        let config = format!("upstreams: {{a: {{url: '{url}'}}, b: {{url: '{url}'}}}}");
        for down in [A, B, C] {
            let running = gateway(&config, &Steps::RIGHT).await;
            let client = connect(&running, down).await;
            let listed = in_time(client.list_all_resources()).await.unwrap();
            let uris: Vec<_> = listed.iter().map(|resource| resource.uri.as_str()).collect();
            let own = ["a", "b"].map(|name| format!("ui://birdstrike.{name}/ui://canary/p"));
            assert_eq!(uris, own);
            assert!(in_time(client.list_all_resource_templates()).await.unwrap().is_empty());
            let prompts = in_time(client.list_all_prompts()).await.unwrap();
            assert_eq!(prompts[1].name, "b.linked");
            let prompt = in_time(client.get_prompt(GetPromptRequestParams::new("b.linked"))).await;
            let prompt = serde_json::to_value(prompt.unwrap()).unwrap();
            let link = prompt["messages"][0]["content"]["uri"].as_str().unwrap().to_owned();
            assert_eq!(link, format!("{}?nonce=l", own[1]));
            let read = client.read_resource(ReadResourceRequestParams::new(link.clone()));
            let read = serde_json::to_value(in_time(read).await.unwrap()).unwrap();
            assert_eq!(read["contents"][0]["text"], "a page");
            assert_eq!(read["contents"][0]["uri"], link);
            let lost = ReadResourceRequestParams::new("birdstrike://a/no:where");
            assert!(in_time(client.read_resource(lost)).await.is_err());
            in_time(client.cancel()).await.unwrap();
        }
        let reads = canary.journal().take("l");
        assert_eq!(reads.len(), 3);
        for exchange in canary.journal().others().into_iter().chain(reads) {
            let probe = up != C && exchange.method == "server/discover";
            assert!(
                probe || exchange.notes.is_empty(),
                "{up}: {} {:?}",
                exchange.method,
                exchange.notes
            );
        }
        canary.stop().await;
    }
}
