use super::*;

const ME: &str = r#"{"name":"g","version":"1"}"#;

fn fitted(body: &str, upstream: Revision, client: Revision) -> String {
    fitted_kind(body, upstream, client, Kind::Success)
}

fn fitted_kind(body: &str, upstream: Revision, client: Revision, kind: Kind) -> String {
    let cell = Cell { upstream, client, kind, identity: ME };
    let answer = Answer { kind, body: body.to_owned() };
    fit(answer, &cell, &Steps::RIGHT, &is_error::Steps::RIGHT).body
}

const OLD: Revision = Revision::V2025_06_18;
const NEW: Revision = Revision::V2026_07_28;
const ODD: &str = "{ \"content\":[] ,\"x\":1E+02,\"x\":\"\\ud800\\/\", \"structuredContent\":{\"n\":9007199254740993} }";

#[test]
fn between_equals_nothing_moves() {
    assert_eq!(fitted(ODD, OLD, OLD), ODD);
    let new = r#"{"resultType":"complete","content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"up"}}}"#;
    assert_eq!(fitted(new, NEW, NEW), new);
}

#[test]
fn what_the_new_revision_demands_is_spliced_in() {
    let text = fitted(ODD, OLD, NEW);
    let spliced = format!(
        "{{\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{ME}}},\"resultType\":\"complete\","
    );
    assert_eq!(text, ODD.replacen('{', &spliced, 1));
    let text = fitted(r#"{"resultType":"complete","_meta":{"a/b":1}}"#, NEW, NEW);
    let meta = format!(r#"{{"io.modelcontextprotocol/serverInfo":{ME},"a/b":1}}"#);
    assert_eq!(text, format!(r#"{{"resultType":"complete","_meta":{meta}}}"#));
    assert_eq!(
        fitted(r#"{"resultType":"complete","_meta":7}"#, NEW, NEW),
        r#"{"resultType":"complete","_meta":7}"#
    );
    let nested = fitted_kind(r#"{"task":{"taskId":"t"}}"#, OLD, NEW, Kind::Task);
    assert!(nested.contains(r#""resultType":"task""#));
}

#[test]
fn what_an_old_revision_cannot_carry_is_left_out() {
    let new = r#"{"resultType":"complete","content":[],"structuredContent":[1,2]}"#;
    assert_eq!(fitted(new, NEW, OLD), r#"{"content":[]}"#);
    for kept in [r#"{"content":[],"structuredContent":{}}"#, r#"{"content":[],"resultType":"own"}"#]
    {
        assert_eq!(fitted(kept, OLD, OLD), kept);
    }
    for falsy in ["null", "0", "false", "\"\"", "[]"] {
        let text =
            format!(r#"{{"resultType":"complete","structuredContent":{falsy},"content":[]}}"#);
        assert!(fitted(&text, NEW, NEW).ends_with(&text[1..]));
        assert_eq!(fitted(&text, NEW, OLD), r#"{"content":[]}"#);
    }
}

#[test]
fn the_facade_has_four_forms() {
    let said = |kind, body: &str| {
        let ended = Ok(Answer { kind, body: body.to_owned() });
        facade(&ended, is_error::is_success(ended.as_ref().unwrap()))
    };
    assert_eq!(said(Kind::Success, ODD), format!("{{\"result\":{ODD}}}"));
    let failed = r#"{"content":[{"type":"text","text":"\u006eo"}],"isError":true,"x":1.0}"#;
    let wanted = format!(r#"{{"upstream_result":{failed},"error":"\u006eo"}}"#);
    assert_eq!(said(Kind::ToolError, failed), wanted);
    let error = r#"{"code":-32001.0,"message":"m"}"#;
    let wanted = format!(r#"{{"upstream_error":{error},"error":"m"}}"#);
    assert_eq!(said(Kind::RpcError, error), wanted);
    let own = facade(&Err(Failure::too_large(9)), false);
    assert_eq!(
        own,
        r#"{"error":"the upstream's answer is larger than 9 bytes","error_type":"response_too_large"}"#
    );
}

#[test]
fn an_error_object_stays_as_it_is() {
    let error = r#"{"code":-32001.0,"message":"\u006d","data":null,"x":1}"#;
    assert_eq!(fitted_kind(error, OLD, NEW, Kind::RpcError), error);
}
