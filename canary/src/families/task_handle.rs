//! `task_handle`: the handle of a task in place of a result, in either of its two forms. The task
//! itself does not exist; its later life is another matter.

use birdstrike_wire::Revision;
use birdstrike_wire::json;

use super::arguments::Arguments;
use super::{Served, refusal};

/// The tool as it is listed.
pub(crate) const DEFINITION: &str = r#"{
  "name": "task_handle",
  "title": "Task handle",
  "description": "Answers with the handle of a task: flat with resultType `task`, or nested under `task`.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "nonce": {"type": "string", "description": "Correlates the call."},
      "form": {"type": "string", "enum": ["flat", "nested"], "description": "By default that of the revision: flat at 2026-07-28, else nested."},
      "task_id": {"type": "string", "default": "task-1"},
      "status": {"type": "string", "default": "working"}
    }
  },
  "annotations": {"readOnlyHint": true}
}"#;

/// The handle in the form asked for, even where the revision knows another or none: a gateway must
/// cope with an upstream that answers so.
pub(crate) fn answer(arguments: &Arguments<'_>, revision: Revision) -> Served {
    let own = if revision.has_result_type() { "flat" } else { "nested" };
    let form = arguments.string("form");
    let result = match form.as_deref().unwrap_or(own) {
        "flat" => flat(arguments),
        "nested" => nested(arguments),
        _ => return refusal("`form` is neither flat nor nested").into(),
    };
    Served { result: Some(result), ..Served::default() }
}

/// 2026-07-28 with the tasks extension: the members of the task lie in the result itself.
fn flat(arguments: &Arguments<'_>) -> String {
    let task = common(arguments);
    format!("{{\"resultType\":\"task\",{task},\"ttlMs\":60000,\"pollIntervalMs\":1000}}")
}

/// 2025-11-25: the task is a member of the result.
fn nested(arguments: &Arguments<'_>) -> String {
    let task = common(arguments);
    format!("{{\"task\":{{{task},\"ttl\":60000,\"pollInterval\":1000}}}}")
}

fn common(arguments: &Arguments<'_>) -> String {
    let id = arguments.string("task_id");
    let status = arguments.string("status");
    let id = json::quote(id.as_deref().unwrap_or("task-1"));
    let status = json::quote(status.as_deref().unwrap_or("working"));
    let time = "\"2026-01-01T00:00:00Z\"";
    format!("\"taskId\":{id},\"status\":{status},\"createdAt\":{time},\"lastUpdatedAt\":{time}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(arguments: &str, revision: Revision) -> String {
        let served = answer(&Arguments::read(Some(arguments)), revision);
        served.result.unwrap()
    }

    #[test]
    fn each_revision_has_its_own_form_and_can_be_asked_for_the_other() {
        let flat = handle("{}", Revision::V2026_07_28);
        assert_eq!(json::get(&flat, "resultType"), Some("\"task\""));
        assert_eq!(json::get(&flat, "taskId"), Some("\"task-1\""));
        let nested = handle(r#"{"task_id":"t"}"#, Revision::V2025_11_25);
        let task = json::get(&nested, "task").unwrap();
        assert_eq!(json::get(task, "taskId"), Some("\"t\""));
        let odd = handle(r#"{"form":"nested"}"#, Revision::V2026_07_28);
        assert!(json::get(&odd, "task").is_some());
    }
}
