//! `is_error`: the tool ran and failed (R-ERR-01), with or without a typed part and metadata.

use birdstrike_wire::shape::{Outcome, text_block};

use super::Served;
use super::arguments::Arguments;

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "is_error",
  "title": "Failing tool",
  "description": "Answers that it failed, with the text, typed part and metadata that it is given.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "text": {"type": "string", "default": "the tool failed"},
      "data": {"type": "object", "description": "The typed part; none if absent."},
      "meta": {"type": "object", "description": "The result's _meta; none if absent."},
      "flag": {"type": "boolean", "default": true, "description": "The value of isError."}
    }
  },
  "annotations": {"readOnlyHint": true}
}"#;

/// What the arguments say, flagged as an error.
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let text = arguments.string("text");
    Served::from(Outcome {
        blocks: vec![text_block(text.as_deref().unwrap_or("the tool failed"))],
        data: arguments.object("data").map(str::to_owned),
        meta: arguments.object("meta").map(str::to_owned),
        error: Some(arguments.flag("flag").unwrap_or(true)),
        ..Outcome::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_data_and_meta_stand_beside_the_flag() {
        let arguments = Arguments::read(Some(
            r#"{"text":"no","data":{"retry":false},"meta":{"example.org/t":1.0}}"#,
        ));
        let outcome = answer(&arguments).outcome;
        assert_eq!(outcome.error, Some(true));
        assert_eq!(outcome.data.as_deref(), Some(r#"{"retry":false}"#));
        assert_eq!(outcome.meta.as_deref(), Some(r#"{"example.org/t":1.0}"#));
        assert_eq!(outcome.blocks, [text_block("no")]);
    }
}
