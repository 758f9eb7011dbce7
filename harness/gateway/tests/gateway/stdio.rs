//! Upstreams that are programs. The program is this test binary itself, run again.

use std::io::{BufRead, Write};

use birdstrike_gateway::Steps;
use birdstrike_wire::{Envelope, Revision, envelope, json};

use super::limits::{LIMIT, sized};
use super::support::*;

const SPEAKS: &str = "BIRDSTRIKE_TEST_PROGRAM_SPEAKS";

/// A configuration with the program as its upstream.
pub(crate) fn config(revision: Revision) -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        "upstreams: {{main: {{command: ['{}', '--exact', 'stdio::program', '--nocapture'], \
         env: {{{SPEAKS}: '{revision}'}}, max_response_bytes: {LIMIT}, timeout_ms: 1500}}}}",
        program.display()
    )
}

/// The program. In an ordinary run of the tests there is nothing to do here.
#[test]
fn program() {
    let Ok(speaks) = std::env::var(SPEAKS) else { return };
    let stateless = speaks == C.as_str();
    let (mut waiting, mut calls) = (Vec::new(), 0);
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let message = Envelope::read(line.as_bytes()).unwrap();
        let Some(id) = message.id().map(str::to_owned) else {
            eprintln!("told {}", message.method().unwrap());
            continue;
        };
        let params = message.params().unwrap_or("{}");
        let answer = match message.method().unwrap().as_ref() {
            "server/discover" if stateless => envelope::result(
                &id,
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#,
            ),
            "initialize" if !stateless => envelope::result(
                &id,
                &format!(r#"{{"protocolVersion":"{speaks}","capabilities":{{}}}}"#),
            ),
            "tools/list" => envelope::result(
                &id,
                r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#,
            ),
            "tools/call" => {
                calls += 1;
                match call(
                    &id,
                    &json::get_string(params, "name").unwrap(),
                    params,
                    calls,
                    &mut waiting,
                ) {
                    Some(answer) => answer,
                    None => continue,
                }
            }
            _ => envelope::error(Some(&id), r#"{"code":-32601,"message":"no"}"#),
        };
        say(answer.as_bytes());
    }
    std::process::exit(0);
}

fn say(line: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&[line, b"\n"].concat()).unwrap();
    stdout.flush().unwrap();
}

fn call(
    id: &str,
    tool: &str,
    params: &str,
    calls: u64,
    waiting: &mut Vec<String>,
) -> Option<String> {
    let good =
        format!(r#"{{"resultType":"complete","content":[],"calls":{calls},"params":{params}}}"#);
    match tool {
        "large" => {
            let size = json::get(json::get(params, "arguments").unwrap(), "bytes").unwrap();
            Some(envelope::result(id, &sized(size.parse().unwrap())))
        }
        // Answered together with the next call.
        "wait" => {
            waiting.push(envelope::result(id, &good));
            None
        }
        "silence" => None,
        "complain" => {
            let words = format!("password=in-stderr {}\n", "é".repeat(400));
            std::io::stderr().write_all(words.as_bytes()).unwrap();
            Some(envelope::result(id, &good))
        }
        "pid" => Some(envelope::result(id, &format!("{{\"pid\":{}}}", std::process::id()))),
        "die" => std::process::exit(3),
        "noise" => {
            say(b"hello, this is no message");
            say(b"");
            say(br#"{"jsonrpc":"2.0","method":"notifications/message"}"#);
            say(br#"{"jsonrpc":"2.0","id":"nobody's","result":{}}"#);
            Some(envelope::result(id, &good))
        }
        "broken" => Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"half")),
        _ => {
            waiting.drain(..).for_each(|answer| say(answer.as_bytes()));
            Some(envelope::result(id, &good))
        }
    }
}

#[tokio::test]
async fn all_revisions_are_spoken_over_stdio() {
    for up in [A, B, C] {
        let running = gateway(&config(up), &Steps::RIGHT).await;
        for down in [A, C] {
            let got = Client::new(&running, down).call("echo", r#"{ "n":1E+02}"#).await;
            assert!(
                got.result().contains(r#""arguments":{ "n":1E+02}"#),
                "{up} to {down}: {got:?}"
            );
        }
        assert!(Client::new(&running, C).list().await.result().contains(r#"{"name":"echo""#));
        assert_eq!(running.log.events("upstream_started").len(), 1);
    }
}

#[tokio::test]
async fn a_line_over_the_limit_fails_alone() {
    let running = gateway(&config(C), &Steps::RIGHT).await;
    let client = Client::new(&running, C);
    assert!(client.call("large", &format!("{{\"bytes\":{LIMIT}}}")).await.result().contains("xxx"));
    for bytes in [LIMIT + 1, LIMIT * 64] {
        let calls = format!(
            r#"{{"calls":[{{"tool":"wait"}},{{"tool":"large","arguments":{{"bytes":{bytes}}}}},{{"tool":"echo"}}]}}"#
        );
        let got = client.call("gateway_call", &calls).await;
        assert!(got.result().contains(r#""error_type":"response_too_large""#), "{bytes}");
        assert!(got.result().contains(r#""succeeded":2"#), "{bytes}");
    }
    assert_eq!(running.log.events("upstream_started").len(), 1);
}

#[tokio::test]
async fn a_program_that_died_is_run_again_at_the_next_need() {
    let running = gateway(&config(A), &Steps::RIGHT).await;
    let client = Client::new(&running, C);
    assert!(client.call("echo", "{}").await.result().contains(r#""calls":1"#));
    let got = client.call("die", "{}").await;
    assert_eq!(got.cause(), "unreachable");
    assert!(got.message().contains("exit status: 3"), "{got:?}");
    assert!(client.call("echo", "{}").await.result().contains(r#""calls":1"#));
    assert_eq!(running.log.events("upstream_started").len(), 2);
}

#[tokio::test]
async fn noise_is_passed_over_and_a_broken_answer_fails_its_call() {
    let running = gateway(&config(C), &Steps::RIGHT).await;
    let client = Client::new(&running, C);
    assert!(client.call("noise", "{}").await.result().contains("complete"));
    let got = client.call("broken", "{}").await;
    assert_eq!(got.cause(), "bad_answer");
    assert!(got.message().contains("not JSON"), "{got:?}");
    assert!(client.call("echo", "{}").await.result().contains("complete"));
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled() {
    let running = gateway(&config(B), &Steps::RIGHT).await;
    let client = Client::new(&running, C);
    assert_eq!(client.call("silence", "{}").await.cause(), "timeout");
    let told = || {
        running.log.events("upstream_stderr").iter().any(|l| l.contains("notifications/cancelled"))
    };
    until("the program is told", told).await;
    assert!(client.call("echo", "{}").await.result().contains("content"));
}

#[tokio::test]
async fn a_program_that_cannot_be_run_is_not_tried_at_once_again() {
    let running =
        gateway("upstreams: {main: {command: ['/no/such/program']}}", &Steps::RIGHT).await;
    let client = Client::new(&running, C);
    let got = client.call("x", "{}").await;
    assert_eq!((got.code(), got.cause().as_str()), (-31005, "not_started"));
    assert!(got.message().contains("`/no/such/program` cannot be run"), "{got:?}");
    assert_eq!(client.call("x", "{}").await.cause(), "unreachable");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_program_ends_with_the_gateway() {
    let running = gateway(&config(C), &Steps::RIGHT).await;
    let got = Client::new(&running, C).call("pid", "{}").await;
    let stat = format!("/proc/{}/stat", json::get(got.result(), "pid").unwrap());
    let runs = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(" Z "));
    assert!(runs());
    running.gateway.stop().await;
    until("the program ends", || !runs()).await;
}
