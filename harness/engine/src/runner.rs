//! The runner: launches, their cells side by side, every outcome an event.
//!
//! A profile may allow several launches at once. Whatever runs beside what, events come launch by
//! launch in the order of the plan: those of the first unfinished launch as they happen, those of
//! later ones once it is their turn.

mod abreast;
mod across;
mod shift;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use birdstrike_judge::{Fidelity, Verdict};
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::{Catalogue, Scenario, Selector};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use crate::cell;
use crate::error::EngineError;
use crate::event::Event;
use crate::launch::Ground;
use crate::plan::{self, LaunchPlan, Selection};
use crate::record::{CheckRecord, Environment, Gateway, Tool, Totals};

/// Everything that a run needs to know.
#[derive(Clone, Debug)]
pub struct Options {
    /// What people wrote.
    pub catalogue: Arc<Catalogue>,
    /// SHA-256 over the scenarios, in hex.
    pub scenario_set: String,
    /// The gateway.
    pub profile: Arc<ShippedProfile>,
    /// The gateway as the report names it.
    pub gateway: Gateway,
    /// Which cells run.
    pub matrix: Matrix,
    /// What of them is wanted.
    pub selection: Selection,
    /// Cells run side by side in a launch; the profile's own number unless given.
    pub jobs: Option<usize>,
    /// Whether every scenario is fired without the gateway too. Only a run that compares the gateway
    /// with itself, on a canary just proven, can do without.
    pub direct: bool,
    /// What launches share.
    pub ground: Ground,
}

/// Launches under way: each with its place in the plan, what was fired, and how it ended.
type Work = JoinSet<(usize, Totals, Result<(), EngineError>)>;

/// Takes events as they happen.
pub type Sink<'a> = dyn FnMut(&Event) + 'a;

/// Runs everything. Whatever happens, the last event is [`Event::RunFinished`].
///
/// # Errors
/// What ended the run before its plan did; the events up to there have been given.
pub async fn run(options: &Options, sink: &mut Sink<'_>) -> Result<(), EngineError> {
    run_until(options, sink, std::future::pending()).await
}

/// Runs everything unless it is told to stop; then all that runs is ended at once, and the last
/// event tells of it.
///
/// # Errors
/// As [`run`]; being stopped is one.
pub async fn run_until(
    options: &Options,
    sink: &mut Sink<'_>,
    stopped: impl Future<Output = ()>,
) -> Result<(), EngineError> {
    let started = Instant::now();
    let began = jiff::Timestamp::now().to_string();
    let mut totals = Totals::default();
    // Launches run as tasks of their own, as one thread is not enough for the judging of several.
    let mut work = JoinSet::new();
    let result = tokio::select! {
        result = all(options, &mut totals, &mut work, sink) => result,
        () = stopped => Err(EngineError::Harness("interrupted".into())),
    };
    // What is ended has ended its gateways too.
    work.shutdown().await;
    let selected = options.selection.checks.iter().map(|s| s.as_str().to_owned()).collect();
    let environment = Environment {
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        started: began,
        took_ms: started.elapsed().as_millis() as u64,
        matrix: match options.matrix {
            Matrix::Core => "core".into(),
            Matrix::Full => "full".into(),
        },
        selected,
        deadline_ms: options.ground.deadline.as_millis() as u64,
    };
    let broken = result.as_ref().err().map(ToString::to_string);
    sink(&Event::RunFinished { totals, environment, broken });
    result
}

async fn all(
    options: &Options,
    totals: &mut Totals,
    work: &mut Work,
    sink: &mut Sink<'_>,
) -> Result<(), EngineError> {
    let with_rows = crate::pairs::with_rows(options);
    let options = with_rows.as_ref().unwrap_or(options);
    let (catalogue, profile) = (&options.catalogue, &options.profile.profile);
    let plan = plan::plan(catalogue, profile, options.matrix, &options.selection);
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let name = "birdstrike".to_owned();
    let tool = Tool { name, version, scenario_set: options.scenario_set.clone() };
    sink(&Event::RunStarted { tool, cells: plan.cells() });
    for untested in plan.untested {
        sink(&Event::Untested(untested));
    }
    for (scenario, why) in &plan.not_applicable {
        for record in not_applicable(&catalogue.scenarios[*scenario], why) {
            if is_wanted(options, &record.id) {
                sink(&Event::Checked(Box::new(record)));
            }
        }
    }
    launches(options, plan.launches, totals, work, sink).await
}

/// Runs the launches, as many at once as the profile allows, and passes their events on in order.
async fn launches(
    options: &Options,
    plans: Vec<LaunchPlan>,
    totals: &mut Totals,
    work: &mut Work,
    sink: &mut Sink<'_>,
) -> Result<(), EngineError> {
    // A gateway that runs already knows one address of the canary: one launch can have it.
    let alone = options.ground.running.is_some();
    let at_once = if alone { 1 } else { options.profile.profile.launches_at_once.max(1) };
    let given_up = Arc::new(AtomicBool::new(false));
    let permits = Arc::new(Semaphore::new(at_once));
    let (senders, receivers): (Vec<_>, Vec<_>) = plans.iter().map(|_| unbounded_channel()).unzip();
    let begin = async {
        for (at, (plan, sender)) in plans.into_iter().zip(senders).enumerate() {
            // In the order of the plan. Nobody closes the semaphore.
            let permit = permits.clone().acquire_owned().await;
            let (options, given_up) = (options.clone(), given_up.clone());
            work.spawn(async move {
                let _permit = permit;
                let (totals, ended) = shift(&options, plan, sender, &given_up).await;
                (at, totals, ended)
            });
        }
    };
    let pass_on = async {
        for mut receiver in receivers {
            while let Some(event) = receiver.recv().await {
                totals.checks += u64::from(matches!(event, Event::Checked(_)));
                sink(&event);
            }
        }
    };
    futures_util::future::join(begin, pass_on).await;
    let mut done = Vec::new();
    while let Some(ended) = work.join_next().await {
        let ended = ended.map_err(|error| EngineError::Harness(format!("a launch ended: {error}")));
        done.push(ended?);
    }
    done.sort_by_key(|(at, ..)| *at);
    let mut result = Ok(());
    for (_, shift, ended) in done {
        totals.add(&shift);
        result = result.and(ended);
    }
    result
}

/// One launch from start to stop. Once a gateway could not be brought up, no further launch is
/// tried: it would fail the same way and take its time for it.
async fn shift(
    options: &Options,
    plan: LaunchPlan,
    sender: UnboundedSender<Event>,
    given_up: &AtomicBool,
) -> (Totals, Result<(), EngineError>) {
    let mut shift = shift::Shift::new(options, sender);
    if given_up.load(Ordering::Relaxed) {
        shift.never_run(&plan, "an earlier launch could not be brought up");
        return (shift.totals, Ok(()));
    }
    let result = shift.run(&plan).await;
    if let Err(error) = &result {
        given_up.store(true, Ordering::Relaxed);
        let title = error.to_string().lines().next().unwrap_or_default().to_owned();
        shift.never_run(&plan, &title);
    }
    (shift.totals, result)
}

fn is_wanted(options: &Options, id: &str) -> bool {
    let selectors = &options.selection.checks;
    selectors.is_empty() || selectors.iter().any(|selector: &Selector| selector.picks(id))
}

fn not_applicable(scenario: &Scenario, why: &str) -> Vec<CheckRecord> {
    let record = |check: &birdstrike_scenario::Check| CheckRecord {
        id: scenario.check_id(&check.name),
        surface: scenario.surface,
        launch: String::new(),
        route: String::new(),
        revision: String::new(),
        encoding: String::new(),
        verdict: Verdict::NotApplicable,
        fidelity: None,
        blame: None,
        level: cell::level(check.level),
        requirements: check.requirements.clone(),
        message: why.to_owned(),
        written: format!("{}:{}", scenario.file, check.line),
        combined: None,
        evidence: None,
    };
    scenario.checks.iter().map(record).collect()
}

/// Whether a value that had this fate is still what the upstream sent.
pub(crate) fn is_whole(fidelity: Fidelity) -> bool {
    matches!(fidelity, Fidelity::Intact | Fidelity::Declared)
}
