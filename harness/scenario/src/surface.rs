//! The twelve surfaces, and the two areas reported apart from them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place where a gateway reads or rewrites a result (design, section 2).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// 1: the upstream's body is read, up to a limit.
    UpstreamRead,
    /// 2: success is told from failure.
    AnswerReading,
    /// 3: mutators may change a result.
    Mutators,
    /// 4: a batch is cut to its budget, and the rest is fetched later.
    Truncation,
    /// 5: many calls are answered in one.
    BatchPacking,
    /// 6: one call is answered with its result.
    FlatReturn,
    /// 7: links in a result are made reachable through the gateway.
    ResourceLinks,
    /// 8: a task handle stands for a result that comes later.
    Tasks,
    /// 9: the failure flag of a result.
    IsError,
    /// 10: events, alerts, audit and logs leave secrets out.
    Redaction,
    /// 11: tool definitions are pinned, results checked against `outputSchema`.
    SchemaAndDigest,
    /// 12: audit records leave for a SIEM.
    AuditExport,
    /// Extra area: typed results, hints, names in a listing.
    Listing,
    /// Extra area: SSE, ids, sessions, progress, cancel.
    Transport,
}

impl Surface {
    /// The twelve surfaces in their order.
    pub const TWELVE: [Self; 12] = [
        Self::UpstreamRead,
        Self::AnswerReading,
        Self::Mutators,
        Self::Truncation,
        Self::BatchPacking,
        Self::FlatReturn,
        Self::ResourceLinks,
        Self::Tasks,
        Self::IsError,
        Self::Redaction,
        Self::SchemaAndDigest,
        Self::AuditExport,
    ];

    /// The extra areas, reported apart from the twelve.
    pub const AREAS: [Self; 2] = [Self::Listing, Self::Transport];

    /// The twelve, then the areas.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::TWELVE.into_iter().chain(Self::AREAS)
    }

    /// The slug: the same in folders, code and reports.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::UpstreamRead => "upstream-read",
            Self::AnswerReading => "answer-reading",
            Self::Mutators => "mutators",
            Self::Truncation => "truncation",
            Self::BatchPacking => "batch-packing",
            Self::FlatReturn => "flat-return",
            Self::ResourceLinks => "resource-links",
            Self::Tasks => "tasks",
            Self::IsError => "is-error",
            Self::Redaction => "redaction",
            Self::SchemaAndDigest => "schema-and-digest",
            Self::AuditExport => "audit-export",
            Self::Listing => "listing",
            Self::Transport => "transport",
        }
    }

    /// 1 to 12; `None` for an area.
    pub fn number(self) -> Option<u8> {
        let at = Self::TWELVE.iter().position(|surface| *surface == self)?;
        u8::try_from(at + 1).ok()
    }

    /// The surface with this slug.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::all().find(|surface| surface.slug() == slug)
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.slug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_read_back_and_agree_with_serde() {
        for surface in Surface::all() {
            assert_eq!(Surface::from_slug(surface.slug()), Some(surface));
            let json = serde_json::to_string(&surface).unwrap();
            assert_eq!(json, format!("\"{}\"", surface.slug()));
        }
        assert_eq!(Surface::IsError.number(), Some(9));
        assert_eq!(Surface::Listing.number(), None);
    }
}
