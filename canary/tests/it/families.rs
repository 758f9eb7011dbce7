//! What each family answers in each revision is valid there, as far as it means to be.

use birdstrike_wire::{Revision, json};
use serde_json::{Value, json};

use crate::support::{call, canary, send};

/// A validator of one definition in the schema of a revision. A schema file has no root of its own.
pub(crate) fn schema(revision: &str, definition: &str) -> jsonschema::Validator {
    let path = format!("{}/../harness/schema/mcp/{revision}.json", env!("CARGO_MANIFEST_DIR"));
    let mut schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let key = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    schema["$ref"] = json!(format!("#/{key}/{definition}"));
    jsonschema::validator_for(&schema).unwrap()
}

pub(crate) fn assert_valid(validator: &jsonschema::Validator, text: &str, what: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    let errors: Vec<_> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, [""; 0], "{what}: {text}");
}

/// Calls that each family is asked with, the usual one first.
const CALLS: [(&str, &[&str]); 10] = [
    ("echo", &["{}", r#"{"x":[1,{"y":null}]}"#]),
    ("is_error", &["{}", r#"{"data":{"a":1},"meta":{"example.org/a":1},"flag":false}"#]),
    ("links", &["{}", r#"{"uris":["a:b"]}"#, r#"{"count":0}"#]),
    ("media", &["{}", r#"{"kinds":["embedded-blob"]}"#]),
    ("meta_carrying", &["{}", r#"{"places":["nested"]}"#]),
    (
        "oversized",
        &[r#"{"bytes":2000}"#, r#"{"limit":1000,"which":"at","framing":"content-length"}"#],
    ),
    ("slow", &[r#"{"delay_ms":1}"#]),
    ("structured", &["{}", r#"{"kind":"array"}"#, r#"{"kind":"null"}"#, r#"{"kind":"zero"}"#]),
    ("typed", &["{}", r#"{"variant":"wrong-type"}"#, r#"{"variant":"absent"}"#]),
    ("rpc_error", &["{}", r#"{"code":-32000,"data":[1]}"#]),
];

#[tokio::test]
async fn results_are_valid_in_every_revision() {
    let canary = canary(|_| ()).await;
    for revision in Revision::ALL {
        let result = schema(revision.as_str(), "CallToolResult");
        for (tool, calls) in CALLS {
            for arguments in calls {
                let seen = send(call(&canary.url("main"), revision, tool, arguments)).await;
                let what = format!("{revision} {tool} {arguments}");
                assert!(seen.header("content-type") == "application/json", "{what}");
                match json::get(seen.text(), "error") {
                    Some(error) => {
                        assert_eq!(tool, "rpc_error", "{what}: {error}");
                        assert!(json::get(error, "code").is_some(), "{what}");
                    }
                    None => assert_valid(&result, seen.result(), &what),
                }
            }
        }
    }
    canary.stop().await;
}

#[tokio::test]
async fn definitions_and_lifecycle_are_valid_in_every_revision() {
    for revision in Revision::ALL {
        let tool = schema(revision.as_str(), "Tool");
        for spec in birdstrike_canary::builtin_tools() {
            assert_valid(&tool, &spec.definition, &format!("{revision} {}", spec.name));
        }
    }
    let canary = canary(|_| ()).await;
    let ask = |method: &'static str, params: String| {
        let body = birdstrike_wire::envelope::request("1", method, &params);
        send(crate::support::post(&canary.url("main"), body))
    };
    let meta = format!("{{\"_meta\":{}}}", crate::support::request_meta());
    let listed = ask("tools/list", meta.clone()).await;
    assert_valid(&schema("2026-07-28", "ListToolsResult"), listed.result(), "list");
    assert!(listed.body.len() < 64 << 10);
    let found = ask("server/discover", meta).await;
    assert_valid(&schema("2026-07-28", "DiscoverResult"), found.result(), "discover");
    for revision in ["2025-06-18", "2025-11-25"] {
        let params = format!(r#"{{"protocolVersion":"{revision}"}}"#);
        let opened = ask("initialize", params).await;
        assert_valid(&schema(revision, "InitializeResult"), opened.result(), "initialize");
        let listed = ask("tools/list", "{}".into()).await;
        assert_valid(&schema(revision, "ListToolsResult"), listed.result(), "list");
    }
    canary.stop().await;
}

#[tokio::test]
async fn handles_of_tasks_have_the_form_of_their_revision() {
    let canary = canary(|_| ()).await;
    for (revision, file) in
        [(Revision::V2025_11_25, "2025-11-25"), (Revision::V2026_07_28, "ext-tasks")]
    {
        let seen = send(call(&canary.url("main"), revision, "task_handle", "{}")).await;
        assert_valid(&schema(file, "CreateTaskResult"), seen.result(), file);
    }
    canary.stop().await;
}

#[tokio::test]
async fn what_a_revision_cannot_carry_is_refused_with_the_reason() {
    let canary = canary(|_| ()).await;
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let url = canary.url("main");
        let seen = send(call(&url, revision, "structured", r#"{"kind":"false"}"#)).await;
        assert!(seen.result().contains("R-TOOLS-15") && seen.result().contains("isError"));
    }
    canary.stop().await;
}

#[tokio::test]
async fn echo_spells_nothing_anew() {
    let canary = canary(|_| ()).await;
    let odd = r#"{"n":1E+02, "n":[9007199254740993,1.0],"s":"\u0061\/\ud800"}"#;
    let seen = send(call(&canary.url("main"), Revision::V2026_07_28, "echo", odd)).await;
    assert_eq!(json::get(seen.result(), "structuredContent"), Some(odd));
    canary.stop().await;
}
