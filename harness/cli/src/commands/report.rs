//! `birdstrike report`: reports and their form.

use std::path::{Path, PathBuf};

use birdstrike_engine::EngineError;
use birdstrike_engine::record::{Report as Record, SCHEMA_VERSION};
use birdstrike_engine::report::inventory;
use clap::{Args, Subcommand};

use super::Done;
use crate::{catalogue, output};

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
    /// Write a gateway's inventory anew from a JSON report: every surface, what was seen there, what
    /// is open
    Inventory(Inventory),
}

#[derive(Debug, Args)]
struct Inventory {
    /// A report as `run --report json=FILE` wrote it
    #[arg(value_name = "FILE")]
    report: PathBuf,
    /// Where it is written to, as Markdown; to the standard output unless given
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
}

impl Report {
    pub(crate) fn run(self) -> Done {
        match self.what {
            What::Schema => {
                output::print(&format!("{}\n", birdstrike_engine::report::json::schema()));
            }
            What::Inventory(wanted) => wanted.write()?,
        }
        Ok(0)
    }
}

impl Inventory {
    fn write(&self) -> Result<(), EngineError> {
        let report = read(&self.report)?;
        let page = inventory::render(&report, &catalogue::load(None)?.catalogue);
        let Some(path) = &self.output else {
            output::print(&page);
            return Ok(());
        };
        std::fs::write(path, page).map_err(|error| {
            EngineError::io(&format!("{} cannot be written", path.display()), &error)
        })
    }
}

/// Reads a JSON report of this form.
fn read(path: &Path) -> Result<Record, EngineError> {
    let mistake = |why: String| EngineError::Usage(format!("{}: {why}", path.display()));
    let text = std::fs::read(path).map_err(|error| mistake(format!("cannot be read: {error}")))?;
    let report: Record = serde_json::from_slice(&text)
        .map_err(|error| mistake(format!("is no report of birdstrike: {error}")))?;
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    if major(&report.schema_version) == major(SCHEMA_VERSION) {
        return Ok(report);
    }
    let known = SCHEMA_VERSION;
    Err(mistake(format!("has form {}, known is {known}", report.schema_version)))
}
