//! Events: the only place where runner and reporters meet.

use crate::record::{
    CheckRecord, Environment, Gateway, Observation, Tool, Totals, Untested, Watched,
};

/// Something that happened in a run, in the order in which it happened. Checks of one scenario
/// come in a stable order whatever ran beside them.
#[derive(Clone, Debug)]
pub enum Event {
    /// The run begins.
    RunStarted {
        /// The program.
        tool: Tool,
        /// How many cells are planned.
        cells: usize,
    },
    /// A gateway is started.
    LaunchStarted {
        /// The launch's name.
        launch: String,
    },
    /// It is ready, and said who it is.
    LaunchReady {
        /// The launch's name.
        launch: String,
        /// The gateway, as far as known.
        gateway: Gateway,
        /// Milliseconds from start to ready.
        took_ms: u64,
    },
    /// The gateway was started anew after a cell that it did not survive.
    Restarted {
        /// The launch's name.
        launch: String,
        /// The cell's scenario, route and revision.
        after: String,
    },
    /// A cell was run and judged.
    CellFinished {
        /// The scenario.
        scenario: String,
        /// The route, revision and encoding.
        cell: String,
        /// Of a row of pairs: what it combines.
        row: Option<String>,
        /// What the client received, step by step, with nonces erased.
        received: Vec<(String, String)>,
    },
    /// One check was judged.
    Checked(Box<CheckRecord>),
    /// Something was measured.
    Observed(Observation),
    /// Something was not tested.
    Untested(Untested),
    /// A launch ends: what its ports have seen.
    Watched(Vec<Watched>),
    /// The run is over; always the last event, also of a run that broke.
    RunFinished {
        /// What was fired.
        totals: Totals,
        /// Machine and choices.
        environment: Environment,
        /// Why the run ended before its plan did.
        broken: Option<String>,
    },
}

/// Something that consumes events. Reporters never talk back to the runner.
pub trait Reporter {
    /// Takes one event.
    fn take(&mut self, event: &Event);
}
