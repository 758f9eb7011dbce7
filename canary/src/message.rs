//! JSON-RPC messages around answers.

use bytes::Bytes;

use crate::pieces::Text;
use crate::plan::{FILL, ID, LARGEST, Oversized};

/// Why an oversized message cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CannotFill {
    #[error("a message of {total} bytes is asked for; with its envelope it has at least {least}")]
    TooShort { total: u64, least: u64 },
    #[error("a message of {0} bytes is asked for; at most {LARGEST} (8 GiB) are generated")]
    TooLong(u64),
    #[error("the body of the oversized message has no place for its filling")]
    NoPlace,
}

/// A raw result or error under the raw id of its request, in one piece of memory.
pub(crate) fn enveloped(id: &str, member: &str, body: &str) -> String {
    [r#"{"jsonrpc":"2.0","id":"#, id, ",\"", member, "\":", body, "}"].concat()
}

/// A message of exactly the length asked for.
pub(crate) fn filled(id: &str, oversized: &Oversized) -> Result<Text, CannotFill> {
    let total = oversized.total;
    if total > LARGEST {
        return Err(CannotFill::TooLong(total));
    }
    let text = enveloped(id, oversized.member, &oversized.body);
    let (before, after) = text.split_once(FILL).ok_or(CannotFill::NoPlace)?;
    let least = (before.len() + after.len()) as u64;
    let fill = total.checked_sub(least).ok_or(CannotFill::TooShort { total, least })?;
    Ok(Text::Filled {
        before: Bytes::copy_from_slice(before.as_bytes()),
        fill,
        after: Bytes::copy_from_slice(after.as_bytes()),
    })
}

/// Bytes, which need not be text, with the raw id in place of every [`ID`].
pub(crate) fn with_id(bytes: &[u8], id: &str) -> Bytes {
    let placeholder = ID.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        if let Some(after) = rest.strip_prefix(placeholder) {
            out.extend_from_slice(id.as_bytes());
            rest = after;
        } else {
            out.push(*first);
            rest = &rest[1..];
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use birdstrike_wire::Revision;

    use super::*;

    #[test]
    fn a_filled_message_has_its_length_to_the_byte() {
        let revision = Revision::V2026_07_28;
        for (total, id) in [(1_000, "1"), (1_001, "\"abc\""), (8 << 30, "7")] {
            let oversized = Oversized::text(total, revision, "<é", ">");
            let Ok(Text::Filled { before, fill, after }) = filled(id, &oversized) else {
                panic!("not filled")
            };
            assert_eq!(before.len() as u64 + fill + after.len() as u64, total);
            assert!(before.ends_with("<é".as_bytes()) && after.starts_with(b">\"}"));
        }
    }

    #[test]
    fn an_envelope_is_the_one_that_the_protocol_has() {
        use birdstrike_wire::envelope;
        assert_eq!(enveloped("\"7\"", "result", "{}"), envelope::result("\"7\"", "{}"));
        assert_eq!(enveloped("7", "error", "{}"), envelope::error(Some("7"), "{}"));
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        let text = |total| Oversized::text(total, Revision::V2025_06_18, "", "");
        let least = match filled("1", &text(10)) {
            Err(CannotFill::TooShort { least, .. }) => least,
            other => panic!("{other:?}"),
        };
        assert!(filled("1", &text(least)).is_ok());
        assert!(filled("1", &text(least - 1)).is_err());
        assert!(filled("1", &text(LARGEST + 1)).is_err());
        let body = "{}".to_owned();
        let nowhere = Oversized { total: 99, member: "result", body };
        assert_eq!(filled("1", &nowhere).unwrap_err(), CannotFill::NoPlace);
    }

    #[test]
    fn an_id_is_put_into_bytes_that_are_no_text() {
        let bytes = [b"\xff".as_slice(), ID.as_bytes(), b"\xc2", ID.as_bytes()].concat();
        assert_eq!(&with_id(&bytes, "42")[..], b"\xff42\xc242");
    }
}
