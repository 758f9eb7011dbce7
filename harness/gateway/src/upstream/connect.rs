//! Opening a way: which era an upstream lives in, and the handshake if it needs one.

use std::time::Duration;

use birdstrike_wire::meta::{TASKS_EXTENSION, request_meta};
use birdstrike_wire::{Envelope, Revision, codes, json};

use super::http::Heard;
use super::link::{Link, Request, Told, Way};
use crate::context::Context;
use crate::failure::Failure;

/// How long an upstream may be silent about `server/discover`. Some servers of the handshake
/// revisions ignore a request that comes before `initialize`.
const PROBE_TIME: Duration = Duration::from_secs(3);
/// The revisions that a handshake may end in; the first is offered.
const HANDSHAKES: [Revision; 2] = [Revision::V2025_11_25, Revision::V2025_06_18];

/// Finds the upstream's era and opens a link in it: first a request of 2026-07-28; an answer that
/// only this revision gives settles it, anything else leads to `initialize` (wire facts, section 1).
///
/// # Errors
/// A [`Failure`]: the upstream cannot be reached, or speaks no revision known here.
pub(super) async fn connect(
    way: Way,
    limit_bytes: u64,
    timeout: Duration,
    capabilities: &str,
    context: &Context,
) -> Result<Link, Failure> {
    let probe = Link::new(Revision::V2026_07_28, limit_bytes, way);
    let answer = tokio::time::timeout(PROBE_TIME.min(timeout / 2), discover(&probe, context)).await;
    match answer {
        Ok(Ok(Some(told))) => Ok(Link { agreed: true, told, ..probe }),
        Ok(Err(failure)) if failure.is_no_answer() => Err(failure),
        _ => handshake(probe.way, limit_bytes, capabilities, context).await,
    }
}

/// What an upstream of handshakes, or of 2026-07-28, says of itself.
fn told(result: &str, tasks: &[&str]) -> Told {
    let Some(capabilities) = json::get(result, "capabilities") else { return Told::default() };
    let tells = |member: &json::Member<'_>| json::get(member.value, "listChanged") == Some("true");
    let announces = json::members(capabilities).is_ok_and(|members| members.iter().any(tells));
    let found = tasks.iter().try_fold(capabilities, |object, name| json::get(object, name));
    Told { announces, offers_tasks: found.is_some() }
}

/// What the upstream tells of itself, if it answers as one of 2026-07-28.
async fn discover(link: &Link, context: &Context) -> Result<Option<Told>, Failure> {
    let meta = request_meta(link.revision, &context.me, "{}");
    let params = format!("{{\"_meta\":{meta}}}");
    let request = Request {
        id: "\"discover\"",
        method: "server/discover",
        name: None,
        params: &params,
        param_headers: &[],
        ear: None,
    };
    let Heard::Message(message, _) = link.ask(&request, context).await? else { return Ok(None) };
    let Ok(answer) = Envelope::read(&message.bytes) else { return Ok(None) };
    if let Some(result) = answer.result() {
        let versions = json::get(result, "supportedVersions").map(json::items);
        let ours = json::quote(link.revision.as_str());
        let speaks = versions.is_some_and(|list| list.is_ok_and(|list| list.contains(&&*ours)));
        return Ok(speaks.then(|| told(result, &["extensions", TASKS_EXTENSION])));
    }
    // An unsupported version is a modern error too, but it says that this revision is not spoken.
    let code = answer.error().and_then(|error| json::get(error, "code"));
    let code = code.and_then(|code| code.parse::<i64>().ok());
    let modern = matches!(code, Some(codes::HEADER_MISMATCH | codes::MISSING_CLIENT_CAPABILITY));
    Ok(modern.then(Told::default))
}

async fn handshake(
    way: Way,
    limit_bytes: u64,
    capabilities: &str,
    context: &Context,
) -> Result<Link, Failure> {
    let mut link = Link::new(HANDSHAKES[0], limit_bytes, way);
    let params = format!(
        "{{\"protocolVersion\":\"{}\",\"capabilities\":{capabilities},\"clientInfo\":{}}}",
        link.revision, context.me_json
    );
    let request = Request {
        id: "\"initialize\"",
        method: "initialize",
        name: None,
        params: &params,
        param_headers: &[],
        ear: None,
    };
    let Heard::Message(message, opened) = link.ask(&request, context).await? else {
        return Err(Failure::bad_answer("`initialize` found no session"));
    };
    let answer = Envelope::read(&message.bytes).map_err(Failure::bad_answer)?;
    let Some(result) = answer.result() else {
        let error = answer.error().and_then(|error| json::get_string(error, "message"));
        let error: String = error.unwrap_or_default().chars().take(200).collect();
        return Err(Failure::bad_answer(format_args!("`initialize` was refused: {error}")));
    };
    let version = json::get_string(result, "protocolVersion").unwrap_or_default();
    let known = HANDSHAKES.into_iter().find(|revision| revision.as_str() == version);
    link.revision = known.ok_or_else(|| {
        let version: String = version.chars().take(40).collect();
        Failure::bad_answer(format_args!("it speaks only revision `{version}`"))
    })?;
    link.agreed = true;
    link.told = told(result, &["tasks", "requests", "tools", "call"]);
    if let Way::Http { session, .. } = &mut link.way {
        *session = opened;
    }
    link.tell("notifications/initialized").await?;
    Ok(link)
}
