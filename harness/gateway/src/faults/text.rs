//! Ways in which gateways write a JSON text anew.

use serde_json::{Number, Value};

use crate::spelled;

/// Parsed into a tree and printed. What the tree cannot hold stays as it was.
pub(super) fn through_value(text: &str) -> String {
    serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |tree| tree.to_string())
}

/// As a language does whose only number is a double.
pub(super) fn doubles(text: &str) -> String {
    let Ok(mut tree) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    to_doubles(&mut tree);
    tree.to_string()
}

fn to_doubles(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let double = number.as_f64().unwrap_or_default();
            // Such a language writes 1.0 as 1.
            let whole = double.fract() == 0.0 && double.abs() < 1e18;
            let written =
                if whole { Some(Number::from(double as i64)) } else { Number::from_f64(double) };
            if let Some(written) = written {
                *number = written;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(to_doubles),
        Value::Object(members) => members.values_mut().for_each(to_doubles),
        _ => {}
    }
}

/// The character of a string's inside behind what is kept of it; empty at the end.
fn behind<'a>(inside: &'a str, kept: &str) -> &'a str {
    spelled::characters(inside.get(kept.len()..).unwrap_or_default()).next().unwrap_or_default()
}

/// What is kept of a string's inside, and U+FFFD for a character of several bytes behind it.
pub(super) fn replacement(inside: &str, kept: &str) -> String {
    let is_broken = behind(inside, kept).bytes().any(|byte| !byte.is_ascii());
    if is_broken { format!("{kept}\u{FFFD}") } else { kept.to_owned() }
}

/// What is kept of a string's inside, and the backslash of an escape behind it.
pub(super) fn half_an_escape(inside: &str, kept: &str) -> String {
    if behind(inside, kept).starts_with('\\') { format!("{kept}\\") } else { kept.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rewriting_does_what_it_says() {
        assert_eq!(through_value(r#"{"a":1E+02,"a":"\/"}"#), r#"{"a":"/"}"#);
        assert_eq!(doubles(r#"{"a":9007199254740993,"b":1.0}"#), r#"{"a":9007199254740992,"b":1}"#);
    }

    #[test]
    fn each_cut_breaks_what_it_says() {
        assert_eq!(replacement("aéb", "a"), "a\u{FFFD}");
        assert_eq!(replacement("aéb", "aé"), "aé");
        assert_eq!(half_an_escape(r"a\n", "a"), "a\\");
        assert_eq!(half_an_escape("ab", "a"), "a");
    }
}
