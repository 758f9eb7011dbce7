//! Markers: values that are recognised wherever they turn up, and the search for them.
//!
//! A marker is planted in one slot of a result, an argument or a header, and sought in everything
//! that a gateway wrote. It counts as found in whatever coding it stands there: as it is, in JSON
//! escapes, in percent escapes, in base64, inside gzip, and when only its head is left.
//!
//! ```
//! use birdstrike_judge::marker::{Coding, Marker, search};
//!
//! let secret = Marker::new("data.code", "n17");
//! let log = format!(r#"{{"msg":"upstream said \u0062{}"}}"#, &secret.text()[1..]);
//! let hits = search(&[secret], log.as_bytes());
//! assert_eq!((hits[0].coding, hits[0].whole), (Coding::JsonEscaped, true));
//! ```

mod gzip;
mod needle;
mod view;

use std::fmt;

use serde::{Deserialize, Serialize};

use needle::Needles;

/// How many hits one search tells at most.
pub const MAX_HITS: usize = 10_000;

/// What every marker begins with. It is rare in ordinary text and fits no format of secrets that a
/// gateway might look for by itself.
const PREFIX: &str = "bsmk";
/// How many base-36 digits tell markers apart; together with the prefix they are the head.
const ID_DIGITS: usize = 10;
const TAIL_DIGITS: usize = 4;
/// How much of a nonce and of a name stands in a marker for people to read.
const READABLE: usize = 24;

/// A unique, recognisable value: ASCII lower-case letters, digits and hyphens.
///
/// It is made of a head that tells it from every other marker, the nonce and the name for people to
/// read, and a tail; so a copy that was cut is told from a whole one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    name: String,
    text: String,
    head: usize,
}

impl Marker {
    /// The marker for a name (such as a slot) in a call that a nonce identifies. The same two
    /// always make the same marker, and different ones a different marker.
    pub fn new(name: &str, nonce: &str) -> Self {
        Self::long(name, nonce, 0)
    }

    /// The same, filled up between head and tail to a length in bytes; a length that is too short
    /// for a marker is ignored. The filling does not repeat and hardly compresses.
    pub fn long(name: &str, nonce: &str, length: usize) -> Self {
        let mut digits = Digits(seed(name, nonce));
        let mut text = PREFIX.to_owned();
        text.extend(digits.by_ref().take(ID_DIGITS));
        let head = text.len();
        for part in [nonce, name] {
            text.push('-');
            text.extend(part.chars().take(READABLE).map(readable));
        }
        text.push('-');
        let filling = length.saturating_sub(text.len() + TAIL_DIGITS);
        text.extend(digits.take(filling + TAIL_DIGITS));
        Self { name: name.to_owned(), text, head }
    }

    /// A text that is not ours, such as a credential of the run, as a thing to search for. It is
    /// sought whole only; escapes of anything but printable ASCII, of `%` and of a backslash are not
    /// seen through.
    pub fn literal(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), head: text.len() }
    }

    /// A text of letters, digits and hyphens whose first `head` bytes no other text of the run
    /// begins with: a copy of which only the head is left is found too.
    pub fn headed(name: &str, text: &str, head: usize) -> Self {
        let head = if text.is_char_boundary(head) { head } else { text.len() };
        Self { name: name.to_owned(), text: text.to_owned(), head }
    }

    /// What it was made for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value to plant.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The beginning by which it is recognised.
    pub fn head(&self) -> &str {
        self.text.get(..self.head).unwrap_or(&self.text)
    }
}

fn readable(c: char) -> char {
    if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }
}

/// FNV-1a over both, with a byte between them that no text contains.
fn seed(name: &str, nonce: &str) -> u64 {
    let bytes = nonce.bytes().chain([0xFF]).chain(name.bytes());
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// An endless row of base-36 digits, by splitmix64.
struct Digits(u64);

impl Iterator for Digits {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        char::from_digit((mixed >> 32) as u32 % 36, 36)
    }
}

/// How a marker was written where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coding {
    /// As it is.
    Raw,
    /// With JSON escapes, of which any character may have one, any number of layers deep.
    JsonEscaped,
    /// With percent escapes, likewise.
    Percent,
    /// Inside base64 of either alphabet.
    Base64,
    /// Inside a gzip member, there in any of the other codings.
    Gzip,
}

impl Coding {
    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::JsonEscaped => "json-escaped",
            Self::Percent => "percent",
            Self::Base64 => "base64",
            Self::Gzip => "gzip",
        }
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One place at which a marker was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Hit {
    /// Where it begins, in bytes: in base64 the first character that is all its own, in gzip the
    /// first byte of the member.
    pub offset: usize,
    /// Which of the markers that were sought, counted from 0.
    pub marker: usize,
    /// How it was written.
    pub coding: Coding,
    /// Whether all of it is there, or only its head.
    pub whole: bool,
}

/// A search for a set of markers, made once and used on many texts.
#[derive(Clone, Debug)]
pub struct Searcher {
    plain: Needles,
    base64: Needles,
    /// The bytes that occur in the markers: no other escape needs to be resolved.
    alphabet: Box<[bool; 256]>,
}

impl Searcher {
    /// A search for these markers; a hit names them by their positions. Empty texts are never
    /// found.
    pub fn new(markers: &[Marker]) -> Self {
        let mut alphabet = Box::new([false; 256]);
        for byte in markers.iter().flat_map(|marker| marker.text.bytes()) {
            alphabet[usize::from(byte)] = true;
        }
        Self { plain: Needles::plain(markers), base64: Needles::base64(markers), alphabet }
    }

    /// Every place at which a marker stands, in order of place; at most [`MAX_HITS`].
    ///
    /// A few passes at memory speed over the text; memory only for what has to be decoded, at most
    /// 64 MiB.
    pub fn search(&self, haystack: &[u8]) -> Vec<Hit> {
        let mut hits = self.search_unpacked(haystack);
        gzip::members(haystack, |member, content| {
            // What does not compress stands in a member as it is; that is the same copy.
            hits.retain(|hit| !member.contains(&hit.offset));
            let inside = self.search_unpacked(content).into_iter();
            let found = |hit| Hit { offset: member.start, coding: Coding::Gzip, ..hit };
            hits.extend(inside.map(found).take(MAX_HITS.saturating_sub(hits.len())));
        });
        tidy(hits)
    }

    fn search_unpacked(&self, haystack: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.plain.find(haystack, Coding::Raw, &mut hits);
        for (coding, view) in [
            (Coding::JsonEscaped, view::json(haystack, &self.alphabet)),
            (Coding::Percent, view::percent(haystack, &self.alphabet)),
        ] {
            if let Some(view) = view {
                let seen = hits.len();
                self.plain.find(view.bytes(), coding, &mut hits);
                for hit in &mut hits[seen..] {
                    hit.offset = view.origin(hit.offset);
                }
            }
        }
        self.base64.find(haystack, Coding::Base64, &mut hits);
        tidy(hits)
    }
}

/// Brings hits into order and tells each place once: whole if it is whole in any coding, else in
/// the plainest coding. A decoded view also shows what needed no decoding.
fn tidy(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_unstable_by_key(|hit| (hit.offset, hit.marker, !hit.whole, hit.coding));
    hits.dedup_by_key(|hit| (hit.offset, hit.marker));
    hits.truncate(MAX_HITS);
    hits
}

/// Searches one text for markers; see [`Searcher`].
pub fn search(markers: &[Marker], haystack: &[u8]) -> Vec<Hit> {
    Searcher::new(markers).search(haystack)
}
