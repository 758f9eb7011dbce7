//! The canary as its clients see it: raw HTTP, stdio, and an MCP client written by others.

mod families;
mod framing;
mod hostile;
mod journal;
mod odd;
mod revisions;
mod rmcp;
mod stdio;
mod support;
