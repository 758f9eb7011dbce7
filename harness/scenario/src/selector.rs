//! Selectors: a path prefix or a glob over check ids.

use serde::{Deserialize, Serialize};

/// What a user picked: `tasks`, `is-error/typed-part`, `*/*/valid`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selector(String);

impl Selector {
    /// A selector from its text; slashes at either end mean nothing.
    pub fn new(text: &str) -> Self {
        Self(text.trim_matches('/').to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the selector picks this check (`surface/scenario/check`).
    pub fn picks(&self, id: &str) -> bool {
        if self.0.contains(['*', '?']) {
            return glob(self.0.as_bytes(), id.as_bytes());
        }
        let rest = id.strip_prefix(self.0.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// `*` is any run of characters, slashes included; `?` is one. Linear but for one fallback point.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut fallback: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                fallback = Some((p + 1, t));
                p += 1;
            }
            Some(b'?') => (p, t) = (p + 1, t + 1),
            Some(byte) if *byte == text[t] => (p, t) = (p + 1, t + 1),
            _ => match fallback {
                Some((star, at)) => {
                    fallback = Some((star, at + 1));
                    (p, t) = (star, at + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_at_a_slash() {
        let is_error = Selector::new("is-error/");
        assert!(is_error.picks("is-error/typed-part/flagged"));
        assert!(!is_error.picks("is-errors/typed-part/flagged"));
        assert!(Selector::new("a/b/c").picks("a/b/c"));
    }

    #[test]
    fn globs_cross_slashes() {
        assert!(Selector::new("*/valid").picks("a/b/valid"));
        assert!(Selector::new("*typed*").picks("is-error/typed-part/x"));
        assert!(!Selector::new("*/valid").picks("a/b/valid2"));
        assert!(Selector::new("a?c*").picks("abc"));
    }
}
