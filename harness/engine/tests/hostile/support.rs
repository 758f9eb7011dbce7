//! Runs against a hostile gateway, and what they told.

use std::sync::Arc;
use std::time::Duration;

use birdstrike_engine::launch::Ground;
use birdstrike_engine::plan::Selection;
use birdstrike_engine::record::{CheckRecord, Gateway, Totals, Untested};
use birdstrike_engine::template::Names;
use birdstrike_engine::{EngineError, Event, Options, runner};
use birdstrike_judge::{Blame, Fidelity, Verdict};
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::{Catalogue, Profile, Scenario};

/// The deadline of a call that runs into it.
pub(crate) const SHORT: Duration = Duration::from_millis(300);
/// A deadline that no call should run into, however busy the machine is.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// What a run told.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) checks: Vec<CheckRecord>,
    pub(crate) untested: Vec<Untested>,
    pub(crate) restarts: Vec<String>,
    pub(crate) totals: Totals,
    pub(crate) broken: Option<String>,
}

impl Told {
    /// The one record of a check through the gateway.
    pub(crate) fn check(&self, id: &str) -> &CheckRecord {
        let found: Vec<_> = self.checks.iter().filter(|check| check.id == id).collect();
        assert_eq!(found.len(), 1, "{id}: {found:?}, untested {:?}", self.untested);
        found[0]
    }

    /// A failed check: a must, the gateway's fault, in these words.
    #[track_caller]
    pub(crate) fn fails(&self, check: &str, fidelity: Fidelity, words: &str) {
        let record = self.check(&format!("flat-return/wicked/{check}"));
        let what = (record.verdict, record.fidelity, record.blame);
        assert_eq!(
            what,
            (Verdict::Fail, Some(fidelity), Some(Blame::Gateway)),
            "{check}: {}",
            record.message
        );
        assert!(record.message.contains(words), "{check}: {}", record.message);
        assert!(record.evidence.is_some(), "{check} has no evidence");
    }

    /// The scenario after the wicked one is unharmed.
    #[track_caller]
    pub(crate) fn next_is_unharmed(&self) {
        for check in ["whole", "one-call", "valid"] {
            let record = self.check(&format!("flat-return/well/{check}"));
            assert_eq!(record.verdict, Verdict::Pass, "{check}: {}", record.message);
        }
    }
}

/// The wicked scenario, and one that must not suffer from it.
fn catalogue(deadline: Duration) -> Catalogue {
    let checks = "expect:\n  whole: {intact: must, slot: text}\n  told: {flagged: must}\n  one-call: {count: 1}\n";
    let text = |tool: &str, deadline: Duration| {
        format!(
            "title: t\nrequirements: [INV-1.1]\ntool: {tool}\nencodings: [json]\nmatrix: core\ndeadline-ms: {}\noutcome: {{text: '«text»'}}\n{checks}",
            deadline.as_millis()
        )
    };
    let wicked = Scenario::parse("s/flat-return/wicked.yaml", &text("typed", deadline)).unwrap();
    let well = Scenario::parse("s/flat-return/well.yaml", &text("echo", LONG)).unwrap();
    Catalogue { scenarios: vec![wicked, well], ..Catalogue::default() }
}

/// The profile of a gateway; `process` is the YAML of its one process.
pub(crate) fn profile(process: &str) -> ShippedProfile {
    let text = format!(
        "name: hostile\ntitle: a hostile gateway\nprocesses:\n  gateway: {process}\nroutes:\n  flat: {{process: gateway, tool: '{{{{ tool }}}}'}}\nrevisions: {{client: ['2026-07-28'], upstream: ['2026-07-28']}}\n"
    );
    let profile = Profile::parse("hostile.yaml", &text).unwrap();
    ShippedProfile { profile, source: text, files: Vec::new() }
}

/// The same options with the scenarios in another order: what is first runs first.
pub(crate) fn turned(mut options: Options) -> Options {
    let mut catalogue = Catalogue::clone(&options.catalogue);
    catalogue.scenarios.reverse();
    options.catalogue = Arc::new(catalogue);
    options
}

/// The same options with the good scenario so many times, and nothing else.
pub(crate) fn many(mut options: Options, count: usize) -> Options {
    let mut catalogue = Catalogue::clone(&options.catalogue);
    let well = catalogue.scenarios.remove(1);
    let copy = |at| Scenario { id: format!("{}-{at}", well.id), deadline_ms: None, ..well.clone() };
    catalogue.scenarios = (0..count).map(copy).collect();
    options.catalogue = Arc::new(catalogue);
    options
}

/// The same options with scenarios that run in every client revision.
pub(crate) fn in_every_revision(mut options: Options) -> Options {
    let mut catalogue = Catalogue::clone(&options.catalogue);
    for scenario in &mut catalogue.scenarios {
        scenario.core_only = false;
    }
    options.catalogue = Arc::new(catalogue);
    options
}

/// Everything that a run needs.
pub(crate) fn options(profile: ShippedProfile, deadline: Duration, jobs: usize) -> Options {
    Options {
        catalogue: Arc::new(catalogue(deadline)),
        scenario_set: String::new(),
        profile: Arc::new(profile),
        gateway: Gateway::default(),
        matrix: Matrix::Core,
        selection: Selection::default(),
        jobs: Some(jobs),
        direct: true,
        ground: Ground {
            birdstrike: std::env::current_exe().unwrap(),
            install: None,
            extra: Names::new(),
            deadline: LONG,
            http: birdstrike_engine::client::http::client().unwrap(),
            keep_answers: true,
            running: None,
        },
    }
}

/// Runs, and gives all that was told; the last event is always the end.
pub(crate) async fn run(options: &Options) -> (Told, Result<(), EngineError>) {
    let mut told = Told::default();
    let mut ended = false;
    let result = runner::run(options, &mut |event| {
        assert!(!ended, "something came after the end: {event:?}");
        match event {
            Event::Checked(check) => told.checks.push((**check).clone()),
            Event::Untested(untested) if untested.what != "the whole surface" => {
                told.untested.push(untested.clone());
            }
            Event::Restarted { after, .. } => told.restarts.push(after.clone()),
            Event::RunFinished { totals, broken, .. } => {
                (told.totals, told.broken, ended) = (*totals, broken.clone(), true);
            }
            _ => {}
        }
    })
    .await;
    assert!(ended, "the run's end was not told");
    (told, result)
}
