//! How any text travels in a header value.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// Why a header value stands for no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// A byte that is not visible ASCII, space or tab.
    #[error("byte {offset} of the value is {byte:#04x}, which must not stand in it uncoded")]
    ForbiddenByte {
        /// Where, in bytes from the start of the value.
        offset: usize,
        /// The byte.
        byte: u8,
    },
    /// The markers are there, and what they enclose is not padded standard base64.
    #[error("what stands between `{OPEN}` and `{CLOSE}` is not base64")]
    NotBase64,
    /// The coded bytes are no text.
    #[error("the base64 value is not UTF-8 once decoded")]
    NotUtf8,
}

/// A text as a header value for `Mcp-Name` or `Mcp-Param-*` (R-HTTP-17): as it is if that is safe,
/// otherwise `=?base64?...?=`. Coded are texts with anything but visible ASCII and inner spaces,
/// and those that look coded already.
pub fn encode_value(text: &str) -> Cow<'_, str> {
    // An inner tab would be legal, but not every server lets it through.
    let safe = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let trimmed = text.trim_matches(' ').len() == text.len();
    if safe && trimmed && !(text.starts_with(OPEN) && text.ends_with(CLOSE)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{OPEN}{}{CLOSE}", BASE64_STANDARD.encode(text)))
}

/// The text that a header value stands for (R-HTTP-21). The markers count only as they are written
/// in [`encode_value`], in lower case. Spaces and tabs around a value are no part of it (RFC 9110,
/// section 5.5).
///
/// # Errors
/// [`ValueError`] when the value has forbidden bytes or is coded wrongly.
pub fn decode_value(value: &str) -> Result<Cow<'_, str>, ValueError> {
    decode_bytes(value.as_bytes())
}

/// As [`decode_value`], from the bytes that came over the wire.
///
/// # Errors
/// [`ValueError`] when the value has forbidden bytes or is coded wrongly.
pub fn decode_bytes(value: &[u8]) -> Result<Cow<'_, str>, ValueError> {
    let text = plain(value)?;
    let coded = text.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE));
    let Some(coded) = coded else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = BASE64_STANDARD.decode(coded).map_err(|_| ValueError::NotBase64)?;
    let text = String::from_utf8(bytes).map_err(|_| ValueError::NotUtf8)?;
    Ok(Cow::Owned(text))
}

/// A header value as the text that stands there, without the white space around it.
pub(super) fn plain(value: &[u8]) -> Result<&str, ValueError> {
    let allowed = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~');
    let forbidden = value.iter().enumerate().find(|(_, byte)| !allowed(byte));
    let error = forbidden.map(|(offset, byte)| ValueError::ForbiddenByte { offset, byte: *byte });
    match (error, std::str::from_utf8(value)) {
        (None, Ok(text)) => Ok(text.trim_matches([' ', '\t'])),
        (Some(error), _) => Err(error),
        // Allowed bytes are ASCII, so that this does not happen.
        (None, Err(_)) => Err(ValueError::NotUtf8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification() {
        for (text, value) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode_value(text), value);
            assert_eq!(decode_value(value).unwrap(), text);
        }
    }

    #[test]
    fn only_what_needs_it_is_coded() {
        for text in ["", "a b", "=?base64?", "?=", "=?BASE64?QUJD?=", "=?base64?x"] {
            assert_eq!(encode_value(text), text);
            assert_eq!(decode_value(text).unwrap(), text);
        }
        for text in ["a\tb", "\u{7f}", "é", "=?base64?QUJD?=", "=?base64?=", "\0"] {
            assert_ne!(encode_value(text), text);
        }
        // The markers share a byte: too short to be coded, and still not sent as it is.
        assert_eq!(decode_value("=?base64?=").unwrap(), "=?base64?=");
        assert_eq!(decode_value("=?base64??=").unwrap(), "");
    }

    #[test]
    fn what_stands_for_no_text_is_refused() {
        for bad in ["=?base64?QUJ?=", "=?base64?QU JD?=", "=?base64?-_-_?="] {
            assert_eq!(decode_value(bad), Err(ValueError::NotBase64), "{bad}");
        }
        assert_eq!(decode_value("=?base64?/w==?="), Err(ValueError::NotUtf8));
        let forbidden = ValueError::ForbiddenByte { offset: 3, byte: 0xc3 };
        assert_eq!(decode_value("cafÃ"), Err(forbidden));
        assert!(decode_bytes(b"a\xffb").is_err());
        assert_eq!(decode_bytes(b" \ta\tb ").unwrap(), "a\tb");
    }
}
