//! Properties that hold for every input, with `serde_json` as the second opinion.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use birdstrike_judge::compare::{Allowances, Comparison, Sameness, compare};
use birdstrike_judge::number::Decimal;
use birdstrike_judge::scan::{Doc, Kind, Node};
use birdstrike_judge::{Fidelity, Pointer};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

/// JSON texts with everything that RFC 8259 allows in them: duplicates, odd spellings, lone
/// surrogates, white space.
fn json() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:?}")),
        r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
    ];
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        number,
        string(),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        let member = (string_or_common(), space(), inner.clone())
            .prop_map(|(key, space, value)| format!("{key}{space}:{value}"));
        prop_oneof![
            (prop::collection::vec(inner, 0..6), space())
                .prop_map(|(items, space)| format!("[{space}{}{space}]", items.join(","))),
            (prop::collection::vec(member, 0..6), space())
                .prop_map(|(members, space)| format!("{{{space}{}{space}}}", members.join(","))),
        ]
    })
}

fn space() -> impl Strategy<Value = String> {
    "[ \t\r\n]{0,2}"
}

fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z é😀]{0,6}",
        Just("\\n".to_owned()),
        Just("\\/".to_owned()),
        Just("\\\\".to_owned()),
        Just("\\\"".to_owned()),
        "\\\\u[0-9a-fA-F]{4}",
        Just("\\ud83d\\ude00".to_owned()),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Names that repeat often enough to make duplicates.
fn string_or_common() -> impl Strategy<Value = String> {
    prop_oneof![string(), "\"[ab]\"", Just("\"\\u0061\"".to_owned())]
}

/// The same with one random edit, so that most of it is broken, but only just.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    (json(), any::<prop::sample::Index>(), any::<u8>(), 0..3).prop_map(|(text, at, byte, edit)| {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        match edit {
            0 => bytes[at] = byte,
            1 => _ = bytes.remove(at),
            _ => bytes.insert(at, byte),
        }
        bytes
    })
}

/// Rebuilds a text from its nodes alone. Recursion is fine here: what is generated is shallow.
fn emit(node: Node<'_>) -> String {
    match node.kind() {
        Kind::Array => {
            let items: Vec<_> = node.items().map(emit).collect();
            format!("[{}]", items.join(","))
        }
        Kind::Object => {
            let member = |key: &str, value| format!("\"{key}\":{}", emit(value));
            let members: Vec<_> =
                node.members().map(|found| member(found.key.raw(), found.value)).collect();
            format!("{{{}}}", members.join(","))
        }
        _ => node.raw().to_owned(),
    }
}

/// Whether a node says what a `serde_json` value says, as far as that can hold it.
fn agrees(node: Node<'_>, value: &Value) -> bool {
    match value {
        Value::Null => node.is_null(),
        Value::Bool(truth) => node.boolean() == Some(*truth),
        Value::Number(number) => {
            node.number().is_some_and(|lexeme| match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => lexeme.parse() == Ok(integer),
                (None, double) => lexeme.parse().ok() == double,
            })
        }
        Value::String(text) => node.string().is_some_and(|string| string.is(text)),
        Value::Array(items) => {
            node.items().count() == items.len()
                && node.items().zip(items).all(|(node, item)| agrees(node, item))
        }
        Value::Object(members) => {
            node.kind() == Kind::Object
                && node.members().all(|member| members.contains_key(&*member.key.text()))
                && members
                    .iter()
                    .all(|(name, value)| node.get(name).is_some_and(|node| agrees(node, value)))
        }
    }
}

fn compared(up: &str, down: &str) -> Comparison {
    let up = Doc::scan(up.as_bytes()).unwrap();
    let down = Doc::scan(down.as_bytes()).unwrap();
    compare(Some(up.root()), Some(down.root()), &Pointer::root(), &Allowances::NONE)
}

/// The differences as they look from the other side, in an order of their own.
fn mirrored(found: &Comparison, mirror: bool) -> Vec<(Fidelity, Sameness, Option<usize>)> {
    let mut all: Vec<_> = found
        .differences
        .iter()
        .map(|difference| {
            let fidelity = match difference.fidelity {
                Fidelity::Lost if mirror => Fidelity::Added,
                Fidelity::Added if mirror => Fidelity::Lost,
                fidelity => fidelity,
            };
            let span = if mirror { &difference.down } else { &difference.up };
            (fidelity, difference.sameness, span.as_ref().map(|span| span.start))
        })
        .collect();
    all.sort_unstable();
    all
}

/// The inputs are small, so there is room for many; a failure is told, not saved.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn scanner_and_serde_accept_the_same_texts(bytes in prop_oneof![
        nearly_json(),
        json().prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..12),
    ]) {
        let serde = std::str::from_utf8(&bytes).is_ok()
            && serde_json::from_slice::<Box<RawValue>>(&bytes).is_ok();
        let ours = Doc::scan(&bytes);
        prop_assert_eq!(ours.is_ok(), serde, "{:?} {:?}", String::from_utf8_lossy(&bytes), ours);
    }

    #[test]
    fn scanner_and_serde_read_the_same(text in json()) {
        let doc = Doc::scan(text.as_bytes()).unwrap();
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            prop_assert!(agrees(doc.root(), &value), "{text} {value}");
        }
    }

    #[test]
    fn nodes_hold_all_that_was_written(text in json()) {
        let doc = Doc::scan(text.as_bytes()).unwrap();
        let again = emit(doc.root());
        let found = compared(&text, &again);
        prop_assert!(found.holds(Sameness::Json));
        prop_assert!(found.differences.is_empty());
        prop_assert_eq!(emit(Doc::scan(again.as_bytes()).unwrap().root()), again);
    }

    #[test]
    fn nothing_differs_from_itself(text in json()) {
        prop_assert_eq!(compared(&text, &text).sameness, Sameness::Bytes);
        // Nor does it when it has to be looked at.
        let found = compared(&text, &format!("[{text}]")[1..=text.len()]);
        prop_assert!(found.differences.is_empty());
    }

    #[test]
    fn comparison_is_symmetric(up in json(), down in json(), framed in any::<bool>()) {
        // Two unrelated texts, or one inside a frame that both have, a little out of step.
        let frames = (format!("[0,{up},{{\"k\":{down}}}]"), format!("[{down},0,{up},{{\"k\":1}}]"));
        let (up, down) = if framed { frames } else { (up, down) };
        let there = compared(&up, &down);
        let back = compared(&down, &up);
        prop_assert_eq!(there.sameness, back.sameness, "{} {}", up, down);
        if there.suppressed == 0 {
            prop_assert_eq!(mirrored(&there, false), mirrored(&back, true), "{} {}", up, down);
        }
    }

    #[test]
    fn what_serde_rewrites_keeps_its_value_but_for_numbers(text in json()) {
        // `serde_json` drops duplicates, resolves escapes and respells numbers.
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            let found = compared(&text, &value.to_string());
            for difference in found.breaking(Sameness::Value) {
                prop_assert!(difference.detail.starts_with("number "), "{text}: {}", difference.detail);
            }
        }
    }

    #[test]
    fn an_edit_in_one_place_is_one_difference(
        items in prop::collection::vec(json(), 1..8), at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(items.len());
        let array = |items: &[String]| format!("{{\"a\":[{}]}}", items.join(","));
        let (mut less, mut other) = (items.clone(), items.clone());
        less.remove(at);
        other[at] = "\"bsmk-a-new-value\"".to_owned();
        let (all, less, other) = (array(&items), array(&less), array(&other));
        // Of two neighbours that are one value in two spellings either may be the one that is gone,
        // and the other is then spelled otherwise: only values are counted.
        let one = |found: &Comparison| {
            (found.breaking(Sameness::Value).count(), found.fidelity(Sameness::Value))
        };
        prop_assert_eq!(one(&compared(&all, &less)), (1, Fidelity::Lost));
        prop_assert_eq!(one(&compared(&less, &all)), (1, Fidelity::Added));
        prop_assert_eq!(one(&compared(&all, &other)), (1, Fidelity::Altered));
    }

    #[test]
    fn pointers_come_back(segments in prop::collection::vec("[a/~01é]{0,4}", 0..5)) {
        let mut pointer = Pointer::root();
        for segment in &segments {
            pointer.push(segment);
        }
        prop_assert_eq!(pointer.segments().collect::<Vec<_>>(), segments);
        let read = Pointer::parse(pointer.as_str()).unwrap();
        prop_assert_eq!(&read, &pointer);
        let json = serde_json::to_string(&pointer).unwrap();
        prop_assert_eq!(serde_json::from_str::<Pointer>(&json).unwrap(), pointer);
    }

    #[test]
    fn every_difference_points_into_its_documents(up in json(), down in json()) {
        let (up_doc, down_doc) = (Doc::scan(up.as_bytes()).unwrap(), Doc::scan(down.as_bytes()).unwrap());
        for difference in compared(&up, &down).differences {
            let found = |doc: &Doc<'_>, span: &std::ops::Range<usize>| {
                doc.all_at(&difference.pointer).iter().any(|node| node.span() == *span)
            };
            // A name with a lone surrogate has no exact pointer.
            if difference.pointer.as_str().contains('\u{FFFD}') {
                continue;
            }
            if let Some(span) = &difference.up {
                prop_assert!(found(&up_doc, span), "{} {up} {down}", difference.pointer);
            } else {
                prop_assert!(found(&down_doc, difference.down.as_ref().unwrap()));
            }
        }
    }

    #[test]
    fn integers_compare_like_integers(left in any::<i128>(), right in any::<i128>(), near in -2_i128..3) {
        for right in [right, left.saturating_add(near)] {
            let (one, other) = (left.to_string(), right.to_string());
            let (one, other) = (Decimal::parse(&one).unwrap(), Decimal::parse(&other).unwrap());
            prop_assert_eq!(one.cmp(&other), left.cmp(&right));
            prop_assert!(one.is_integer());
        }
    }

    #[test]
    fn spellings_compare_like_scaled_integers(
        left in -100_000_i64..100_000, right in -100_000_i64..100_000,
        zeros in 0_usize..6, exponent in -6_i32..6,
    ) {
        // left × 10^exponent, spelled with a point moved by hand, against right × 10^exponent.
        let moved = format!("{left}{}.{}e{}", "0".repeat(zeros), "0".repeat(zeros), exponent - zeros as i32);
        let plain = format!("{right}e{exponent}");
        let (Some(one), Some(other)) = (Decimal::parse(&moved), Decimal::parse(&plain)) else {
            // "0000.0" and "5." are no JSON.
            prop_assert!(zeros == 0 || left == 0);
            return Ok(());
        };
        prop_assert_eq!(one.cmp(&other), left.cmp(&right), "{} {}", moved, plain);
    }

    #[test]
    fn doubles_that_differ_are_spelled_differently(left in any::<f64>(), right in any::<f64>()) {
        prop_assume!(left.is_finite() && right.is_finite());
        let (one, other) = (format!("{left:e}"), format!("{right:?}"));
        let (one, other) = (Decimal::parse(&one).unwrap(), Decimal::parse(&other).unwrap());
        prop_assert_eq!(Some(one.cmp(&other)), left.partial_cmp(&right));
    }
}
