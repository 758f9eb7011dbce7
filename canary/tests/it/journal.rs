//! The journal holds what the client sent and what it received.

use birdstrike_canary::{Answer, Plan, Transport};
use birdstrike_wire::Revision;

use crate::support::{answer, call, canary, delivery, fire, send, take};

#[tokio::test]
async fn both_directions_are_kept_byte_for_byte() {
    let canary = canary(|_| ()).await;
    let url = canary.url("main");
    for revision in Revision::ALL {
        let arguments =
            "{ \"nonce\" : \"n\\u002d1\", \"big\":9007199254740993 , \"s\":\"\\ud800\"}";
        let request = call(&url, revision, "echo", arguments).header("x-marker", "m");
        let body = crate::support::call_body(revision, "echo", arguments);
        let seen = send(request).await;
        let exchange = take(&canary, "n-1").await;
        assert_eq!(exchange.request.whole(), Some(body.as_bytes()));
        assert_eq!(exchange.request_headers.get("x-marker"), Some("m"));
        assert_eq!(exchange.revision, Some(revision));
        assert_eq!((&*exchange.method, exchange.transport), ("tools/call", Transport::Http));
        assert_eq!(exchange.notes, []);
        let answer = answer(&exchange);
        assert_eq!(answer.body.whole(), Some(&seen.body[..]));
        assert_eq!(answer.message.as_ref().unwrap().whole(), Some(&seen.body[..]));
        assert_eq!((answer.status, answer.wire_bytes), (Some(200), seen.body.len() as u64));
        assert!(answer.complete && answer.finished >= exchange.received);
    }
    canary.stop().await;
}

#[tokio::test]
async fn one_plan_serves_every_call_with_its_nonce_until_it_is_forgotten() {
    let canary = canary(|_| ()).await;
    let body = "{\"content\":[],\"x\":1.0}".to_owned();
    let plan = Plan::new(Answer::Rendered { member: "result", body: body.clone() });
    let (seen, _) = fire(&canary, "n", plan).await;
    assert_eq!(seen.result(), body);
    let calls = (0..20).map(|_| crate::support::call_nonce(&canary, "n"));
    let calls: Vec<_> = calls.map(|call| tokio::spawn(send(call))).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().result(), body);
    }
    let taken = canary.journal().take("n");
    assert_eq!(taken.len(), 20);
    assert!(taken.is_sorted_by_key(|exchange| exchange.seq));
    canary.script().forget("n");
    let seen = send(crate::support::call_nonce(&canary, "n")).await;
    assert!(seen.result().contains("serverInfo"));
    assert_eq!(canary.journal().dropped(), 0);
    canary.stop().await;
}

#[tokio::test]
async fn a_plan_may_leave_the_answer_to_the_family() {
    let canary = canary(|_| ()).await;
    let plan = Plan::new(Answer::Builtin).by(delivery(|d| d.status = 201));
    let (seen, _) = fire(&canary, "n", plan).await;
    assert_eq!(seen.status, 201);
    assert!(seen.result().contains(r#""structuredContent":{"nonce":"n"}"#));
    canary.stop().await;
}
