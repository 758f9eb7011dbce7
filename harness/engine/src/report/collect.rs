//! The collector: events become the [`Report`] that every file format is written from.

use birdstrike_scenario::Surface;

use crate::event::{Event, Reporter};
use crate::record::{Environment, Gateway, Report, SCHEMA_VERSION, SurfaceSummary, Tool, Totals};

/// Collects events into a report. What it holds is a valid report after every event, so a run that
/// breaks leaves what it had.
#[derive(Debug)]
pub struct Collector {
    report: Report,
}

impl Collector {
    /// An empty report on a gateway.
    pub fn new(gateway: Gateway) -> Self {
        let summaries = |surfaces: &[Surface]| {
            surfaces.iter().copied().map(SurfaceSummary::empty).collect::<Vec<_>>()
        };
        let name = String::from("birdstrike");
        Self {
            report: Report {
                schema_version: SCHEMA_VERSION.to_owned(),
                tool: Tool { name, version: String::new(), scenario_set: String::new() },
                gateway,
                environment: Environment::default(),
                broken: None,
                surfaces: summaries(&Surface::TWELVE),
                areas: summaries(&Surface::AREAS),
                observations: Vec::new(),
                checks: Vec::new(),
                untested: Vec::new(),
                ports: Vec::new(),
                totals: Totals::default(),
            },
        }
    }

    /// The report as it stands.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The report, for good.
    pub fn into_report(self) -> Report {
        self.report
    }

    fn line(&mut self, surface: Surface) -> Option<&mut SurfaceSummary> {
        let lines = self.report.surfaces.iter_mut().chain(&mut self.report.areas);
        lines.into_iter().find(|line| line.surface == surface)
    }
}

impl Reporter for Collector {
    fn take(&mut self, event: &Event) {
        match event {
            Event::RunStarted { tool, .. } => self.report.tool = tool.clone(),
            Event::LaunchReady { gateway, .. } => {
                let version = gateway.version.clone();
                self.report.gateway.version = version.or(self.report.gateway.version.take());
            }
            Event::Checked(check) => {
                if let Some(line) = self.line(check.surface) {
                    line.count(check);
                }
                self.report.checks.push((**check).clone());
            }
            Event::Observed(observation) => self.report.observations.push(observation.clone()),
            Event::Untested(untested) => {
                if let Some(line) = self.line(untested.surface) {
                    line.untested += 1;
                }
                self.report.untested.push(untested.clone());
            }
            Event::Watched(ports) => self.report.ports.extend(ports.iter().cloned()),
            Event::RunFinished { totals, environment, broken } => {
                self.report.totals = *totals;
                self.report.broken.clone_from(broken);
                self.report.environment = environment.clone();
            }
            Event::LaunchStarted { .. } | Event::Restarted { .. } | Event::CellFinished { .. } => {}
        }
    }
}
