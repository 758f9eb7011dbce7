//! The gateway as its clients and upstreams see it. One binary, so that it is linked once.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::exit,
    reason = "what helps a test fails it, and one helper is a program"
)]

mod batch;
mod beside_faults;
mod definitions;
mod definitions_and_tasks;
mod facade;
mod faults;
mod hostile;
mod lifecycle;
mod limits;
mod links;
mod links_faults;
mod listing;
mod pairs;
mod shaping;
mod shaping_faults;
mod sink_faults;
mod sinks;
mod stdio;
mod support;
mod tasks;
mod third_party;
mod transport;
