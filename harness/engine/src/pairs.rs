//! Pairs at run time: each row of the model becomes a scenario of one cell, and a result that does
//! not arrive is made as small as it can be while it still does not.

use std::sync::Arc;

use birdstrike_judge::Verdict;
use birdstrike_scenario::pairs::{Model, Offer, Origin, Row};
use birdstrike_scenario::profile::Matrix;
use birdstrike_scenario::{Catalogue, Profile, Scenario};

use crate::cell;
use crate::launch::Launch;
use crate::plan::{Cell, Selection, selected};
use crate::record::{CheckRecord, Combined, Totals};
use crate::runner::Options;

/// Results that are made small on one route of a launch; what is wrong with further ones is told as it
/// is.
const MOST: usize = 6;

/// The options with a scenario for each row that this gateway can be given; nothing where no row is
/// wanted.
pub fn with_rows(options: &Options) -> Option<Options> {
    let rows = rows(options)?;
    let mut catalogue = Catalogue::clone(&options.catalogue);
    catalogue.scenarios.extend(rows);
    Some(Options { catalogue: Arc::new(catalogue), ..options.clone() })
}

fn rows(options: &Options) -> Option<Vec<Scenario>> {
    let catalogue = &options.catalogue;
    let model = catalogue.pairs.as_ref()?;
    let made = |scenario: &&Scenario| scenario.origin == Origin::Model;
    let mut entries = catalogue.scenarios.iter().filter(made);
    if !entries.any(|entry| selected(entry, &options.selection)) {
        return None;
    }
    let offer = offer(&options.profile.profile, options.matrix);
    // A run that compares the gateway with itself needs every pair and no more.
    let at_least = if options.direct { model.rows } else { 0 };
    let rows = model.rows(&offer, seed(model, &options.selection), at_least);
    Some(rows.iter().filter_map(|row| model.scenario(row)).collect())
}

/// The seed that was asked for, or the model's own.
fn seed(model: &Model, selection: &Selection) -> u64 {
    selection.seed.unwrap_or(model.seed)
}

/// What a gateway can be given: in the core matrix its preferred revisions alone.
fn offer(profile: &Profile, matrix: Matrix) -> Offer {
    let revisions = |all: &[String]| match matrix {
        Matrix::Core => all.iter().take(1).cloned().collect(),
        Matrix::Full => all.to_vec(),
    };
    let variants = profile.variants.keys().flat_map(|name| profile.features(Some(name)));
    Offer {
        routes: profile.routes.keys().cloned().collect(),
        clients: revisions(&profile.revisions.client),
        upstreams: revisions(&profile.revisions.upstream),
        features: profile.features(None).chain(variants).map(str::to_owned).collect(),
    }
}

/// What a record says of the row that it was judged on.
pub(crate) fn combined(scenario: &Scenario) -> Option<Combined> {
    match &scenario.origin {
        Origin::Row { words, .. } => Some(Combined { values: words.clone(), smallest: None }),
        Origin::File | Origin::Model => None,
    }
}

/// A check of a row that does not hold.
pub(crate) struct Broken {
    pub(crate) cell: Cell,
    pub(crate) row: Row,
    pub(crate) record: CheckRecord,
}

/// A row that cannot be made smaller.
struct Smallest {
    /// All checks that do not hold on it.
    checks: Vec<String>,
    route: String,
    row: Row,
    words: String,
}

/// Makes results small, on the launch that they were seen on.
pub(crate) struct Shrink<'a> {
    model: &'a Model,
    launch: &'a Launch,
    offer: Offer,
    known: Vec<Smallest>,
    /// What was fired for it.
    pub(crate) totals: Totals,
}

impl<'a> Shrink<'a> {
    pub(crate) fn new(options: &'a Options, launch: &'a Launch) -> Option<Self> {
        let model = options.catalogue.pairs.as_ref()?;
        let offer = offer(launch.profile(), options.matrix);
        Some(Self { model, launch, offer, known: Vec::new(), totals: Totals::default() })
    }

    /// The record, with the smallest result that shows the same: one that is known already where
    /// the row holds all of it, or a new one.
    pub(crate) async fn shrunk(&mut self, broken: Broken) -> CheckRecord {
        let Broken { cell, row, mut record } = broken;
        let same = |known: &&Smallest| {
            known.route == cell.route
                && known.checks.contains(&record.id)
                && self.model.holds(&row, &known.row)
        };
        if let Some(known) = self.known.iter().find(same) {
            tell(&mut record, &known.words);
            return record;
        }
        if self.known.iter().filter(|known| known.route == cell.route).count() >= MOST {
            return record;
        }
        let (smallest, found) = self.smallest(&cell, row, &record.id).await;
        let words = self.model.words(&smallest);
        let mut checks: Vec<String> = found.iter().map(|found| found.id.clone()).collect();
        if let Some(found) = found.into_iter().find(|found| found.id == record.id) {
            record.message = found.message;
            record.evidence = found.evidence;
        } else {
            checks.push(record.id.clone());
        }
        tell(&mut record, &words);
        self.known.push(Smallest { checks, route: cell.route, row: smallest, words });
        record
    }

    /// Leads the values back to the simplest, one axis after another, while the check still does not
    /// hold; and once more, as one value may have stood in another's way.
    async fn smallest(
        &mut self,
        cell: &Cell,
        mut row: Row,
        check: &str,
    ) -> (Row, Vec<CheckRecord>) {
        let mut found = Vec::new();
        for _ in 0..2 {
            let before = row.clone();
            for axis in 0..self.model.axes.len() {
                let Some(simpler) = self.model.simpler(&row, axis, &self.offer) else {
                    continue;
                };
                let broken = self.broken(cell, &simpler).await;
                if broken.iter().any(|record| record.id == check) {
                    row = simpler;
                    found = broken;
                }
            }
            if row == before {
                break;
            }
        }
        (row, found)
    }

    /// The checks that do not hold on a row.
    async fn broken(&mut self, cell: &Cell, row: &Row) -> Vec<CheckRecord> {
        let Some(scenario) = self.model.scenario(row) else {
            return Vec::new();
        };
        let revision = scenario.revisions.first().and_then(|name| name.parse().ok());
        let sse = scenario.encodings.iter().any(|word| word == "sse");
        let (json, sse) =
            (birdstrike_canary::Encoding::Json, sse.then_some(birdstrike_canary::Encoding::Sse));
        let cell = Cell {
            revision: revision.unwrap_or(cell.revision),
            encoding: sse.unwrap_or(json),
            ..cell.clone()
        };
        let outcome = cell::run(cell::Hold::Shared(self.launch), &scenario, &cell).await;
        self.totals.calls += outcome.calls;
        self.totals.deadlines += outcome.deadlines;
        outcome.records.into_iter().filter(is_broken).collect()
    }
}

fn tell(record: &mut CheckRecord, words: &str) {
    if let Some(combined) = &mut record.combined {
        combined.smallest = Some(words.to_owned());
    }
}

/// Whether the gateway did something wrong.
pub(crate) fn is_broken(record: &CheckRecord) -> bool {
    matches!(record.verdict, Verdict::Fail | Verdict::Warn)
}
