//! The birdstrike binary: one file a command, and nothing else.

mod catalogue;
mod commands;
mod output;

use std::process::ExitCode;

use clap::Parser;

use commands::Command;

/// Fires known results at an MCP gateway and shows what became of them.
#[derive(Debug, Parser)]
#[command(name = "birdstrike", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::error(&format!("the runtime cannot start: {error}"));
            return ExitCode::from(5);
        }
    };
    let code = runtime.block_on(cli.command.run());
    // Nothing may keep the process alive once its work is done.
    runtime.shutdown_background();
    ExitCode::from(code)
}
