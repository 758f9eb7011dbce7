//! How binding an expectation is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The level of a requirement or a check.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The protocol demands it; a broken one is a `fail` everywhere and cannot be declared away.
    Must,
    /// The protocol recommends it; a broken one is a `warn`.
    Should,
    /// The protocol is silent: what the gateway does is compared with what its profile declares
    /// and with the two-leg truth; a broken one is a `warn`.
    Policy,
}

impl Level {
    /// The word as it stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Policy => "policy",
        }
    }
}
