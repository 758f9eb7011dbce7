//! What every part of a running gateway needs.

use birdstrike_wire::meta::Implementation;

use crate::config::Limits;
use crate::log::Log;
use crate::surfaces::Steps;

/// Shared by all tasks of a gateway; does not change while it runs.
pub(crate) struct Context {
    pub(crate) log: Log,
    pub(crate) steps: Steps,
    pub(crate) limits: Limits,
    /// Who the gateway is, to both sides.
    pub(crate) me: Implementation,
    /// The same as JSON text.
    pub(crate) me_json: String,
}

impl Context {
    pub(crate) fn new(log: Log, steps: &Steps, limits: Limits) -> Self {
        let me = Implementation {
            name: "birdstrike-gateway".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        };
        let me_json = me.to_json();
        Self { log, steps: *steps, limits, me, me_json }
    }
}
