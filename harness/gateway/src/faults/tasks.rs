//! Faults of surface 8, handles of tasks and what is asked about them.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use birdstrike_wire::meta::TASKS_EXTENSION;
use birdstrike_wire::{codes, json};

use super::{Fault, edit, with_text, without};
use crate::surfaces::tasks::{self as right, Unopened};

const SURFACE: &str = "tasks";

/// A right handle with something done to it.
macro_rules! on_handle {
    (|$handle:ident| $edit:expr) => {
        |steps| steps.tasks.handle = |$handle| $edit
    };
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "unknown-task-is-internal",
        surface: SURFACE,
        mistake: "A task id that cannot be read is an internal error.",
        apply: |steps| {
            steps.tasks.refusal = |unopened| (codes::INTERNAL_ERROR, right::refusal(unopened).1);
        },
    },
    Fault {
        name: "handle-meta-dropped",
        surface: SURFACE,
        mistake: "The upstream's _meta on a task handle does not reach the client.",
        apply: on_handle!(|handle| without(handle, "_meta")),
    },
    Fault {
        name: "handle-rebuilt",
        surface: SURFACE,
        mistake: "A handle is built anew from the members that the gateway knows.",
        apply: on_handle!(|handle| {
            match json::get(&handle, "task").map(known_members) {
                None => known_members(&handle),
                Some(task) => edit(handle, |handle| json::set(handle, "task", &task).ok()),
            }
        }),
    },
    Fault {
        name: "handle-ttl-renamed",
        surface: SURFACE,
        mistake: "ttlMs and pollIntervalMs of a handle are sent under their names of 2025-11-25.",
        apply: on_handle!(|handle| handle
            .replace("\"ttlMs\":", "\"ttl\":")
            .replace("\"pollIntervalMs\":", "\"pollInterval\":")),
    },
    Fault {
        name: "task-asked-of-everybody",
        surface: SURFACE,
        mistake: "A client's wish for a task goes on to upstreams that have no tasks.",
        apply: |steps| steps.tasks.asks = |_| true,
    },
    Fault {
        name: "one-task-id-for-all",
        surface: SURFACE,
        mistake: "Every task has one and the same id for clients.",
        apply: |steps| {
            steps.tasks.renamed = |body, places, names| {
                right::renamed(body, places, right::Names { own: names.own, shown: "task" })
            };
        },
    },
    Fault {
        name: "task-id-mapped-once",
        surface: SURFACE,
        mistake: "Only the handle has the client's id; later answers have the upstream's.",
        apply: |steps| {
            steps.tasks.places =
                |method| if method == "tools/call" { right::places(method) } else { &[] };
        },
    },
    Fault {
        name: "task-owner-unchecked",
        surface: SURFACE,
        mistake: "Whoever knows the id of a task may follow it.",
        apply: |steps| steps.tasks.bound_to = |_| Vec::new(),
    },
    Fault {
        name: "foreign-task-told-apart",
        surface: SURFACE,
        mistake: "A client that asks about the task of another is told that there is one.",
        apply: |steps| {
            steps.tasks.refusal = |why| match why {
                Unopened::NotTheirs => (-32001, "the task belongs to another client".into()),
                Unopened::Malformed => right::refusal(why),
            };
        },
    },
    Fault {
        name: "task-result-unwrapped",
        surface: SURFACE,
        mistake: "A poll that finds the task completed is answered with its result alone.",
        apply: |steps| {
            steps.tasks.answer = |method, body| match (method, json::get(&body, "result")) {
                ("tasks/get", Some(result)) => result.to_owned(),
                _ => body,
            };
        },
    },
    Fault {
        name: "failed-task-reworded",
        surface: SURFACE,
        mistake: "The stored result of a failed task is replaced by the words that it failed.",
        apply: |steps| {
            steps.tasks.answer = |method, body| {
                let Some(span) = right::payload(method, &body) else { return body };
                let payload = body.get(span.clone()).unwrap_or_default();
                if json::get(payload, "isError") != Some("true") {
                    return body;
                }
                let payload = without(payload.to_owned(), "structuredContent");
                json::replace(&body, &span, &with_text(payload, "Task failed"))
            };
        },
    },
    Fault {
        name: "cancel-swallowed",
        surface: SURFACE,
        mistake: "tasks/cancel is acknowledged and never sent to the upstream.",
        apply: |steps| {
            steps.tasks.own_answer = |method| {
                (method == "tasks/cancel").then(|| "{\"resultType\":\"complete\"}".to_owned())
            };
        },
    },
    Fault {
        name: "poll-from-a-cache",
        surface: SURFACE,
        mistake: "Every poll of a task is answered with what the first one found.",
        apply: |steps| steps.tasks.answer = first_answer,
    },
    Fault {
        name: "tasks-extension-invented",
        surface: SURFACE,
        mistake: "An upstream is told that the client can follow tasks, whatever the client said.",
        apply: |steps| {
            steps.tasks.told = |capabilities| {
                let extensions = format!("{{{}:{{}}}}", json::quote(TASKS_EXTENSION));
                json::set(capabilities, "extensions", &extensions)
                    .unwrap_or_else(|_| right::told(capabilities))
            };
        },
    },
    Fault {
        name: "undeclared-follow-up-served",
        surface: SURFACE,
        mistake: "A request about a task is served although it does not declare the extension.",
        apply: |steps| steps.tasks.may_follow = |_, _| Ok(()),
    },
    Fault {
        name: "follow-ups-to-the-first-upstream",
        surface: SURFACE,
        mistake: "Requests about a task go to the first upstream, whichever made it.",
        apply: |steps| {
            steps.tasks.way =
                |ticket, names| names.first().copied().unwrap_or_else(|| right::way(ticket, names));
        },
    },
];

/// A task with the members that every version of its definition has.
fn known_members(task: &str) -> String {
    const KNOWN: [&str; 9] = [
        "resultType",
        "taskId",
        "status",
        "createdAt",
        "lastUpdatedAt",
        "ttl",
        "ttlMs",
        "pollInterval",
        "pollIntervalMs",
    ];
    let members = json::members(task).unwrap_or_default();
    let known = members.iter().filter(|member| KNOWN.iter().any(|name| member.is(name)));
    let known = known.map(|member| format!("{}:{}", member.raw_key, member.value));
    format!("{{{}}}", known.collect::<Vec<_>>().join(","))
}

/// What the first poll of a task was answered with.
fn first_answer(method: &str, body: String) -> String {
    static FIRST: LazyLock<Mutex<HashMap<String, String>>> = LazyLock::new(Mutex::default);
    match json::get_string(&body, "taskId") {
        Some(id) if method == "tasks/get" => {
            let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
            first.entry(id).or_insert(body).clone()
        }
        _ => body,
    }
}
