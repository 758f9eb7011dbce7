//! Across routes: a value kept on one route and lost on another is one finding that shows both.

use std::collections::BTreeMap;

use birdstrike_judge::{Blame, Fidelity, Verdict};
use birdstrike_scenario::{Scenario, Surface};

use super::is_whole;
use crate::cell::{Fate, Outcome, level};
use crate::launch::Launch;
use crate::plan::{Cell, encoding_word};
use crate::record::CheckRecord;

/// What is compared: one check of one scenario, in one revision and encoding.
type Key = (usize, usize, String, &'static str);

/// The fates of one launch.
#[derive(Debug, Default)]
pub(super) struct Across {
    fates: BTreeMap<Key, Vec<(String, Fate)>>,
}

impl Across {
    /// Takes the fates of a cell.
    pub(super) fn add(&mut self, cell: &Cell, outcome: &Outcome) {
        for fate in &outcome.fates {
            let revision = cell.revision.to_string();
            let key = (cell.scenario, fate.check, revision, encoding_word(cell.encoding));
            self.fates.entry(key).or_default().push((cell.route.clone(), fate.clone()));
        }
    }

    /// One record for each value that was seen on more than one route.
    pub(super) fn judge(self, scenarios: &[Scenario], launch: &Launch) -> Vec<CheckRecord> {
        let compared = self.fates.into_iter().filter(|(_, fates)| fates.len() > 1);
        compared
            .map(|((scenario, check, revision, encoding), fates)| {
                let scenario = &scenarios[scenario];
                record(scenario, check, &revision, encoding, &fates, launch)
            })
            .collect()
    }
}

fn record(
    scenario: &Scenario,
    check: usize,
    revision: &str,
    encoding: &str,
    fates: &[(String, Fate)],
    launch: &Launch,
) -> CheckRecord {
    let check = &scenario.checks[check];
    let whole = |(_, fate): &&(String, Fate)| is_whole(fate.fidelity);
    let kept: Vec<_> = fates.iter().filter(whole).map(|(route, _)| route.as_str()).collect();
    let holds = kept.is_empty() || kept.len() == fates.len();
    let routes: Vec<_> = fates.iter().map(|(route, _)| route.as_str()).collect();
    let broken: Vec<String> = fates
        .iter()
        .filter(|fate| !whole(fate))
        .map(|(route, fate)| format!("{} on {route} ({})", fate.fidelity.as_str(), fate.message))
        .collect();
    let worst = fates.iter().find(|fate| !whole(fate)).map(|(_, fate)| fate.fidelity);
    let level = level(check.level);
    CheckRecord {
        id: scenario.check_id(&check.name),
        surface: Surface::clone(&scenario.surface),
        launch: launch.name.clone(),
        route: routes.join("+"),
        revision: revision.to_owned(),
        encoding: encoding.to_owned(),
        verdict: Verdict::of(level, holds),
        fidelity: Some(if holds { Fidelity::Intact } else { worst.unwrap_or(Fidelity::Altered) }),
        blame: (!holds).then_some(Blame::Gateway),
        level,
        requirements: check.requirements.clone(),
        message: if holds {
            String::new()
        } else {
            format!("intact on {}, {}", kept.join(" and "), broken.join(", "))
        },
        written: format!("{}:{}", scenario.file, check.line),
        combined: None,
        evidence: None,
    }
}
