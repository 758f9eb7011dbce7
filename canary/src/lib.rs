//! The canary: an MCP upstream that answers with known, marked results and journals every byte.
//!
//! A gateway under test is pointed at a [`Canary`]. Before a call is fired, a [`Plan`] is made for
//! its nonce: what to answer, and how. The call carries the nonce as an argument through the
//! gateway, which selects the plan and finds the [`Exchange`] again in the [`Journal`]. A call
//! without a plan is answered by the [family](Family) of its tool.
//!
//! It speaks every revision that birdstrike knows, over Streamable HTTP and over stdio. On its own
//! leg it is lenient: it [notes](Note) the rules that a gateway breaks and serves all the same.
//!
//! ```
//! use birdstrike_canary::{Answer, Canary, Config, Plan};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let canary = Canary::start(Config::default()).await?;
//! let body = r#"{"content":[{"type":"text","text":"marked"}]}"#.to_owned();
//! canary.script().plan("nonce-1", Plan::new(Answer::Rendered { member: "result", body }));
//! // ... a call with {"nonce": "nonce-1"} goes through a gateway to canary.url("main") ...
//! assert!(canary.journal().take("nonce-1").is_empty(), "nothing called yet");
//! canary.stop().await;
//! # Ok::<(), birdstrike_canary::StartError>(())
//! # }).map_err(std::io::Error::other)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod bridge;
mod builtin;
mod canary;
mod config;
mod dispatch;
mod emit;
mod exchange;
mod families;
mod headers;
mod http;
mod in_flight;
mod journal;
mod lifecycle;
mod listeners;
mod message;
mod notes;
mod pieces;
mod plan;
mod prompts;
mod reception;
mod replays;
mod replies;
mod request;
mod resources;
mod script;
mod sessions;
mod shared;
mod sse;
mod stages;
mod stdio;
mod tasks;
mod toolset;
mod upstream;

pub use bridge::bridge;
pub use canary::{Canary, StartError, SwapError};
pub use config::{Config, Cursors, Limits, ToolSpec, UpstreamSpec};
pub use exchange::{Answered, Exchange, Transport};
pub use families::{Family, builtin_tools};
pub use headers::Headers;
pub use journal::{Journal, KEPT_CALLS, KEPT_OTHERS};
pub use notes::Note;
pub use plan::{
    Answer, Delivery, Encoding, Ending, FILL, Framing, ID, LARGEST, LineEnd, Oversized, Plan,
    Resumable, SseStyle, TOKEN,
};
pub use prompts::{PromptMessage, PromptSpec};
pub use replies::Replied;
pub use resources::{Contents, ResourceSpec};
pub use script::Script;
pub use stdio::serve_stdio;
pub use tasks::{TaskEnd, TaskForm, TaskPlan};
