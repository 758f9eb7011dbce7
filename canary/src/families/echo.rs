//! `echo`: the arguments come back as text and as typed part, byte for byte.

use birdstrike_wire::json;
use birdstrike_wire::shape::{Outcome, text_block};

use super::Served;
use super::arguments::Arguments;

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "echo",
  "title": "Echo",
  "description": "Gives its arguments back, as text and as typed part, byte for byte.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "region": {"type": "string", "description": "Mirrored in a header at 2026-07-28.", "x-mcp-header": "Region"}
    },
    "additionalProperties": true
  },
  "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
}"#;

/// The arguments as they came. What is no object cannot be a typed part and comes as text alone.
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let text = arguments.text();
    let is_object = json::kind(text) == "an object";
    Served::from(Outcome {
        blocks: vec![text_block(text)],
        data: is_object.then(|| text.to_owned()),
        ..Outcome::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_spelled_anew() {
        let odd = "{\"n\": 1E+02, \"n\":2, \"s\":\"\\u0061\\/\"}";
        let outcome = answer(&Arguments::read(Some(odd))).outcome;
        assert_eq!(outcome.data.as_deref(), Some(odd));
        assert_eq!(json::get_string(&outcome.blocks[0], "text").as_deref(), Some(odd));
    }
}
