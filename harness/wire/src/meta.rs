//! The `_meta` keys that MCP defines, and the `_meta` of a 2026-07-28 request.

use crate::Revision;
use crate::json;

/// The revision of this very request (R-BASE-13).
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Who asks (R-BASE-14).
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// What the client can do, for this very request (R-BASE-13).
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who answers, in a result's `_meta` (R-BASE-15).
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The extension under which a 2026-07-28 server may answer with a task (R-TASK2-01).
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A party's name and version, as `clientInfo` and `serverInfo` carry them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// The program's name.
    pub name: String,
    /// The program's version.
    pub version: String,
}

impl Implementation {
    /// As a JSON object.
    pub fn to_json(&self) -> String {
        let (name, version) = (json::quote(&self.name), json::quote(&self.version));
        format!("{{\"name\":{name},\"version\":{version}}}")
    }
}

/// The `_meta` object of a stateless request: version, client, capabilities (JSON text).
pub fn request_meta(revision: Revision, client: &Implementation, capabilities: &str) -> String {
    format!(
        "{{\"{PROTOCOL_VERSION}\":\"{revision}\",\"{CLIENT_INFO}\":{},\"{CLIENT_CAPABILITIES}\":{capabilities}}}",
        client.to_json()
    )
}

/// The revision that a request's params name in their `_meta`, as it is written there.
pub fn protocol_version(params: &str) -> Option<String> {
    json::get_string(json::get(params, "_meta")?, PROTOCOL_VERSION)
}

/// Whether a stateless request's params declare the tasks extension (R-TASK2-01).
pub fn declares_tasks(params: &str) -> bool {
    json::get(params, "_meta")
        .and_then(|meta| json::get(meta, CLIENT_CAPABILITIES))
        .and_then(|capabilities| json::get(capabilities, "extensions"))
        .and_then(|extensions| json::get(extensions, TASKS_EXTENSION))
        .is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stateless_request_says_who_and_what() {
        let client = Implementation { name: "a\"b".into(), version: "1".into() };
        let capabilities = format!("{{\"extensions\":{{\"{TASKS_EXTENSION}\":{{}}}}}}");
        let meta = request_meta(Revision::V2026_07_28, &client, &capabilities);
        let params = format!("{{\"_meta\":{meta}}}");
        assert_eq!(protocol_version(&params).as_deref(), Some("2026-07-28"));
        assert!(declares_tasks(&params));
        assert!(!declares_tasks("{\"_meta\":{}}"));
    }
}
