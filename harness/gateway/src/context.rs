//! What every part of a running gateway needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use birdstrike_wire::meta::Implementation;

use crate::config::{Config, Limits, Mutator, OutputSchema, Pins};
use crate::identities::Identities;
use crate::log::Log;
use crate::sessions::Sessions;
use crate::sinks::Sinks;
use crate::surfaces::Steps;
use crate::surfaces::resource_links::{Links, Memory};
use crate::surfaces::tasks;
use crate::surfaces::truncation::Budget;

/// Links that are remembered for each identity.
const MAX_LINKS: usize = 10_000;

/// Shared by all tasks of a gateway; does not change while it runs.
pub(crate) struct Context {
    pub(crate) log: Arc<Log>,
    /// Where finished calls are told.
    pub(crate) sinks: Sinks,
    pub(crate) steps: Steps,
    pub(crate) limits: Limits,
    pub(crate) mutators: Vec<Mutator>,
    /// The budget of a batch, with what it keeps to be fetched.
    pub(crate) budget: Option<Budget>,
    /// What the ids of tasks are sealed with.
    pub(crate) task_key: tasks::Key,
    /// What tools are pinned to.
    pub(crate) pins: Option<Pins>,
    /// What is done about a result that its tool's outputSchema does not allow.
    pub(crate) output_schema: OutputSchema,
    /// The clients that shook hands, and all who listen.
    pub(crate) sessions: Sessions,
    /// Who may call.
    pub(crate) identities: Identities,
    /// The links that were handed out.
    pub(crate) links: Links,
    /// Who the gateway is, to both sides.
    pub(crate) me: Implementation,
    /// The same as JSON text.
    pub(crate) me_json: String,
    /// When it started, in nanoseconds: what tells its calls from those of other runs.
    run: i128,
    calls: AtomicU64,
}

impl Context {
    pub(crate) fn new(log: Arc<Log>, sinks: Sinks, steps: &Steps, config: &Config) -> Self {
        let me = Implementation {
            name: "birdstrike-gateway".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        };
        let me_json = me.to_json();
        let run = jiff::Timestamp::now().as_nanosecond();
        Self {
            log,
            sinks,
            steps: *steps,
            limits: config.limits.clone(),
            mutators: config.mutators.clone(),
            budget: config.truncation.map(Budget::new),
            task_key: tasks::Key::new(config.task_key.as_deref()),
            pins: config.pins.clone(),
            output_schema: config.output_schema,
            sessions: Sessions::default(),
            identities: Identities::new(&config.identities),
            links: Links {
                is_namespaced: config.namespace_links.unwrap_or(config.upstreams.len() > 1),
                is_guarded: !config.identities.is_empty(),
                memory: Memory::new(MAX_LINKS),
            },
            me,
            me_json,
            run,
            calls: AtomicU64::new(1),
        }
    }

    /// A list of an upstream has changed: whoever listens is told.
    pub(crate) fn changed(&self, method: &str) {
        if (self.steps.listing.announces)(method) {
            self.sessions.tell_all(method);
        }
    }

    /// A name for one call that no other call has, nor begins with: who looks for it in a text finds
    /// that call alone.
    pub(crate) fn call_id(&self) -> String {
        format!("{:x}-{:08}", self.run, self.calls.fetch_add(1, Ordering::Relaxed))
    }
}
