//! The runner: launches one after another, their cells side by side, every outcome an event.

mod across;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use birdstrike_judge::{Fidelity, Level, Verdict};
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::{Catalogue, Scenario, Selector};
use futures_util::StreamExt;

use crate::cell::{self, Outcome};
use crate::error::EngineError;
use crate::event::Event;
use crate::launch::{self, DIRECT, Ground, Launch};
use crate::plan::{self, Cell, LaunchPlan, Selection};
use crate::record::{CheckRecord, Environment, Gateway, Tool, Totals, Untested};

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
    /// Cells run side by side; the profile's own number unless given.
    pub jobs: Option<usize>,
    /// What launches share.
    pub ground: Ground,
}

/// Takes events as they happen.
pub type Sink<'a> = dyn FnMut(&Event) + 'a;

/// Runs everything. Whatever happens, the last event is [`Event::RunFinished`].
///
/// # Errors
/// What ended the run before its plan did; the events up to there have been given.
pub async fn run(options: &Options, sink: &mut Sink<'_>) -> Result<(), EngineError> {
    let started = Instant::now();
    let began = jiff::Timestamp::now().to_string();
    let mut runner = Runner { options, totals: Totals::default(), sink };
    let result = runner.all().await;
    let totals = runner.totals;
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
    (runner.sink)(&Event::RunFinished { totals, environment, broken });
    result
}

struct Runner<'a, 'b> {
    options: &'a Options,
    totals: Totals,
    sink: &'a mut Sink<'b>,
}

impl Runner<'_, '_> {
    async fn all(&mut self) -> Result<(), EngineError> {
        let options = self.options;
        let (catalogue, profile) = (&options.catalogue, &options.profile.profile);
        let plan = plan::plan(catalogue, profile, options.matrix, &options.selection);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let tool =
            Tool { name: "birdstrike".into(), version, scenario_set: options.scenario_set.clone() };
        (self.sink)(&Event::RunStarted { tool, cells: plan.cells() });
        for untested in plan.untested {
            (self.sink)(&Event::Untested(untested));
        }
        for (scenario, why) in &plan.not_applicable {
            self.not_applicable(&catalogue.scenarios[*scenario], why);
        }
        let mut launches = plan.launches.into_iter();
        while let Some(launch) = launches.next() {
            if let Err(error) = self.launch(&launch).await {
                let rest = std::iter::once(launch).chain(launches);
                rest.for_each(|launch| self.never_run(&launch, &error));
                return Err(error);
            }
        }
        Ok(())
    }

    async fn launch(&mut self, plan: &LaunchPlan) -> Result<(), EngineError> {
        let options = self.options;
        let name = launch::name(plan);
        (self.sink)(&Event::LaunchStarted { launch: name.clone() });
        let from = Instant::now();
        self.totals.launches += 1;
        let started =
            Launch::start(&options.catalogue, &options.profile, plan, &options.ground).await;
        let mut launch = started?;
        let took_ms = from.elapsed().as_millis() as u64;
        let gateway = Gateway { version: launch.version.clone(), ..options.gateway.clone() };
        (self.sink)(&Event::LaunchReady { launch: name, gateway, took_ms });
        if launch.upstream != plan.upstream {
            // A gateway that runs already speaks with its upstream as it likes.
            self.other_upstream(&launch, plan);
            launch.stop().await;
            return Ok(());
        }
        self.direct_column(&launch, plan).await;
        let done = self.cells(&mut launch, plan).await;
        launch.stop().await;
        done
    }

    /// The same calls without a gateway: every expectation about what came back must hold here, or
    /// the fault is ours.
    async fn direct_column(&mut self, launch: &Launch, plan: &LaunchPlan) {
        let mut seen = HashSet::new();
        let scenarios = &self.options.catalogue.scenarios;
        let fresh = plan.cells.iter().filter(|cell| seen.insert((cell.scenario, cell.encoding)));
        let direct = fresh.map(|cell| Cell {
            route: DIRECT.to_owned(),
            revision: plan.upstream,
            ..cell.clone()
        });
        let direct: Vec<Cell> =
            direct.filter(|cell| !scenarios[cell.scenario].direct_broken).collect();
        let runs = direct.iter().map(|cell| cell::run(launch, &scenarios[cell.scenario], cell));
        let mut runs = futures_util::stream::iter(runs).buffered(8);
        while let Some(outcome) = runs.next().await {
            self.totals.direct_calls += outcome.calls;
            for record in outcome.records {
                if record.verdict != Verdict::Pass {
                    self.checked(record);
                }
            }
        }
    }

    async fn cells(&mut self, launch: &mut Launch, plan: &LaunchPlan) -> Result<(), EngineError> {
        let scenarios = &self.options.catalogue.scenarios;
        let jobs = self.options.jobs.unwrap_or(launch.profile().concurrency).max(1);
        let mut across = across::Across::default();
        let launch_name = &launch.name.clone();
        let mut at = 0;
        while at < plan.cells.len() {
            let harmful = |cell: &Cell| scenarios[cell.scenario].harmful;
            let rest = &plan.cells[at..];
            let side_by_side = rest.iter().take_while(|cell| !harmful(cell)).count();
            let (count, jobs) = if side_by_side > 0 { (side_by_side, jobs) } else { (1, 1) };
            let shared = &*launch;
            let runs = rest[..count].iter().map(|cell| async move {
                (cell, cell::run(shared, &scenarios[cell.scenario], cell).await)
            });
            let mut runs = futures_util::stream::iter(runs).buffered(jobs);
            let mut unwell = None;
            while let Some((cell, outcome)) = runs.next().await {
                at += 1;
                let doubt = outcome.suspicious || harmful(cell);
                across.add(cell, &outcome);
                self.outcome(launch_name, cell, outcome);
                if doubt {
                    unwell = Some(cell);
                    break;
                }
            }
            // Dropping the stream cancels what is under way; those cells are still in the plan.
            drop(runs);
            if let Some(cell) = unwell {
                self.look_after(launch, cell).await?;
            }
        }
        for record in across.judge(scenarios, launch) {
            self.checked(record);
        }
        Ok(())
    }

    /// After a cell that left the gateway in doubt: fire the known-good call; if that fails too,
    /// start the gateway anew. Only this cell is blamed, the others run on a healthy gateway.
    async fn look_after(&mut self, launch: &mut Launch, cell: &Cell) -> Result<(), EngineError> {
        let route = cell.route.clone();
        if launch.known_good(&route, launch.preferred()).await.is_ok() {
            return Ok(());
        }
        let scenario = &self.options.catalogue.scenarios[cell.scenario];
        let after = format!("{} on {} at {}", scenario.id, cell.route, cell.revision);
        (self.sink)(&Event::Restarted { launch: launch.name.clone(), after });
        launch.restart().await
    }

    fn outcome(&mut self, launch: &str, cell: &Cell, outcome: Outcome) {
        let scenario = &self.options.catalogue.scenarios[cell.scenario];
        self.totals.cells += 1;
        self.totals.calls += outcome.calls;
        self.totals.deadlines += outcome.deadlines;
        for record in outcome.records {
            self.checked(record);
        }
        for untested in outcome.untested {
            (self.sink)(&Event::Untested(untested));
        }
        for observation in outcome.observations {
            (self.sink)(&Event::Observed(observation));
        }
        let encoding = plan::encoding_word(cell.encoding);
        (self.sink)(&Event::CellFinished {
            scenario: scenario.id.clone(),
            cell: format!("{launch} {} {} {encoding}", cell.route, cell.revision),
            received: outcome.received,
        });
    }

    fn checked(&mut self, record: CheckRecord) {
        let selectors = &self.options.selection.checks;
        let picks = |selector: &Selector| selector.picks(&record.id);
        if selectors.is_empty() || selectors.iter().any(picks) {
            self.totals.checks += 1;
            (self.sink)(&Event::Checked(Box::new(record)));
        }
    }

    fn not_applicable(&mut self, scenario: &Scenario, why: &str) {
        for check in &scenario.checks {
            self.checked(CheckRecord {
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
                evidence: None,
            });
        }
    }

    fn other_upstream(&mut self, launch: &Launch, plan: &LaunchPlan) {
        for cell in &plan.cells {
            let scenario = &self.options.catalogue.scenarios[cell.scenario];
            (self.sink)(&Event::Untested(Untested {
                surface: scenario.surface,
                what: format!("{} on {}", scenario.id, cell.route),
                reason: format!(
                    "it needs an upstream of {}, the gateway speaks {} with its upstream",
                    plan.upstream, launch.upstream
                ),
                unlock: "a profile, so that birdstrike starts the gateway itself".into(),
            }));
        }
    }

    fn never_run(&mut self, launch: &LaunchPlan, error: &EngineError) {
        let mut seen = HashSet::new();
        let title = error.to_string().lines().next().unwrap_or_default().to_owned();
        for cell in &launch.cells {
            let scenario = &self.options.catalogue.scenarios[cell.scenario];
            if seen.insert(cell.scenario) {
                (self.sink)(&Event::Untested(Untested {
                    surface: scenario.surface,
                    what: format!("{} under launch {}", scenario.id, launch::name(launch)),
                    reason: format!("the run ended before it: {title}"),
                    unlock: "mend what ended the run".into(),
                }));
            }
        }
    }
}

/// The worst verdict counts for a scenario's headline.
pub fn is_broken(record: &CheckRecord, require: Level) -> bool {
    match record.verdict {
        Verdict::Fail => true,
        Verdict::Warn => record.level <= require,
        _ => false,
    }
}

/// Whether a value that had this fate is still what the upstream sent.
pub(crate) fn is_whole(fidelity: Fidelity) -> bool {
    matches!(fidelity, Fidelity::Intact | Fidelity::Declared)
}
