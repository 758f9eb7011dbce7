//! MCP on the wire, as bytes.
//!
//! Everything that birdstrike needs to read and write Model Context Protocol messages without
//! losing a byte of them: the JSON-RPC [envelope], the protocol [revision]s, [headers] and error
//! [codes], an [sse] parser, raw [json] objects, and the result [shape]s that an outcome is
//! rendered into.
//!
//! No typed struct ever stands on the path of a result: what this crate hands out are spans of the
//! bytes that came in. It knows no other crate of the workspace.

pub mod capture;
pub mod codes;
pub mod envelope;
pub mod headers;
pub mod json;
pub mod meta;
pub mod revision;
pub mod shape;
pub mod sse;

pub use envelope::{Envelope, Kind};
pub use revision::{Era, Revision};
