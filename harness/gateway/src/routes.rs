//! The routes by which a client gets a result.

pub(crate) mod batch;
pub(crate) mod continuation;
pub(crate) mod facade;
pub(crate) mod flat;
pub(crate) mod relayed;
pub(crate) mod task;
pub(crate) mod tools;

use birdstrike_wire::Revision;
use birdstrike_wire::codes;

/// An answer to a client: an HTTP status and a JSON-RPC message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Reply {
    /// A message with status 200.
    pub(crate) fn ok(body: String) -> Self {
        Self { status: 200, body }
    }

    /// An error of the gateway as a server: its status follows from its code.
    pub(crate) fn error(
        client: Revision,
        id: Option<&str>,
        code: i64,
        message: &str,
        data: Option<&str>,
    ) -> Self {
        let error = birdstrike_wire::envelope::error_object(code, message, data);
        let body = birdstrike_wire::envelope::error(id, &error);
        Self { status: codes::http_status(client, code), body }
    }
}
