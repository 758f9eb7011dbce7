//! JSON Pointers (RFC 6901): how every difference and every schema error names its place.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::scan::{Kind, Node};

/// A JSON Pointer, kept in its written form: empty for the whole value, else `/` before every
/// segment, with `~0` for `~` and `~1` for `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pointer(String);

/// A text that is no JSON Pointer (RFC 6901, section 3).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// It is neither empty nor begins with `/`.
    #[error("a JSON Pointer is empty or begins with `/`, unlike `{0}`")]
    NoSlash(String),
    /// It has a `~` that is followed by neither 0 nor 1.
    #[error("in a JSON Pointer `~` is written `~0`, unlike in `{0}`")]
    BadTilde(String),
}

impl Pointer {
    /// The pointer to the whole value.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Reads a pointer in its written form.
    ///
    /// # Errors
    ///
    /// What RFC 6901, section 3, does not allow.
    pub fn parse(text: &str) -> Result<Self, PointerError> {
        if !text.is_empty() && !text.starts_with('/') {
            return Err(PointerError::NoSlash(text.to_owned()));
        }
        let tilde_is_escaped = |after: &str| after.starts_with(['0', '1']);
        if !text.split('~').skip(1).all(tilde_is_escaped) {
            return Err(PointerError::BadTilde(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// The written form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it points to the whole value.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Goes one step down, to the member of that name or to the item with that number.
    pub fn push(&mut self, segment: &str) {
        self.0.push('/');
        if segment.contains(['~', '/']) {
            self.0.push_str(&escape(segment));
        } else {
            self.0.push_str(segment);
        }
    }

    /// Goes one step down, to the item with that number, counted from 0.
    pub fn push_index(&mut self, index: usize) {
        self.push(&index.to_string());
    }

    /// Goes one step up; `false` if it already pointed to the whole value.
    pub fn pop(&mut self) -> bool {
        match self.0.rfind('/') {
            Some(slash) => {
                self.0.truncate(slash);
                true
            }
            None => false,
        }
    }

    /// This pointer, one step further.
    #[must_use]
    pub fn child(&self, segment: &str) -> Self {
        let mut child = self.clone();
        child.push(segment);
        child
    }

    /// This pointer, continued by another.
    #[must_use]
    pub fn join(&self, below: &Self) -> Self {
        Self(format!("{}{}", self.0, below.0))
    }

    /// The segments with their escapes resolved.
    pub fn segments(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split('/').skip(1).map(unescape)
    }

    /// Whether it points to the same place as `other` or below it.
    pub fn is_at_or_below(&self, other: &Self) -> bool {
        self.0.strip_prefix(&other.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Follows the pointer from a value; of duplicate members, the last.
    pub(crate) fn resolve<'d>(&self, from: Node<'d>) -> Option<Node<'d>> {
        self.segments().try_fold(from, |node, segment| {
            if node.kind() == Kind::Array {
                node.items().nth(index(&segment)?)
            } else {
                node.get(&segment)
            }
        })
    }

    /// Follows the pointer from a value along every duplicate member.
    pub(crate) fn resolve_all<'d>(&self, from: Node<'d>) -> Vec<Node<'d>> {
        let mut found = vec![from];
        for segment in self.segments() {
            let step = |node: Node<'d>| {
                let item = index(&segment).and_then(|index| node.items().nth(index));
                let named = node.members().filter(|member| member.key.is(&segment));
                item.into_iter().chain(named.map(|member| member.value)).collect::<Vec<_>>()
            };
            found = found.into_iter().flat_map(step).collect();
        }
        found
    }
}

/// A segment in its written form (RFC 6901, section 3): `~` becomes `~0`, `/` becomes `~1`.
pub fn escape(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

/// What a written segment says. `~1` is resolved first, so that `~01` says `~1` (section 4).
fn unescape(written: &str) -> Cow<'_, str> {
    if written.contains('~') {
        Cow::Owned(written.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(written)
    }
}

/// The item number that a segment names: digits without a leading zero (section 4).
fn index(segment: &str) -> Option<usize> {
    let canonical = segment == "0" || !segment.starts_with('0');
    let digits = segment.bytes().all(|byte| byte.is_ascii_digit());
    (canonical && digits).then(|| segment.parse().ok())?
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Pointer {
    type Err = PointerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Pointer {
    type Error = PointerError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> Self {
        pointer.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Doc;

    fn pointer(text: &str) -> Pointer {
        Pointer::parse(text).unwrap()
    }

    #[test]
    fn the_examples_of_the_rfc_resolve() {
        let json = br#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
        let doc = Doc::scan(json).unwrap();
        for (text, raw) in [
            ("/foo", r#"["bar","baz"]"#),
            ("/foo/0", r#""bar""#),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ] {
            assert_eq!(doc.at(&pointer(text)).unwrap().raw(), raw, "{text}");
        }
        assert_eq!(doc.at(&Pointer::root()).unwrap().span(), 0..json.len());
        for nowhere in ["/nope", "/foo/2", "/foo/-", "/foo/01", "/foo/+1", "/foo/", "/foo/0/x"] {
            assert!(doc.at(&pointer(nowhere)).is_none(), "{nowhere}");
        }
    }

    #[test]
    fn the_last_duplicate_wins_and_all_can_be_had() {
        let doc = Doc::scan(br#"{"a":{"b":1},"\u0061":{"b":2,"b":3}}"#).unwrap();
        let b = pointer("/a/b");
        assert_eq!(doc.at(&b).unwrap().raw(), "3");
        let all: Vec<_> = doc.all_at(&b).into_iter().map(Node::raw).collect();
        assert_eq!(all, ["1", "2", "3"]);
    }

    #[test]
    fn what_is_no_pointer_is_told() {
        assert!(matches!(Pointer::parse("a"), Err(PointerError::NoSlash(_))));
        for bad in ["/~", "/~2", "/a~", "/~~0"] {
            assert!(matches!(Pointer::parse(bad), Err(PointerError::BadTilde(_))), "{bad}");
        }
    }

    #[test]
    fn segments_escape_and_come_back() {
        let mut place = Pointer::root();
        place.push("~1/");
        place.push("");
        place.push_index(7);
        assert_eq!(place.as_str(), "/~01~1//7");
        assert_eq!(place.segments().collect::<Vec<_>>(), ["~1/", "", "7"]);
        assert!(place.pop() && place.pop() && place.pop() && !place.pop());
    }

    #[test]
    fn below_means_whole_segments() {
        assert!(pointer("/a/b").is_at_or_below(&pointer("/a")));
        assert!(pointer("/a").is_at_or_below(&Pointer::root()));
        assert!(!pointer("/ab").is_at_or_below(&pointer("/a")));
    }
}
