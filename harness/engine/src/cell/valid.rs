//! The check that every call carries: does the answer obey the protocol of the client's revision?
//!
//! Blame follows the upstream leg: what the canary itself sent wrong, on purpose, is not held
//! against a gateway that passed it on.

use birdstrike_judge::schema::{McpSchemas, SchemaError, SchemaOutcome};
use birdstrike_judge::{Doc, Fidelity, Pointer};
use birdstrike_wire::{Revision, codes};

use super::fire::{Fired, Kind};
use super::judging::{Context, Judged};
use crate::client::{Answer, Body};
use crate::launch::DIRECT;

/// The method of a call.
const CALL: &str = "tools/call";

/// Judges one call.
pub(super) fn judge(context: &Context<'_>, fired: &Fired) -> Judged {
    let answer: &Answer = fired.outer.as_deref().unwrap_or(&fired.answer);
    if let Some(first) = answer.breaks.first() {
        let fidelity = match answer.body {
            Body::Nothing(_) => Fidelity::Unreachable,
            _ => Fidelity::Altered,
        };
        let differences = answer.breaks.clone();
        return Judged { differences, ..Judged::broken(fidelity, first.clone()) };
    }
    // A facade speaks no MCP: its answer has a form of its own, which was looked at when it was read.
    if fired.method.is_empty() {
        return Judged::intact();
    }
    let revision = context.cell.revision;
    match &answer.body {
        Body::Result(result) => {
            let schema = schema(context, fired, result, revision);
            let called = schema.holds && fired.method == CALL;
            if called { output_schema(context, fired, result) } else { schema }
        }
        Body::Error(error) => {
            let schema = judged("the error object", &McpSchemas::validate_error(error), revision);
            if schema.holds { own_code(fired, error, revision) } else { schema }
        }
        Body::Large(_) | Body::Nothing(_) => Judged::intact(),
    }
}

/// A gateway's own error has no code from the range that is reserved for the protocol, but for
/// those that it defines (R-ERR-11). What the upstream sent is the upstream's.
fn own_code(fired: &Fired, error: &[u8], revision: Revision) -> Judged {
    const DEFINED: [i64; 3] =
        [codes::HEADER_MISMATCH, codes::MISSING_CLIENT_CAPABILITY, codes::UNSUPPORTED_VERSION];
    let relayed = matches!(fired.upstream.body, Some(Body::Error(_)));
    let code = Doc::scan(error).ok().and_then(|doc| {
        let code = doc.at(&Pointer::parse("/code").ok()?)?;
        code.number()?.parse::<i64>().ok()
    });
    let reserved = |code: &i64| (-32_099..=-32_020).contains(code) && !DEFINED.contains(code);
    match code.filter(reserved).filter(|_| revision.has_result_type() && !relayed) {
        None => Judged::intact(),
        Some(code) => {
            let message = format!(
                "the gateway's own error has code {code}, which the protocol reserves and does not define"
            );
            Judged::broken(Fidelity::Added, message)
        }
    }
}

fn schema(context: &Context<'_>, fired: &Fired, result: &[u8], revision: Revision) -> Judged {
    let schemas = McpSchemas::shared();
    let outcome = schemas.validate_result(revision, &fired.method, result);
    let passed_on =
        fired.outer.is_none() && fired.kind != Kind::List && context.cell.route != DIRECT;
    if outcome.is_invalid() && passed_on && upstream_is_invalid(context, fired) {
        return Judged::holding(Fidelity::Intact, "as invalid as the upstream sent it");
    }
    judged("the result", &outcome, revision)
}

fn upstream_is_invalid(context: &Context<'_>, fired: &Fired) -> bool {
    match &fired.upstream.body {
        Some(Body::Result(sent)) => {
            let revision = context.launch.upstream;
            let outcome = McpSchemas::shared().validate_result(revision, &fired.method, sent);
            outcome.is_invalid()
        }
        _ => false,
    }
}

/// The typed part against the `outputSchema` that the client's listing shows (R-TOOLS-13). Failed
/// results are exempt, as implementations have it (wire facts, section 9). The listing is read in
/// the revision that the profile prefers; results in other revisions are not held to it.
fn output_schema(context: &Context<'_>, fired: &Fired, result: &[u8]) -> Judged {
    if fired.outer.is_some() || context.cell.revision != context.launch.preferred() {
        return Judged::intact();
    }
    let Some(listed) = context.launch.listed_schema(&fired.route, &fired.tool, &fired.origin)
    else {
        return Judged::intact();
    };
    let Some(came) = typed_part(result) else {
        return Judged::intact();
    };
    let report = listed.validate(came);
    if !report.outcome.is_invalid() {
        return Judged::intact();
    }
    let sent = match &fired.upstream.body {
        Some(Body::Result(sent)) => typed_part(sent),
        _ => None,
    };
    let own = context.launch.canary_schema(&fired.tool);
    let upstream_breaks =
        own.zip(sent).is_some_and(|(schema, sent)| schema.validate(sent).outcome.is_invalid());
    if upstream_breaks && context.cell.route != DIRECT {
        return Judged::holding(Fidelity::Intact, "breaks its outputSchema as the upstream did");
    }
    if context.cell.route == DIRECT {
        // The canary breaks its own outputSchema only where a scenario wants it to.
        return Judged::intact();
    }
    judged("structuredContent", &report.outcome, context.cell.revision)
}

/// The typed part of a result that is no failure.
fn typed_part(result: &[u8]) -> Option<&[u8]> {
    let doc = Doc::scan(result).ok()?;
    let at = |pointer: &str| doc.at(&Pointer::parse(pointer).ok()?);
    if at("/isError").and_then(birdstrike_judge::Node::boolean) == Some(true) {
        return None;
    }
    let span = at("/structuredContent")?.span();
    result.get(span)
}

fn judged(what: &str, outcome: &SchemaOutcome, revision: Revision) -> Judged {
    if let SchemaOutcome::Unknown(why) = outcome {
        // Nobody is blamed for what no validator can hold; the envelope was judged all the same.
        let message = format!("{what} could not be held against its schema: {why}");
        return Judged::holding(Fidelity::Intact, &message);
    }
    let errors = outcome.errors();
    let Some(first) = errors.first().filter(|_| outcome.is_invalid()) else {
        return Judged::intact();
    };
    let said = |error: &SchemaError| format!("{}: {}", error.instance, error.message);
    let message = format!("{what} breaks its schema at {revision}: {}", said(first));
    let differences = errors.iter().map(said).collect();
    Judged { differences, ..Judged::broken(Fidelity::Altered, message) }
}
