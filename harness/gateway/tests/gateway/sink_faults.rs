//! Every fault of the sinks shows in one of them, and the caller sees nothing of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use birdstrike_gateway::Steps;
use birdstrike_gateway::faults::{self, Fault};
use futures_util::StreamExt;
use regex::Regex;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::limits::{LIMIT, sized};
use super::support::receiver::{Folder, Receiver};
use super::support::*;

/// Faults of the sinks in other surfaces.
const ELSEWHERE: [&str; 5] = [
    "tool-error-told-as-completed",
    "span-of-tool-error-ok",
    "tool-error-counts-as-outage",
    "code-lost-in-sinks",
    "text-alone-told-as-failed",
];

/// Whether a fault can be seen in the sinks alone.
pub(crate) fn is_of_sinks(fault: &Fault) -> bool {
    ["redaction", "audit-export"].contains(&fault.surface) || ELSEWHERE.contains(&fault.name)
}

const ODD_TOOL: &str = "main.a|b=c]\"\\\t\nd";

/// What was seen, by sink.
type Seen = BTreeMap<&'static str, String>;

fn upstream() -> Upstream {
    let upstream = Upstream::start(A, Framing::Length);
    let text = |text: &str, more: &str| {
        format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]{more}}}"#)
    };
    upstream.result("good", &text("fine é", ""));
    upstream.result("over", &sized(LIMIT + 1));
    let words = format!("no:\\npassword=hunter2 own-secret {}", "é".repeat(300));
    upstream.result("fails", &text(&words, r#","isError":true"#));
    let error = format!(r#"{{"code":-7,"message":"{words}"}}"#);
    upstream.tool("error", Say::Error(error));
    upstream
}

fn config(upstream: &Upstream, folder: &Folder, url: &str, tcp: &str) -> String {
    let stdio = super::stdio::config(C);
    let stdio = stdio.strip_prefix("upstreams: {main: ").unwrap().strip_suffix('}').unwrap();
    let audit = ["cef", "leef", "jsonl", "syslog"].map(|format| {
        format!("  - {{format: {format}, to: {{file: '{}'}}}}\n", folder.file(format))
    });
    format!(
        "upstreams:\n  main: {{url: '{}', max_response_bytes: {LIMIT}}}\n  stdio: {stdio}\n\
         log: {{file: '{}'}}\nevents: {{}}\nalerts: {{webhook: '{url}/alert'}}\n\
         audit:\n{}  - {{format: cef, to: {{tcp: '{tcp}'}}}}\n\
         telemetry: {{otlp: '{url}'}}\nredaction: {{values: [own-secret]}}\n",
        upstream.url,
        folder.file("log"),
        audit.concat(),
    )
}

/// Calls, and collects what every sink was told of them.
async fn fire(upstream: &Upstream, steps: &Steps) -> Seen {
    let folder = Folder::new();
    let (receiver, url) = Receiver::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let tcp = listener.local_addr().unwrap().to_string();
    let running = gateway(&config(upstream, &folder, &url, &tcp), steps).await;
    let client = Client::new(&running, A);
    let many = vec![r#""one of many, none of which is long""#; 90].join(",");
    let arguments = format!(
        r#"{{"Password":"p-in-name","access_token":"t-in-name","l":[{{"secret":"s-in-list"}}],"note":"Bearer in-form own-secret","long":"{}", "n":1.0,"many":[{many}]}}"#,
        "é".repeat(300)
    );
    let mut answers = String::new();
    for tool in ["main.good", "main.fails", "main.error", "main.over", ODD_TOOL] {
        answers.push_str(&client.call(tool, &arguments).await.body);
    }
    let batch = r#"{"calls":[{"tool":"main.over"},{"tool":"main.good"}],"max_concurrency":1}"#;
    answers.push_str(&client.call("gateway_call", batch).await.body);
    client.call("stdio.complain", "{}").await;
    let log = running.log.clone();
    until("the program is heard", || !log.events("upstream_stderr").is_empty()).await;
    let metrics = reqwest::get(running.gateway.url().replace("/mcp", "/metrics")).await.unwrap();
    let history = reqwest::get(running.gateway.url().replace("/mcp", "/history")).await.unwrap();
    let mut seen = Seen::new();
    seen.insert("metrics", metrics.text().await.unwrap());
    seen.insert("history", history.text().await.unwrap());
    running.gateway.stop().await;
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut frames = Vec::new();
    stream.read_to_end(&mut frames).await.unwrap();
    seen.insert("frames", whole_frames(&frames).to_string());
    for name in ["cef", "leef", "jsonl", "syslog"] {
        seen.insert(name, folder.lines(name).join("\n"));
    }
    let all = receiver.all();
    let of = |path: &str| {
        let bodies = all.iter().filter(|posted| posted.0 == path).map(|posted| &posted.2);
        bodies.map(|body| String::from_utf8_lossy(body).into_owned()).collect::<String>()
    };
    // What a program says comes when it comes.
    let log = folder.lines("log");
    let mut log: Vec<&str> = log.iter().map(String::as_str).collect();
    let events = [r#""event":"call""#, r#""event":"upstream_started""#, "password="];
    log.retain(|line| events.iter().any(|event| line.contains(event)));
    log.sort_by_cached_key(|line| steady(line));
    seen.insert("log", log.join("\n"));
    seen.insert("alerts", of("/alert"));
    seen.insert("spans", of("/v1/traces"));
    seen.insert("answers", answers);
    seen.into_iter().map(|(sink, text)| (sink, steady(&text))).collect()
}

/// How many records a reader of octet counts finds before it loses its place.
fn whole_frames(bytes: &[u8]) -> usize {
    let (mut rest, mut count) = (bytes, 0);
    while let Some(space) = rest.iter().position(|byte| *byte == b' ') {
        let length = std::str::from_utf8(&rest[..space]).ok().and_then(|text| text.parse().ok());
        let Some(frame) = length.and_then(|length: usize| rest.get(space + 1..=space + length))
        else {
            break;
        };
        count += usize::from(frame.starts_with(b"<"));
        rest = &rest[space + 1 + frame.len()..];
    }
    count
}

/// What changes from run to run, and what is put in its place. Compiled once: these take longer to
/// build than a firing takes to happen.
static UNSTEADY: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    let pattern = |pattern: &str| Regex::new(pattern).unwrap();
    [
        (pattern(r"[0-9a-f]{16}-[0-9]+|\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b|:[0-9]{4,5}\b"), "ID"),
        (
            pattern(
                r#"(elapsed_ms(?:\\?"|Label)?[:=} ]*(?:cn[0-9]=)?[^0-9]{0,32}?|\}} |rt=|devTime=|UnixNano":")[0-9.]+"#,
            ),
            "${1}N",
        ),
        (pattern(r"(call_seconds_total\{[^}]*\}) [0-9.e-]+"), "$1 N"),
    ]
});
static STAMP: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").unwrap());

/// A text without what changes from run to run. A time keeps the number of its digits.
fn steady(text: &str) -> String {
    let mut text = text.to_owned();
    for (unsteady, put) in UNSTEADY.iter() {
        text = unsteady.replace_all(&text, *put).into_owned();
    }
    let digits = |found: &regex::Captures<'_>| {
        format!("T{}", if found.get(1).is_some_and(|f| f.len() > 7) { "9" } else { "3" })
    };
    STAMP.replace_all(&text, digits).into_owned()
}

#[tokio::test]
async fn each_fault_of_the_sinks_shows_there_and_not_in_an_answer() {
    let upstream = upstream();
    let right = fire(&upstream, &Steps::RIGHT).await;
    let again = fire(&upstream, &Steps::RIGHT).await;
    for (sink, seen) in &right {
        assert_eq!(again[sink], *seen, "a right gateway does the same twice: {sink}");
    }
    for secret in ["-in-name", "s-in-list", "in-form", "own-secret", "hunter2", "in-stderr"] {
        for (sink, seen) in right.iter().filter(|(sink, _)| **sink != "answers") {
            assert!(!seen.contains(secret), "{secret} in {sink}: {seen}");
        }
    }
    let faults = faults::all().iter().copied().flatten().filter(|fault| is_of_sinks(fault));
    let firings = faults.map(async |fault| {
        let mut steps = Steps::RIGHT;
        (fault.apply)(&mut steps);
        (fault, fire(&upstream, &steps).await)
    });
    // Each mostly waits: for its program, and for its sinks to take the last records.
    let mut firings = futures_util::stream::iter(firings).buffered(8);
    while let Some((fault, wrong)) = firings.next().await {
        let differ: Vec<&str> =
            right.keys().copied().filter(|sink| wrong[sink] != right[sink]).collect();
        println!("{} ({}): {differ:?}", fault.name, fault.surface);
        assert!(!differ.is_empty(), "{} does not show", fault.name);
        let in_answer = fault.name == "answer-redacted";
        assert_eq!(differ.contains(&"answers"), in_answer, "{}: {differ:?}", fault.name);
        if fault.surface == "audit-export" {
            assert!(differ.iter().all(|sink| is_audit(sink)), "{}: {differ:?}", fault.name);
        }
    }
}

fn is_audit(sink: &str) -> bool {
    ["cef", "leef", "jsonl", "syslog", "frames"].contains(&sink)
}
