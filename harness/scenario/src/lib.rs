//! Types and parser of every file that people write for birdstrike, and nothing more.
//!
//! Scenarios, profiles, requirements, faults and baselines are YAML, parsed with spans, so that a
//! mistake is shown with its line, a caret and how to mend it ([`Mistake`]). The engine and the
//! build script of the binary both use this crate: the build script checks all files and embeds
//! one [`Catalogue`]; at run time nothing is parsed twice.

pub mod baseline;
pub mod catalogue;
pub mod check;
pub mod fault;
pub mod findings;
pub mod level;
pub mod mistake;
pub mod pairs;
pub mod profile;
pub mod requirement;
pub mod scenario;
pub mod selector;
pub mod surface;
mod word;
mod yaml;

pub use baseline::Baseline;
pub use catalogue::Catalogue;
pub use check::{Check, Expect};
pub use level::Level;
pub use mistake::Mistake;
pub use profile::Profile;
pub use requirement::Requirement;
pub use scenario::Scenario;
pub use selector::Selector;
pub use surface::Surface;
