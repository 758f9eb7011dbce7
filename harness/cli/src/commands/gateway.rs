//! `birdstrike gateway`: the reference gateway alone.

use std::path::PathBuf;

use birdstrike_engine::EngineError;
use birdstrike_gateway::{Config, Steps, faults};
use clap::Args;

use super::Done;
use crate::output;

/// Run the reference gateway alone.
#[derive(Debug, Args)]
pub(crate) struct Gateway {
    /// The configuration, YAML
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Switch a deliberate fault on, to see a check fail (`birdstrike faults --list`)
    #[arg(long, value_name = "NAME")]
    fault: Option<String>,
}

impl Gateway {
    pub(crate) async fn run(self) -> Done {
        let config = Config::from_file(&self.config)
            .map_err(|error| EngineError::Usage(error.to_string()))?;
        let mut steps = Steps::RIGHT;
        if let Some(name) = &self.fault {
            let fault = faults::find(name).ok_or_else(|| {
                EngineError::Usage(format!("no fault `{name}`: see `birdstrike faults --list`"))
            })?;
            (fault.apply)(&mut steps);
        }
        let gateway =
            birdstrike_gateway::Gateway::start(config, steps, Box::new(std::io::stderr()))
                .await
                .map_err(|error| EngineError::Harness(error.to_string()))?;
        let asked_to_end = super::options::until_signal();
        output::print(&format!("birdstrike gateway listening on {}\n", gateway.url()));
        asked_to_end.await;
        gateway.stop().await;
        Ok(0)
    }
}
