//! Prompts in every revision: listed, got, planned.

use birdstrike_canary::{Answer, Canary, Plan, PromptMessage, PromptSpec};
use birdstrike_wire::{Era, Revision, json};

use crate::support::{ask, canary, rules, send, take};

async fn with_prompts() -> Canary {
    canary(|upstream| {
        upstream.prompts = vec![
            PromptSpec::new(
                "linked",
                vec![
                    PromptMessage::text("read «this»"),
                    PromptMessage::link("canary://a/1?x#y", "one"),
                    PromptMessage::embedded("canary://a/2", "two").by_assistant(),
                ],
            ),
            PromptSpec::new("bare", Vec::new()),
        ];
    })
    .await
}

#[tokio::test]
async fn they_are_listed_and_got_in_every_revision() {
    let canary = with_prompts().await;
    let url = canary.url("main");
    for revision in Revision::ALL {
        let stateless = revision.era() == Era::Stateless;
        let listed = send(ask(&url, revision, "prompts/list", "")).await;
        let all = json::items(json::get(listed.result(), "prompts").unwrap()).unwrap();
        let names: Vec<_> = all.iter().map(|p| json::get_string(p, "name").unwrap()).collect();
        assert_eq!(names, ["linked", "bare"]);
        assert_eq!(json::get(listed.result(), "ttlMs").is_some(), stateless);

        let members = r#""name":"linked","arguments":{"nonce":"n"}"#;
        let got = send(ask(&url, revision, "prompts/get", members)).await;
        let messages = json::items(json::get(got.result(), "messages").unwrap()).unwrap();
        assert_eq!(messages.len(), 3);
        assert!(messages[0].contains(r#""role":"user","content":{"type":"text""#));
        assert!(messages[1].contains(r#""type":"resource_link","uri":"canary://a/1?x#y""#));
        assert!(messages[2].contains(r#""resource":{"uri":"canary://a/2""#));
        assert!(messages[2].starts_with(r#"{"role":"assistant""#));
        assert_eq!(json::get(got.result(), "resultType").is_some(), stateless);
        assert_eq!(json::get(got.result(), "ttlMs"), None);
        let exchange = take(&canary, "n").await;
        assert_eq!((&*exchange.method, rules(&exchange)), ("prompts/get", vec![]));
    }
    canary.stop().await;
}

#[tokio::test]
async fn a_plan_answers_in_place_of_the_messages() {
    let canary = with_prompts().await;
    let body = r#"{"messages":[] , "x":1.0}"#.to_owned();
    canary.script().plan("n", Plan::new(Answer::Rendered { member: "result", body: body.clone() }));
    for revision in Revision::ALL {
        let members = r#""name":"bare","arguments":{"nonce":"n"}"#;
        let got = send(ask(&canary.url("main"), revision, "prompts/get", members)).await;
        assert_eq!(got.result(), body);
    }
    canary.stop().await;
}

#[tokio::test]
async fn what_is_not_there_is_refused() {
    let canary = with_prompts().await;
    let url = canary.url("main");
    for revision in Revision::ALL {
        for members in ["", r#""name":"none""#] {
            assert_eq!(send(ask(&url, revision, "prompts/get", members)).await.code(), -32602);
        }
    }
    let bare = self::canary(|_| ()).await;
    let seen = send(ask(&bare.url("main"), Revision::V2025_11_25, "prompts/list", "")).await;
    assert_eq!(seen.code(), -32601);
    bare.stop().await;
    canary.stop().await;
}
