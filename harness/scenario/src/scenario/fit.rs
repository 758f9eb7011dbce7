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
    /// An entry of a batch, and the answer that it is given.
    Entry(&'a str),
    /// A listing.
    Listing,
    /// An exchange whose answer no scenario writes.
    Other,
}

/// The steps and answers of a scenario.
pub(crate) struct Fit<'a> {
    pub(crate) steps: &'a [Step],
    pub(crate) answers: &'a IndexMap<String, AnswerSpec>,
}

impl<'a> Fit<'a> {
    /// Checks that what a step refers to is there.
    pub(super) fn step(&self, step: &Step, source: &Source<'_>) -> Result<(), Mistake> {
        for one in step.flat() {
            let cut = match one {
                Step::Fetch(fetch) => Some(fetch.from.as_str()),
                Step::Free(free) => Some(free.from.as_str()),
                _ => None,
            };
            if let Some(from) = cut
                && !matches!(self.subject(Some(from), source)?, Subject::Entry(_))
            {
                let title = format!("`{from}` is no entry of a batch, and nothing else is cut");
                return Err(source.mistake(&title, "name an entry under `from`, like batch.0"));
            }
            let from = match one {
                Step::Read(read) => read.from.as_deref(),
                Step::Task(task) => task.from.as_deref(),
                _ => None,
            };
            from.map_or(Ok(()), |from| self.subject(Some(from), source).map(drop))?;
        }
        Ok(())
    }

    /// Checks one check.
    pub(crate) fn check(&self, check: &Check, source: &Source<'_>) -> Result<(), Mistake> {
        let subject = self.subject(check.of.as_deref(), source)?;
        reserved(check, source)?;
        known_slot(&check.expect, source)?;
        if let Some(step) = check.expect.other_step() {
            self.subject(Some(step), source)?;
        }
        let of_item = check.tool.is_some() || check.expect == Expect::Digest;
        if of_item && !matches!(subject, Subject::Listing) {
            let mend = "name a `list` step under `of`, and a tool under `tool`";
            return Err(source.mistake("one item of a listing is judged by its name", mend));
        }
        match (&check.expect, subject) {
            (Expect::Distinct, Subject::Call(_) | Subject::Entry(_) | Subject::Batch { .. }) => {
                Err(source
                    .mistake("`distinct` speaks of a listing", "name a `list` step under `of`"))
            }
            (Expect::Digest, Subject::Listing) if check.tool.is_none() => {
                Err(source
                    .mistake("`digest` speaks of one tool of a listing", "name it under `tool`"))
            }
            (Expect::Packed | Expect::WithinBudget | Expect::CutTold, Subject::Batch { .. })
            | (Expect::Mirrored | Expect::Valid, _)
            | (Expect::CutTold, Subject::Entry(_))
            | (Expect::Refused { .. }, Subject::Batch { misuse: true }) => Ok(()),
            (Expect::Packed | Expect::WithinBudget, _) => Err(source.mistake(
                &format!("`{}` speaks of a whole batch", check.expect.word()),
                "name the batch under `of`, without the number of an entry",
            )),
            (Expect::CutTold, _) => Err(source.mistake(
                "`cut-told` speaks of a batch or of an entry of one",
                "name it under `of`, like batch.0",
            )),
            (_, Subject::Batch { .. }) => Err(source.mistake(
                &format!("`{}` speaks of one call, not of a whole batch", check.expect.word()),
                "name an entry under `of`, like batch.0",
            )),
            (expect, Subject::Call(answer) | Subject::Entry(answer)) => {
                self.fills(expect, answer, source)
            }
            (_, Subject::Listing | Subject::Other) => Ok(()),
        }
    }

    fn subject(&self, of: Option<&str>, source: &Source<'_>) -> Result<Subject<'a>, Mistake> {
        let mut named = self.steps.iter().flat_map(Step::flat).filter(|s| !s.name().is_empty());
        let Some(name) = of else {
            return Ok(named.next().map_or(Subject::Call("main"), |first| self.whole(first)));
        };
        for step in named {
            if step.name() == name {
                return Ok(self.whole(step));
            }
            let entry = name.strip_prefix(step.name()).and_then(|rest| rest.strip_prefix('.'));
            let entry = entry.and_then(|at| at.parse::<usize>().ok());
            if let (Some(at), Step::Batch(batch)) = (entry, step)
                && let Some(answer) = batch.answers.get(at)
            {
                return Ok(Subject::Entry(answer));
            }
        }
        let known = self.steps.iter().flat_map(Step::flat).map(Step::name);
        let known: Vec<_> = known.filter(|name| !name.is_empty()).collect();
        let mend = format!("the steps are {}; an entry of a batch is NAME.0", known.join(", "));
        Err(source.mistake(&format!("no step `{name}`"), &mend))
    }

    /// What is spoken of where a step is named as a whole. A continuation is of the answer of the
    /// entry that was cut.
    fn whole(&self, step: &'a Step) -> Subject<'a> {
        match step {
            Step::Call(call) => Subject::Call(call.answer()),
            Step::Batch(batch) => Subject::Batch { misuse: batch.misuse },
            Step::List(_) => Subject::Listing,
            Step::Fetch(fetch) => self.entry(&fetch.from).map_or(Subject::Other, Subject::Call),
            one => one.answers().first().map_or(Subject::Other, |answer| Subject::Call(answer)),
        }
    }

    /// The answer of an entry of a batch.
    fn entry(&self, name: &str) -> Option<&'a str> {
        let (batch, at) = name.rsplit_once('.')?;
        let at = at.parse::<usize>().ok()?;
        self.steps.iter().flat_map(Step::flat).find_map(|step| match step {
            Step::Batch(found) if step.name() == batch => found.answers.get(at).map(String::as_str),
            _ => None,
        })
    }

    /// A slot can only arrive where the answer fills it: a misspelt one would pass for ever.
    fn fills(&self, expect: &Expect, answer: &str, source: &Source<'_>) -> Result<(), Mistake> {
        let arrives = matches!(
            expect,
            Expect::Intact { .. }
                | Expect::AcrossRoutes { .. }
                | Expect::SameAs { .. }
                | Expect::Prefix { .. }
                | Expect::Unlike { .. }
        );
        let Some(place) = expect.place().filter(|_| arrives) else {
            return Ok(());
        };
        let Target::Slot(slot) = place else {
            return Ok(());
        };
        let handle = |answer: &AnswerSpec| slot == "task" && answer.task.is_some();
        let fills = |answer: &AnswerSpec| handle(answer) || answer.form.fills(slot);
        if self.answers.get(answer).is_none_or(fills) {
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
    let Some(place) = expect.place() else {
        return Ok(());
    };
    let Target::Slot(slot) = place else {
        return Ok(());
    };
    let known = match slot.split_once('.') {
        None => matches!(
            slot.as_str(),
            "text"
                | "data"
                | "meta"
                | "error"
                | "task"
                | "content"
                | "result"
                | "rpc-error"
                | "contents"
                | "messages"
        ),
        Some(("block", at)) => at.parse::<usize>().is_ok(),
        Some(("link", at)) => at.strip_suffix(".uri").unwrap_or(at).parse::<usize>().is_ok(),
        Some(("extra", name)) => !name.is_empty(),
        Some(("rpc-error", part)) => matches!(part, "code" | "message" | "data"),
        Some(_) => false,
    };
    if known {
        return Ok(());
    }
    let mend = "the slots are text, data, meta, error, task, content, result, rpc-error, \
                rpc-error.code, rpc-error.message, rpc-error.data, contents, messages, block.0, \
                link.0, link.0.uri, extra.NAME";
    Err(source.mistake(&format!("no slot `{slot}`"), mend))
}
