//! The canary as its clients see it: raw HTTP, stdio, and an MCP client written by others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like the tests themselves"
)]

mod beside;
mod families;
mod framing;
mod hostile;
mod journal;
mod listing;
mod odd;
mod prompts;
mod resources;
mod resume;
mod revisions;
mod rmcp;
mod stdio;
mod support;
mod tasks;
