//! Waiting until a gateway is ready: by condition and deadline, while its end is watched.

use std::time::{Duration, Instant};

use birdstrike_canary::{Answer, Plan};
use birdstrike_scenario::profile::Process as Spec;
use birdstrike_wire::shape::{Outcome, text_block};
use birdstrike_wire::{Revision, json as wire_json};
use serde_json::json;

use super::{Launch, Running, Way};
use crate::error::EngineError;

/// How long a condition that does not hold yet is left alone before it is looked at again.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a gateway that runs already is given to find its way to the canary.
const JOIN_WITHIN: Duration = Duration::from_secs(15);

impl Launch {
    /// Waits for what the process itself can tell: its line, its URL, its listing.
    pub(super) async fn await_ready(&mut self, name: &str, spec: &Spec) -> Result<(), EngineError> {
        let until = Instant::now() + Duration::from_secs(spec.ready.within_s);
        let process = self.processes.last_mut();
        if let (Some(line), Some(process)) = (&spec.ready.line, process) {
            let rest = process.line(line, until).await?;
            self.names.insert("ready".into(), json!(rest));
        }
        if let Some(url) = &spec.ready.url {
            let url = crate::template::fill(name, url, &self.names)?;
            while !self.answers_ok(&url).await {
                self.wait_on(name, until, "did not answer its ready URL in time").await?;
            }
        }
        let url = crate::template::fill(name, &spec.endpoint, &self.names)?;
        self.urls.insert(name.to_owned(), url);
        if spec.ready.listing {
            let route = self.route_of(name).unwrap_or_default();
            while let Err(why) = self.list(&route).await {
                let what = format!("did not list the canary's tools in time ({why})");
                self.wait_on(name, until, &what).await?;
            }
        }
        Ok(())
    }

    /// Takes a gateway that runs already: waits until a call brings it to the canary, and learns
    /// from that call which revision it speaks with its upstream.
    pub(super) async fn join(&mut self, running: &Running) -> Result<(), EngineError> {
        let shipped = std::sync::Arc::clone(&self.shipped);
        for name in shipped.profile.processes.keys() {
            self.urls.insert(name.clone(), running.url.clone());
        }
        let first = shipped.profile.identities.keys().next();
        let caller = first.cloned().unwrap_or_default();
        self.identities.insert(caller, running.headers.clone());
        let route = shipped.profile.routes.keys().next().cloned().unwrap_or_default();
        let until = Instant::now() + JOIN_WITHIN;
        loop {
            let listed = self.list(&route).await;
            let told = match listed {
                Ok(()) => self.known_good(&route, self.preferred()).await,
                Err(why) => Err(why),
            };
            match told {
                Ok(revision) => {
                    self.upstream = revision.unwrap_or(self.upstream);
                    return Ok(());
                }
                Err(why) if Instant::now() >= until => {
                    return Err(EngineError::Gateway {
                        title: format!(
                            "the gateway at {} does not bring a call to the canary: {why}",
                            running.url
                        ),
                        detail: String::new(),
                        mend: format!("start it with the upstream {}", self.canary.url("main")),
                    });
                }
                Err(_) => self.pause().await,
            }
        }
    }

    /// Waits until a call over the route that the profile names reaches the canary.
    pub(super) async fn await_call(&mut self, name: &str, spec: &Spec) -> Result<(), EngineError> {
        let Some(route) = &spec.ready.call else {
            return Ok(());
        };
        let until = Instant::now() + Duration::from_secs(spec.ready.within_s);
        while let Err(why) = self.known_good(route, self.preferred()).await {
            let what = format!("did not bring a call to the canary in time ({why})");
            self.wait_on(name, until, &what).await?;
        }
        Ok(())
    }

    /// Fires the known-good call over a route: a plain text result that must arrive.
    ///
    /// # Errors
    /// In words, what became of it. What it gives is the revision in which the canary was called.
    pub async fn known_good(
        &self,
        route: &str,
        revision: Revision,
    ) -> Result<Option<Revision>, String> {
        let nonce = crate::nonce::fresh();
        let outcome = Outcome { blocks: vec![text_block(&nonce)], ..Outcome::default() };
        let rendered = outcome.render(self.upstream).map_err(|error| error.to_string())?;
        self.canary.script().plan(nonce.clone(), Plan::new(Answer::from(rendered)));
        let fired = crate::cell::fire::known_good(self, route, revision, &nonce).await;
        self.canary.script().forget(&nonce);
        let exchange = self.canary.journal().take(&nonce).pop();
        match fired {
            Ok(bytes) if holds(&bytes, nonce.as_bytes()) => Ok(exchange.and_then(|e| e.revision)),
            Ok(_) if exchange.is_some() => Err("its result did not arrive".into()),
            Ok(bytes) => Err(crate::evidence::excerpt(&bytes, 200)),
            Err(why) => Err(why),
        }
    }

    /// The client revision that the profile prefers.
    pub fn preferred(&self) -> Revision {
        let first = self.shipped.profile.revisions.client.first();
        first.and_then(|name| name.parse().ok()).unwrap_or(Revision::NEWEST)
    }

    async fn list(&mut self, route: &str) -> Result<(), String> {
        let session = self.session(&Way::plain(route, self.preferred())).await?;
        let tools = session.tools(self.ground.deadline).await?;
        let named = tools
            .iter()
            .filter_map(|tool| Some((wire_json::get_string(tool, "name")?, tool.clone())));
        self.listed.extend(named);
        self.version = session.server_version().or(self.version.take());
        let wanted = self.tool_name(route, "echo", "main")?;
        if self.listed.contains_key(&wanted) {
            self.schemas = super::schemas(self.listed.iter());
            return Ok(());
        }
        Err(format!("{} tools are listed, `{wanted}` is not among them", self.listed.len()))
    }

    fn route_of(&self, process: &str) -> Option<String> {
        let mut routes = self.shipped.profile.routes.iter();
        routes.find(|(_, route)| route.process == process).map(|(name, _)| name.clone())
    }

    async fn answers_ok(&self, url: &str) -> bool {
        let asked = self.ground.http.get(url).timeout(Duration::from_secs(2)).send().await;
        asked.is_ok_and(|response| response.status().is_success())
    }

    /// A pause before the next look; fails when the process has ended or time is up.
    async fn wait_on(&mut self, name: &str, until: Instant, late: &str) -> Result<(), EngineError> {
        if let Some(process) = self.processes.iter_mut().find(|process| process.name() == name) {
            if let Some(how) = process.ended() {
                return Err(process.failure(&format!("ended before it was ready ({how})")));
            }
            if Instant::now() >= until {
                return Err(process.failure(late));
            }
        }
        self.pause().await;
        Ok(())
    }

    /// A pause, after which conversations that could not be opened are tried again.
    async fn pause(&mut self) {
        tokio::time::sleep(PAUSE).await;
        self.sessions.get_mut().retain(|_, session| session.is_ok());
    }
}

fn holds(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len().max(1)).any(|window| window == needle)
}
