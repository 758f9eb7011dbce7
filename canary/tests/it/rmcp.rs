//! An MCP client written by others, in both lifecycles and over both transports.

use std::collections::BTreeSet;

use birdstrike_canary::{
    Canary, Cursors, Encoding, PromptMessage, PromptSpec, ResourceSpec, serve_stdio,
};
use birdstrike_wire::Revision;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientConfig, GetPromptRequestParams, ProtocolVersion,
    ReadResourceRequestParams,
};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt, ErrorData, ServiceError};
use serde_json::{Value, json};

use crate::support::{self, canary, in_time};

type Client = RunningService<RoleClient, ClientConfig>;

const OLD: [Revision; 2] = [Revision::V2025_06_18, Revision::V2025_11_25];
const NEW: Revision = Revision::V2026_07_28;

fn discover() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

/// A client that declares tasks, and in a handshake asks for this revision.
fn config(revision: Revision) -> ClientConfig {
    let version = match revision {
        Revision::V2025_06_18 => ProtocolVersion::V_2025_06_18,
        Revision::V2025_11_25 => ProtocolVersion::V_2025_11_25,
        Revision::V2026_07_28 => ProtocolVersion::V_2026_07_28,
    };
    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut config = ClientConfig::default().with_protocol_version(version);
    config.capabilities = serde_json::from_value(capabilities).unwrap();
    config
}

async fn connect(canary: &Canary, revision: Revision, mode: ClientLifecycleMode) -> Client {
    let mut transport = StreamableHttpClientTransportConfig::default();
    transport.uri = canary.url("main").into();
    let transport = StreamableHttpClientTransport::with_client(support::client(), transport);
    // Boxed, as starting a client takes many states.
    let client = Box::pin(config(revision).serve_with_lifecycle(transport, mode));
    in_time(client).await.unwrap()
}

fn params(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let result = in_time(client.call_tool(params(tool, arguments))).await.unwrap();
    serde_json::to_value(result).unwrap()
}

/// Lists everything, and calls what a client must understand.
async fn use_it(client: &Client) {
    let tools = in_time(client.list_all_tools()).await.unwrap();
    let listed: BTreeSet<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(listed, support::names().into_iter().collect());

    let echo = call(client, "echo", json!({"nonce": "n", "a": [1, null]})).await;
    assert_eq!(echo["structuredContent"], json!({"nonce": "n", "a": [1, null]}));
    let failed = call(client, "is_error", json!({"text": "no", "data": {"code": 7}})).await;
    assert_eq!(
        (&failed["isError"], &failed["structuredContent"]),
        (&json!(true), &json!({"code": 7}))
    );
    let links = call(client, "links", json!({"uris": ["a:b"]})).await;
    assert_eq!(links["content"][1]["uri"], "a:b");
    let media = call(client, "media", json!({})).await;
    assert_eq!(media["content"].as_array().unwrap().len(), 5);
    let meta = call(client, "meta_carrying", json!({})).await;
    assert_eq!(meta["_meta"]["example.org/trace"]["place"], "result");
    let large = call(client, "oversized", json!({"bytes": 300_000, "framing": "sse"})).await;
    assert!(large["content"][0]["text"].as_str().unwrap().ends_with("<tail>"));
    let asked = json!({"code": 4007, "message": "m", "data": {"d": 1}});
    match in_time(client.call_tool(params("rpc_error", asked))).await {
        Err(ServiceError::McpError(ErrorData { code, message, data, .. })) => {
            assert_eq!((code.0, &*message, data), (4007, "m", Some(json!({"d": 1}))));
        }
        other => panic!("{other:?}"),
    }
}

/// Every exchange that the canary saw, and that none broke a rule.
async fn stop(canary: Canary, client: Client, revision: Revision) {
    in_time(client.cancel()).await.unwrap();
    let exchanges: Vec<_> =
        canary.journal().others().into_iter().chain(canary.journal().take("n")).collect();
    assert!(exchanges.len() > 8);
    for exchange in exchanges {
        // It opens a stream with GET after a handshake, and takes 405 for an answer.
        if exchange.method != "GET" {
            assert_eq!(exchange.notes, [], "{} at {revision}", exchange.method);
        }
    }
    canary.stop().await;
}

#[tokio::test]
async fn it_discovers_lists_and_calls() {
    for encoding in [Encoding::Json, Encoding::Sse] {
        let canary = canary(|upstream| upstream.encoding = encoding).await;
        let client = connect(&canary, NEW, discover()).await;
        use_it(&client).await;
        let task = in_time(client.call_tool_once(params("task_handle", json!({})))).await.unwrap();
        assert!(matches!(task, CallToolResponse::Task(_)), "{task:?}");
        let scalar = call(&client, "structured", json!({"kind": "string"})).await;
        assert_eq!(scalar["structuredContent"], "just text");
        stop(canary, client, NEW).await;
    }
}

#[tokio::test]
async fn it_shakes_hands_lists_and_calls() {
    for revision in OLD {
        for (sessions, encoding) in [(false, Encoding::Json), (true, Encoding::Sse)] {
            let canary = canary(|upstream| {
                upstream.sessions = sessions;
                upstream.encoding = encoding;
            })
            .await;
            let client = connect(&canary, revision, ClientLifecycleMode::Initialize).await;
            use_it(&client).await;
            stop(canary, client, revision).await;
        }
    }
}

#[tokio::test]
async fn it_falls_back_to_a_handshake() {
    let canary = canary(|upstream| upstream.revisions = OLD.to_vec()).await;
    let auto = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_06_18),
    };
    let client = connect(&canary, NEW, auto).await;
    use_it(&client).await;
    let methods: Vec<_> = canary.journal().others().into_iter().map(|e| e.method).collect();
    assert_eq!(methods[..2], ["server/discover", "initialize"]);
    in_time(client.cancel()).await.unwrap();
    canary.stop().await;
}

#[tokio::test]
async fn it_speaks_over_lines_too() {
    for (revision, mode) in [
        (NEW, discover()),
        (OLD[0], ClientLifecycleMode::Initialize),
        (OLD[1], ClientLifecycleMode::Initialize),
    ] {
        let canary = canary(|_| ()).await;
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(theirs);
        let conversation = async {
            let client = config(revision);
            let client = client.serve_with_lifecycle(tokio::io::split(ours), mode);
            let client = in_time(Box::pin(client)).await.unwrap();
            use_it(&client).await;
            in_time(client.cancel()).await.unwrap();
        };
        let serving = in_time(serve_stdio(&canary, "main", reader, writer));
        let (served, ()) = tokio::join!(serving, conversation);
        served.expect("it ends with its input");
        let others = canary.journal().others();
        assert!(others.iter().all(|e| e.notes.is_empty()), "{others:?}");
        canary.stop().await;
    }
}

#[tokio::test]
async fn it_reads_resources_gets_prompts_and_follows_pages() {
    for (revision, mode) in [
        (NEW, discover()),
        (OLD[0], ClientLifecycleMode::Initialize),
        (OLD[1], ClientLifecycleMode::Initialize),
    ] {
        let canary = canary(|upstream| {
            upstream.resources = vec![ResourceSpec::text("canary://a", "whole")];
            upstream.prompts =
                vec![PromptSpec::new("p", vec![PromptMessage::link("canary://a", "a")])];
            upstream.pages = 3;
            upstream.cursors = Cursors::Empty;
        })
        .await;
        let client = connect(&canary, revision, mode).await;
        assert_eq!(in_time(client.list_all_tools()).await.unwrap().len(), 11);
        assert_eq!(in_time(client.list_all_resources()).await.unwrap().len(), 1);
        assert_eq!(in_time(client.list_all_prompts()).await.unwrap().len(), 1);
        let read = ReadResourceRequestParams::new("canary://a?nonce=n");
        let read = in_time(client.read_resource(read)).await.unwrap();
        assert_eq!(serde_json::to_value(read).unwrap()["contents"][0]["text"], "whole");
        let prompt = in_time(client.get_prompt(GetPromptRequestParams::new("p"))).await.unwrap();
        let prompt = serde_json::to_value(prompt).unwrap();
        assert_eq!(prompt["messages"][0]["content"]["uri"], "canary://a");
        assert_eq!(support::take(&canary, "n").await.notes, []);
        in_time(client.cancel()).await.unwrap();
        canary.stop().await;
    }
}
