//! The protocol revisions that birdstrike speaks.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A dated revision of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Revision {
    /// 2025-06-18: typed results and resource links arrive; handshake, sessions.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// 2025-11-25: core tasks, icons, 2020-12 schemas; handshake, sessions.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// 2026-07-28: stateless, `server/discover`, `resultType`, mirrored headers.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

/// How a revision opens a conversation (wire facts, section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize`, then `notifications/initialized`; a session may follow.
    Handshake,
    /// Every request carries version, client and capabilities in its own `_meta`.
    Stateless,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 3] = [Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The newest revision, and the one that every profile prefers unless it says otherwise.
    pub const NEWEST: Self = Self::V2026_07_28;

    /// The date as it stands on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// How a conversation in this revision is opened.
    pub const fn era(self) -> Era {
        match self {
            Self::V2025_06_18 | Self::V2025_11_25 => Era::Handshake,
            Self::V2026_07_28 => Era::Stateless,
        }
    }

    /// Whether every result must carry `resultType` (R-BASE-05).
    pub const fn has_result_type(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }

    /// Whether `structuredContent` may be any JSON value (R-TOOLS-16) and not only an object
    /// (R-TOOLS-15).
    pub const fn typed_part_may_be_any_value(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A string that names no revision known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a revision known here: use 2025-06-18, 2025-11-25 or 2026-07-28")]
pub struct UnknownRevision(pub String);

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revision_reads_back_from_its_own_name() {
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
        }
        assert!("2024-11-05".parse::<Revision>().is_err());
    }
}
