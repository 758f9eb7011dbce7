//! The area `listing`: what a client sees of the upstreams' tools.
//!
//! All pages of all upstreams become one list, in their order. A definition is the upstream's own,
//! byte for byte; the gateway changes its name where two upstreams could share it, and takes away
//! what the client's revision cannot read.

use birdstrike_wire::{Revision, json};

/// Pages that are read of one listing. A list that goes on for ever ends here,
const MAX_PAGES: usize = 64;
/// or here: bytes of all its definitions together.
const MAX_LISTING_BYTES: usize = 16 << 20;

/// What comes after a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The page of the cursor.
    Page,
    /// Nothing.
    End,
    /// Nothing, though there would be more; why, in words.
    Cut(&'static str),
}

/// How much of a listing was read.
#[derive(Clone, Copy, Debug)]
pub struct Read<'a> {
    /// The raw cursors that were followed.
    pub cursors: &'a [String],
    /// Bytes of the definitions so far.
    pub bytes: usize,
}

/// The steps of this area.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// What comes after a page whose `nextCursor` is this, raw.
    pub next: fn(cursor: Option<&str>, read: &Read<'_>) -> Next,
    /// Why a definition cannot be listed, if it cannot.
    pub unusable: fn(definition: &str) -> Option<&'static str>,
    /// The name under which a tool is listed; `several` upstreams could have one of that name.
    pub name: fn(upstream: &str, tool: &str, several: bool) -> String,
    /// A definition under its new name, as this client may see it.
    pub definition: fn(definition: &str, name: &str, client: Revision) -> String,
    /// The tools of all upstreams, each list in its upstream's order, as one.
    pub joined: fn(lists: Vec<Vec<String>>) -> Vec<String>,
    /// Whether the whole listing fails when so many of all upstreams did.
    pub fails: fn(failed: usize, all: usize) -> bool,
    /// Whether clients are told of this change.
    pub announces: fn(method: &str) -> bool,
    /// The definitions of an upstream that are listed, of those that it just gave.
    pub fresh: fn(upstream: &str, definitions: Vec<String>) -> Vec<String>,
    /// Whether a tool whose annotations no header can obey is left out.
    pub drops_bad_headers: bool,
    /// The result of a listing of tools.
    pub page: fn(result: String) -> String,
    /// The definition of a resource or of a template, but for its address.
    pub resource: fn(definition: String) -> String,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        next,
        unusable,
        name,
        definition,
        joined,
        fails,
        announces,
        fresh,
        drops_bad_headers: true,
        page: whole,
        resource: whole,
    };
}

/// The next page, as long as there is one that was not read before. The empty string is a cursor
/// like any other (R-PAGE-01).
pub fn next(cursor: Option<&str>, read: &Read<'_>) -> Next {
    let Some(cursor) = cursor.filter(|cursor| cursor.starts_with('"')) else { return Next::End };
    if read.cursors.iter().any(|known| known == cursor) {
        return Next::Cut("a cursor came twice");
    }
    if read.cursors.len() + 1 >= MAX_PAGES || read.bytes > MAX_LISTING_BYTES {
        return Next::Cut("too long");
    }
    Next::Page
}

/// One that nobody can call, or that would make a client refuse the list with all others in it
/// (R-TOOLS-06).
pub fn unusable(definition: &str) -> Option<&'static str> {
    if json::kind(definition) != "an object" {
        return Some("a definition is no object");
    }
    if json::get_string(definition, "name").is_none() {
        return Some("a definition has no name");
    }
    let schema = json::get(definition, "inputSchema");
    let sound = schema.is_some_and(|schema| json::kind(schema) == "an object");
    (!sound).then_some("its inputSchema is no object")
}

/// With several upstreams the name of each comes before, and a dot, which no such name holds
/// (R-TOOLS-08).
pub fn name(upstream: &str, tool: &str, several: bool) -> String {
    if several { format!("{upstream}.{tool}") } else { tool.to_owned() }
}

/// Every byte but for the name, and without an outputSchema that its revision cannot carry
/// (R-TOOLS-15).
pub fn definition(definition: &str, name: &str, client: Revision) -> String {
    let mut listed = definition.to_owned();
    if json::get_string(definition, "name").as_deref() != Some(name)
        && let Ok(renamed) = json::set(definition, "name", &json::quote(name))
    {
        listed = renamed;
    }
    if !client.typed_part_may_be_any_value()
        && let Some(schema) = json::get(&listed, "outputSchema")
        && json::get_string(schema, "type").as_deref() != Some("object")
        && let Ok(without) = json::remove(&listed, "outputSchema")
    {
        listed = without;
    }
    listed
}

/// One after the other (R-TOOLS-04).
pub fn joined(lists: Vec<Vec<String>>) -> Vec<String> {
    lists.into_iter().flatten().collect()
}

/// Only when none is left: that is an error and not a short list.
pub fn fails(failed: usize, all: usize) -> bool {
    failed == all
}

/// Of each (R-TOOLS-05).
pub fn announces(_method: &str) -> bool {
    true
}

/// These and no others (R-TOOLS-05).
pub fn fresh(_upstream: &str, definitions: Vec<String>) -> Vec<String> {
    definitions
}

/// Every byte.
pub fn whole(text: String) -> String {
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_keeps_its_bytes() {
        let odd = r#"{ "x":1E+02,"name":"a","outputSchema":{"type":"object"},"name":"b" }"#;
        assert_eq!(definition(odd, "b", Revision::V2025_06_18), odd);
        let prefixed = odd.replace("\"b\"", "\"up.b\"");
        assert_eq!(definition(odd, "up.b", Revision::NEWEST), prefixed);
        let array = r#"{"name":"a","outputSchema":{"type":"array"}}"#;
        assert_eq!(definition(array, "a", Revision::NEWEST), array);
        assert_eq!(definition(array, "a", Revision::V2025_11_25), r#"{"name":"a"}"#);
    }

    #[test]
    fn pages_are_followed_until_one_comes_again() {
        let known = ["\"a\"".to_owned()];
        let read = |cursors| Read { cursors, bytes: 0 };
        assert_eq!(next(Some("\"\""), &read(&known)), Next::Page);
        assert_eq!(next(Some("\"a\""), &read(&known)), Next::Cut("a cursor came twice"));
        assert_eq!(next(Some("null"), &read(&[])), Next::End);
        assert_eq!(next(None, &read(&[])), Next::End);
        let many: Vec<String> = (0..MAX_PAGES - 1).map(|page| format!("\"{page}\"")).collect();
        assert_eq!(next(Some("\"x\""), &read(&many)), Next::Cut("too long"));
    }

    #[test]
    fn what_nobody_can_call_is_not_listed() {
        assert_eq!(unusable(r#"{"name":"a","inputSchema":{}}"#), None);
        for definition in ["7", r#"{"inputSchema":{}}"#, r#"{"name":"a","inputSchema":null}"#] {
            assert!(unusable(definition).is_some(), "{definition}");
        }
    }
}
