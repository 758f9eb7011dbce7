//! Result shapes: how an outcome lies on the wire of a revision.
//!
//! A scenario says once what a tool answers ([`Outcome`]); a shape writes it down for a revision
//! and tells where each [slot](Rendered::slots) came to stand. What a revision cannot carry is an
//! error with its reason and never silently left out.

use std::collections::BTreeMap;

use crate::Revision;
use crate::json;

/// What a tool answers, written once without a wire shape. All values are JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Content blocks in their order, whole: `{"type":"text","text":"hi"}`.
    pub blocks: Vec<String>,
    /// The typed part; any JSON value, `null` included.
    pub data: Option<String>,
    /// The result's `_meta`, an object.
    pub meta: Option<String>,
    /// `isError`; absent means that the member is not written.
    pub error: Option<bool>,
    /// Further members of the result, unknown to every revision, in their order.
    pub extra: Vec<(String, String)>,
    /// A task handle in place of a complete result: the task's members as an object.
    pub task: Option<String>,
    /// A JSON-RPC error in place of a result: `{"code":…,"message":…,"data":…}`.
    pub rpc_error: Option<String>,
}

/// An outcome on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The member of the envelope that carries it: `result` or `error`.
    pub member: &'static str,
    /// The raw result or error object.
    pub body: String,
    /// Where each slot stands, as a JSON Pointer (RFC 6901) into the body.
    pub slots: BTreeMap<String, String>,
}

/// A part of an outcome that a revision has no place for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("revision {revision} cannot carry slot `{slot}`: {why}")]
pub struct CannotCarry {
    /// The revision asked for.
    pub revision: Revision,
    /// The slot that has no place there.
    pub slot: &'static str,
    /// The rule behind it.
    pub why: &'static str,
}

impl Outcome {
    /// Writes the outcome in the result shape of `revision`.
    ///
    /// # Errors
    /// [`CannotCarry`] for a typed part that is no object below 2026-07-28 (R-TOOLS-15) and for a
    /// task handle at 2025-06-18, which has no tasks.
    pub fn render(&self, revision: Revision) -> Result<Rendered, CannotCarry> {
        if let Some(error) = &self.rpc_error {
            return Ok(rendered_error(error));
        }
        if let Some(task) = &self.task {
            return self.render_task(revision, task);
        }
        self.check_data(revision)?;
        let mut members = Vec::new();
        if revision.has_result_type() {
            members.push(("resultType".to_owned(), "\"complete\"".to_owned()));
        }
        members.push(("content".to_owned(), format!("[{}]", self.blocks.join(","))));
        if let Some(data) = &self.data {
            members.push(("structuredContent".to_owned(), data.clone()));
        }
        if let Some(error) = self.error {
            members.push(("isError".to_owned(), error.to_string()));
        }
        Ok(self.finish(members, self.slots()))
    }

    fn check_data(&self, revision: Revision) -> Result<(), CannotCarry> {
        match &self.data {
            Some(data)
                if !revision.typed_part_may_be_any_value() && json::kind(data) != "an object" =>
            {
                let why = "below 2026-07-28 structuredContent is a JSON object (R-TOOLS-15)";
                Err(CannotCarry { revision, slot: "data", why })
            }
            _ => Ok(()),
        }
    }

    fn render_task(&self, revision: Revision, task: &str) -> Result<Rendered, CannotCarry> {
        let mut slots = BTreeMap::from([("result".to_owned(), String::new())]);
        let mut members = Vec::new();
        match revision {
            Revision::V2025_06_18 => {
                let why = "tasks came with 2025-11-25";
                return Err(CannotCarry { revision, slot: "task", why });
            }
            Revision::V2025_11_25 => {
                members.push(("task".to_owned(), task.to_owned()));
                slots.insert("task".to_owned(), "/task".to_owned());
            }
            Revision::V2026_07_28 => {
                members.push(("resultType".to_owned(), "\"task\"".to_owned()));
                let flat = json::members(task).unwrap_or_default();
                members.extend(flat.iter().map(|m| (m.key().into_owned(), m.value.to_owned())));
                slots.insert("task".to_owned(), String::new());
            }
        }
        if self.meta.is_some() {
            slots.insert("meta".to_owned(), "/_meta".to_owned());
        }
        Ok(self.finish(members, slots))
    }

    fn finish(
        &self,
        mut members: Vec<(String, String)>,
        slots: BTreeMap<String, String>,
    ) -> Rendered {
        members.extend(self.extra.iter().cloned());
        if let Some(meta) = &self.meta {
            members.push(("_meta".to_owned(), meta.clone()));
        }
        let written: Vec<String> =
            members.iter().map(|(name, value)| format!("{}:{value}", json::quote(name))).collect();
        let body = format!("{{{}}}", written.join(","));
        Rendered { member: "result", body, slots }
    }

    /// Slot names and their places; the same in every revision of the 2025 and 2026 shapes.
    fn slots(&self) -> BTreeMap<String, String> {
        let mut slots = BTreeMap::from([
            ("result".to_owned(), String::new()),
            ("content".to_owned(), "/content".to_owned()),
            ("error".to_owned(), "/isError".to_owned()),
            ("data".to_owned(), "/structuredContent".to_owned()),
            ("meta".to_owned(), "/_meta".to_owned()),
        ]);
        let mut links = 0;
        for (at, block) in self.blocks.iter().enumerate() {
            slots.insert(format!("block.{at}"), format!("/content/{at}"));
            match json::get_string(block, "type").as_deref() {
                Some("text") => {
                    slots.entry("text".to_owned()).or_insert(format!("/content/{at}/text"));
                }
                Some("resource_link") => {
                    slots.insert(format!("link.{links}"), format!("/content/{at}"));
                    links += 1;
                }
                _ => {}
            }
        }
        for (name, _) in &self.extra {
            slots.insert(format!("extra.{name}"), format!("/{}", escape_pointer(name)));
        }
        slots
    }
}

fn rendered_error(error: &str) -> Rendered {
    let slots = [
        ("rpc-error", ""),
        ("rpc-error.code", "/code"),
        ("rpc-error.message", "/message"),
        ("rpc-error.data", "/data"),
    ];
    let slots = slots.map(|(slot, at)| (slot.to_owned(), at.to_owned()));
    Rendered { member: "error", body: error.to_owned(), slots: BTreeMap::from(slots) }
}

/// A member's name as one token of a JSON Pointer (RFC 6901, section 3).
pub fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A text block.
pub fn text_block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", json::quote(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        Outcome {
            blocks: vec![
                text_block("hi"),
                r#"{"type":"resource_link","uri":"a:b","name":"n"}"#.into(),
            ],
            data: Some(r#"{"n":1.0}"#.into()),
            meta: Some(r#"{"example.org/t":"x"}"#.into()),
            error: Some(true),
            extra: vec![("x/y".into(), "[1]".into())],
            ..Outcome::default()
        }
    }

    #[test]
    fn the_newest_shape_says_its_result_type() {
        let new = outcome().render(Revision::V2026_07_28).unwrap();
        assert!(new.body.starts_with(r#"{"resultType":"complete","content":[{"type":"text""#));
        let old = outcome().render(Revision::V2025_06_18).unwrap();
        assert!(!old.body.contains("resultType"));
        assert_eq!(old.slots, new.slots);
        assert_eq!(old.slots["link.0"], "/content/1");
        assert_eq!(old.slots["extra.x/y"], "/x~1y");
        assert_eq!(json::get(&old.body, "structuredContent"), Some(r#"{"n":1.0}"#));
    }

    #[test]
    fn what_has_no_place_is_refused_with_its_rule() {
        let scalar = Outcome { data: Some("7".into()), ..Outcome::default() };
        assert!(scalar.render(Revision::V2026_07_28).is_ok());
        assert_eq!(scalar.render(Revision::V2025_11_25).unwrap_err().slot, "data");
        let task = Outcome { task: Some(r#"{"taskId":"t"}"#.into()), ..Outcome::default() };
        assert_eq!(task.render(Revision::V2025_06_18).unwrap_err().slot, "task");
        assert_eq!(task.render(Revision::V2025_11_25).unwrap().body, r#"{"task":{"taskId":"t"}}"#);
        let flat = task.render(Revision::V2026_07_28).unwrap();
        assert_eq!(flat.body, r#"{"resultType":"task","taskId":"t"}"#);
    }

    #[test]
    fn an_rpc_error_replaces_the_result() {
        let error = r#"{"code":-32001,"message":"m"}"#;
        let outcome = Outcome { rpc_error: Some(error.into()), ..Outcome::default() };
        let rendered = outcome.render(Revision::V2025_06_18).unwrap();
        assert_eq!((rendered.member, rendered.body.as_str()), ("error", error));
    }
}
