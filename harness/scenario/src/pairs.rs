//! Pairs: a model of what a result can be made of, and the scenarios that combine it.
//!
//! Faults that live long need two things at once. The model lists axes (the text, the typed part,
//! the framing) and the values of each; every pair of values is fired in some row. All rows of a
//! surface are one scenario by its id, `SURFACE/pairs`, so that ids stay when the model grows.

mod build;
mod cover;
mod file;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::mistake::Mistake;
use crate::scenario::{Delivery, OutcomeSpec, Scenario};
use crate::surface::Surface;

use cover::Space;
pub use file::ModelFile;

/// The last part of the id of every scenario that is made from the model.
pub const SLUG: &str = "pairs";

/// A model of pairs, checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// The file's name, for messages.
    pub file: String,
    /// One sentence: what holds for every row.
    pub title: String,
    /// Why it matters.
    pub why: String,
    /// What the choice of rows follows from.
    pub seed: u64,
    /// Rows at the least, as far as there are so many.
    pub rows: usize,
    /// Checks of every row, by name.
    pub always: Vec<String>,
    /// The surfaces that are driven.
    pub surfaces: Vec<Driven>,
    /// What is combined.
    pub axes: Vec<Axis>,
    /// Values that cannot all stand in one row: axes and values by their places.
    pub exclude: Vec<Exclusion>,
}

/// Values that cannot all stand in one row: axes and the values meant, by their places.
pub type Exclusion = Vec<(usize, Vec<usize>)>;

/// A surface that rows are fired at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Driven {
    /// The surface.
    pub surface: Surface,
    /// The routes that reach it.
    pub routes: Vec<String>,
    /// All checks of the model, with the requirements of this surface.
    pub checks: Vec<Check>,
}

/// One thing that varies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its values, the simplest first.
    pub values: Vec<Value>,
}

/// One value of an axis: its part of the answer and of the cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Parts of the outcome.
    pub outcome: OutcomeSpec,
    /// How often the text is written, one copy behind the other.
    pub times: usize,
    /// How the answer is sent.
    pub delivery: Delivery,
    /// The tool that is called.
    pub tool: Option<String>,
    /// The upstream whose tool it is.
    pub from: Option<String>,
    /// The route.
    pub route: Option<String>,
    /// The client's revision.
    pub client: Option<String>,
    /// The upstream's revision.
    pub upstream: Option<String>,
    /// The encoding of the upstream's answer.
    pub encoding: Option<String>,
    /// The answer to two other calls of the same batch, one before and one behind.
    pub beside: Option<OutcomeSpec>,
    /// Features that the launch must have.
    pub needs: Vec<String>,
    /// Checks that it adds.
    pub adds: Vec<String>,
    /// Checks that take the place of all others beside this value.
    pub only: Vec<String>,
    /// The upstream breaks rules on purpose with this value.
    pub direct_broken: bool,
}

/// One combination: the place of the chosen value on each axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Row(pub Vec<usize>);

/// What a gateway offers; values that need more are left out.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// Its routes.
    pub routes: Vec<String>,
    /// Revisions of its clients.
    pub clients: Vec<String>,
    /// Revisions of its upstreams.
    pub upstreams: Vec<String>,
    /// Features of its configurations.
    pub features: Vec<String>,
}

/// Where a scenario comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A file of its own.
    #[default]
    File,
    /// The model of pairs: it stands for all rows of its surface and is never fired itself.
    Model,
    /// One row of the model.
    Row {
        /// The row.
        row: Row,
        /// It in words, see [`Model::words`].
        words: String,
    },
}

impl Offer {
    fn has(&self, value: &Value) -> bool {
        let fits = |wanted: &Option<String>, offered: &[String]| {
            wanted.as_ref().is_none_or(|wanted| offered.contains(wanted))
        };
        fits(&value.route, &self.routes)
            && fits(&value.client, &self.clients)
            && fits(&value.upstream, &self.upstreams)
            && value.needs.iter().all(|need| self.features.contains(need))
    }
}

impl Model {
    /// Parses the model.
    ///
    /// # Errors
    /// A [`Mistake`] with line, caret and how to mend it.
    pub fn parse(file: &str, source: &str) -> Result<Self, Mistake> {
        file::parse(file, source)
    }

    /// One scenario a surface, which stands for all rows in listings.
    pub fn entries(&self) -> Vec<Scenario> {
        let entry = |driven: &Driven| {
            let row = Row(vec![0; self.axes.len()]);
            let plain = self.built(&row, driven);
            let routes = driven.routes.clone();
            let empty = Vec::new;
            Scenario {
                origin: Origin::Model,
                checks: driven.checks.clone(),
                routes,
                revisions: empty(),
                upstream_revisions: empty(),
                encodings: empty(),
                ..plain
            }
        };
        self.surfaces.iter().map(entry).collect()
    }

    /// The rows for a gateway: every pair of values that it can be given, and more of them up to a
    /// number. The same seed gives the same rows.
    pub fn rows(&self, offer: &Offer, seed: u64, at_least: usize) -> Vec<Row> {
        let offered: Vec<Vec<usize>> = self.axes.iter().map(|axis| axis.offered(offer)).collect();
        if offered.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        let rows = self.space(&offered).cover(seed, at_least);
        let back = |row: Vec<usize>| {
            let places = row.iter().zip(&offered);
            Row(places.filter_map(|(at, known)| known.get(*at).copied()).collect())
        };
        rows.into_iter().map(back).collect()
    }

    /// The values that are offered, as a space to be covered.
    fn space(&self, offered: &[Vec<usize>]) -> Space {
        let place = |axis: usize, value: &usize| offered[axis].iter().position(|v| v == value);
        let mut masks = HashSet::new();
        for (at, axis) in self.axes.iter().enumerate() {
            for (number, value) in axis.values.iter().enumerate() {
                if !value.only.is_empty() {
                    masks.extend(place(at, &number).map(|local| (at, local)));
                }
            }
        }
        let local = |(axis, values): &(usize, Vec<usize>)| {
            (*axis, values.iter().filter_map(|value| place(*axis, value)).collect::<Vec<_>>())
        };
        // A part that every value offered meets says nothing more: without it, what can never stand
        // is seen at once.
        let tells = |(axis, values): &(usize, Vec<usize>)| values.len() < offered[*axis].len();
        let reduced = |all: &Exclusion| all.iter().map(local).filter(tells).collect();
        let exclude = self.exclude.iter().map(reduced).collect();
        Space { sizes: offered.iter().map(Vec::len).collect(), masks, exclude }
    }

    /// The scenario of one row, which has exactly one cell.
    pub fn scenario(&self, row: &Row) -> Option<Scenario> {
        Some(self.built(row, self.driven(row)?))
    }

    /// The surface that a row drives, by its route.
    fn driven(&self, row: &Row) -> Option<&Driven> {
        let route = self.values(row).find_map(|value| value.route.as_ref())?;
        self.surfaces.iter().find(|driven| driven.routes.contains(route))
    }

    fn values<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a Value> {
        self.axes.iter().zip(&row.0).filter_map(|(axis, at)| axis.values.get(*at))
    }

    /// A row in words: the values that are not the simplest of their axis. The route is told
    /// elsewhere.
    pub fn words(&self, row: &Row) -> String {
        let told = self.axes.iter().zip(&row.0).filter(|(axis, at)| **at > 0 && !axis.routes());
        let word = |(axis, at): (&Axis, &usize)| {
            let value = axis.values.get(*at).map_or("", |value| value.name.as_str());
            format!("{} {value}", axis.name)
        };
        let words: Vec<String> = told.map(word).collect();
        if words.is_empty() { "nothing but a plain text".to_owned() } else { words.join(", ") }
    }

    /// The row with one axis at the simplest value that the gateway can be given, where that is
    /// another row of the same surface and launch which the exclusions allow.
    pub fn simpler(&self, row: &Row, axis: usize, offer: &Offer) -> Option<Row> {
        let known = self.axes.get(axis)?;
        let now = *row.0.get(axis)?;
        let launch = |at: usize| {
            let value = known.values.get(at);
            value.map(|value| (value.upstream.as_ref(), &value.needs))
        };
        let mut values = known.offered(offer).into_iter().take_while(|at| *at < now);
        let to = values.find(|at| !known.routes() && launch(*at) == launch(now))?;
        let mut simpler = row.clone();
        *simpler.0.get_mut(axis)? = to;
        self.allows(&simpler).then_some(simpler)
    }

    /// Whether no exclusion forbids a row.
    fn allows(&self, row: &Row) -> bool {
        let chosen: Vec<Option<usize>> = row.0.iter().copied().map(Some).collect();
        Space { exclude: self.exclude.clone(), ..Space::default() }.allows(&chosen)
    }

    /// Whether a row holds every value of another that is not the simplest: what is wrong with the
    /// other is wrong with it.
    pub fn holds(&self, row: &Row, other: &Row) -> bool {
        row.0.iter().zip(&other.0).all(|(one, other)| *other == 0 || one == other)
    }
}

impl Axis {
    fn offered(&self, offer: &Offer) -> Vec<usize> {
        let values = self.values.iter().enumerate();
        values.filter(|(_, value)| offer.has(value)).map(|(at, _)| at).collect()
    }

    /// Whether this is the axis of routes.
    fn routes(&self) -> bool {
        self.values.iter().any(|value| value.route.is_some())
    }
}

#[cfg(test)]
mod tests;
