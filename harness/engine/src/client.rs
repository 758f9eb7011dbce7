//! The client: calls a gateway (or, for the direct column, the canary) and keeps every byte.

pub mod answer;
pub mod batch;
pub mod beside;
pub mod claims;
pub mod continuation;
pub mod facade;
pub mod http;
pub mod listening;
pub mod session;
pub mod transcript;

pub use answer::{Answer, Body};
pub use beside::Replies;
pub use claims::Claims;
pub use listening::Listening;
pub use session::{Endpoint, Session};
pub use transcript::{Ending, Transcript};
