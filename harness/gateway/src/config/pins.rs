//! What the configuration says about the definitions of tools.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What tools are pinned to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// What is done when a digest is another one.
    pub mode: PinMode,
    /// The digests in lower-case hex, by the name of the tool as clients see it.
    pub digests: BTreeMap<String, String>,
}

/// What is done about a tool that is not what it is pinned to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PinMode {
    /// It is neither listed nor called.
    Block,
    /// It is both, the client is told in the listing, and the log.
    Warn,
    /// It is both, and the log is told.
    Audit,
}

/// What is done about a result that the outputSchema of its tool does not allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputSchema {
    /// Nobody looks.
    #[default]
    Off,
    /// The log is told.
    Warn,
    /// The call fails. So it does when the schema cannot be used.
    Block,
}

impl PinMode {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Warn => "warn",
            Self::Audit => "audit",
        }
    }
}

impl OutputSchema {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

impl Pins {
    pub(super) fn check(&self) -> Result<(), String> {
        let is_digest = |text: &str| {
            text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        };
        match self.digests.iter().find(|(_, digest)| !is_digest(digest)) {
            None => Ok(()),
            Some((tool, _)) => {
                Err(format!("`pins.digests.{tool}` is no digest: 64 digits of lower-case hex"))
            }
        }
    }
}
