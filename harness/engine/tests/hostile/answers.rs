//! Whole runs: what a hostile answer is called, and that the next scenario is unharmed.

use std::time::Duration;

use birdstrike_judge::Fidelity::{Altered, Lost, Unreachable};
use birdstrike_judge::Verdict;

use super::misdeed::Misdeed;
use super::server::Server;
use super::support::{LONG, SHORT, Told, in_every_revision, many, options, profile, run};

/// The process of a gateway that lives in this test: it does nothing.
fn process(server: &Server) -> String {
    let endpoint = format!("{}?{{{{ upstreams.main.url }}}}", server.url);
    format!("{{command: [sleep, '600'], endpoint: '{endpoint}', ready: {{listing: true}}}}")
}

/// Runs both scenarios against a gateway with this misdeed.
async fn told(misdeed: Misdeed, deadline: Duration) -> Told {
    let server = Server::start(misdeed).await;
    let (told, result) = run(&options(profile(&process(&server)), deadline, 1)).await;
    result.unwrap();
    assert_eq!(told.broken, None);
    assert_eq!(told.restarts, Vec::<String>::new());
    told.next_is_unharmed();
    told
}

/// The upstream was called once: what went wrong is the answer.
fn called_once(told: &Told) {
    let count = told.check("flat-return/wicked/one-call");
    assert_eq!(count.verdict, Verdict::Pass, "{}", count.message);
}

#[tokio::test]
async fn a_good_answer_passes() {
    let told = told(Misdeed::None, LONG).await;
    let broken: Vec<_> = told.checks.iter().filter(|c| c.verdict != Verdict::Pass).collect();
    assert!(broken.is_empty() && told.untested.is_empty(), "{broken:?} {:?}", told.untested);
    assert_eq!(told.checks.len(), 8);
}

#[tokio::test]
async fn no_answer_at_all() {
    let told = told(Misdeed::NeverAnswer, SHORT).await;
    told.fails("valid", Unreachable, "the deadline passed");
    told.fails("whole", Unreachable, "the deadline passed");
    called_once(&told);
    assert_eq!(told.totals.deadlines, 1);
}

#[tokio::test]
async fn closed_before_the_headers() {
    let told = told(Misdeed::CloseBeforeHeaders, LONG).await;
    told.fails("valid", Unreachable, "no answer: connection closed");
    told.fails("whole", Unreachable, "no answer");
}

#[tokio::test]
async fn closed_mid_answer() {
    let told = told(Misdeed::CloseMidAnswer, LONG).await;
    told.fails("valid", Unreachable, "the answer broke off");
    told.fails("whole", Unreachable, "the answer broke off");
    called_once(&told);
}

#[tokio::test]
async fn half_a_json() {
    let told = told(Misdeed::HalfJson, LONG).await;
    told.fails("valid", Unreachable, "a message is unreadable");
    told.fails("whole", Unreachable, "an answer without a JSON-RPC response (HTTP 200)");
}

#[tokio::test]
async fn invalid_utf8() {
    let told = told(Misdeed::InvalidUtf8, LONG).await;
    told.fails("valid", Unreachable, "UTF-8");
}

#[tokio::test]
async fn nested_two_hundred_thousand_deep() {
    let bare = told(Misdeed::Nested, LONG).await;
    bare.fails("valid", Unreachable, "a message is unreadable");
    bare.fails("whole", Unreachable, "an answer without a JSON-RPC response (HTTP 200)");
    // As a typed part it breaks no rule; that the text is gone is seen all the same.
    let inside = told(Misdeed::NestedInside, LONG).await;
    inside.fails("whole", Lost, "/content/0");
    called_once(&inside);
}

#[tokio::test]
async fn a_wrong_id() {
    let told = told(Misdeed::WrongId, LONG).await;
    told.fails("valid", Altered, "came back as 7");
}

#[tokio::test]
async fn two_answers() {
    let told = told(Misdeed::TwoAnswers, LONG).await;
    told.fails("valid", Altered, "2 answers to one request");
}

#[tokio::test]
async fn streams_without_end() {
    for misdeed in [Misdeed::EndlessComments, Misdeed::SlowComments, Misdeed::EndlessNotifications]
    {
        let told = told(misdeed, SHORT).await;
        let record = told.check("flat-return/wicked/valid");
        // A fast machine may read all that a client would hold before the deadline.
        let said = ["the deadline passed (HTTP 200)", "more came than a client would hold"];
        assert!(said.iter().any(|words| record.message.contains(words)), "{}", record.message);
        told.fails("whole", Unreachable, "");
        called_once(&told);
    }
}

#[tokio::test]
async fn an_answer_and_then_a_stream_without_end() {
    let told = told(Misdeed::AnswerThenComments, LONG).await;
    assert_eq!(told.check("flat-return/wicked/valid").verdict, Verdict::Pass);
    assert_eq!(told.check("flat-return/wicked/whole").verdict, Verdict::Pass);
}

#[tokio::test]
async fn a_body_without_end() {
    let told = told(Misdeed::EndlessBody, LONG).await;
    told.fails("valid", Unreachable, "more came than a client would hold");
    told.fails("whole", Unreachable, "more came than a client would hold");
}

#[tokio::test]
async fn fewer_bytes_than_announced() {
    let told = told(Misdeed::LongerLength, SHORT).await;
    told.fails("valid", Altered, "the deadline passed (HTTP 200)");
}

#[tokio::test]
async fn a_slow_drip() {
    let told = told(Misdeed::SlowDrip, SHORT).await;
    told.fails("valid", Unreachable, "the deadline passed (HTTP 200)");
    told.fails("whole", Unreachable, "the deadline passed (HTTP 200)");
}

#[tokio::test]
async fn a_status_with_words() {
    let told = told(Misdeed::Status500, LONG).await;
    told.fails("whole", Unreachable, "an answer without a JSON-RPC response (HTTP 500)");
    let evidence = told.check("flat-return/wicked/whole").evidence.clone().unwrap();
    assert_eq!(evidence.status, Some(500));
    assert_eq!(evidence.downstream.as_deref(), Some("out of luck"));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let told = told(Misdeed::Redirect, LONG).await;
    told.fails("valid", Unreachable, "an empty answer (HTTP 302)");
}

#[tokio::test]
async fn an_empty_success() {
    let told = told(Misdeed::Empty, LONG).await;
    told.fails("valid", Unreachable, "an empty answer (HTTP 200)");
    told.fails("whole", Unreachable, "an empty answer (HTTP 200)");
}

#[tokio::test]
async fn the_answer_to_another_call() {
    let told = told(Misdeed::OtherCall, LONG).await;
    told.fails("whole", Altered, "/content/0/text");
}

#[tokio::test]
async fn an_answer_that_no_upstream_gave_is_untested() {
    let told = told(Misdeed::MadeUp, LONG).await;
    let judged = told.checks.iter().filter(|check| check.id.contains("/wicked/"));
    assert_eq!(judged.count(), 0);
    assert_eq!(told.untested.len(), 4, "{:?}", told.untested);
    for untested in &told.untested {
        assert!(untested.reason.contains("never called the canary"), "{}", untested.reason);
        assert!(untested.reason.contains("made up"), "{}", untested.reason);
    }
}

#[tokio::test]
async fn silence_of_a_gateway_that_never_called_is_its_fault() {
    let told = told(Misdeed::NeverAnswerNorCall, SHORT).await;
    told.fails("valid", Unreachable, "the deadline passed");
    assert_eq!(told.untested.len(), 3, "{:?}", told.untested);
}

/// Many cells on a gateway that lists its tools and then never answers a call.
#[tokio::test]
async fn a_gateway_that_answers_no_call_costs_a_few_deadlines() {
    let server = Server::start_for(Misdeed::NeverAnswer, |request| request.is("tools/call")).await;
    let mut options = options(profile(&process(&server)), SHORT, 1);
    options.ground.deadline = SHORT;
    let (told, result) = run(&many(options, 40)).await;
    result.unwrap();
    assert_eq!(told.restarts.len(), 1, "{:?}", told.restarts);
    assert_eq!(told.totals.deadlines, 1);
    assert_eq!(told.untested.len(), 39);
    assert!(told.untested[0].reason.contains("even freshly started"), "{:?}", told.untested[0]);
}

/// A revision whose handshake is never answered.
#[tokio::test]
async fn a_handshake_that_is_never_answered_costs_one_deadline() {
    let server = Server::start_for(Misdeed::NeverAnswer, |request| request.is("initialize")).await;
    let mut profile = profile(&process(&server));
    profile.profile.revisions.client.push("2025-06-18".to_owned());
    let mut options = options(profile, LONG, 8);
    options.ground.deadline = Duration::from_secs(1);
    options.matrix = birdstrike_scenario::profile::Matrix::Full;
    let from = std::time::Instant::now();
    let (told, result) = run(&in_every_revision(many(options, 40))).await;
    result.unwrap();
    assert!(from.elapsed() < Duration::from_secs(20), "{:?}", from.elapsed());
    assert_eq!((told.restarts.len(), told.untested.len()), (0, 40));
    assert!(told.untested[0].reason.contains("no conversation could be opened"));
    assert!(told.untested[0].reason.contains("the deadline passed"), "{:?}", told.untested[0]);
}
