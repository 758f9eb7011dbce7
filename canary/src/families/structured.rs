//! `structured`: a typed part of any kind of value, without an output schema.

use birdstrike_wire::shape::{Outcome, text_block};

use super::arguments::Arguments;
use super::{Served, refusal};

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "structured",
  "title": "Typed part without a schema",
  "description": "Answers with a typed part of the kind or of the very value that it is given. Below 2026-07-28 only objects can be carried.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "kind": {"type": "string", "enum": ["object", "array", "string", "number", "true", "null", "zero", "false", "empty-string", "empty-array", "empty-object", "none"], "default": "object"},
      "value": {"description": "Any value, in place of `kind`; it comes back byte for byte."},
      "mirror": {"type": "boolean", "default": true, "description": "Whether a text block repeats the typed part."}
    }
  },
  "annotations": {"readOnlyHint": true}
}"#;

/// A typed part and, unless unwanted, the text that repeats it (R-TOOLS-12, R-TOOLS-18).
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let kind = arguments.string("kind");
    let data = match (arguments.raw("value"), kind.as_deref()) {
        (Some(value), _) => Some(value),
        (None, Some("none")) => None,
        (None, kind) => match sample(kind.unwrap_or("object")) {
            Some(value) => Some(value),
            None => return refusal("`kind` is none of those that the schema lists").into(),
        },
    };
    let mirror = data.filter(|_| arguments.flag("mirror").unwrap_or(true));
    Served::from(Outcome {
        blocks: mirror.map(text_block).into_iter().collect(),
        data: data.map(str::to_owned),
        ..Outcome::default()
    })
}

/// A value of each kind: spelled so that a copy written anew looks different.
fn sample(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "object" => r#"{"count":3,"ratio":1.0,"big":9007199254740993,"nested":{"none":null}}"#,
        "array" => r#"[1,1.0,"two",{"three":3}]"#,
        "string" => r#""just text""#,
        "number" => "1E+2",
        "true" => "true",
        "null" => "null",
        "zero" => "0",
        "false" => "false",
        "empty-string" => r#""""#,
        "empty-array" => "[]",
        "empty-object" => "{}",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use birdstrike_wire::json;

    use super::*;

    #[test]
    fn the_schema_lists_every_kind_and_each_has_its_sample() {
        let schema = json::get(DEFINITION, "inputSchema").unwrap();
        let kind = json::get(json::get(schema, "properties").unwrap(), "kind").unwrap();
        for kind in json::items(json::get(kind, "enum").unwrap()).unwrap() {
            let arguments = format!("{{\"kind\":{kind}}}");
            let outcome = answer(&Arguments::read(Some(&arguments))).outcome;
            assert_eq!(outcome.error, None, "{kind}");
            assert_eq!(outcome.data.is_none(), kind == "\"none\"");
        }
    }

    #[test]
    fn a_value_comes_back_as_it_is_written() {
        let arguments = Arguments::read(Some(r#"{"value":[1E+2, "\u0061"]}"#));
        let outcome = answer(&arguments).outcome;
        assert_eq!(outcome.data.as_deref(), Some(r#"[1E+2, "\u0061"]"#));
        let alone = Arguments::read(Some(r#"{"kind":"null","mirror":false}"#));
        let outcome = answer(&alone).outcome;
        assert_eq!((outcome.blocks.len(), outcome.data.as_deref()), (0, Some("null")));
    }
}
