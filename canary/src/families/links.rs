//! `links`: resource links, with all their members and of several schemes (R-TOOLS-19).

use birdstrike_wire::json;
use birdstrike_wire::shape::{Outcome, text_block};

use super::arguments::Arguments;
use super::{Served, refusal};

/// The most links in one answer.
const MOST: u64 = 64;

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "links",
  "title": "Resource links",
  "description": "Answers with resource links to the URIs that it is given, or with so many of its own.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "uris": {"type": "array", "items": {"type": "string"}, "maxItems": 64},
      "count": {"type": "integer", "minimum": 0, "maximum": 64, "default": 3}
    }
  },
  "annotations": {"readOnlyHint": true}
}"#;

/// A text and a link for each URI.
pub(crate) fn answer(arguments: &Arguments<'_>) -> Served {
    let count = arguments.number("count").unwrap_or(3);
    let uris = arguments.strings("uris").unwrap_or_else(|| own(count.min(MOST + 1)));
    if uris.len() as u64 > MOST {
        return refusal("more than 64 links").into();
    }
    let text = format!("{} links follow", uris.len());
    let links = uris.iter().enumerate().map(|(at, uri)| link(at, uri));
    Served::from(Outcome {
        blocks: std::iter::once(text_block(&text)).chain(links).collect(),
        ..Outcome::default()
    })
}

/// URIs of the canary's own, each of another scheme or with something that must not be spelled anew.
fn own(count: u64) -> Vec<String> {
    let own = |n| match n % 3 {
        0 => format!("canary://report/{n}?page=1#top"),
        1 => format!("https://canary.example.org/a%20b/{n}"),
        _ => format!("file:///tmp/canary-{n}.txt"),
    };
    (0..count).map(own).collect()
}

fn link(at: usize, uri: &str) -> String {
    let uri = json::quote(uri);
    format!(
        "{{\"type\":\"resource_link\",\"uri\":{uri},\"name\":\"link-{at}\",\"title\":\"Link {at}\",\
         \"description\":\"A resource of the canary.\",\"mimeType\":\"text/plain\",\"size\":{},\
         \"annotations\":{{\"audience\":[\"user\"],\"priority\":0.5}},\
         \"_meta\":{{\"example.org/link\":{at}}}}}",
        1_000 + at
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_point_where_they_are_told() {
        let arguments = Arguments::read(Some(r#"{"uris":["a:b","c://d/\u00e9"]}"#));
        let blocks = answer(&arguments).outcome.blocks;
        assert_eq!(blocks.len(), 3);
        assert_eq!(json::get_string(&blocks[1], "uri").as_deref(), Some("a:b"));
        assert_eq!(json::get_string(&blocks[2], "uri").as_deref(), Some("c://d/é"));
    }

    #[test]
    fn the_number_of_links_is_bounded() {
        let many = answer(&Arguments::read(Some(r#"{"count":65}"#))).outcome;
        assert_eq!(many.error, Some(true));
        let none = answer(&Arguments::read(Some(r#"{"count":0}"#))).outcome;
        assert_eq!(none.blocks.len(), 1);
    }
}
