//! Whether a step says something sensible for itself.

use super::{Batch, Call, CanaryDeed, CanaryStep, Read, Step, TaskMethod};
use crate::check::Source;
use crate::mistake::Mistake;
use crate::scenario::form::object;
use crate::word::{ROUTES, named};

/// Upstreams that the canary can play.
const UPSTREAMS: [&str; 2] = ["main", "second"];

impl Step {
    /// Checks what the step says for itself.
    pub(in crate::scenario) fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        if !self.name().is_empty() {
            named(self.name(), "a step", source)?;
        }
        self.sent(source)?;
        match self {
            Self::Call(call) => call.check(source),
            Self::Batch(batch) => batch.check(source),
            Self::Read(read) => read.check(source),
            Self::Prompt(prompt) => {
                upstream(prompt.upstream.as_deref(), source)?;
                text(prompt.arguments.as_deref(), "arguments", source)
            }
            Self::Task(task) => {
                let handled = task.from.is_some() || task.method == TaskMethod::List;
                if !handled {
                    let mend = "name the step whose answer holds the handle under `from`";
                    return Err(source.mistake("the task is not named", mend));
                }
                text(task.params.as_deref(), "params", source)
            }
            Self::Request(request) => {
                id(request.id.as_deref(), source)?;
                filled(request.params.as_deref(), source)
            }
            Self::Notify(notify) => filled(notify.params.as_deref(), source),
            Self::Together(steps) => together(steps, source),
            Self::Canary(canary) => canary.check(source),
            Self::List(_) | Self::Fetch(_) | Self::Free(_) | Self::Gateway(_) | Self::Listen(_) => {
                Ok(())
            }
        }
    }

    /// What every step says that sends something.
    fn sent(&self, source: &Source<'_>) -> Result<(), Mistake> {
        let sender = self.sender();
        if let Some(via) = sender.via.filter(|via| !ROUTES.contains(via)) {
            let mend = format!("use one of {}", ROUTES.join(", "));
            return Err(source.mistake(&format!("no route `{via}`"), &mend));
        }
        text(sender.meta, "meta", source)?;
        text(sender.capabilities, "capabilities", source)
    }
}

impl Call {
    fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        id(self.id.as_deref(), source)?;
        upstream(self.upstream.as_deref(), source)?;
        text(self.task.as_deref(), "task", source)?;
        for reply in self.replies.values() {
            object(reply, "replies", source)?;
        }
        text(self.arguments.as_deref(), "arguments", source)
    }
}

impl Batch {
    fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        upstream(self.upstream.as_deref(), source)?;
        if self.misuse == self.answers.is_empty() {
            return Ok(());
        }
        Err(source.mistake(
            "a batch names its answers or is a misuse of the tool, one of the two",
            "give `answers: [NAME]`, or `misuse: true`",
        ))
    }
}

impl Read {
    fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        let pointer = |at: &String| at.is_empty() || at.starts_with('/');
        let wrong = match (&self.uri, &self.from, &self.at) {
            (Some(_), None, None) | (None, Some(_), None) => return Ok(()),
            (None, Some(_), Some(at)) if pointer(at) => return Ok(()),
            (None, Some(_), Some(_)) => "`at` is no JSON Pointer",
            _ => "a read has its URI from one place",
        };
        Err(source.mistake(wrong, "give `uri: …`, or `from: STEP` with `at: /pointer`"))
    }
}

impl CanaryStep {
    fn check(&self, source: &Source<'_>) -> Result<(), Mistake> {
        upstream(self.upstream.as_deref(), source)?;
        for definition in self.tools.values() {
            object(definition, "tools", source)?;
        }
        text(self.message.as_deref(), "message", source)?;
        let swaps = !(self.tools.is_empty() && self.without.is_empty()) || self.pages.is_some();
        let fits = match self.deed {
            CanaryDeed::SwapTools => swaps && self.message.is_none(),
            CanaryDeed::Announce => !swaps,
        };
        if fits {
            return Ok(());
        }
        let mend = "`swap-tools` takes `tools` and `without`, `announce` takes `message`";
        Err(source.mistake("the upstream's deed does not fit what it is given", mend))
    }
}

fn together(steps: &[Step], source: &Source<'_>) -> Result<(), Mistake> {
    let nests = |step: &Step| matches!(step, Step::Together(_)) || step.wants_to_be_alone();
    if steps.len() < 2 || steps.iter().any(nests) {
        let mend = "name at least two steps that send something";
        return Err(source.mistake("these steps cannot begin together", mend));
    }
    steps.iter().try_for_each(|step| step.check(source))
}

fn upstream(name: Option<&str>, source: &Source<'_>) -> Result<(), Mistake> {
    match name.filter(|name| !UPSTREAMS.contains(name)) {
        Some(name) => {
            let mend = format!("use one of {}", UPSTREAMS.join(", "));
            Err(source.mistake(&format!("no upstream `{name}`"), &mend))
        }
        None => Ok(()),
    }
}

fn id(id: Option<&str>, source: &Source<'_>) -> Result<(), Mistake> {
    let id = id.map(serde_json::from_str::<serde_json::Value>);
    let legal = |id: &serde_json::Value| id.is_string() || id.is_i64() || id.is_u64();
    if id.is_some_and(|id| !id.as_ref().is_ok_and(legal)) {
        let mend = "an id is a JSON string or integer, as text: '\"c-17\"' or '17'";
        return Err(source.mistake("the id is none that MCP allows", mend));
    }
    Ok(())
}

fn text(value: Option<&str>, what: &str, source: &Source<'_>) -> Result<(), Mistake> {
    value.map_or(Ok(()), |value| object(value, what, source))
}

/// Params in which the id of another step may stand bare: a number with as many characters stands
/// for it while the grammar is checked.
fn filled(params: Option<&str>, source: &Source<'_>) -> Result<(), Mistake> {
    let Some(params) = params else { return Ok(()) };
    let (params, file) = (numbered(params), numbered(source.text));
    object(&params, "params", &Source { text: &file, ..*source })
}

fn numbered(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("«id-of:") {
        let Some(length) = rest[start..].find('»').map(|end| end + '»'.len_utf8()) else { break };
        out.push_str(&rest[..start]);
        out.extend(rest[start..start + length].chars().map(|_| '1'));
        rest = &rest[start + length..];
    }
    out.push_str(rest);
    out
}
