//! `birdstrike canary`: the upstream alone.

use std::net::SocketAddr;

use birdstrike_canary::{Config, UpstreamSpec};
use birdstrike_engine::EngineError;
use birdstrike_wire::Revision;
use clap::Args;

use super::Done;
use crate::output;

/// Run the canary alone, as an MCP server.
#[derive(Debug, Args)]
pub(crate) struct Canary {
    /// Where it listens
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Revisions that it speaks; all unless given
    #[arg(long, value_name = "DATE")]
    revision: Vec<Revision>,
    /// Speak lines on standard input and output in place of HTTP
    #[arg(long)]
    stdio: bool,
    /// With --stdio: pass the lines on to a canary that runs elsewhere
    #[arg(long, value_name = "ADDR", requires = "stdio")]
    bridge: Option<SocketAddr>,
    /// With --bridge: the upstream that is played
    #[arg(long, value_name = "NAME", default_value = "main")]
    upstream: String,
}

impl Canary {
    pub(crate) async fn run(self) -> Done {
        if let Some(addr) = self.bridge {
            let bridged = birdstrike_canary::bridge(addr, &self.upstream).await;
            return bridged.map(|()| 0).map_err(|error| EngineError::io("the bridge", &error));
        }
        let revisions =
            if self.revision.is_empty() { Revision::ALL.to_vec() } else { self.revision };
        let upstreams = vec![UpstreamSpec::new("main", &revisions)];
        let config = Config { listen: self.listen, upstreams, ..Config::default() };
        let canary = birdstrike_canary::Canary::start(config)
            .await
            .map_err(|error| EngineError::Harness(error.to_string()))?;
        let asked_to_end = super::options::until_signal();
        if self.stdio {
            let (input, out) = (tokio::io::stdin(), tokio::io::stdout());
            tokio::select! {
                _ = birdstrike_canary::serve_stdio(&canary, "main", input, out) => {}
                () = asked_to_end => {}
            }
        } else {
            let mut text = format!("canary listening on {}\n", canary.url("main"));
            for tool in birdstrike_canary::builtin_tools() {
                text.push_str(&format!("  {}\n", tool.name));
            }
            output::print(&text);
            asked_to_end.await;
        }
        canary.stop().await;
        Ok(0)
    }
}
