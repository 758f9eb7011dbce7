//! The judge of birdstrike: byte-exact comparison, schemas, markers, verdicts. Pure.
pub mod fidelity;
pub mod number;
pub mod pointer;
pub mod scan;
pub mod verdict;
pub use fidelity::Fidelity;
pub use pointer::Pointer;
pub use scan::{Doc, Node};
pub use verdict::{Blame, Level, Verdict};
