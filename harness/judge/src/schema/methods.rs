//! Which definition of the MCP schemas a result must meet.

use birdstrike_wire::Revision;

use super::mcp::Source;
use super::{SchemaError, SchemaOutcome};
use crate::scan::Node;

/// A definition, or a verdict that needs none.
pub(super) enum Selected {
    /// The result must meet this definition.
    Definition(Source, &'static str),
    /// The result must meet this definition and has already broken a rule beside it.
    AndBroken(Source, &'static str, SchemaError),
    /// There is nothing more to say.
    Settled(SchemaOutcome),
}

/// Selects the definition for the result of a method.
pub(super) fn select(revision: Revision, method: &str, result: Node<'_>) -> Selected {
    let Some((source, name)) = definition_of(revision, method) else {
        return Selected::Settled(SchemaOutcome::Unknown(format!(
            "revision {revision} defines no result of {method}"
        )));
    };
    match revision {
        Revision::V2025_06_18 => Selected::Definition(source, name),
        Revision::V2025_11_25 => {
            // A task handle is nested and has no content (tasks, form 1).
            let handle = result.get("task").is_some() && result.get("content").is_none();
            if method == "tools/call" && handle {
                Selected::Definition(source, "CreateTaskResult")
            } else {
                Selected::Definition(source, name)
            }
        }
        Revision::V2026_07_28 => by_result_type(source, name, method, result),
    }
}

/// `resultType` says what a result is before anything else does; the schemas leave it open, so that
/// almost anything passes as an `InputRequiredResult`.
fn by_result_type(source: Source, name: &'static str, method: &str, result: Node<'_>) -> Selected {
    let Some(result_type) = result.get("resultType").map(Node::string) else {
        // To be read as complete when it comes from an older server (R-BASE-06); from one of this
        // revision the definition demands it (R-BASE-05).
        return Selected::Definition(source, name);
    };
    let broken = |message: String| Selected::Settled(SchemaOutcome::broken("/resultType", message));
    let Some(result_type) = result_type else {
        return broken("resultType is not a string".to_owned());
    };
    match &*result_type.text() {
        "complete" => Selected::Definition(source, name),
        "input_required" => match method {
            "tools/call" | "prompts/get" | "resources/read" => input_required(source, result),
            _ => broken(format!("{method} must not ask for input (R-MRTR-01)")),
        },
        "task" if method == "tools/call" => Selected::Definition(Source::Tasks, "CreateTaskResult"),
        "task" => broken(format!("{method} must not be answered with a task (R-TASK2-03)")),
        unknown => broken(format!(
            "the resultType \"{}\" is not known and therefore invalid (R-BASE-07)",
            crate::compare::excerpt(unknown)
        )),
    }
}

fn input_required(source: Source, result: Node<'_>) -> Selected {
    let name = "InputRequiredResult";
    if result.get("inputRequests").is_some() || result.get("requestState").is_some() {
        return Selected::Definition(source, name);
    }
    let message = "one of inputRequests and requestState is required (R-MRTR-02)";
    Selected::AndBroken(source, name, SchemaError::own("", message))
}

/// The definition for a complete result, if the revision has the method.
fn definition_of(revision: Revision, method: &str) -> Option<(Source, &'static str)> {
    use Revision::{V2025_06_18 as A, V2025_11_25 as B, V2026_07_28 as C};
    let core = Source::Core(revision);
    Some(match (method, revision) {
        // A task's result is exactly what the call would have returned (R-TASK1-10).
        ("tools/call", _) | ("tasks/result", B) => (core, "CallToolResult"),
        ("tools/list", _) => (core, "ListToolsResult"),
        ("prompts/get", _) => (core, "GetPromptResult"),
        ("prompts/list", _) => (core, "ListPromptsResult"),
        ("resources/list", _) => (core, "ListResourcesResult"),
        ("resources/read", _) => (core, "ReadResourceResult"),
        ("resources/templates/list", _) => (core, "ListResourceTemplatesResult"),
        ("completion/complete", _) => (core, "CompleteResult"),
        ("initialize", A | B) => (core, "InitializeResult"),
        ("ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe", A | B) => {
            (core, "EmptyResult")
        }
        ("sampling/createMessage", A | B) => (core, "CreateMessageResult"),
        ("elicitation/create", A | B) => (core, "ElicitResult"),
        ("roots/list", A | B) => (core, "ListRootsResult"),
        ("tasks/get", B) => (core, "GetTaskResult"),
        ("tasks/list", B) => (core, "ListTasksResult"),
        ("tasks/cancel", B) => (core, "CancelTaskResult"),
        ("server/discover", C) => (core, "DiscoverResult"),
        ("subscriptions/listen", C) => (core, "SubscriptionsListenResult"),
        ("tasks/get", C) => (Source::Tasks, "GetTaskResult"),
        ("tasks/update", C) => (Source::Tasks, "UpdateTaskResult"),
        ("tasks/cancel", C) => (Source::Tasks, "CancelTaskResult"),
        _ => return None,
    })
}
