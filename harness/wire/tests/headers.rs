//! Mirrored headers: any text survives them, what one side writes the other accepts, and nothing
//! makes them panic.

use birdstrike_wire::headers::{
    Found, ValueError, annotations, decode_bytes, decode_value, encode_param, encode_value,
    param_equals, param_headers, param_mismatches,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Text that is often close to the markers of a coded value.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("=?base64?".to_owned()),
        Just("?=".to_owned()),
        Just("QUJD".to_owned()),
        " {0,2}",
        "[ -~]{0,6}",
        any::<String>(),
    ];
    prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

fn primitive() -> impl Strategy<Value = Value> {
    let largest = (1_i64 << 53) - 1;
    prop_oneof![
        text().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        (-largest..=largest).prop_map(Value::from),
    ]
}

fn schema() -> Value {
    json!({"properties": {
        "a": {"type": "string", "x-mcp-header": "A"},
        "b": {"properties": {"c": {"type": "integer", "x-mcp-header": "C"}}},
    }})
}

fn find<'h>(headers: &'h [(String, String)]) -> impl Fn(&str) -> Found<'h> {
    |name| {
        let same = headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        Found::of(same.map(|(_, value)| value.as_bytes()))
    }
}

proptest! {
    #[test]
    fn any_text_survives_a_header(text in text()) {
        let value = encode_value(&text);
        let safe = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        prop_assert!(safe, "{}", value);
        prop_assert_eq!(value.trim(), &*value);
        prop_assert_eq!(decode_value(&value), Ok(text.as_str().into()));
    }

    #[test]
    fn any_bytes_are_a_text_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        match decode_bytes(&bytes) {
            Ok(text) => {
                let value = encode_value(&text);
                prop_assert_eq!(decode_value(&value), Ok(text.as_ref().into()));
            }
            Err(ValueError::ForbiddenByte { offset, byte }) => prop_assert_eq!(bytes[offset], byte),
            Err(_) => {}
        }
    }

    #[test]
    fn any_primitive_equals_its_own_header_and_no_other(one in primitive(), two in primitive()) {
        let (first, second) = (one.to_string(), two.to_string());
        let value = encode_param(&first).ok().flatten().unwrap_or_default();
        let said = decode_value(&value).unwrap_or_default();
        prop_assert_eq!(param_equals(&said, &first), Ok(true));
        if one.is_string() == two.is_string() {
            prop_assert_eq!(param_equals(&said, &second), Ok(one == two));
        }
    }

    #[test]
    fn any_text_as_an_argument_is_a_value_or_an_error(text in text(), header in text()) {
        let _ = (encode_param(&text), param_equals(&header, &text));
        let number = text.trim();
        if let (Ok(Some(value)), Ok(parsed)) = (encode_param(number), number.parse::<f64>()) {
            prop_assert_eq!(value.parse(), Ok(parsed));
        }
    }

    #[test]
    fn what_a_client_writes_a_server_accepts(a in primitive(), c in primitive(), other in text()) {
        let annotations = annotations(&schema()).unwrap_or_default();
        prop_assert_eq!(annotations.len(), 2);
        let arguments = json!({"a": a, "b": {"c": c}}).to_string();
        let mut headers = param_headers(&annotations, &arguments).unwrap_or_default();
        prop_assert_eq!(headers.len(), 2);
        prop_assert_eq!(param_mismatches(find(&headers), &annotations, &arguments), vec![]);

        headers[0].1 = encode_value(&format!("{other}-changed")).into_owned();
        let found = param_mismatches(find(&headers), &annotations, &arguments);
        prop_assert_eq!(found.len(), usize::from(a != format!("{other}-changed")));
    }
}

#[test]
fn numbers_are_read_exactly_however_they_are_spelled() {
    for (number, value) in [("12e3", 12_000), ("1200e-2", 12), ("0.5e1", 5), ("-10.00", -10)] {
        assert_eq!(encode_param(number), Ok(Some(value.to_string())));
    }
}

#[test]
fn a_schema_may_be_deeper_than_the_stack() {
    let mut schema = json!({"type": "string", "x-mcp-header": "Deep"});
    for _ in 0..100_000 {
        schema = Value::Object([("items".to_owned(), schema)].into_iter().collect());
    }
    assert!(annotations(&schema).is_err());
    // Dropping it would recurse as deeply as reading it must not.
    std::mem::forget(schema);
}
