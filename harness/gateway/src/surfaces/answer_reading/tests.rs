use super::*;

const ASKED: Asked<'_> = Asked {
    id: "7",
    upstream: Revision::V2026_07_28,
    client: Revision::V2026_07_28,
    declares_tasks: false,
};

fn read_as(text: &str, asked: &Asked<'_>) -> Result<Answer, Failure> {
    let message = Message { bytes: text.as_bytes().to_vec(), arrival: Arrival::Json, status: 200 };
    read(message, asked, &Steps::RIGHT, &is_error::Steps::RIGHT)
}

fn result(result: &str) -> Result<Answer, Failure> {
    read_as(&format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{result}}}"), &ASKED)
}

fn why(answer: Result<Answer, Failure>) -> String {
    answer.unwrap_err().message
}

#[test]
fn each_kind_is_told_from_the_others_and_keeps_its_bytes() {
    let cases = [
        (r#"{ "content":[] , "n":1E+02}"#, Kind::Success),
        (r#"{"content":[],"isError":true}"#, Kind::ToolError),
        (r#"{"resultType":"complete","content":[]}"#, Kind::Success),
        (r#"{"resultType":"input_required","requestState":"s"}"#, Kind::InputRequired),
        (r#"{"content":[],"task":{"taskId":"t"}}"#, Kind::Success),
    ];
    for (body, kind) in cases {
        assert_eq!(result(body), Ok(Answer { kind, body: body.to_owned() }));
    }
    let error = r#"{"code":-1.5e3,"message":"m","x":1}"#;
    let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{error}}}");
    assert_eq!(read_as(&text, &ASKED), Ok(Answer { kind: Kind::RpcError, body: error.to_owned() }));
}

#[test]
fn what_cannot_be_read_says_why() {
    for (body, says) in [
        ("null", "`result` is null"),
        ("[]", "`result` is an array"),
        (r#"{"resultType":"later"}"#, "unknown `resultType` \"later\""),
        (r#"{"resultType":7}"#, "unknown `resultType` 7"),
    ] {
        assert!(why(result(body)).contains(says), "{body}");
    }
    for (text, says) in [
        (r#"{"jsonrpc":"2.0","id":8,"result":{}}"#, "not that of the request"),
        (r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, "not that of the request"),
        (r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#, "both `result` and `error`"),
        (r#"{"jsonrpc":"2.0","id":7,"error":"x"}"#, "`error` is no object"),
        (r#"{"jsonrpc":"2.0","id":7,"res"#, "not JSON"),
        ("", "not JSON"),
    ] {
        assert!(why(read_as(text, &ASKED)).contains(says), "{text}");
    }
    let bytes = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":\"\xff\"}}".to_vec();
    let message = Message { bytes, arrival: Arrival::Json, status: 200 };
    let bad = read(message, &ASKED, &Steps::RIGHT, &is_error::Steps::RIGHT);
    assert!(why(bad).contains("not UTF-8 at byte 39"));
}

#[test]
fn a_task_goes_only_to_who_declared_it() {
    let flat = r#"{"resultType":"task","taskId":"t"}"#;
    let nested = r#"{"task":{"taskId":"t"}}"#;
    for handle in [flat, nested] {
        let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{handle}}}");
        let refused = read_as(&text, &ASKED).unwrap_err();
        assert_eq!(refused.cause, Cause::TaskNotDeclared);
        let declared = Asked { declares_tasks: true, ..ASKED };
        assert_eq!(read_as(&text, &declared).unwrap().kind, Kind::Task);
        let old = Asked { client: Revision::V2025_06_18, ..declared };
        assert_eq!(read_as(&text, &old).unwrap_err().cause, Cause::TaskNotDeclared);
    }
}

#[test]
fn between_handshake_parties_a_result_type_is_any_member() {
    let text = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"x","content":[]}}"#;
    let old = Revision::V2025_06_18;
    let asked = Asked { upstream: old, client: old, ..ASKED };
    assert_eq!(read_as(text, &asked).unwrap().kind, Kind::Success);
    let asked = Asked { upstream: old, ..ASKED };
    assert!(why(read_as(text, &asked)).contains("resultType"));
}

#[test]
fn an_error_body_outweighs_its_status() {
    assert_eq!(status(400, true), Ok(()));
    assert!(status(502, false).unwrap_err().message.contains("502"));
}

#[test]
fn the_body_of_an_http_error_is_told_unless_it_is_a_message() {
    let failed = |body: &str| {
        let bytes = body.as_bytes().to_vec();
        let message = Message { bytes, arrival: Arrival::Json, status: 422 };
        why(read(message, &ASKED, &Steps::RIGHT, &is_error::Steps::RIGHT))
    };
    assert!(failed("{\"detail\":\"used\nup\"}").ends_with("422: {\"detail\":\"used up\"})"));
    assert!(failed(r#"{"jsonrpc":"2.0","id":9,"result":{"k":"theirs"}}"#).ends_with("status 422)"));
    assert!(failed("").ends_with("status 422)"));
    assert_eq!(reason("ä".repeat(300).as_bytes()).unwrap().chars().count(), REASON);
}
