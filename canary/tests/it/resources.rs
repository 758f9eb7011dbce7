//! Resources in every revision: listed, read, and found again in the journal.

use birdstrike_canary::{Answer, Canary, Contents, Plan, ResourceSpec};
use birdstrike_wire::{Era, Revision, json};

use crate::support::{ask, canary, rules, send, take};

const TEMPLATE: &str = r#"{"uriTemplate":"canary://t/{id}","name":"t"}"#;

async fn with_resources() -> Canary {
    canary(|upstream| {
        let raw = r#"[ {"uri":"canary://raw","text":"1.0"} , {"uri":"canary://raw/2","text":""} ]"#;
        upstream.resources = vec![
            ResourceSpec::text("ui://canary/p", "page"),
            ResourceSpec::blob("canary://b", [0, 255]),
            ResourceSpec {
                uri: "canary://raw".into(),
                definition: String::new(),
                contents: Contents::Raw(raw.into()),
            },
        ];
        upstream.resource_templates = vec![TEMPLATE.into()];
    })
    .await
}

#[tokio::test]
async fn they_are_listed_and_declared_in_every_revision() {
    let canary = with_resources().await;
    let url = canary.url("main");
    for revision in Revision::ALL {
        let opening = match revision.era() {
            Era::Handshake => "initialize",
            Era::Stateless => "server/discover",
        };
        let version = format!("\"protocolVersion\":\"{revision}\"");
        let opened = send(ask(&url, revision, opening, &version)).await;
        let capabilities = json::get(opened.result(), "capabilities").unwrap();
        assert_eq!(json::get(capabilities, "resources"), Some("{}"));

        let listed = send(ask(&url, revision, "resources/list", "")).await;
        let all = json::items(json::get(listed.result(), "resources").unwrap()).unwrap();
        let uris: Vec<_> = all.iter().map(|r| json::get_string(r, "uri").unwrap()).collect();
        assert_eq!(uris, ["ui://canary/p", "canary://b"], "what is not listed can still be read");
        let templates = send(ask(&url, revision, "resources/templates/list", "")).await;
        let templates = templates.result();
        assert_eq!(json::get(templates, "resourceTemplates"), Some(&*format!("[{TEMPLATE}]")));
        for result in [listed.result(), templates] {
            let stateless = revision.era() == Era::Stateless;
            for member in ["resultType", "ttlMs", "cacheScope", "_meta"] {
                assert_eq!(json::get(result, member).is_some(), stateless, "{revision} {member}");
            }
        }
        let lost = send(ask(&url, revision, "resources/list", "\"cursor\":\"x\"")).await;
        assert_eq!(lost.code(), -32602);
    }
    assert!(canary.journal().others().iter().all(|e| e.notes.is_empty()));
    canary.stop().await;
}

#[tokio::test]
async fn a_read_is_found_by_the_nonce_in_its_uri() {
    let canary = with_resources().await;
    let url = canary.url("main");
    let read = async |revision, uri: &str| {
        send(ask(&url, revision, "resources/read", &format!("\"uri\":\"{uri}\""))).await
    };
    for revision in Revision::ALL {
        let seen = read(revision, "ui://canary/p?nonce=n-1").await;
        let contents = json::get(seen.result(), "contents").unwrap();
        let expected =
            r#"[{"uri":"ui://canary/p?nonce=n-1","mimeType":"text/plain","text":"page"}]"#;
        assert_eq!(contents, expected);
        assert_eq!(seen.result().contains("serverInfo"), revision.era() == Era::Stateless);
        let exchange = take(&canary, "n-1").await;
        assert_eq!(exchange.uri.as_deref(), Some("ui://canary/p?nonce=n-1"));
        assert_eq!((&*exchange.method, rules(&exchange)), ("resources/read", vec![]));

        let raw = read(revision, "canary://raw").await;
        assert!(raw.text().contains("[ {\"uri\":\"canary://raw\",\"text\":\"1.0\"} , "));
        let other = canary.journal().others().pop().unwrap();
        assert_eq!((other.uri.as_deref(), other.nonce), (Some("canary://raw"), None));
        assert!(read(revision, "canary://b").await.result().contains("\"blob\":\"AP8=\""));

        canary.script().plan("n-2", Plan::new(Answer::Message("{\"planned\":«id»}".into())));
        let planned = read(revision, "ui://canary/p?x=1&nonce=n-2").await;
        assert_eq!(planned.text(), "{\"planned\":\"id-1\"}");
    }
    canary.stop().await;
}

#[tokio::test]
async fn what_is_not_there_has_the_code_of_its_revision() {
    let canary = with_resources().await;
    let url = canary.url("main");
    for revision in Revision::ALL {
        let stateless = revision.era() == Era::Stateless;
        let lost = send(ask(&url, revision, "resources/read", "\"uri\":\"no:where\"")).await;
        assert_eq!((lost.status, lost.code()), (200, if stateless { -32602 } else { -32002 }));
        assert!(lost.text().contains(r#""data":{"uri":"no:where"}"#));
        assert_eq!(send(ask(&url, revision, "resources/read", "")).await.code(), -32602);
    }
    canary.stop().await;
}

#[tokio::test]
async fn an_upstream_without_any_has_no_such_method() {
    let canary = canary(|_| ()).await;
    for revision in Revision::ALL {
        for method in ["resources/list", "resources/templates/list", "resources/read"] {
            let seen = send(ask(&canary.url("main"), revision, method, "\"uri\":\"a:b\"")).await;
            assert_eq!(seen.code(), -32601);
        }
    }
    canary.stop().await;
}

#[tokio::test]
async fn the_header_repeats_the_uri() {
    let canary = with_resources().await;
    let members = "\"uri\":\"ui://canary/p?nonce=n\"";
    let request = ask(&canary.url("main"), Revision::V2026_07_28, "resources/read", members);
    send(request.header("mcp-name", "ui://canary/other")).await;
    assert_eq!(rules(&take(&canary, "n").await), ["R-HTTP-17"]);
    canary.stop().await;
}
