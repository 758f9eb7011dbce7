//! One launch: start, direct column, cells, stop.

use std::collections::HashSet;
use std::time::Instant;

use birdstrike_canary::Encoding;
use birdstrike_judge::Verdict;
use birdstrike_scenario::Scenario;
use birdstrike_scenario::pairs::Origin;
use birdstrike_scenario::scenario::Step;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::mpsc::UnboundedSender;

use super::abreast::{abreast, one, scenario_of, side_by_side};
use super::across::Across;
use super::{Options, is_wanted};
use crate::cell::{self, Hold, Outcome};
use crate::error::EngineError;
use crate::event::Event;
use crate::launch::{self, DIRECT, Launch};
use crate::pairs::{Broken, Shrink, is_broken};
use crate::plan::{Cell, LaunchPlan, Transport, encoding_word};
use crate::record::{CheckRecord, Gateway, Totals, Untested};

/// Calls of the direct column that run side by side.
const DIRECT_JOBS: usize = 8;

/// How a gateway is found after a cell that left it in doubt.
#[derive(Debug, PartialEq, Eq)]
enum Health {
    /// It serves the known-good call.
    Well,
    /// It did not, and does now that it was started anew.
    Restarted,
    /// It does not serve the known-good call even then; why.
    Mute(String),
}

/// The work on one launch.
pub(super) struct Shift<'a> {
    options: &'a Options,
    sender: UnboundedSender<Event>,
    /// Scenarios of which a cell was judged.
    judged: HashSet<usize>,
    /// What was fired without the gateway under this launch.
    fired_direct: HashSet<(usize, Encoding)>,
    /// Cells on which a check does not hold, and which were not fired without the gateway as they
    /// are.
    doubtful: Vec<Cell>,
    /// Rows of pairs on which a check does not hold, to be made small at the end of the launch.
    broken: Vec<Broken>,
    /// What was fired.
    pub(super) totals: Totals,
}

impl<'a> Shift<'a> {
    pub(super) fn new(options: &'a Options, sender: UnboundedSender<Event>) -> Self {
        Self {
            options,
            sender,
            judged: HashSet::new(),
            fired_direct: HashSet::new(),
            doubtful: Vec::new(),
            broken: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// When the gateway does not start, or does not come back after a restart.
    pub(super) async fn run(&mut self, plan: &LaunchPlan) -> Result<(), EngineError> {
        let options = self.options;
        let name = launch::name(plan);
        if options.ground.running.is_some() && plan.transport == Transport::Stdio {
            let why = "how a gateway that runs already reaches its upstream is not ours to choose";
            self.out_of_hand(plan, why);
            return Ok(());
        }
        self.tell(Event::LaunchStarted { launch: name.clone() });
        let from = Instant::now();
        self.totals.launches += 1;
        let started =
            Launch::start(&options.catalogue, &options.profile, plan, &options.ground).await;
        let mut launch = started?;
        let took_ms = from.elapsed().as_millis() as u64;
        let gateway = Gateway { version: launch.version.clone(), ..options.gateway.clone() };
        self.tell(Event::LaunchReady { launch: name, gateway, took_ms });
        let done = if launch.upstream == plan.upstream {
            if self.options.direct {
                self.direct_column(&launch, plan).await;
            }
            self.cells(&mut launch, plan).await
        } else {
            let (needed, spoken) = (plan.upstream, launch.upstream);
            let why = format!(
                "it needs an upstream of {needed}, the gateway speaks {spoken} with its upstream"
            );
            self.out_of_hand(plan, &why);
            Ok(())
        };
        let watched = launch.stop().await;
        if !watched.is_empty() {
            self.tell(Event::Watched(watched));
        }
        done
    }

    /// The same calls without a gateway: every expectation about what came back must hold here, or
    /// the fault is ours. Each scenario once, in the encoding of its first cell; what breaks in
    /// another one is fired again in that, once it has broken.
    async fn direct_column(&mut self, launch: &Launch, plan: &LaunchPlan) {
        let mut seen = HashSet::new();
        let fresh = plan.cells.iter().filter(|cell| seen.insert(cell.scenario));
        let fresh = fresh.cloned().collect();
        self.direct(launch, fresh).await;
    }

    /// Fires cells at the canary.
    async fn direct(&mut self, launch: &Launch, cells: Vec<Cell>) {
        let scenarios = &self.options.catalogue.scenarios;
        let direct = cells.into_iter().map(|cell| {
            let revision = launch.upstream;
            Cell { route: DIRECT.to_owned(), revision, ..cell }
        });
        // What an upstream does by itself is done while nothing else runs.
        let alone = |scenario: &Scenario| scenario.steps.iter().any(Step::wants_to_be_alone);
        let fired = |cell: &Cell| {
            let scenario = &scenarios[cell.scenario];
            !scenario.direct_broken && !alone(scenario)
        };
        let direct: Vec<Cell> = direct.filter(fired).collect();
        self.fired_direct.extend(direct.iter().map(|cell| (cell.scenario, cell.encoding)));
        let mut runs = Vec::new();
        for cell in &direct {
            let scenario = scenario_of(scenarios, cell);
            runs.push(cell::run(Hold::Shared(launch), scenario, cell).boxed());
        }
        let mut runs = abreast(runs, DIRECT_JOBS);
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
        let mut across = Across::default();
        let name = launch.name.clone();
        let mut cells: Vec<&Cell> = plan.cells.iter().collect();
        let mut at = 0;
        let mut again = None;
        while at < cells.len() {
            let harmful = |cell: &Cell| scenario_of(scenarios, cell).wants_to_be_alone();
            let rest = &cells[at..];
            let harmless = rest.iter().take_while(|cell| !harmful(cell)).count();
            // What ran beside the cell that ended a gateway looks as bad as that cell: a cell that
            // runs again runs alone.
            let alone = harmless <= 1 || again == Some(at);
            let (count, jobs) = if alone { (1, 1) } else { (harmless, jobs) };
            let mut runs = if alone {
                one(launch, scenarios, rest[0])
            } else {
                side_by_side(launch, scenarios, &rest[..count], jobs)
            };
            let mut unwell = None;
            while let Some((cell, outcome)) = runs.next().await {
                let in_company = outcome.suspicious && jobs > 1;
                if (outcome.unreached || in_company) && again != Some(at) {
                    unwell = Some((cell, Some(outcome)));
                    break;
                }
                at += 1;
                let doubt = outcome.suspicious || harmful(cell);
                across.add(cell, &outcome);
                self.outcome(&name, cell, outcome);
                if doubt {
                    unwell = Some((cell, None));
                    break;
                }
            }
            // Dropping the stream cancels what is under way; those cells are still in the plan.
            drop(runs);
            let Some((cell, open)) = unwell else {
                continue;
            };
            if scenario_of(scenarios, cell).steps.iter().any(|s| matches!(s, Step::Canary(_))) {
                // The gateway may remember what the upstream told it meanwhile.
                launch.restart().await?;
            }
            let health = self.look_after(launch, cell).await?;
            match open {
                // It suffered from another cell: this one runs again, once, on a healthy gateway.
                Some(_) if health == Health::Restarted => again = Some(at),
                // The gateway does this to this very call: so be it.
                Some(outcome) => {
                    at += 1;
                    across.add(cell, &outcome);
                    self.outcome(&name, cell, outcome);
                }
                None => {}
            }
            if let Health::Mute(why) = health {
                self.give_up(&mut cells, at, &cell.route, &why);
            }
        }
        self.conclude(across, launch).await;
        Ok(())
    }

    /// After a cell that left the gateway in doubt: fire the known-good call; if that fails too,
    /// start the gateway anew. Only this cell is blamed, the others run on a healthy gateway.
    async fn look_after(
        &mut self,
        launch: &mut Launch,
        cell: &Cell,
    ) -> Result<Health, EngineError> {
        let revision = launch.preferred();
        if launch.known_good(&cell.route, revision).await.is_ok() {
            return Ok(Health::Well);
        }
        let scenario = &self.options.catalogue.scenarios[cell.scenario];
        let after = format!("{} on {} at {}", scenario.id, cell.route, cell.revision);
        self.tell(Event::Restarted { launch: launch.name.clone(), after });
        launch.restart().await?;
        let mut tried = launch.known_good(&cell.route, revision).await;
        if tried.is_err() {
            // The first call after a start may come too early.
            tried = launch.known_good(&cell.route, revision).await;
        }
        Ok(tried.map_or_else(Health::Mute, |_| Health::Restarted))
    }

    /// Leaves out what is still planned on a route: every cell would cost a start and two deadlines
    /// and tell the same.
    fn give_up(&self, cells: &mut Vec<&Cell>, from: usize, route: &str, why: &str) {
        let mut told = HashSet::new();
        for cell in cells.split_off(from) {
            if cell.route != route {
                cells.push(cell);
                continue;
            }
            if !self.is_new(cell, &mut told) {
                continue;
            }
            let scenario = self.scenario(cell);
            let encoding = encoding_word(cell.encoding);
            self.tell(Event::Untested(Untested {
                surface: scenario.surface,
                what: format!("{} on {route} at {} ({encoding})", scenario.id, cell.revision),
                reason: format!(
                    "even freshly started, the gateway serves no plain call on route {route}: {why}"
                ),
                unlock: "a gateway that brings a call to its upstream and its result back".into(),
            }));
        }
    }

    fn outcome(&mut self, launch: &str, cell: &Cell, outcome: Outcome) {
        let scenario = &self.options.catalogue.scenarios[cell.scenario];
        self.judged.insert(cell.scenario);
        self.totals.cells += 1;
        self.totals.calls += outcome.calls;
        self.totals.deadlines += outcome.deadlines;
        let fails = |record: &CheckRecord| matches!(record.verdict, Verdict::Fail | Verdict::Warn);
        if self.options.direct && outcome.records.iter().any(fails) {
            let fresh = self.fired_direct.insert((cell.scenario, cell.encoding));
            self.doubtful.extend(fresh.then(|| cell.clone()));
        }
        for record in outcome.records {
            match &scenario.origin {
                // Nobody reads the findings of a run without a direct column; and a gateway that
                // answered nothing at all would cost a deadline for every try.
                Origin::Row { row, .. }
                    if self.options.direct && !outcome.suspicious && is_broken(&record) =>
                {
                    let (cell, row) = (cell.clone(), row.clone());
                    self.broken.push(Broken { cell, row, record });
                }
                _ => self.checked(record),
            }
        }
        for untested in outcome.untested {
            self.tell(Event::Untested(untested));
        }
        for observation in outcome.observations {
            self.tell(Event::Observed(observation));
        }
        let encoding = encoding_word(cell.encoding);
        self.tell(Event::CellFinished {
            scenario: scenario.id.clone(),
            cell: format!("{launch} {} {} {encoding}", cell.route, cell.revision),
            row: crate::pairs::combined(scenario).map(|combined| combined.values),
            received: outcome.received,
        });
    }

    /// Tells what shows once all cells of a launch are there: values across routes, and the broken
    /// rows of pairs, made small.
    async fn conclude(&mut self, across: Across, launch: &Launch) {
        for record in across.judge(&self.options.catalogue.scenarios, launch) {
            self.checked(record);
        }
        let doubtful = std::mem::take(&mut self.doubtful);
        self.direct(launch, doubtful).await;
        let broken = std::mem::take(&mut self.broken);
        let Some(mut shrink) = Shrink::new(self.options, launch) else { return };
        for broken in broken {
            let record = shrink.shrunk(broken).await;
            self.checked(record);
        }
        self.totals.add(&shrink.totals);
    }

    fn checked(&self, record: CheckRecord) {
        if is_wanted(self.options, &record.id) {
            self.tell(Event::Checked(Box::new(record)));
        }
    }

    fn tell(&self, event: Event) {
        // Nobody listens any more only when the run is being dropped.
        let _ = self.sender.send(event);
    }

    /// Tells the cells of a launch that a gateway which runs already cannot be brought to.
    fn out_of_hand(&self, plan: &LaunchPlan, why: &str) {
        let mut told = HashSet::new();
        for cell in plan.cells.iter().filter(|cell| self.is_new(cell, &mut told)) {
            let scenario = self.scenario(cell);
            self.tell(Event::Untested(Untested {
                surface: scenario.surface,
                what: format!("{} on {}", scenario.id, cell.route),
                reason: why.to_owned(),
                unlock: "a profile, so that birdstrike starts the gateway itself".into(),
            }));
        }
    }

    /// Tells the scenarios that a launch did not come to before its end.
    pub(super) fn never_run(&self, plan: &LaunchPlan, why: &str) {
        let (mut seen, mut told) = (self.judged.clone(), HashSet::new());
        let cells = plan.cells.iter().filter(|cell| seen.insert(cell.scenario));
        for cell in cells.filter(|cell| self.is_new(cell, &mut told)) {
            let scenario = self.scenario(cell);
            self.tell(Event::Untested(Untested {
                surface: scenario.surface,
                what: format!("{} under launch {}", scenario.id, launch::name(plan)),
                reason: format!("the launch did not come to its end: {why}"),
                unlock: "mend what ended the launch".into(),
            }));
        }
    }

    /// Whether what is told of a cell was not told of another: rows of pairs have one name.
    fn is_new<'s>(&'s self, cell: &Cell, told: &mut HashSet<(&'s str, String)>) -> bool {
        let scenario = self.scenario(cell);
        scenario.origin == Origin::File || told.insert((&scenario.id, cell.route.clone()))
    }

    fn scenario(&self, cell: &Cell) -> &Scenario {
        scenario_of(&self.options.catalogue.scenarios, cell)
    }
}
