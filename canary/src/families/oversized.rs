//! `oversized`: a message of an exact length, with a marker at either end of its text.

use birdstrike_wire::shape::{Outcome, text_block};

use super::arguments::Arguments;
use super::{Served, refusal};
use crate::plan::{Encoding, FILL, Framing, LARGEST};

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "oversized",
  "title": "Oversized result",
  "description": "Answers with a JSON-RPC message of exactly so many bytes: `bytes`, or a place relative to `limit`.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "bytes": {"type": "integer", "minimum": 0, "maximum": 8589934592},
      "limit": {"type": "integer", "minimum": 1, "maximum": 8589934592, "default": 1048576},
      "which": {"type": "string", "enum": ["below", "at", "above", "x64"], "default": "above", "description": "One byte less than the limit, the limit, one byte more, 64 times the limit."},
      "framing": {"type": "string", "enum": ["content-length", "chunked", "sse", "gzip"]},
      "head": {"type": "string", "default": "<head>"},
      "tail": {"type": "string", "default": "<tail>"}
    }
  },
  "annotations": {"readOnlyHint": true}
}"#;

/// One text block between two markers, filled up to the length asked for.
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let total = match total(arguments) {
        Ok(total) => total,
        Err(why) => return refusal(why).into(),
    };
    let framing = arguments.string("framing");
    let encoding = match framing.as_deref() {
        None => None,
        Some("content-length") => Some((Encoding::Json, Framing::ContentLength)),
        Some("chunked" | "gzip") => Some((Encoding::Json, Framing::Chunked)),
        Some("sse") => Some((Encoding::Sse, Framing::Chunked)),
        Some(_) => {
            return refusal("`framing` is none of content-length, chunked, sse, gzip").into();
        }
    };
    let head = arguments.string("head");
    let tail = arguments.string("tail");
    let head = head.as_deref().unwrap_or("<head>");
    let tail = tail.as_deref().unwrap_or("<tail>");
    Served {
        outcome: Outcome {
            blocks: vec![text_block(&format!("{head}{FILL}{tail}"))],
            ..Outcome::default()
        },
        total: Some(total),
        encoding,
        gzip: framing.as_deref() == Some("gzip"),
        ..Served::default()
    }
}

fn total(arguments: &Arguments<'_>) -> Result<u64, &'static str> {
    let limit = arguments.number("limit").unwrap_or(1 << 20);
    let which = arguments.string("which");
    let total = match (arguments.number("bytes"), which.as_deref()) {
        (Some(bytes), _) => bytes,
        (None, Some("below")) => limit.saturating_sub(1),
        (None, Some("at")) => limit,
        (None, Some("above") | None) => limit.saturating_add(1),
        (None, Some("x64")) => limit.saturating_mul(64),
        (None, Some(_)) => return Err("`which` is none of below, at, above, x64"),
    };
    if total > LARGEST {
        return Err("more than 8589934592 bytes (8 GiB)");
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total_of(arguments: &str) -> Result<u64, &'static str> {
        total(&Arguments::read(Some(arguments)))
    }

    #[test]
    fn a_limit_is_met_missed_and_passed_by_one() {
        assert_eq!(total_of(r#"{"limit":100,"which":"below"}"#), Ok(99));
        assert_eq!(total_of(r#"{"limit":100,"which":"at"}"#), Ok(100));
        assert_eq!(total_of(r#"{"limit":100}"#), Ok(101));
        assert_eq!(total_of(r#"{"limit":100,"which":"x64"}"#), Ok(6_400));
        assert_eq!(total_of(r#"{"limit":100,"bytes":7}"#), Ok(7));
        assert!(total_of(r#"{"bytes":8589934593}"#).is_err());
        assert!(total_of(r#"{"limit":8589934592,"which":"x64"}"#).is_err());
    }
}
