//! Canonical JSON (RFC 8785): one spelling for every value, so that a hash can be taken of it.
//!
//! ```
//! use birdstrike_judge::{Doc, canonical::canonical};
//!
//! let doc = Doc::scan(br#"{ "b": 1.0, "a": "\u0041" }"#)?;
//! assert_eq!(canonical(doc.root()).as_deref(), Ok(r#"{"a":"A","b":1}"#));
//! # Ok::<(), birdstrike_judge::ScanError>(())
//! ```

use crate::scan::{JsonStr, Kind, Node};

/// Why a value has no canonical spelling. All three are outside of I-JSON (RFC 7493), which RFC 8785
/// builds on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    /// Two members of one object have the same name.
    #[error("a member name stands twice")]
    NameTwice,
    /// A string holds a surrogate without its other half.
    #[error("a lone surrogate")]
    LoneSurrogate,
    /// A number is larger than any double.
    #[error("a number beyond all doubles")]
    TooLarge,
}

/// What is still to be written.
enum Work<'d> {
    Value(Node<'d>),
    Text(String),
}

/// The canonical spelling of a value.
///
/// # Errors
/// [`NotCanonical`].
pub fn canonical(root: Node<'_>) -> Result<String, NotCanonical> {
    let mut out = String::new();
    let mut work = vec![Work::Value(root)];
    // The scanner takes any depth, so no value is written by recursion.
    while let Some(next) = work.pop() {
        match next {
            Work::Text(text) => out.push_str(&text),
            Work::Value(node) => match node.kind() {
                Kind::Null | Kind::Bool => out.push_str(node.raw()),
                Kind::Number => out.push_str(&number(node.raw())?),
                Kind::String => {
                    node.string().map_or(Ok(()), |text| string(text, &mut out))?;
                }
                Kind::Array => array(node, &mut out, &mut work),
                Kind::Object => object(node, &mut out, &mut work)?,
            },
        }
    }
    Ok(out)
}

fn array<'d>(node: Node<'d>, out: &mut String, work: &mut Vec<Work<'d>>) {
    out.push('[');
    work.push(Work::Text("]".to_owned()));
    let items: Vec<Node<'d>> = node.items().collect();
    for (at, item) in items.into_iter().enumerate().rev() {
        work.push(Work::Value(item));
        if at > 0 {
            work.push(Work::Text(",".to_owned()));
        }
    }
}

/// Members in the order of the UTF-16 code units of their names (section 3.2.3).
fn object<'d>(
    node: Node<'d>,
    out: &mut String,
    work: &mut Vec<Work<'d>>,
) -> Result<(), NotCanonical> {
    let mut members = Vec::new();
    for member in node.members() {
        let mut name = String::new();
        string(member.key, &mut name)?;
        let units: Vec<u16> = member.key.text().encode_utf16().collect();
        members.push((units, name, member.value));
    }
    members.sort_by(|one, other| one.0.cmp(&other.0));
    if members.windows(2).any(|pair| matches!(pair, [one, two] if one.0 == two.0)) {
        return Err(NotCanonical::NameTwice);
    }
    out.push('{');
    work.push(Work::Text("}".to_owned()));
    for (at, (_, name, value)) in members.into_iter().enumerate().rev() {
        work.push(Work::Value(value));
        let comma = if at > 0 { "," } else { "" };
        work.push(Work::Text(format!("{comma}{name}:")));
    }
    Ok(())
}

/// A string with only the escapes that it must have (section 3.2.2.2).
fn string(text: JsonStr<'_>, out: &mut String) -> Result<(), NotCanonical> {
    out.push('"');
    for point in text.code_points() {
        let character = char::from_u32(point).ok_or(NotCanonical::LoneSurrogate)?;
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => out.push_str(&format!("\\u{point:04x}")),
            other => out.push(other),
        }
    }
    out.push('"');
    Ok(())
}

/// A number as ECMAScript spells the double nearest to it (section 3.2.2.3).
fn number(lexeme: &str) -> Result<String, NotCanonical> {
    let double: f64 = lexeme.parse().map_err(|_| NotCanonical::TooLarge)?;
    if !double.is_finite() {
        return Err(NotCanonical::TooLarge);
    }
    if double == 0.0 {
        return Ok("0".to_owned());
    }
    // The shortest digits that read back as this double, and where their point stands.
    let spelled = format!("{:e}", double.abs());
    let (mantissa, exponent) = spelled.split_once('e').unwrap_or((&spelled, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = even(digits, double.abs());
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if double < 0.0 { "-" } else { "" };
    Ok(format!("{sign}{}", ecmascript(&digits, exponent + 1)))
}

/// Of two shortest spellings that are equally near, ECMAScript takes the one with an even last digit
/// (ECMA-262, note 2 on `Number::toString`, as appendix B of the RFC has it).
fn even(digits: String, double: f64) -> String {
    // The longest exact expansion of a double has 767 digits.
    let exact = format!("{double:.770e}");
    let exact: String = exact.chars().take_while(|c| *c != 'e').filter(|c| *c != '.').collect();
    let (head, rest) = exact.split_at(digits.len().min(exact.len()));
    let tie = rest.trim_end_matches('0') == "5";
    let is_even = head.bytes().last().is_some_and(|digit| digit % 2 == 0);
    let (first, fraction) = head.split_at(head.len().min(1));
    let power = format!("{double:e}");
    let power = power.split_once('e').map_or("0", |(_, power)| power);
    let reads_back = format!("{first}.{fraction}0e{power}").parse() == Ok(double);
    if tie && is_even && reads_back { head.to_owned() } else { digits }
}

/// `Number::toString` of ECMAScript: digits, and how many of them stand before the point.
fn ecmascript(digits: &str, point: i32) -> String {
    let count = digits.len() as i32;
    if count <= point && point <= 21 {
        return format!("{digits}{}", "0".repeat((point - count) as usize));
    }
    if 0 < point && point <= 21 {
        let (whole, fraction) = digits.split_at(point as usize);
        return format!("{whole}.{fraction}");
    }
    if -6 < point && point <= 0 {
        return format!("0.{}{digits}", "0".repeat((-point) as usize));
    }
    let exponent = point - 1;
    let sign = if exponent < 0 { '-' } else { '+' };
    let (first, rest) = digits.split_at(1);
    let fraction = if rest.is_empty() { String::new() } else { format!(".{rest}") };
    format!("{first}{fraction}e{sign}{}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Doc;

    fn spelled(text: &str) -> Result<String, NotCanonical> {
        canonical(Doc::scan(text.as_bytes()).unwrap().root())
    }

    /// Section 3.2.2, with its result of section 3.2.4.
    #[test]
    fn the_example_of_the_rfc() {
        let text = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let wanted = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,\
                      0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
        assert_eq!(spelled(text).as_deref(), Ok(wanted));
    }

    /// Section 3.2.3.
    #[test]
    fn the_order_of_names_in_the_rfc() {
        let text = r#"{
            "\u20ac": "Euro Sign",
            "\r": "Carriage Return",
            "\ufb33": "Hebrew Letter Dalet With Dagesh",
            "1": "One",
            "\ud83d\ude00": "Emoji: Grinning Face",
            "\u0080": "Control",
            "\u00f6": "Latin Small Letter O With Diaeresis"
        }"#;
        let spelled = spelled(text).unwrap();
        let doc = Doc::scan(spelled.as_bytes()).unwrap();
        let said: Vec<_> = doc
            .root()
            .members()
            .map(|member| member.value.string().unwrap().text().into_owned())
            .collect();
        let wanted = [
            "Carriage Return",
            "One",
            "Control",
            "Latin Small Letter O With Diaeresis",
            "Euro Sign",
            "Emoji: Grinning Face",
            "Hebrew Letter Dalet With Dagesh",
        ];
        assert_eq!(said, wanted);
    }

    /// Appendix B: IEEE 754 bits and their spelling.
    #[test]
    fn the_numbers_of_the_rfc() {
        for (bits, wanted) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            let double = f64::from_bits(bits);
            assert_eq!(spelled(&format!("{double:e}")).as_deref(), Ok(wanted), "{bits:x}");
        }
    }

    #[test]
    fn what_is_no_i_json_has_no_spelling() {
        assert_eq!(spelled(r#"{"a":1,"\u0061":2}"#), Err(NotCanonical::NameTwice));
        assert_eq!(spelled(r#""\ud800""#), Err(NotCanonical::LoneSurrogate));
        assert_eq!(spelled("[1e400]"), Err(NotCanonical::TooLarge));
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(spelled(&deep).as_deref(), Ok(deep.as_str()));
    }
}
