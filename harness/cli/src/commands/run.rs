//! `birdstrike run`: fire the scenarios at a gateway.

mod progress;
mod target;

use std::path::PathBuf;
use std::time::Duration;

use birdstrike_canary::Encoding;
use birdstrike_engine::event::Reporter;
use birdstrike_engine::gate::{self, Gate};
use birdstrike_engine::plan::Selection;
use birdstrike_engine::report::terminal::{self, Layout};
use birdstrike_engine::report::{Collector, json};
use birdstrike_engine::{EngineError, Event, Options, runner};
use birdstrike_judge::Level;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::{Baseline, Mistake, Selector};
use birdstrike_wire::Revision;
use clap::{Args, ValueEnum};

use super::Done;
use super::options::{duration, until_signal};
use crate::{catalogue, output};

/// Fire the scenarios at a gateway; the built-in one unless told otherwise.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// What to run: a path prefix or a glob over check ids (`is-error`, `*/valid`)
    selectors: Vec<String>,
    #[command(flatten)]
    target: target::Target,
    /// Only these routes
    #[arg(long, value_name = "ROUTE", help_heading = "Cells")]
    route: Vec<String>,
    /// Only these client revisions
    #[arg(long, value_name = "DATE", help_heading = "Cells")]
    revision: Vec<Revision>,
    /// Only these encodings of the upstream's answer
    #[arg(long, value_name = "ENCODING", help_heading = "Cells")]
    encoding: Vec<EncodingArg>,
    /// Each check once a route, or every pair of revisions; the profile's own choice unless given
    #[arg(long, help_heading = "Cells")]
    matrix: Option<MatrixArg>,
    /// Another seed for the rows of the pairs: other combinations are fired
    #[arg(long, value_name = "NUMBER", help_heading = "Cells")]
    seed: Option<u64>,
    /// Scenarios of your own, added to the shipped ones
    #[arg(long, value_name = "DIR", help_heading = "Cells")]
    scenarios: Option<PathBuf>,
    /// Cells run side by side; the profile's own number unless given
    #[arg(long, value_name = "N", help_heading = "Pace", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// How long one call may take
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Pace")]
    deadline: Option<Duration>,
    /// Write a report; `json` is a format (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", value_parser = report_to, help_heading = "Reports")]
    report: Vec<ReportTo>,
    /// Known failures and untested surfaces
    #[arg(long, value_name = "FILE", help_heading = "Gate")]
    baseline: Option<PathBuf>,
    /// The weakest level that fails the run; the profile's own choice unless given
    #[arg(long, value_name = "LEVEL", help_heading = "Gate")]
    require: Option<LevelArg>,
    /// Fail when anything is untested
    #[arg(long, help_heading = "Gate")]
    require_complete: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EncodingArg {
    Json,
    Sse,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MatrixArg {
    Core,
    Full,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LevelArg {
    Must,
    Should,
    Policy,
}

/// A report that is asked for.
#[derive(Clone, Debug)]
struct ReportTo {
    path: PathBuf,
}

fn report_to(text: &str) -> Result<ReportTo, String> {
    match text.split_once('=') {
        Some(("json", path)) if !path.is_empty() => Ok(ReportTo { path: path.into() }),
        Some((format, _)) => Err(format!("no format `{format}`: use json=PATH")),
        None => Err("write it as FORMAT=PATH, for instance json=report.json".into()),
    }
}

impl Run {
    pub(crate) async fn run(self) -> Done {
        let loaded = catalogue::load(self.scenarios.as_deref())?;
        let shipped = self.target.profile(&loaded.catalogue)?;
        let profile = &shipped.profile;
        let selection = self.selection();
        self.check_selection(&loaded.catalogue, profile)?;
        let deadline = self.deadline(profile);
        let gate = self.gate(profile)?;
        let matrix = match self.matrix {
            Some(MatrixArg::Core) => Matrix::Core,
            Some(MatrixArg::Full) => Matrix::Full,
            None => profile.matrix,
        };
        let options = Options {
            scenario_set: loaded.hash,
            gateway: self.target.named(&shipped),
            matrix,
            selection,
            jobs: self.jobs.map(usize::from),
            direct: true,
            ground: self.target.ground(profile, deadline)?,
            profile: std::sync::Arc::new(shipped),
            catalogue: loaded.catalogue,
        };
        self.fire(&options, &gate).await
    }

    /// Runs, and writes every report whatever happened.
    async fn fire(&self, options: &Options, gate: &Gate) -> Done {
        let mut collector = Collector::new(options.gateway.clone());
        let mut progress = progress::Progress::new();
        let mut sink = |event: &Event| {
            collector.take(event);
            progress.take(event);
        };
        let ran = runner::run_until(options, &mut sink, until_signal()).await;
        progress.end();
        let report = collector.into_report();
        let mut unwritten = None;
        for wanted in &self.report {
            unwritten = unwritten.or(write_report(&report, wanted).err());
        }
        let layout = Layout { width: output::width(), ..Layout::default() };
        let rerun = self.rerun();
        output::print(&terminal::render(&report, &options.catalogue, &rerun, layout));
        if let Some(error) = unwritten {
            if let Err(ended) = ran {
                output::error(&ended.to_string());
            }
            return Err(error);
        }
        ran?;
        let ruling = gate::rule(&report, &options.catalogue, gate);
        for reason in ruling.reasons.iter().take(12) {
            output::note(&format!("exit {}: {reason}", ruling.code));
        }
        let left = ruling.reasons.len().saturating_sub(12);
        if left > 0 {
            output::note(&format!("exit {}: and {left} more", ruling.code));
        }
        Ok(ruling.code)
    }

    /// The command that runs one check again, but for its id.
    fn rerun(&self) -> String {
        let mut command = self.target.rerun();
        if let Some(dir) = &self.scenarios {
            command.push_str(&format!(" --scenarios {}", dir.display()));
        }
        command
    }

    fn selection(&self) -> Selection {
        let encoding = |arg: &EncodingArg| match arg {
            EncodingArg::Json => Encoding::Json,
            EncodingArg::Sse => Encoding::Sse,
        };
        Selection {
            checks: self.selectors.iter().map(|text| Selector::new(text)).collect(),
            routes: self.route.clone(),
            revisions: self.revision.clone(),
            encodings: self.encoding.iter().map(encoding).collect(),
            seed: self.seed,
        }
    }

    /// A selector that picks nothing and a route that there is not are mistakes, not empty runs.
    fn check_selection(
        &self,
        catalogue: &birdstrike_scenario::Catalogue,
        profile: &birdstrike_scenario::Profile,
    ) -> Result<(), EngineError> {
        for text in &self.selectors {
            let selector = Selector::new(text);
            let surface = birdstrike_scenario::Surface::from_slug(selector.as_str()).is_some();
            let picked = catalogue.scenarios.iter().any(|scenario| {
                let mut names = scenario.checks.iter().map(|c| c.name.as_str()).chain(["valid"]);
                names.any(|name| selector.picks(&scenario.check_id(name)))
            });
            if !picked && !surface {
                let text = format!("`{text}` picks no check: see `birdstrike list`");
                return Err(EngineError::Usage(text));
            }
        }
        for route in &self.route {
            if !profile.routes.contains_key(route) {
                let known: Vec<_> = profile.routes.keys().map(String::as_str).collect();
                let known = known.join(", ");
                let text = format!("{} has no route `{route}`: use {known}", profile.name);
                return Err(EngineError::Usage(text));
            }
        }
        Ok(())
    }

    fn deadline(&self, profile: &birdstrike_scenario::Profile) -> Duration {
        let own = profile.deadline_ms.map(Duration::from_millis);
        self.deadline.or(own).unwrap_or(Duration::from_secs(5))
    }

    fn gate(&self, profile: &birdstrike_scenario::Profile) -> Result<Gate, EngineError> {
        let own = profile.require.map_or(LevelArg::Must, |level| match level {
            birdstrike_scenario::Level::Must => LevelArg::Must,
            birdstrike_scenario::Level::Should => LevelArg::Should,
            birdstrike_scenario::Level::Policy => LevelArg::Policy,
        });
        let require = match self.require.unwrap_or(own) {
            LevelArg::Must => Level::Must,
            LevelArg::Should => Level::Should,
            LevelArg::Policy => Level::Policy,
        };
        let baseline = self.baseline.as_deref().map(read_baseline).transpose()?;
        Ok(Gate { require, complete: self.require_complete, baseline })
    }
}

fn read_baseline(path: &std::path::Path) -> Result<Baseline, EngineError> {
    let shown = path.display().to_string();
    let mistake = |mistake| EngineError::Mistakes(vec![mistake]);
    let text = std::fs::read_to_string(path).map_err(|error| {
        let title = format!("the baseline cannot be read: {error}");
        mistake(Mistake::of_file(&shown, &title, "check the path"))
    })?;
    Baseline::parse(&shown, &text).map_err(mistake)
}

fn write_report(
    report: &birdstrike_engine::record::Report,
    wanted: &ReportTo,
) -> Result<(), EngineError> {
    let failed = |error: std::io::Error| {
        EngineError::io(&format!("{} cannot be written", wanted.path.display()), &error)
    };
    let file = std::fs::File::create(&wanted.path).map_err(failed)?;
    let mut file = std::io::BufWriter::new(file);
    json::write(report, &mut file).map_err(failed)?;
    std::io::Write::flush(&mut file).map_err(failed)
}
