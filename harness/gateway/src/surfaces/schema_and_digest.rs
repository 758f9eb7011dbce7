//! Surface 11, `schema-and-digest`: what a tool's definition is, and whether its results keep to it.
//!
//! A definition is listed whole, every member as it came. Its digest is shown beside it: SHA-256, in
//! hex, over the canonical form (RFC 8785) of its name, description, inputSchema and outputSchema, as
//! the upstream has them; what is absent is left out (INV-11.1). A tool may be pinned to a digest; one
//! that has another now is withheld and not called, or told, as the configuration says.
//!
//! A result is held against the tool's outputSchema only if the configuration says so, and never one
//! that is flagged as failed (R-TOOLS-14). The validator gets a copy: the result itself stays.

pub mod canonical;
pub mod schema;

use std::sync::OnceLock;

use birdstrike_wire::json;
use sha2::{Digest, Sha256};

use super::answer_reading::Kind;
use crate::config::{OutputSchema, PinMode};
use schema::Schema;

/// The key in the `_meta` of a listed tool that holds its digest.
pub const DIGEST: &str = "birdstrike.dev/digest";
/// The key that holds the digest that it is pinned to, if it has another now.
pub const PINNED: &str = "birdstrike.dev/pinned-digest";

/// A tool as its upstream listed it last.
#[derive(Debug)]
pub struct Known {
    /// Its definition, raw.
    pub definition: String,
    /// Its digest; none if its definition has no canonical form.
    pub digest: Option<String>,
    schema: OnceLock<Option<Result<Schema, String>>>,
}

/// A tool that is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin<'a> {
    /// What is to be done when the digests differ.
    pub mode: PinMode,
    /// The digest that it should have.
    pub pinned: &'a str,
    /// The digest that it has; none for a tool that is not listed, or has none.
    pub observed: Option<&'a str>,
}

/// What becomes of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Passes,
    /// It goes on, and why it should not is told.
    Told(String),
    /// It does not, for this reason.
    Blocked(String),
}

/// The steps of this surface.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The members that a digest covers: their names, and their values as they are written.
    pub covered: for<'a> fn(definition: &'a str) -> Vec<(&'static str, &'a str)>,
    /// One text for all ways to write them; none if there is none.
    pub canonical: fn(&[(&'static str, &str)]) -> Option<String>,
    /// The digest of that text.
    pub digest: fn(canonical: &str) -> String,
    /// The definition as it is listed, but for the digest.
    pub listed: fn(definition: String) -> String,
    /// The same with the digest, and with the other that it is pinned to.
    pub shown: fn(definition: String, digest: Option<&str>, pinned: Option<&str>) -> String,
    /// Whether a tool is what it is pinned to be.
    pub matches: fn(&Pin<'_>) -> bool,
    /// Whether a tool that is not may be listed all the same.
    pub may_list: fn(PinMode) -> bool,
    /// Whether it may be called all the same.
    pub may_call: fn(PinMode) -> bool,
    /// Whether the log is told of it.
    pub is_told: fn(PinMode) -> bool,
    /// Whether a result of this kind is held against the schema.
    pub is_checked: fn(Kind) -> bool,
    /// The part of a result that is held against it.
    pub typed_part: fn(result: &str) -> Option<String>,
    /// What becomes of a result after that.
    pub fate: fn(OutputSchema, checked: Result<(), String>) -> Fate,
    /// The result that goes on, given the schema that it was held against.
    pub after: fn(result: String, schema: &str) -> String,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        covered,
        canonical,
        digest,
        listed,
        shown,
        matches,
        may_list,
        may_call,
        is_told,
        is_checked,
        typed_part,
        fate,
        after,
    };
}

/// The four that say what a tool is; title, hints and icons may change.
pub fn covered(definition: &str) -> Vec<(&'static str, &str)> {
    let members = json::members(definition).unwrap_or_default();
    let names = ["name", "description", "inputSchema", "outputSchema"];
    let get = |name| members.iter().rfind(|member| member.is(name)).map(|m| (name, m.value));
    names.into_iter().filter_map(get).collect()
}

/// By RFC 8785.
pub fn canonical(members: &[(&'static str, &str)]) -> Option<String> {
    canonical::canonical(&object(members), canonical::number)
}

/// These members as one object.
pub fn object(members: &[(&'static str, &str)]) -> String {
    let members = members.iter().map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// SHA-256 in lower-case hex.
pub fn digest(canonical: &str) -> String {
    Sha256::digest(canonical).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whole.
pub fn listed(definition: String) -> String {
    definition
}

/// In the definition's `_meta`, which is its last member if it had none. One that is no object has no
/// room for it, and stays.
pub fn shown(definition: String, digest: Option<&str>, pinned: Option<&str>) -> String {
    let theirs = json::get(&definition, "_meta");
    let mut meta = theirs.unwrap_or("{}").to_owned();
    for (key, value) in [(PINNED, pinned), (DIGEST, digest)] {
        let Some(value) = value else { continue };
        let Ok(with) = json::set(&meta, key, &json::quote(value)) else { return definition };
        meta = with;
    }
    let shown = match (theirs, definition.strip_suffix('}')) {
        _ if meta == "{}" => None,
        (Some(_), _) => json::set(&definition, "_meta", &meta).ok(),
        // A tool has a name, so that there is a member before it.
        (None, front) => front.map(|front| format!("{front},\"_meta\":{meta}}}")),
    };
    shown.unwrap_or(definition)
}

/// All of the digest.
pub fn matches(pin: &Pin<'_>) -> bool {
    pin.observed == Some(pin.pinned)
}

/// Unless it is blocked.
pub fn may_list(mode: PinMode) -> bool {
    mode != PinMode::Block
}

/// Unless it is blocked: that it is not listed keeps nobody from calling it.
pub fn may_call(mode: PinMode) -> bool {
    mode != PinMode::Block
}

/// Always.
pub fn is_told(_: PinMode) -> bool {
    true
}

/// A success alone: a failure owes nobody a typed part (R-TOOLS-14), and a handle is no result yet.
pub fn is_checked(kind: Kind) -> bool {
    kind == Kind::Success
}

/// `structuredContent`, which is what the schema describes (R-TOOLS-13).
pub fn typed_part(result: &str) -> Option<String> {
    json::get(result, "structuredContent").map(str::to_owned)
}

/// As the configuration says.
pub fn fate(mode: OutputSchema, checked: Result<(), String>) -> Fate {
    match (mode, checked) {
        (OutputSchema::Off, _) | (_, Ok(())) => Fate::Passes,
        (OutputSchema::Warn, Err(why)) => Fate::Told(why),
        (OutputSchema::Block, Err(why)) => Fate::Blocked(why),
    }
}

/// As it was.
pub fn after(result: String, _: &str) -> String {
    result
}

impl Known {
    /// A definition that was just listed.
    pub fn new(definition: String, steps: &Steps) -> Self {
        let canonical = (steps.canonical)(&(steps.covered)(&definition));
        let digest = canonical.map(|canonical| (steps.digest)(&canonical));
        Self { definition, digest, schema: OnceLock::new() }
    }

    /// Holds a result against the tool's schema, if it has one.
    ///
    /// # Errors
    /// What is wrong, and with whom; no part of the result.
    pub fn check(&self, result: &str, steps: &Steps) -> Result<(), String> {
        let schema = self.schema.get_or_init(|| self.output_schema().map(Schema::compile));
        match schema {
            None => Ok(()),
            Some(Err(why)) => Err(format!("the tool's outputSchema cannot be used: {why}")),
            Some(Ok(schema)) => match (steps.typed_part)(result) {
                None => Err("the tool has an outputSchema, and its result no typed part".into()),
                Some(part) => schema.check(&part).map_err(|why| {
                    format!("the result's typed part does not fit the tool's outputSchema: {why}")
                }),
            },
        }
    }

    /// The `outputSchema`, raw.
    pub fn output_schema(&self) -> Option<&str> {
        json::get(&self.definition, "outputSchema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: Steps = Steps::RIGHT;

    fn digest_of(definition: &str) -> Option<String> {
        Known::new(definition.to_owned(), &STEPS).digest
    }

    #[test]
    fn a_digest_covers_four_members_however_they_are_written() {
        let tool = r#"{"name":"a","description":"b","inputSchema":{"type":"object"}}"#;
        // printf of the canonical text into sha256sum.
        let wanted = "86b5e182f5299d92e38f3a794584ba6197cdcfe074956166a7cdfa3d68feb3b9";
        let canonical = r#"{"description":"b","inputSchema":{"type":"object"},"name":"a"}"#;
        assert_eq!(super::canonical(&covered(tool)).as_deref(), Some(canonical));
        let first = digest_of(tool).unwrap();
        assert_eq!(first, wanted);
        let same = r#"{ "title":"t","inputSchema":{"type":"ob\u006aect"},"_meta":{},"description":"b","name":"a" }"#;
        assert_eq!(digest_of(same).as_ref(), Some(&first));
        for other in [
            r#"{"name":"a","description":"b","inputSchema":{"type":"object"},"outputSchema":{}}"#,
            r#"{"name":"a","description":"c","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a","inputSchema":{"type":"object"}}"#,
        ] {
            assert_ne!(digest_of(other).as_ref(), Some(&first), "{other}");
        }
        assert_eq!(digest_of(r#"{"name":"a","inputSchema":{"maximum":1e400}}"#), None);
    }

    #[test]
    fn the_digest_is_shown_and_nothing_else_moves() {
        let tool = r#"{ "name":"a","_meta":{"x":1.0},"icons":[ ] }"#.to_owned();
        let wanted = tool.replace("{\"x\"", "{\"birdstrike.dev/digest\":\"d\",\"x\"");
        assert_eq!(shown(tool.clone(), Some("d"), None), wanted);
        assert_eq!(shown(tool.clone(), None, None), tool);
        let odd = r#"{"name":"a","_meta":7}"#.to_owned();
        assert_eq!(shown(odd.clone(), Some("d"), Some("p")), odd);
    }

    #[test]
    fn a_result_is_held_against_its_schema() {
        let tool =
            |schema: &str| Known::new(format!(r#"{{"name":"a","outputSchema":{schema}}}"#), &STEPS);
        let known = tool(r#"{"type":"object","required":["n"]}"#);
        assert_eq!(known.check(r#"{"structuredContent":{"n":1}}"#, &STEPS), Ok(()));
        let missing = known.check(r#"{"content":[]}"#, &STEPS).unwrap_err();
        assert!(missing.contains("no typed part"));
        let wrong = known.check(r#"{"structuredContent":{"secret":1}}"#, &STEPS).unwrap_err();
        assert!(wrong.contains("`/required`") && !wrong.contains("secret"), "{wrong}");
        let unusable = tool(r#"{"$ref":"http://x/"}"#).check("{}", &STEPS).unwrap_err();
        assert!(unusable.contains("cannot be used"));
        assert_eq!(Known::new(r#"{"name":"a"}"#.into(), &STEPS).check("{}", &STEPS), Ok(()));
    }
}
