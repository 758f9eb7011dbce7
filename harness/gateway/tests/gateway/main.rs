//! The gateway as its clients and upstreams see it. One binary, so that it is linked once.

mod batch;
mod faults;
mod hostile;
mod lifecycle;
mod limits;
mod listing;
mod pairs;
mod stdio;
mod support;
mod third_party;
