//! Who asks: what a request says about its client, and what of it an upstream is told.

use birdstrike_wire::json::{self, Member};
use birdstrike_wire::meta::{CLIENT_CAPABILITIES, Implementation, TASKS_EXTENSION, request_meta};
use birdstrike_wire::{Era, Revision, envelope};
use http::{HeaderName, HeaderValue};

use crate::aside::Aside;
use crate::surfaces::truncation::Owner;
use crate::trace::Trace;

/// The level from which on a client of 2026-07-28 wants log messages (R-LOG-03).
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The client of one request.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) revision: Revision,
    /// Whether this request declares the tasks extension.
    pub(crate) declares_tasks: bool,
    /// What a call of 2025-11-25 wants of the task that it asks for, a raw object.
    pub(crate) task: Option<String>,
    /// What the client can do, a raw object; `{}` where the handshake said it.
    capabilities: String,
    /// The members of its `_meta` that an upstream is told, raw: `"key":value`, joined by commas.
    passed_on: String,
    /// Its `Mcp-Param-*` headers (R-HTTP-20).
    pub(crate) param_headers: Vec<(HeaderName, HeaderValue)>,
    /// To whom belongs what is kept for it.
    pub(crate) owner: Owner,
    /// The trace that its request belongs to.
    pub(crate) trace: Trace,
    /// How it is told what comes before its answer.
    pub(crate) aside: Aside,
}

impl Client {
    /// A client as its request's raw `_meta` tells.
    pub(crate) fn new(
        revision: Revision,
        meta: Option<&str>,
        param_headers: Vec<(HeaderName, HeaderValue)>,
    ) -> Self {
        let members = meta.and_then(|meta| json::members(meta).ok()).unwrap_or_default();
        let passed_on: Vec<String> = members
            .iter()
            .filter(|member| is_passed_on(member))
            .map(|member| format!("{}:{}", member.raw_key, member.value))
            .collect();
        let find = |name: &str| members.iter().rfind(|member| member.is(name));
        let token = find("progressToken").filter(|token| envelope::is_legal_id(token.value));
        let token = token.map(|token| token.value.to_owned());
        let log_level = find(LOG_LEVEL).filter(|_| revision.era() == Era::Stateless);
        let log_level = log_level.and_then(|level| serde_json::from_str(level.value).ok());
        let capabilities = members.iter().rfind(|member| member.is(CLIENT_CAPABILITIES));
        let capabilities = match (revision.era(), capabilities) {
            (Era::Stateless, Some(member)) => member.value,
            _ => "{}",
        };
        let declares_tasks = json::get(capabilities, "extensions")
            .is_some_and(|extensions| json::get(extensions, TASKS_EXTENSION).is_some());
        Self {
            revision,
            declares_tasks,
            task: None,
            capabilities: capabilities.to_owned(),
            passed_on: passed_on.join(","),
            param_headers,
            owner: Owner::default(),
            trace: Trace::default(),
            aside: Aside { token, log_level, ..Aside::default() },
        }
    }

    /// The `_meta` of a request to an upstream of this revision, if it has one: the gateway's own
    /// version and name, and what the client can do as it is `told`, as the gateway can do no more.
    pub(crate) fn meta_for(
        &self,
        upstream: Revision,
        me: &Implementation,
        token: Option<&str>,
        told: fn(&str) -> String,
    ) -> Option<String> {
        let mut members = Vec::new();
        if upstream.era() == Era::Stateless {
            let meta = request_meta(upstream, me, &told(&self.capabilities));
            members.push(meta[1..meta.len() - 1].to_owned());
            let level = self.aside.log_level.as_deref();
            members.extend(level.map(|level| format!("\"{LOG_LEVEL}\":{}", json::quote(level))));
        }
        members.extend(token.map(|token| format!("\"progressToken\":{token}")));
        members.extend((!self.passed_on.is_empty()).then(|| self.passed_on.clone()));
        (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
    }

    /// The same client for work of several requests, whose progress would not be that of one.
    pub(crate) fn without_progress(&self) -> Self {
        let aside = Aside { token: None, ..self.aside.clone() };
        Self { aside, ..self.clone() }
    }
}

/// All but what belongs to one leg: the keys that MCP defines are the gateway's own upstream, and so
/// is the progress token, which must be unique among the requests of everybody (R-PROG-01).
fn is_passed_on(member: &Member<'_>) -> bool {
    let key = member.key();
    key != "progressToken" && !key.starts_with("io.modelcontextprotocol/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_told_the_gateway_and_the_rest_of_the_meta() {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1,
            "io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}},
            "example.org/trace" : 1E+02}"#;
        let client = Client::new(Revision::V2026_07_28, Some(meta), Vec::new());
        assert!(client.declares_tasks);
        let me = Implementation { name: "g".into(), version: "1".into() };
        let new = client.meta_for(Revision::V2026_07_28, &me, None, str::to_owned).unwrap();
        assert!(new.contains(r#""io.modelcontextprotocol/clientInfo":{"name":"g","version":"1"}"#));
        assert!(new.contains(r#"{"io.modelcontextprotocol/tasks":{}}"#));
        assert!(new.ends_with(r#","example.org/trace":1E+02}"#));
        assert!(!new.contains("progressToken"));
        let old = client.meta_for(Revision::V2025_11_25, &me, None, str::to_owned).unwrap();
        assert_eq!(old, r#"{"example.org/trace":1E+02}"#);
    }

    #[test]
    fn a_handshake_client_declares_nothing_per_request() {
        let meta = r#"{"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}"#;
        let client = Client::new(Revision::V2025_11_25, Some(meta), Vec::new());
        assert_eq!((client.capabilities.as_str(), client.passed_on.as_str()), ("{}", ""));
        let me = Implementation { name: "g".into(), version: "1".into() };
        assert_eq!(client.meta_for(Revision::V2025_06_18, &me, None, str::to_owned), None);
    }
}
