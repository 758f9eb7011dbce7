//! The tools of an upstream at one time, and the pages that they are listed on.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use birdstrike_wire::headers::{Annotation, annotations};
use birdstrike_wire::json;

use crate::config::{Cursors, ToolSpec};
use crate::families::Family;

/// A tool as calls meet it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) family: Family,
    /// The arguments that a client mirrors in headers at 2026-07-28.
    pub(crate) mirrored: Vec<Annotation>,
}

/// A set of tools. It never changes: a swap puts another in its place.
#[derive(Debug)]
pub(crate) struct Toolset {
    tools: HashMap<String, Arc<Tool>>,
    /// The array of definitions of each page, as it stands in a listing; at least one.
    pages: Vec<String>,
    cursors: Cursors,
}

impl Toolset {
    /// The tools on so many pages of about the same length; some are empty if there are not enough.
    pub(crate) fn new(specs: Vec<ToolSpec>, pages: usize, cursors: Cursors) -> Self {
        let pages = pages.max(1);
        let definitions: Vec<&str> = specs.iter().map(|t| t.definition.as_str()).collect();
        let cut = |page: usize| page * definitions.len() / pages;
        let page = |at: usize| format!("[{}]", definitions[cut(at)..cut(at + 1)].join(","));
        let pages = (0..pages).map(page).collect();
        let tool = |spec: ToolSpec| {
            let mirrored = mirrored(&spec.definition);
            (spec.name, Arc::new(Tool { family: spec.family, mirrored }))
        };
        Self { tools: specs.into_iter().map(tool).collect(), pages, cursors }
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    /// The page that a cursor leads to and the cursor of the next; the first page for no cursor,
    /// none for a cursor that was never handed out (R-ERR-23).
    pub(crate) fn page(&self, cursor: Option<&str>) -> Option<(&str, Option<String>)> {
        let at = match cursor {
            None => 0,
            Some(cursor) => (1..self.pages.len()).find(|page| self.cursor_of(*page) == cursor)?,
        };
        let next = match self.cursors {
            Cursors::Repeated if at > 0 => Some(at),
            _ => Some(at + 1).filter(|next| *next < self.pages.len()),
        };
        Some((self.pages.get(at)?, next.map(|next| self.cursor_of(next))))
    }

    /// Opaque to whoever does not know how it is made (R-PAGE-01), and the same in every run.
    fn cursor_of(&self, page: usize) -> String {
        match (self.cursors, page) {
            (Cursors::Empty, 1) => String::new(),
            _ => URL_SAFE_NO_PAD.encode(format!("canary page {page}")),
        }
    }
}

/// The annotated arguments of a tool; none if its definition or an annotation is broken, as clients
/// must then drop it (R-HTTP-18).
fn mirrored(definition: &str) -> Vec<Annotation> {
    let schema = json::get(definition, "inputSchema");
    let schema = schema.and_then(|schema| serde_json::from_str(schema).ok());
    schema.and_then(|schema| annotations(&schema).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of the pages that a client sees that follows cursors, at most ten of them.
    fn follow(pages: usize, cursors: Cursors) -> Vec<usize> {
        let set = Toolset::new(crate::builtin_tools(), pages, cursors);
        let (mut cursor, mut lengths) = (None, Vec::new());
        while lengths.len() < 10 {
            let (page, next) = set.page(cursor.as_deref()).unwrap();
            lengths.push(json::items(page).unwrap().len());
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        lengths
    }

    #[test]
    fn pages_hold_every_tool_once() {
        assert_eq!(follow(1, Cursors::Proper), [11]);
        assert_eq!(follow(0, Cursors::Proper), [11]);
        assert_eq!(follow(3, Cursors::Proper), [3, 4, 4]);
        assert_eq!(follow(3, Cursors::Empty), [3, 4, 4]);
        assert_eq!(follow(3, Cursors::Repeated), [3, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn only_cursors_that_were_handed_out_count() {
        let set = |cursors| Toolset::new(crate::builtin_tools(), 2, cursors);
        for cursor in ["", "1", "canary page 1"] {
            assert!(set(Cursors::Proper).page(Some(cursor)).is_none(), "{cursor}");
        }
        assert!(set(Cursors::Empty).page(Some("")).is_some());
        let one = Toolset::new(crate::builtin_tools(), 1, Cursors::Empty);
        assert!(one.page(Some("")).is_none());
    }
}
