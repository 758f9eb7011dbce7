//! Pairs: a model of what a result can be made of, and the scenarios that combine it.
//!
//! Faults that live long need two things at once. The model lists axes (the text, the typed part,
//! the framing) and the values of each; every pair of values is fired in some row. All rows of a
//! surface are one scenario by its id, `SURFACE/pairs`, so that ids stay when the model grows.

mod cover;
mod file;

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::mistake::Mistake;
use crate::scenario::step::{Batch, Call};
use crate::scenario::{AnswerSpec, Delivery, Form, Framing, OutcomeSpec, Scenario, SseStyle, Step};
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
    pub exclude: Vec<Vec<(usize, Vec<usize>)>>,
}

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
    Row(Row),
}

impl Offer {
    fn has(&self, value: &Value) -> bool {
        let fits = |wanted: &Option<String>, offered: &[String]| {
            wanted.as_ref().is_none_or(|wanted| offered.contains(wanted))
        };
        fits(&value.route, &self.routes)
            && fits(&value.client, &self.clients)
            && fits(&value.upstream, &self.upstreams)
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

    /// The rows for a gateway: every pair of values that it can be given, and more of them up to the
    /// number that the model asks for. The same seed gives the same rows.
    pub fn rows(&self, offer: &Offer, seed: u64) -> Vec<Row> {
        let offered: Vec<Vec<usize>> = self.axes.iter().map(|axis| axis.offered(offer)).collect();
        if offered.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        let rows = self.space(&offered).cover(seed, self.rows);
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
        let reduced =
            |all: &Vec<(usize, Vec<usize>)>| all.iter().map(local).filter(tells).collect();
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

    fn built(&self, row: &Row, driven: &Driven) -> Scenario {
        let values: Vec<&Value> = self.values(row).collect();
        let word = |part: fn(&Value) -> &Option<String>| {
            values.iter().filter_map(|value| part(value).clone()).collect::<Vec<String>>()
        };
        let routes = word(|value| &value.route);
        let beside = values.iter().find_map(|value| Some((value.beside.as_ref()?, value.times)));
        let packs = routes.iter().any(|route| route == "batch");
        let (answers, steps) = self.fired(&values, beside, packs);
        let entry = if answers.len() > 1 { "batch.1" } else { "batch.0" };
        let of = packs.then_some(entry);
        Scenario {
            id: format!("{}/{SLUG}", driven.surface),
            surface: driven.surface,
            file: self.file.clone(),
            title: self.title.clone(),
            why: self.why.clone(),
            tool: word(|value| &value.tool).pop().unwrap_or_else(|| "echo".to_owned()),
            definition: None,
            answers,
            steps,
            checks: self.checks(&values, driven, of),
            observe: Vec::new(),
            routes,
            revisions: word(|value| &value.client),
            upstream_revisions: word(|value| &value.upstream),
            encodings: word(|value| &value.encoding),
            transports: Vec::new(),
            needs: Vec::new(),
            core_only: true,
            direct_broken: values.iter().any(|value| value.direct_broken),
            harmful: false,
            stress: false,
            deadline_ms: None,
            origin: Origin::Row(row.clone()),
        }
    }

    fn fired(
        &self,
        values: &[&Value],
        beside: Option<(&OutcomeSpec, usize)>,
        packs: bool,
    ) -> (IndexMap<String, AnswerSpec>, Vec<Step>) {
        let mut main =
            AnswerSpec { form: Form::Builtin, delivery: Delivery::default(), task: None };
        let mut outcome = OutcomeSpec::default();
        for value in values {
            add_outcome(&mut outcome, value);
            add_delivery(&mut main.delivery, &value.delivery);
        }
        main.form = Form::Outcome(outcome);
        let mut answers = IndexMap::from([("main".to_owned(), main)]);
        let mut batch = vec!["main".to_owned()];
        if let Some((outcome, times)) = beside {
            let mut outcome = outcome.clone();
            outcome.text = outcome.text.map(|text| repeated(&text, times));
            let delivery = Delivery::default();
            answers.insert(
                "beside".to_owned(),
                AnswerSpec { form: Form::Outcome(outcome), delivery, task: None },
            );
            batch = ["beside", "main", "beside"].map(str::to_owned).to_vec();
        }
        let step = if packs {
            Step::Batch(Batch { answers: batch, ..Batch::default() })
        } else {
            Step::Call(Call { answer: Some("main".to_owned()), ..Call::default() })
        };
        (answers, vec![step])
    }

    /// The checks that the values bring along, in the order of the model.
    fn checks(&self, values: &[&Value], driven: &Driven, of: Option<&str>) -> Vec<Check> {
        let only: Vec<&String> = values.iter().flat_map(|value| &value.only).collect();
        let mut wanted: Vec<&String> = values.iter().flat_map(|value| &value.adds).collect();
        wanted.extend(&self.always);
        let wanted = if only.is_empty() { wanted } else { only };
        let checks = driven.checks.iter().filter(|check| wanted.contains(&&check.name));
        let of = |check: &Check| Check {
            of: check.of.clone().or_else(|| of.map(str::to_owned)),
            ..check.clone()
        };
        checks.map(of).collect()
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
        let upstream = |at: usize| known.values.get(at).and_then(|value| value.upstream.as_ref());
        let mut values = known.offered(offer).into_iter().take_while(|at| *at < now);
        let to = values.find(|at| !known.routes() && upstream(*at) == upstream(now))?;
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

/// Adds a value's part of the outcome.
fn add_outcome(outcome: &mut OutcomeSpec, value: &Value) {
    let part = &value.outcome;
    if value.beside.is_none() {
        let text = part.text.as_deref().map(|text| repeated(text, value.times));
        outcome.text = text.or(outcome.text.take());
    }
    outcome.blocks.extend(part.blocks.iter().cloned());
    outcome.data = part.data.clone().or(outcome.data.take());
    outcome.meta = part.meta.clone().or(outcome.meta.take());
    outcome.error = part.error.or(outcome.error);
    outcome.extra.extend(part.extra.iter().map(|(name, json)| (name.clone(), json.clone())));
}

/// Adds a value's part of the delivery.
fn add_delivery(delivery: &mut Delivery, part: &Delivery) {
    if part.framing != Framing::default() {
        delivery.framing = part.framing;
    }
    delivery.gzip |= part.gzip;
    delivery.status = part.status.or(delivery.status);
    if part.sse != SseStyle::default() {
        delivery.sse = part.sse.clone();
    }
}

fn repeated(text: &str, times: usize) -> String {
    text.repeat(times.max(1))
}

#[cfg(test)]
mod tests;
