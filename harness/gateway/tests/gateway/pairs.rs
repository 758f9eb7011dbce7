//! Every pair of upstream and client revision, in both encodings: what is spliced, what is left out,
//! and that nothing else moves.

use super::support::*;

const ODD: &str = r#"{ "content":[ {"type":"text","text":"\u0041\/\ud800"} ] ,"x":{"x":1E+02,"x":9007199254740993}, "structuredContent":{"a":null,"n":1.0},"_meta":{"a/b":[ ]} }"#;
const META: &str = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"birdstrike-gateway","version":"0.1.0"}"#;

/// What an upstream of this revision sends for a result without a `resultType`.
fn sent(revision: Revision, result: &str) -> String {
    match revision {
        C => result.replacen('{', "{\"resultType\":\"complete\",", 1),
        _ => result.to_owned(),
    }
}

use birdstrike_wire::{Revision, json};

async fn each_cell(check: impl AsyncFn(Revision, Revision, &Upstream, Client)) {
    for upstream_revision in Revision::ALL {
        for framing in [Framing::Length, Framing::Events] {
            let upstream = Upstream::start(upstream_revision, framing);
            let running = before(&upstream).await;
            for client_revision in Revision::ALL {
                let client = Client::new(&running, client_revision);
                check(upstream_revision, client_revision, &upstream, client).await;
            }
        }
    }
}

#[tokio::test]
async fn a_result_keeps_its_bytes_but_for_what_the_revision_demands() {
    each_cell(async |up, down, upstream, client| {
        upstream.result("odd", &sent(up, ODD));
        let got = client.call("odd", "{}").await;
        let with_type = ODD.replacen('{', "{\"resultType\":\"complete\",", 1);
        let with_meta = |result: &str| result.replace(r#""_meta":{"#, &format!("{META},"));
        let wanted = match (up, down) {
            (_, C) => with_meta(&with_type),
            // The member that goes takes the white space behind it along.
            (C, _) => ODD.replacen("{ ", "{", 1),
            _ => ODD.to_owned(),
        };
        assert_eq!((got.status, got.result()), (200, wanted.as_str()), "{up} to {down}");
    })
    .await;
}

#[tokio::test]
async fn an_error_keeps_its_bytes() {
    let error = r#"{ "code":-7,"message":"\u006do", "data":{"n":1.0,"n":[ ]},"x":null }"#;
    each_cell(async |up, down, upstream, client| {
        upstream.tool("error", Say::Error(error.into()));
        assert_eq!(client.call("error", "{}").await.error(), error, "{up} to {down}");
    })
    .await;
}

#[tokio::test]
async fn a_failed_result_is_returned_as_one() {
    let failed = r#"{"content":[{"type":"text","text":"no"}],"isError":true,"structuredContent":{"code":"E42"},"_meta":{"a/b":1}}"#;
    each_cell(async |up, down, upstream, client| {
        upstream.result("fails", &sent(up, failed));
        let got = client.call("fails", "{}").await;
        for part in [r#""isError":true"#, r#""structuredContent":{"code":"E42"}"#, r#""a/b":1"#] {
            assert!(got.result().contains(part), "{up} to {down}: {got:?}");
        }
        assert_eq!(got.result().contains("resultType"), down == C, "{up} to {down}");
    })
    .await;
}

#[tokio::test]
async fn a_typed_part_that_is_no_object_reaches_only_the_newest_clients() {
    each_cell(async |up, down, upstream, client| {
        for part in ["null", "0", "false", "\"\"", "[]", "[1.0]", "1e2"] {
            let result = format!(r#"{{"content":[],"structuredContent":{part}}}"#);
            upstream.result("any", &sent(up, &result));
            let got = client.call("any", "{}").await;
            let carried = got.result().contains(&format!(r#""structuredContent":{part}"#));
            assert_eq!(carried, down == C, "{part} from {up} to {down}: {got:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_task_is_refused_unless_it_was_declared() {
    let flat = r#"{"resultType":"task","taskId":"t-1","x":1}"#;
    let nested = r#"{"task":{"taskId":"t-1","x":1}}"#;
    each_cell(async |up, down, upstream, client| {
        for handle in [flat, nested] {
            upstream.result("task", handle);
            let refused = client.call("task", "{}").await;
            let code = if down == C { -32021 } else { -32603 };
            assert_eq!(refused.code(), code, "{up} to {down}");
            assert!(refused.message().contains("io.modelcontextprotocol/tasks"));
            assert_eq!(refused.status, if down == C { 400 } else { 200 });
            let declared = client.clone().with_tasks().call("task", "{}").await;
            if down == C {
                let nested = json::get(declared.result(), "task").unwrap_or(declared.result());
                let id = json::get_string(nested, "taskId").unwrap();
                assert_ne!(id, "t-1");
                let kept = format!(r#""taskId":"{id}","x":1"#);
                assert!(declared.result().contains(&kept), "{declared:?}");
                assert!(declared.result().contains(r#""resultType":"task""#));
            } else {
                assert_eq!(declared.code(), -32603);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_request_for_input_passes_where_it_can_be_answered() {
    let asks = r#"{"resultType":"input_required","requestState":"s"}"#;
    each_cell(async |up, down, upstream, client| {
        upstream.result("asks", asks);
        let got = client.call("asks", "{}").await;
        if down == C {
            assert!(got.result().contains(r#""requestState":"s""#), "{up} to {down}");
        } else {
            assert_eq!((got.code(), got.cause().as_str()), (-32603, "input_not_carried"));
        }
    })
    .await;
}

#[tokio::test]
async fn ids_come_back_as_they_went() {
    each_cell(async |_, _, upstream, client| {
        upstream.result("x", r#"{"resultType":"complete","content":[]}"#);
        for id in ["0", "-1", "9007199254740993", "\"7\"", "\"\\u0041\"", "\"\""] {
            let got = client.call_as(id, "x", "{}").await;
            assert!(got.body.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{got:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn arguments_and_meta_go_up_as_they_came() {
    let arguments = r#"{ "n":9007199254740993,"n":1E+02, "s":"\ud800\/" }"#;
    each_cell(async |up, down, upstream, mut client| {
        upstream.tool("echo", Say::Echo);
        client.meta = r#","example.org/trace" : 1.0,"progressToken":5"#.into();
        let got = client.call("echo", arguments).await;
        assert!(
            got.result().contains(&format!(r#""arguments":{arguments}"#)),
            "{up} to {down}: {got:?}"
        );
        let call = upstream.received("tools/call").pop().unwrap();
        assert!(call.params().contains(r#""example.org/trace":1.0"#), "{call:?}");
        let meta = json::get(call.params(), "_meta").unwrap();
        let token = json::get(meta, "progressToken").unwrap();
        assert_eq!(Some(token), json::get(&call.body, "id"), "the token is the gateway's own");
        if up == C {
            assert!(
                call.params().contains(
                    r#""io.modelcontextprotocol/clientInfo":{"name":"birdstrike-gateway""#
                )
            );
            assert_eq!(call.header("mcp-method"), Some("tools/call"));
            assert_eq!(call.header("mcp-name"), Some("echo"));
        } else {
            assert!(!call.params().contains("io.modelcontextprotocol/"));
            assert_eq!(call.header("mcp-method"), None);
            assert_eq!(call.header("mcp-session-id"), Some("0"));
        }
        assert_eq!(call.header("mcp-protocol-version"), Some(up.as_str()));
    })
    .await;
}
