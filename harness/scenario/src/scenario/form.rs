//! Answers as they are written: which form they have, and whether their JSON is JSON.

use serde_json::value::RawValue;

use super::answer::{Delivery, Form, OutcomeSpec, OversizedSpec, RawSpec, TaskSpec};
use crate::check::Source;
use crate::mistake::{Mistake, Place};

/// The one form that an answer is written in.
pub(crate) fn form(
    outcome: Option<&OutcomeSpec>,
    raw: Option<&RawSpec>,
    oversized: Option<&OversizedSpec>,
    source: &Source<'_>,
) -> Result<Form, Mistake> {
    match (outcome, raw, oversized) {
        (None, None, None) => Ok(Form::Builtin),
        (Some(outcome), None, None) => {
            outcome.check(source)?;
            Ok(Form::Outcome(outcome.clone()))
        }
        (None, Some(raw), None) => {
            raw.check(source)?;
            Ok(Form::Raw(raw.clone()))
        }
        (None, None, Some(oversized)) => Ok(Form::Oversized(oversized.clone())),
        _ => Err(source.mistake(
            "an answer is written in more than one form",
            "keep one of `outcome`, `raw` and `oversized`",
        )),
    }
}

/// Messages beside the answer are JSON.
pub(super) fn delivered(delivery: &Delivery, source: &Source<'_>) -> Result<(), Mistake> {
    let beside = [("before", &delivery.before), ("after", &delivery.after)];
    for (what, messages) in beside {
        for text in messages {
            let filled = |text: &str| text.replace("«id»", "1000").replace("«token»", "1000000");
            let file = filled(source.text);
            object(&filled(text), what, &Source { text: &file, ..*source })?;
        }
    }
    Ok(())
}

/// A task ends with a result or an error; the life of one is made of JSON.
pub(super) fn tasked(
    task: Option<&TaskSpec>,
    form: &Form,
    source: &Source<'_>,
) -> Result<(), Mistake> {
    let Some(task) = task else { return Ok(()) };
    let told = match form {
        Form::Outcome(outcome) => outcome.task.is_none(),
        Form::Raw(raw) => raw.result.is_some() || raw.error.is_some(),
        Form::Oversized(_) | Form::Builtin => false,
    };
    if !told {
        let mend = "beside `task`, write an `outcome`, or a `raw` result or error";
        return Err(source.mistake("the task does not say how it ends", mend));
    }
    for (what, value) in [("members", &task.members), ("meta", &task.meta), ("asks", &task.asks)] {
        value.as_ref().map_or(Ok(()), |value| object(value, what, source))?;
    }
    Ok(())
}

/// JSON text with its markers in place, which stand inside strings. What only bytes can say (a
/// lone surrogate, say) passes: the grammar is checked and not the value.
pub(super) fn json(text: &str, what: &str, source: &Source<'_>) -> Result<(), Mistake> {
    grammar(text, source.text, what, source)
}

/// JSON text of an object.
pub(super) fn object(text: &str, what: &str, source: &Source<'_>) -> Result<(), Mistake> {
    json(text, what, source)?;
    if text.trim_start().starts_with('{') {
        return Ok(());
    }
    let place = inside(text, 1, 1, source.text, source.place).unwrap_or(source.place);
    let source = Source { place, ..*source };
    Err(source.mistake(&format!("`{what}` is no JSON object"), "write it as `{\"name\": value}`"))
}

/// A whole message. The id is filled in later; a number with as many characters stands for it
/// meanwhile, in the value and in the file, so that places stay right.
fn message(text: &str, source: &Source<'_>) -> Result<(), Mistake> {
    let filled = |text: &str| text.replace("«id»", "1000");
    grammar(&filled(text), &filled(source.text), "message", source)
}

/// The mistake in `text`, shown where the value's line stands in `file`.
fn grammar(text: &str, file: &str, what: &str, source: &Source<'_>) -> Result<(), Mistake> {
    // Without the line break that ends a block scalar, a value that breaks off does so in its line.
    let text = text.trim_end();
    let Err(error) = serde_json::from_str::<&RawValue>(text) else {
        return Ok(());
    };
    let mend = "wire values are JSON text, best in single quotes or a block scalar (`|`)";
    let words = error.to_string();
    let Some(place) = inside(text, error.line(), error.column(), file, source.place) else {
        return Err(source.mistake(&format!("`{what}` is not JSON: {words}"), mend));
    };
    let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
    let source = Source { place, ..*source };
    Err(source.mistake(&format!("`{what}` is not JSON: {words}"), mend))
}

/// Where a place inside a wire value stands in the file: on the first line, at or below the key,
/// that holds the value's own line as it is. There is none where YAML escapes change the text.
fn inside(text: &str, line: usize, column: usize, file: &str, key: Place) -> Option<Place> {
    let wanted = text.lines().nth(line.max(1) - 1)?;
    let into = wanted.char_indices().take_while(|(at, _)| at + 1 < column).count();
    let mut lines = file.lines().enumerate().skip(key.line.saturating_sub(1));
    let (at, before) = lines.find_map(|(at, shown)| Some((at, &shown[..shown.find(wanted)?])))?;
    Some(Place { line: at + 1, column: before.chars().count() + into + 1 })
}

impl OutcomeSpec {
    fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        for block in &self.blocks {
            object(block, "blocks", source)?;
        }
        for (name, value) in &self.extra {
            json(value, &format!("extra.{name}"), source)?;
        }
        let values =
            [("data", &self.data), ("contents", &self.contents), ("messages", &self.messages)];
        for (what, value) in values {
            value.as_ref().map_or(Ok(()), |value| json(value, what, source))?;
        }
        if self.contents.is_some() && self.messages.is_some() {
            let mend = "an answer is to a read or to a prompt: keep one of the two";
            return Err(source.mistake("`contents` and `messages` stand together", mend));
        }
        let objects = [("meta", &self.meta), ("task", &self.task), ("rpc-error", &self.rpc_error)];
        for (what, value) in objects {
            value.as_ref().map_or(Ok(()), |value| object(value, what, source))?;
        }
        Ok(())
    }
}

impl RawSpec {
    fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        let given = [&self.result, &self.error, &self.message, &self.body];
        if given.into_iter().flatten().count() != 1 {
            let mend = "give one of `result`, `error`, `message` and `body`";
            return Err(source.mistake("a raw answer has exactly one form", mend));
        }
        for (what, value) in [("result", &self.result), ("error", &self.error)] {
            value.as_ref().map_or(Ok(()), |value| json(value, what, source))?;
        }
        self.message.as_ref().map_or(Ok(()), |text| message(text, source))
    }
}

impl Form {
    /// Whether the answer puts something in a slot, or must be asked to be sure that it does not.
    pub(super) fn fills(&self, slot: &str) -> bool {
        let outcome = match self {
            Self::Outcome(outcome) => outcome,
            Self::Oversized(oversized) => {
                let usual = matches!(slot, "text" | "block.0" | "content" | "result");
                return usual || (slot == "data" && oversized.twice);
            }
            Self::Raw(_) | Self::Builtin => return true,
        };
        match slot.split_once('.').unwrap_or((slot, "")) {
            ("text", "") => outcome.text.is_some() || outcome.blocks.iter().any(|b| is(b, "text")),
            ("data", "") => outcome.data.is_some(),
            ("meta", "") => outcome.meta.is_some(),
            ("error", "") => outcome.error.is_some(),
            ("task", "") => outcome.task.is_some(),
            ("contents", "") => outcome.contents.is_some(),
            ("messages", "") => outcome.messages.is_some(),
            ("rpc-error", _) => outcome.rpc_error.is_some(),
            ("extra", name) => outcome.extra.contains_key(name),
            ("block", at) => {
                let blocks = outcome.blocks.len() + usize::from(outcome.text.is_some());
                at.parse().is_ok_and(|at: usize| at < blocks)
            }
            ("link", at) => {
                let at = at.strip_suffix(".uri").unwrap_or(at);
                let links = outcome.blocks.iter().filter(|block| is(block, "resource_link"));
                at.parse().is_ok_and(|at: usize| at < links.count())
            }
            ("result" | "content", "") => outcome.rpc_error.is_none(),
            _ => false,
        }
    }
}

/// Whether a block is of this kind.
fn is(block: &str, kind: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(block)
        .is_ok_and(|block| block.get("type").and_then(serde_json::Value::as_str) == Some(kind))
}
