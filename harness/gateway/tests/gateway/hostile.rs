//! Upstreams that break every rule: a bounded failure with its name, and a gateway that is well
//! afterwards.

use birdstrike_gateway::Steps;

use super::support::*;

async fn hurried(upstream: &Upstream) -> Running {
    let config = format!("upstreams: {{main: {{url: '{}', timeout_ms: 400}}}}", upstream.url);
    gateway(&config, &Steps::RIGHT).await
}

fn body(content_type: &'static str, text: &str) -> Say {
    Say::Body { content_type, bytes: text.as_bytes().to_vec(), endless: false }
}

/// Calls a tool that answers like this, and one that is well.
async fn each_is(answers: impl IntoIterator<Item = (Say, &'static str, &'static str)>) {
    let upstream = Upstream::start(C, Framing::Length);
    let running = hurried(&upstream).await;
    let client = Client::new(&running, C);
    upstream.result("good", r#"{"resultType":"complete","content":[]}"#);
    for (say, cause, says) in answers {
        let shown = format!("{say:?}").chars().take(200).collect::<String>();
        upstream.tool("bad", say);
        let got = client.call("bad", "{}").await;
        assert_eq!(got.cause(), cause, "{shown}: {got:?}");
        assert!(got.message().contains(says), "{shown}: {got:?}");
        assert!(got.body.starts_with(r#"{"jsonrpc":"2.0","id":7,"#));
        assert!(client.call("good", "{}").await.result().contains("complete"), "{shown}");
    }
}

#[tokio::test]
async fn each_broken_message_has_its_name_and_harms_nobody() {
    let deep = format!(r#"{{"jsonrpc":"2.0","id":{{id}},"result":{}"#, "[".repeat(200_000));
    let bad = [
        (r#"{"jsonrpc":"2.0","id":{id},"res"#, "not JSON"),
        ("", "not JSON"),
        (&deep, "not JSON"),
        (r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, "not that of the request"),
        (r#"{"jsonrpc":"2.0","id":{id},"result":{},"error":{"code":1,"message":""}}"#, "both"),
        (r#"{"jsonrpc":"2.0","id":{id}}"#, "neither `result` nor `error`"),
        (r#"[{"jsonrpc":"2.0","id":{id},"result":{}}]"#, "expected an object"),
    ];
    each_is(bad.map(|(text, says)| (body("application/json", text), "bad_answer", says))).await;
    let bad_text = b"{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"a\":\"\xff\"}}".to_vec();
    each_is([(Say::Message(bad_text), "bad_answer", "not UTF-8")]).await;
}

#[tokio::test]
async fn each_broken_body_has_its_name_and_harms_nobody() {
    each_is([
        (body("text/html", "<p>no"), "bad_answer", "HTTP status 200 without a JSON-RPC message"),
        (Say::Status(502), "bad_answer", "HTTP status 502"),
        (Say::Status(204), "bad_answer", "HTTP status 204"),
        (Say::Short(r#"{"jsonrpc":"2.0","#.into()), "bad_answer", "broke off"),
        (Say::Silence, "timeout", "400 ms"),
    ])
    .await;
}

#[tokio::test]
async fn each_broken_stream_has_its_name_and_harms_nobody() {
    let events = "text/event-stream";
    let stranger = "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n";
    let unfinished = "data: {\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{}}";
    let endless = b": hello\n\n".to_vec();
    each_is([
        (body(events, ": nothing\n\n"), "bad_answer", "ended without an answer"),
        (body(events, stranger), "bad_answer", "with 1 to others"),
        (body(events, "data: {\"half\n\n"), "bad_answer", "not JSON"),
        (body(events, unfinished), "bad_answer", "ended without an answer"),
        (Say::Body { content_type: events, bytes: endless, endless: true }, "timeout", "400 ms"),
    ])
    .await;
}

#[tokio::test]
async fn deep_nesting_that_is_legal_passes() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = hurried(&upstream).await;
    let deep = format!(
        r#"{{"resultType":"complete","content":[],"structuredContent":{}{}}}"#,
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    upstream.result("deep", &deep);
    let got = Client::new(&running, C).call("deep", "{}").await;
    assert!(got.result().contains(&deep[20..]));
}

#[tokio::test]
async fn of_two_answers_the_first_counts() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = hurried(&upstream).await;
    let one = |who| {
        format!(
            "data: {{\"jsonrpc\":\"2.0\",\"id\":{{id}},\"result\":{{\"resultType\":\"complete\",\"content\":[],\"who\":\"{who}\"}}}}\n\n"
        )
    };
    upstream.tool("two", body("text/event-stream", &(one("first") + &one("second"))));
    let got = Client::new(&running, C).call("two", "{}").await;
    assert!(got.result().contains("first") && !got.result().contains("second"));
}

#[tokio::test]
async fn an_answer_in_an_endless_stream_is_found() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = hurried(&upstream).await;
    let text = "\u{feff}: hi\r\n\r\nid: 1\ndata:\n\nevent: message\rdata: {\"jsonrpc\":\"2.0\",\rdata: \"id\":{id},\"result\":{\"resultType\":\"complete\",\"content\":[]}}\r\r";
    let bytes = text.as_bytes().to_vec();
    upstream.tool("x", Say::Body { content_type: "text/event-stream", bytes, endless: true });
    let client = Client::new(&running, C);
    for _ in 0..3 {
        assert!(client.call("x", "{}").await.result().contains("complete"));
    }
}

#[tokio::test]
async fn an_error_status_does_not_hide_the_error() {
    for (status, code) in [(400, -32602), (404, -32601), (500, -32603), (200, -32000)] {
        let upstream = Upstream::start(C, Framing::Length);
        let running = hurried(&upstream).await;
        let error = format!(r#"{{"code":{code},"message":"mine","data":{{"n":1.0}}}}"#);
        upstream.tool("x", Say::ErrorWith(status, error.clone()));
        assert_eq!(Client::new(&running, C).call("x", "{}").await.error(), error);
    }
}

#[tokio::test]
async fn requests_that_are_none_are_refused() {
    let upstream = Upstream::start(C, Framing::Length);
    let running = hurried(&upstream).await;
    let client = Client::new(&running, C);
    let version = ("mcp-protocol-version".to_owned(), "2025-11-25".to_owned());
    for (body, status, code) in [
        ("{", 400, -32700),
        ("[]", 400, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, 400, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#, 200, -32602),
    ] {
        let got = client.raw(body, std::slice::from_ref(&version)).await;
        assert_eq!((got.status, got.code()), (status, code), "{body}: {got:?}");
    }
    let origin = ("origin".to_owned(), "http://example.org".to_owned());
    assert_eq!(
        client.raw(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, &[origin]).await.status,
        403
    );
    let got = client.ask("1", "nope", None, "").await;
    assert_eq!((got.status, got.code()), (404, -32601));
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = |version| http.get(running.gateway.url()).header("mcp-protocol-version", version);
    assert_eq!(get("2025-11-25").send().await.unwrap().status(), 400);
    assert_eq!(get("2026-07-28").send().await.unwrap().status(), 405);
}
