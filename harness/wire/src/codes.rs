//! JSON-RPC error codes of MCP, and the HTTP status that each is answered with.

use crate::Revision;

/// Invalid JSON.
pub const PARSE_ERROR: i64 = -32700;
/// A malformed request.
pub const INVALID_REQUEST: i64 = -32600;
/// An unknown method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// Malformed params, an unknown tool, a bad cursor.
pub const INVALID_PARAMS: i64 = -32602;
/// A fault of the server itself.
pub const INTERNAL_ERROR: i64 = -32603;
/// Header and body disagree, or a required header is missing (2026-07-28; R-HTTP-15).
pub const HEADER_MISMATCH: i64 = -32020;
/// The request did not declare a capability that it needs (2026-07-28; R-ERR-16).
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The server does not speak the revision of the request (2026-07-28; R-ERR-18).
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// The HTTP status that carries an error of this code in this revision (wire facts, section 3).
///
/// Only 2026-07-28 fixes statuses; the handshake revisions answer a JSON-RPC error with 200, but
/// for a message that could not be read at all.
pub const fn http_status(revision: Revision, code: i64) -> u16 {
    match (revision, code) {
        (_, PARSE_ERROR | INVALID_REQUEST)
        | (
            Revision::V2026_07_28,
            HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_VERSION,
        ) => 400,
        (Revision::V2026_07_28, METHOD_NOT_FOUND) => 404,
        _ => 200,
    }
}
