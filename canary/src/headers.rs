//! Headers as the journal keeps them.

use std::fmt;

use bytes::{BufMut, Bytes, BytesMut};
use http::HeaderMap;

/// The headers of a request or an answer, in one piece of memory and independent of the connection
/// that they came over. Names are in lower case; values are bytes, as HTTP has them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// Lines of `name: value`, each ended by CRLF, which neither of the two can hold.
    block: Bytes,
}

impl Headers {
    /// The headers in their order; those of the same name stand together.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let lines = self.block.split(|byte| *byte == b'\n');
        lines.filter_map(|line| {
            let line = line.strip_suffix(b"\r")?;
            let colon = line.iter().position(|byte| *byte == b':')?;
            let name = std::str::from_utf8(&line[..colon]).ok()?;
            Some((name, &line[colon + 2..]))
        })
    }

    /// The first value of this name, in lower or upper case, if it is text.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut same = self.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        same.next().and_then(|(_, value)| std::str::from_utf8(value).ok())
    }

    /// Whether there are none, as on stdio.
    pub fn is_empty(&self) -> bool {
        self.block.is_empty()
    }

    /// Bytes that they hold.
    pub(crate) fn held(&self) -> usize {
        self.block.len()
    }
}

impl From<&HeaderMap> for Headers {
    fn from(map: &HeaderMap) -> Self {
        let lines = map.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
        let mut block = BytesMut::with_capacity(lines.sum());
        for (name, value) in map {
            block.put_slice(name.as_str().as_bytes());
            block.put_slice(b": ");
            block.put_slice(value.as_bytes());
            block.put_slice(b"\r\n");
        }
        Self { block: block.freeze() }
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.iter().map(|(name, value)| (name, String::from_utf8_lossy(value)));
        f.debug_map().entries(text).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_found_again() {
        let mut map = HeaderMap::new();
        map.append("x-one", "a: b".parse().unwrap());
        map.append("x-two", "".parse().unwrap());
        map.append("x-two", http::HeaderValue::from_bytes(b"\xff").unwrap());
        let headers = Headers::from(&map);
        let all: Vec<_> = headers.iter().collect();
        assert_eq!(all, [("x-one", &b"a: b"[..]), ("x-two", b""), ("x-two", b"\xff")]);
        assert_eq!((headers.get("X-One"), headers.get("x-two")), (Some("a: b"), Some("")));
        assert_eq!(headers.get("x-three"), None);
        assert_eq!(
            format!("{headers:?}"),
            "{\"x-one\": \"a: b\", \"x-two\": \"\", \"x-two\": \"\u{fffd}\"}"
        );
        assert!(Headers::default().is_empty() && !headers.is_empty());
    }
}
