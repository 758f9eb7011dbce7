//! Gateways that are processes: they do not start, do not get ready, or die.

use birdstrike_engine::EngineError;
use birdstrike_judge::Fidelity::Unreachable;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::misdeed::Misdeed;
use super::server::{Request, answer, serve};
use super::support::{LONG, Told, options, profile, run, turned};

/// The profile's process: this very program, told to run nothing but [`child`].
fn child_that(manner: &str) -> String {
    format!(
        "
    command: ['{{{{ birdstrike }}}}', processes::child, --exact, --ignored, --nocapture]
    env: {{MANNER: {manner}}}
    endpoint: '{{{{ ready }}}}?{{{{ upstreams.main.url }}}}'
    ready: {{line: 'hostile gateway at ', listing: true, within-s: 20}}"
    )
}

/// A gateway that ends itself when `typed` is called. Its folder is that of the launch: files there
/// outlive it.
#[test]
#[ignore = "started by the other tests as a gateway"]
fn child() {
    let manner = std::env::var("MANNER").unwrap();
    let before = std::fs::File::create_new("started").is_err();
    if manner == "dies-for-good" && before {
        eprintln!("the licence is used up");
        std::process::exit(3);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        eprintln!("hostile gateway at http://{}/mcp", listener.local_addr().unwrap());
        serve(listener, |request, stream| async move { deadly(&request, stream).await }).await;
    });
}

async fn deadly(request: &Request, mut stream: TcpStream) {
    if request.calls("typed") {
        let _ = request.pass_on().await;
        // Gone in the middle of the answer's head.
        let _ = stream.write_all(b"HTTP/1.1 2").await;
        std::process::exit(9);
    }
    // The first ordinary call waits until the gateway dies of another one.
    let manner = std::env::var("MANNER").unwrap_or_default();
    let holds = manner == "dies-in-company" && request.calls("echo");
    if holds && std::fs::File::create_new("held").is_ok() {
        std::future::pending::<()>().await;
    }
    let _ = answer(request, Misdeed::None, stream).await;
}

async fn fails(process: &str) -> (Told, String) {
    let (told, result) = run(&options(profile(process), LONG, 2)).await;
    let error = result.unwrap_err();
    assert!(matches!(error, EngineError::Gateway { .. }), "{error:?}");
    assert_eq!(error.exit_code(), 4);
    let text = error.to_string();
    assert_eq!(told.broken.as_ref(), Some(&text));
    assert!(text.contains("= help:"), "{text}");
    (told, text)
}

#[tokio::test]
async fn a_gateway_that_dies_is_started_anew_and_one_cell_is_blamed() {
    let (told, result) = run(&options(profile(&child_that("dies")), LONG, 1)).await;
    result.unwrap();
    assert_eq!(told.restarts, ["flat-return/wicked on flat at 2026-07-28"]);
    told.fails("valid", Unreachable, "no answer");
    told.next_is_unharmed();
}

#[tokio::test]
async fn a_cell_that_ran_beside_the_deadly_one_is_not_blamed() {
    let options = turned(options(profile(&child_that("dies-in-company")), LONG, 2));
    let (told, result) = run(&options).await;
    result.unwrap();
    told.next_is_unharmed();
    told.fails("valid", Unreachable, "no answer");
    let after = ["flat-return/well", "flat-return/wicked"];
    assert_eq!(told.restarts, after.map(|id| format!("{id} on flat at 2026-07-28")));
}

#[tokio::test]
async fn a_gateway_that_does_not_come_back_ends_the_run() {
    let (told, text) = fails(&child_that("dies-for-good")).await;
    assert!(text.contains("| the licence is used up"), "{text}");
    assert!(text.contains("exit status: 3"), "{text}");
    assert!(told.untested.iter().any(|untested| untested.what.contains("flat-return/well")));
}

#[tokio::test]
async fn a_command_that_does_not_exist() {
    let (told, text) =
        fails("{command: [/no/such/gateway, --now], endpoint: none, ready: {line: x}}").await;
    assert!(text.contains("process `gateway` cannot be started"), "{text}");
    assert!(text.contains("/no/such/gateway --now"), "{text}");
    assert_eq!(told.untested.len(), 2, "{:?}", told.untested);
}

#[tokio::test]
async fn a_gateway_that_ends_at_once() {
    let script = "echo 'no room on port 80' >&2; exit 7";
    let (_, text) =
        fails(&format!("{{command: [sh, -c, \"{script}\"], endpoint: none, ready: {{line: x}}}}"))
            .await;
    assert!(text.contains("ended before it was ready (exit status: 7)"), "{text}");
    assert!(text.contains("  | no room on port 80"), "{text}");
}

#[tokio::test]
async fn a_gateway_that_ends_after_its_ready_line() {
    let ready = "{line: 'listening on ', listing: true}";
    let script = "echo listening on http://127.0.0.1:9/; exit 5";
    let (_, text) = fails(&format!(
        "{{command: [sh, -c, '{script}'], endpoint: '{{{{ ready }}}}', ready: {ready}}}"
    ))
    .await;
    assert!(text.contains("ended before it was ready (exit status: 5)"), "{text}");
}

#[tokio::test]
async fn a_gateway_that_never_says_that_it_is_ready() {
    let (_, text) = fails(
        "{command: [sh, -c, 'echo warming up; exec sleep 600'], endpoint: none, ready: {line: x, within-s: 1}}",
    )
    .await;
    assert!(text.contains("did not get ready in time"), "{text}");
    assert!(text.contains("  | warming up"), "{text}");
}

#[tokio::test]
async fn a_gateway_that_never_lists_the_tools() {
    let (_, text) = fails(
        "{command: [sleep, '600'], endpoint: 'http://127.0.0.1:9/', ready: {listing: true, within-s: 1}}",
    )
    .await;
    assert!(text.contains("did not list the canary's tools in time"), "{text}");
    assert!(text.contains("(it printed nothing)"), "{text}");
}
