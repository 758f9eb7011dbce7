//! Why a run could not go on; each kind has its exit code (design, section 6).

use birdstrike_scenario::Mistake;

/// An error that ends a run, or keeps it from beginning.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file that somebody wrote is wrong: exit code 2.
    #[error("{}", .0.iter().map(|m| m.rendered.as_str()).collect::<Vec<_>>().join("\n\n"))]
    Mistakes(Vec<Mistake>),
    /// A profile cannot be used as it is: exit code 2.
    #[error("the profile cannot be used: {0}")]
    Profile(String),
    /// The user asked for something that there is not: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The gateway did not start, did not get ready, or went away: exit code 4.
    #[error("{title}\n{detail}  = help: {mend}")]
    Gateway {
        /// What happened.
        title: String,
        /// Its own last lines, indented; may be empty.
        detail: String,
        /// How to mend it.
        mend: String,
    },
    /// birdstrike or the machine failed: exit code 5.
    #[error("{0}")]
    Harness(String),
}

impl EngineError {
    /// The exit code of a run that ends with this error.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Mistakes(_) | Self::Profile(_) | Self::Usage(_) => 2,
            Self::Gateway { .. } => 4,
            Self::Harness(_) => 5,
        }
    }

    /// A fault of the machine: a file that cannot be written, a port that cannot be had.
    pub fn io(what: &str, error: &std::io::Error) -> Self {
        Self::Harness(format!("{what}: {error}"))
    }
}
