//! HTTP headers of MCP: their names, and the parts of a request that they mirror.
//!
//! Since 2026-07-28 a request repeats its version, method, target and some arguments in headers, so
//! that a gateway can route it without reading the body (SEP-2243). Both sides of that live here:
//! [`Mirrored::headers`] and [`param_headers`] write them, [`check_mirror`] and
//! [`param_mismatches`] hold them against the body, and [`annotations`] finds the arguments in
//! question, or the reason why a client must not list the tool.

mod annotation;
mod mirror;
mod param;
mod value;

pub use annotation::{Annotation, BadAnnotation, annotations};
pub use mirror::{
    Found, Mirrored, Mismatch, check_mirror, mirror_mismatches, param_headers, param_mismatches,
};
pub use param::{BadParam, ParamError, encode_param, param_equals};
pub use value::{ValueError, decode_bytes, decode_value, encode_value};

/// The revision of a request: after the handshake in older revisions (R-HTTP-11), on every POST and
/// equal to the body's since 2026-07-28 (R-HTTP-14).
pub const MCP_PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// The method of a request or notification (R-HTTP-17).
pub const MCP_METHOD: &str = "Mcp-Method";
/// What the request is aimed at: see [`name_param`] (R-HTTP-17, R-TASK2-18).
pub const MCP_NAME: &str = "Mcp-Name";
/// Begins the name of a header that mirrors an argument of a tool (R-HTTP-17, R-HTTP-20).
pub const MCP_PARAM_PREFIX: &str = "Mcp-Param-";
/// The session of the revisions with a handshake (R-HTTP-28); ignored since 2026-07-28.
pub const MCP_SESSION_ID: &str = "Mcp-Session-Id";
/// Where to resume a broken event stream (R-HTTP-10); ignored since 2026-07-28.
pub const LAST_EVENT_ID: &str = "Last-Event-ID";

/// The member of `params` that [`MCP_NAME`] repeats for this method; `None` for a method that has
/// no such header (R-HTTP-17; R-TASK2-18 for tasks).
pub fn name_param(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}
