//! A hostile gateway: whatever it does, the run goes on, the verdict says what happened, memory
//! stays bounded and nothing hangs past its deadline.

#![expect(clippy::unwrap_used, clippy::panic, clippy::exit, reason = "tests may end so")]

mod answers;
mod bounds;
mod misdeed;
mod processes;
mod server;
mod support;
