//! The gateway that a run is fired at.

use std::net::SocketAddr;
use std::time::Duration;

use birdstrike_engine::EngineError;
use birdstrike_engine::install::{self, Wanted};
use birdstrike_engine::launch::{Ground, Running};
use birdstrike_engine::record::Gateway;
use birdstrike_engine::template::Names;
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::{Catalogue, Profile};
use clap::Args;

use crate::catalogue;

/// Which gateway.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// A gateway by profile: NAME, NAME@VERSION, or the path of a profile file
    #[arg(long, value_name = "NAME[@VERSION]|FILE", help_heading = "Gateway")]
    gateway: Option<String>,
    /// A gateway that runs already and whose upstream is the canary at --canary-listen
    #[arg(long, value_name = "URL", help_heading = "Gateway", requires = "canary_listen")]
    url: Option<String>,
    /// Where the canary listens for --url: main upstream at /mcp, others at /NAME/mcp
    #[arg(long, value_name = "ADDR", help_heading = "Gateway")]
    canary_listen: Option<SocketAddr>,
    /// A header for the gateway, its value taken from an environment variable (repeatable)
    #[arg(long, value_name = "NAME=VAR", help_heading = "Gateway", value_parser = header)]
    header_env: Vec<Header>,
}

#[derive(Clone, Debug)]
struct Header {
    name: String,
    variable: String,
}

fn header(text: &str) -> Result<Header, String> {
    let (name, variable) = text.split_once('=').ok_or("write it as HEADER=VARIABLE")?;
    Ok(Header { name: name.to_owned(), variable: variable.to_owned() })
}

/// What is known of a gateway that somebody else started: it has a flat route.
const UNKNOWN: &str = r#"
name: url
title: a gateway that runs already
processes:
  gateway: {command: [none], endpoint: none, ready: {}}
routes:
  flat: {process: gateway, tool: "{{ tool }}"}
revisions:
  client: ["2026-07-28", "2025-11-25", "2025-06-18"]
  upstream: ["2026-07-28", "2025-11-25", "2025-06-18"]
"#;

impl Target {
    /// The profile.
    pub(super) fn profile(&self, catalogue: &Catalogue) -> Result<ShippedProfile, EngineError> {
        match (&self.gateway, &self.url) {
            (None, Some(url)) => {
                let mut profile = Profile::parse("--url", UNKNOWN)
                    .map_err(|mistake| EngineError::Mistakes(vec![mistake]))?;
                profile.name.clone_from(url);
                Ok(ShippedProfile { profile, source: String::new(), files: Vec::new() })
            }
            (named, _) => {
                let name = named.as_deref().unwrap_or("reference");
                catalogue::profile(catalogue, &Self::wanted(name).name)
            }
        }
    }

    fn wanted(name: &str) -> Wanted {
        // A path may hold an `@`; a profile file has no versions.
        let end = std::path::Path::new(name).extension();
        let file = end.is_some_and(|end| end == "yaml" || end == "yml");
        if file { Wanted { name: name.to_owned(), version: None } } else { Wanted::parse(name) }
    }

    /// The gateway as the report names it.
    pub(super) fn named(&self, shipped: &ShippedProfile) -> Gateway {
        let wanted = Self::wanted(self.gateway.as_deref().unwrap_or("reference"));
        Gateway {
            name: shipped.profile.name.clone(),
            version: None,
            requested: wanted.version,
            profile: (!shipped.source.is_empty()).then(|| catalogue::profile_hash(shipped)),
        }
    }

    /// What launches share.
    pub(super) fn ground(
        &self,
        profile: &Profile,
        deadline: Duration,
    ) -> Result<Ground, EngineError> {
        let running = self.running()?;
        let wanted = Self::wanted(self.gateway.as_deref().unwrap_or("reference"));
        let install = if running.is_some() { None } else { install::find(profile, &wanted)? };
        let http = birdstrike_engine::client::http::client()
            .map_err(|error| EngineError::Harness(format!("no HTTP client: {error}")))?;
        let birdstrike = std::env::current_exe()
            .map_err(|error| EngineError::io("the path of birdstrike itself", &error))?;
        Ok(Ground {
            birdstrike,
            install,
            extra: Names::new(),
            deadline,
            http,
            keep_answers: false,
            running,
        })
    }

    fn running(&self) -> Result<Option<Running>, EngineError> {
        let (Some(url), Some(canary)) = (&self.url, self.canary_listen) else {
            return Ok(None);
        };
        let mut headers = Vec::new();
        for Header { name, variable } in &self.header_env {
            let value = std::env::var(variable).map_err(|_| {
                let text = format!("--header-env {name}={variable}: the variable is not set");
                EngineError::Usage(text)
            })?;
            headers.push((name.clone(), value));
        }
        Ok(Some(Running { url: url.clone(), canary, headers }))
    }

    /// The command that fires at this gateway again.
    pub(super) fn rerun(&self) -> String {
        let mut command = "birdstrike run".to_owned();
        if let Some(gateway) = &self.gateway {
            command.push_str(&format!(" --gateway {gateway}"));
        }
        if let (Some(url), Some(canary)) = (&self.url, self.canary_listen) {
            command.push_str(&format!(" --url {url} --canary-listen {canary}"));
        }
        for Header { name, variable } in &self.header_env {
            command.push_str(&format!(" --header-env {name}={variable}"));
        }
        command
    }
}
