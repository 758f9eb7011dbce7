//! `birdstrike list`: checks, gateways, requirements.

use std::fmt::Write;

use birdstrike_engine::EngineError;
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
    /// The rows of a requirement file (`inventory`, `wire`), with the checks that rest on each
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

/// The requirements of one file. The file is known by the head of its ids.
fn requirements(catalogue: &Catalogue, file: &str) -> Result<String, EngineError> {
    let heads: &[&str] = match file {
        "inventory" => &["INV-"],
        "wire" => &["R-"],
        _ => {
            let text = format!("no requirement file `{file}`: use inventory or wire");
            return Err(EngineError::Usage(text));
        }
    };
    let mut out = String::new();
    let mut rows = 0;
    let mut with_checks = 0;
    let belongs = |row: &&Requirement| heads.iter().any(|head| row.id.starts_with(head));
    for row in catalogue.requirements.iter().filter(belongs) {
        let checks = checks_on(catalogue, &row.id);
        rows += 1;
        with_checks += usize::from(!checks.is_empty());
        let kind = match row.kind {
            Kind::Promise => "promise",
            Kind::Observation => "observation",
            Kind::Defect => "defect",
        };
        let _ = writeln!(out, "{} ({kind}, {}): {}", row.id, row.level.as_str(), row.text);
        if let Some(why) = &row.out_of_reach {
            let _ = writeln!(out, "    out of reach: {why}");
        }
        for check in checks {
            let _ = writeln!(out, "    {check}");
        }
    }
    let _ = writeln!(out, "{rows} rows, {with_checks} with checks");
    Ok(out)
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
