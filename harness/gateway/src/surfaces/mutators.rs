//! Surface 3, `mutators`: changes to a successful result that the owner of the gateway asked for.
//!
//! None by default. A mutator works on the result itself, as the upstream sent it, and never on a
//! wrapper around it. It sees no failure, and gets bytes of its own. Either all mutators
//! did their work or the original result goes on; each change is told in the log, by size and never
//! by content.

use birdstrike_wire::json;
use birdstrike_wire::shape::text_block;

use super::answer_reading::{Answer, Kind};
use crate::config::Mutator;
use crate::failure::Failure;
use crate::spelled;

/// The key in a block's `_meta` that says how much of its text was kept.
pub const MARK: &str = "birdstrike/truncated";

/// A change that a mutator made, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The mutator's name.
    pub mutator: &'static str,
    /// Size of the result before it, in bytes.
    pub bytes_before: usize,
    /// Size of the result after it, in bytes.
    pub bytes_after: usize,
}

/// A mutator that could not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The mutator's name; empty until the pipeline has put it there.
    pub mutator: &'static str,
    /// Why, in words that hold nothing of the result.
    pub why: String,
    /// The result as far as it was changed.
    pub half_done: String,
}

/// A block behind the truncator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its JSON text.
    pub json: String,
    /// How many characters its text has and had, if it was cut.
    pub cut: Option<Shortened>,
}

/// How much of a text was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// Characters that were kept.
    pub kept_chars: usize,
    /// Characters that there were.
    pub chars: usize,
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Whether mutators get an answer of this kind on this route.
    pub takes: fn(Kind, route: &str) -> bool,
    /// The mutators that run, in their order.
    pub chosen: fn(&[Mutator]) -> &[Mutator],
    /// The blocks of a result, as the text of a list.
    pub blocks: fn(result: &str) -> Option<&str>,
    /// The member of a block that the truncator may cut.
    pub member: fn(block: &str) -> Option<&'static str>,
    /// What is kept of a string's inside, spelled as in JSON.
    pub keep: fn(inside: &str, max_chars: usize) -> String,
    /// The blocks as the client gets them, with what says that some were cut.
    pub mark: fn(Vec<Block>) -> Vec<String>,
    /// A result without its typed part; `None` if it has none.
    pub drop: fn(result: &str) -> Option<String>,
    /// A result with other blocks, the text of a list.
    pub put: fn(result: &str, blocks: &str) -> Option<String>,
    /// The result that goes on, given the original and what the mutators made of it.
    pub settle: fn(original: String, mutated: Result<String, Broken>) -> String,
    /// The changes that the log is told.
    pub told: fn(Vec<Change>) -> Vec<Change>,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self =
        Self { takes, chosen, blocks, member, keep, mark, drop, put, settle, told };
}

/// Successes alone, on every route: a failure says why, and a task or a request for input is no
/// result yet.
pub fn takes(kind: Kind, _: &str) -> bool {
    kind == Kind::Success
}

/// All.
pub fn chosen(mutators: &[Mutator]) -> &[Mutator] {
    mutators
}

/// `content` of the result itself.
pub fn blocks(result: &str) -> Option<&str> {
    json::get(result, "content")
}

/// The text of a text block: anything else is worth nothing in part.
pub fn member(block: &str) -> Option<&'static str> {
    (json::get_string(block, "type").as_deref() == Some("text")).then_some("text")
}

/// Whole characters.
pub fn keep(inside: &str, max_chars: usize) -> String {
    spelled::first_characters(inside, max_chars).to_owned()
}

/// In the block for a program, and in a block behind all others for a reader.
pub fn mark(blocks: Vec<Block>) -> Vec<String> {
    let cut = blocks.iter().filter(|block| block.cut.is_some()).count();
    let mut marked: Vec<String> = blocks.into_iter().map(marked).collect();
    if cut > 0 {
        let texts = if cut == 1 { "text" } else { "texts" };
        marked.push(text_block(&format!("[The gateway cut {cut} {texts} of this result.]")));
    }
    marked
}

fn marked(block: Block) -> String {
    let Some(Shortened { kept_chars, chars }) = block.cut else { return block.json };
    let mark = format!("{{\"chars\":{chars},\"kept_chars\":{kept_chars}}}");
    let meta = json::set(json::get(&block.json, "_meta").unwrap_or("{}"), MARK, &mark);
    // A `_meta` that is no object has no room for a mark; the last block tells all the same.
    meta.and_then(|meta| json::set(&block.json, "_meta", &meta)).unwrap_or(block.json)
}

/// The text is not made of the typed part, so that it stays whole.
pub fn drop(result: &str) -> Option<String> {
    json::get(result, "structuredContent")?;
    json::remove(result, "structuredContent").ok()
}

/// Every byte around the blocks stays.
pub fn put(result: &str, blocks: &str) -> Option<String> {
    json::set(result, "content", blocks).ok()
}

/// All or nothing.
pub fn settle(original: String, mutated: Result<String, Broken>) -> String {
    mutated.unwrap_or(original)
}

/// All.
pub fn told(changes: Vec<Change>) -> Vec<Change> {
    changes
}

/// What became of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The changes to be told, in their order.
    pub changes: Vec<Change>,
    /// The mutator that failed, and why.
    pub broken: Option<(&'static str, String)>,
}

/// Takes an ended call through the mutators.
pub fn run(
    ended: &mut Result<Answer, Failure>,
    route: &str,
    mutators: &[Mutator],
    steps: &Steps,
) -> Report {
    let mut report = Report::default();
    let Ok(answer) = ended else { return report };
    if mutators.is_empty() || !(steps.takes)(answer.kind, route) {
        return report;
    }
    let mutated = mutated(&answer.body, (steps.chosen)(mutators), steps);
    let mutated = match mutated {
        Ok((result, changes)) => {
            report.changes = (steps.told)(changes);
            Ok(result)
        }
        Err(broken) => {
            report.broken = Some((broken.mutator, broken.why.clone()));
            Err(broken)
        }
    };
    answer.body = (steps.settle)(std::mem::take(&mut answer.body), mutated);
    report
}

fn mutated(
    original: &str,
    mutators: &[Mutator],
    steps: &Steps,
) -> Result<(String, Vec<Change>), Broken> {
    let mut result = original.to_owned();
    let mut changes = Vec::new();
    for mutator in mutators {
        let (name, changed) = match *mutator {
            Mutator::TruncateText { max_chars } => {
                ("truncate_text", truncate_text(&result, max_chars, steps))
            }
            Mutator::DropTypedPart => ("drop_typed_part", Ok((steps.drop)(&result))),
        };
        if let Some(after) = changed.map_err(|broken| Broken { mutator: name, ..broken })? {
            let (bytes_before, bytes_after) = (result.len(), after.len());
            changes.push(Change { mutator: name, bytes_before, bytes_after });
            result = after;
        }
    }
    Ok((result, changes))
}

/// The built-in truncator: the text of each block of `content`, at most so many characters. `None`
/// if nothing is too long.
///
/// # Errors
/// [`Broken`] for blocks that are none.
pub fn truncate_text(
    result: &str,
    max_chars: usize,
    steps: &Steps,
) -> Result<Option<String>, Broken> {
    let Some(content) = (steps.blocks)(result) else { return Ok(None) };
    let broken = |why: String, half_done| Broken { mutator: "", why, half_done };
    let items = json::items(content)
        .map_err(|_| broken("`content` is no list".into(), result.to_owned()))?;
    let mut blocks = Vec::with_capacity(items.len());
    let mut why = None;
    for (at, item) in items.into_iter().enumerate() {
        let shortened = match why {
            None => shortened(item, max_chars, steps),
            Some(_) => Ok(None),
        };
        let (json, cut) = match shortened {
            Ok(Some((json, cut))) => (json, Some(cut)),
            Ok(None) => (item.to_owned(), None),
            Err(wrong) => {
                why = Some(format!("block {at} {wrong}"));
                (item.to_owned(), None)
            }
        };
        blocks.push(Block { json, cut });
    }
    if why.is_none() && blocks.iter().all(|block| block.cut.is_none()) {
        return Ok(None);
    }
    let blocks = format!("[{}]", (steps.mark)(blocks).join(","));
    let changed = (steps.put)(result, &blocks);
    match why {
        Some(why) => Err(broken(why, changed.unwrap_or_else(|| result.to_owned()))),
        None => Ok(changed),
    }
}

/// A block with less text; `None` if it stays. Or what is wrong with it.
fn shortened(
    block: &str,
    max_chars: usize,
    steps: &Steps,
) -> Result<Option<(String, Shortened)>, String> {
    if json::kind(block) != "an object" {
        return Err(format!("is {}, not an object", json::kind(block)));
    }
    let Some(member) = (steps.member)(block) else { return Ok(None) };
    let Some(value) = json::get(block, member) else { return Err(format!("has no `{member}`")) };
    let Some(inside) = spelled::inside(value) else {
        return Err(format!("has a `{member}` that is {}", json::kind(value)));
    };
    let chars = spelled::count(inside);
    if chars <= max_chars {
        return Ok(None);
    }
    let kept = (steps.keep)(inside, max_chars);
    let cut = Shortened { kept_chars: spelled::count(&kept), chars };
    let block = json::set(block, member, &format!("\"{kept}\"")).map_err(|e| e.to_string())?;
    Ok(Some((block, cut)))
}

#[cfg(test)]
mod tests;
