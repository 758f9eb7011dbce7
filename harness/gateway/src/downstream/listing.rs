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
        return Reply::error(revision, Some(id), codes::INVALID_PARAMS, message, None);
    }
    let listings = pipeline.upstreams.iter().map(|upstream| upstream.list(&asked.client));
    let mut own = vec![(batch::TOOL, batch::definition())];
    if pipeline.context.budget.is_some() {
        own.extend(continuation::definitions());
    }
    let is_own = |name: &str| own.iter().any(|(own, _)| *own == name);
    let mut tools = Vec::new();
    let mut failed = Vec::new();
    for (upstream, listed) in pipeline.upstreams.iter().zip(join_all(listings).await) {
        match listed {
            Ok(definitions) => {
                let prefix = (pipeline.upstreams.len() > 1).then_some(upstream.name.as_str());
                for definition in definitions {
                    let Some(listed) = listed_as(&definition, prefix, revision, is_own) else {
                        let event = pipeline.context.log.event("tool_dropped");
                        let event = event.text("upstream", &upstream.name);
                        event.text("cause", "its name is that of the gateway's own tool").write();
                        continue;
                    };
                    tools.extend(with_digest(pipeline, upstream, &definition, listed));
                }
            }
            Err(failure) => {
                let event = pipeline.context.log.event("listing_failed");
                let event = event.text("upstream", &upstream.name);
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
    tools.extend(own.into_iter().map(|(_, definition)| definition));
    let tools = tools.join(",");
    let result = if revision.has_result_type() {
        let me = &pipeline.context.me_json;
        format!(
            "{{\"resultType\":\"complete\",\"tools\":[{tools}],\"ttlMs\":0,\"cacheScope\":\"private\",\
             \"_meta\":{{\"{SERVER_INFO}\":{me}}}}}"
        )
    } else {
        format!("{{\"tools\":[{tools}]}}")
    };
    Reply::ok(envelope::result(id, &result))
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
    pipeline.tell_drift("list", &shown, &upstream.name, &pin);
    let told = (mode == PinMode::Warn).then_some(pinned.as_str());
    (steps.may_list)(mode).then(|| (steps.shown)(listed, observed, told))
}

/// A definition as this client may see it: under the upstream's prefix (R-TOOLS-08), and without an
/// outputSchema that its revision cannot carry. All other bytes stay. `None` for a tool that would
/// hide the gateway's own.
fn listed_as(
    definition: &str,
    prefix: Option<&str>,
    client: Revision,
    is_own: impl Fn(&str) -> bool,
) -> Option<String> {
    let name = json::get_string(definition, "name")?;
    let mut listed = match prefix {
        Some(prefix) => {
            let name = json::quote(&format!("{prefix}.{name}"));
            json::set(definition, "name", &name).ok()?
        }
        None if is_own(&name) => return None,
        None => definition.to_owned(),
    };
    if !client.typed_part_may_be_any_value()
        && let Some(schema) = json::get(&listed, "outputSchema")
        && json::get_string(schema, "type").as_deref() != Some("object")
    {
        listed = json::remove(&listed, "outputSchema").ok()?;
    }
    Some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed_as(definition: &str, prefix: Option<&str>, client: Revision) -> Option<String> {
        super::listed_as(definition, prefix, client, |name| name == batch::TOOL)
    }

    #[test]
    fn a_definition_keeps_its_bytes() {
        let odd = r#"{ "x":1E+02,"name":"a","outputSchema":{"type":"object"},"name":"b" }"#;
        assert_eq!(listed_as(odd, None, Revision::V2025_06_18).unwrap(), odd);
        let prefixed = odd.replace("\"b\"", "\"up.b\"");
        assert_eq!(listed_as(odd, Some("up"), Revision::NEWEST).unwrap(), prefixed);
        let array = r#"{"name":"a","outputSchema":{"type":"array"}}"#;
        assert_eq!(listed_as(array, None, Revision::NEWEST).unwrap(), array);
        assert_eq!(listed_as(array, None, Revision::V2025_11_25).unwrap(), r#"{"name":"a"}"#);
        assert_eq!(listed_as(r#"{"name":"gateway_call"}"#, None, Revision::NEWEST), None);
    }

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
