//! One upstream at work: what it was given, made ready to be served.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use birdstrike_wire::headers::{Annotation, annotations};
use birdstrike_wire::{Era, Revision, json};

use crate::config::UpstreamSpec;
use crate::families::Family;
use crate::plan::Encoding;
use crate::prompts::PromptSpec;
use crate::resources::Resources;
use crate::sessions::Sessions;

/// An upstream as requests meet it.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) name: Arc<str>,
    /// The array of all definitions, as it stands in a listing.
    pub(crate) listing: String,
    pub(crate) sessions: Option<Sessions>,
    pub(crate) encoding: Encoding,
    pub(crate) resources: Resources,
    pub(crate) prompts: Vec<PromptSpec>,
    revisions: Vec<Revision>,
    tools: HashMap<String, Tool>,
    /// What the last handshake over HTTP agreed on, as an index into `revisions`: all that is known
    /// of a client that sends neither a version nor a session.
    agreed: AtomicUsize,
}

/// A tool as calls meet it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) family: Family,
    /// The arguments that a client mirrors in headers at 2026-07-28.
    pub(crate) mirrored: Vec<Annotation>,
}

const NOTHING_AGREED: usize = usize::MAX;

impl Upstream {
    pub(crate) fn new(spec: UpstreamSpec) -> Self {
        let definitions: Vec<&str> = spec.tools.iter().map(|t| t.definition.as_str()).collect();
        let listing = format!("[{}]", definitions.join(","));
        let tool = |spec: crate::ToolSpec| {
            let mirrored = mirrored(&spec.definition);
            let family = spec.family;
            (spec.name, Tool { family, mirrored })
        };
        Self {
            name: spec.name.into(),
            listing,
            sessions: spec.sessions.then(Sessions::default),
            encoding: spec.encoding,
            prompts: spec.prompts,
            resources: Resources::new(spec.resources, spec.resource_templates),
            tools: spec.tools.into_iter().map(tool).collect(),
            revisions: spec.revisions,
            agreed: AtomicUsize::new(NOTHING_AGREED),
        }
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    pub(crate) fn speaks(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// The newest revision of this era that the upstream speaks.
    pub(crate) fn newest(&self, era: Era) -> Option<Revision> {
        let of_era = self.revisions.iter().filter(|r| r.era() == era);
        of_era.max().copied()
    }

    /// All revisions, newest first, as a JSON array.
    pub(crate) fn supported(&self) -> String {
        let mut revisions = self.revisions.clone();
        revisions.sort_unstable_by(|a, b| b.cmp(a));
        let quoted: Vec<String> = revisions.iter().map(|r| json::quote(r.as_str())).collect();
        format!("[{}]", quoted.join(","))
    }

    /// Remembers what a handshake over HTTP agreed on.
    pub(crate) fn agree(&self, revision: Revision) {
        if let Some(at) = self.revisions.iter().position(|r| *r == revision) {
            self.agreed.store(at, Ordering::Relaxed);
        }
    }

    /// The best guess for a client that says nothing: what the last handshake agreed on, or else
    /// the newest revision, with a handshake if there is one (R-HTTP-12 asks for a guess too).
    pub(crate) fn guess(&self) -> Revision {
        let agreed = self.revisions.get(self.agreed.load(Ordering::Relaxed));
        agreed
            .copied()
            .or_else(|| self.newest(Era::Handshake))
            .or_else(|| self.newest(Era::Stateless))
            .unwrap_or(Revision::NEWEST)
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
pub(crate) mod tests {
    use super::*;

    pub(crate) fn upstream(revisions: &[Revision]) -> Upstream {
        Upstream::new(UpstreamSpec::new("main", revisions))
    }

    #[test]
    fn a_silent_client_is_served_in_what_was_agreed_on() {
        let all = upstream(&Revision::ALL);
        assert_eq!(all.guess(), Revision::V2025_11_25);
        all.agree(Revision::V2025_06_18);
        assert_eq!(all.guess(), Revision::V2025_06_18);
        assert_eq!(upstream(&[Revision::V2026_07_28]).guess(), Revision::V2026_07_28);
    }

    #[test]
    fn the_listing_is_the_definitions_byte_for_byte() {
        let upstream = upstream(&Revision::ALL);
        let items = json::items(&upstream.listing).unwrap();
        let definitions = crate::builtin_tools().into_iter().map(|t| t.definition);
        assert!(items.into_iter().eq(definitions));
        assert_eq!(upstream.tool("echo").unwrap().mirrored[0].name, "Region");
        assert_eq!(upstream.supported(), r#"["2026-07-28","2025-11-25","2025-06-18"]"#);
    }
}
