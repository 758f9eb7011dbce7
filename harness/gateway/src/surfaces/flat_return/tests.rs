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
fn an_error_object_stays_as_it_is() {
    let error = r#"{"code":-32001.0,"message":"\u006d","data":null,"x":1}"#;
    assert_eq!(fitted_kind(error, OLD, NEW, Kind::RpcError), error);
}
