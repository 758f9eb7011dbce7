//! Comparison of a value on the upstream leg with the same value on the downstream leg.
//!
//! There are three levels, from the strictest to the mildest:
//!
//! * same bytes: not even white space moved;
//! * same JSON: the spelling of every number, the code points of every string, every duplicate and
//!   the order of members are the same, only white space and escapes may differ;
//! * same value: numbers are equal exactly (`1.0` is `1`, but 2^53 + 1 is not 2^53), strings by
//!   code point, objects as sets in which the last of duplicate members counts.
//!
//! Every departure is a [`Difference`] with its place, its [`Fidelity`] and a sentence in plain
//! words. Array elements are aligned first, so that one inserted element is one difference. All of
//! it is bounded: the number of differences, the length of every text, the cost of alignment, and
//! the stack, since nothing here recurses.
//!
//! ```
//! use birdstrike_judge::compare::{Allowances, Sameness, compare};
//! use birdstrike_judge::{Doc, Pointer};
//!
//! let up = Doc::scan(br#"{"n": 9007199254740993}"#)?;
//! let down = Doc::scan(br#"{"n": 9007199254740992}"#)?;
//! let found = compare(Some(up.root()), Some(down.root()), &Pointer::root(), &Allowances::NONE);
//! assert_eq!(found.sameness, Sameness::Different);
//! assert_eq!(found.differences[0].pointer.as_str(), "/n");
//! assert_eq!(found.differences[0].detail, "number 9007199254740993 became 9007199254740992");
//! # Ok::<(), birdstrike_judge::scan::ScanError>(())
//! ```

mod align;
mod allow;
mod describe;
mod object;
mod walk;

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use allow::{Allowances, Pattern};
pub(crate) use describe::excerpt_within;
pub use describe::{EXCERPT_CHARS, excerpt};

use crate::fidelity::Fidelity;
use crate::pointer::Pointer;
use crate::scan::Node;

/// How many differences are described; the rest are only counted.
pub const MAX_DIFFERENCES: usize = 200;

/// The strictest level on which two values are still the same, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sameness {
    /// Every byte is the same.
    Bytes,
    /// Number lexemes, code points, duplicates and member order are the same.
    Json,
    /// The values are equal, though spelled or ordered otherwise.
    Value,
    /// The values are not equal.
    Different,
}

impl Sameness {
    /// The word that stands in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Json => "json",
            Self::Value => "value",
            Self::Different => "different",
        }
    }
}

impl fmt::Display for Sameness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One place at which the legs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Where: in the upstream value for what was lost or altered, in the downstream value for what
    /// was added. Array elements count as they do on that leg.
    pub pointer: Pointer,
    /// [`Fidelity::Lost`], [`Fidelity::Added`] or [`Fidelity::Altered`].
    pub fidelity: Fidelity,
    /// The strictest level on which the legs still agree at this place.
    pub sameness: Sameness,
    /// What happened, in plain words and at most a few hundred characters; control characters are
    /// escaped.
    pub detail: String,
    /// Where the value stands in the upstream document, in bytes; nothing if it was added.
    pub up: Option<Range<usize>>,
    /// Where the value stands in the downstream document, in bytes; nothing if it was lost.
    pub down: Option<Range<usize>>,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The strictest level on which the values are the same, allowances aside. White space alone
    /// makes it [`Sameness::Json`] without any difference, and so do differences that are all
    /// permitted.
    pub sameness: Sameness,
    /// The first [`MAX_DIFFERENCES`] differences, in the order of the upstream value; what concerns
    /// a container as a whole comes before what is in it.
    pub differences: Vec<Difference>,
    /// How many more there were.
    pub suppressed: usize,
    /// How many differences the allowances permitted.
    pub permitted: usize,
}

impl Comparison {
    /// Whether the values are the same on that level or a stricter one.
    pub fn holds(&self, level: Sameness) -> bool {
        self.sameness <= level
    }

    /// The differences that break that level.
    pub fn breaking(&self, level: Sameness) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |difference| difference.sameness > level)
    }

    /// One word for all of it, seen from that level: intact when the level holds; lost or added
    /// when that is all that happened; else altered.
    pub fn fidelity(&self, level: Sameness) -> Fidelity {
        if self.holds(level) {
            return Fidelity::Intact;
        }
        let mut all = self.breaking(level).map(|difference| difference.fidelity);
        let first = all.next().unwrap_or(Fidelity::Altered);
        if all.all(|fidelity| fidelity == first) { first } else { Fidelity::Altered }
    }
}

/// Compares a value on the upstream leg with the same value on the downstream leg; either may be
/// absent.
///
/// `base` is the pointer of the compared values inside their documents: it comes before every
/// pointer of the result, and the patterns of `allow` are matched against such whole pointers.
pub fn compare<'x>(
    up: Option<Node<'x>>,
    down: Option<Node<'x>>,
    base: &Pointer,
    allow: &Allowances,
) -> Comparison {
    walk::Walk::new(base, allow).run(up, down)
}
