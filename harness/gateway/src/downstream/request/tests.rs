use super::*;

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pairs = pairs.iter().map(|(name, value)| {
        (HeaderName::try_from(*name).unwrap(), HeaderValue::from_static(value))
    });
    pairs.collect()
}

fn read(text: &str, pairs: &[(&'static str, &'static str)]) -> Result<Asked, Refused> {
    Asked::read(
        &Envelope::read(text.as_bytes()).unwrap(),
        &headers(pairs),
        &Aside::default(),
        &Steps::RIGHT,
    )
}

fn call(meta: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","_meta":{meta}}}}}"#
    )
}

const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const GOOD: [(&str, &str); 3] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "t")];

#[test]
fn a_stateless_request_is_held_against_its_headers() {
    assert_eq!(read(&call(META), &GOOD).unwrap().client.revision, Revision::V2026_07_28);
    for (meta, pairs, code) in [
        (META, &GOOD[..2], codes::HEADER_MISMATCH),
        (META, &GOOD[1..], codes::HEADER_MISMATCH),
        ("{}", &GOOD[..], codes::INVALID_PARAMS),
        (
            r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#,
            &GOOD,
            codes::INVALID_PARAMS,
        ),
    ] {
        assert_eq!(read(&call(meta), pairs).unwrap_err().code, code, "{meta} {pairs:?}");
    }
    let future = META.replace("2026-07-28", "2027-01-01");
    let pairs = [("mcp-protocol-version", "2027-01-01"), GOOD[1], GOOD[2]];
    let refused = read(&call(&future), &pairs).unwrap_err();
    assert_eq!(refused.code, codes::UNSUPPORTED_VERSION);
    let reply = refused.reply("1", &Steps::RIGHT);
    assert_eq!(reply.status, 400);
    assert!(reply.body.contains(r#""data":{"supported":["2026-07-28"],"requested":"2027-01-01"}"#));
}

#[test]
fn the_header_tells_the_handshake_revisions_apart() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (header, revision) in
        [("2025-06-18", Revision::V2025_06_18), ("2025-11-25", Revision::V2025_11_25)]
    {
        let asked = read(text, &[("mcp-protocol-version", header)]).unwrap();
        assert_eq!(asked.client.revision, revision);
    }
    assert_eq!(read(text, &[]).unwrap().client.revision, Revision::V2025_06_18);
    assert!(read(text, &[("mcp-protocol-version", "1999-01-01")]).is_err());
}

#[test]
fn initialize_echoes_what_it_knows() {
    for (asked, answered) in [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
    ] {
        let params = format!(r#"{{"protocolVersion":"{asked}"}}"#);
        let result = initialize(agreed(&params), "{}", true, "\"tools\":{}");
        assert_eq!(json::get_string(&result, "protocolVersion").unwrap(), answered);
    }
}

#[test]
fn call_params_are_spans_of_what_came() {
    let text =
        r#"{"name":"x","arguments":{ "n":1E+02 },"task":{},"requestState":"\u0041","_meta":{}}"#;
    let params = CallParams::read(text, "name").unwrap();
    assert_eq!(params.name, "x");
    assert_eq!(params.arguments, r#"{ "n":1E+02 }"#);
    assert_eq!(params.others, r#""requestState":"\u0041""#);
    assert!(CallParams::read(r#"{"name":7}"#, "name").is_err());
    assert!(
        CallParams::read(r#"{"name":"x","arguments":[]}"#, "name")
            .unwrap_err()
            .contains("an array")
    );
}
