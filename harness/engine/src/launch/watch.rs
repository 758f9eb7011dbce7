//! The ports of a launch: opened before the gateway, connected once it is ready.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{Ground, Launch};
use crate::error::EngineError;
use crate::ports::Ports;
use birdstrike_scenario::catalogue::ShippedProfile;

/// The profile's ports. A gateway that runs already was not configured by us: nothing of it is
/// watched.
pub(super) async fn ports(shipped: &ShippedProfile, ground: &Ground) -> Result<Ports, EngineError> {
    if ground.running.is_some() {
        return Ports::open(&IndexMap::new()).await;
    }
    Ports::open(&shipped.profile.ports).await
}

impl Launch {
    /// Opens the ports that connect to the gateway. Their templates know where its processes
    /// listen: `base` and `ws` of the first one, `endpoints.NAME.base` and so on of each.
    pub(super) async fn connect_ports(&mut self) -> Result<(), EngineError> {
        let mut names = self.names.clone();
        let mut endpoints = serde_json::Map::new();
        for process in self.shipped.profile.processes.keys() {
            let Some(url) = self.urls.get(process) else {
                continue;
            };
            let base = base(url);
            // `https` becomes `wss`.
            let ws = base.replacen("http", "ws", 1);
            names.entry("base").or_insert_with(|| json!(base));
            names.entry("ws").or_insert_with(|| json!(ws));
            let told = json!({"url": url, "base": base, "ws": ws});
            endpoints.insert(process.clone(), told);
        }
        names.insert("endpoints".into(), Value::Object(endpoints));
        self.ports.connect(&self.ground.http, &names).await
    }
}

/// Scheme, host and port of a URL.
fn base(url: &str) -> String {
    let parsed = reqwest::Url::parse(url);
    parsed.map_or_else(|_| url.to_owned(), |url| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_of_an_endpoint() {
        assert_eq!(base("http://127.0.0.1:80/mcp"), "http://127.0.0.1");
        assert_eq!(base("http://127.0.0.1:8123/x/mcp?y"), "http://127.0.0.1:8123");
    }
}
