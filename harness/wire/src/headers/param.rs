//! How an argument of a tool travels in a header value.
//!
//! Arguments are read as they are written, not through a parsed number: `9007199254740993` must not
//! pass for its neighbour.

use super::value::encode_value;
use crate::json;

/// Integers beyond this, on either side of zero, cannot be mirrored (wire facts, section 2.1).
const LARGEST: i64 = (1 << 53) - 1;

/// Why an argument cannot be mirrored. Its tool asks for a string, an integer or a boolean there,
/// so that the call is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// A number with a fraction.
    #[error("the number {0} is not an integer")]
    NotAnInteger(String),
    /// An integer that not every reader holds exactly.
    #[error("the number {0} is beyond 2^53-1")]
    TooLarge(String),
    /// An object, an array, or no JSON at all.
    #[error("{0} cannot be mirrored in a header")]
    NotPrimitive(&'static str),
    /// A string that no text can hold.
    #[error("the string has a lone surrogate")]
    NotText,
}

/// An argument that cannot be mirrored, and the header that should have held it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{header} cannot be sent: {cause}")]
pub struct BadParam {
    /// The name of the header.
    pub header: String,
    /// Why not.
    #[source]
    pub cause: ParamError,
}

/// The header value for an argument, given as JSON text; `None` for `null`, which has no header
/// (R-HTTP-17). Strings are coded by [`encode_value`], integers are decimal however they were
/// written, booleans are `true` and `false`.
///
/// # Errors
/// [`ParamError`] when the argument is none of these.
pub fn encode_param(argument: &str) -> Result<Option<String>, ParamError> {
    let value = match json::kind(argument) {
        "null" => return Ok(None),
        "a string" => encode_value(&string(argument)?).into_owned(),
        "a number" => integer(argument.trim())?.to_string(),
        "a boolean" => argument.trim().to_owned(),
        other => return Err(ParamError::NotPrimitive(other)),
    };
    Ok(Some(value))
}

/// Whether a header text, already decoded, says the same as an argument, given as JSON text.
/// Integers are compared as numbers: 42 equals 42.0 (R-HTTP-15). Nothing equals `null`.
///
/// # Errors
/// [`ParamError`] when the argument cannot be mirrored at all.
pub fn param_equals(header: &str, argument: &str) -> Result<bool, ParamError> {
    match json::kind(argument) {
        "null" => Ok(false),
        "a string" => Ok(string(argument)? == header),
        "a number" => Ok(integer(header) == Ok(integer(argument.trim())?)),
        "a boolean" => Ok(argument.trim() == header),
        other => Err(ParamError::NotPrimitive(other)),
    }
}

fn string(argument: &str) -> Result<String, ParamError> {
    serde_json::from_str(argument).map_err(|_| ParamError::NotText)
}

/// The integer that a number stands for, whatever its spelling: `42`, `42.0`, `4.2e1`.
fn integer(text: &str) -> Result<i64, ParamError> {
    let fraction_left = || ParamError::NotAnInteger(text.to_owned());
    let too_large = || ParamError::TooLarge(text.to_owned());
    if json::kind(text) != "a number" || json::text(text.as_bytes()) != Ok(text) {
        return Err(fraction_left());
    }
    let (sign, rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    // The value is `significant` times ten to the power of `zeros`.
    let zeros = exponent.parse::<i64>().ok().and_then(|exponent| {
        let shift = (digits.len() - significant.len()) as i64 - fraction.len() as i64;
        exponent.checked_add(shift)
    });
    let zeros = match zeros {
        Some(zeros) if zeros >= 0 => usize::try_from(zeros).map_err(|_| too_large())?,
        None if !exponent.starts_with('-') => return Err(too_large()),
        _ => return Err(fraction_left()),
    };
    if significant.len().saturating_add(zeros) > 16 {
        return Err(too_large());
    }
    let size = significant.parse::<i64>().ok();
    let value = size.and_then(|size| size.checked_mul(10_i64.checked_pow(zeros as u32)?));
    value.filter(|value| *value <= LARGEST).map(|value| sign * value).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_argument_has_its_header_value() {
        for (argument, value) in [
            ("null", None),
            ("true", Some("true")),
            ("false", Some("false")),
            ("42", Some("42")),
            ("-7", Some("-7")),
            ("42.0", Some("42")),
            ("4.2e1", Some("42")),
            ("4200E-2", Some("42")),
            ("-0.0", Some("0")),
            ("0e999999999999999999999", Some("0")),
            ("9007199254740991", Some("9007199254740991")),
            ("-9007199254740991.0", Some("-9007199254740991")),
            ("\"\"", Some("")),
            ("\"a\\u0062\"", Some("ab")),
            ("\"caf\\u00e9\"", Some("=?base64?Y2Fmw6k=?=")),
        ] {
            assert_eq!(encode_param(argument).unwrap().as_deref(), value);
        }
    }

    #[test]
    fn arguments_that_cannot_be_mirrored() {
        for number in ["1.5", "1e-1", "42.00000000000000001", "1e-99999999999999999999"] {
            let error = ParamError::NotAnInteger(number.to_owned());
            assert_eq!(encode_param(number), Err(error));
        }
        for number in ["9007199254740992", "-1e16", "1e99999999999999999999", "1e400"] {
            let error = ParamError::TooLarge(number.to_owned());
            assert_eq!(encode_param(number), Err(error));
        }
        assert_eq!(encode_param("{}"), Err(ParamError::NotPrimitive("an object")));
        assert_eq!(encode_param(""), Err(ParamError::NotPrimitive("nothing")));
        assert_eq!(encode_param("\"\\ud800\""), Err(ParamError::NotText));
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_all_else_as_text() {
        for (header, argument) in [
            ("42", "42"),
            ("42", "42.0"),
            ("42.0", "42"),
            ("4.2e1", "42"),
            ("true", "true"),
            ("a\tb", "\"a\\tb\""),
        ] {
            assert_eq!(param_equals(header, argument), Ok(true));
        }
        for (header, argument) in [
            ("43", "42"),
            ("+42", "42"),
            ("042", "42"),
            ("9007199254740993", "42"),
            ("", "42"),
            ("True", "true"),
            ("42.0", "\"42\""),
            ("null", "null"),
        ] {
            assert_eq!(param_equals(header, argument), Ok(false), "{header}");
        }
        assert!(param_equals("1.5", "1.5").is_err());
    }
}
