//! Fidelity: what became of a value between the legs, or of a call.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What became of a value between the upstream and the downstream leg, or of a call.
///
/// Fidelity is an observation. Whether it is good or bad is for a [`Verdict`](crate::Verdict) to
/// say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// A value arrived as it was sent, on the level that was asked for.
    Intact,
    /// A value changed, and the profile says that the gateway does so on purpose. The check passes
    /// and is counted apart; a must cannot be declared away.
    Declared,
    /// A value arrived as another value.
    Altered,
    /// A value did not arrive.
    Lost,
    /// A value arrived that was not sent. Keys that the client's revision defines are not added.
    Added,
    /// A value arrived in a sink in which it must not be.
    Leaked,
    /// The gateway answered the call with an error of its own.
    Refused,
    /// The call did not get through: no answer, a broken one, or no connection.
    Unreachable,
}

impl Fidelity {
    /// Every fidelity, in the order of the reports.
    pub const ALL: [Self; 8] = [
        Self::Intact,
        Self::Declared,
        Self::Altered,
        Self::Lost,
        Self::Added,
        Self::Leaked,
        Self::Refused,
        Self::Unreachable,
    ];

    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Declared => "declared",
            Self::Altered => "altered",
            Self::Lost => "lost",
            Self::Added => "added",
            Self::Leaked => "leaked",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
        }
    }
}

impl fmt::Display for Fidelity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_the_same_in_files_and_on_screen() {
        for fidelity in Fidelity::ALL {
            let json = serde_json::to_string(&fidelity).unwrap();
            assert_eq!(json, format!("\"{fidelity}\""));
            assert_eq!(serde_json::from_str::<Fidelity>(&json).unwrap(), fidelity);
        }
    }
}
