//! What tools answer when no plan was made: one family a file.
//!
//! A family makes an outcome of a call's arguments. The arguments are described by the tool's
//! `inputSchema`; every family also takes an optional `nonce`, which correlates the call.

mod arguments;
mod echo;
mod is_error;
mod links;
mod media;
mod meta_carrying;
mod oversized;
mod rpc_error;
mod slow;
mod structured;
mod task_handle;
mod typed;

use std::time::Duration;

use birdstrike_wire::Revision;
use birdstrike_wire::shape::{Outcome, text_block};

use crate::config::ToolSpec;
use crate::plan::{Encoding, Framing};
use arguments::Arguments;

/// The kinds of answers that are built in; each is a tool of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// The arguments, as text and as typed part, byte for byte.
    Echo,
    /// A result that says that the tool failed.
    IsError,
    /// Resource links.
    Links,
    /// Images, audio and embedded resources.
    Media,
    /// Metadata at every level that can carry it.
    MetaCarrying,
    /// A message of an exact length.
    Oversized,
    /// A JSON-RPC error.
    RpcError,
    /// An answer that takes its time.
    Slow,
    /// A typed part without an output schema.
    Structured,
    /// A handle of a task instead of a result.
    TaskHandle,
    /// A typed part with an output schema.
    Typed,
}

impl Family {
    /// All families in the order in which their tools are listed.
    pub const ALL: [Self; 11] = [
        Self::Echo,
        Self::IsError,
        Self::Links,
        Self::Media,
        Self::MetaCarrying,
        Self::Oversized,
        Self::RpcError,
        Self::Slow,
        Self::Structured,
        Self::TaskHandle,
        Self::Typed,
    ];

    /// The name of the family and of its tool.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::IsError => "is_error",
            Self::Links => "links",
            Self::Media => "media",
            Self::MetaCarrying => "meta_carrying",
            Self::Oversized => "oversized",
            Self::RpcError => "rpc_error",
            Self::Slow => "slow",
            Self::Structured => "structured",
            Self::TaskHandle => "task_handle",
            Self::Typed => "typed",
        }
    }

    /// The family of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The tool of the family, as it is listed: a JSON object, valid in every revision.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Echo => echo::DEFINITION,
            Self::IsError => is_error::DEFINITION,
            Self::Links => links::DEFINITION,
            Self::Media => media::DEFINITION,
            Self::MetaCarrying => meta_carrying::DEFINITION,
            Self::Oversized => oversized::DEFINITION,
            Self::RpcError => rpc_error::DEFINITION,
            Self::Slow => slow::DEFINITION,
            Self::Structured => structured::DEFINITION,
            Self::TaskHandle => task_handle::DEFINITION,
            Self::Typed => typed::DEFINITION,
        }
    }

    /// What the family answers to these arguments (JSON text) in this revision.
    pub(crate) fn answer(self, arguments: Option<&str>, revision: Revision) -> Served {
        let arguments = Arguments::read(arguments);
        match self {
            Self::Echo => echo::answer(&arguments),
            Self::IsError => is_error::answer(&arguments),
            Self::Links => links::answer(&arguments),
            Self::Media => media::answer(&arguments),
            Self::MetaCarrying => meta_carrying::answer(&arguments),
            Self::Oversized => oversized::answer(&arguments),
            Self::RpcError => rpc_error::answer(&arguments),
            Self::Slow => slow::answer(&arguments),
            Self::Structured => structured::answer(&arguments),
            Self::TaskHandle => task_handle::answer(&arguments, revision),
            Self::Typed => typed::answer(&arguments),
        }
    }
}

/// The tools of all families.
pub fn builtin_tools() -> Vec<ToolSpec> {
    Family::ALL
        .into_iter()
        .map(|family| ToolSpec {
            name: family.name().to_owned(),
            definition: family.definition().to_owned(),
            family,
        })
        .collect()
}

/// What a family answers.
#[derive(Debug, Default)]
pub(crate) struct Served {
    /// What it says.
    pub(crate) outcome: Outcome,
    /// A raw result in place of the outcome, for what no outcome can say.
    pub(crate) result: Option<String>,
    /// The length that the whole message is filled up to, in bytes.
    pub(crate) total: Option<u64>,
    /// How it travels, if not as everything else of its upstream.
    pub(crate) encoding: Option<(Encoding, Framing)>,
    /// Whether it is packed.
    pub(crate) gzip: bool,
    /// How long it waits.
    pub(crate) delay: Duration,
}

impl From<Outcome> for Served {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, ..Self::default() }
    }
}

/// What a tool answers to arguments that it cannot use (R-ERR-04).
pub(crate) fn refusal(why: &str) -> Outcome {
    Outcome { blocks: vec![text_block(why)], error: Some(true), ..Outcome::default() }
}

#[cfg(test)]
mod tests {
    use birdstrike_wire::json;

    use super::*;

    #[test]
    fn every_definition_is_named_like_its_family_and_takes_a_nonce() {
        for tool in builtin_tools() {
            let name = json::get_string(&tool.definition, "name");
            assert_eq!(name.as_deref(), Some(tool.name.as_str()));
            let schema = json::get(&tool.definition, "inputSchema").unwrap();
            assert_eq!(json::get(schema, "type"), Some("\"object\""), "{}", tool.name);
            let nonce = json::get(json::get(schema, "properties").unwrap(), "nonce").unwrap();
            assert_eq!(json::get(nonce, "type"), Some("\"string\""), "{}", tool.name);
        }
    }

    #[test]
    fn the_listing_stays_small() {
        let size: usize = builtin_tools().iter().map(|t| t.definition.len() + 1).sum();
        assert!(size < 64 << 10, "{size}");
    }

    #[test]
    fn every_family_answers_to_nothing_and_to_nonsense() {
        for family in Family::ALL {
            for arguments in [None, Some("{}"), Some("[]"), Some("null"), Some("{\"nonce\":1}")] {
                for revision in Revision::ALL {
                    let served = family.answer(arguments, revision);
                    let carried = served.outcome.render(revision);
                    assert!(carried.is_ok(), "{family:?} {arguments:?} {revision}");
                }
            }
        }
    }
}
