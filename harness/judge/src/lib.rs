//! The judge of birdstrike: byte-exact comparison, schemas, markers, verdicts. Pure.
pub mod compare;
pub mod fidelity;
pub mod marker;
pub mod number;
pub mod pointer;
pub mod scan;
pub mod schema;
pub mod verdict;
pub use fidelity::Fidelity;
pub use pointer::Pointer;
pub use scan::{Doc, Node};
pub use verdict::{Blame, Level, Verdict};
