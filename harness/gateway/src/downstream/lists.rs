//! `resources/list`, `resources/templates/list` and `prompts/list`: what all upstreams have.

use birdstrike_wire::meta::SERVER_INFO;
use birdstrike_wire::{codes, envelope, json};
use futures_util::future::join_all;

use super::request::Asked;
use crate::context::Context;
use crate::failure::Failure;
use crate::pipeline::Pipeline;
use crate::routes::Reply;
use crate::surfaces::resource_links::Source;
use crate::upstream::Upstream;
use crate::upstream::list::Listing;

/// Lists, as the tools are listed: on one page, and without what an upstream that does not answer
/// has, unless none answers.
pub(super) async fn list(pipeline: &Pipeline, id: &str, asked: &Asked, what: Listing) -> Reply {
    let revision = asked.client.revision;
    if json::get(&asked.params, "cursor").is_some() {
        let message = "unknown cursor: the list has one page";
        return Reply::error(revision, Some(id), codes::INVALID_PARAMS, message, None);
    }
    // Progress of several requests is not that of one.
    let client = asked.client.without_progress();
    let listings = pipeline.upstreams.iter().map(async |upstream: &Upstream| {
        upstream.in_time(upstream.list_what(what, &client)).await?
    });
    let mut all = Vec::new();
    let mut failed: Vec<(&Upstream, Failure)> = Vec::new();
    for (upstream, listed) in pipeline.upstreams.iter().zip(join_all(listings).await) {
        match listed {
            Ok(definitions) => {
                let listed_as = |text: String| listed_as(pipeline, upstream, what, text);
                all.extend(definitions.into_iter().map(listed_as));
            }
            Err(failure) => {
                let event = pipeline.context.log.event("listing_failed");
                let event = event.text("upstream", &upstream.name).text("method", what.method());
                event.text("cause", failure.cause.slug()).text("message", &failure.message).write();
                failed.push((upstream, failure));
            }
        }
    }
    if failed.len() == pipeline.upstreams.len()
        && let Some((upstream, failure)) = failed.first()
    {
        let error = failure.to_error(revision, &upstream.name);
        let status = codes::http_status(revision, failure.cause.code(revision));
        return Reply { status, body: envelope::error(Some(id), &error) };
    }
    let (member, all) = (what.member(), all.join(","));
    let result = if revision.has_result_type() {
        let me = &pipeline.context.me_json;
        format!(
            "{{\"resultType\":\"complete\",\"{member}\":[{all}],\"ttlMs\":0,\"cacheScope\":\"private\",\
             \"_meta\":{{\"{SERVER_INFO}\":{me}}}}}"
        )
    } else {
        format!("{{\"{member}\":[{all}]}}")
    };
    Reply::ok(envelope::result(id, &result))
}

/// A definition with the name or the URI by which the gateway knows it again. All other bytes stay.
fn listed_as(pipeline: &Pipeline, upstream: &Upstream, what: Listing, text: String) -> String {
    let source = match what {
        Listing::Resources => Source::Resource,
        Listing::Templates => Source::Template,
        Listing::Prompts | Listing::Tools => return prefixed(pipeline, upstream, text),
    };
    let text = (pipeline.context.steps.listing.resource)(text);
    let Context { links, steps, .. } = &*pipeline.context;
    if !links.is_namespaced {
        return text;
    }
    let steps = &steps.resource_links;
    let given = (steps.places)(source, &text).into_iter().find_map(|place| {
        let given = (steps.give)(text.get(place.clone())?, &upstream.name)?;
        Some(json::replace(&text, &place, &given))
    });
    given.unwrap_or(text)
}

/// Under the upstream's name if there are several, as the tools are.
fn prefixed(pipeline: &Pipeline, upstream: &Upstream, text: String) -> String {
    if pipeline.upstreams.len() < 2 {
        return text;
    }
    let name = json::get_string(&text, "name");
    let name = name.map(|name| json::quote(&format!("{}.{name}", upstream.name)));
    name.and_then(|name| json::set(&text, "name", &name).ok()).unwrap_or(text)
}
