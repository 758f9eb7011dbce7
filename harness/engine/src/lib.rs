//! The engine of birdstrike: it plans cells, launches a gateway between client and canary, fires
//! scenarios, lets the judge say what became of every value, and tells all of it as events.

pub mod cell;
pub mod client;
pub mod error;
pub mod event;
pub mod evidence;
pub mod faults;
pub mod gate;
pub mod install;
pub mod launch;
pub mod nonce;
pub mod pairs;
pub mod plan;
pub mod ports;
pub mod record;
pub mod render;
pub mod report;
pub mod runner;
pub mod snapshot;
pub mod template;

pub use error::EngineError;
pub use event::{Event, Reporter};
pub use runner::{Options, run};
