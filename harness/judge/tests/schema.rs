//! The MCP schemas and output schemas, on the examples of the specification and on broken ones.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use birdstrike_judge::schema::{McpSchemas, OutputSchema, OutputSchemaError, SchemaOutcome};
use birdstrike_wire::Revision::{self, V2025_06_18 as A, V2025_11_25 as B, V2026_07_28 as C};
use proptest::prelude::*;

#[track_caller]
fn valid(revision: Revision, method: &str, result: &str) {
    let outcome = McpSchemas::shared().validate_result(revision, method, result.as_bytes());
    assert_eq!(outcome, SchemaOutcome::Valid, "{revision} {method} {result}");
}

/// The first error as `instance: message`.
#[track_caller]
fn invalid(revision: Revision, method: &str, result: &str) -> String {
    match McpSchemas::shared().validate_result(revision, method, result.as_bytes()) {
        SchemaOutcome::Invalid(errors) => format!("{}: {}", errors[0].instance, errors[0].message),
        other => panic!("{revision} {method} {result}: {other:?}"),
    }
}

#[test]
fn every_definition_of_every_revision_compiles() {
    for revision in Revision::ALL {
        let mut count = 0;
        for definition in McpSchemas::definitions(revision) {
            let outcome = McpSchemas::shared().validate_definition(revision, definition, b"{}");
            assert!(!matches!(outcome, SchemaOutcome::Unknown(_)), "{definition}: {outcome:?}");
            count += 1;
        }
        assert!(count > 80, "{revision} {count}");
    }
    let outcome = McpSchemas::shared().validate_definition(A, "DiscoverResult", b"{}");
    assert!(matches!(outcome, SchemaOutcome::Unknown(_)));
}

#[test]
fn the_examples_of_the_specification_are_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/mcp/examples-2026-07-28");
    let mut count = 0;
    for definition in fs::read_dir(folder).unwrap() {
        let definition = definition.unwrap();
        let name = definition.file_name().into_string().unwrap();
        for example in fs::read_dir(definition.path()).unwrap() {
            let bytes = fs::read(example.unwrap().path()).unwrap();
            let outcome = McpSchemas::shared().validate_definition(C, &name, &bytes);
            assert_eq!(outcome, SchemaOutcome::Valid, "{name}");
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn call_results_follow_their_revision() {
    let text = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1},"own":[]}"#;
    valid(A, "tools/call", text);
    valid(B, "tools/call", text);
    assert_eq!(invalid(C, "tools/call", text), ": \"resultType\" is a required property");
    for any in ["null", "[1]", "0", "\"\"", "false", "{}"] {
        let result = format!(r#"{{"content":[],"structuredContent":{any}}}"#);
        let modern = format!(r#"{{"resultType":"complete",{}"#, &result[1..]);
        valid(C, "tools/call", &modern);
        if any == "{}" {
            valid(A, "tools/call", &result);
        } else {
            let found = invalid(A, "tools/call", &result);
            assert!(found.starts_with("/structuredContent: "), "{found}");
            invalid(B, "tools/call", &result);
        }
    }
    assert_eq!(invalid(A, "tools/call", "{}"), ": \"content\" is a required property");
    let found = invalid(A, "tools/call", r#"{"content":[{"type":"text"}]}"#);
    assert_eq!(
        found,
        "/content/0: fits none of 5 alternatives; of the nearest: \"text\" is a required property"
    );
    let found = invalid(A, "tools/call", r#"{"content":[{"type":"text","text":7}]}"#);
    assert!(found.starts_with("/content/0/text: "), "{found}");
    invalid(A, "tools/call", r#"{"content":[{"type":"chart","text":"x"}]}"#);
    invalid(A, "tools/call", r#"{"content":[],"isError":"yes"}"#);
}

#[test]
fn the_result_type_is_read_first() {
    let task = r#""taskId":"t","status":"working","createdAt":"x","lastUpdatedAt":"x","ttlMs":1"#;
    valid(C, "tools/call", &format!(r#"{{"resultType":"task",{task}}}"#));
    valid(C, "tools/call", r#"{"resultType":"input_required","requestState":"s"}"#);
    valid(C, "tools/call", r#"{"resultType":"\u0063omplete","content":[]}"#);
    let nothing_asked = invalid(C, "tools/call", r#"{"resultType":"input_required"}"#);
    assert!(nothing_asked.contains("R-MRTR-02"), "{nothing_asked}");
    let bad_request = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"x"}}}"#;
    invalid(C, "tools/call", bad_request);
    let unknown = invalid(C, "tools/call", r#"{"resultType":"outputs","content":[]}"#);
    assert!(unknown.starts_with("/resultType: ") && unknown.contains("R-BASE-07"), "{unknown}");
    assert!(invalid(C, "tools/call", r#"{"resultType":7}"#).contains("not a string"));
    assert!(invalid(C, "tools/list", r#"{"resultType":"input_required"}"#).contains("R-MRTR-01"));
    let elsewhere = invalid(C, "prompts/get", &format!(r#"{{"resultType":"task",{task}}}"#));
    assert!(elsewhere.contains("R-TASK2-03"), "{elsewhere}");
    // A handle that says it is complete is a call result without content.
    invalid(C, "tools/call", &format!(r#"{{"resultType":"complete",{task}}}"#));
    invalid(C, "tools/call", r#"{"resultType":"task","taskId":"t"}"#);
}

#[test]
fn tasks_and_other_methods_have_their_definitions() {
    let task =
        r#"{"taskId":"t","status":"working","createdAt":"x","lastUpdatedAt":"x","ttl":null}"#;
    valid(B, "tools/call", &format!(r#"{{"task":{task}}}"#));
    valid(B, "tasks/get", task);
    valid(B, "tasks/result", r#"{"content":[]}"#);
    invalid(B, "tools/call", r#"{"task":{}}"#);
    invalid(A, "tools/call", &format!(r#"{{"task":{task}}}"#));
    // An unknown member beside the content is no handle.
    valid(B, "tools/call", r#"{"content":[],"task":7}"#);
    let found =
        r#""taskId":"t","createdAt":"x","lastUpdatedAt":"x","ttlMs":1,"resultType":"complete""#;
    valid(C, "tasks/get", &format!(r#"{{{found},"status":"completed","result":{{}}}}"#));
    invalid(C, "tasks/get", &format!(r#"{{{found},"status":"completed"}}"#));
    valid(C, "tasks/cancel", r#"{"resultType":"complete"}"#);
    valid(A, "ping", "{}");
    let tools = r#""tools":[{"name":"t","inputSchema":{"type":"object"}}]"#;
    valid(A, "tools/list", &format!("{{{tools}}}"));
    let typed = r#""resultType":"complete","ttlMs":0,"cacheScope":"private""#;
    valid(C, "tools/list", &format!("{{{typed},{tools}}}"));
    assert!(invalid(C, "tools/list", &format!("{{{tools}}}")).contains("is a required property"));
    let outcome = McpSchemas::shared().validate_result(C, "ping", b"{}");
    assert!(matches!(outcome, SchemaOutcome::Unknown(_)));
}

#[test]
fn errors_need_a_code_and_a_message() {
    let errors = |text: &str| McpSchemas::validate_error(text.as_bytes()).errors().len();
    assert_eq!(errors(r#"{"code":-32602,"message":"","data":null}"#), 0);
    assert_eq!(errors(r#"{"code":-3.2602e4,"message":"x","own":1}"#), 0);
    assert_eq!(errors(r#"{"code":1e99999999999999999999,"message":"\ud800"}"#), 0);
    assert_eq!(errors(r#"{"code":1.5,"message":"x"}"#), 1);
    assert_eq!(errors(r#"{"code":"-32602"}"#), 2);
    assert_eq!(errors("[]"), 1);
    assert_eq!(errors("{"), 1);
}

#[test]
fn nobody_is_blamed_for_what_a_validator_cannot_hold() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    for value in ["\"\\ud800\"", "1e400", "[-1e999]", &deep] {
        let result = format!(r#"{{"content":[],"structuredContent":{{"v":{value}}}}}"#);
        let outcome = McpSchemas::shared().validate_result(A, "tools/call", result.as_bytes());
        assert!(matches!(outcome, SchemaOutcome::Unknown(_)), "{outcome:?}");
    }
    assert_eq!(
        invalid(A, "tools/call", "{\"a\":01}"),
        ": not JSON: a number with a leading zero at byte 5"
    );
    let schema = compile(r#"{"items":{"exclusiveMinimum":0,"type":"number"},"maxItems":2}"#);
    let outcome = |text: &str| schema.validate(text.as_bytes()).outcome;
    assert!(matches!(outcome("[1e-400]"), SchemaOutcome::Unknown(_)));
    assert!(outcome("[0]").is_invalid() && outcome("[1e-400,1,1]").is_invalid());
    assert!(outcome("[18446744073709551616]").is_valid());
}

#[track_caller]
fn compile(schema: &str) -> OutputSchema {
    match OutputSchema::compile(schema.as_bytes()) {
        Ok(schema) => schema,
        Err(error) => panic!("{schema}: {error}"),
    }
}

#[track_caller]
fn refused(schema: &str) -> OutputSchemaError {
    OutputSchema::compile(schema.as_bytes()).unwrap_err()
}

#[test]
fn the_declared_dialect_is_followed() {
    // In draft 7 a `$ref` hides what stands beside it, and `items` may be a list.
    let tuple = r#""items":[{"type":"string"}]"#;
    let draft7 =
        compile(&format!(r#"{{"$schema":"http://json-schema.org/draft-07/schema#",{tuple}}}"#));
    assert_eq!(draft7.dialect(), "draft-07");
    assert!(draft7.validate(b"[1]").outcome.is_invalid());
    assert!(matches!(refused(&format!("{{{tuple}}}")), OutputSchemaError::BreaksDialect { .. }));
    let newest = compile(r#"{"prefixItems":[{"type":"string"}]}"#);
    assert_eq!(newest.dialect(), "2020-12");
    let report = newest.validate(b"[1]");
    assert_eq!(report.outcome.errors()[0].instance.as_str(), "/0");
    assert_eq!(report.outcome.errors()[0].schema.as_str(), "/prefixItems/0/type");
    for unknown in [r#""urn:own""#, r#""http://json-schema.org/draft-03/schema#""#, "7"] {
        let error = refused(&format!(r#"{{"$schema":{unknown}}}"#));
        assert!(matches!(error, OutputSchemaError::UnsupportedDialect(_)), "{error}");
    }
}

#[test]
fn nothing_is_fetched() {
    for outside in ["https://example.com/s.json", "file:///etc/hostname", "other.json#/a"] {
        let error = refused(&format!(r#"{{"properties":{{"a":{{"$ref":"{outside}"}}}}}}"#));
        assert_eq!(error, OutputSchemaError::ExternalReference(outside.to_owned()));
    }
    assert!(matches!(refused(r##"{"$ref":"#/$defs/no"}"##), OutputSchemaError::DeadReference(_)));
    assert!(matches!(refused(r##"{"$ref":"#no"}"##), OutputSchemaError::DeadReference(_)));
    // The dialects themselves are known without fetching them.
    compile(r#"{"$ref":"https://json-schema.org/draft/2020-12/schema"}"#);
    compile(r##"{"$ref":"#/$defs/a","$defs":{"a":{"$id":"urn:x","type":"string"}}}"##);
}

#[test]
fn formats_are_told_apart() {
    let schema = compile(r#"{"properties":{"d":{"format":"date"},"n":{"type":"integer"}}}"#);
    let report = schema.validate(br#"{"d":"tomorrow","n":1.0}"#);
    assert!(report.outcome.is_valid());
    assert_eq!(report.formats[0].instance.as_str(), "/d");
    let report = schema.validate(br#"{"d":"tomorrow","n":"x"}"#);
    assert_eq!((report.outcome.errors().len(), report.formats.len()), (1, 1));
    assert!(schema.validate(br#"{"d":"2026-11-30"}"#).formats.is_empty());
    let choice = compile(r#"{"anyOf":[{"type":"integer"},{"format":"date"}]}"#);
    let report = choice.validate(b"\"tomorrow\"");
    assert_eq!((report.outcome.is_valid(), report.formats.len()), (true, 1));
}

#[test]
fn messages_are_bounded_and_quote_nothing_of_the_instance() {
    let schema = compile(r#"{"type":"object","maxProperties":1}"#);
    let report = schema.validate(format!("\"secret{}\"", "x".repeat(100_000)).as_bytes());
    assert_eq!(report.outcome.errors()[0].message, "the value is not of type \"object\"");
    let many = format!("[{}0]", "\"a\",".repeat(1000));
    let report = compile(r#"{"items":{"type":"integer"}}"#).validate(many.as_bytes());
    assert_eq!(report.outcome.errors().len(), 20);
    let long = format!(r#"{{"required":["{}"]}}"#, "n".repeat(10_000));
    let message = &compile(&long).validate(b"{}").outcome.errors()[0].message.clone();
    assert!(message.chars().count() < 300, "{message}");
}

#[test]
fn schemas_that_ask_for_too_much_are_refused() {
    let begun = Instant::now();
    let deep = format!("{}true{}", r#"{"not":"#.repeat(101), "}".repeat(101));
    assert!(matches!(refused(&deep), OutputSchemaError::TooLarge { what: "a depth", .. }));
    let deeper = format!("{}true{}", r#"{"not":"#.repeat(200_000), "}".repeat(200_000));
    assert!(matches!(refused(&deeper), OutputSchemaError::TooLarge { .. }));
    let wide = format!(r#"{{"enum":[{}0]}}"#, "0,".repeat(200_000));
    assert!(matches!(refused(&wide), OutputSchemaError::TooLarge { .. }));
    let step = |n: usize| {
        format!(
            r##""d{n}":{{"anyOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##,
            n + 1
        )
    };
    let steps: Vec<_> = (0..40).map(step).collect();
    let doubling =
        format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d40":true}}}}"##, steps.join(","));
    assert!(matches!(refused(&doubling), OutputSchemaError::TooLarge { .. }));
    for keyword in ["allOf", "oneOf", "anyOf"] {
        let chain = |length: usize| {
            let step = |n| {
                format!(
                    r##""d{n}":{{"{keyword}":[{{"$ref":"#/$defs/d{}"}}],"unevaluatedProperties":false}}"##,
                    n + 1
                )
            };
            let steps: Vec<_> = (0..length).map(step).collect();
            format!(
                r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d{length}":{{"type":"string"}}}}}}"##,
                steps.join(",")
            )
        };
        assert!(matches!(refused(&chain(100)), OutputSchemaError::TooLarge { .. }));
        assert!(matches!(refused(&chain(9000)), OutputSchemaError::TooLarge { .. }));
        assert!(compile(&chain(60)).validate(b"{\"a\":1}").outcome.is_invalid());
    }
    let along = compile(r##"{"properties":{"n":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}"##);
    let instance = r#"{"n":"#.repeat(60) + "1" + &"}".repeat(60);
    let outcome = along.validate(instance.as_bytes()).outcome;
    assert!(matches!(outcome, SchemaOutcome::Unknown(_)), "{outcome:?}");
    assert!(along.validate(br#"{"n":{"n":1}}"#).outcome.is_valid());
    // Ordinary recursion is not too much, at any depth that a validator reads.
    let any = compile(
        r##"{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}},{"type":"object","additionalProperties":{"$ref":"#"}}]}"##,
    );
    let instance = |core: &str| r#"{"n":["#.repeat(63) + core + &"]}".repeat(63);
    assert!(any.validate(instance("\"a\"").as_bytes()).outcome.is_valid());
    assert!(any.validate(instance("1").as_bytes()).outcome.is_invalid());
    assert!(compile(r##"{"$ref":"#"}"##).validate(b"1").outcome.is_valid());
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}

#[test]
fn what_is_no_schema_is_refused() {
    assert!(matches!(refused("{"), OutputSchemaError::NotJson(_)));
    assert!(matches!(refused(r#"{"const":1e400}"#), OutputSchemaError::Unreadable(_)));
    for broken in ["[1]", "7", r#"{"type":"strin"}"#, r#"{"pattern":"("}"#, r#"{"minLength":-1}"#] {
        assert!(matches!(refused(broken), OutputSchemaError::BreaksDialect { .. }), "{broken}");
    }
    assert!(compile("false").validate(b"1").outcome.is_invalid());
}

/// Small schemas out of keywords that lead from one place to another, most of them nonsense.
fn entangled() -> impl Strategy<Value = String> {
    let uri = prop::sample::select(vec![
        "#",
        "",
        "#/",
        "#a",
        "#/$defs/a",
        "#/$defs/b",
        "#/properties/a",
        "urn:x",
        "urn:x#a",
        "x",
        "http://y/",
        "http://y/z#",
        "#/%24defs/a",
        "?",
        "//",
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
    ]);
    let leaf = prop_oneof![
        Just("true".to_owned()),
        Just("{\"type\":\"string\",\"format\":\"uri\"}".to_owned()),
        Just("{\"pattern\":\"^(a|aa)+$\"}".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let to_uri = prop::sample::select(vec![
            "$ref",
            "$id",
            "$dynamicRef",
            "$recursiveRef",
            "$schema",
            "$anchor",
            "$dynamicAnchor",
            "id",
        ]);
        let to_schema = prop::sample::select(vec![
            "not",
            "items",
            "additionalProperties",
            "contains",
            "unevaluatedProperties",
            "unevaluatedItems",
            "propertyNames",
            "if",
            "then",
        ]);
        let to_named =
            prop::sample::select(vec!["$defs", "properties", "dependentSchemas", "definitions"]);
        let to_list = prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
        let member = prop_oneof![
            (to_uri, uri.clone()).prop_map(|(key, uri)| format!("\"{key}\":\"{uri}\"")),
            (to_schema, inner.clone()).prop_map(|(key, inner)| format!("\"{key}\":{inner}")),
            (to_named, inner.clone(), inner.clone())
                .prop_map(|(key, a, b)| format!("\"{key}\":{{\"a\":{a},\"b\":{b}}}")),
            (to_list, inner.clone(), inner)
                .prop_map(|(key, one, other)| format!("\"{key}\":[{one},{other}]")),
        ];
        prop::collection::vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(",")))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_schema_makes_it_stumble(schema in entangled()) {
        if let Ok(compiled) = OutputSchema::compile(schema.as_bytes()) {
            for instance in ["1", "\"aaaaaaaaab\"", r#"{"a":{"a":[1,"x"]},"b":[[],{}]}"#] {
                compiled.validate(instance.as_bytes());
            }
        }
    }
}

/// The key that `serde_json` keeps for itself would let a document pass as another.
#[test]
fn a_reserved_key_is_never_judged() {
    for key in ["$serde_json::private::RawValue", r"\u0024serde_json::private::RawValue"] {
        let instance = format!(r#"{{"n":{{"{key}":"1"}}}}"#);
        let schema = OutputSchema::compile(br#"{"properties":{"n":{"type":"integer"}}}"#).unwrap();
        let outcome = schema.validate(instance.as_bytes()).outcome;
        assert!(!outcome.is_valid() && !outcome.is_invalid(), "{outcome:?}");
        assert!(OutputSchema::compile(instance.as_bytes()).is_err());
    }
}
