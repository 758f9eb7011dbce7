//! The making of a record, once a call.

use birdstrike_wire::json;
use jiff::Timestamp;

use crate::client::Client;
use crate::context::Context;
use crate::failure::Failure;
use crate::pipeline::Method;
use crate::surfaces::answer_reading::{Answer, Kind};
use crate::surfaces::is_error::{Finish, Outcome};
use crate::surfaces::mutators::Change;
use crate::surfaces::record::Record;
use crate::trace;

/// What is known of a call that has ended.
pub(crate) struct Facts<'a> {
    pub(crate) call_id: &'a str,
    pub(crate) method: Method,
    pub(crate) tool: &'a str,
    pub(crate) upstream: &'a str,
    pub(crate) route: &'static str,
    pub(crate) arguments: &'a str,
    pub(crate) client: &'a Client,
    pub(crate) began: Timestamp,
    pub(crate) elapsed_ms: u64,
    /// Size of the upstream's message.
    pub(crate) bytes: usize,
    /// How it ended; `None` if it was given up.
    pub(crate) answer: Option<&'a Result<Answer, Failure>>,
    pub(crate) changes: Vec<Change>,
}

/// The record of a call.
pub(crate) fn made(facts: Facts<'_>, context: &Context) -> Record {
    let (steps, redactor) = (&context.steps, &context.log.redactor);
    let flags = &steps.is_error;
    let (outcome, finish, span_finish, healthy) = match facts.answer {
        Some(ended) => (
            (flags.outcome)(ended),
            (flags.finish)(ended),
            (flags.span_finish)(ended),
            (flags.healthy)(ended),
        ),
        None => (Outcome::Failed, Finish::Failed, Finish::Failed, None),
    };
    let error_type = match facts.answer {
        None => Some("cancelled"),
        Some(Err(failure)) => Some((steps.upstream_read.told)(failure, facts.route)),
        Some(Ok(Answer { kind: Kind::RpcError, .. })) => Some(Outcome::RpcError.as_str()),
        Some(Ok(Answer { kind: Kind::ToolError, .. })) => Some(Outcome::ToolError.as_str()),
        Some(Ok(_)) => None,
    };
    let revision = facts.client.revision;
    let code = facts.answer.and_then(|ended| (steps.answer_reading.code)(ended, revision));
    let result = facts.answer.and_then(|ended| ended.as_ref().ok());
    let words = facts.answer.filter(|_| context.sinks.in_full).and_then(words);
    let trace = &facts.client.trace;
    let (arguments, arguments_sha256) = if context.sinks.in_full {
        (redactor.arguments(facts.arguments), (redactor.steps.hash)(facts.arguments))
    } else {
        ("{}".to_owned(), String::new())
    };
    Record {
        began: facts.began,
        ended: Timestamp::now().max(facts.began),
        call_id: facts.call_id.to_owned(),
        trace_id: trace.trace_id.clone(),
        span_id: trace::span_id(),
        parent_span_id: trace.parent.clone(),
        method: facts.method.as_str(),
        tool: redactor.told(facts.tool),
        upstream: facts.upstream.to_owned(),
        route: facts.route,
        caller: redactor.told(context.identities.name(&facts.client.owner)),
        outcome,
        finish,
        span_finish,
        code,
        error_type,
        bytes: facts.bytes,
        elapsed_ms: facts.elapsed_ms,
        healthy,
        arguments,
        arguments_sha256,
        result: result.and_then(|answer| (redactor.steps.of_result)(answer)),
        alert_words: words.as_deref().map(|words| redactor.alert_words(words)),
        log_words: words.as_deref().map(|words| redactor.log_words(words)),
        changes: facts.changes,
    }
}

/// What a failure says of itself, as it says it: the gateway's reason, the message of an upstream's
/// error, or the texts of a failed result.
fn words(ended: &Result<Answer, Failure>) -> Option<String> {
    match ended {
        Err(failure) => Some(failure.message.clone()),
        Ok(Answer { kind: Kind::RpcError, body }) => json::get_string(body, "message"),
        Ok(Answer { kind: Kind::ToolError, body }) => {
            let blocks = json::items(json::get(body, "content")?).ok()?;
            let texts = blocks.iter().filter_map(|block| json::get_string(block, "text"));
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        Ok(_) => None,
    }
}
