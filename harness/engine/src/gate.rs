//! The gate: from a report to an exit code (design, section 6). The first rule that applies wins.

use birdstrike_judge::{Level, Verdict};
use birdstrike_scenario::{Baseline, Catalogue};

use crate::record::{CheckRecord, Report};

/// What a run must hold to pass.
#[derive(Clone, Debug)]
pub struct Gate {
    /// The weakest level that counts: with `should`, musts and shoulds do.
    pub require: Level,
    /// Whether anything untested fails the run.
    pub complete: bool,
    /// Known failures.
    pub baseline: Option<Baseline>,
}

/// The exit code and what led to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    /// The exit code.
    pub code: u8,
    /// One line for each reason.
    pub reasons: Vec<String>,
}

/// Rules on a finished run.
pub fn rule(report: &Report, catalogue: &Catalogue, gate: &Gate) -> Ruling {
    let rules = [
        (5, errors(report)),
        (1, [failures(report, gate), baseline(report, catalogue, gate)].concat()),
        (3, gaps(report, gate)),
    ];
    let broken = rules.into_iter().find(|(_, reasons)| !reasons.is_empty());
    let (code, reasons) = broken.unwrap_or_default();
    Ruling { code, reasons }
}

fn errors(report: &Report) -> Vec<String> {
    let errors = report.checks.iter().filter(|check| check.verdict == Verdict::Error).count();
    let said = format!(
        "{errors} checks could not be judged: harness or environment failed, see the findings"
    );
    (errors > 0).then_some(said).into_iter().collect()
}

fn counts(check: &CheckRecord, gate: &Gate) -> bool {
    let covered = || {
        let baseline = gate.baseline.as_ref();
        baseline.is_some_and(|baseline| baseline.covers(&check.id, &check.route).is_some())
    };
    is_broken(check) && check.level <= gate.require && !covered()
}

fn is_broken(check: &CheckRecord) -> bool {
    matches!(check.verdict, Verdict::Fail | Verdict::Warn)
}

fn failures(report: &Report, gate: &Gate) -> Vec<String> {
    let mut ids: Vec<&str> = Vec::new();
    for check in report.checks.iter().filter(|check| counts(check, gate)) {
        if !ids.contains(&check.id.as_str()) {
            ids.push(&check.id);
        }
    }
    let level = gate.require.as_str();
    ids.iter().map(|id| format!("{id} does not hold (counted: {level} and above)")).collect()
}

/// A baseline that no longer says the truth fails the run, or it would hide the next fault.
fn baseline(report: &Report, catalogue: &Catalogue, gate: &Gate) -> Vec<String> {
    let Some(baseline) = &gate.baseline else {
        return Vec::new();
    };
    let mut reasons = Vec::new();
    for entry in &baseline.entries {
        let at = format!("{}:{}", baseline.file, entry.line);
        if !catalogue.has_check(&entry.check) {
            reasons.push(format!(
                "{at}: `{}` is no check (mend the id or remove the entry)",
                entry.check
            ));
            continue;
        }
        let concerns = |check: &&CheckRecord| {
            let route = entry.route.as_deref().is_none_or(|route| route == check.route);
            check.id == entry.check && route && check.verdict != Verdict::NotApplicable
        };
        let mut ran = report.checks.iter().filter(concerns).peekable();
        if ran.peek().is_some() && !ran.any(is_broken) {
            reasons.push(format!("{at}: `{}` holds now (remove the entry)", entry.check));
        }
    }
    for entry in &baseline.untested {
        let line = report.surfaces.iter().find(|line| line.surface == entry.surface);
        if line.is_some_and(|line| line.driven() && line.untested == 0) {
            let surface = entry.surface;
            let at = format!("{}:{}", baseline.file, entry.line);
            reasons.push(format!("{at}: {surface} is tested now (remove the entry)"));
        }
    }
    reasons
}

fn gaps(report: &Report, gate: &Gate) -> Vec<String> {
    if !report.surfaces.iter().chain(&report.areas).any(crate::record::SurfaceSummary::driven) {
        return vec!["nothing was driven".to_owned()];
    }
    if !gate.complete {
        return Vec::new();
    }
    let listed = |surface| {
        let baseline = gate.baseline.as_ref();
        baseline
            .is_some_and(|baseline| baseline.untested.iter().any(|entry| entry.surface == surface))
    };
    let lines = report.surfaces.iter().chain(&report.areas);
    let open = lines.filter(|line| {
        let twelve = line.number.is_some();
        !listed(line.surface) && (line.untested > 0 || (twelve && !line.driven()))
    });
    open.map(|line| format!("{} has {} untested", line.surface, line.untested)).collect()
}

#[cfg(test)]
mod tests;
