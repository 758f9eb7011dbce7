//! The token scanner: strict JSON in, a flat list of tokens with byte spans out.
//!
//! What came over a leg is evidence, so nothing of it may be smoothed away: duplicate keys, member
//! order, the spelling of numbers and the escapes of strings all stay. The grammar is RFC 8259 and
//! nothing beyond it; lone surrogate escapes, which RFC 8259 allows, are accepted and decode to
//! their code point.
//!
//! The scanner does not recurse. A document is one vector of 16-byte tokens in document order, each
//! of which knows where its own subtree ends; 200,000 nested arrays cost one pass and no stack.
//!
//! ```
//! use birdstrike_judge::scan::Doc;
//!
//! let doc = Doc::scan(br#"{"big": 9007199254740993, "big": 1E+02}"#)?;
//! let spellings: Vec<_> = doc.root().members().filter_map(|m| m.value.number()).collect();
//! assert_eq!(spellings, ["9007199254740993", "1E+02"]);
//! # Ok::<(), birdstrike_judge::scan::ScanError>(())
//! ```

mod lexer;
mod string;

use std::fmt;
use std::ops::Range;

pub use string::{CodePoints, JsonStr};

use crate::pointer::Pointer;

/// What kind of value a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number, kept as it is spelled.
    Number,
    /// A string, kept with its escapes.
    String,
    /// An array.
    Array,
    /// An object, with every member that it was written with.
    Object,
}

impl Kind {
    /// The word of RFC 8259 for this kind, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why some bytes are not one JSON text, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {offset}")]
pub struct ScanError {
    /// Bytes from the start of the text to the first one that cannot stand there.
    pub offset: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// The ways in which bytes can fail to be a JSON text (RFC 8259).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A byte sequence that is not UTF-8 (RFC 8259, section 8.1).
    #[error("not UTF-8")]
    NotUtf8,
    /// A byte order mark before the value, which a sender must not add (section 8.1).
    #[error("a byte order mark before the value")]
    ByteOrderMark,
    /// The text stops in the middle of a value.
    #[error("an early end of the text")]
    Ended,
    /// Something that starts no JSON value, such as `NaN`.
    #[error("no JSON value starts")]
    NoValue,
    /// A member that does not begin with a string.
    #[error("a member name in double quotes is missing")]
    NoKey,
    /// A member name that is not followed by a colon.
    #[error("a colon is missing")]
    NoColon,
    /// Array items that are neither separated nor ended.
    #[error("neither a comma nor the end of the array")]
    UnendedArray,
    /// Members that are neither separated nor ended.
    #[error("neither a comma nor the end of the object")]
    UnendedObject,
    /// A control character that should have been escaped.
    #[error("a raw control character inside a string")]
    RawControl,
    /// A backslash that starts none of the escapes of section 7.
    #[error("an escape that JSON does not have")]
    BadEscape,
    /// A number such as `01`.
    #[error("a number with a leading zero")]
    LeadingZero,
    /// A number that stops where a digit must follow, such as `1.` or `-`.
    #[error("a number without its digit")]
    NoDigit,
    /// Anything but white space behind the value.
    #[error("more text after the value")]
    TrailingText,
    /// More bytes than a 32-bit span can address.
    #[error("a text of 4 GiB or more")]
    TooLong,
}

/// One token: 16 bytes, in document order. An object's children alternate key and value.
#[derive(Clone, Copy, Debug)]
struct Token {
    start: u32,
    end: u32,
    /// The index of the first token after this one's subtree.
    next: u32,
    kind: Kind,
    /// Whether a string holds at least one escape.
    escaped: bool,
}

/// A scanned JSON text. It borrows the bytes; nodes borrow it.
#[derive(Clone, Debug)]
pub struct Doc<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    depth: usize,
}

impl<'a> Doc<'a> {
    /// Scans one JSON text, white space around it included.
    ///
    /// # Errors
    ///
    /// The first byte that breaks RFC 8259 and the rule it breaks; for bytes that are not UTF-8,
    /// the first of those, whatever else is wrong.
    pub fn scan(bytes: &'a [u8]) -> Result<Self, ScanError> {
        lexer::scan(bytes)
    }

    /// The value that the text consists of.
    pub fn root(&self) -> Node<'_> {
        Node { doc: self, index: 0 }
    }

    /// The whole text, white space around the value included.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// How many containers are open at the deepest place: 0 for a scalar, 1 for `[]`.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// How many keys and values the text holds.
    pub fn token_count(&self) -> usize {
        self.tokens.len()
    }

    /// The value that a pointer leads to, taking the last of duplicate members at every step, as
    /// most parsers do (RFC 6901, section 4, leaves it open).
    pub fn at(&self, pointer: &Pointer) -> Option<Node<'_>> {
        self.root().at(pointer)
    }

    /// Every value that a pointer can lead to when each duplicate member is followed, in document
    /// order.
    pub fn all_at(&self, pointer: &Pointer) -> Vec<Node<'_>> {
        self.root().all_at(pointer)
    }

    /// The token at an index that a node holds. Nodes are only made from indices of their own
    /// document, so this is in bounds.
    fn token(&self, index: u32) -> &Token {
        &self.tokens[index as usize]
    }

    /// Text between two offsets that the scanner found: character boundaries, in bounds.
    fn slice(&self, span: Range<u32>) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// One value of a [`Doc`]: a cheap handle.
#[derive(Clone, Copy)]
pub struct Node<'d> {
    doc: &'d Doc<'d>,
    index: u32,
}

impl<'d> Node<'d> {
    /// What kind of value it is.
    pub fn kind(self) -> Kind {
        self.token().kind
    }

    /// Where it stands, in bytes from the start of the document's text; strings include their
    /// quotes, nothing includes white space around it.
    pub fn span(self) -> Range<usize> {
        let token = self.token();
        token.start as usize..token.end as usize
    }

    /// Its text exactly as written.
    pub fn raw(self) -> &'d str {
        let token = self.token();
        self.doc.slice(token.start..token.end)
    }

    /// Its bytes exactly as written.
    pub fn bytes(self) -> &'d [u8] {
        self.raw().as_bytes()
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Its truth value, if it is `true` or `false`.
    pub fn boolean(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == "true")
    }

    /// The spelling of the number, if it is one.
    pub fn number(self) -> Option<&'d str> {
        (self.kind() == Kind::Number).then(|| self.raw())
    }

    /// The string, if it is one.
    pub fn string(self) -> Option<JsonStr<'d>> {
        (self.kind() == Kind::String).then(|| self.as_str_token())
    }

    /// The members of an object in the order written, duplicates included; nothing for any other
    /// kind.
    pub fn members(self) -> Members<'d> {
        Members(self.children(Kind::Object))
    }

    /// The items of an array; nothing for any other kind.
    pub fn items(self) -> Items<'d> {
        Items(self.children(Kind::Array))
    }

    /// The value of the member of that name, the last one if the name repeats.
    pub fn get(self, name: &str) -> Option<Node<'d>> {
        self.members().filter(|member| member.key.is(name)).last().map(|member| member.value)
    }

    /// See [`Doc::at`]; the pointer starts at this value.
    pub fn at(self, pointer: &Pointer) -> Option<Node<'d>> {
        pointer.resolve(self)
    }

    /// See [`Doc::all_at`]; the pointer starts at this value.
    pub fn all_at(self, pointer: &Pointer) -> Vec<Node<'d>> {
        pointer.resolve_all(self)
    }

    /// The index of its token: what orders nodes and tells them apart inside one document.
    pub(crate) fn index(self) -> u32 {
        self.index
    }

    /// The index of the first token behind its subtree.
    pub(crate) fn end_index(self) -> u32 {
        self.token().next
    }

    /// The value of its document that has this token.
    pub(crate) fn sibling(self, index: u32) -> Node<'d> {
        Node { doc: self.doc, index }
    }

    fn token(self) -> &'d Token {
        self.doc.token(self.index)
    }

    fn as_str_token(self) -> JsonStr<'d> {
        let token = self.token();
        JsonStr::new(
            self.doc.slice(token.start + 1..token.end - 1),
            token.start as usize,
            token.escaped,
        )
    }

    fn children(self, wanted: Kind) -> Children<'d> {
        let token = self.token();
        Children {
            doc: self.doc,
            at: self.index + 1,
            end: if token.kind == wanted { token.next } else { self.index + 1 },
        }
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{:?}", self.kind(), self.span())
    }
}

/// One member of an object.
#[derive(Clone, Copy, Debug)]
pub struct Member<'d> {
    /// Its name, with its escapes and its span.
    pub key: JsonStr<'d>,
    /// Its value.
    pub value: Node<'d>,
}

/// The tokens directly below a container.
#[derive(Clone, Debug)]
struct Children<'d> {
    doc: &'d Doc<'d>,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Children<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        if self.at >= self.end {
            return None;
        }
        let node = Node { doc: self.doc, index: self.at };
        self.at = node.end_index();
        Some(node)
    }
}

/// The items of an array, in order. Made by [`Node::items`].
#[derive(Clone, Debug)]
pub struct Items<'d>(Children<'d>);

impl<'d> Iterator for Items<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        self.0.next()
    }
}

/// The members of an object, in order. Made by [`Node::members`].
#[derive(Clone, Debug)]
pub struct Members<'d>(Children<'d>);

impl<'d> Iterator for Members<'d> {
    type Item = Member<'d>;

    fn next(&mut self) -> Option<Member<'d>> {
        let key = self.0.next()?.as_str_token();
        let value = self.0.next()?;
        Some(Member { key, value })
    }
}
