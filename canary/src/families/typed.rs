//! `typed`: a typed part with an output schema, which it obeys or breaks (R-TOOLS-13).

use birdstrike_wire::shape::{Outcome, text_block};

use super::arguments::Arguments;
use super::{Served, refusal};

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "typed",
  "title": "Typed part with a schema",
  "description": "Answers with a typed part that obeys its output schema, or breaks it in the way that it is told.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "variant": {"type": "string", "enum": ["valid", "wrong-type", "missing", "extra", "bad-format", "absent"], "default": "valid"}
    }
  },
  "outputSchema": {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
      "city": {"type": "string", "minLength": 1},
      "degrees": {"type": "number"},
      "station": {"type": "integer"},
      "measured": {"type": "string", "format": "date-time"}
    },
    "required": ["city", "degrees", "station"],
    "additionalProperties": false
  },
  "annotations": {"readOnlyHint": true}
}"#;

/// A typed part of the variant asked for, and the text that repeats it.
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let variant = arguments.string("variant");
    let data = match variant.as_deref().unwrap_or("valid") {
        "valid" => {
            r#"{"city":"Oslo","degrees":-4.0,"station":1492,"measured":"2026-01-01T00:00:00Z"}"#
        }
        "wrong-type" => r#"{"city":"Oslo","degrees":"cold","station":1492}"#,
        "missing" => r#"{"city":"Oslo","degrees":-4.0}"#,
        "extra" => r#"{"city":"Oslo","degrees":-4.0,"station":1492,"mood":"fine"}"#,
        "bad-format" => r#"{"city":"Oslo","degrees":-4.0,"station":1492,"measured":"now"}"#,
        "absent" => {
            return Served::from(Outcome {
                blocks: vec![text_block("no typed part")],
                ..Outcome::default()
            });
        }
        _ => return refusal("`variant` is none of those that the schema lists").into(),
    };
    Served::from(Outcome {
        blocks: vec![text_block(data)],
        data: Some(data.to_owned()),
        ..Outcome::default()
    })
}

#[cfg(test)]
mod tests {
    use birdstrike_wire::json;

    use super::*;

    #[test]
    fn only_the_valid_variants_obey_the_schema() {
        let schema = json::get(DEFINITION, "outputSchema").unwrap();
        let schema = serde_json::from_str(schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for (variant, valid) in [
            ("valid", true),
            ("wrong-type", false),
            ("missing", false),
            ("extra", false),
            // Formats are an annotation, unless a validator is told to check them.
            ("bad-format", true),
        ] {
            let arguments = format!("{{\"variant\":\"{variant}\"}}");
            let data = answer(&Arguments::read(Some(&arguments))).outcome.data.unwrap();
            let data = serde_json::from_str(&data).unwrap();
            assert_eq!(validator.is_valid(&data), valid, "{variant}");
        }
    }
}
