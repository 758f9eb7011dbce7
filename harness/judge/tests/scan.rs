//! The scanner on hand-picked texts: what it keeps, what it refuses, and where.
#![expect(clippy::panic, reason = "a test may fail loudly")]

use std::time::{Duration, Instant};

use birdstrike_judge::scan::{Doc, Kind, Node, Problem, ScanError};

fn refused(text: impl AsRef<[u8]>) -> (usize, Problem) {
    match Doc::scan(text.as_ref()) {
        Ok(_) => panic!("{:?} was accepted", String::from_utf8_lossy(text.as_ref())),
        Err(ScanError { offset, problem }) => (offset, problem),
    }
}

#[test]
fn every_kind_has_its_span_and_its_text() {
    let text = br#" {"s":"a\n","n":-0.5e+1,"t":true,"f":false,"z":null,"a":[ ],"o":{ }} "#;
    let doc = Doc::scan(text).unwrap();
    let kinds: Vec<_> = doc.root().members().map(|member| member.value.kind()).collect();
    assert_eq!(
        kinds,
        [Kind::String, Kind::Number, Kind::Bool, Kind::Bool, Kind::Null, Kind::Array, Kind::Object]
    );
    for member in doc.root().members() {
        assert_eq!(&text[member.value.span()], member.value.bytes());
        assert_eq!(text[member.key.span()].first(), Some(&b'"'));
    }
    assert_eq!(doc.root().span(), 1..text.len() - 1);
    assert_eq!(doc.root().get("t").unwrap().boolean(), Some(true));
    assert_eq!(doc.root().get("f").unwrap().boolean(), Some(false));
    assert_eq!(doc.root().get("n").unwrap().number(), Some("-0.5e+1"));
    assert!(doc.root().get("z").unwrap().is_null());
    assert_eq!(doc.root().get("a").unwrap().items().count(), 0);
    assert_eq!(doc.root().get("a").unwrap().raw(), "[ ]");
    assert_eq!((doc.depth(), doc.token_count()), (2, 15));
}

#[test]
fn what_parsers_lose_is_kept() {
    let doc = Doc::scan(
        br#"{"d":1,"b":18446744073709551616,"d":1E+02,"big":1e400,"sl":"\/","d":9007199254740993}"#,
    )
    .unwrap();
    let members: Vec<_> =
        doc.root().members().map(|member| (member.key.raw(), member.value.raw())).collect();
    assert_eq!(
        members,
        [
            ("d", "1"),
            ("b", "18446744073709551616"),
            ("d", "1E+02"),
            ("big", "1e400"),
            ("sl", r#""\/""#),
            ("d", "9007199254740993"),
        ]
    );
    assert_eq!(doc.root().get("d").unwrap().raw(), "9007199254740993");
}

#[test]
fn strings_decode_to_exact_code_points() {
    let text = r#"["a\u00e9\n\/\"\\\b\f\r\t","\ud83d\ude00😀","\ud800","\ud800\u0041","\udc00\ud800","\ud800\ud83d\ude00","\u0000"]"#;
    let doc = Doc::scan(text.as_bytes()).unwrap();
    let strings: Vec<_> = doc.root().items().filter_map(Node::string).collect();
    assert_eq!(strings[0].text(), "aé\n/\"\\\u{8}\u{c}\r\t");
    assert_eq!(strings[1].text(), "😀😀");
    let points = |at: usize| strings[at].code_points().collect::<Vec<_>>();
    assert_eq!(points(2), [0xD800]);
    assert_eq!(points(3), [0xD800, 0x41]);
    assert_eq!(points(4), [0xDC00, 0xD800]);
    assert_eq!(points(5), [0xD800, 0x1_F600]);
    assert_eq!(points(6), [0]);
    assert_eq!(strings[2].text(), "\u{FFFD}");
    assert_eq!(*strings[2].wtf8(), [0xED, 0xA0, 0x80]);
    assert_ne!(*strings[2].wtf8(), *"\u{FFFD}".as_bytes());
}

#[test]
fn strings_are_equal_by_what_they_say() {
    let doc = Doc::scan(br#"["abc","\u0061b\u0063","abd","\ud800","\uD800","\ud801"]"#).unwrap();
    let strings: Vec<_> = doc.root().items().filter_map(Node::string).collect();
    assert_eq!(strings[0], strings[1]);
    assert_ne!(strings[0], strings[2]);
    assert_eq!(strings[3], strings[4]);
    assert_ne!(strings[4], strings[5]);
    assert!(strings[1].is("abc") && strings[1].is_escaped());
    assert!(strings[0].is("abc") && !strings[0].is_escaped());
    assert!(!strings[3].is("\u{FFFD}"));
}

#[test]
fn broken_texts_are_refused_where_they_break() {
    use Problem as P;
    for (text, offset, problem) in [
        ("", 0, P::Ended),
        ("  ", 2, P::Ended),
        ("nul", 3, P::Ended),
        ("nulx", 0, P::NoValue),
        ("NaN", 0, P::NoValue),
        ("Infinity", 0, P::NoValue),
        ("-Infinity", 1, P::NoDigit),
        ("True", 0, P::NoValue),
        ("'a'", 0, P::NoValue),
        ("// x", 0, P::NoValue),
        ("01", 0, P::LeadingZero),
        ("-01", 1, P::LeadingZero),
        ("1.", 2, P::Ended),
        ("1.e1", 2, P::NoDigit),
        (".5", 0, P::NoValue),
        ("+1", 0, P::NoValue),
        ("1e+", 3, P::Ended),
        ("0x10", 1, P::TrailingText),
        ("1 2", 2, P::TrailingText),
        ("{}{}", 2, P::TrailingText),
        ("[1,]", 3, P::NoValue),
        ("[1 2]", 3, P::UnendedArray),
        ("[1", 2, P::Ended),
        ("[", 1, P::Ended),
        ("{", 1, P::Ended),
        ("[1}", 2, P::UnendedArray),
        ("{\"a\":1]", 6, P::UnendedObject),
        ("{\"a\" 1}", 5, P::NoColon),
        ("{\"a\":}", 5, P::NoValue),
        ("{\"a\":1,}", 7, P::NoKey),
        ("{a:1}", 1, P::NoKey),
        ("{\"a\":1 \"b\":2}", 7, P::UnendedObject),
        ("\"abc", 4, P::Ended),
        ("\"a\nb\"", 2, P::RawControl),
        ("\"0123456789abcdef\u{1}\"", 17, P::RawControl),
        ("\"\\x\"", 1, P::BadEscape),
        ("\"\\u12g4\"", 1, P::BadEscape),
        ("\"\\u12", 5, P::Ended),
        ("\"\\", 2, P::Ended),
        ("\u{FEFF}1", 0, P::ByteOrderMark),
        ("\u{a0}1", 0, P::NoValue),
        ("]", 0, P::NoValue),
        (",", 0, P::NoValue),
    ] {
        assert_eq!(refused(text), (offset, problem), "{text:?}");
    }
    assert_eq!(refused(b"\"\xff\""), (1, P::NotUtf8));
    // A surrogate written as three raw bytes is not UTF-8, unlike its escape.
    assert_eq!(refused(b"\"\xed\xa0\x80\""), (1, P::NotUtf8));
    assert_eq!(refused(b"\"abc\xe2\x82"), (4, P::NotUtf8));
}

#[test]
fn an_error_is_a_sentence() {
    let error = Doc::scan(b"[1,]").unwrap_err();
    assert_eq!(error.to_string(), "no JSON value starts at byte 3");
    let error = Doc::scan(b"[1,").unwrap_err();
    assert_eq!(error.to_string(), "an early end of the text at byte 3");
}

#[test]
fn a_quote_is_found_at_every_distance() {
    for length in 0..70 {
        for end in ["\"", "\\n\"", "é\"", "\u{7f}\""] {
            let text = format!("\"{}{end}", "x".repeat(length));
            let doc = Doc::scan(text.as_bytes()).unwrap();
            assert_eq!(doc.root().span(), 0..text.len());
        }
    }
}

#[test]
fn nesting_costs_neither_stack_nor_time() {
    const DEPTH: usize = 200_000;
    let begun = Instant::now();
    let arrays = "[".repeat(DEPTH) + &"]".repeat(DEPTH);
    let doc = Doc::scan(arrays.as_bytes()).unwrap();
    assert_eq!((doc.depth(), doc.token_count()), (DEPTH, DEPTH));
    let objects = r#"{"a":"#.repeat(DEPTH) + "1" + &"}".repeat(DEPTH);
    let doc = Doc::scan(objects.as_bytes()).unwrap();
    assert_eq!(doc.depth(), DEPTH);
    assert_eq!(refused("[".repeat(DEPTH)), (DEPTH, Problem::Ended));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}
