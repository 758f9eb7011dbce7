//! Verdicts: what a check comes to, how binding it is, and whose fault it is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a check comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The expectation holds.
    Pass,
    /// A must does not hold.
    Fail,
    /// A should or a policy does not hold.
    Warn,
    /// It applies to this gateway in the chosen tier, matrix and selection and could not be run;
    /// the reason and what unlocks it stand beside it.
    Untested,
    /// The profile does not claim what the check is about.
    NotApplicable,
    /// Harness or environment failed; never blamed on the gateway.
    Error,
}

impl Verdict {
    /// The verdict on an expectation that could be judged.
    pub const fn of(level: Level, holds: bool) -> Self {
        match (holds, level) {
            (true, _) => Self::Pass,
            (false, Level::Must) => Self::Fail,
            (false, Level::Should | Level::Policy) => Self::Warn,
        }
    }

    /// Every verdict, in the order of the reports.
    pub const ALL: [Self; 6] =
        [Self::Pass, Self::Fail, Self::Warn, Self::Untested, Self::NotApplicable, Self::Error];

    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Untested => "untested",
            Self::NotApplicable => "not-applicable",
            Self::Error => "error",
        }
    }

    /// Whether the surface was driven and judged: a pass, a warning or a failure.
    pub const fn is_judged(self) -> bool {
        matches!(self, Self::Pass | Self::Fail | Self::Warn)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How binding a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The specification demands it. When it is broken the check fails, everywhere.
    Must,
    /// The specification recommends it.
    Should,
    /// The specification leaves it open: what the gateway does is compared with what its profile
    /// declares and with the truth of the two legs.
    Policy,
}

impl Level {
    /// Every level, the most binding first.
    pub const ALL: [Self; 3] = [Self::Must, Self::Should, Self::Policy];

    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Policy => "policy",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whose fault it is when a check does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blame {
    /// The thing under test.
    Gateway,
    /// The upstream that we control sent what it should not have.
    Canary,
    /// The harness itself: the expectation fails without a gateway as well.
    Harness,
    /// The machine, the network, a missing program.
    Environment,
}

impl Blame {
    /// Everyone who can be to blame.
    pub const ALL: [Self; 4] = [Self::Gateway, Self::Canary, Self::Harness, Self::Environment];

    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Canary => "canary",
            Self::Harness => "harness",
            Self::Environment => "environment",
        }
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_broken_must_fails() {
        for level in Level::ALL {
            assert_eq!(Verdict::of(level, true), Verdict::Pass);
        }
        assert_eq!(Verdict::of(Level::Must, false), Verdict::Fail);
        assert_eq!(Verdict::of(Level::Should, false), Verdict::Warn);
        assert_eq!(Verdict::of(Level::Policy, false), Verdict::Warn);
    }

    #[test]
    fn the_words_are_the_same_in_files_and_on_screen() {
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_string(&verdict).unwrap(), format!("\"{verdict}\""));
        }
        for level in Level::ALL {
            assert_eq!(serde_json::to_string(&level).unwrap(), format!("\"{level}\""));
        }
        for blame in Blame::ALL {
            assert_eq!(serde_json::to_string(&blame).unwrap(), format!("\"{blame}\""));
        }
    }
}
