//! Reporters: each consumes events and nothing else.

pub mod collect;
pub mod inventory;
pub mod json;
pub mod terminal;
mod wrap;

pub use collect::Collector;
pub use wrap::tame;
