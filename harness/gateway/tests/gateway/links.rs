//! Links, resources and prompts through a gateway with two upstreams.

use std::fmt::Write as _;

use birdstrike_gateway::Steps;
use birdstrike_wire::json;

use super::support::*;

pub(crate) const LINK: &str =
    r#"{"type":"resource_link","uri":"canary://a?x=%20\u00e9&n=1#f","name":"n","size":12}"#;
const EMBEDDED: &str =
    r#"{ "type":"resource" , "resource":{"uri":"canary://e","text":"canary://e"}}"#;

pub(crate) fn linked(rest: &str) -> String {
    format!(
        r#"{{"resultType":"complete","content":[ {LINK} ,{EMBEDDED},{{"type":"text","text":"canary://e"}}],"structuredContent":{LINK},"_meta":{{"a/b":{EMBEDDED}}}{rest}}}"#
    )
}

/// Two upstreams with the same names and URIs, each saying whose it is.
pub(crate) fn upstreams() -> [Upstream; 2] {
    [("one", C), ("two", A)].map(|(name, revision)| {
        let upstream = Upstream::start(revision, Framing::Length);
        upstream.result("linked", &linked("")).result("failed", &linked(r#","isError":true"#));
        let other = linked("").replace("canary:", &format!("{name}:"));
        upstream.result("other", &other);
        upstream.result("long", r#"{"resultType":"task","taskId":"t","status":"working"}"#);
        let done = linked("").replace(r#""resultType":"complete","#, "");
        upstream.result(
            "tasks/get",
            &format!(
                r#"{{"resultType":"complete","taskId":"t","status":"completed","result":{done}}}"#
            ),
        );
        let kinds = r#"[{"type":"resource_link","uri":"https://x/y","name":"w"},{"type":"resource_link","uri":"ui://p/q","name":"p"},{"type":"resource_link","uri":"","name":"e"},{"type":"resource_link","uri":null}]"#;
        upstream.result("kinds", &format!(r#"{{"resultType":"complete","content":{kinds}}}"#));
        for uri in ["canary://a?x=%20é&n=1#f", "canary://e", "ui://p/q", "t:listed", "", "t:secret"] {
            upstream.result(
                &format!("resources/read {uri}"),
                &format!(
                    r#"{{"resultType":"complete","contents":[ {{"uri":{},"text":"{name} t:x"}},{{"uri":"t:part","blob":""}}],"ttlMs":7,"cacheScope":"private"}}"#,
                    json::quote(uri)
                ),
            );
        }
        upstream.result(
            "resources/list",
            r#"{"resources":[ { "uri":"t:listed","name":"l","x":1E+02}]}"#,
        );
        upstream.result(
            "resources/templates/list",
            r#"{"resourceTemplates":[{"uriTemplate":"t:{id}/x{?q}","name":"t"}]}"#,
        );
        upstream.result("resources/read t:7/x?q=1", r#"{"contents":[]}"#);
        upstream.result("prompts/list", r#"{"prompts":[{"name":"p","x":1.0}]}"#);
        upstream.result(
            "prompts/get p",
            &format!(
                r#"{{"resultType":"complete","messages":[{{"role":"user","content":{LINK}}},{{"role":"user","content":{EMBEDDED}}}]}}"#
            ),
        );
        upstream
    })
}

pub(crate) const IDENTITIES: &str =
    "identities: {alice: {token: token-of-alice}, bob: {token: token-of-bob}}\n";

pub(crate) async fn two(upstreams: &[Upstream; 2], rest: &str, steps: &Steps) -> Running {
    let mut config = "upstreams:\n".to_owned();
    for (name, upstream) in ["one", "two"].into_iter().zip(upstreams) {
        writeln!(config, "  {name}: {{url: '{}'}}", upstream.url).unwrap();
    }
    gateway(&(config + rest), steps).await
}

/// The URIs of a result's links and embedded resources.
pub(crate) fn uris(got: &Got) -> Vec<String> {
    let blocks = json::get(got.result(), "content").and_then(|blocks| json::items(blocks).ok());
    let uri = |block: &&str| json::get_string(json::get(block, "resource").unwrap_or(block), "uri");
    blocks.unwrap_or_default().iter().filter_map(uri).collect()
}

#[tokio::test]
async fn only_real_links_change_on_every_route_but_the_facade() {
    let upstreams = upstreams();
    let running = two(&upstreams, "", &Steps::RIGHT).await;
    let namespaced = |rest: &str, name: &str| {
        let prefix = format!("\"uri\":\"birdstrike://{name}/canary:");
        linked(rest).replacen("\"uri\":\"canary:", &prefix, 2)
    };
    for (down, name) in [(C, "one"), (A, "two")] {
        let client = Client::new(&running, down);
        for (tool, rest) in [("linked", ""), ("failed", r#","isError":true"#)] {
            let tool = format!("{name}.{tool}");
            let got = client.call(&tool, "{}").await;
            let wanted = namespaced(rest, name);
            // What the client's revision demands is another surface's.
            let body = wanted.split_once("\"content\"").unwrap().1;
            let body = body.split_once(",\"_meta\"").unwrap().0;
            assert!(got.result().contains(body), "{got:?}");
            let calls = format!(r#"{{"calls":[{{"tool":"{tool}"}}]}}"#);
            let got = client.call("gateway_call", &calls).await;
            assert!(got.result().contains(&wanted), "{got:?}");
            let got = client.invoke(&format!("{{\"tool\":\"{tool}\"}}")).await;
            assert!(got.body.contains(&linked(rest)), "{got:?}");
        }
        let got = client.prompt(&format!("{name}.p")).await;
        assert_eq!(got.result().matches(&format!("birdstrike://{name}/canary:")).count(), 2);
        assert!(got.result().contains(r#""text":"canary://e""#));
    }
    let client = Client::new(&running, C).with_tasks();
    let handle = client.call("one.long", "{}").await;
    let id = json::quote(&json::get_string(handle.result(), "taskId").unwrap());
    let name: String = serde_json::from_str(&id).unwrap();
    let got = client.ask("7", "tasks/get", Some(&name), &format!("\"taskId\":{id}")).await;
    assert_eq!(got.result().matches("\"birdstrike://one/canary:").count(), 2, "{got:?}");
    for upstream in &upstreams {
        let got = upstream.received("prompts/get").pop().unwrap();
        assert!(got.params().contains(r#""name":"p","arguments":{"a":"1"}"#), "{got:?}");
    }
}

#[tokio::test]
async fn what_is_handed_out_is_read_back_from_its_owner() {
    let upstreams = upstreams();
    let running = two(&upstreams, "", &Steps::RIGHT).await;
    for down in [A, B, C] {
        let client = Client::new(&running, down);
        for (name, upstream) in ["one", "two"].iter().zip(&upstreams) {
            for uri in uris(&client.call(&format!("{name}.linked"), "{}").await) {
                let got = client.read(&uri).await;
                let contents = json::items(json::get(got.result(), "contents").unwrap()).unwrap();
                assert_eq!(json::get_string(contents[0], "uri"), Some(uri.clone()));
                assert_eq!(json::get_string(contents[0], "text").unwrap(), format!("{name} t:x"));
                let part = json::get_string(contents[1], "uri").unwrap();
                assert_eq!(part, format!("birdstrike://{name}/t:part"));
                let own = uri.strip_prefix(&format!("birdstrike://{name}/")).unwrap();
                let read = upstream.received("resources/read").pop().unwrap();
                assert_eq!(json::get_string(read.params(), "uri").as_deref(), Some(own));
                assert_eq!(got.result().contains("serverInfo"), down == C);
            }
        }
        assert_eq!(
            uris(&client.call("two.kinds", "{}").await),
            ["https://x/y", "ui://birdstrike.two/ui://p/q", "birdstrike://two/"]
        );
        assert!(client.read("ui://birdstrike.two/ui://p/q").await.body.contains("two t:x"));
        assert!(client.read("birdstrike://two/").await.body.contains("two t:x"));
    }
    let calls = running.log.events("call");
    assert!(calls.iter().any(|line| line.contains("\"method\":\"resources/read\"")), "{calls:?}");
}

#[tokio::test]
async fn what_leads_nowhere_is_told_in_the_clients_revision() {
    let upstreams = upstreams();
    let running = two(&upstreams, "", &Steps::RIGHT).await;
    for (down, code) in [(A, -32002), (B, -32002), (C, -32602)] {
        let client = Client::new(&running, down);
        for uri in ["canary://e", "birdstrike://three/canary://e", "https://x/y"] {
            let got = client.read(uri).await;
            assert_eq!((got.status, got.code()), (200, code), "{uri}");
            let data = json::get(got.error(), "data").unwrap();
            assert_eq!(json::get_string(data, "uri").as_deref(), Some(uri));
        }
        let theirs = client.read("birdstrike://one/no:where").await;
        assert_eq!((theirs.code(), theirs.message().as_str()), (code, "no resources/read"));
        let got = client.prompt("p").await;
        assert_eq!((got.code(), got.cause().as_str()), (-32602, "unknown_prompt"));
        assert_eq!(client.prompt("one.no").await.code(), -32601);
        let got = client.ask("7", "resources/read", None, "\"uri\":7").await;
        assert!(got.status == 400 || got.code() == -32602, "{got:?}");
    }
}

#[tokio::test]
async fn what_one_was_handed_out_no_other_reads() {
    let upstreams = upstreams();
    let running = two(&upstreams, IDENTITIES, &Steps::RIGHT).await;
    let [alice, bob] =
        ["token-of-alice", "token-of-bob"].map(|token| Client::new(&running, C).with_token(token));
    let calls = r#"{"calls":[{"tool":"one.linked"},{"tool":"two.kinds"}]}"#;
    alice.call("gateway_call", calls).await;
    for (uri, is_bobs) in [
        ("birdstrike://one/canary://e", false),
        ("ui://birdstrike.two/ui://p/q", false),
        // Seen in a listing by everybody.
        ("birdstrike://one/t:listed", true),
        ("birdstrike://two/t:7/x?q=1", true),
    ] {
        assert!(alice.read(uri).await.body.contains("contents"), "{uri}");
        assert_eq!(bob.read(uri).await.body.contains("contents"), is_bobs, "{uri}");
    }
    // Of the same upstream, and there; but nobody was handed it out.
    let unknown = "birdstrike://one/t:secret";
    let foreign = "birdstrike://one/canary://e";
    assert!(alice.read(unknown).await.body.contains("not found"));
    let told = bob.read(unknown).await.body.replace(unknown, "URI");
    assert_eq!(bob.read(foreign).await.body.replace(foreign, "URI"), told);
    // What a prompt or a read hands out counts as well.
    bob.prompt("one.p").await;
    for uri in ["birdstrike://one/canary://e", "birdstrike://one/canary://a?x=%20é&n=1#f"] {
        assert!(bob.read(uri).await.body.contains("one t:x"));
    }
    let got = bob.read("birdstrike://one/t:part").await;
    assert_eq!(got.message(), "no resources/read", "it was handed out by the read before");
    let hidden = running.log.text();
    assert!(!hidden.contains("token-of-alice") && !hidden.contains("t:x"));
}

#[tokio::test]
async fn lists_of_two_are_one_and_keep_their_bytes() {
    let upstreams = upstreams();
    upstreams[1].result("resources/list", r#"{"resources":[{"uri":"t:1"}],"nextCursor":"p2"}"#);
    upstreams[1].tool("prompts/list", Say::Error(r#"{"code":-32601,"message":"m"}"#.into()));
    let running = two(&upstreams, "", &Steps::RIGHT).await;
    for down in [A, C] {
        let client = Client::new(&running, down);
        let list = async |method| client.ask("7", method, None, "").await;
        let got = list("resources/list").await;
        let first = r#"{ "uri":"birdstrike://one/t:listed","name":"l","x":1E+02}"#;
        // The upstream of this test has one page for every cursor: the second ends the list.
        let all = json::items(json::get(got.result(), "resources").unwrap()).unwrap();
        assert_eq!(all[..2], [first, r#"{"uri":"birdstrike://two/t:1"}"#], "{got:?}");
        assert_eq!(got.result().contains(r#""ttlMs":0,"cacheScope":"private""#), down == C);
        let got = list("resources/templates/list").await;
        for name in ["one", "two"] {
            let template = format!(r#""uriTemplate":"birdstrike://{name}/t:{{id}}/x{{?q}}""#);
            assert!(got.result().contains(&template), "{got:?}");
        }
        let got = list("prompts/list").await;
        assert!(got.result().contains(r#""prompts":[{"name":"one.p","x":1.0}]"#), "{got:?}");
        let got = client.ask("7", "prompts/list", None, "\"cursor\":\"\"").await;
        assert_eq!(got.code(), -32602);
    }
    upstreams[0].tool("resources/list", Say::Status(500));
    upstreams[1].tool("resources/list", Say::Status(500));
    let got = Client::new(&running, C).ask("7", "resources/list", None, "").await;
    assert_eq!(got.cause(), "bad_answer");
}

#[tokio::test]
async fn one_upstream_has_its_own_uris_unless_it_is_asked_for() {
    let upstreams = upstreams();
    let running = before(&upstreams[0]).await;
    let client = Client::new(&running, C);
    let got = client.call("linked", "{}").await;
    assert!(uris(&got).iter().all(|uri| uri.starts_with("canary:")), "{got:?}");
    assert!(client.read("canary://e").await.body.contains("one t:x"));
    assert!(client.prompt("p").await.body.contains("\"canary:"));
    let opened = client.ask("7", "server/discover", None, "").await;
    let capabilities = json::get(opened.result(), "capabilities");
    assert_eq!(
        capabilities,
        Some(
            r#"{"tools":{"listChanged":true},"resources":{"listChanged":true},"prompts":{"listChanged":true},"logging":{}}"#
        )
    );

    let config = format!("upstreams: {{main: {{url: '{}'}}}}\n", upstreams[0].url);
    let asked = gateway(&format!("{config}namespace_links: true"), &Steps::RIGHT).await;
    let client = Client::new(&asked, C);
    let got = client.call("linked", "{}").await;
    assert!(uris(&got).iter().all(|uri| uri.starts_with("birdstrike://main/")), "{got:?}");
    assert!(client.read("birdstrike://main/canary://e").await.body.contains("one t:x"));

    let guarded = gateway(&format!("{config}{IDENTITIES}"), &Steps::RIGHT).await;
    let [alice, bob] =
        ["token-of-alice", "token-of-bob"].map(|token| Client::new(&guarded, C).with_token(token));
    alice.call("linked", "{}").await;
    assert!(alice.read("canary://e").await.body.contains("one t:x"));
    assert!(bob.read("canary://e").await.body.contains("not found"));
}

#[tokio::test]
async fn a_read_is_bounded_and_fails_like_a_call() {
    let upstreams = upstreams();
    let large = format!(r#"{{"contents":[{{"uri":"t:l","text":"{}"}}]}}"#, "x".repeat(3000));
    upstreams[0].result("resources/read t:large", &large).result("prompts/get large", &large);
    upstreams[0].tool("resources/read t:gone", Say::Status(500));
    let config =
        format!("upstreams: {{main: {{url: '{}', max_response_bytes: 2000}}}}", upstreams[0].url);
    let running = gateway(&config, &Steps::RIGHT).await;
    for down in [A, C] {
        let client = Client::new(&running, down);
        for got in [client.read("t:large").await, client.prompt("large").await] {
            assert_eq!((got.code(), got.cause().as_str()), (-31003, "response_too_large"));
        }
        assert_eq!(client.read("t:gone").await.cause(), "bad_answer");
        assert!(client.read("canary://e").await.body.contains("one t:x"));
    }
    assert_eq!(running.log.events("call").len(), 8);
}
