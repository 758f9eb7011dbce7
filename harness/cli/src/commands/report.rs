//! `birdstrike report`: reports and their form.

use clap::{Args, Subcommand};

use crate::output;

/// Reports and their form.
#[derive(Debug, Args)]
pub(crate) struct Report {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the JSON Schema of the JSON report
    Schema,
}

impl Report {
    pub(crate) fn run(self) -> u8 {
        match self.what {
            What::Schema => {
                output::print(&format!("{}\n", birdstrike_engine::report::json::schema()));
            }
        }
        0
    }
}
