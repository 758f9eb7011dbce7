//! One cell: fire a scenario's steps over one route, gather both legs, judge every check.

pub mod fire;
mod judging;
mod observe;
mod sinks;
mod valid;

use std::time::Instant;

use birdstrike_judge::{Blame, Fidelity, Level, Verdict};
use birdstrike_scenario::check::Expect;
use birdstrike_scenario::profile::Declared;
use birdstrike_scenario::{Check, Scenario, Selector};

use crate::evidence;
use crate::launch::{DIRECT, Launch};
use crate::plan::{Cell, encoding_word};
use crate::record::{CheckRecord, Observation, Untested};

pub use fire::{Fired, Hold};
pub use judging::Judged;

/// What a cell found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Checks, in the order of the scenario; `valid` last.
    pub records: Vec<CheckRecord>,
    /// What could not be judged.
    pub untested: Vec<Untested>,
    /// What was measured.
    pub observations: Vec<Observation>,
    /// The fate of values that are compared across routes.
    pub fates: Vec<Fate>,
    /// What the client received, for the snapshot: step and body with nonces erased.
    pub received: Vec<(String, String)>,
    /// Calls that were fired.
    pub calls: u64,
    /// Calls that ran into their deadline.
    pub deadlines: u64,
    /// The gateway may be unwell: it answered nothing at all to some call.
    pub suspicious: bool,
    /// No call of the cell reached the canary: the gateway may still be nursing what an earlier
    /// cell did to it.
    pub unreached: bool,
}

/// What became of one value on one route, to be compared with the other routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The check, by its place in the scenario.
    pub check: usize,
    /// What became of the value.
    pub fidelity: Fidelity,
    /// In words.
    pub message: String,
}

/// Runs a cell. Never fails: what goes wrong is a verdict.
pub async fn run(mut hold: Hold<'_>, scenario: &Scenario, cell: &Cell) -> Outcome {
    let from = Instant::now();
    let mut outcome = Outcome::default();
    let watching = sinks::Watching::begin(hold.launch(), scenario, cell).await;
    let fired = match fire::steps(&mut hold, scenario, cell).await {
        Ok(fired) => fired,
        Err(why) => {
            outcome.suspicious = true;
            outcome.not_begun(scenario, cell, &why);
            return outcome;
        }
    };
    outcome.calls = fired.len() as u64;
    outcome.deadlines = fired.iter().filter(|f| f.transcript.is_late() && !f.exempt).count() as u64;
    outcome.suspicious = fired.iter().any(|f| f.transcript.status.is_none() && !f.exempt);
    outcome.unreached = fired.iter().all(|f| f.upstream.calls == 0 && !f.by_gateway);
    let launch = hold.launch();
    let seen = match watching {
        Some(watching) => Some(watching.settle(launch, scenario, cell, &fired).await),
        None => None,
    };
    let mut run = Run { launch, scenario, cell, fired: &fired, seen, from, outcome: &mut outcome };
    run.judge();
    if cell.route != DIRECT {
        observe::measure(scenario, cell, &fired, &mut outcome.observations);
        if launch.keeps_answers() {
            outcome.received = fired.iter().map(Fired::received).collect();
        }
    }
    outcome
}

/// A cell while it is judged.
struct Run<'a> {
    launch: &'a Launch,
    scenario: &'a Scenario,
    cell: &'a Cell,
    fired: &'a [Fired],
    /// What the ports showed, where a check speaks of sinks.
    seen: Option<sinks::Seen<'a>>,
    from: Instant,
    outcome: &'a mut Outcome,
}

impl Run<'_> {
    fn judge(&mut self) {
        let scenario = self.scenario;
        for (index, check) in scenario.checks.iter().enumerate() {
            if concerns(check, self.cell) && check.expect != Expect::Valid {
                self.check(index, check);
            }
        }
        self.valid();
    }

    fn check(&mut self, index: usize, check: &Check) {
        let context = judging::Context { launch: self.launch, cell: self.cell, fired: self.fired };
        let Some(fired) = context.step(check.of.as_deref()) else {
            if self.cell.route == DIRECT {
                // Some steps are the gateway's alone.
                return;
            }
            let of = check.of.as_deref().unwrap_or("the first");
            self.outcome.records.extend(self.fired.first().map(|first| {
                let message = format!("step `{of}` was not fired on this route");
                let log = Vec::new();
                CheckRecord {
                    verdict: Verdict::Error,
                    blame: Some(Blame::Harness),
                    message,
                    evidence: Some(evidence::of(first, &[], log)),
                    ..self.blank(check)
                }
            }));
            return;
        };
        if let Expect::AcrossRoutes { place } = &check.expect {
            if fired.upstream.calls > 0 {
                let judged = context.fate(fired, place);
                let (fidelity, message) = (judged.fidelity, judged.message);
                self.outcome.fates.push(Fate { check: index, fidelity, message });
            }
            return;
        }
        if let Expect::Sink(expect) = &check.expect {
            return self.sink(check, expect, fired);
        }
        match context.judge(fired, check) {
            Ok(judged) => self.record(check, fired, judged),
            Err(reason) => self.untested(&check.name, &reason, fired),
        }
    }

    /// The check that every call carries. Its level and requirements are the scenario's own where
    /// it names it.
    fn valid(&mut self) {
        if self.cell.route == DIRECT && self.scenario.direct_broken {
            return;
        }
        let named = self.scenario.checks.iter().find(|check| check.expect == Expect::Valid);
        let check = named.cloned().unwrap_or_else(|| Check {
            name: "valid".into(),
            line: 1,
            level: birdstrike_scenario::Level::Must,
            requirements: VALID.iter().map(|id| (*id).to_owned()).collect(),
            of: None,
            tool: None,
            expect: Expect::Valid,
            routes: Vec::new(),
            revisions: Vec::new(),
        });
        let context = judging::Context { launch: self.launch, cell: self.cell, fired: self.fired };
        // Where every request breaks a rule on purpose, or gets no answer, there is nothing to judge.
        let due = |fired: &&Fired| !fired.exempt && !fired.method.starts_with("notifications/");
        let Some(first) = self.fired.iter().find(due) else {
            return;
        };
        let broken =
            self.fired.iter().filter(due).map(|fired| (fired, valid::judge(&context, fired)));
        let worst = broken.into_iter().find(|(_, judged)| !judged.holds);
        let (fired, judged) = worst.unwrap_or_else(|| (first, Judged::intact()));
        // An answer to a call that no upstream saw breaks rules or proves nothing.
        if judged.holds && self.outcome.unreached {
            return self.untested(&check.name, NEVER_CALLED, fired);
        }
        self.record(&check, fired, judged);
    }

    fn record(&mut self, check: &Check, fired: &Fired, judged: Judged) {
        let mut record = self.blank(check);
        record.fidelity = Some(judged.fidelity);
        record.message = judged.message;
        record.blame = (!judged.holds).then_some(judged.blame);
        record.verdict = Verdict::of(record.level, judged.holds);
        if !judged.holds && self.cell.route == DIRECT {
            record.verdict = Verdict::Error;
            record.blame = Some(Blame::Harness);
        } else if !judged.holds && judged.blame == Blame::Harness {
            record.verdict = Verdict::Error;
        } else if !judged.holds && record.level != Level::Must {
            self.declare(&mut record);
        }
        if record.verdict != Verdict::Pass {
            let log = self.launch.log_since(self.from);
            let mut evidence = evidence::of(fired, &judged.differences, log);
            self.launch.secrets().for_each(|secret| evidence.remove(secret));
            record.evidence = Some(evidence);
        }
        self.outcome.records.push(record);
    }

    /// What the profile declares is no finding; a must cannot be declared away.
    fn declare(&self, record: &mut CheckRecord) {
        let covers = |declared: &&Declared| covers(declared, record);
        if let Some(declared) = self.launch.profile().declares.iter().find(covers) {
            record.verdict = Verdict::Pass;
            record.message = format!("declared: {} ({})", declared.does, record.message);
            record.fidelity = Some(Fidelity::Declared);
            record.blame = None;
        }
    }

    fn blank(&self, check: &Check) -> CheckRecord {
        CheckRecord {
            id: self.scenario.check_id(&check.name),
            surface: self.scenario.surface,
            launch: self.launch.name.clone(),
            route: self.cell.route.clone(),
            revision: self.cell.revision.to_string(),
            encoding: encoding_word(self.cell.encoding).to_owned(),
            verdict: Verdict::Pass,
            fidelity: None,
            blame: None,
            level: level(check.level),
            requirements: check.requirements.clone(),
            message: String::new(),
            written: format!("{}:{}", self.scenario.file, check.line),
            combined: crate::pairs::combined(self.scenario),
            evidence: None,
        }
    }

    fn untested(&mut self, check: &str, reason: &str, fired: &Fired) {
        let got = evidence::excerpt(fired.transcript.body.head(), 200);
        let got = if got.is_empty() { fired.transcript.ending.words() } else { got };
        self.outcome.untested.push(Untested {
            surface: self.scenario.surface,
            what: place(&self.scenario.check_id(check), self.cell),
            reason: format!("{reason}; the client got: {got}"),
            unlock: "a gateway that brings this call to its upstream".into(),
        });
    }
}

impl Outcome {
    /// The conversation could not be opened: nothing was fired, nothing is judged.
    fn not_begun(&mut self, scenario: &Scenario, cell: &Cell, why: &str) {
        self.untested.push(Untested {
            surface: scenario.surface,
            what: place(&scenario.id, cell),
            reason: format!("no conversation could be opened: {why}"),
            unlock: format!("a gateway that speaks {} on route {}", cell.revision, cell.route),
        });
    }
}

/// Whether a check is judged in a cell.
fn concerns(check: &Check, cell: &Cell) -> bool {
    let fits = |list: &[String], word: &str| list.is_empty() || list.iter().any(|w| w == word);
    let direct = cell.route == DIRECT;
    // The gateway's own conduct has no direct column.
    let judged_direct = match check.expect {
        Expect::Intact { .. }
        | Expect::Equals { .. }
        | Expect::Absent { .. }
        | Expect::Prefix { shorter: false, .. } => true,
        _ => !direct,
    };
    judged_direct
        && (direct || fits(&check.routes, &cell.route))
        && fits(&check.revisions, cell.revision.as_str())
}

/// Why nothing can be said of an answer.
const NEVER_CALLED: &str = "the gateway never called the canary";

/// Requirements of the check that every call carries.
const VALID: [&str; 4] = ["R-BASE-01", "R-BASE-03", "R-TOOLS-17", "R-HTTP-05"];

fn place(what: &str, cell: &Cell) -> String {
    let encoding = encoding_word(cell.encoding);
    format!("{what} on {} at {} ({encoding})", cell.route, cell.revision)
}

/// The judge's word for a level.
pub(crate) const fn level(level: birdstrike_scenario::Level) -> Level {
    match level {
        birdstrike_scenario::Level::Must => Level::Must,
        birdstrike_scenario::Level::Should => Level::Should,
        birdstrike_scenario::Level::Policy => Level::Policy,
    }
}

fn covers(declared: &Declared, record: &CheckRecord) -> bool {
    let fits = |list: &[String], word: &str| list.is_empty() || list.iter().any(|w| w == word);
    let check = declared.checks.iter().any(|glob| Selector::new(glob).picks(&record.id));
    let requirement = declared.requirements.iter().any(|id| record.requirements.contains(id));
    let fidelity = record.fidelity.map_or("", Fidelity::as_str);
    (check || requirement)
        && fits(&declared.fidelity, fidelity)
        && fits(&declared.routes, &record.route)
        && fits(&declared.revisions, &record.revision)
}
