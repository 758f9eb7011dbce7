//! `meta_carrying`: metadata at every level that can carry it.

use birdstrike_wire::json;
use birdstrike_wire::shape::Outcome;

use super::arguments::Arguments;
use super::{Served, refusal};

/// The places that can carry metadata.
const PLACES: [&str; 3] = ["result", "blocks", "nested"];

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "meta_carrying",
  "title": "Metadata at every level",
  "description": "Answers with one block of each kind, and with _meta on the result, on each block and inside the embedded resource.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "places": {"type": "array", "items": {"type": "string", "enum": ["result", "blocks", "nested"]}, "description": "Where it stands; everywhere if absent."},
      "key": {"type": "string", "default": "example.org/trace"},
      "value": {"description": "Any value; by default an object that names its place.", "default": null}
    }
  },
  "annotations": {"readOnlyHint": true},
  "_meta": {"example.org/family": "meta_carrying"}
}"#;

/// One block of each kind with the metadata that the arguments ask for.
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let places = arguments.strings("places");
    if let Some(unknown) = places.iter().flatten().find(|p| !PLACES.contains(&p.as_str())) {
        return refusal(&format!("`{unknown}` is none of result, blocks, nested")).into();
    }
    let wanted = |place: &str| places.as_ref().is_none_or(|p| p.iter().any(|p| p == place));
    let key = arguments.string("key");
    let key = json::quote(key.as_deref().unwrap_or("example.org/trace"));
    let value = arguments.raw("value");
    let meta = |place: &str| match value {
        Some(value) => format!("{{{key}:{value}}}"),
        None => format!("{{{key}:{{\"place\":{}}}}}", json::quote(place)),
    };
    let member = |place: &str, path: &str| {
        if wanted(place) { format!(",\"_meta\":{}", meta(path)) } else { String::new() }
    };
    Served::from(Outcome {
        blocks: blocks(&member),
        meta: wanted("result").then(|| meta("result")),
        ..Outcome::default()
    })
}

/// One block of each kind; `member` writes the `_meta` of a place.
fn blocks(member: &impl Fn(&str, &str) -> String) -> Vec<String> {
    let block = |kind: &str, rest: &str| {
        let meta = member("blocks", &format!("block.{kind}"));
        format!("{{\"type\":\"{kind}\",{rest}{meta}}}")
    };
    let nested = member("nested", "block.resource.resource");
    vec![
        block("text", r#""text":"metadata follows""#),
        block("image", r#""data":"iVBORw0KGgo=","mimeType":"image/png""#),
        block("audio", r#""data":"UklGRg==","mimeType":"audio/wav""#),
        block("resource_link", r#""uri":"canary://meta/link","name":"link""#),
        block(
            "resource",
            &format!(r#""resource":{{"uri":"canary://meta/embedded","text":"embedded"{nested}}}"#),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metas(arguments: &str) -> (bool, usize, bool) {
        let outcome = answer(&Arguments::read(Some(arguments))).outcome;
        let on_blocks = outcome.blocks.iter().filter(|b| json::get(b, "_meta").is_some());
        let resource = json::get(&outcome.blocks[4], "resource").unwrap();
        let nested = json::get(resource, "_meta").is_some();
        (outcome.meta.is_some(), on_blocks.count(), nested)
    }

    #[test]
    fn metadata_stands_where_it_is_asked_for() {
        assert_eq!(metas("{}"), (true, 5, true));
        assert_eq!(metas(r#"{"places":["nested"]}"#), (false, 0, true));
        assert_eq!(metas(r#"{"places":["result"],"value":1.0}"#), (true, 0, false));
    }

    #[test]
    fn a_value_is_carried_as_it_is_written() {
        let arguments = Arguments::read(Some(r#"{"key":"k","value":1E+2}"#));
        let outcome = answer(&arguments).outcome;
        assert_eq!(outcome.meta.as_deref(), Some(r#"{"k":1E+2}"#));
        let other = answer(&Arguments::read(Some(r#"{"places":["x"]}"#))).outcome;
        assert_eq!(other.error, Some(true));
    }
}
