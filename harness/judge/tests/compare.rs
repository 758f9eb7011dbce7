//! Comparison on hand-picked pairs: the level, the places, the words.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::time::{Duration, Instant};

use birdstrike_judge::compare::{
    Allowances, Comparison, EXCERPT_CHARS, MAX_DIFFERENCES, Pattern, Sameness, compare,
};
use birdstrike_judge::{Doc, Fidelity, Pointer};

fn with(up: &str, down: &str, allow: &Allowances) -> Comparison {
    let up = Doc::scan(up.as_bytes()).unwrap();
    let down = Doc::scan(down.as_bytes()).unwrap();
    compare(Some(up.root()), Some(down.root()), &Pointer::root(), allow)
}

fn plain(up: &str, down: &str) -> Comparison {
    with(up, down, &Allowances::NONE)
}

/// Every difference as `pointer fidelity sameness: detail`.
fn told(found: &Comparison) -> Vec<String> {
    found
        .differences
        .iter()
        .map(|d| format!("{} {} {}: {}", d.pointer, d.fidelity, d.sameness, d.detail))
        .collect()
}

#[track_caller]
fn expect(up: &str, down: &str, sameness: Sameness, differences: &[&str]) {
    let found = plain(up, down);
    assert_eq!(told(&found), differences, "{up} {down}");
    assert_eq!(found.sameness, sameness, "{up} {down}");
}

#[test]
fn white_space_alone_is_the_same_json_without_a_difference() {
    expect(r#"{"a":[1,2]}"#, r#"{"a":[1,2]}"#, Sameness::Bytes, &[]);
    expect(r#"{"a":[1,2]}"#, "{ \"a\": [ 1,\n2 ] }", Sameness::Json, &[]);
    // Around the whole value it is not even part of it.
    expect("1", " 1\n", Sameness::Bytes, &[]);
}

#[test]
fn escapes_are_the_same_json() {
    expect(
        r#"{"a":"\/x"}"#,
        r#"{"a":"/x"}"#,
        Sameness::Json,
        &[r#"/a altered json: string escaped otherwise: "\/x" became "/x""#],
    );
    expect(
        r#"{"\u0061":1}"#,
        r#"{"a":1}"#,
        Sameness::Json,
        &["/a altered json: member name escaped otherwise: \\u0061 became a"],
    );
    expect(
        r#""\ud800""#,
        r#""\uD800""#,
        Sameness::Json,
        &[r#" altered json: string escaped otherwise: "\ud800" became "\uD800""#],
    );
}

#[test]
fn spellings_of_numbers_are_the_same_value() {
    for (up, down) in [("1.0", "1"), ("1E+02", "100"), ("-0", "0"), ("1e400", "10e399")] {
        let detail = format!(" altered value: number {up} became {down}, the same value");
        expect(up, down, Sameness::Value, &[&detail]);
    }
}

#[test]
fn numbers_that_a_double_confuses_are_different() {
    for (up, down) in [
        ("9007199254740993", "9007199254740992"),
        ("18446744073709551616", "18446744073709551615"),
        ("18446744073709551616", "1.8446744073709552e19"),
        ("9.521092493291037e-91", "9.521092493291035e-91"),
        ("1e400", "1e401"),
    ] {
        let detail = format!(" altered different: number {up} became {down}");
        expect(up, down, Sameness::Different, &[&detail]);
    }
}

#[test]
fn members_are_lost_added_and_altered() {
    expect(
        r#"{"a":1,"b":null,"c":{"d":[]}}"#,
        r#"{"a":"1","c":{"d":[],"e":null},"f":{"g":1}}"#,
        Sameness::Different,
        &[
            r#"/a altered different: type number became string: 1 became "1""#,
            "/b lost different: null became absent",
            "/c/e added different: absent became null",
            r#"/f added different: member added: {"g":1}"#,
        ],
    );
    expect(
        r#"{"a":{"x":1}}"#,
        "{}",
        Sameness::Different,
        &[r#"/a lost different: member removed: {"x":1}"#],
    );
    expect(
        "[true,0,null]",
        "[false,null,[1]]",
        Sameness::Different,
        &[
            "/0 altered different: boolean true became false",
            "/1 lost different: element removed: 0",
            "/2 added different: element added: [1]",
        ],
    );
    expect(
        "[0,null]",
        "[null,[1]]",
        Sameness::Different,
        &["/0 lost different: element removed: 0", "/1 added different: element added: [1]"],
    );
    expect(
        r#"{"a":0,"b":null}"#,
        r#"{"a":null,"b":[1]}"#,
        Sameness::Different,
        &[
            "/a altered different: number 0 became null",
            "/b altered different: null became array [1]",
        ],
    );
}

#[test]
fn member_order_is_a_matter_of_json_and_not_of_value() {
    expect(
        r#"{"o":{"a":1,"b":2}}"#,
        r#"{"o":{"b":2,"a":1}}"#,
        Sameness::Value,
        &["/o altered value: member order changed"],
    );
    // A lost member does not make the others move.
    expect(
        r#"{"a":1,"b":2,"c":3}"#,
        r#"{"a":1,"c":3}"#,
        Sameness::Different,
        &["/b lost different: member removed: 2"],
    );
}

#[test]
fn duplicates_are_a_matter_of_json_and_the_last_counts() {
    expect(
        r#"{"a":1,"a":2}"#,
        r#"{"a":2}"#,
        Sameness::Value,
        &["/a altered value: duplicate member dropped: 2 of that name became 1"],
    );
    expect(
        r#"{"a":1,"a":2}"#,
        r#"{"a":1}"#,
        Sameness::Different,
        &[
            "/a altered value: duplicate member dropped: 2 of that name became 1",
            "/a altered different: number 2 became 1",
        ],
    );
    expect(
        r#"{"a":{"x":1},"a":2}"#,
        r#"{"a":{"y":3},"a":2}"#,
        Sameness::Value,
        &["/a/x lost value: member removed: 1", "/a/y added value: member added: 3"],
    );
    expect(
        r#"{"a":1}"#,
        r#"{"a":1,"\u0061":1}"#,
        Sameness::Value,
        &["/a altered value: member repeated: 1 of that name became 2"],
    );
    expect(
        r#"{"a":1,"b":2,"a":1}"#,
        r#"{"a":1,"a":1,"b":2}"#,
        Sameness::Value,
        &[" altered value: member order changed"],
    );
}

#[test]
fn elements_that_only_lost_duplicates_are_still_the_same_elements() {
    expect(
        r#"[{"a":1,"a":0},{"a":0},{"a":2,"a":0}]"#,
        r#"[{"a":0},{"a":0},{"a":0}]"#,
        Sameness::Value,
        &[
            "/0/a altered value: duplicate member dropped: 2 of that name became 1",
            "/2/a altered value: duplicate member dropped: 2 of that name became 1",
        ],
    );
}

#[test]
fn names_with_lone_surrogates_are_told_apart() {
    let found = plain(r#"{"\ud800":1}"#, r#"{"\ud801":1}"#);
    assert_eq!(found.sameness, Sameness::Different);
    assert_eq!(found.differences.len(), 2);
}

#[test]
fn one_inserted_or_removed_element_is_one_difference() {
    expect("[1,2,3,4]", "[1,3,4]", Sameness::Different, &["/1 lost different: element removed: 2"]);
    expect(
        r#"[{"a":1},{"b":2}]"#,
        r#"["new",{"a":1.0},{"b":2}]"#,
        Sameness::Different,
        &[
            "/0/a altered value: number 1 became 1.0, the same value",
            r#"/0 added different: element added: "new""#,
        ],
    );
    expect(
        "[1,2,3]",
        "[3,1,2]",
        Sameness::Different,
        &["/2 altered different: element moved from position 2 to 0"],
    );
}

#[test]
fn elements_of_one_shape_are_paired() {
    expect(
        r#"[1,{"a":1}]"#,
        r#"[{"a":2}]"#,
        Sameness::Different,
        &["/0 lost different: element removed: 1", "/1/a altered different: number 1 became 2"],
    );
}

#[test]
fn strings_tell_what_they_lost() {
    let long = "abcdefghij".repeat(12);
    expect(
        &format!("\"{long}\""),
        &format!("\"{}\"", &long[..80]),
        Sameness::Different,
        &[&format!(
            " altered different: string lost its last 40 of 120 characters: \"{}\"",
            &long[80..]
        )],
    );
    for (up, down, detail) in [
        ("hello", "lo", r#"string lost its first 3 of 5 characters: "hel""#),
        ("lo", "hello", r#"string gained 3 characters at its start: "hel""#),
        ("hel", "hello", r#"string gained 2 characters at its end: "lo""#),
        ("hello", "", r#"string "hello" became empty"#),
        ("", "hello", r#"empty string became "hello""#),
        ("hello", "hallo", r#"string "hello" became "hallo""#),
        ("\\u202ea", "b", r#"string "\u{202e}a" became "b""#),
        ("\\ud800", "b", r#"string "\ud800" became "b""#),
    ] {
        let found = plain(&format!("\"{up}\""), &format!("\"{down}\""));
        assert_eq!(found.differences[0].detail, detail);
    }
    let cut_with_a_note = format!("\"{}[truncated]\"", &long[..90]);
    let found = plain(&format!("\"{long}\""), &cut_with_a_note);
    assert_eq!(
        found.differences[0].detail,
        "string of 120 characters became one of 101, from character 90 on: \
         \"abcdefghijabcdefghijabcdefghij\" became \"[truncated]\""
    );
}

#[test]
fn absent_values_compare() {
    let base = Pointer::parse("/result/data").unwrap();
    let doc = Doc::scan(b"null").unwrap();
    let none = &Allowances::NONE;
    assert_eq!(compare(None, None, &base, none).sameness, Sameness::Bytes);
    let lost = compare(Some(doc.root()), None, &base, none);
    assert_eq!(told(&lost), ["/result/data lost different: null became absent"]);
    assert_eq!(lost.differences[0].up, Some(0..4));
    let doc = Doc::scan(b"[1]").unwrap();
    let added = compare(None, Some(doc.root()), &base, none);
    assert_eq!(told(&added), ["/result/data added different: value added: [1]"]);
    assert_eq!((&added.differences[0].up, &added.differences[0].down), (&None, &Some(0..3)));
}

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::parse(text).unwrap()).collect()
}

#[test]
fn allowances_permit_their_places_and_no_others() {
    let allow = Allowances {
        added: patterns(&["/_meta/io.modelcontextprotocol~1serverInfo", "/resultType"]),
        lost: patterns(&["/content/*/_meta"]),
        altered: patterns(&["/_meta/io.modelcontextprotocol~1serverInfo"]),
    };
    let up = r#"{"content":[{"_meta":{},"t":1},{"t":2}]}"#;
    let down = r#"{"content":[{"t":1},{"t":2}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"g"}}}"#;
    let found = with(up, down, &allow);
    assert_eq!((found.sameness, found.permitted), (Sameness::Json, 3));
    assert!(found.differences.is_empty());

    let down =
        r#"{"content":[{"t":1},{"t":2}],"_meta":{"io.modelcontextprotocol/serverInfo":1,"x":2}}"#;
    let found = with(up, down, &allow);
    assert_eq!(told(&found), ["/_meta/x added different: member added: 2"]);

    // What may be altered may change inside, and may still not be lost.
    let info = r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"c","v":1}}}"#;
    let other = r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"g","w":2}}}"#;
    let found = with(info, other, &allow);
    assert_eq!((found.sameness, found.permitted), (Sameness::Json, 3));
    let found = with(info, r#"{"_meta":{}}"#, &allow);
    assert_eq!(found.fidelity(Sameness::Value), Fidelity::Lost);
    // A container that is added empty is not what the pattern permits.
    assert_eq!(with("{}", r#"{"_meta":{}}"#, &allow).differences.len(), 1);
}

#[test]
fn one_word_sums_up() {
    let spelling = plain("[1.0,2]", "[1,2]");
    assert!(spelling.holds(Sameness::Value) && !spelling.holds(Sameness::Json));
    assert_eq!(spelling.fidelity(Sameness::Value), Fidelity::Intact);
    assert_eq!(spelling.fidelity(Sameness::Json), Fidelity::Altered);
    assert_eq!(plain("[1]", "[]").fidelity(Sameness::Value), Fidelity::Lost);
    assert_eq!(plain("[]", "[1]").fidelity(Sameness::Value), Fidelity::Added);
    let mixed = plain(r#"{"a":1}"#, r#"{"b":1}"#);
    assert_eq!(mixed.fidelity(Sameness::Value), Fidelity::Altered);
    assert_eq!(mixed.breaking(Sameness::Value).count(), 2);
}

#[test]
fn differences_and_details_are_bounded() {
    let up: Vec<_> = (0..1000).map(|n| format!("\"a{n}\":\"{}\"", "x".repeat(500))).collect();
    let down: Vec<_> = (0..1000).map(|n| format!("\"a{n}\":\"{}\"", "y".repeat(500))).collect();
    let found = plain(&format!("{{{}}}", up.join(",")), &format!("{{{}}}", down.join(",")));
    assert_eq!((found.differences.len(), found.suppressed), (MAX_DIFFERENCES, 800));
    for difference in &found.differences {
        assert!(difference.detail.chars().count() < 3 * EXCERPT_CHARS, "{}", difference.detail);
    }
}

#[test]
fn depth_and_width_cost_neither_stack_nor_much_time() {
    let begun = Instant::now();
    let deep = |core: &str| "[".repeat(200_000) + core + &"]".repeat(200_000);
    let found = plain(&deep("1"), &deep("2"));
    assert_eq!(found.differences.len(), 1);
    assert!(found.differences[0].detail.starts_with("too deep to be named: number 1 became 2"));
    let beside = |core: &str| format!("[{core},").repeat(50_000) + "0" + &"]".repeat(50_000);
    assert_eq!(plain(&beside("1"), &beside("2")).suppressed, 50_000 - MAX_DIFFERENCES);
    let wide = |core: &str| format!("[{}0]", format!("{core},").repeat(100_000));
    assert_eq!(plain(&wide("1"), &wide("2")).suppressed, 100_000 - MAX_DIFFERENCES);
    let wide = |end: &str| format!("[{}{end}]", "1,2,".repeat(50_000));
    assert_eq!(plain(&wide("3"), &wide("3,4")).differences.len(), 1);
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}
