//! `GET /tools`: the tools of all upstreams as JSON, with their digests, for whoever keeps an
//! inventory.

use birdstrike_wire::json;
use futures_util::future::join_all;

use crate::client::Client;
use crate::pipeline::Pipeline;
use crate::surfaces::schema_and_digest::Pin;

/// `{"tools":[…]}`, each with its definition's own members, `upstream`, `digest`, and `pinned_digest`
/// if it is pinned. Of a tool that is withheld only its name and the digests are told. An upstream that
/// does not answer stands under `unreachable`.
pub(crate) async fn table(pipeline: &Pipeline, client: &Client) -> String {
    let listings = pipeline.upstreams.iter().map(|upstream| upstream.list(client));
    let (mut rows, mut unreachable) = (Vec::new(), Vec::new());
    for (upstream, listed) in pipeline.upstreams.iter().zip(join_all(listings).await) {
        let Ok(definitions) = listed else {
            unreachable.push(json::quote(&upstream.name));
            continue;
        };
        for definition in definitions {
            rows.extend(row(pipeline, &upstream.name, &definition));
        }
    }
    let (rows, unreachable) = (rows.join(","), unreachable.join(","));
    format!("{{\"tools\":[{rows}],\"unreachable\":[{unreachable}]}}")
}

fn row(pipeline: &Pipeline, upstream: &str, definition: &str) -> Option<String> {
    let own = json::get_string(definition, "name")?;
    let shown = pipeline.shown_name(upstream, &own);
    let name = json::quote(&shown);
    let steps = &pipeline.context.steps.schema_and_digest;
    let known = pipeline.upstreams.iter().find(|u| u.name == upstream)?.known(&own)?;
    let digest = known.digest.as_deref();
    let pins = pipeline.context.pins.as_ref();
    let pin = pins.and_then(|pins| {
        let pinned = pins.digests.get(&shown)?;
        Some(Pin { mode: pins.mode, pinned, observed: digest })
    });
    let mut row = (steps.listed)(definition.to_owned());
    row = json::set(&row, "name", &name).ok()?;
    if pin.is_some_and(|pin| !(steps.matches)(&pin) && !(steps.may_list)(pin.mode)) {
        row = format!("{{\"name\":{name},\"withheld\":\"digest_drift\"}}");
    }
    let quoted = |text: Option<&str>| text.map_or_else(|| "null".to_owned(), json::quote);
    if let Some(pin) = pin {
        row = json::set(&row, "pinned_digest", &json::quote(pin.pinned)).ok()?;
    }
    row = json::set(&row, "digest", &quoted(digest)).ok()?;
    json::set(&row, "upstream", &json::quote(upstream)).ok()
}
