//! Whose answer it is, told from its beginning alone.

/// The `id` of a message of which only the first bytes are here, as it is written. It is found if it
/// stands before whatever is cut or broken, as it does in the answers of every known server.
pub(super) fn id(bytes: &[u8]) -> Option<&str> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(bytes, at)?;
                if depth == 1 && &bytes[at..end] == b"\"id\"" {
                    let rest = bytes[end..].trim_ascii_start();
                    if let Some(value) = rest.strip_prefix(b":") {
                        return scalar(value.trim_ascii_start());
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The offset behind the quote that closes the string opened at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// A string or number that is whole: something stands behind it.
fn scalar(bytes: &[u8]) -> Option<&str> {
    let end = match bytes.first()? {
        b'"' => string_end(bytes, 0)?,
        _ => bytes.iter().position(|byte| matches!(byte, b',' | b'}' | b' '))?,
    };
    std::str::from_utf8(bytes.get(..end)?).ok()
}

#[cfg(test)]
mod tests {
    use super::id;

    #[test]
    fn an_id_before_the_cut_is_found() {
        for (text, found) in [
            (r#"{"jsonrpc":"2.0","id":17,"result":{"con"#, Some("17")),
            (r#"{ "id" : "a\"b" , "res"#, Some(r#""a\"b""#)),
            (r#"{"result":{"id":3},"id":4}"#, Some("4")),
            (r#"{"x":"id","id":5}"#, Some("5")),
            (r#"{"result":{"id":3"#, None),
            (r#"{"jsonrpc":"2.0","id":1"#, None),
            (r#"{"jsonrpc":"2.0"#, None),
            ("", None),
        ] {
            assert_eq!(id(text.as_bytes()), found, "{text}");
        }
    }
}
