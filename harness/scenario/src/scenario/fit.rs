//! Whether checks fit the steps and answers of their scenario. What does not fit would pass for
//! ever, or never be judged.

use indexmap::IndexMap;

use super::answer::AnswerSpec;
use super::step::Step;
use crate::check::{Check, Expect, Source, Target};
use crate::mistake::Mistake;

/// What a check speaks of.
enum Subject<'a> {
    /// One call, and the answer that it is given.
    Call(&'a str),
    /// A whole batch, and whether it is one that the route's own tool refuses.
    Batch { misuse: bool },
}

/// The steps and answers of a scenario.
pub(crate) struct Fit<'a> {
    pub(crate) steps: &'a [Step],
    pub(crate) answers: &'a IndexMap<String, AnswerSpec>,
}

impl<'a> Fit<'a> {
    /// Checks one check.
    pub(crate) fn check(&self, check: &Check, source: &Source<'_>) -> Result<(), Mistake> {
        let subject = self.subject(check.of.as_deref(), source)?;
        reserved(check, source)?;
        known_slot(&check.expect, source)?;
        if let Expect::SameAs { step, .. } = &check.expect {
            self.subject(Some(step), source)?;
        }
        match (&check.expect, subject) {
            (Expect::Packed, Subject::Call(_)) => Err(source.mistake(
                "`packed` speaks of a whole batch",
                "name the batch under `of`, without the number of an entry",
            )),
            (Expect::Packed | Expect::Mirrored | Expect::Valid, _)
            | (Expect::Refused { .. }, Subject::Batch { misuse: true }) => Ok(()),
            (_, Subject::Batch { .. }) => Err(source.mistake(
                &format!("`{}` speaks of one call, not of a whole batch", check.expect.word()),
                "name an entry under `of`, like batch.0",
            )),
            (expect, Subject::Call(answer)) => self.fills(expect, answer, source),
        }
    }

    fn subject(&self, of: Option<&str>, source: &Source<'_>) -> Result<Subject<'a>, Mistake> {
        let Some(name) = of else {
            return Ok(self.steps.first().map_or(Subject::Call("main"), whole));
        };
        for step in self.steps {
            if step.name() == name {
                return Ok(whole(step));
            }
            let entry = name.strip_prefix(step.name()).and_then(|rest| rest.strip_prefix('.'));
            let entry = entry.and_then(|at| at.parse::<usize>().ok());
            if let (Some(at), Step::Batch(batch)) = (entry, step)
                && let Some(answer) = batch.answers.get(at)
            {
                return Ok(Subject::Call(answer));
            }
        }
        let known: Vec<_> = self.steps.iter().map(Step::name).collect();
        let mend = format!("the steps are {}; an entry of a batch is NAME.0", known.join(", "));
        Err(source.mistake(&format!("no step `{name}`"), &mend))
    }

    /// A slot can only arrive where the answer fills it: a misspelt one would pass for ever.
    fn fills(&self, expect: &Expect, answer: &str, source: &Source<'_>) -> Result<(), Mistake> {
        let (Expect::Intact { place, .. }
        | Expect::AcrossRoutes { place, .. }
        | Expect::SameAs { place, .. }) = expect
        else {
            return Ok(());
        };
        let Target::Slot(slot) = place else {
            return Ok(());
        };
        if self.answers.get(answer).is_none_or(|answer| answer.form.fills(slot)) {
            return Ok(());
        }
        let title = format!("answer `{answer}` does not fill slot `{slot}`");
        Err(source.mistake(&title, "name a slot of the outcome, or use `at: /pointer`"))
    }

    /// An answer that no step asks for: dead weight, most likely by a slip.
    pub(super) fn unasked(&self) -> Option<&'a str> {
        let asked = |name: &str| self.steps.iter().any(|step| step.answers().contains(&name));
        self.answers.keys().map(String::as_str).find(|name| !asked(name))
    }
}

fn whole(step: &Step) -> Subject<'_> {
    match step {
        Step::Call(call) => Subject::Call(call.answer()),
        Step::Batch(batch) => Subject::Batch { misuse: batch.misuse },
    }
}

/// Every call carries the check `valid`; the name means nothing else.
fn reserved(check: &Check, source: &Source<'_>) -> Result<(), Mistake> {
    match (&check.expect, check.name.as_str()) {
        (Expect::Valid, "valid") => Ok(()),
        (Expect::Valid, _) => Err(source.mistake(
            &format!("check `{}` expects `valid`, which every call carries already", check.name),
            "call it `valid`: it then gives that check its level and requirements",
        )),
        (_, "valid") => Err(source.mistake(
            "`valid` is the name of the check that every call carries",
            "give this check another name",
        )),
        _ => Ok(()),
    }
}

fn known_slot(expect: &Expect, source: &Source<'_>) -> Result<(), Mistake> {
    let (Expect::Intact { place, .. }
    | Expect::Equals { place, .. }
    | Expect::Absent { place }
    | Expect::SameAs { place, .. }
    | Expect::AcrossRoutes { place }) = expect
    else {
        return Ok(());
    };
    let Target::Slot(slot) = place else {
        return Ok(());
    };
    let known = match slot.split_once('.') {
        None => matches!(
            slot.as_str(),
            "text" | "data" | "meta" | "error" | "task" | "content" | "result" | "rpc-error"
        ),
        Some(("block" | "link", at)) => at.parse::<usize>().is_ok(),
        Some(("extra", name)) => !name.is_empty(),
        Some(("rpc-error", part)) => matches!(part, "code" | "message" | "data"),
        Some(_) => false,
    };
    if known {
        return Ok(());
    }
    let mend = "the slots are text, data, meta, error, task, content, result, rpc-error, \
                rpc-error.code, rpc-error.message, rpc-error.data, block.0, link.0, extra.NAME";
    Err(source.mistake(&format!("no slot `{slot}`"), mend))
}
