//! Where the protocol says that a URI stands.

use std::ops::Range;

use birdstrike_wire::json::{self, Member};

/// What a result answers, which settles where its URIs stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// `tools/call`: the blocks of `content`, and the page that belongs to the result.
    Call,
    /// `prompts/get`: the block of each of its `messages`.
    Prompt,
    /// `resources/read`: each of its `contents`.
    Read,
    /// One entry of a listing of resources.
    Resource,
    /// One entry of a listing of templates.
    Template,
}

/// All of them and no others.
pub fn places(source: Source, result: &str) -> Vec<Range<usize>> {
    match source {
        Source::Call => {
            let mut places = each(result, "content", in_block);
            places.extend(page(result));
            places.sort_by_key(|place| place.start);
            places
        }
        Source::Prompt => each(result, "messages", |message| {
            let (block, at) = value(message, "content")?;
            in_block(block).map(|place| moved(place, at))
        }),
        Source::Read => each(result, "contents", |contents| string(contents, "uri")),
        Source::Resource => string(result, "uri").into_iter().collect(),
        Source::Template => string(result, "uriTemplate").into_iter().collect(),
    }
}

/// The page of MCP Apps that shows a result: of all metadata the one place that is defined to hold a
/// URI.
fn page(result: &str) -> Option<Range<usize>> {
    let (meta, meta_at) = value(result, "_meta")?;
    let (page, page_at) = value(meta, "ui")?;
    string(page, "resourceUri").map(|place| moved(place, meta_at + page_at))
}

/// The URI of a link, or of the resource that is embedded in a block.
pub fn in_block(block: &str) -> Option<Range<usize>> {
    match json::get_string(block, "type")?.as_str() {
        "resource_link" => string(block, "uri"),
        "resource" => {
            let (resource, at) = value(block, "resource")?;
            string(resource, "uri").map(|place| moved(place, at))
        }
        _ => None,
    }
}

/// What is found in the items of a list, at its place in the whole. A list that is none has none.
pub fn each(
    result: &str,
    list: &str,
    find: impl Fn(&str) -> Option<Range<usize>>,
) -> Vec<Range<usize>> {
    let Some((items, at)) = value(result, list) else { return Vec::new() };
    let spans = json::item_spans(items).unwrap_or_default();
    let found = spans.into_iter().filter_map(|span| {
        let place = find(items.get(span.clone())?)?;
        Some(moved(place, at + span.start))
    });
    found.collect()
}

/// A member's value and where it begins; of members with one name the last, as most parsers read.
fn value<'a>(object: &'a str, name: &str) -> Option<(&'a str, usize)> {
    let Member { value, value_at, .. } =
        json::members(object).ok()?.into_iter().rfind(|member| member.is(name))?;
    Some((value, value_at.start))
}

fn string(object: &str, name: &str) -> Option<Range<usize>> {
    let (text, at) = value(object, name)?;
    text.starts_with('"').then(|| at..at + text.len())
}

fn moved(place: Range<usize>, by: usize) -> Range<usize> {
    place.start + by..place.end + by
}
