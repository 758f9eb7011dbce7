//! The scenario file as it is written, and how it becomes a [`Scenario`].

use crate::yaml::At;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Scenario;
use super::answer::{AnswerSpec, Delivery, Form, OutcomeSpec, OversizedSpec, RawSpec};
use super::step::{Call, Step};
use crate::check::{CheckFile, Expect, Source};
use crate::mistake::Mistake;
use crate::surface::Surface;
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
    observe: Vec<String>,
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
}

fn echo() -> String {
    "echo".to_owned()
}

const ROUTES: [&str; 5] = ["flat", "batch", "facade", "task", "continuation"];
const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

pub(super) fn parse(name: &str, text: &str) -> Result<Scenario, Mistake> {
    let file: ScenarioFile = yaml::parse(name, text)?;
    let whole = Source { file: name, text, place: file.title.place };
    let (surface, slug) = identity(&whole)?;
    let answers = file.answers(&whole)?;
    let steps = file.steps(&answers, &whole)?;
    let checks = file.checks(&steps, &answers, &whole)?;
    if let Some(definition) = &file.definition {
        let source = Source { place: definition.place, ..whole };
        json(&definition.value, "definition", &source)?;
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
        title: file.title.value,
        why: file.why,
        tool: file.tool,
        definition: file.definition.map(|definition| definition.value),
        answers,
        steps,
        checks,
        observe: file.observe,
        direct_broken: file.direct.is_some(),
        harmful: file.harmful,
        stress: file.stress,
        deadline_ms: file.deadline_ms,
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
    Ok((surface, slug.to_owned()))
}

fn words(
    given: &[At<String>],
    known: &[&str],
    what: &str,
    source: &Source<'_>,
) -> Result<Vec<String>, Mistake> {
    for word in given {
        if !known.contains(&word.value.as_str()) {
            let source = Source { place: word.place, ..*source };
            let mend = format!("use one of {}", known.join(", "));
            return Err(source.mistake(&format!("no {what} `{}`", word.value), &mend));
        }
    }
    Ok(given.iter().map(|word| word.value.clone()).collect())
}

impl ScenarioFile {
    fn answers(&self, whole: &Source<'_>) -> Result<IndexMap<String, AnswerSpec>, Mistake> {
        let mut answers = IndexMap::new();
        let main = form(
            self.outcome.as_ref().map(|o| &o.value),
            self.raw.as_ref().map(|r| &r.value),
            self.oversized.as_ref().map(|o| &o.value),
            whole,
        )?;
        if main != Form::Builtin || self.answers.is_empty() {
            let delivery = self.delivery.clone();
            answers.insert("main".to_owned(), AnswerSpec { form: main, delivery });
        }
        for (name, spanned) in &self.answers {
            let source = Source { place: spanned.place, ..*whole };
            let file = &spanned.value;
            let (outcome, raw) = (file.outcome.as_ref(), file.raw.as_ref());
            let form = form(outcome, raw, file.oversized.as_ref(), &source)?;
            let delivery = file.delivery.clone();
            answers.insert(name.clone(), AnswerSpec { form, delivery });
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
            for answer in step.value.answers() {
                if !answers.contains_key(answer) {
                    let known: Vec<_> = answers.keys().map(String::as_str).collect();
                    let mend = format!("the answers are {}", known.join(", "));
                    return Err(source.mistake(&format!("no answer `{answer}`"), &mend));
                }
            }
            let name = step.value.name();
            if seen.contains(&name) {
                let mend = "give each a `save: NAME` of its own";
                return Err(source.mistake(&format!("two steps are called `{name}`"), mend));
            }
            seen.push(name);
        }
        Ok(self.steps.iter().map(|step| step.value.clone()).collect())
    }

    fn checks(
        &self,
        steps: &[Step],
        answers: &IndexMap<String, AnswerSpec>,
        whole: &Source<'_>,
    ) -> Result<Vec<crate::check::Check>, Mistake> {
        let mut checks = Vec::new();
        for (name, spanned) in &self.expect {
            let source = Source { place: spanned.place, ..*whole };
            let check = spanned.value.clone().build(name, &self.requirements, &source)?;
            if let Expect::SameAs { step, .. } = &check.expect {
                known_step(step, steps, &source)?;
            }
            if let Some(of) = &check.of {
                known_step(of, steps, &source)?;
            }
            slot_exists(&check, answers, &source)?;
            checks.push(check);
        }
        if checks.is_empty() {
            return Err(
                whole.mistake("the scenario expects nothing", "add a check under `expect:`")
            );
        }
        Ok(checks)
    }
}

/// A slot can only be judged where some answer fills it: a misspelt one would pass for ever.
fn slot_exists(
    check: &crate::check::Check,
    answers: &IndexMap<String, AnswerSpec>,
    source: &Source<'_>,
) -> Result<(), Mistake> {
    let (Expect::Intact { place, .. }
    | Expect::AcrossRoutes { place, .. }
    | Expect::SameAs { place, .. }) = &check.expect
    else {
        return Ok(());
    };
    let crate::check::Target::Slot(slot) = place else {
        return Ok(());
    };
    if answers.values().any(|answer| answer.form.fills(slot)) {
        return Ok(());
    }
    let title = format!("no answer fills slot `{slot}`");
    Err(source.mistake(&title, "name a slot of the outcome, or use `at: /pointer`"))
}

fn known_step(name: &str, steps: &[Step], source: &Source<'_>) -> Result<(), Mistake> {
    let found = steps.iter().any(|step| {
        let entry = name.strip_prefix(step.name()).and_then(|rest| rest.strip_prefix('.'));
        let entries = step.answers().len();
        step.name() == name
            || entry.and_then(|at| at.parse().ok()).is_some_and(|at: usize| at < entries)
    });
    if found {
        return Ok(());
    }
    let known: Vec<_> = steps.iter().map(Step::name).collect();
    let mend = format!("the steps are {}; an entry of a batch is NAME.0", known.join(", "));
    Err(source.mistake(&format!("no step `{name}`"), &mend))
}

fn form(
    outcome: Option<&OutcomeSpec>,
    raw: Option<&RawSpec>,
    oversized: Option<&OversizedSpec>,
    source: &Source<'_>,
) -> Result<Form, Mistake> {
    match (outcome, raw, oversized) {
        (None, None, None) => Ok(Form::Builtin),
        (Some(outcome), None, None) => {
            outcome.check(source)?;
            Ok(Form::Outcome(outcome.clone()))
        }
        (None, Some(raw), None) => {
            raw.check(source)?;
            Ok(Form::Raw(raw.clone()))
        }
        (None, None, Some(oversized)) => Ok(Form::Oversized(oversized.clone())),
        _ => Err(source.mistake(
            "an answer is written in more than one form",
            "keep one of `outcome`, `raw` and `oversized`",
        )),
    }
}

/// JSON text, checked with its markers in place. What only bytes can say (a lone surrogate, say)
/// passes: the grammar is checked and not the value.
fn json(text: &str, what: &str, source: &Source<'_>) -> Result<(), Mistake> {
    let filled = text.replace(['«', '»'], "");
    serde_json::from_str::<Box<serde_json::value::RawValue>>(&filled).map_err(|error| {
        // The block scalar's first line stands below its key; a caret at the key is close enough
        // and the words say the rest.
        let title = format!("`{what}` is not JSON: {error}");
        source.mistake(&title, "wire values are JSON text, best in a block scalar (`|`)")
    })?;
    Ok(())
}

impl OutcomeSpec {
    fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        for block in &self.blocks {
            json(block, "blocks", source)?;
        }
        for (name, value) in &self.extra {
            json(value, &format!("extra.{name}"), source)?;
        }
        let named = [
            ("data", &self.data),
            ("meta", &self.meta),
            ("task", &self.task),
            ("rpc-error", &self.rpc_error),
        ];
        for (what, value) in named {
            value.as_ref().map_or(Ok(()), |value| json(value, what, source))?;
        }
        Ok(())
    }
}

impl RawSpec {
    fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        let given = [&self.result, &self.error, &self.message, &self.body];
        if given.into_iter().flatten().count() != 1 {
            let mend = "give one of `result`, `error`, `message` and `body`";
            return Err(source.mistake("a raw answer has exactly one form", mend));
        }
        for (what, value) in [("result", &self.result), ("error", &self.error)] {
            value.as_ref().map_or(Ok(()), |value| json(value, what, source))?;
        }
        Ok(())
    }
}

impl Form {
    /// Whether the answer puts something in a slot, or must be asked to be sure that it does not.
    fn fills(&self, slot: &str) -> bool {
        let Self::Outcome(outcome) = self else {
            return true;
        };
        match slot.split_once('.').map_or((slot, ""), |split| split) {
            ("text", "") => outcome.text.is_some() || !outcome.blocks.is_empty(),
            ("data", "") => outcome.data.is_some(),
            ("meta", "") => outcome.meta.is_some(),
            ("error", "") => outcome.error.is_some(),
            ("task", "") => outcome.task.is_some(),
            ("rpc-error", _) => outcome.rpc_error.is_some(),
            ("extra", name) => outcome.extra.contains_key(name),
            ("block" | "link", at) => at.parse::<usize>().is_ok(),
            ("result" | "content", "") => true,
            _ => false,
        }
    }
}
