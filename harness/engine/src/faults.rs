//! Faults: proof that the checks can fail.
//!
//! The reference gateway is run once as it is, in the full matrix, and once with each fault. A fault
//! is caught when every check that it names goes from pass to fail or warn, and no check outside the
//! surfaces that it names does.
//!
//! Rows of pairs drive every surface at once, so any fault may trip their checks. A fault that names
//! nothing but them is one that no scenario written by hand catches: then nothing else may trip.
//!
//! With a fault every scenario runs in the core matrix; what was to trip and did not is run again in
//! the full one, as some mistakes show at one pair of revisions only.

pub mod alike;

use std::collections::{BTreeMap, BTreeSet};

use birdstrike_judge::{Fidelity, Verdict};
use birdstrike_scenario::fault::FaultPromise;
use birdstrike_scenario::pairs;
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::{Selector, Surface};

use crate::error::EngineError;
use crate::event::Event;
use crate::record::CheckRecord;
use crate::runner::{self, Options};

/// The check that every scenario has without naming it.
const VALID: &str = "valid";

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

    /// Whether it breaks so much that it proves nothing of any one check: over a tenth of all.
    ///
    /// [`VALID`] is left out of both counts. It stands in every scenario, so that one mistake in the
    /// envelope trips all of them at once, and yet each has seen it in answers of its own.
    pub fn is_broad(&self, clean: &Standing) -> bool {
        let counted = |ids: &mut dyn Iterator<Item = &str>| {
            ids.filter(|id| id.rsplit('/').next() != Some(VALID)).count()
        };
        let tripped = counted(&mut self.tripped.iter().map(String::as_str));
        tripped * 10 > counted(&mut clean.ids())
    }
}

/// Which checks hold and which do not, by id, over all cells of a run.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    holds: BTreeMap<String, (Surface, bool)>,
    /// Checks that hold because the profile declares what they would find.
    declared: BTreeSet<String>,
}

impl Standing {
    fn take(&mut self, check: &CheckRecord) {
        let judged = matches!(check.verdict, Verdict::Pass | Verdict::Warn | Verdict::Fail);
        if judged {
            let entry = self.holds.entry(check.id.clone()).or_insert((check.surface, true));
            entry.1 &= check.verdict == Verdict::Pass;
            if check.fidelity == Some(Fidelity::Declared) {
                self.declared.insert(check.id.clone());
            }
        }
    }

    /// What another run found beside this one.
    fn add(&mut self, other: Self) {
        for (id, (surface, holds)) in other.holds {
            self.holds.entry(id).or_insert((surface, true)).1 &= holds;
        }
        self.declared.extend(other.declared);
    }

    /// Checks that do not hold.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.holds.iter().filter(|(_, (_, holds))| !holds).map(|(id, _)| id.as_str())
    }

    /// Whether a check holds only because the profile declares what it would find: it cannot trip.
    pub fn is_declared(&self, id: &str) -> bool {
        self.declared.contains(id)
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

/// Runs one fault and says whether it was caught.
///
/// # Errors
/// As [`standing`].
pub async fn run(
    options: &Options,
    promise: &FaultPromise,
    clean: &Standing,
) -> Result<Caught, EngineError> {
    let core = Options { matrix: Matrix::Core, direct: false, ..options.clone() };
    let mut faulty = standing(&core, Some(&promise.name)).await?;
    let missed = compare(promise, clean, &faulty).missed;
    if !missed.is_empty() {
        let mut full = Options { matrix: Matrix::Full, direct: false, ..options.clone() };
        full.selection.checks = missed.iter().map(|id| Selector::new(id)).collect();
        faulty.add(standing(&full, Some(&promise.name)).await?);
    }
    Ok(compare(promise, clean, &faulty))
}

/// Compares a fault's run with the clean one.
pub fn compare(promise: &FaultPromise, clean: &Standing, faulty: &Standing) -> Caught {
    let clean_broken: BTreeSet<&str> = clean.broken().collect();
    let tripped: BTreeSet<String> =
        faulty.broken().filter(|id| !clean_broken.contains(id)).map(str::to_owned).collect();
    let missed = promise.trips.iter().filter(|id| !tripped.contains(*id)).cloned().collect();
    let only_pairs = promise.trips.iter().all(|id| is_of_pairs(id));
    let named = |id: &str| {
        let surface = faulty.surface(id).is_none_or(|surface| promise.touches.contains(&surface));
        is_of_pairs(id) || (surface && !only_pairs)
    };
    let outside = tripped.iter().filter(|id| !named(id)).cloned().collect();
    Caught { name: promise.name.clone(), tripped, missed, outside }
}

/// Whether a check is one of rows of pairs.
fn is_of_pairs(id: &str) -> bool {
    id.split('/').nth(1) == Some(pairs::SLUG)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(checks: &[(&str, Surface, bool)]) -> Standing {
        let holds =
            checks.iter().map(|(id, surface, holds)| ((*id).to_owned(), (*surface, *holds)));
        Standing { holds: holds.collect(), ..Standing::default() }
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

    #[test]
    fn a_fault_is_broad_by_what_it_trips_beside_the_check_that_all_have() {
        let here = Surface::IsError;
        let names: Vec<String> = (0..20)
            .flat_map(|n| [format!("is-error/s{n}/valid"), format!("is-error/s{n}/a")])
            .collect();
        let checks: Vec<_> = names.iter().map(|name| (name.as_str(), here, true)).collect();
        let clean = standing(&checks);
        let caught = |ends: &str, at_most: usize| Caught {
            name: "f".into(),
            tripped: names.iter().filter(|n| n.ends_with(ends)).take(at_most).cloned().collect(),
            missed: Vec::new(),
            outside: Vec::new(),
        };
        assert!(!caught("/valid", 20).is_broad(&clean));
        assert!(!caught("/a", 2).is_broad(&clean));
        assert!(caught("/a", 3).is_broad(&clean));
    }

    #[test]
    fn pairs_may_always_trip_and_a_fault_that_names_only_them_trips_nothing_else() {
        let (here, there) = (Surface::IsError, Surface::FlatReturn);
        let (plain, pairs) = ("is-error/a/b", "flat-return/pairs/whole");
        let clean = standing(&[(plain, here, true), (pairs, there, true)]);
        let both = standing(&[(plain, here, false), (pairs, there, false)]);
        let promise = |trips: &str| FaultPromise {
            name: "f".into(),
            file: "f.yaml".into(),
            surface: here,
            trips: vec![trips.into()],
            touches: vec![here],
            blind: None,
        };
        assert!(compare(&promise(plain), &clean, &both).as_promised());
        assert_eq!(compare(&promise(pairs), &clean, &both).outside, [plain]);
    }
}
