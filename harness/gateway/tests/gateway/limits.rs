//! The limit, in every framing: the limit itself passes, a byte more is refused by its name, and the
//! next call works.

use birdstrike_gateway::Steps;

use super::support::*;

pub(crate) const LIMIT: usize = 20_000;

/// A result whose whole message, under an id of one digit, has this many bytes.
pub(crate) fn sized(bytes: usize) -> String {
    let frame = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":""}]}}"#;
    let text = "x".repeat(bytes - frame.len());
    format!(r#"{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}]}}"#)
}

async fn limited(framing: Framing) -> (Upstream, Running) {
    let upstream = Upstream::start(C, framing);
    let config =
        format!("upstreams: {{main: {{url: '{}', max_response_bytes: {LIMIT}}}}}", upstream.url);
    let running = gateway(&config, &Steps::RIGHT).await;
    (upstream, running)
}

#[tokio::test]
async fn the_limit_is_the_same_in_every_framing() {
    for framing in [Framing::Length, Framing::Chunked, Framing::Events, Framing::Gzip] {
        let (upstream, running) = limited(framing).await;
        let client = Client::new(&running, C);
        // Ids count from 1, so that all of these have one digit.
        for (size, passes) in [(LIMIT - 1, true), (LIMIT, true), (LIMIT + 1, false)] {
            upstream.result("sized", &sized(size));
            let got = client.call("sized", "{}").await;
            if passes {
                assert!(got.result().contains("xxx"), "{framing:?} {size}: {}", got.body.len());
                continue;
            }
            assert_eq!((got.code(), got.cause().as_str()), (-31003, "response_too_large"));
            assert_eq!(got.message(), "the upstream's answer is larger than 20000 bytes");
            assert!(got.error().contains(r#""upstream":"main","limit_bytes":20000"#));
        }
        upstream.result("sized", &sized(LIMIT * 64));
        assert_eq!(client.call("sized", "{}").await.cause(), "response_too_large", "{framing:?}");
        upstream.result("sized", &sized(200));
        assert!(client.call("sized", "{}").await.result().contains("xxx"), "{framing:?}");
    }
}

#[tokio::test]
async fn a_small_body_that_inflates_to_a_huge_one_is_refused() {
    let (upstream, running) = limited(Framing::Gzip).await;
    upstream.result("bomb", &sized(50 << 20));
    let got = Client::new(&running, C).call("bomb", "{}").await;
    assert_eq!(got.cause(), "response_too_large");
}

#[tokio::test]
async fn an_oversized_answer_is_an_entry_and_its_siblings_arrive() {
    let (upstream, running) = limited(Framing::Chunked).await;
    upstream.result("large", &sized(LIMIT + 1)).result("small", &sized(200));
    let calls = r#"{"calls":[{"tool":"small"},{"tool":"large"},{"tool":"small"}]}"#;
    let got = Client::new(&running, C).call("gateway_call", calls).await;
    assert!(got.result().contains(r#""total":3,"succeeded":2,"failed":1"#));
    assert!(got.result().contains(
        r#""error":"the upstream's answer is larger than 20000 bytes","error_type":"response_too_large""#
    ));
}

#[tokio::test]
async fn a_request_has_a_limit_too() {
    let upstream = Upstream::start(C, Framing::Length);
    let config = format!(
        "{{upstreams: {{main: {{url: '{}'}}}}, limits: {{max_request_bytes: 5000}}}}",
        upstream.url
    );
    let running = gateway(&config, &Steps::RIGHT).await;
    let client = Client::new(&running, C);
    let got = client.call("x", &format!("{{\"s\":\"{}\"}}", "x".repeat(5000))).await;
    assert_eq!((got.status, got.code()), (413, -32600));
    assert_eq!(client.list().await.status, 200);
}
