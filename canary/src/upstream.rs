//! One upstream at work: what it was given, made ready to be served.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use birdstrike_wire::{Era, Revision, json};

use crate::config::{Cursors, ToolSpec, UpstreamSpec};
use crate::in_flight::InFlight;
use crate::listeners::Listeners;
use crate::plan::Encoding;
use crate::prompts::PromptSpec;
use crate::replays::Replays;
use crate::resources::Resources;
use crate::sessions::Sessions;
use crate::toolset::{Tool, Toolset};

/// An upstream as requests meet it.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) name: Arc<str>,
    pub(crate) sessions: Option<Sessions>,
    pub(crate) encoding: Encoding,
    pub(crate) resources: Resources,
    pub(crate) prompts: Vec<PromptSpec>,
    revisions: Vec<Revision>,
    tools: RwLock<Arc<Toolset>>,
    /// Answers over HTTP that can be cancelled.
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) replays: Replays,
    pages: usize,
    cursors: Cursors,
    /// Who is told what changes; none if nobody ever is.
    pub(crate) listeners: Option<Listeners>,
    /// What its processes write to their standard error.
    pub(crate) stderr: Listeners,
    /// What the last handshake over HTTP agreed on, as an index into `revisions`: all that is known
    /// of a client that sends neither a version nor a session.
    agreed: AtomicUsize,
}

const NOTHING_AGREED: usize = usize::MAX;

impl Upstream {
    pub(crate) fn new(spec: UpstreamSpec) -> Self {
        let tools = Toolset::new(spec.tools, spec.pages, spec.cursors);
        Self {
            name: spec.name.into(),
            sessions: spec.sessions.then(Sessions::default),
            encoding: spec.encoding,
            prompts: spec.prompts,
            resources: Resources::new(spec.resources, spec.resource_templates),
            tools: RwLock::new(Arc::new(tools)),
            pages: spec.pages,
            cursors: spec.cursors,
            in_flight: Arc::default(),
            replays: Replays::default(),
            listeners: spec.listening.then(Listeners::default),
            stderr: Listeners::default(),
            revisions: spec.revisions,
            agreed: AtomicUsize::new(NOTHING_AGREED),
        }
    }

    /// Its tools as they are now; whoever asks keeps them, whatever comes after.
    pub(crate) fn tools(&self) -> Arc<Toolset> {
        Arc::clone(&self.tools.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        self.tools().tool(name).cloned()
    }

    /// Puts other tools in the place of those that it has, on its own pages or on others.
    pub(crate) fn swap(&self, tools: Vec<ToolSpec>, on: Option<(usize, Cursors)>) {
        let (pages, cursors) = on.unwrap_or((self.pages, self.cursors));
        let tools = Arc::new(Toolset::new(tools, pages, cursors));
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools;
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
        let tools = upstream.tools();
        let items = json::items(tools.page(None).unwrap().0).unwrap();
        let definitions = crate::builtin_tools().into_iter().map(|t| t.definition);
        assert!(items.into_iter().eq(definitions));
        assert_eq!(upstream.tool("echo").unwrap().mirrored[0].name, "Region");
        assert_eq!(upstream.supported(), r#"["2026-07-28","2025-11-25","2025-06-18"]"#);
    }
}
