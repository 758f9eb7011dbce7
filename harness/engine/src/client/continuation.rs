//! Continuations: a slice of a cut result asked for, and read.

use birdstrike_judge::{Doc, Node, Pointer};
use birdstrike_scenario::profile::{FetchCodec, FreeCodec};
use birdstrike_wire::json;

/// Bytes that are asked for where all is wanted at once.
const ALL: u64 = 16 << 20;

/// One slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// There is nothing under this id for this caller.
    pub missing: bool,
    /// Its text; none if it has none.
    pub data: Option<String>,
    /// Whether more follows, as far as it is told.
    pub more: Option<bool>,
    /// Bytes of the whole, as far as they are told.
    pub total: Option<u64>,
    /// What is said in words.
    pub words: String,
}

/// The arguments that ask for a slice. Only the bare names are filled.
pub fn fetch_arguments(codec: &FetchCodec, id: &str, offset: u64, slice: u64) -> String {
    let limit = if slice == 0 { ALL } else { slice };
    codec
        .arguments
        .replace("{{ id }}", &json::quote(id))
        .replace("{{ offset }}", &offset.to_string())
        .replace("{{ limit }}", &limit.to_string())
}

/// The arguments that give a continuation up.
pub fn free_arguments(codec: &FreeCodec, id: &str) -> String {
    codec.arguments.replace("{{ id }}", &json::quote(id))
}

/// Reads a slice from the tool's result.
///
/// # Errors
/// In words, where the result is no JSON.
pub fn slice(codec: &FetchCodec, result: &[u8]) -> Result<Slice, String> {
    let inside = inside(codec.inside.as_deref(), result)?;
    let doc = Doc::scan(&inside).map_err(|error| format!("a slice is no JSON: {error}"))?;
    let at = |pointer: Option<&str>| look(&doc, pointer);
    let text = |node: Node<'_>| match node.string() {
        Some(text) => text.text().into_owned(),
        None => node.raw().to_owned(),
    };
    let found = at(codec.found.as_deref()).and_then(Node::boolean);
    let words = at(codec.message.as_deref()).map(text).unwrap_or_default();
    Ok(Slice {
        missing: found == Some(false),
        data: at(Some(&codec.data)).map(text),
        more: at(codec.more.as_deref()).and_then(Node::boolean),
        total: at(codec.total.as_deref()).and_then(|node| node.number()?.parse().ok()),
        words,
    })
}

/// Whether there was anything to give up; none where it is not told.
///
/// # Errors
/// As [`slice`].
pub fn deleted(codec: &FreeCodec, result: &[u8]) -> Result<Option<bool>, String> {
    let inside = inside(codec.inside.as_deref(), result)?;
    let doc = Doc::scan(&inside).map_err(|error| format!("the answer is no JSON: {error}"))?;
    Ok(look(&doc, codec.deleted.as_deref()).and_then(Node::boolean))
}

fn look<'d>(doc: &'d Doc<'_>, pointer: Option<&str>) -> Option<Node<'d>> {
    doc.at(&Pointer::parse(pointer?).ok()?).filter(|node| !node.is_null())
}

/// The JSON text that the places are in: the result itself, or a string in it.
fn inside(pointer: Option<&str>, result: &[u8]) -> Result<Vec<u8>, String> {
    let Some(pointer) = pointer else { return Ok(result.to_vec()) };
    let doc = Doc::scan(result).map_err(|error| format!("the answer is no JSON: {error}"))?;
    let text = look(&doc, Some(pointer)).and_then(Node::string);
    let text = text.ok_or_else(|| format!("the answer has no text at {pointer}"))?;
    Ok(text.text().into_owned().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codec(inside: Option<&str>) -> FetchCodec {
        FetchCodec {
            tool: "fetch".into(),
            arguments: r#"{"id":{{ id }},"offset":{{ offset }},"limit":{{ limit }}}"#.into(),
            inside: inside.map(str::to_owned),
            data: "/data".into(),
            found: Some("/found".into()),
            more: Some("/has_more".into()),
            total: Some("/total".into()),
            message: Some("/error".into()),
        }
    }

    #[test]
    fn slices_are_asked_for_in_bytes() {
        let asked = fetch_arguments(&codec(None), "a\"b", 7, 100);
        assert_eq!(asked, r#"{"id":"a\"b","offset":7,"limit":100}"#);
    }

    #[test]
    fn slices_stand_in_the_result_or_in_a_text_of_it() {
        let plain = br#"{"found":true,"data":"{\"a\":","has_more":true,"total":9}"#;
        let wanted = Slice {
            data: Some("{\"a\":".into()),
            more: Some(true),
            total: Some(9),
            ..Slice::default()
        };
        assert_eq!(slice(&codec(None), plain).unwrap(), wanted);
        let text = json::quote(std::str::from_utf8(plain).unwrap());
        let wrapped = format!(r#"{{"content":[{{"text":{text}}}]}}"#);
        let codec = codec(Some("/content/0/text"));
        assert_eq!(slice(&codec, wrapped.as_bytes()).unwrap(), wanted);
        let whole = br#"{"content":[{"text":"{\"data\":{\"a\":1}}"}]}"#;
        assert_eq!(slice(&codec, whole).unwrap().data.as_deref(), Some(r#"{"a":1}"#));
        assert!(slice(&codec, b"{}").is_err());
    }

    #[test]
    fn nothing_under_an_id_is_told() {
        let told = slice(&codec(None), br#"{"found":false,"error":"gone"}"#).unwrap();
        assert_eq!((told.missing, told.words.as_str()), (true, "gone"));
    }
}
