//! The scenario file as it is written, and how it becomes a [`Scenario`].

use crate::yaml::At;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Scenario;
use super::answer::{AnswerSpec, Delivery, Form, OutcomeSpec, OversizedSpec, RawSpec, TaskSpec};
use super::fit::Fit;
use super::form::{delivered, form, object, tasked};
use super::step::{Call, Step};
use crate::check::{Check, CheckFile, Source};
use crate::mistake::Mistake;
use crate::pairs::Origin;
use crate::surface::Surface;
use crate::word::{FEATURES, OBSERVATIONS, REVISIONS, ROUTES, named, words};
use crate::yaml;

/// A scenario file. `outcome`, `raw` or `oversized` is sugar for one answer named `main`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScenarioFile {
    /// One sentence: what holds when all checks pass.
    title: At<String>,
    /// Why it matters and what goes wrong in practice.
    #[serde(default)]
    why: String,
    /// Requirements of every check that names none of its own.
    #[serde(default)]
    requirements: Vec<String>,
    /// Features that the launch must have.
    #[serde(default)]
    needs: Vec<At<String>>,
    /// The tool that is called; `echo` unless given.
    #[serde(default = "echo")]
    tool: String,
    /// A tool definition of its own: JSON text.
    definition: Option<At<String>>,
    /// The answer, without a wire shape.
    outcome: Option<At<OutcomeSpec>>,
    /// The answer, as bytes.
    raw: Option<At<RawSpec>>,
    /// The answer, by its size.
    oversized: Option<At<OversizedSpec>>,
    /// How the answer is sent.
    #[serde(default)]
    delivery: Delivery,
    /// The answer is that of a task.
    task: Option<TaskSpec>,
    /// Several answers by name.
    #[serde(default)]
    answers: IndexMap<String, At<AnswerFile>>,
    /// What is done, in order.
    #[serde(default)]
    steps: Vec<At<Step>>,
    /// What is expected, by the check's name.
    expect: IndexMap<String, At<CheckFile>>,
    /// What is measured and shown without a verdict.
    #[serde(default)]
    observe: Vec<At<String>>,
    /// Routes; all that the surface reaches unless given.
    #[serde(default)]
    routes: Vec<At<String>>,
    /// Client revisions; all unless given.
    #[serde(default)]
    revisions: Vec<At<String>>,
    /// Upstream revisions; all unless given.
    #[serde(default)]
    upstream_revisions: Vec<At<String>>,
    /// Encodings of the upstream's answer; both unless given.
    #[serde(default)]
    encodings: Vec<At<String>>,
    /// Transports of the upstream; `http` unless given.
    #[serde(default)]
    transports: Vec<At<String>>,
    /// `core`: revisions make no difference; in the full matrix too it runs once a route, in the
    /// preferred revisions.
    matrix: Option<Only>,
    /// `broken`: the upstream is at fault on purpose.
    direct: Option<Direct>,
    /// May leave the gateway unwell.
    #[serde(default)]
    harmful: bool,
    /// Belongs to `--stress`.
    #[serde(default)]
    stress: bool,
    /// A deadline of its own, in milliseconds.
    deadline_ms: Option<u64>,
}

/// The one matrix that a scenario can keep to.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Only {
    /// Each check once a route.
    Core,
}

/// What is said of the direct column.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Direct {
    /// Expectations about what came back do not hold there, on purpose.
    Broken,
}

/// One of several answers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct AnswerFile {
    outcome: Option<OutcomeSpec>,
    raw: Option<RawSpec>,
    oversized: Option<OversizedSpec>,
    #[serde(default)]
    delivery: Delivery,
    task: Option<TaskSpec>,
}

fn echo() -> String {
    "echo".to_owned()
}

pub(super) fn parse(name: &str, text: &str) -> Result<Scenario, Mistake> {
    let file: ScenarioFile = yaml::parse(name, text)?;
    let whole = Source { file: name, text, place: file.title.place };
    let (surface, slug) = identity(&whole)?;
    let answers = file.answers(&whole)?;
    let steps = file.steps(&answers, &whole)?;
    let checks = file.checks(&steps, &answers, &whole)?;
    if let Some(definition) = &file.definition {
        let source = Source { place: definition.place, ..whole };
        object(&definition.value, "definition", &source)?;
    }
    Ok(Scenario {
        id: format!("{surface}/{slug}"),
        surface,
        file: name.to_owned(),
        routes: words(&file.routes, &ROUTES, "route", &whole)?,
        revisions: words(&file.revisions, &REVISIONS, "revision", &whole)?,
        upstream_revisions: words(&file.upstream_revisions, &REVISIONS, "revision", &whole)?,
        encodings: words(&file.encodings, &["json", "sse"], "encoding", &whole)?,
        transports: words(&file.transports, &["http", "stdio"], "transport", &whole)?,
        needs: words(&file.needs, &FEATURES, "feature", &whole)?,
        title: file.title.value,
        why: file.why,
        tool: file.tool,
        definition: file.definition.map(|definition| definition.value),
        answers,
        steps,
        checks,
        observe: words(&file.observe, &OBSERVATIONS, "observation", &whole)?,
        core_only: file.matrix.is_some(),
        direct_broken: file.direct.is_some(),
        harmful: file.harmful,
        stress: file.stress,
        deadline_ms: file.deadline_ms,
        origin: Origin::File,
    })
}

/// Surface and slug, from folder and file name.
fn identity(source: &Source<'_>) -> Result<(Surface, String), Mistake> {
    let parts: Vec<&str> = source.file.split(['/', '\\']).collect();
    let [.., folder, file] = parts.as_slice() else {
        return Err(source
            .mistake("the file stands in no surface's folder", "move it to scenarios/SURFACE/"));
    };
    let surface = Surface::from_slug(folder).ok_or_else(|| {
        let known: Vec<_> = Surface::all().map(Surface::slug).collect();
        let mend = format!("the folder is one of {}", known.join(", "));
        source.mistake(&format!("`{folder}` is no surface"), &mend)
    })?;
    let slug = file.strip_suffix(".yaml").unwrap_or(file);
    named(slug, "a scenario", source)?;
    Ok((surface, slug.to_owned()))
}

impl ScenarioFile {
    fn answers(&self, whole: &Source<'_>) -> Result<IndexMap<String, AnswerSpec>, Mistake> {
        let mut answers = IndexMap::new();
        let places = [
            self.outcome.as_ref().map(|o| o.place),
            self.raw.as_ref().map(|r| r.place),
            self.oversized.as_ref().map(|o| o.place),
        ];
        let place = places.into_iter().flatten().next().unwrap_or(whole.place);
        let main = form(
            self.outcome.as_ref().map(|o| &o.value),
            self.raw.as_ref().map(|r| &r.value),
            self.oversized.as_ref().map(|o| &o.value),
            &Source { place, ..*whole },
        )?;
        let stray = self.delivery != Delivery::default() || self.task.is_some();
        if main == Form::Builtin && !self.answers.is_empty() && stray {
            let mend = "write it inside the answer that is delivered so";
            return Err(whole.mistake("`delivery` or `task` stands beside several answers", mend));
        }
        // What only lists or asks the gateway itself needs no answer.
        let calls = self.steps.is_empty()
            || self.steps.iter().any(|step| step.value.answers().contains(&"main"));
        if main != Form::Builtin || self.answers.is_empty() && calls {
            delivered(&self.delivery, whole)?;
            tasked(self.task.as_ref(), &main, whole)?;
            let (delivery, task) = (self.delivery.clone(), self.task.clone());
            answers.insert("main".to_owned(), AnswerSpec { form: main, delivery, task });
        }
        for (name, spanned) in &self.answers {
            let source = Source { place: spanned.place, ..*whole };
            named(name, "an answer", &source)?;
            let file = &spanned.value;
            let (outcome, raw) = (file.outcome.as_ref(), file.raw.as_ref());
            let form = form(outcome, raw, file.oversized.as_ref(), &source)?;
            delivered(&file.delivery, &source)?;
            tasked(file.task.as_ref(), &form, &source)?;
            let (delivery, task) = (file.delivery.clone(), file.task.clone());
            answers.insert(name.clone(), AnswerSpec { form, delivery, task });
        }
        Ok(answers)
    }

    fn steps(
        &self,
        answers: &IndexMap<String, AnswerSpec>,
        whole: &Source<'_>,
    ) -> Result<Vec<Step>, Mistake> {
        if self.steps.is_empty() {
            let only = answers.keys().next().cloned();
            return Ok(vec![Step::Call(Call { answer: only, ..Call::default() })]);
        }
        let mut seen: Vec<&str> = Vec::new();
        for step in &self.steps {
            let source = Source { place: step.place, ..*whole };
            step.value.check(&source)?;
            for answer in step.value.answers() {
                if !answers.contains_key(answer) {
                    let known: Vec<_> = answers.keys().map(String::as_str).collect();
                    let mend = format!("the answers are {}", known.join(", "));
                    return Err(source.mistake(&format!("no answer `{answer}`"), &mend));
                }
            }
            for name in step.value.flat().iter().map(Step::name).filter(|name| !name.is_empty()) {
                if seen.contains(&name) {
                    let mend = "give each a `save: NAME` of its own";
                    return Err(source.mistake(&format!("two steps are called `{name}`"), mend));
                }
                seen.push(name);
            }
        }
        Ok(self.steps.iter().map(|step| step.value.clone()).collect())
    }

    fn checks(
        &self,
        steps: &[Step],
        answers: &IndexMap<String, AnswerSpec>,
        whole: &Source<'_>,
    ) -> Result<Vec<Check>, Mistake> {
        let fit = Fit { steps, answers };
        for (step, spanned) in steps.iter().zip(&self.steps) {
            fit.step(step, &Source { place: spanned.place, ..*whole })?;
        }
        if let Some(name) = fit.unasked() {
            let place = self.answers.get(name).map_or(whole.place, |answer| answer.place);
            let source = Source { place, ..*whole };
            let mend = "call it in a step, or take it out";
            return Err(source.mistake(&format!("no step asks for answer `{name}`"), mend));
        }
        let mut checks = Vec::new();
        for (name, spanned) in &self.expect {
            let source = Source { place: spanned.place, ..*whole };
            let check = spanned.value.clone().build(name, &self.requirements, &source)?;
            fit.check(&check, &source)?;
            checks.push(check);
        }
        if checks.is_empty() {
            let mend = "add a check under `expect:`";
            return Err(whole.mistake("the scenario expects nothing", mend));
        }
        Ok(checks)
    }
}
