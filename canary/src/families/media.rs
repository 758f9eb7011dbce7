//! `media`: an image, a sound and embedded resources, as text and as bytes (R-RES-02).

use birdstrike_wire::shape::{Outcome, text_block};

use super::arguments::Arguments;
use super::{Served, refusal};

/// The kinds of blocks in the order in which they are answered.
const KINDS: [&str; 4] = ["image", "audio", "embedded-text", "embedded-blob"];

/// A picture of one red pixel (PNG).
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// A sound without a sample (WAV).
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "media",
  "title": "Media",
  "description": "Answers with an image, a sound and embedded resources, or with those of them that it is asked for.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "kinds": {"type": "array", "items": {"type": "string", "enum": ["image", "audio", "embedded-text", "embedded-blob"]}, "description": "All if absent."}
    }
  },
  "annotations": {"readOnlyHint": true}
}"#;

/// A text and one block of each kind asked for.
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let kinds = arguments.strings("kinds");
    let kinds = kinds.unwrap_or_else(|| KINDS.map(str::to_owned).to_vec());
    let mut blocks = vec![text_block("media follow")];
    for kind in &kinds {
        match block(kind) {
            Some(block) => blocks.push(block),
            None => return refusal(&format!("no media of the kind `{kind}`")).into(),
        }
    }
    Served::from(Outcome { blocks, ..Outcome::default() })
}

fn block(kind: &str) -> Option<String> {
    let hints = r#""annotations":{"audience":["user","assistant"],"priority":1.0}"#;
    Some(match kind {
        "image" => format!(r#"{{"type":"image","data":"{PIXEL}","mimeType":"image/png",{hints}}}"#),
        "audio" => {
            format!(r#"{{"type":"audio","data":"{SILENCE}","mimeType":"audio/wav",{hints}}}"#)
        }
        "embedded-text" => format!(
            r#"{{"type":"resource","resource":{{"uri":"canary://media/note","mimeType":"text/plain","text":"naïve\ttext"}},{hints}}}"#
        ),
        "embedded-blob" => format!(
            r#"{{"type":"resource","resource":{{"uri":"canary://media/pixel","mimeType":"image/png","blob":"{PIXEL}"}},{hints}}}"#
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use birdstrike_wire::json;

    use super::*;

    #[test]
    fn each_kind_comes_alone_or_with_the_others() {
        assert_eq!(answer(&Arguments::read(None)).outcome.blocks.len(), 5);
        let audio = answer(&Arguments::read(Some(r#"{"kinds":["audio"]}"#))).outcome;
        let kind = json::get_string(&audio.blocks[1], "type");
        assert_eq!((audio.blocks.len(), kind.as_deref()), (2, Some("audio")));
        let none = answer(&Arguments::read(Some(r#"{"kinds":["smell"]}"#))).outcome;
        assert_eq!(none.error, Some(true));
    }
}
