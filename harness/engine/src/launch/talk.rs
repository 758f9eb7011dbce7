//! Conversations: with which process, as whom, in which revision.

use std::collections::HashMap;
use std::sync::Arc;

use birdstrike_wire::Revision;
use serde_json::json;

use super::{DIRECT, Launch};
use crate::client::{Endpoint, Session};
use crate::error::EngineError;
use crate::template::fill;

/// How a request gets where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way<'a> {
    /// The route; [`DIRECT`] leads to the canary itself.
    pub route: &'a str,
    /// The upstream that is meant; on the direct way it is the one that is spoken to.
    pub upstream: &'a str,
    /// Who calls; the profile's first identity unless given.
    pub identity: Option<&'a str>,
    /// The revision that is spoken.
    pub revision: Revision,
    /// The client's capabilities: a JSON object as text.
    pub capabilities: Option<&'a str>,
}

impl<'a> Way<'a> {
    /// The default identity, without capabilities, to the upstream `main`.
    pub fn plain(route: &'a str, revision: Revision) -> Self {
        Self { route, upstream: "main", identity: None, revision, capabilities: None }
    }
}

/// What tells one conversation from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Talk {
    process: String,
    identity: Option<String>,
    revision: Revision,
    capabilities: Option<String>,
}

/// Conversations, and why there is none.
pub(super) type Sessions = HashMap<Talk, Result<Arc<Session>, String>>;

impl Launch {
    /// What tells the conversation of a way from others.
    ///
    /// # Errors
    /// In words, when the profile has no such route.
    pub fn talk(&self, way: &Way<'_>) -> Result<Talk, String> {
        let process = self.process_of(way.route, way.upstream)?;
        // The canary knows nobody.
        let identity = way.identity.filter(|_| way.route != DIRECT).map(str::to_owned);
        let capabilities = way.capabilities.map(str::to_owned);
        Ok(Talk { process, identity, revision: way.revision, capabilities })
    }

    /// The conversation of a way; opened once and shared. One that could not be opened is not tried
    /// again until the gateway is started anew: a silent gateway costs one deadline, not one a cell.
    ///
    /// # Errors
    /// In words, when the route cannot be had or the handshake fails.
    pub async fn session(&self, way: &Way<'_>) -> Result<Arc<Session>, String> {
        let talk = self.talk(way)?;
        let mut sessions = self.sessions.lock().await;
        if let Some(known) = sessions.get(&talk) {
            return known.clone();
        }
        let opened = self.fresh_session(way).await.map(Arc::new);
        sessions.insert(talk, opened.clone());
        opened
    }

    /// A conversation of its own, for a scenario that chooses its ids.
    ///
    /// # Errors
    /// As [`Launch::session`].
    pub async fn fresh_session(&self, way: &Way<'_>) -> Result<Session, String> {
        let endpoint = self.endpoint(way)?;
        let capabilities = way.capabilities.unwrap_or("{}");
        let (http, deadline) = (&self.ground.http, self.ground.deadline);
        Session::open(http, &endpoint, way.revision, capabilities, deadline).await
    }

    /// Where a way leads, and as whom.
    ///
    /// # Errors
    /// In words, for a process that does not run or an identity that there is not.
    pub fn endpoint(&self, way: &Way<'_>) -> Result<Endpoint, String> {
        let process = self.process_of(way.route, way.upstream)?;
        let url = self.urls.get(&process).cloned();
        let url = url.ok_or_else(|| format!("process `{process}` does not run"))?;
        if way.route == DIRECT {
            return Ok(Endpoint { url, identity: Vec::new() });
        }
        let identity = match way.identity {
            None => self.identities.first().map(|(_, headers)| headers.clone()),
            Some(name) => {
                let known = self.identities.get(name);
                Some(
                    known
                        .cloned()
                        .ok_or_else(|| format!("the profile has no identity `{name}`"))?,
                )
            }
        };
        Ok(Endpoint { url, identity: identity.unwrap_or_default() })
    }

    /// What a GET beside a process's endpoint is answered with, as the default identity; none for
    /// anything but a success.
    pub(crate) async fn get(&self, process: &str, path: &str) -> Option<Vec<u8>> {
        let url = reqwest::Url::parse(self.urls.get(process)?).ok()?.join(path).ok()?;
        let mut asked = self.ground.http.get(url).timeout(self.ground.deadline);
        for (name, value) in self.identities.first().into_iter().flat_map(|(_, all)| all) {
            asked = asked.header(name, value);
        }
        let response = asked.send().await.ok()?.error_for_status().ok()?;
        response.bytes().await.ok().map(|bytes| bytes.to_vec())
    }

    fn process_of(&self, route: &str, upstream: &str) -> Result<String, String> {
        if route == DIRECT {
            return Ok(direct(upstream));
        }
        let known = self.shipped.profile.routes.get(route);
        known
            .map(|r| r.process.clone())
            .ok_or_else(|| format!("the profile has no route `{route}`"))
    }

    /// Everybody who may call, with the headers that say so.
    pub(super) fn identify(&mut self) -> Result<(), EngineError> {
        let shipped = Arc::clone(&self.shipped);
        for (name, identity) in &shipped.profile.identities {
            let headers = self.fill_map("identities", &identity.headers)?;
            self.identities.insert(name.clone(), headers);
        }
        Ok(())
    }

    /// The name by which a tool of an upstream is asked for.
    ///
    /// # Errors
    /// A template that cannot be filled.
    pub(crate) fn named(
        &self,
        template: &str,
        tool: &str,
        upstream: &str,
    ) -> Result<String, String> {
        // Asked for every call, and most gateways keep the name.
        if template == "{{ tool }}" {
            return Ok(tool.to_owned());
        }
        let names = json!({
            "tool": tool,
            "upstream": upstream,
            "variant": self.variant.as_deref().unwrap_or_default(),
        });
        let names = names.as_object().cloned().unwrap_or_default();
        fill("the name of a tool", template, &names).map_err(|error| error.to_string())
    }

    /// Whether an identity is another than the one that calls by default.
    pub(crate) fn is_stranger(&self, identity: Option<&str>) -> bool {
        let first = self.identities.keys().next().map(String::as_str);
        identity.is_some() && identity != first
    }

    /// The name by which anything but a tool of the gateway's own is asked for on a route.
    ///
    /// # Errors
    /// A template that cannot be filled.
    pub(crate) fn own_name(
        &self,
        route: &str,
        name: &str,
        upstream: &str,
    ) -> Result<String, String> {
        let Some(known) = self.shipped.profile.routes.get(route) else {
            return Ok(name.to_owned());
        };
        let inner = known.batch.as_ref().map(|codec| &codec.tool);
        let inner = inner.or(known.http.as_ref().map(|codec| &codec.tool));
        self.named(inner.unwrap_or(&known.tool), name, upstream)
    }

    /// The name under which the gateway lists a tool on a route.
    ///
    /// # Errors
    /// A template that cannot be filled.
    pub fn tool_name(&self, route: &str, tool: &str, upstream: &str) -> Result<String, String> {
        match self.shipped.profile.routes.get(route) {
            Some(known) => self.named(&known.tool, tool, upstream),
            None => Ok(tool.to_owned()),
        }
    }
}

/// What stands for an upstream of the canary among the processes.
pub(super) fn direct(upstream: &str) -> String {
    format!("{DIRECT} {upstream}")
}
