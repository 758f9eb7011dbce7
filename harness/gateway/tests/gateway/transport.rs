//! What travels beside the results: progress, logs, questions, cancellations, sessions, changes.

use std::time::{Duration, Instant};

use birdstrike_canary::{
    Answer, Canary, Config, Delivery, Encoding, Ending, Plan, Resumable, TOKEN, UpstreamSpec,
};
use birdstrike_gateway::Steps;
use birdstrike_wire::{Revision, envelope, json, sse};

use super::support::*;

const GOOD: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"done"}]}"#;

pub(crate) async fn canary(revision: Revision, change: impl Fn(&mut UpstreamSpec)) -> Canary {
    let mut config = Config::default();
    config.upstreams[0].revisions = vec![revision];
    change(&mut config.upstreams[0]);
    Canary::start(config).await.unwrap()
}

async fn in_front(canary: &Canary) -> Running {
    gateway(&format!("upstreams: {{main: {{url: '{}'}}}}", canary.url("main")), &Steps::RIGHT).await
}

pub(crate) fn plan(canary: &Canary, nonce: &str, delivery: Delivery) {
    let answer = Answer::Rendered { member: "result", body: GOOD.into() };
    canary.script().plan(nonce, Plan::new(answer).by(delivery));
}

pub(crate) fn saying(before: &[&str]) -> Delivery {
    let before = before.iter().map(|message| (*message).to_owned()).collect();
    Delivery { before, ..Delivery::of(Encoding::Sse) }
}

pub(crate) fn progress(value: u8) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{TOKEN},"progress":{value},"x":1E+02}}}}"#
    )
}

pub(crate) fn log(level: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":"d"}}}}"#
    )
}

/// The messages of an answer, whichever form it has.
pub(crate) fn messages(got: &Got) -> Vec<String> {
    if got.body.starts_with('{') {
        return vec![got.body.clone()];
    }
    let mut parser = sse::Parser::new(sse::Limits::default());
    parser.push(got.body.as_bytes(), Duration::ZERO).unwrap();
    parser.drain().map(|event| String::from_utf8(event.data).unwrap()).collect()
}

pub(crate) fn nonce(nonce: &str) -> String {
    format!("{{\"nonce\":\"{nonce}\"}}")
}

/// A client in a session of its own.
pub(crate) async fn in_session(
    running: &Running,
    revision: Revision,
    capabilities: &str,
) -> Client {
    let mut client = Client::new(running, revision);
    let params = format!(
        r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"t","version":"1"}}}}"#
    );
    let request = client.http.post(&client.url).header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream");
    let response =
        request.body(envelope::request("0", "initialize", &params)).send().await.unwrap();
    let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    client.headers.push(("mcp-session-id".into(), id));
    client
}

fn notification(method: &str, params: &str) -> String {
    envelope::notification(method, Some(params))
}

/// A stream that is read message by message.
pub(crate) struct Events {
    response: reqwest::Response,
    parser: sse::Parser,
}

impl Events {
    pub(crate) async fn open(request: reqwest::RequestBuilder) -> Self {
        let response = tokio::time::timeout(DEADLINE, request.send()).await.unwrap().unwrap();
        assert_eq!(response.status(), 200);
        Self { response, parser: sse::Parser::new(sse::Limits::default()) }
    }

    /// The next message; none at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(event) = self.parser.pop() {
                return Some(String::from_utf8(event.data).unwrap());
            }
            let chunk = tokio::time::timeout(DEADLINE, self.response.chunk()).await.unwrap();
            self.parser.push(&chunk.unwrap()?, Duration::ZERO).unwrap();
        }
    }
}

pub(crate) fn request(
    client: &Client,
    method: http::Method,
    body: String,
) -> reqwest::RequestBuilder {
    let mut request = client.http.request(method, &client.url).body(body);
    request = request.header("content-type", "application/json");
    request = request.header("accept", "application/json, text/event-stream");
    request = request.header("mcp-protocol-version", client.revision.as_str());
    for (name, value) in &client.headers {
        request = request.header(name, value);
    }
    request
}

#[tokio::test]
async fn progress_comes_before_the_answer_under_the_clients_own_token() {
    for up in Revision::ALL {
        let canary = canary(up, |_| {}).await;
        let running = in_front(&canary).await;
        let said = [progress(1), progress(2), progress(3)];
        plan(&canary, "p", saying(&said.each_ref().map(String::as_str)));
        for down in Revision::ALL {
            for token in ["7", "\"p-7\"", "\"7\""] {
                let mut client = Client::new(&running, down);
                client.meta = format!(",\"progressToken\":{token}");
                let got = messages(&client.call("echo", &nonce("p")).await);
                assert_eq!(got.len(), 4, "{up} to {down}: {got:?}");
                for (at, message) in got[..3].iter().enumerate() {
                    assert_eq!(
                        json::get(message, "params").unwrap(),
                        format!(r#"{{"progressToken":{token},"progress":{},"x":1E+02}}"#, at + 1)
                    );
                }
                assert!(got[3].contains("\"id\":7") && got[3].contains("done"));
            }
            let got = Client::new(&running, down).call("echo", &nonce("p")).await;
            assert!(got.result().contains("done"), "{got:?}");
        }
        canary.stop().await;
    }
}

#[tokio::test]
async fn clients_with_the_same_token_and_id_hear_only_their_own() {
    let canary = canary(B, |_| {}).await;
    let running = in_front(&canary).await;
    let calls = (0..20).map(|number| {
        let name = format!("n{number}");
        let said = progress(1).replace("1E+02", &format!("\"{name}\""));
        plan(&canary, &name, Delivery { pause: Duration::from_millis(5), ..saying(&[&said]) });
        let mut client = Client::new(&running, B);
        client.meta = ",\"progressToken\":1".into();
        async move {
            let got = messages(&client.call_as("1", "echo", &nonce(&name)).await);
            assert!(got[0].contains(&format!("\"x\":\"{name}\"")), "{name}: {got:?}");
            assert_eq!(got.len(), 2);
        }
    });
    futures_util::future::join_all(calls).await;
}

#[tokio::test]
async fn logs_reach_those_who_want_them() {
    let canary = canary(B, |_| {}).await;
    let running = in_front(&canary).await;
    plan(&canary, "l", saying(&[&log("debug"), &log("error")]));
    let heard = async |client: &Client| messages(&client.call("echo", &nonce("l")).await).len() - 1;
    assert_eq!(heard(&Client::new(&running, C)).await, 0);
    let mut asking = Client::new(&running, C);
    asking.meta = r#","io.modelcontextprotocol/logLevel":"warning""#.into();
    assert_eq!(heard(&asking).await, 1);
    let client = in_session(&running, B, "{}").await;
    assert_eq!(heard(&client).await, 2);
    let set = client.ask("1", "logging/setLevel", None, r#""level":"error""#).await;
    assert_eq!(set.result(), "{}");
    assert_eq!(heard(&client).await, 1);
    assert_eq!(client.ask("2", "logging/setLevel", None, r#""level":"loud""#).await.code(), -32602);
}

#[tokio::test]
async fn a_question_goes_to_the_client_that_can_answer_it() {
    let canary = canary(B, |_| {}).await;
    let running = in_front(&canary).await;
    let ping = r#"{"jsonrpc":"2.0","id":"up-1","method":"ping"}"#;
    let elicit = r#"{"jsonrpc":"2.0","id":"up-2","method":"elicitation/create","params":{"message":"Name?","x":1E+02}}"#;
    plan(&canary, "q", Delivery { await_replies: true, ..saying(&[ping, elicit]) });
    let replied = |id: &str| {
        let replies = canary.journal().replies();
        let reply = replies.iter().rfind(|reply| reply.id == id).unwrap();
        String::from_utf8(reply.message.whole().unwrap().to_vec()).unwrap()
    };

    let client = in_session(&running, B, r#"{"elicitation":{}}"#).await;
    let params = format!("{{\"name\":\"echo\",\"arguments\":{}}}", nonce("q"));
    let call = envelope::request("9", "tools/call", &params);
    let mut events = Events::open(request(&client, http::Method::POST, call.clone())).await;
    let question = events.next().await.unwrap();
    assert!(question.contains(r#""method":"elicitation/create""#) && question.contains("1E+02"));
    let id = json::get(&question, "id").unwrap();
    assert_ne!(id, "\"up-2\"");
    let answer = envelope::result(id, r#"{"action":"accept","content":{"n":1.0}}"#);
    let told = request(&client, http::Method::POST, answer).send().await.unwrap();
    assert_eq!(told.status(), 202);
    let last = events.next().await.unwrap();
    assert!(last.contains("\"id\":9") && last.contains("done"), "{last}");
    assert_eq!(events.next().await, None);
    assert!(replied("\"up-1\"").contains(r#""result":{}"#));
    let reply = replied("\"up-2\"");
    assert!(reply.contains(r#""result":{"action":"accept","content":{"n":1.0}}"#), "{reply}");

    // Whoever declared nothing is not asked.
    for client in [in_session(&running, B, "{}").await, Client::new(&running, C)] {
        let elicit = elicit.replace("up-2", "up-3");
        plan(&canary, "r", Delivery { await_replies: true, ..saying(&[&elicit]) });
        let got = client.call("echo", &nonce("r")).await;
        assert!(got.result().contains("done"), "{got:?}");
        assert!(replied("\"up-3\"").contains("-32601"));
    }
}

#[tokio::test]
async fn a_cancelled_request_is_cancelled_upstream_under_its_id_there() {
    let canary = canary(B, |spec| spec.sessions = true).await;
    let running = in_front(&canary).await;
    let client = in_session(&running, A, "{}").await;
    for name in ["c", "d"] {
        plan(&canary, name, Delivery { ending: Ending::NeverAnswer, ..Delivery::default() });
    }
    let call = |id: &str, name: &str| {
        let (client, id, arguments) = (client.clone(), id.to_owned(), nonce(name));
        tokio::spawn(async move { client.call_as(&id, "echo", &arguments).await })
    };
    let (other, meant) = (call("101", "d"), call("\"101\"", "c"));
    until("both calls", || canary.journal().count("c") + canary.journal().count("d") == 2).await;
    // Another session's id, and no session, mean nothing.
    let stranger = in_session(&running, A, "{}").await;
    let body = notification("notifications/cancelled", r#"{"requestId":"101"}"#);
    for client in [&stranger, &Client::new(&running, A), &client] {
        let sent = request(client, http::Method::POST, body.clone()).send().await.unwrap();
        assert_eq!(sent.status(), 202);
    }
    let got = tokio::time::timeout(DEADLINE, meant).await.unwrap().unwrap();
    assert_eq!((got.status, got.body.as_str()), (200, ""));
    until("the cancellation upstream", || {
        canary.journal().others().iter().any(|e| e.method == "notifications/cancelled")
    })
    .await;
    let told = canary.journal().others();
    let told: Vec<_> = told.iter().filter(|e| e.method == "notifications/cancelled").collect();
    let id = |bytes: &[u8], name| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        json::get(&text, name).unwrap().to_owned()
    };
    let call = canary.journal().take("c").pop().unwrap();
    let cancelled = id(told[0].request.whole().unwrap(), "params");
    assert_eq!(told.len(), 1);
    assert_eq!(json::get(&cancelled, "requestId"), Some(&*id(call.request.whole().unwrap(), "id")));
    assert!(!other.is_finished());
    other.abort();
}

#[tokio::test]
async fn a_session_is_served_until_it_ends_and_in_its_revision() {
    let canary = canary(C, |_| {}).await;
    let running = in_front(&canary).await;
    let client = in_session(&running, B, "{}").await;
    assert_eq!(client.ask("1", "ping", None, "").await.status, 200);
    let mut wrong = client.clone();
    wrong.revision = A;
    assert_eq!(wrong.ask("1", "ping", None, "").await.status, 400);
    let ended = request(&client, http::Method::DELETE, String::new()).send().await.unwrap();
    assert_eq!(ended.status(), 204);
    for method in [http::Method::DELETE, http::Method::GET] {
        let gone = request(&client, method, String::new()).send().await.unwrap();
        assert_eq!(gone.status(), 404);
    }
    let got = client.ask("1", "ping", None, "").await;
    assert_eq!((got.status, json::get(&got.body, "id")), (404, Some("1")));
}

#[tokio::test]
async fn a_stream_that_broke_is_taken_up_again_when_its_server_wants() {
    for sessions in [false, true] {
        let canary = canary(B, |spec| spec.sessions = sessions).await;
        let running = in_front(&canary).await;
        for events in 1..=3 {
            let name = format!("n{events}");
            let said = progress(1);
            let resumable = Resumable { events, ready: Duration::ZERO, retry: Some(60) };
            plan(&canary, &name, Delivery { resumable: Some(resumable), ..saying(&[&said]) });
            let mut client = Client::new(&running, C);
            client.meta = ",\"progressToken\":1".into();
            let started = Instant::now();
            let got = messages(&client.call("echo", &nonce(&name)).await);
            assert_eq!(got.len(), 2, "{events}: {got:?}");
            assert!(got[1].contains("done"));
            assert!(events == 3 || started.elapsed() >= Duration::from_millis(60));
        }
    }
}

#[tokio::test]
async fn a_change_is_told_to_each_who_listens_once() {
    let canary = canary(B, |spec| {
        spec.listening = true;
        spec.sessions = true;
    })
    .await;
    let running = in_front(&canary).await;
    let old = in_session(&running, B, "{}").await;
    let mut first = Events::open(request(&old, http::Method::GET, String::new())).await;
    let new = Client::new(&running, C);
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let params = format!(r#"{{"notifications":{{"toolsListChanged":true}},"_meta":{meta}}}"#);
    let listen = envelope::request("\"s\"", "subscriptions/listen", &params);
    let listen = request(&new, http::Method::POST, listen);
    let listen = listen.header("mcp-method", "subscriptions/listen");
    let mut second = Events::open(listen).await;
    let acknowledged = second.next().await.unwrap();
    assert!(acknowledged.contains("notifications/subscriptions/acknowledged"), "{acknowledged}");
    assert!(acknowledged.contains(r#""notifications":{"toolsListChanged":true}"#));
    let change = |what: &str| {
        let method = format!("notifications/{what}/list_changed");
        canary.announce("main", &envelope::notification(&method, None))
    };
    until("the gateway listens", || change("prompts") == 1).await;
    change("tools");
    let told = second.next().await.unwrap();
    assert!(told.contains("tools/list_changed") && told.contains(r#"/subscriptionId":"s""#));
    let mut told = first.next().await.unwrap();
    while told.contains("prompts") {
        told = first.next().await.unwrap();
    }
    assert!(told.contains("notifications/tools/list_changed"), "{told}");
    running.gateway.stop().await;
    assert!(second.next().await.unwrap().contains(r#""id":"s","result""#));
    assert_eq!((first.next().await, second.next().await), (None, None));
}
