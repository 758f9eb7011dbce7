//! `birdstrike list`: checks, gateways, requirements.

use std::fmt::Write;

use birdstrike_engine::EngineError;
use birdstrike_scenario::findings::Finding;
use birdstrike_scenario::requirement::Kind;
use birdstrike_scenario::{Catalogue, Requirement, Selector};
use clap::Args;

use super::Done;
use crate::{catalogue, output};

/// List checks, gateways or requirements.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// `gateways`, or what to list: a path prefix or a glob over check ids
    selectors: Vec<String>,
    /// The rows of a requirement file (`inventory`, `wire`, `cases`), with the checks that rest on
    /// each and the faults that trip them
    #[arg(long, value_name = "FILE", conflicts_with = "selectors")]
    requirements: Option<String>,
}

impl List {
    pub(crate) fn run(self) -> Done {
        let catalogue = catalogue::load(None)?.catalogue;
        if let Some(file) = &self.requirements {
            output::print(&requirements(&catalogue, file)?);
        } else if self.selectors == ["gateways"] {
            output::print(&gateways(&catalogue));
        } else {
            let selectors: Vec<_> = self.selectors.iter().map(|text| Selector::new(text)).collect();
            let text = checks(&catalogue, &selectors);
            if text.is_empty() {
                let text = format!("`{}` picks no check", self.selectors.join(" "));
                return Err(EngineError::Usage(text));
            }
            output::print(&text);
        }
        Ok(0)
    }
}

fn checks(catalogue: &Catalogue, selectors: &[Selector]) -> String {
    let mut out = String::new();
    let picked = |id: &str| selectors.is_empty() || selectors.iter().any(|s| s.picks(id));
    for scenario in &catalogue.scenarios {
        for check in scenario.checks.iter().filter(|check| picked(&scenario.check_id(&check.name)))
        {
            let id = scenario.check_id(&check.name);
            let requirements = check.requirements.join(" ");
            let _ = writeln!(out, "{id:<60} {:<7} {requirements}", check.level.as_str());
        }
    }
    out
}

fn gateways(catalogue: &Catalogue) -> String {
    let mut out = String::new();
    for shipped in &catalogue.profiles {
        let profile = &shipped.profile;
        let routes: Vec<_> = profile.routes.keys().map(String::as_str).collect();
        let revisions = profile.revisions.client.join(" ");
        let _ = writeln!(out, "{:<14} {}", profile.name, profile.title);
        let _ = writeln!(out, "{:<14} routes {}; clients {revisions}", "", routes.join(" "));
        if let Some(homepage) = &profile.homepage {
            let _ = writeln!(out, "{:<14} {homepage}", "");
        }
    }
    out
}

/// Requirement files by their name, and the head of their ids.
const FILES: [(&str, &str); 3] = [("inventory", "INV-"), ("wire", "R-"), ("cases", "O-")];

/// The requirements of one file. The file is known by the head of its ids.
fn requirements(catalogue: &Catalogue, file: &str) -> Result<String, EngineError> {
    let Some((_, head)) = FILES.iter().find(|(name, _)| *name == file) else {
        let names = FILES.map(|(name, _)| name).join(", ");
        return Err(EngineError::Usage(format!(
            "no requirement file `{file}`: use one of {names}"
        )));
    };
    let mut out = String::new();
    let mut counts = Counts::default();
    for row in catalogue.requirements.iter().filter(|row| row.id.starts_with(head)) {
        let checks = checks_on(catalogue, &row.id);
        counts.take(row, &checks);
        shown(&mut out, catalogue, row, &checks);
    }
    counts.told(&mut out);
    Ok(out)
}

/// One row, with the checks that rest on it and the faults that are known to trip each.
fn shown(out: &mut String, catalogue: &Catalogue, row: &Requirement, checks: &[String]) {
    let kind = match row.kind {
        Kind::Promise => "promise",
        Kind::Observation => "observation",
        Kind::Defect => "defect",
    };
    let _ = writeln!(out, "{} ({kind}, {}): {}", row.id, row.level.as_str(), row.text);
    if let Some(why) = &row.out_of_reach {
        let _ = writeln!(out, "    out of reach: {}", why.trim());
    } else if checks.is_empty() {
        let _ = writeln!(out, "    no check yet");
    }
    for check in checks {
        let faults = faults_of(catalogue, check);
        let faults = if faults.is_empty() { faults } else { format!("  fault: {faults}") };
        let _ = writeln!(out, "    {check}{faults}");
    }
    for shipped in &catalogue.profiles {
        // A file that cannot be read would have failed the build.
        for findings in shipped.findings().flatten() {
            let known = findings.rows.iter().filter(|(id, _)| *id == row.id);
            let gateway = format!("{} {}", shipped.profile.name, findings.version);
            known.for_each(|(_, finding)| found(out, &gateway, row.kind, finding));
        }
    }
}

/// What a gateway was seen doing about a row, with the raw bytes.
fn found(out: &mut String, gateway: &str, kind: Kind, finding: &Finding) {
    let Finding { holds, did, check, route, sent, came } = finding;
    let _ = writeln!(out, "    {gateway}: {}: {}", holds.words(kind), did.trim());
    if let Some(check) = check {
        let route = route.as_ref().map_or(String::new(), |route| format!(" on {route}"));
        let _ = writeln!(out, "        seen by {check}{route}");
    }
    for (word, bytes) in [("sent", sent), ("came", came)] {
        if let Some(bytes) = bytes {
            let _ = writeln!(out, "        {word} {}", bytes.trim());
        }
    }
}

/// Names of the faults that promise to trip a check.
fn faults_of(catalogue: &Catalogue, check: &str) -> String {
    let trips = catalogue.faults.iter().filter(|fault| fault.trips.iter().any(|id| id == check));
    trips.map(|fault| fault.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// How the rows of a file are covered.
#[derive(Debug, Default)]
struct Counts {
    rows: usize,
    with_checks: usize,
    out_of_reach: usize,
    /// Ids of rows that are neither.
    open: Vec<String>,
}

impl Counts {
    fn take(&mut self, row: &Requirement, checks: &[String]) {
        self.rows += 1;
        if !checks.is_empty() {
            self.with_checks += 1;
        } else if row.out_of_reach.is_some() {
            self.out_of_reach += 1;
        } else {
            self.open.push(row.id.clone());
        }
    }

    fn told(&self, out: &mut String) {
        let Self { rows, with_checks, out_of_reach, open } = self;
        let _ = write!(out, "{rows} rows, {with_checks} with checks, {out_of_reach} out of reach");
        if open.is_empty() {
            let _ = writeln!(out);
        } else {
            let _ = writeln!(out, ", {} with neither: {}", open.len(), open.join(" "));
        }
    }
}

/// Ids of the checks that rest on a requirement.
pub(super) fn checks_on(catalogue: &Catalogue, requirement: &str) -> Vec<String> {
    let scenarios = catalogue.scenarios.iter();
    scenarios
        .flat_map(|scenario| scenario.checks.iter().map(move |check| (scenario, check)))
        .filter(|(_, check)| check.requirements.iter().any(|id| id == requirement))
        .map(|(scenario, check)| scenario.check_id(&check.name))
        .collect()
}
