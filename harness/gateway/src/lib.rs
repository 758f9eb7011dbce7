//! A minimal, correct MCP gateway: the reference that birdstrike runs against out of the box.
//!
//! It stands between clients and one or more upstreams, each of which may speak 2025-06-18,
//! 2025-11-25 or 2026-07-28, and shows how little a gateway has to do to a result. One file a
//! [surface](surfaces): read it with a bound, read what it says, return it flat or packed in a
//! batch, leave its error flag alone. Results stay bytes from end to end. What changes or cuts a result, the
//! [mutators](surfaces::mutators) and the [budget of a batch](surfaces::truncation), is off unless
//! the configuration asks for it. [Links](surfaces::resource_links) are led through the gateway where
//! it has several upstreams. What is said [beside the results](surfaces::transport), progress and
//! questions and cancellations, finds the one client or upstream that it is for.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use birdstrike_gateway::{Config, Gateway, Steps};
//!
//! let config = Config::from_file("gateway.yaml")?;
//! let gateway = Gateway::start(config, Steps::RIGHT, Box::new(std::io::stderr())).await?;
//! assert!(gateway.url().ends_with("/mcp"));
//! gateway.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! The [faults] are the counterpart: each replaces one step by a mistake that a gateway could well
//! make, to prove that a check can fail.
//!
//! # Errors of its own
//!
//! | code | cause | meaning |
//! |---|---|---|
//! | -31001 | `unreachable` | no connection, or one that closed before the answer began |
//! | -31002 | `timeout` | no answer within the time limit |
//! | -31003 | `response_too_large` | the answer is larger than the limit |
//! | -31004 | `bad_answer` | the answer breaks a rule that it cannot be read without |
//! | -31005 | `not_started` | the command of a stdio upstream cannot be run |
//! | -31006 | `digest_drift` | a pinned tool is not what it was |
//! | -31007 | `output_schema` | the result does not keep to its tool's outputSchema |
//! | -32021, or -32603 below 2026-07-28 | `task_not_declared` | a task for a client that declared none |
//! | -32603 | `input_not_carried` | a request for input to a client of a handshake revision |
//! | -32602 | `unknown_tool`, `unknown_prompt` | no upstream of that name |
//! | -32602, or -32002 below 2026-07-28 | | no such resource, or none for this caller |
//!
//! Inside a batch the same causes stand as `error_type`, and one more: `skipped`, a call that was not
//! made. The right gateway makes every call.
//!
//! Each has `data` with `cause`, and where they are known `upstream`, `limit_bytes`, `timeout_ms`.

mod aside;
mod client;
mod config;
mod context;
mod downstream;
mod failure;
pub mod faults;
mod gateway;
mod identities;
mod log;
mod pipeline;
mod routes;
mod sessions;
mod sinks;
mod spelled;
pub mod surfaces;
mod trace;
mod upstream;

pub use config::{
    AlertsConfig, AuditConfig, AuditFormat, AuditTarget, Config, ConfigError, EventsConfig, Limits,
    LogConfig, Mutator, OtlpProtocol, OutputSchema, PinMode, Pins, RedactionConfig, Target,
    TelemetryConfig, Truncation, UpstreamConfig,
};
pub use failure::{Cause, Failure};
pub use gateway::{Gateway, StartError};
pub use identities::Identity;
pub use surfaces::Steps;
