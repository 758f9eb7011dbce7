//! Scenarios: what the canary answers and what must become of it.

mod answer;
mod file;
pub(crate) mod fit;
pub(crate) mod form;
pub(crate) mod step;

use serde::{Deserialize, Serialize};

use crate::check::{Check, Expect};
use crate::mistake::Mistake;
use crate::pairs::Origin;
use crate::surface::Surface;

use indexmap::IndexMap;

pub use answer::{
    AnswerSpec, Delivery, Ending, Form, Framing, LineEnd, OutcomeSpec, OversizedSpec, RawSpec,
    Resumable, Size, SseStyle, TaskForm, TaskSpec,
};
pub use file::ScenarioFile;
pub use step::{
    Batch, Call, CanaryDeed, CanaryStep, Cursors, Fetch, Free, GatewayDeed, GatewayStep, List,
    Listen, Listing, Notify, Prompt, Read, Request, Sender, Step, Task, TaskMethod,
};

/// One scenario, checked and ready to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// `surface/slug`, from its folder and file name.
    pub id: String,
    /// The surface or area that it drives.
    pub surface: Surface,
    /// The file's name, for messages.
    pub file: String,
    /// One sentence: what holds when all checks pass.
    pub title: String,
    /// Why it matters and what goes wrong in practice; may be empty.
    pub why: String,
    /// The tool that is called: a built-in of the canary, or one of [`Scenario::definition`].
    pub tool: String,
    /// A tool definition of this scenario's own (JSON text), where the definition is under test.
    pub definition: Option<String>,
    /// What the canary answers, by name; a scenario with one `outcome` or `raw` calls it `main`.
    pub answers: IndexMap<String, AnswerSpec>,
    /// Features that the launch must have: switches of the gateway's configuration and abilities
    /// that not every gateway has.
    pub needs: Vec<String>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// What is expected.
    pub checks: Vec<Check>,
    /// Names of observations that are measured and shown without a verdict.
    pub observe: Vec<String>,
    /// Routes that the scenario runs on; empty for all that its surface reaches.
    pub routes: Vec<String>,
    /// Client revisions that it runs in; empty for all.
    pub revisions: Vec<String>,
    /// Upstream revisions that it runs under; empty for all.
    pub upstream_revisions: Vec<String>,
    /// Encodings of the upstream's answer that it runs with (`json`, `sse`); empty for both.
    pub encodings: Vec<String>,
    /// Transports of the upstream that it runs over (`http`, `stdio`); empty for `http`.
    pub transports: Vec<String>,
    /// Revisions make no difference to it: in the full matrix too it runs once a route, in the
    /// preferred revisions.
    pub core_only: bool,
    /// The direct column breaks too, on purpose: the upstream is at fault and the check is about
    /// how the gateway takes it.
    pub direct_broken: bool,
    /// May leave the gateway unwell: runs last.
    pub harmful: bool,
    /// Belongs to `--stress` and not to the default run.
    pub stress: bool,
    /// A deadline of its own, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Where it comes from.
    pub origin: Origin,
}

impl Scenario {
    /// Parses one file. `file` is the path shown in messages; surface and slug come from it:
    /// `…/is-error/typed-part.yaml` is `is-error/typed-part`.
    ///
    /// # Errors
    /// A [`Mistake`] with line, caret and how to mend it.
    pub fn parse(file: &str, source: &str) -> Result<Self, Mistake> {
        file::parse(file, source)
    }

    /// All steps, those inside `together` too.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(Step::flat)
    }

    /// Whether other cells would notice what it does: it runs while nothing else does, and last.
    pub fn wants_to_be_alone(&self) -> bool {
        self.harmful || self.steps.iter().any(Step::wants_to_be_alone)
    }

    /// Whether a check of it looks at what the gateway writes beside its answers.
    pub fn looks_at_sinks(&self) -> bool {
        self.checks.iter().any(|check| matches!(check.expect, Expect::Sink(_)))
    }

    /// A check's whole id.
    pub fn check_id(&self, check: &str) -> String {
        format!("{}/{check}", self.id)
    }
}
