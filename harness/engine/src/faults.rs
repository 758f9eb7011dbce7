//! Faults: proof that the checks can fail.
//!
//! The reference gateway is run once as it is and once with each fault. A fault is caught when every
//! check that it names goes from pass to fail or warn, and no check outside the surfaces that it
//! names does.

use std::collections::{BTreeMap, BTreeSet};

use birdstrike_judge::Verdict;
use birdstrike_scenario::Surface;
use birdstrike_scenario::fault::FaultPromise;

use crate::error::EngineError;
use crate::event::Event;
use crate::record::CheckRecord;
use crate::runner::{self, Options};

/// What one fault did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caught {
    /// The fault.
    pub name: String,
    /// Checks that went from pass to fail or warn.
    pub tripped: BTreeSet<String>,
    /// Checks that it names and that did not trip.
    pub missed: Vec<String>,
    /// Tripped checks of surfaces that it does not name.
    pub outside: Vec<String>,
}

impl Caught {
    /// Whether it was caught as it promises.
    pub fn as_promised(&self) -> bool {
        self.missed.is_empty() && self.outside.is_empty()
    }
}

/// Which checks hold and which do not, by id, over all cells of a run.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    holds: BTreeMap<String, (Surface, bool)>,
}

impl Standing {
    fn take(&mut self, check: &CheckRecord) {
        let judged = matches!(check.verdict, Verdict::Pass | Verdict::Warn | Verdict::Fail);
        if judged {
            let entry = self.holds.entry(check.id.clone()).or_insert((check.surface, true));
            entry.1 &= check.verdict == Verdict::Pass;
        }
    }

    /// Checks that do not hold.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.holds.iter().filter(|(_, (_, holds))| !holds).map(|(id, _)| id.as_str())
    }

    /// All checks that were judged.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.holds.keys().map(String::as_str)
    }

    /// How many checks were judged.
    pub fn len(&self) -> usize {
        self.holds.len()
    }

    /// Whether nothing was judged.
    pub fn is_empty(&self) -> bool {
        self.holds.is_empty()
    }

    fn surface(&self, id: &str) -> Option<Surface> {
        self.holds.get(id).map(|(surface, _)| *surface)
    }
}

/// Runs the gateway, with a fault or as it is, and says how its checks stand.
///
/// # Errors
/// As [`runner::run`]; a gateway that a fault keeps from starting is one.
pub async fn standing(options: &Options, fault: Option<&str>) -> Result<Standing, EngineError> {
    let mut options = options.clone();
    let fault = serde_json::Value::from(fault.unwrap_or_default());
    options.ground.extra.insert("fault".to_owned(), fault);
    let mut standing = Standing::default();
    runner::run(&options, &mut |event| {
        if let Event::Checked(check) = event {
            standing.take(check);
        }
    })
    .await?;
    Ok(standing)
}

/// Compares a fault's run with the clean one.
pub fn compare(promise: &FaultPromise, clean: &Standing, faulty: &Standing) -> Caught {
    let clean_broken: BTreeSet<&str> = clean.broken().collect();
    let tripped: BTreeSet<String> =
        faulty.broken().filter(|id| !clean_broken.contains(id)).map(str::to_owned).collect();
    let missed = promise.trips.iter().filter(|id| !tripped.contains(*id)).cloned().collect();
    let outside = tripped
        .iter()
        .filter(|id| faulty.surface(id).is_some_and(|s| !promise.touches.contains(&s)))
        .cloned()
        .collect();
    Caught { name: promise.name.clone(), tripped, missed, outside }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(checks: &[(&str, Surface, bool)]) -> Standing {
        let holds =
            checks.iter().map(|(id, surface, holds)| ((*id).to_owned(), (*surface, *holds)));
        Standing { holds: holds.collect() }
    }

    #[test]
    fn a_fault_must_trip_what_it_names_and_nothing_elsewhere() {
        let (here, there) = (Surface::IsError, Surface::FlatReturn);
        let clean = standing(&[
            ("a", here, true),
            ("b", here, true),
            ("c", there, true),
            ("d", here, false),
        ]);
        let promise = FaultPromise {
            name: "f".into(),
            file: "f.yaml".into(),
            surface: here,
            trips: vec!["a".into(), "b".into()],
            touches: vec![here],
            blind: None,
        };
        let all = standing(&[
            ("a", here, false),
            ("b", here, false),
            ("c", there, true),
            ("d", here, false),
        ]);
        assert!(compare(&promise, &clean, &all).as_promised());
        let some = standing(&[("a", here, false), ("b", here, true), ("c", there, false)]);
        let caught = compare(&promise, &clean, &some);
        assert_eq!((caught.missed, caught.outside), (vec!["b".to_owned()], vec!["c".to_owned()]));
    }
}
