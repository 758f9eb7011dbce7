//! The canary: an MCP upstream that answers with known, marked results and journals every byte.
