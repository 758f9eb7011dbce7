//! What an entry of a batch says of a cut, and what it weighs.

use birdstrike_judge::{Doc, Node, Pointer};
use birdstrike_scenario::profile::BatchCodec;

/// What an entry says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// That its result was cut.
    pub cut: bool,
    /// Why.
    pub reason: Option<String>,
    /// How many bytes the whole has, as the number is spelled.
    pub original_size: Option<String>,
    /// The id by which the whole is fetched.
    pub continuation: Option<String>,
    /// Bytes of the result or failure in it, or of its words where it holds neither.
    pub weight: usize,
}

/// Reads what an entry says.
pub fn read(codec: &BatchCodec, entry: &Doc<'_>) -> Claims {
    let at = |pointer: Option<&str>| -> Option<Node<'_>> {
        entry.at(&Pointer::parse(pointer?).ok()?).filter(|node| !node.is_null())
    };
    let text = |pointer: &Option<String>| {
        let node = at(pointer.as_deref())?;
        Some(node.string()?.text().into_owned()).filter(|text| !text.is_empty())
    };
    let held = [Some(codec.result.as_str()), codec.failed_result.as_deref()];
    let held = held.into_iter().chain([codec.rpc_error.as_deref()]);
    let held: usize = held.filter_map(at).map(|node| node.bytes().len()).sum();
    let words = at(Some(&codec.message)).and_then(|node| Some(node.string()?.text().len()));
    Claims {
        cut: at(codec.truncated.as_deref()).and_then(Node::boolean) == Some(true),
        reason: text(&codec.truncated_reason),
        original_size: at(codec.original_size.as_deref())
            .and_then(|node| Some(node.number()?.to_owned())),
        continuation: text(&codec.continuation_id),
        weight: if held > 0 { held } else { words.unwrap_or_default() },
    }
}
