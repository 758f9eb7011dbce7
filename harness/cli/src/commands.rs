//! The commands, one file each. Every one gives an exit code (design, section 6).

mod canary;
mod explain;
mod faults;
mod gateway;
mod install;
mod list;
mod options;
mod report;
mod review;
mod run;

use birdstrike_engine::EngineError;
use clap::Subcommand;

use crate::output;

/// What birdstrike can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fire the scenarios at a gateway; the built-in one unless told otherwise
    Run(run::Run),
    /// List checks, gateways or requirements
    List(list::List),
    /// Say what a check expects, why, and what right looks like
    Explain(explain::Explain),
    /// Prove that the checks can fail: run the reference gateway with each of its faults
    Faults(faults::Faults),
    /// Run the canary alone, as an MCP server
    Canary(canary::Canary),
    /// Run the reference gateway alone
    Gateway(gateway::Gateway),
    /// Install a private copy of a gateway
    Install(install::Install),
    /// Step through changed snapshots and accept or reject each
    Review(review::Review),
    /// Reports and their form
    Report(report::Report),
}

impl Command {
    /// Runs the command; errors are printed here, once.
    pub(crate) async fn run(self) -> u8 {
        let done = match self {
            Self::Run(command) => command.run().await,
            Self::List(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::Faults(command) => command.run().await,
            Self::Canary(command) => command.run().await,
            Self::Gateway(command) => command.run().await,
            Self::Install(command) => command.run().await,
            Self::Review(command) => command.run(),
            Self::Report(command) => command.run(),
        };
        done.unwrap_or_else(|error| {
            output::error(&error.to_string());
            error.exit_code()
        })
    }
}

/// What every command ends with: an exit code, or the error that has one.
pub(crate) type Done = Result<u8, EngineError>;
