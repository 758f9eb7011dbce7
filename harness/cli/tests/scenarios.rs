//! Every scenario as one trial against the reference gateway: its cells run, those that fail are
//! named, and what the clients received is compared with its one file under `snapshots/`.
//!
//! `INSTA_UPDATE=always cargo test --test scenarios` accepts what changed.

#![expect(clippy::expect_used, clippy::panic, reason = "a test may end like this")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use birdstrike_engine::launch::Ground;
use birdstrike_engine::plan::Selection;
use birdstrike_engine::record::{CheckRecord, Gateway};
use birdstrike_engine::snapshot::Snapshots;
use birdstrike_engine::template::Names;
use birdstrike_engine::{Event, Options, Reporter, runner};
use birdstrike_judge::Verdict;
use birdstrike_scenario::catalogue::ShippedProfile;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::{Catalogue, Scenario, Selector};
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::{Handle, Runtime};

fn main() {
    let arguments = Arguments::from_args();
    let runtime = Runtime::new().expect("the runtime starts");
    let suite = Arc::new(Suite::read());
    let mut trials = vec![stray(&suite)];
    for index in 0..suite.catalogue.scenarios.len() {
        let (suite, handle) = (Arc::clone(&suite), runtime.handle().clone());
        let id = suite.catalogue.scenarios[index].id.clone();
        trials.push(Trial::test(id, move || suite.run(index, &handle)));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// What all trials share.
struct Suite {
    catalogue: Arc<Catalogue>,
    profile: Arc<ShippedProfile>,
    snapshots: PathBuf,
}

impl Suite {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut catalogue = Catalogue::default();
        let scenarios = root.join("scenarios");
        catalogue.read_scenarios(&scenarios).unwrap_or_else(|mistakes| {
            panic!(
                "{}",
                mistakes.iter().map(|m| m.rendered.as_str()).collect::<Vec<_>>().join("\n")
            )
        });
        let profile = ShippedProfile::read(&root.join("harness/profiles/reference.yaml"))
            .unwrap_or_else(|mistake| panic!("{mistake}"));
        let snapshots = root.join("snapshots");
        Self { catalogue: Arc::new(catalogue), profile: Arc::new(profile), snapshots }
    }

    fn run(&self, index: usize, handle: &Handle) -> Result<(), Failed> {
        let scenario = &self.catalogue.scenarios[index];
        let options = self.options(scenario);
        let mut snapshots = Snapshots::default();
        let mut broken = Vec::new();
        let ran = handle.block_on(runner::run(&options, &mut |event| {
            snapshots.take(event);
            broken.extend(finding(event));
        }));
        ran.map_err(|error| error.to_string())?;
        if broken.is_empty() {
            return self.compare(scenario, &snapshots.of(scenario));
        }
        Err(broken.join("\n").into())
    }

    fn options(&self, scenario: &Scenario) -> Options {
        let checks = vec![Selector::new(&scenario.id)];
        let http = birdstrike_engine::client::http::client().expect("an HTTP client");
        Options {
            catalogue: Arc::clone(&self.catalogue),
            scenario_set: String::new(),
            profile: Arc::clone(&self.profile),
            gateway: Gateway::default(),
            matrix: Matrix::Full,
            selection: Selection { checks, ..Selection::default() },
            jobs: None,
            direct: true,
            ground: Ground {
                birdstrike: env!("CARGO_BIN_EXE_birdstrike").into(),
                install: None,
                extra: Names::new(),
                // Generous: a slow machine is no fault of the gateway's.
                deadline: Duration::from_secs(20),
                http,
                keep_answers: true,
                running: None,
            },
        }
    }

    fn compare(&self, scenario: &Scenario, text: &str) -> Result<(), Failed> {
        let (surface, slug) = scenario.id.split_once('/').unwrap_or_default();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(self.snapshots.join(surface));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| {
            let same = std::panic::catch_unwind(|| insta::assert_snapshot!(slug, text));
            same.map_err(|_| Failed::from("the snapshot differs: see the diff above"))
        })
    }
}

/// A finding in one line; nothing for what is as it should be.
fn finding(event: &Event) -> Option<String> {
    match event {
        Event::Checked(check) if check.verdict != Verdict::Pass => Some(told(check)),
        Event::Untested(untested) if untested.what != "the whole surface" => {
            Some(format!("untested {}: {}", untested.what, untested.reason))
        }
        _ => None,
    }
}

fn told(check: &CheckRecord) -> String {
    format!(
        "{} {} on {} in {}/{}/{}: {}",
        check.verdict,
        check.id,
        check.route,
        check.launch,
        check.revision,
        check.encoding,
        check.message
    )
}

/// A snapshot that no scenario refers to is a leftover.
fn stray(suite: &Arc<Suite>) -> Trial {
    let suite = Arc::clone(suite);
    Trial::test("snapshots/all-belong-to-a-scenario", move || {
        let mut strays = Vec::new();
        for folder in std::fs::read_dir(&suite.snapshots)?.flatten().filter(|f| f.path().is_dir()) {
            for file in std::fs::read_dir(folder.path())?.flatten() {
                let name = file.file_name().to_string_lossy().into_owned();
                let slug = name.trim_end_matches(".new").trim_end_matches(".snap");
                let id = format!("{}/{slug}", folder.file_name().to_string_lossy());
                if suite.catalogue.scenario(&id).is_none() {
                    strays.push(file.path().display().to_string());
                }
            }
        }
        if strays.is_empty() { Ok(()) } else { Err(strays.join("\n").into()) }
    })
}
