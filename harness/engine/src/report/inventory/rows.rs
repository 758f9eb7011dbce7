//! The rows of a surface and how they stand.

use std::fmt::Write;

use birdstrike_judge::{Fidelity, Verdict};
use birdstrike_scenario::requirement::Kind;
use birdstrike_scenario::{Requirement, Surface};

use super::marks::plain;
use super::{Page, is_broken};
use crate::record::CheckRecord;

/// How the checks that rest on a row stand.
#[derive(Default)]
pub(super) struct Standing<'a> {
    pub(super) held: usize,
    pub(super) declared: usize,
    pub(super) broken: usize,
    not_applicable: usize,
    /// The first that does not hold.
    pub(super) first: Option<&'a CheckRecord>,
}

impl<'a> Standing<'a> {
    pub(super) fn of(checks: impl Iterator<Item = &'a CheckRecord>) -> Self {
        let mut standing = Self::default();
        for check in checks {
            match (check.verdict, check.fidelity) {
                (Verdict::Pass, Some(Fidelity::Declared)) => standing.declared += 1,
                (Verdict::Pass, _) => standing.held += 1,
                (Verdict::NotApplicable, _) => standing.not_applicable += 1,
                _ if is_broken(check) => {
                    standing.broken += 1;
                    standing.first = standing.first.or(Some(check));
                }
                _ => {}
            }
        }
        standing
    }

    fn judged(&self) -> usize {
        self.held + self.declared + self.broken
    }

    /// In words: how often it holds.
    pub(super) fn words(&self) -> String {
        let judged = self.judged();
        match (self.broken, self.declared) {
            (0, 0) => format!("holds, {judged} of {judged}"),
            (0, declared) => format!("holds, {declared} of {judged} as declared"),
            (broken, _) if broken == judged => format!("does not hold, {judged} of {judged}"),
            (broken, _) => format!("does not hold in {broken} of {judged}"),
        }
    }
}

impl Page<'_> {
    /// The table of a surface's rows.
    pub(super) fn row_table(&self, out: &mut String, surface: Surface) {
        let rows: Vec<&Requirement> = self.rows(surface).collect();
        if rows.is_empty() {
            return;
        }
        let _ = writeln!(out, "| row | kind | what should be | what was seen |");
        let _ = writeln!(out, "|---|---|---|---|");
        for row in rows {
            let kind = match row.kind {
                Kind::Promise => "promise",
                Kind::Observation => "observation",
                Kind::Defect => "defect",
            };
            let _ = writeln!(
                out,
                "| {} | {kind} | {} | {} |",
                row.id,
                plain(&row.text),
                self.seen(row)
            );
        }
        out.push('\n');
    }

    /// What was seen of a row.
    fn seen(&self, row: &Requirement) -> String {
        if row.out_of_reach.is_some() {
            return "out of reach, see below".to_owned();
        }
        let standing = Standing::of(self.resting(&row.id));
        let mut seen = if standing.judged() > 0 {
            match (row.kind, standing.broken) {
                (Kind::Defect, 0) => format!("mended: {}", standing.words()),
                (Kind::Defect, _) => format!("still so: {}", standing.words()),
                _ => standing.words(),
            }
        } else if let Some(measured) = self.measured(&row.id) {
            measured
        } else if standing.not_applicable > 0 {
            "not claimed by this gateway".to_owned()
        } else {
            "untested".to_owned()
        };
        if let Some(found) = self.found(&row.id) {
            seen.push_str(&format!("; {}", plain(&found.did)));
        }
        seen
    }

    /// What somebody wrote down of this version.
    fn found(&self, id: &str) -> Option<&birdstrike_scenario::findings::Finding> {
        let rows = &self.findings.as_ref()?.rows;
        rows.iter().find(|(known, _)| known == id).map(|(_, finding)| finding)
    }

    /// The range of what was measured for a row.
    fn measured(&self, id: &str) -> Option<String> {
        let seen = self.report.observations.iter().filter(|seen| seen.requirement == id);
        let mut names: Vec<(&str, &str, f64, f64)> = Vec::new();
        for one in seen {
            match names.iter_mut().find(|(name, ..)| *name == one.name) {
                Some((_, _, low, high)) => {
                    (*low, *high) = (low.min(one.value), high.max(one.value));
                }
                None => names.push((&one.name, &one.unit, one.value, one.value)),
            }
        }
        let words = |(name, unit, low, high): (&str, &str, f64, f64)| {
            let same = (high - low).abs() < f64::EPSILON;
            let range = if same { low.to_string() } else { format!("{low} to {high}") };
            format!("{name} {range} {unit}")
        };
        let words: Vec<String> = names.into_iter().map(words).collect();
        (!words.is_empty()).then(|| format!("measured: {}", words.join(", ")))
    }
}
