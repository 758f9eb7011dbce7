//! `POST /invoke`, and who may call at all.

use birdstrike_gateway::Steps;
use birdstrike_wire::json;

use super::support::*;

const ODD: &str = r#"{ "resultType":"complete","content":[ {"type":"resource_link","uri":"a:b","name":"n"} ],"x":{"x":1E+02,"x":"\ud800"} }"#;
const FAILED: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"\u006eo row"}],"isError":true,"structuredContent":{"n":1.0}}"#;
const ERROR: &str = r#"{"code":-32001.0,"message":"bad","data":[ 1 ]}"#;

fn names(body: &str) -> Vec<String> {
    json::members(body).unwrap().iter().map(|member| member.key().into_owned()).collect()
}

#[tokio::test]
async fn each_ending_has_its_form() {
    let upstream = Upstream::start(C, Framing::Events);
    upstream.result("odd", ODD).result("failed", FAILED);
    upstream.tool("error", Say::Error(ERROR.into())).tool("gone", Say::Status(500));
    upstream.tool("echo", Say::Echo);
    let running = before(&upstream).await;
    let client = Client::new(&running, C);
    let invoke = async |tool: &str| client.invoke(&format!("{{\"tool\":\"{tool}\"}}")).await;

    assert_eq!(invoke("odd").await, Got { status: 200, body: format!("{{\"result\":{ODD}}}") });
    let failed = invoke("failed").await.body;
    assert_eq!(failed, format!(r#"{{"upstream_result":{FAILED},"error":"\u006eo row"}}"#));
    let error = invoke("error").await.body;
    assert_eq!(error, format!(r#"{{"upstream_error":{ERROR},"error":"bad"}}"#));
    let gone = invoke("gone").await;
    assert_eq!((gone.status, names(&gone.body)), (200, vec!["error".into(), "error_type".into()]));
    assert_eq!(json::get(&gone.body, "error_type"), Some("\"bad_answer\""));

    let arguments = r#"{ "n":9007199254740993 }"#;
    let body = format!("{{\"tool\":\"echo\",\"arguments\":{arguments}}}");
    assert!(client.invoke(&body).await.body.contains(arguments));
    let log = running.log.events("call");
    assert!(log.iter().all(|line| line.contains("\"route\":\"facade\"")), "{log:?}");
    assert_eq!(log.len(), 5);
}

#[tokio::test]
async fn a_large_result_is_never_cut_and_keeps_its_links() {
    let upstreams = [Upstream::start(C, Framing::Length), Upstream::start(A, Framing::Length)];
    let text = "x".repeat(9000);
    let large = format!(
        r#"{{"resultType":"complete","content":[{{"type":"resource_link","uri":"a:b","name":"{text}"}}]}}"#
    );
    upstreams[0].result("large", &large);
    let config = format!(
        "upstreams: {{a: {{url: '{}'}}, b: {{url: '{}'}}}}\ntruncation: {{max_batch_bytes: 2000}}",
        upstreams[0].url, upstreams[1].url
    );
    let running = gateway(&config, &Steps::RIGHT).await;
    let client = Client::new(&running, C);
    let got = client.invoke(r#"{"tool":"a.large"}"#).await.body;
    assert_eq!(got, format!("{{\"result\":{large}}}"));
    let unknown = client.invoke(r#"{"tool":"large"}"#).await.body;
    assert_eq!(json::get(&unknown, "error_type"), Some("\"unknown_tool\""));
}

#[tokio::test]
async fn what_is_no_call_is_refused() {
    let upstream = Upstream::start(C, Framing::Length);
    let config = format!(
        "upstreams: {{a: {{url: '{}'}}}}\nlimits: {{max_request_bytes: 300}}",
        upstream.url
    );
    let running = gateway(&config, &Steps::RIGHT).await;
    let client = Client::new(&running, C);
    let long = format!("{{\"tool\":\"{}\"}}", "x".repeat(300));
    for (body, status) in [("{", 400), ("[]", 400), ("{}", 400), ("\"\"", 400), (&*long, 413)] {
        let got = client.invoke(body).await;
        assert_eq!(got.status, status, "{body}");
        assert_eq!(json::get(&got.body, "error_type"), Some("\"bad_request\""));
    }
    let mut elsewhere = client.clone();
    elsewhere.headers.push(("origin".into(), "http://example.org".into()));
    assert_eq!(elsewhere.invoke(r#"{"tool":"x"}"#).await.status, 403);
    assert!(upstream.received("tools/call").is_empty());
}

#[tokio::test]
async fn only_who_is_known_may_call() {
    let upstream = Upstream::start(C, Framing::Length);
    upstream.result("odd", ODD);
    let config = format!(
        "upstreams: {{a: {{url: '{}'}}}}\nidentities: {{alice: {{token: token-of-alice}}, bob: {{token: token-of-bob}}}}",
        upstream.url
    );
    let running = gateway(&config, &Steps::RIGHT).await;
    for (down, token) in [(A, "token-of-alice"), (C, "token-of-bob")] {
        let known = Client::new(&running, down).with_token(token);
        assert!(known.call("odd", "{}").await.body.contains("a:b"));
        assert_eq!(known.invoke(r#"{"tool":"odd"}"#).await.status, 200);
        let nobody = Client::new(&running, down);
        for stranger in [nobody.clone(), nobody.with_token("token-of-nobody")] {
            let got = stranger.call("odd", "{}").await;
            assert_eq!((got.status, got.body.as_str()), (401, ""));
            assert_eq!(stranger.invoke(r#"{"tool":"odd"}"#).await.status, 401);
        }
    }
    assert_eq!(upstream.received("tools/call").len(), 4);
    assert!(!running.log.text().contains("token-of-alice"));
}
