//! The command line through its binary: what it prints, where, and with which exit code.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests may end so")]

mod baseline;
mod exits;
mod help;
mod inventory;
mod live;
mod looks;
mod own;
mod pairs;
mod reports;
mod review;
mod support;
