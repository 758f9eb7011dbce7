//! What a canary is started with.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use birdstrike_wire::Revision;
use birdstrike_wire::json;
use birdstrike_wire::meta::Implementation;

use crate::families::Family;
use crate::plan::Encoding;
use crate::prompts::PromptSpec;
use crate::resources::ResourceSpec;

/// Everything that a canary needs to know before it starts.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens for HTTP; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The upstreams that it plays, each at a path of its own.
    pub upstreams: Vec<UpstreamSpec>,
    /// Who it says it is, in `serverInfo`.
    pub identity: Implementation,
    /// What it takes from a client before it gives up.
    pub limits: Limits,
}

/// One upstream: an MCP server of its own, with its own tools, revisions and sessions.
#[derive(Clone, Debug)]
pub struct UpstreamSpec {
    /// `main` answers at `/mcp`, any other at `/NAME/mcp`. ASCII letters, digits, `-` and `_`.
    pub name: String,
    /// The revisions that it speaks; at least one.
    pub revisions: Vec<Revision>,
    /// Its tools, listed in this order.
    pub tools: Vec<ToolSpec>,
    /// On how many pages they are listed; 0 and 1 are one page without cursors.
    pub pages: usize,
    /// What its cursors are like.
    pub cursors: Cursors,
    /// Whether handshake revisions are told what changes: it declares `listChanged` for tools, a GET
    /// opens a stream, and [announcements](crate::Canary::announce) reach that stream and stdio.
    pub listening: bool,
    /// Its resources, listed in this order on one page. Without any, and without templates, it does
    /// not have the capability.
    pub resources: Vec<ResourceSpec>,
    /// Raw `ResourceTemplate` objects, listed on one page. What they expand to is read only if it
    /// stands among the resources.
    pub resource_templates: Vec<String>,
    /// Its prompts, listed in this order on one page; without any it does not have the capability.
    pub prompts: Vec<PromptSpec>,
    /// Whether it mints an `Mcp-Session-Id` in handshake revisions (R-HTTP-28).
    pub sessions: bool,
    /// How it answers whatever no plan was made for.
    pub encoding: Encoding,
}

/// What the cursors of a listing are like (R-PAGE-01).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cursors {
    /// Each leads to the next page, and the last page has none.
    #[default]
    Proper,
    /// Every page but the first names its own cursor as the next: whoever follows goes in a circle.
    Repeated,
    /// That of the second page is the empty string, which is as good as any other.
    Empty,
}

/// A tool as it is listed, and what answers a call of it that has no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name that a call is routed by.
    pub name: String,
    /// The `Tool` object as it stands in `tools/list`: JSON text, kept byte for byte and not checked.
    pub definition: String,
    /// What answers a call without a plan.
    pub family: Family,
}

/// What protects the machine that a canary runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one request, and of one line on stdio. What is larger is answered with 413.
    pub request: usize,
    /// How long a client may take to send the head of a request, and again its body. Also how long
    /// an idle connection is kept.
    pub patience: Duration,
    /// Bytes that the journal holds before it lets go of its oldest exchanges.
    pub journal: usize,
}

impl Default for Config {
    /// One upstream `main` with the built-in tools and all revisions, on a free loopback port.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            upstreams: vec![UpstreamSpec::new("main", &Revision::ALL)],
            identity: Implementation {
                name: "birdstrike-canary".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    /// 16 MiB a request, 60 seconds of patience, 64 MiB of journal.
    fn default() -> Self {
        Self { request: 16 << 20, patience: Duration::from_mins(1), journal: 64 << 20 }
    }
}

impl UpstreamSpec {
    /// An upstream with the built-in tools and nothing else, without sessions, answering in JSON.
    pub fn new(name: impl Into<String>, revisions: &[Revision]) -> Self {
        Self {
            name: name.into(),
            revisions: revisions.to_vec(),
            tools: crate::builtin_tools(),
            pages: 1,
            cursors: Cursors::Proper,
            listening: false,
            resources: Vec::new(),
            resource_templates: Vec::new(),
            prompts: Vec::new(),
            sessions: false,
            encoding: Encoding::Json,
        }
    }

    /// The path that it answers at.
    pub fn path(&self) -> String {
        path_of(&self.name)
    }
}

/// The path that the upstream of this name answers at.
pub(crate) fn path_of(name: &str) -> String {
    match name {
        "main" => "/mcp".to_owned(),
        name => format!("/{name}/mcp"),
    }
}

impl ToolSpec {
    /// A tool answered by the family of its name, or by `echo` if there is none.
    pub fn new(name: impl Into<String>, definition: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            family: Family::named(&name).unwrap_or(Family::Echo),
            definition: definition.into(),
            name,
        }
    }

    /// The same tool with a prefix to its name: a gateway that puts the tools of several upstreams
    /// into one listing needs distinct ones. The definition's other bytes stay.
    #[must_use]
    pub fn prefixed(&self, prefix: &str) -> Self {
        let name = format!("{prefix}{}", self.name);
        let definition = json::set(&self.definition, "name", &json::quote(&name))
            .unwrap_or_else(|_| self.definition.clone());
        Self { name, definition, family: self.family }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_changes_the_name_and_nothing_else() {
        let tool = ToolSpec::new("structured", r#"{ "name" : "structured", "x": 1.0 }"#);
        let other = tool.prefixed("b_");
        assert_eq!(other.name, "b_structured");
        assert_eq!(other.definition, r#"{ "name" : "b_structured", "x": 1.0 }"#);
        assert_eq!(other.family, Family::Structured);
    }

    #[test]
    fn every_upstream_has_a_path_of_its_own() {
        assert_eq!(UpstreamSpec::new("main", &Revision::ALL).path(), "/mcp");
        assert_eq!(UpstreamSpec::new("b", &Revision::ALL).path(), "/b/mcp");
    }
}
