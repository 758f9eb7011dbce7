//! The JSON Canonicalization Scheme (RFC 8785), for digests: one text for all spellings of a value.

use serde_json::{Map, Number, Value};

/// How a number is written.
pub type WriteNumber = fn(&Number) -> Option<String>;

/// The canonical text of a value; `None` for what the scheme does not cover: a number beyond a double,
/// a lone surrogate, nesting beyond 128 levels, or no JSON at all.
pub fn canonical(text: &str, number: WriteNumber) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut out = String::with_capacity(text.len());
    write(&value, number, &mut out)?;
    Some(out)
}

fn write(value: &Value, number: WriteNumber, out: &mut String) -> Option<()> {
    match value {
        Value::Number(value) => out.push_str(&number(value)?),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write(item, number, out)?;
            }
            out.push(']');
        }
        Value::Object(members) => write_object(members, number, out)?,
        // What must be escaped, and how, is the same in both (RFC 8785, section 3.2.2.2).
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
    }
    Some(())
}

/// By the UTF-16 code units of the names (RFC 8785, section 3.2.3).
fn write_object(members: &Map<String, Value>, number: WriteNumber, out: &mut String) -> Option<()> {
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push('{');
    for (at, (name, value)) in sorted.into_iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        out.push_str(&birdstrike_wire::json::quote(name));
        out.push(':');
        write(value, number, out)?;
    }
    out.push('}');
    Some(())
}

/// As ECMAScript writes a double (RFC 8785, section 3.2.2.3).
pub fn number(number: &Number) -> Option<String> {
    let double = number.as_f64().filter(|double| double.is_finite())?;
    if double == 0.0 {
        return Some("0".into());
    }
    // The shortest digits that give the double back, as `d.ddde±x`.
    let shortest = format!("{double:e}");
    let (mantissa, _) = shortest.split_once('e')?;
    // Of two that are equally near, ECMAScript takes the even one, as a fixed number of digits does.
    let places = mantissa.chars().filter(char::is_ascii_digit).count() - 1;
    let nearest = format!("{double:.places$e}");
    let (mantissa, exponent) = nearest.split_once('e')?;
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    // Where the decimal point stands, counted from the first digit.
    let point = exponent.parse::<i32>().ok()? + 1;
    let count = i32::try_from(digits.len()).ok()?;
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let written = if count <= point && point <= 21 {
        format!("{digits}{}", zeros(point - count))
    } else if 0 < point && point <= 21 {
        let (whole, part) = digits.split_at(usize::try_from(point).ok()?);
        format!("{whole}.{part}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let exponent = point - 1;
        let plus = if exponent < 0 { "" } else { "+" };
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{plus}{exponent}")
    };
    Some(format!("{sign}{written}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        canonical(text, number)
    }

    #[test]
    fn the_example_of_the_rfc() {
        // RFC 8785, section 3.2.2.
        let text = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let wanted = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,\
                      1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
        assert_eq!(written(text).as_deref(), Some(wanted));
    }

    #[test]
    fn names_are_sorted_by_code_units() {
        // RFC 8785, section 3.2.3.
        let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
        let written = written(text).unwrap();
        let members = birdstrike_wire::json::members(&written).unwrap();
        let first =
            |value: &str| value.trim_matches('"').split([' ', ':']).next().unwrap().to_owned();
        let values: Vec<String> = members.iter().map(|member| first(member.value)).collect();
        assert_eq!(values, ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"]);
    }

    #[test]
    fn numbers_as_ecmascript_writes_them() {
        // RFC 8785, appendix B, and the borders between the forms.
        for (bits, wanted) in [
            (0x0000_0000_0000_0000_u64, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
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
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            let double = Number::from_f64(f64::from_bits(bits)).unwrap();
            assert_eq!(number(&double).as_deref(), Some(wanted));
        }
        for (text, wanted) in [("1.0", "1"), ("9007199254740993", "9007199254740992"), ("-0", "0")]
        {
            assert_eq!(written(text).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn what_the_scheme_does_not_cover_has_no_text() {
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        for text in ["1e400", r#""\ud800""#, "{", "", &deep] {
            assert_eq!(written(text), None, "{text}");
        }
    }
}
