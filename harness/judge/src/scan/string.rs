//! Strings as written, and what they say.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::Chars;

/// A string of a scanned document, kept as it was written.
///
/// Two of them are equal when they say the same code points, however either is escaped.
#[derive(Clone, Copy)]
pub struct JsonStr<'d> {
    raw: &'d str,
    start: usize,
    escaped: bool,
}

impl<'d> JsonStr<'d> {
    /// `raw` is what stands between the quotes, `start` the offset of the opening one.
    pub(super) fn new(raw: &'d str, start: usize, escaped: bool) -> Self {
        Self { raw, start, escaped }
    }

    /// What stands between the quotes, escapes and all.
    pub fn raw(self) -> &'d str {
        self.raw
    }

    /// Where it stands in the document, quotes included.
    pub fn span(self) -> Range<usize> {
        self.start..self.start + self.raw.len() + 2
    }

    /// Whether it was written with at least one escape.
    pub fn is_escaped(self) -> bool {
        self.escaped
    }

    /// The string with its escapes resolved. A lone surrogate, which no Rust string can hold,
    /// becomes U+FFFD; where that matters use [`JsonStr::code_points`] or [`JsonStr::wtf8`].
    pub fn text(self) -> Cow<'d, str> {
        if !self.escaped {
            return Cow::Borrowed(self.raw);
        }
        let lossy = |point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER);
        Cow::Owned(self.code_points().map(lossy).collect())
    }

    /// The exact code points: a pair of surrogate escapes is one of them, a lone surrogate stays
    /// itself (U+D800 to U+DFFF).
    pub fn code_points(self) -> CodePoints<'d> {
        CodePoints(self.raw.chars())
    }

    /// The exact code points in generalised UTF-8, in which a lone surrogate takes three bytes.
    /// Equal bytes mean equal code points, which makes it a key for maps and sorting.
    pub fn wtf8(self) -> Cow<'d, [u8]> {
        if !self.escaped {
            return Cow::Borrowed(self.raw.as_bytes());
        }
        let mut bytes = Vec::with_capacity(self.raw.len());
        for point in self.code_points() {
            if let Some(c) = char::from_u32(point) {
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                bytes.extend([
                    0xE0 | (point >> 12) as u8,
                    0x80 | (point >> 6 & 0x3F) as u8,
                    0x80 | (point & 0x3F) as u8,
                ]);
            }
        }
        Cow::Owned(bytes)
    }

    /// Whether it says exactly `text`.
    pub fn is(self, text: &str) -> bool {
        if self.escaped {
            self.code_points().eq(text.chars().map(u32::from))
        } else {
            self.raw == text
        }
    }
}

impl PartialEq for JsonStr<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
            || ((self.escaped || other.escaped) && self.code_points().eq(other.code_points()))
    }
}

impl Eq for JsonStr<'_> {}

impl fmt::Debug for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.raw)
    }
}

/// The exact code points of a string. Made by [`JsonStr::code_points`].
#[derive(Clone, Debug)]
pub struct CodePoints<'d>(Chars<'d>);

impl Iterator for CodePoints<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let first = self.0.next()?;
        if first != '\\' {
            return Some(first.into());
        }
        Some(match self.0.next()? {
            'u' => self.unit_and_partner()?,
            'b' => 0x08,
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            itself => itself.into(),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // Six characters make the longest escape, twelve the longest single code point.
        let (low, high) = self.0.size_hint();
        (low / 12, high)
    }
}

impl CodePoints<'_> {
    /// The code point whose `\u` has just been read, together with a following low surrogate if
    /// this one is high.
    fn unit_and_partner(&mut self) -> Option<u32> {
        let unit = hex4(&mut self.0)?;
        if !(0xD800..0xDC00).contains(&unit) {
            return Some(unit);
        }
        let mut ahead = self.0.clone();
        if ahead.next() == Some('\\')
            && ahead.next() == Some('u')
            && let Some(low @ 0xDC00..0xE000) = hex4(&mut ahead)
        {
            self.0 = ahead;
            return Some(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        }
        Some(unit)
    }
}

fn hex4(chars: &mut Chars<'_>) -> Option<u32> {
    let mut unit = 0;
    for _ in 0..4 {
        unit = unit << 4 | chars.next()?.to_digit(16)?;
    }
    Some(unit)
}
