//! The gateway as its clients and upstreams see it. One binary, so that it is linked once.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::exit,
    reason = "what helps a test fails it, and one helper is a program"
)]

mod batch;
mod beside_faults;
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
mod stdio;
mod support;
mod third_party;
mod transport;
