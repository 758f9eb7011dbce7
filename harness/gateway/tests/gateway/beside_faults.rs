//! Every fault of the areas `transport` and `listing` shows on at least one input.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use birdstrike_canary::{
    Answer, Canary, Cursors, Delivery, Encoding, Ending, Plan, Resumable, ToolSpec,
};
use birdstrike_gateway::{Steps, faults};
use birdstrike_wire::{envelope, json};

use super::support::*;
use super::transport::*;

/// What was seen, by probe.
type Seen = BTreeMap<&'static str, String>;

const FULL: &str = r#"{"name":"B","title":"T","description":"D","inputSchema":{"type":"object","properties":{"n":{"const":1E+02}},"$defs":{"a":{"type":"string"}}},"outputSchema":{"type":"array"},"annotations":{"readOnlyHint":true},"icons":[{"src":"data:,"}],"_meta":{"a/b":1},"other":1.0}"#;

/// Upstreams that stay the same for all faults.
struct Range {
    first: Canary,
    second: Canary,
    lists: Vec<(&'static str, Canary)>,
}

impl Range {
    async fn open() -> Self {
        let first = canary(B, |spec| {
            spec.sessions = true;
            spec.listening = true;
        })
        .await;
        let second = canary(C, |_| {}).await;
        let cursors = [
            ("pages", Cursors::Proper),
            ("empty cursor", Cursors::Empty),
            ("circle", Cursors::Repeated),
        ];
        let mut lists = Vec::new();
        for (name, cursors) in cursors {
            let long = format!(
                r#"{{"name":"a.b","description":"{}","inputSchema":{{}}}}"#,
                "x".repeat(300)
            );
            let broken = r#"{"name":"broken","inputSchema":null}"#;
            let tools = [("B", FULL), ("a.b", &long), ("broken", broken), ("Z", FULL)];
            let tools: Vec<_> = tools.into_iter().map(|(n, d)| ToolSpec::new(n, d)).collect();
            let change = |spec: &mut birdstrike_canary::UpstreamSpec| {
                (spec.tools, spec.pages, spec.cursors) = (tools.clone(), 3, cursors);
            };
            lists.push((name, canary(C, change).await));
        }
        Self { first, second, lists }
    }

    async fn fire(&self, steps: &Steps) -> Seen {
        let config = |canary: &Canary| {
            format!("upstreams: {{main: {{url: '{}', timeout_ms: 3000}}}}", canary.url("main"))
        };
        let mut seen = Seen::new();
        let running = gateway(&config(&self.first), steps).await;
        self.notes(&running, &mut seen).await;
        self.questions(&running, &mut seen).await;
        self.cancellations(&running, &mut seen).await;
        self.sessions(&running, &mut seen).await;
        self.streams(&running, &mut seen).await;
        seen.insert("a change", self.change(&running).await);
        for (name, canary) in &self.lists {
            let running = gateway(&config(canary), steps).await;
            for (name, revision) in [(*name, C), ("below", B)] {
                seen.insert(name, Client::new(&running, revision).list().await.body);
            }
        }
        let (first, second) = (self.first.url("main"), self.second.url("main"));
        let several = format!(
            "upstreams: {{a: {{url: '{first}'}}, b: {{url: '{second}'}}, c: {{url: 'http://127.0.0.1:1/'}}}}"
        );
        let running = gateway(&several, steps).await;
        seen.insert("several", Client::new(&running, C).list().await.body);
        let none = "upstreams: {main: {url: 'http://127.0.0.1:1/'}}";
        let running = gateway(none, steps).await;
        seen.insert("none", Client::new(&running, C).list().await.body);
        seen
    }

    async fn notes(&self, running: &Running, seen: &mut Seen) {
        let foreign = progress(2).replace(birdstrike_canary::TOKEN, "\"foreign\"");
        let odd = r#"{"jsonrpc":"2.0","method":"notifications/odd"}"#;
        let said = [&progress(1), &foreign, odd, &log("info")].map(|text: &str| text.to_owned());
        plan(&self.first, "s", saying(&said.each_ref().map(String::as_str)));
        for (probe, revision, id, token) in [
            ("a number", C, "7", "7"),
            ("a string", C, "\"7\"", "\"p\""),
            ("handshake", B, "7", "1"),
        ] {
            let mut client = Client::new(running, revision);
            client.meta = format!(",\"progressToken\":{token}");
            let got = client.call_as(id, "echo", &nonce("s")).await;
            seen.insert(probe, got.body);
        }
        let call = self.first.journal().take("s").pop().unwrap();
        let text = String::from_utf8(call.request.whole().unwrap().to_vec()).unwrap();
        let meta = json::get(json::get(&text, "params").unwrap(), "_meta").unwrap();
        let own = json::get(meta, "progressToken") == json::get(&text, "id");
        seen.insert("the token upstream", own.to_string());
        let lines = "{\n\"content\":[]}".to_owned();
        let answer = Answer::Rendered { member: "result", body: lines };
        self.first.script().plan("lines", Plan::new(answer).by(saying(&[&log("info")])));
        let got = Client::new(running, B).call("echo", &nonce("lines")).await;
        seen.insert("lines", messages(&got).join(" "));
    }

    async fn questions(&self, running: &Running, seen: &mut Seen) {
        for (probe, capabilities) in [("asked", r#"{"elicitation":{}}"#), ("not asked", "{}")] {
            let client = in_session(running, B, capabilities).await;
            let ids = ["ping", "ask"].map(|what| format!("\"{what}-{}\"", Self::number()));
            let ping = envelope::request(&ids[0], "ping", "{}");
            let ask = envelope::request(&ids[1], "elicitation/create", "{}");
            let delivery = Delivery { await_replies: true, ..saying(&[&ping, &ask]) };
            plan(&self.first, "q", delivery);
            let params = format!("{{\"name\":\"echo\",\"arguments\":{}}}", nonce("q"));
            let call = envelope::request("9", "tools/call", &params);
            let mut events = Events::open(request(&client, http::Method::POST, call)).await;
            let mut told = String::new();
            while let Some(message) = events.next().await {
                let asked = json::get(&message, "method").is_some();
                told += if asked { "asked " } else { &message };
                if let Some(id) = json::get(&message, "id").filter(|_| asked) {
                    let answer = envelope::result(id, r#"{"action":"decline"}"#);
                    request(&client, http::Method::POST, answer).send().await.unwrap();
                }
            }
            for id in &ids {
                let replies = self.first.journal().replies();
                let reply = replies.iter().rfind(|reply| reply.id == *id).map(|reply| {
                    let text = String::from_utf8(reply.message.whole().unwrap().to_vec()).unwrap();
                    json::get(&text, "result").unwrap_or("an error").to_owned()
                });
                told += &format!(" {reply:?}");
            }
            seen.insert(probe, told);
        }
    }

    /// A number that no other probe has.
    fn number() -> u64 {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    async fn cancellations(&self, running: &Running, seen: &mut Seen) {
        let client = in_session(running, B, "{}").await;
        let ids = ["9007199254740993", "9007199254740992", "\"9007199254740993\""];
        let names = ["ca", "cb", "cc"];
        let calls: Vec<_> = ids
            .into_iter()
            .zip(names)
            .map(|(id, name)| {
                plan(
                    &self.first,
                    name,
                    Delivery { ending: Ending::NeverAnswer, ..Delivery::default() },
                );
                let (client, arguments) = (client.clone(), nonce(name));
                tokio::spawn(async move { client.call_as(id, "echo", &arguments).await })
            })
            .collect();
        until("the calls", || names.iter().all(|name| self.first.journal().count(name) == 1)).await;
        let before = self.first.journal().others().last().map_or(0, |exchange| exchange.seq);
        let params = format!("{{\"requestId\":{}}}", ids[0]);
        let cancel = envelope::notification("notifications/cancelled", Some(&params));
        request(&client, http::Method::POST, cancel).send().await.unwrap();
        until("an end", || calls[0].is_finished()).await;
        let told = || {
            let others = self.first.journal().others().into_iter();
            let told = others.filter(|e| e.method == "notifications/cancelled" && e.seq > before);
            told.map(|exchange| exchange.request.whole().unwrap().to_vec()).collect::<Vec<_>>()
        };
        let arrives = until("a cancellation upstream", || !told().is_empty());
        let _ = tokio::time::timeout(Duration::from_millis(200), arrives).await;
        let ended: Vec<bool> = calls.iter().map(tokio::task::JoinHandle::is_finished).collect();
        calls.iter().for_each(tokio::task::JoinHandle::abort);
        let told = told();
        let mut meant = Vec::new();
        for name in names {
            let call = self.first.journal().take(name).pop().unwrap();
            let text = String::from_utf8(call.request.whole().unwrap().to_vec()).unwrap();
            let id = format!("\"requestId\":{}}}", json::get(&text, "id").unwrap());
            let named = |text: &Vec<u8>| String::from_utf8(text.clone()).unwrap().contains(&id);
            meant.push(told.iter().any(named));
        }
        seen.insert("cancelled", format!("{ended:?} {meant:?}"));
    }

    async fn sessions(&self, running: &Running, seen: &mut Seen) {
        let mut client = Client::new(running, B);
        client.headers.push(("mcp-session-id".into(), "unknown".into()));
        seen.insert("unknown session", client.ask("1", "ping", None, "").await.status.to_string());
        let client = Client::new(running, B);
        client.call("echo", "{}").await;
        // As if the upstream had forgotten the session.
        for (probe, status) in [("session lost", 404), ("status 500", 500)] {
            let error = envelope::error_object(-32600, "no such session", None);
            let delivery = Delivery { status, ..Delivery::default() };
            let answer = Answer::Rendered { member: "error", body: error };
            self.first.script().plan("x", Plan::new(answer).by(delivery));
            client.call("echo", &nonce("x")).await;
            seen.insert(probe, self.first.journal().take("x").len().to_string());
        }
    }

    async fn streams(&self, running: &Running, seen: &mut Seen) {
        let resumable = Resumable { events: 1, ready: Duration::ZERO, retry: Some(50) };
        let delivery = Delivery { resumable: Some(resumable), ..Delivery::of(Encoding::Sse) };
        plan(&self.first, "r", delivery);
        let started = Instant::now();
        let got = Client::new(running, C).call("echo", &nonce("r")).await;
        let waited = started.elapsed() >= Duration::from_millis(50);
        seen.insert("resumed", format!("{waited} {}", got.body));
    }

    async fn change(&self, running: &Running) -> String {
        let client = in_session(running, B, "{}").await;
        let mut events = Events::open(request(&client, http::Method::GET, String::new())).await;
        let change = envelope::notification("notifications/tools/list_changed", None);
        until("somebody listens", || self.first.announce("main", &change) > 0).await;
        match tokio::time::timeout(Duration::from_millis(300), events.next()).await {
            Ok(message) => message.unwrap(),
            Err(_) => "nothing".into(),
        }
    }
}

/// Faults that take a request that breaks rules, several upstreams or programs, streams that are
/// lost, or lists that change while the gateway runs. The scenarios of `transport` and `listing` catch them.
const NOT_FIRED: [&str; 35] = [
    "any-origin-served",
    "every-page-refused",
    "string-ids-refused",
    "headers-not-compared",
    "coded-headers-refused",
    "any-version-served",
    "version-demanded",
    "capabilities-not-demanded",
    "refusals-with-codes-of-their-own",
    "notifications-answered",
    "closed-connection-unheard",
    "lost-connection-cancels",
    "calls-to-the-first-upstream",
    "names-split-at-the-last-dot",
    "listed-names-sent-up",
    "names-trimmed",
    "arguments-through-doubles",
    "coded-arguments-decoded",
    "further-input-dropped",
    "requests-name-their-version-twice",
    "request-metadata-without-version",
    "gateway-unnamed",
    "accepts-json-alone",
    "version-not-sent-up",
    "method-and-name-not-sent-up",
    "params-not-sent-up",
    "bad-header-annotations-listed",
    "listing-kept-for-ever",
    "resource-definition-rebuilt",
    "task-support-claimed",
    "progress-to-whoever-calls",
    "one-id-for-all",
    "lost-stream-asked-again-as-it-was",
    "late-answer-to-who-waits",
    "capabilities-forgotten",
];

#[tokio::test]
async fn each_fault_beside_the_results_shows() {
    let range = Range::open().await;
    let right = range.fire(&Steps::RIGHT).await;
    let again = range.fire(&Steps::RIGHT).await;
    let differ: Vec<_> = right.keys().filter(|probe| again[*probe] != right[*probe]).collect();
    assert!(differ.is_empty(), "a right gateway does not do the same twice: {differ:?}");
    let faults = faults::all().iter().copied().flatten();
    let fired = |fault: &&faults::Fault| {
        ["listing", "transport"].contains(&fault.surface) && !NOT_FIRED.contains(&fault.name)
    };
    let mut hidden = Vec::new();
    for fault in faults.filter(fired) {
        let mut steps = Steps::RIGHT;
        (fault.apply)(&mut steps);
        let wrong = range.fire(&steps).await;
        let differ: Vec<_> = right.keys().filter(|probe| wrong[*probe] != right[*probe]).collect();
        println!("{}: {differ:?}", fault.name);
        if differ.is_empty() {
            hidden.push(fault.name);
        }
    }
    assert!(hidden.is_empty(), "nothing that is fired shows {hidden:?}");
}
