//! Tasks: an answer that is a handle, and the life of what it stands for.
//!
//! A plan whose answer is a [`TaskPlan`] is answered with a handle, in the form of the revision or in
//! the other one. Its task id is `task-` and the nonce of the call, so that every follow-up
//! (`tasks/get`, `tasks/result`, `tasks/update`, `tasks/cancel`) finds the plan again and stands in
//! the journal under the nonce of its call. A call that makes the task anew begins its life anew.
//!
//! What a task tells changes with every poll: its time of last update and its poll interval. So an
//! answer out of a cache is told from a fresh one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use birdstrike_wire::envelope::error_object;
use birdstrike_wire::{Revision, codes, json, meta};

use crate::dispatch::{Content, Desk, Reply, invalid};
use crate::lifecycle;
use crate::message;
use crate::request::Request;

/// What stands before the nonce in a task id.
const PREFIX: &str = "task-";

/// The `_meta` key by which messages of 2025-11-25 name the task that they are about.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A task instead of a result, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPlan {
    /// How the handle lies in the result.
    pub form: TaskForm,
    /// Whether a client gets the handle that did not ask for it, which no server may do
    /// (R-TASK2-01). Otherwise such a client of 2026-07-28 is answered with -32021 (R-TASK2-04), and
    /// one of a handshake revision with the result itself, as if there were no tasks.
    pub uninvited: bool,
    /// Further members of the task wherever it is told: `"statusMessage":"…"`, joined by commas;
    /// empty for none.
    pub members: String,
    /// The `_meta` of the handle, a raw object.
    pub meta: Option<String>,
    /// How many polls find it working.
    pub working: usize,
    /// What it asks for after those polls, a raw map of `inputRequests`. It then waits for a
    /// `tasks/update`, or in the nested form for `tasks/result`.
    pub asks: Option<String>,
    /// How it ends.
    pub end: TaskEnd,
}

/// How a handle lies in a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TaskForm {
    /// As the revision has it: flat at 2026-07-28, else nested.
    #[default]
    Own,
    /// In the result itself, with `resultType: "task"`.
    Flat,
    /// Under `task`.
    Nested,
}

/// How a task ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    /// With the result that the call would have had, a raw object. One with `isError: true` is a
    /// failed task in the nested form and a completed one in the flat form (R-TASK1-19,
    /// R-TASK2-10).
    Result(String),
    /// With a JSON-RPC error, a raw object.
    Error(String),
    /// Cancelled by the server itself.
    Cancelled,
}

impl TaskPlan {
    /// A task that is done at once.
    pub fn new(end: TaskEnd) -> Self {
        Self {
            form: TaskForm::Own,
            uninvited: false,
            members: String::new(),
            meta: None,
            working: 0,
            asks: None,
            end,
        }
    }

    fn is_flat(&self, revision: Revision) -> bool {
        match self.form {
            TaskForm::Own => revision.has_result_type(),
            TaskForm::Flat => true,
            TaskForm::Nested => false,
        }
    }
}

/// How far a task has come.
#[derive(Clone, Debug, Default)]
struct Life {
    plan: Option<TaskPlan>,
    polls: usize,
    updated: bool,
    cancelled: bool,
    /// Somebody waited for its end, in the nested form.
    awaited: bool,
}

/// The tasks that live, by their upstream and the nonce of the call that made them.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<BTreeMap<(Arc<str>, String), Life>>);

impl Tasks {
    pub(crate) fn forget(&self, nonce: &str) {
        self.all().retain(|(_, of), _| of != nonce);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<(Arc<str>, String), Life>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Life {
    fn status(&self, plan: &TaskPlan, flat: bool) -> &'static str {
        if self.cancelled {
            return "cancelled";
        }
        if self.polls <= plan.working && !self.awaited {
            return "working";
        }
        if plan.asks.is_some() && !self.updated && !self.awaited {
            return "input_required";
        }
        match &plan.end {
            TaskEnd::Result(result) if !flat && json::get(result, "isError") == Some("true") => {
                "failed"
            }
            TaskEnd::Result(_) => "completed",
            TaskEnd::Error(_) => "failed",
            TaskEnd::Cancelled => "cancelled",
        }
    }

    /// The members of the task.
    fn task(&self, nonce: &str, plan: &TaskPlan, flat: bool) -> String {
        let id = json::quote(&format!("{PREFIX}{nonce}"));
        let status = self.status(plan, flat);
        let (second, interval) = (self.polls % 60, 10 * (self.polls + 1));
        let (ttl, poll) = if flat { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
        let comma = if plan.members.is_empty() { "" } else { "," };
        format!(
            "\"taskId\":{id},\"status\":\"{status}\",\"createdAt\":\"2026-01-01T00:00:00Z\",\
             \"lastUpdatedAt\":\"2026-01-01T00:00:{second:02}Z\",\"{ttl}\":60000,\
             \"{poll}\":{interval}{comma}{}",
            plan.members
        )
    }

    fn is_over(&self, plan: &TaskPlan) -> bool {
        !matches!(self.status(plan, true), "working" | "input_required")
    }
}

/// The nonce of the call whose task a follow-up is about.
pub(crate) fn nonce_of(request: &Request<'_>) -> Option<String> {
    let method = &*request.method;
    if !matches!(method, "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel") {
        return None;
    }
    let id = json::get_string(request.params?, "taskId")?;
    id.strip_prefix(PREFIX).map(str::to_owned)
}

/// Whether a request says that its client can follow a task.
fn is_declared(request: &Request<'_>, revision: Revision) -> bool {
    let params = request.params.unwrap_or("{}");
    match revision {
        Revision::V2026_07_28 => meta::declares_tasks(params),
        Revision::V2025_11_25 => json::get(params, "task").is_some(),
        Revision::V2025_06_18 => false,
    }
}

/// -32021 (R-TASK2-04, R-TASK2-16).
fn undeclared(request: &Request<'_>, revision: Revision) -> Reply {
    let data = format!(
        "{{\"requiredCapabilities\":{{\"extensions\":{{{}:{{}}}}}}}}",
        json::quote(meta::TASKS_EXTENSION)
    );
    let code = codes::MISSING_CLIENT_CAPABILITY;
    let error = error_object(code, "Missing required client capability", Some(&data));
    Reply::error(Some(request.id), &error, codes::http_status(revision, code))
}

impl Desk<'_> {
    /// The answer to a call whose plan is a task: its handle, or what stands for it for a client
    /// that cannot follow one.
    ///
    /// # Errors
    /// A refusal, which is not delivered as planned.
    pub(crate) fn create_task(
        &self,
        request: &Request<'_>,
        revision: Revision,
        plan: &TaskPlan,
    ) -> Result<Content, Box<Reply>> {
        let declared = is_declared(request, revision);
        if !declared && !plan.uninvited {
            return match (&plan.end, revision.has_result_type()) {
                (_, true) => Err(Box::new(undeclared(request, revision))),
                (TaskEnd::Result(result), _) => Ok(told(request, "result", result)),
                (TaskEnd::Error(error), _) => Ok(told(request, "error", error)),
                (TaskEnd::Cancelled, _) => {
                    Err(Box::new(invalid(request, revision, "the task was cancelled")))
                }
            };
        }
        let nonce = request.nonce.as_deref().unwrap_or_default();
        let flat = plan.is_flat(revision);
        let life = Life { plan: Some(plan.clone()), ..Life::default() };
        let task = life.task(nonce, plan, flat);
        let key = (Arc::clone(&self.upstream.name), nonce.to_owned());
        self.script.tasks.all().insert(key, life);
        let meta = plan.meta.as_ref().map(|meta| format!(",\"_meta\":{meta}")).unwrap_or_default();
        let handle = if flat {
            format!("{{\"resultType\":\"task\",{task}{meta}}}")
        } else {
            format!("{{\"task\":{{{task}}}{meta}}}")
        };
        Ok(told(request, "result", &handle))
    }

    /// A follow-up: `tasks/get`, and in their revisions `result`, `list`, `update`, `cancel`.
    pub(crate) fn follow_task(&self, request: &Request<'_>, revision: Revision) -> Reply {
        let known = matches!(
            (&*request.method, revision),
            ("tasks/get" | "tasks/cancel", Revision::V2025_11_25 | Revision::V2026_07_28)
                | ("tasks/result" | "tasks/list", Revision::V2025_11_25)
                | ("tasks/update", Revision::V2026_07_28)
        );
        if !known {
            let error = lifecycle::unknown_method(&request.method);
            let status = codes::http_status(revision, codes::METHOD_NOT_FOUND);
            return Reply::error(Some(request.id), &error, status);
        }
        if revision.has_result_type() && !is_declared(request, revision) {
            return undeclared(request, revision);
        }
        let mut all = self.script.tasks.all();
        if request.method == "tasks/list" {
            let listed: Vec<String> = all
                .iter()
                .filter(|((upstream, _), _)| *upstream == self.upstream.name)
                .filter_map(|((_, nonce), life)| Some(life.task(nonce, life.plan.as_ref()?, false)))
                .map(|task| format!("{{{task}}}"))
                .collect();
            return self.result(request, &format!("{{\"tasks\":[{}]}}", listed.join(",")));
        }
        let nonce = nonce_of(request).unwrap_or_default();
        let life = all.get_mut(&(Arc::clone(&self.upstream.name), nonce.clone()));
        let plan = life.as_ref().and_then(|life| life.plan.clone());
        let (Some(life), Some(plan)) = (life, plan) else {
            return invalid(request, revision, "Unknown task");
        };
        match &*request.method {
            "tasks/get" => {
                life.polls += 1;
                let body = detailed(life, &nonce, &plan, revision);
                self.result(request, &body)
            }
            "tasks/result" => self.ended(request, life, &nonce, &plan),
            "tasks/update" => {
                life.updated = true;
                self.result(request, "{\"resultType\":\"complete\"}")
            }
            _ if revision.has_result_type() => {
                life.cancelled |= !life.is_over(&plan);
                self.result(request, "{\"resultType\":\"complete\"}")
            }
            _ if life.is_over(&plan) => {
                invalid(request, revision, "Cannot cancel: the task has ended")
            }
            _ => {
                life.cancelled = true;
                self.result(request, &format!("{{{}}}", life.task(&nonce, &plan, false)))
            }
        }
    }

    /// `tasks/result`: nobody is kept waiting here, the task ends (R-TASK1-10, R-TASK1-12).
    fn ended(&self, request: &Request<'_>, life: &mut Life, nonce: &str, plan: &TaskPlan) -> Reply {
        life.awaited = true;
        let revision = Revision::V2025_11_25;
        match &plan.end {
            _ if life.cancelled => invalid(request, revision, "the task was cancelled"),
            TaskEnd::Cancelled => invalid(request, revision, "the task was cancelled"),
            TaskEnd::Error(error) => Reply::error(Some(request.id), error, 200),
            TaskEnd::Result(result) => {
                let id = json::quote(&format!("{PREFIX}{nonce}"));
                let own = json::get(result, "_meta").unwrap_or("{}");
                let meta = json::set(own, RELATED, &format!("{{\"taskId\":{id}}}"));
                let body = meta.and_then(|meta| json::set(result, "_meta", &meta));
                self.result(request, body.as_deref().unwrap_or(result))
            }
        }
    }
}

/// What `tasks/get` tells: at 2026-07-28 what goes with the status, too (R-TASK2-08).
fn detailed(life: &Life, nonce: &str, plan: &TaskPlan, revision: Revision) -> String {
    let flat = revision.has_result_type();
    let task = life.task(nonce, plan, flat);
    if !flat {
        return format!("{{{task}}}");
    }
    let more = match (life.status(plan, true), &plan.end) {
        ("input_required", _) => {
            format!(",\"inputRequests\":{}", plan.asks.as_deref().unwrap_or("{}"))
        }
        ("completed", TaskEnd::Result(result)) => format!(",\"result\":{result}"),
        ("failed", TaskEnd::Error(error)) => format!(",\"error\":{error}"),
        _ => String::new(),
    };
    format!("{{\"resultType\":\"complete\",{task}{more}}}")
}

fn told(request: &Request<'_>, member: &str, body: &str) -> Content {
    Content::Message(message::enveloped(request.id, member, body).into())
}
