use super::*;
use crate::config::Config;

fn redactor(redaction: &str) -> Redactor {
    let config = format!(
        "upstreams: {{a: {{command: [x], env: {{KEY: planted-in-env, LEVEL: debug, MY_TOKEN: '12345', DAY: '2026-07-28'}}}}}}\n\
         redaction: {redaction}\n"
    );
    let rules = Rules::new(&Config::from_text(&config).unwrap()).unwrap();
    Redactor { steps: Steps::RIGHT, rules: Arc::new(rules) }
}

#[test]
fn secrets_go_by_their_name_in_any_case_and_at_any_depth() {
    let told = redactor("{keys: [Geheim]}").arguments(
        r#"{"Password":"a1","note":"n","in":[{"x":{"API-Key":[1,2]}}],"mein_geheim":7,"\u0070wd":"b2"}"#,
    );
    assert_eq!(
        told,
        r#"{"Password":"[redacted]","note":"n","in":[{"x":{"API-Key":"[redacted]"}}],"mein_geheim":"[redacted]","pwd":"[redacted]"}"#
    );
}

#[test]
fn secrets_go_by_their_form_in_any_text() {
    let redactor = redactor("{patterns: ['canary-[0-9]+']}");
    for (text, told) in [
        ("use ghp_0123456789abcdef now", "use [redacted] now"),
        ("Authorization: Bearer abcdef123", "Authorization: [redacted] [redacted]"),
        ("a bearer abcdef123, b", "a bearer [redacted], b"),
        ("password=hunter2&x=1", "password=[redacted]&x=1"),
        (r#"{"api_key": "k-1-2-3", "n": 1}"#, r#"{"api_key": "[redacted]", "n": 1}"#),
        (r#"{\"token\":\"abc\"}"#, r#"{\"token\":\"[redacted]\"}"#),
        ("at http://me:pass@host/", "at http://me:[redacted]@host/"),
        ("canary-77 sang", "[redacted] sang"),
        ("x eyJhbGciOi.eyJzdWIiOi.c2ln y", "x [redacted] y"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- z", "[redacted] z"),
        ("the key to a token is basic", "the key to a token is basic"),
    ] {
        assert_eq!(redactor.told(text), told);
        assert_eq!(redactor.told(&redactor.told(text)), redactor.told(text), "{text}");
    }
}

#[test]
fn secrets_go_because_they_are_known() {
    let redactor = redactor("{values: [abcd, abcdef]}");
    assert_eq!(redactor.told("planted-in-env abcdef abcd"), format!("{MASK} {MASK} {MASK}"));
    assert_eq!(redactor.told("debug 2026-07-28 12345"), format!("debug 2026-07-28 {MASK}"));
    assert_eq!(redactor.arguments(r#"{"a":"xabcdx","abcd":1}"#).matches(MASK).count(), 2);
    assert_eq!(redactor.arguments(r#"{"\u0061":"\u0061bcd"}"#), format!(r#"{{"a":"{MASK}"}}"#));
}

#[test]
fn what_is_long_is_cut_at_a_character_and_says_so() {
    let redactor = redactor("{max_chars: 32, values: [secretsecret]}");
    let text = format!("{}é{}", "a".repeat(31), "b".repeat(10));
    let told = redactor.told(&text);
    assert_eq!(told, format!("{}é[cut]", "a".repeat(31)));
    assert_eq!(redactor.told(&text[..33]), text[..33]);
    let across = format!("{}secretsecret", "a".repeat(28));
    assert!(!redactor.told(&across).contains("secr"));
    let many: Vec<String> = (0..500).map(|n| format!("\"k{n}\":\"{}\"", "é".repeat(40))).collect();
    let told = redactor.arguments(&format!("{{{}}}", many.join(",")));
    assert!(told.len() < 32 * TOTAL_TEXTS * 2, "{}", told.len());
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert!(told["[left out]"].as_u64().unwrap() > 400);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    assert!(redactor.arguments(&deep).contains("[too deep]"));
    let list = format!("[{}]", vec!["\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""; 100].join(","));
    assert!(redactor.arguments(&list).contains("more left out]"));
}

#[test]
fn the_hash_is_that_of_the_value() {
    assert_eq!(hash(r#"{"a":1.0,"b":[]}"#), hash("{\"b\" : [],\n\"a\":1}"));
    assert_ne!(hash(r#"{"a":"1"}"#), hash(r#"{"a":1}"#));
    assert_eq!(hash(""), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

#[test]
fn no_character_breaks_a_line() {
    let quoted = quoted("a\nb\r\u{7f}\u{9b}\u{2028}\u{1b}[31m\"é");
    assert_eq!(quoted, r#""a\nb\r\u007f\u009b\u2028\u001b[31m\"é""#);
    let back: String = serde_json::from_str(&quoted).unwrap();
    assert_eq!(back, "a\nb\r\u{7f}\u{9b}\u{2028}\u{1b}[31m\"é");
}

#[test]
fn an_environment_is_its_names() {
    let env = BTreeMap::from([("A\"".to_owned(), "value-of-a".to_owned())]);
    assert_eq!(environment(&env), r#"{"A\"":"[redacted]"}"#);
}
