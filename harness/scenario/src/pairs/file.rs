//! The model of pairs as it is written, and how it becomes a [`Model`].

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Axis, Driven, Exclusion, Model, Row, Value};
use crate::check::{CheckFile, Source};
use crate::mistake::Mistake;
use crate::scenario::fit::Fit;
use crate::scenario::form::form;
use crate::scenario::{Delivery, OutcomeSpec};
use crate::surface::Surface;
use crate::word::{FEATURES, REVISIONS, ROUTES, named, words};
use crate::yaml::{self, At};

/// A model of pairs: `scenarios/pairs.yaml`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelFile {
    /// One sentence: what holds for every row.
    title: At<String>,
    /// Why it matters and what goes wrong in practice.
    #[serde(default)]
    why: String,
    /// What the choice of rows follows from: another seed, other rows.
    seed: u64,
    /// Rows at the least; once every pair is covered, triples are.
    rows: usize,
    /// Surfaces that are driven, with their routes and the requirements of checks that name none.
    surfaces: IndexMap<Surface, DrivenFile>,
    /// Checks by name, as in a scenario.
    checks: IndexMap<String, At<CheckFile>>,
    /// Checks of every row.
    always: Vec<At<String>>,
    /// What is combined: values by name, the simplest first.
    axes: IndexMap<String, IndexMap<String, At<ValueFile>>>,
    /// Combinations that cannot be: a row is left out when it has one of the named values on every
    /// axis that is named.
    #[serde(default)]
    exclude: Vec<At<IndexMap<String, Vec<String>>>>,
}

/// A surface that is driven.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct DrivenFile {
    /// Routes that reach it.
    routes: Vec<At<String>>,
    /// Requirements of checks that name none.
    requirements: Vec<String>,
}

/// A value: its part of the answer, of the way it is sent, or of the cell.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct ValueFile {
    /// Parts of the outcome. No two axes fill the same part, but for blocks and extra members.
    outcome: OutcomeSpec,
    /// How often the text is written, one copy behind the other; once unless given.
    times: usize,
    /// How the answer is sent.
    delivery: Delivery,
    /// The tool that is called; `echo` unless given.
    tool: Option<String>,
    /// The upstream whose tool it is, by its name; `main` unless given.
    from: Option<String>,
    /// The route.
    route: Option<String>,
    /// The client's revision.
    client: Option<String>,
    /// The upstream's revision.
    upstream: Option<String>,
    /// The encoding of the upstream's answer.
    encoding: Option<String>,
    /// The answer to two other calls of the same batch, one before and one behind.
    beside: Option<OutcomeSpec>,
    /// Features that the launch must have, as in a scenario.
    needs: Vec<String>,
    /// Checks that it adds.
    adds: Vec<String>,
    /// Checks that take the place of all others: beside this value the others are not judged.
    only: Vec<String>,
    /// `broken`: the upstream breaks rules on purpose.
    direct: Option<Direct>,
}

/// What is said of the direct column.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Direct {
    /// Expectations about what came back do not hold there, on purpose.
    Broken,
}

pub(super) fn parse(name: &str, text: &str) -> Result<Model, Mistake> {
    let file: ModelFile = yaml::parse(name, text)?;
    let whole = Source { file: name, text, place: file.title.place };
    let always = words(&file.always, &file.names(), "check", &whole)?;
    let axes = file.axes(&whole)?;
    apart(&axes, &whole)?;
    let model = Model {
        file: name.to_owned(),
        seed: file.seed,
        rows: file.rows,
        always,
        surfaces: file.driven(&whole)?,
        exclude: file.exclude(&axes, &whole)?,
        axes,
        title: file.title.value.clone(),
        why: file.why.clone(),
    };
    file.fit(&model, &whole)?;
    Ok(model)
}

impl ModelFile {
    /// The names of the checks.
    fn names(&self) -> Vec<&str> {
        self.checks.keys().map(String::as_str).collect()
    }

    fn driven(&self, whole: &Source<'_>) -> Result<Vec<Driven>, Mistake> {
        let mut surfaces = Vec::new();
        for (surface, driven) in &self.surfaces {
            let mut checks = Vec::new();
            for (name, check) in &self.checks {
                let source = Source { place: check.place, ..*whole };
                checks.push(check.value.clone().build(name, &driven.requirements, &source)?);
            }
            let routes = words(&driven.routes, &ROUTES, "route", whole)?;
            surfaces.push(Driven { surface: *surface, routes, checks });
        }
        Ok(surfaces)
    }

    fn axes(&self, whole: &Source<'_>) -> Result<Vec<Axis>, Mistake> {
        let mut axes = Vec::new();
        for (name, file) in &self.axes {
            named(name, "an axis", whole)?;
            let mut values = Vec::new();
            for (value, written) in file {
                let source = Source { place: written.place, ..*whole };
                values.push(self.value(value, &written.value, &source)?);
            }
            if values.is_empty() {
                let title = format!("axis `{name}` has no values");
                return Err(whole.mistake(&title, "give it two or more"));
            }
            axes.push(Axis { name: name.clone(), values });
        }
        Ok(axes)
    }

    fn value(&self, name: &str, file: &ValueFile, source: &Source<'_>) -> Result<Value, Mistake> {
        named(name, "a value", source)?;
        let given = |words: &Option<String>| -> Vec<At<String>> {
            let at = |value| At { value, place: source.place };
            words.iter().cloned().map(at).collect()
        };
        let all = |names: &[String]| -> Vec<At<String>> {
            let at = |value: &String| At { value: value.clone(), place: source.place };
            names.iter().map(at).collect()
        };
        let one = |words: Vec<String>| words.into_iter().next();
        form(Some(&file.outcome), None, None, source)?;
        form(file.beside.as_ref(), None, None, source)?;
        Ok(Value {
            name: name.to_owned(),
            outcome: file.outcome.clone(),
            times: file.times,
            delivery: file.delivery.clone(),
            tool: file.tool.clone(),
            from: file.from.clone(),
            route: one(words(&given(&file.route), &ROUTES, "route", source)?),
            client: one(words(&given(&file.client), &REVISIONS, "revision", source)?),
            upstream: one(words(&given(&file.upstream), &REVISIONS, "revision", source)?),
            encoding: one(words(&given(&file.encoding), &["json", "sse"], "encoding", source)?),
            beside: file.beside.clone(),
            needs: words(&all(&file.needs), &FEATURES, "feature", source)?,
            adds: words(&all(&file.adds), &self.names(), "check", source)?,
            only: words(&all(&file.only), &self.names(), "check", source)?,
            direct_broken: file.direct.is_some(),
        })
    }

    fn exclude(&self, axes: &[Axis], whole: &Source<'_>) -> Result<Vec<Exclusion>, Mistake> {
        let mut exclude = Vec::new();
        for one in &self.exclude {
            let source = Source { place: one.place, ..*whole };
            let mut parts = Vec::new();
            for (axis, values) in &one.value {
                let at = axes.iter().position(|known| known.name == *axis).ok_or_else(|| {
                    let known: Vec<_> = axes.iter().map(|axis| axis.name.as_str()).collect();
                    let mend = format!("the axes are {}", known.join(", "));
                    source.mistake(&format!("no axis `{axis}`"), &mend)
                })?;
                parts.push((at, places(&axes[at], values, &source)?));
            }
            if parts.len() < 2 {
                let mend = "name two axes or more; a value that never stands is simply taken out";
                return Err(source.mistake("an exclusion of one axis alone", mend));
            }
            exclude.push(parts);
        }
        Ok(exclude)
    }

    /// Whether each value's checks fit the answer that it makes: what fits no answer would pass for
    /// ever, or be blamed on us.
    fn fit(&self, model: &Model, whole: &Source<'_>) -> Result<(), Mistake> {
        for (at, axis) in model.axes.iter().enumerate() {
            for number in 0..axis.values.len() {
                let mut row = Row(vec![0; model.axes.len()]);
                row.0[at] = number;
                let Some(scenario) = model.scenario(&row).filter(|_| model.allows(&row)) else {
                    continue;
                };
                let fit = Fit { steps: &scenario.steps, answers: &scenario.answers };
                for check in &scenario.checks {
                    let place = self.checks.get(&check.name).map_or(whole.place, |c| c.place);
                    fit.check(check, &Source { place, ..*whole })?;
                }
            }
        }
        let plain = Row(vec![0; model.axes.len()]);
        if model.scenario(&plain).is_none() {
            let mend = "let an axis give every row its `route`, one of those under `surfaces`";
            return Err(whole.mistake("rows have no route to a surface", mend));
        }
        Ok(())
    }
}

/// Whether an outcome has some part.
type Fills = fn(&OutcomeSpec) -> bool;

/// No two axes fill the same part of the outcome: one would write over the other.
fn apart(axes: &[Axis], source: &Source<'_>) -> Result<(), Mistake> {
    let parts: [(&str, Fills); 6] = [
        ("text", |outcome| outcome.text.is_some()),
        ("data", |outcome| outcome.data.is_some()),
        ("meta", |outcome| outcome.meta.is_some()),
        ("error", |outcome| outcome.error.is_some()),
        ("task", |outcome| outcome.task.is_some()),
        ("rpc-error", |outcome| outcome.rpc_error.is_some()),
    ];
    for (part, fills) in parts {
        let most = usize::from(!matches!(part, "task" | "rpc-error"));
        let filled = |axis: &&Axis| axis.values.iter().any(|value| fills(&value.outcome));
        let axes: Vec<&str> = axes.iter().filter(filled).map(|axis| axis.name.as_str()).collect();
        if axes.len() > most {
            let title = format!("`{part}` is filled by {}", axes.join(" and "));
            let mend = "one axis may fill a part, and none a task or a JSON-RPC error";
            return Err(source.mistake(&title, mend));
        }
    }
    Ok(())
}

/// The places of values on an axis.
fn places(axis: &Axis, values: &[String], source: &Source<'_>) -> Result<Vec<usize>, Mistake> {
    let place = |name: &String| axis.values.iter().position(|value| value.name == *name);
    let missing = |name: &String| {
        let known: Vec<_> = axis.values.iter().map(|value| value.name.as_str()).collect();
        let mend = format!("the values of `{}` are {}", axis.name, known.join(", "));
        source.mistake(&format!("no value `{name}`"), &mend)
    };
    values.iter().map(|name| place(name).ok_or_else(|| missing(name))).collect()
}
