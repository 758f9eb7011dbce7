//! The tool list.

use birdstrike_gateway::Steps;
use birdstrike_wire::json;

use super::support::*;

const TOOL: &str =
    r#"{ "name":"one" ,"inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"x":1E+02}"#;

fn tools(got: &Got) -> Vec<&str> {
    json::items(json::get(got.result(), "tools").unwrap()).unwrap()
}

#[tokio::test]
async fn definitions_keep_their_bytes() {
    for up in [A, B, C] {
        let upstream = Upstream::start(up, Framing::Events);
        upstream.page("", &format!(r#"{{"tools":[{TOOL}],"nextCursor":"p2"}}"#));
        upstream.page("p2", r#"{"tools":[{"name":"two","inputSchema":{"type":"object"}}]}"#);
        let running = before(&upstream).await;
        for down in [A, B, C] {
            let got = Client::new(&running, down).list().await;
            let tools = tools(&got);
            assert_eq!(tools.len(), 3, "{got:?}");
            let wanted = TOOL.replace(r#","outputSchema":{"type":"array"}"#, "");
            let wanted = if down == C { TOOL } else { &wanted };
            let shown = json::remove(tools[0], "_meta").unwrap();
            assert_eq!(shown.replace(", \"x\"", ",\"x\""), wanted);
            assert!(tools[2].contains("gateway_call"));
            let hints = r#""ttlMs":0,"cacheScope":"private""#;
            assert_eq!(got.result().contains(hints), down == C);
        }
    }
}

#[tokio::test]
async fn several_upstreams_are_told_apart() {
    let (one, two) = (Upstream::start(C, Framing::Length), Upstream::start(A, Framing::Length));
    for upstream in [&one, &two] {
        upstream.page("", &format!(r#"{{"tools":[{TOOL}]}}"#));
        upstream.tool("one", Say::Echo);
    }
    let config = format!("upstreams: {{b: {{url: '{}'}}, a: {{url: '{}'}}}}", one.url, two.url);
    let running = gateway(&config, &Steps::RIGHT).await;
    let client = Client::new(&running, C);
    let got = client.list().await;
    let names: Vec<_> =
        tools(&got).iter().map(|tool| json::get_string(tool, "name").unwrap()).collect();
    assert_eq!(names, ["a.one", "b.one", "gateway_call"]);
    for (tool, upstream) in [("b.one", &one), ("a.one", &two)] {
        let got = client.call(tool, r#"{"k":1}"#).await;
        assert!(got.result().contains(r#""name":"one""#), "{got:?}");
        assert_eq!(upstream.received("tools/call").len(), 1);
    }
    let got = client.call("one", "{}").await;
    assert_eq!((got.code(), got.cause().as_str()), (-32602, "unknown_tool"));
}

#[tokio::test]
async fn an_upstream_that_is_down_lacks_its_tools_and_no_more() {
    let (mut down, up) = (Upstream::start(C, Framing::Length), Upstream::start(C, Framing::Length));
    up.page("", &format!(r#"{{"tools":[{TOOL}]}}"#));
    let config = format!("upstreams: {{a: {{url: '{}'}}, b: {{url: '{}'}}}}", down.url, up.url);
    let running = gateway(&config, &Steps::RIGHT).await;
    down.stop().await;
    let client = Client::new(&running, C);
    assert_eq!(tools(&client.list().await).len(), 2);
    assert!(running.log.events("listing_failed")[0].contains("unreachable"));
}

#[tokio::test]
async fn no_upstream_at_all_is_an_error() {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.tool("x", Say::Echo);
    let running = before(&upstream).await;
    let got = Client::new(&running, C).list().await;
    assert_eq!(got.cause(), "bad_answer");
    assert!(got.message().contains("no such page"));
}

#[tokio::test]
async fn a_list_without_end_ends() {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.page("", r#"{"tools":[],"nextCursor":"again"}"#);
    upstream.page("again", &format!(r#"{{"tools":[{TOOL}],"nextCursor":"again"}}"#));
    let running = before(&upstream).await;
    assert_eq!(tools(&Client::new(&running, C).list().await).len(), 2);
    assert!(running.log.events("listing_cut")[0].contains("a cursor came twice"));
}

#[tokio::test]
async fn an_upstreams_tool_does_not_hide_the_gateways_own() {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.page(
        "",
        r#"{"tools":[{"name":"gateway_call","inputSchema":{"type":"object"}},{"no":1}]}"#,
    );
    let running = before(&upstream).await;
    assert_eq!(tools(&Client::new(&running, C).list().await).len(), 1);
    assert_eq!(running.log.events("tool_dropped").len(), 2);
}

#[tokio::test]
async fn annotated_arguments_go_up_in_headers() {
    let upstream = Upstream::start(C, Framing::Length);
    let schema =
        r#"{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}}}"#;
    let bad = r#"{"type":"object","x-mcp-header":"Root"}"#;
    upstream.page("", &format!(
        r#"{{"tools":[{{"name":"w","inputSchema":{schema}}},{{"name":"bad","inputSchema":{bad}}}]}}"#
    ));
    upstream.tool("w", Say::Echo);
    let running = before(&upstream).await;
    let arguments = r#"{"city":"Zürich"}"#;
    let header = |upstream: &Upstream| {
        let call = upstream.received("tools/call").pop().unwrap();
        call.header("mcp-param-city").map(str::to_owned)
    };
    // Never listed: a stateless client's own headers pass.
    let mut new = Client::new(&running, C);
    new.headers = vec![("Mcp-Param-City".into(), "=?base64?WsO8cmljaA==?=".into())];
    new.call("w", arguments).await;
    assert_eq!(header(&upstream).as_deref(), Some("=?base64?WsO8cmljaA==?="));
    assert!(upstream.received("tools/list").is_empty());
    // A client without such headers: the gateway looks up what the tool wants, once.
    let old = Client::new(&running, A);
    for city in ["Zürich", "Bern"] {
        old.call("w", &format!("{{\"city\":\"{city}\"}}")).await;
    }
    assert_eq!(header(&upstream).as_deref(), Some("Bern"));
    assert_eq!(upstream.received("tools/list").len(), 1);
    // Now that it knows, it holds a stateless client to its headers.
    let got = new.call("w", r#"{"city":"Bern"}"#).await;
    assert_eq!((got.status, got.code()), (400, -32020));
    assert!(new.call("w", arguments).await.result().contains("city"));
    // A tool that changed: asked again once its upstream complains (R-HTTP-19).
    let changed = r#"{"tools":[{"name":"w","inputSchema":{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"Town"}}}}]}"#;
    upstream.page("", changed);
    upstream.tool("w", Say::ErrorWith(400, r#"{"code":-32020,"message":"header"}"#.into()));
    let before = upstream.received("tools/call").len();
    assert_eq!(old.call("w", r#"{"city":"Bern"}"#).await.code(), -32020);
    assert_eq!(upstream.received("tools/call").len(), before + 2);
    let last = upstream.received("tools/call").pop().unwrap();
    assert_eq!(
        (last.header("mcp-param-town"), last.header("mcp-param-city")),
        (Some("Bern"), None)
    );
    // The tool with the bad annotation is not shown.
    assert!(running.log.events("tool_dropped")[0].contains("bad"));
}
