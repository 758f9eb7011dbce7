//! `tools/list`: the tools of all upstreams, and the gateway's own.

use birdstrike_wire::meta::SERVER_INFO;
use birdstrike_wire::{Revision, codes, envelope, json};
use futures_util::future::join_all;

use super::request::Asked;
use crate::config::PinMode;
use crate::pipeline::Pipeline;
use crate::routes::{Reply, batch, continuation};
use crate::surfaces::schema_and_digest::Pin;
use crate::upstream::Upstream;

/// Lists. An upstream that does not answer lacks its tools, and the rest still stands; if none
/// answers, that is an error and not a short list.
pub(super) async fn list(pipeline: &Pipeline, id: &str, asked: &Asked) -> Reply {
    let revision = asked.client.revision;
    if json::get(&asked.params, "cursor").is_some() {
        let message = "unknown cursor: the list has one page";
        let code = (pipeline.context.steps.transport.door.code)(codes::INVALID_PARAMS);
        return Reply::error(revision, Some(id), code, message, None);
    }
    // Progress of several requests is not that of one.
    let client = asked.client.without_progress();
    let listings = pipeline.upstreams.iter().map(|upstream| upstream.list(&client));
    let mut own = vec![(batch::TOOL, batch::definition())];
    if pipeline.context.budget.is_some() {
        own.extend(continuation::definitions());
    }
    let is_own = |name: &str| own.iter().any(|(own, _)| *own == name);
    let steps = &pipeline.context.steps.listing;
    let several = pipeline.upstreams.len() > 1;
    let (mut lists, mut failed) = (Vec::new(), Vec::new());
    for (upstream, listed) in pipeline.upstreams.iter().zip(join_all(listings).await) {
        let definitions = match listed {
            Ok(definitions) => definitions,
            Err(failure) => {
                tell(pipeline, upstream, "listing_failed", failure.cause.slug(), &failure.message);
                failed.push((upstream, failure));
                continue;
            }
        };
        let definitions = (steps.fresh)(&upstream.name, definitions);
        let mut list = Vec::new();
        for definition in definitions {
            let name = json::get_string(&definition, "name").unwrap_or_default();
            let name = (steps.name)(&upstream.name, &name, several);
            if is_own(&name) {
                tell(pipeline, upstream, "tool_dropped", "own_name", "the gateway has such a tool");
                continue;
            }
            let listed = (steps.definition)(&definition, &name, revision);
            list.extend(with_digest(pipeline, upstream, &definition, listed));
        }
        lists.push(list);
    }
    if (steps.fails)(failed.len(), pipeline.upstreams.len())
        && let Some((upstream, failure)) = failed.first()
    {
        let error = failure.to_error(revision, &upstream.name);
        let status = codes::http_status(revision, failure.cause.code(revision));
        return Reply { status, body: envelope::error(Some(id), &error) };
    }
    let mut tools = (steps.joined)(lists);
    tools.extend(own.into_iter().map(|(_, definition)| definition));
    let result = page(&tools.join(","), revision, &pipeline.context.me_json);
    Reply::ok(envelope::result(id, &(steps.page)(result)))
}

/// The result that holds all tools.
fn page(tools: &str, revision: Revision, me: &str) -> String {
    if revision.has_result_type() {
        format!(
            "{{\"resultType\":\"complete\",\"tools\":[{tools}],\"ttlMs\":0,\"cacheScope\":\"private\",\
             \"_meta\":{{\"{SERVER_INFO}\":{me}}}}}"
        )
    } else {
        format!("{{\"tools\":[{tools}]}}")
    }
}

/// A definition with its digest; `None` for one that is withheld, as it is not what it is pinned to
/// be.
fn with_digest(
    pipeline: &Pipeline,
    upstream: &Upstream,
    definition: &str,
    listed: String,
) -> Option<String> {
    let steps = &pipeline.context.steps.schema_and_digest;
    let own = json::get_string(definition, "name")?;
    let known = upstream.known(&own);
    let observed = known.as_ref().and_then(|known| known.digest.as_deref());
    let listed = (steps.listed)(listed);
    let shown = pipeline.shown_name(&upstream.name, &own);
    let pins = pipeline.context.pins.as_ref();
    let pinned = pins.and_then(|pins| Some((pins.mode, pins.digests.get(&shown)?)));
    let Some((mode, pinned)) = pinned else { return Some((steps.shown)(listed, observed, None)) };
    let pin = Pin { mode, pinned, observed };
    if (steps.matches)(&pin) {
        return Some((steps.shown)(listed, observed, None));
    }
    pipeline.tell_drift(None, &shown, &upstream.name, &pin);
    let told = (mode == PinMode::Warn).then_some(pinned.as_str());
    (steps.may_list)(mode).then(|| (steps.shown)(listed, observed, told))
}

/// What of a listing is left out, and why.
fn tell(pipeline: &Pipeline, upstream: &Upstream, event: &str, cause: &str, message: &str) {
    let event = pipeline.context.log.event(event).text("upstream", &upstream.name);
    event.text("cause", cause).text("message", message).write();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_tools_are_definitions() {
        let own = std::iter::once((batch::TOOL, batch::definition()));
        for (name, definition) in own.chain(continuation::definitions()) {
            let read: serde_json::Value = serde_json::from_str(&definition).unwrap();
            assert_eq!(read["name"], name);
            assert_eq!(read["outputSchema"]["type"], "object");
        }
    }
}
