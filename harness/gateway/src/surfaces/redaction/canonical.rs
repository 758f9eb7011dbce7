//! A form of JSON that is the same for the same value, as RFC 8785 has it; but whole numbers that no
//! double can hold stay what they are.

use std::collections::BTreeMap;

use birdstrike_wire::json;

/// Below this level the text is taken as it is written.
const MAX_DEPTH: usize = 64;

/// The canonical form of a JSON text; of no text that of no arguments.
pub fn form(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write(if text.is_empty() { "{}" } else { text }, 0, &mut out);
    out
}

fn write(value: &str, depth: usize, out: &mut String) {
    if depth > MAX_DEPTH {
        out.push_str(value);
        return;
    }
    match json::kind(value) {
        "an object" => {
            // Of members with one name the last counts, as it does for most readers.
            let mut sorted = BTreeMap::new();
            for member in json::members(value).unwrap_or_default() {
                let key = member.key().into_owned();
                let units: Vec<u16> = key.encode_utf16().collect();
                sorted.insert(units, (key, member.value));
            }
            out.push('{');
            for (at, (key, value)) in sorted.values().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(&json::quote(key));
                out.push(':');
                write(value, depth + 1, out);
            }
            out.push('}');
        }
        "an array" => {
            out.push('[');
            for (at, item) in json::items(value).unwrap_or_default().iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write(item, depth + 1, out);
            }
            out.push(']');
        }
        "a string" => match serde_json::from_str::<String>(value) {
            Ok(text) => out.push_str(&json::quote(&text)),
            Err(_) => out.push_str(value),
        },
        "a number" => out.push_str(&number(value)),
        _ => out.push_str(value),
    }
}

fn number(lexeme: &str) -> String {
    let is_whole = lexeme.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_whole {
        return if lexeme == "-0" { "0".into() } else { lexeme.to_owned() };
    }
    match lexeme.parse::<f64>() {
        Ok(0.0) => "0".into(),
        Ok(number) if number.is_finite() && number.fract() == 0.0 && number.abs() < 1e21 => {
            format!("{number:.0}")
        }
        Ok(number) if number.is_finite() => {
            let shortest = serde_json::Value::from(number).to_string();
            // RFC 8785 writes a large exponent with its sign.
            match shortest.split_once('e') {
                Some((digits, power)) if !power.starts_with(['-', '+']) => {
                    format!("{digits}e+{power}")
                }
                _ => shortest,
            }
        }
        _ => lexeme.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_and_order_make_no_difference() {
        let one = form(r#"{ "b" : [1.50, 1e2, -0], "a":"\u0041\/" }"#);
        assert_eq!(one, r#"{"a":"A/","b":[1.5,100,0]}"#);
        assert_eq!(form(r#"{"a":"A/","b":[15e-1,100.0,0.0]}"#), one);
        assert_eq!(form(r#"{"a":1,"a":2}"#), r#"{"a":2}"#);
        assert_eq!(form(""), "{}");
    }

    #[test]
    fn different_values_stay_different() {
        assert_ne!(form("9007199254740993"), form("9007199254740992"));
        assert_ne!(form("[1,2]"), form("[2,1]"));
        assert_eq!(form("1e30"), "1e+30");
        assert_eq!(form("1e999"), "1e999");
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        assert_eq!(form(&deep), deep);
    }

    #[test]
    fn names_are_sorted_by_utf_16() {
        assert_eq!(form("{\"\u{fb33}\":1,\"😀\":2}"), "{\"😀\":2,\"\u{fb33}\":1}");
    }
}
