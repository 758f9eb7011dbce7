use super::*;
use crate::failure::Cause;

const BOUNDS: Bounds = Bounds { calls: 2, concurrency: 4 };

fn done(index: usize, ended: Result<Answer, Failure>) -> Done {
    Done { index, call_id: format!("c{index}"), ended, elapsed_ms: 1, tells: String::new() }
}

fn answer(kind: Kind, body: &str) -> Answer {
    Answer { kind, body: body.to_owned() }
}

#[test]
fn arguments_keep_their_bytes() {
    let batch = read(
        r#"{"calls":[{"tool":"a\u0062","arguments":{ "n":1E+02}},{"tool":"c"}],"max_concurrency":9}"#,
        &BOUNDS,
    )
    .unwrap();
    assert_eq!(batch.concurrency, 4);
    assert_eq!(batch.items[0].tool, "ab");
    assert_eq!(batch.items[0].arguments, r#"{ "n":1E+02}"#);
    assert_eq!(batch.items[1].arguments, "{}");
}

#[test]
fn what_is_wrong_with_the_arguments_is_said() {
    for (arguments, says) in [
        ("{}", "`calls` is missing"),
        (r#"{"calls":{}}"#, "no list"),
        (r#"{"calls":[]}"#, "is empty"),
        (r#"{"calls":[1,2,3]}"#, "at most 2"),
        (r#"{"calls":[{"tool":"a"},7]}"#, "`calls[1]` has no `tool`"),
        (r#"{"calls":[{"tool":"a","arguments":[]}]}"#, "`calls[0].arguments` is an array"),
        (r#"{"calls":[{"tool":"a"}],"max_concurrency":0}"#, "whole number from 1"),
        (r#"{"calls":[{"tool":"a"}],"max_concurrency":"2"}"#, "whole number from 1"),
    ] {
        let why = read(arguments, &BOUNDS).unwrap_err();
        assert!(why.contains(says), "{arguments}: {why}");
    }
}

#[test]
fn every_call_has_its_entry_in_order() {
    let ended = vec![
        done(2, Err(Failure::too_large(9))),
        done(
            1,
            Ok(answer(
                Kind::ToolError,
                r#"{"content":[{"type":"text","text":"no\u0021"}],"isError":true}"#,
            )),
        ),
        done(3, Ok(answer(Kind::RpcError, r#"{"code":-7,"message":"m"}"#))),
        done(0, Ok(answer(Kind::Success, r#"{ "content":[],"structuredContent":[1.0]}"#))),
    ];
    let packed = packed(ended, &Steps::RIGHT, &is_error::Steps::RIGHT);
    let entries = [
        r#"{"index":0,"call_id":"c0","success":true,"result":{ "content":[],"structuredContent":[1.0]},"elapsed_ms":1}"#,
        r#"{"index":1,"call_id":"c1","success":false,"error":"no\u0021","error_type":"tool_error","upstream_result":{"content":[{"type":"text","text":"no\u0021"}],"isError":true},"elapsed_ms":1}"#,
        r#"{"index":2,"call_id":"c2","success":false,"error":"the upstream's answer is larger than 9 bytes","error_type":"response_too_large","elapsed_ms":1}"#,
        r#"{"index":3,"call_id":"c3","success":false,"error":"m","error_type":"rpc_error","upstream_error":{"code":-7,"message":"m"},"elapsed_ms":1}"#,
    ];
    let wanted = format!(
        r#"{{"content":[{{"type":"text","text":"4 calls, 3 failed"}}],"structuredContent":{{"total":4,"succeeded":1,"failed":3,"results":[{}]}}}}"#,
        entries.join(",")
    );
    assert_eq!(packed, wanted);
}

#[test]
fn words_that_are_long_or_no_string_are_not_repeated() {
    let long = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(5000));
    assert_eq!(first_text(&long), "\"the tool reported an error\"");
    assert_eq!(rpc_message(r#"{"message":7}"#), "\"the upstream answered with a JSON-RPC error\"");
    let failure = failure(&Err(Failure::new(Cause::Unreachable, "a \"quoted\" word")));
    assert!(failure.contains(r#"a \"quoted\" word"#));
}
