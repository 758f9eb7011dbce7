//! Allowances: differences that are permitted, and therefore not reported.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::fidelity::Fidelity;
use crate::pointer::{Pointer, PointerError};

/// A JSON Pointer in which a segment `*` stands for any one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<String>);

impl Pattern {
    /// Reads a pattern such as `/content/*/_meta`.
    ///
    /// # Errors
    ///
    /// A text that is no JSON Pointer (RFC 6901, section 3).
    pub fn parse(text: &str) -> Result<Self, PointerError> {
        Pointer::parse(text).map(Self::from)
    }

    /// How the pattern and a place relate.
    fn relation(&self, place: &[Cow<'_, str>]) -> Relation {
        let fits = |(wanted, segment): (&String, &Cow<'_, str>)| wanted == "*" || wanted == segment;
        if !self.0.iter().zip(place).all(fits) {
            return Relation::Apart;
        }
        match self.0.len().cmp(&place.len()) {
            Ordering::Less => Relation::Above,
            Ordering::Equal => Relation::Here,
            Ordering::Greater => Relation::Below,
        }
    }
}

impl From<Pointer> for Pattern {
    fn from(pointer: Pointer) -> Self {
        Self(pointer.segments().map(Cow::into_owned).collect())
    }
}

#[derive(PartialEq, Eq)]
enum Relation {
    /// The pattern names something that the place is in.
    Above,
    /// The pattern names the place.
    Here,
    /// The pattern names something in the place.
    Below,
    /// Neither.
    Apart,
}

/// Which differences are permitted, by place.
///
/// A pattern covers its place and all that is below. What may be altered may also lose and gain
/// what is below it. A container that only one leg has is judged by its members when a pattern
/// names something below it: a gateway that may add `/_meta/x` may add `/_meta` for its sake, and
/// nothing else in it.
///
/// These serve what the client's revision demands of a gateway: `resultType` (R-BASE-05) and its
/// own `serverInfo` (R-BASE-15).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowances {
    /// What may arrive although it was not sent.
    pub added: Vec<Pattern>,
    /// What may fail to arrive.
    pub lost: Vec<Pattern>,
    /// What may arrive as something else.
    pub altered: Vec<Pattern>,
}

impl Allowances {
    /// Nothing is permitted.
    pub const NONE: Self = Self { added: Vec::new(), lost: Vec::new(), altered: Vec::new() };

    /// Whether nothing is permitted.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.lost.is_empty() && self.altered.is_empty()
    }

    /// Whether a difference of that kind is permitted at that place.
    pub(super) fn permits(&self, fidelity: Fidelity, place: &Pointer) -> bool {
        if self.is_empty() {
            return false;
        }
        let place: Vec<_> = place.segments().collect();
        let covers = |pattern: &Pattern| {
            matches!(pattern.relation(&place), Relation::Here | Relation::Above)
        };
        let around = |pattern: &Pattern| pattern.relation(&place) == Relation::Above;
        self.for_kind(fidelity).iter().any(covers) || self.altered.iter().any(around)
    }

    /// Whether a pattern for that kind names something below that place.
    pub(super) fn reach_below(&self, fidelity: Fidelity, place: &Pointer) -> bool {
        if self.is_empty() {
            return false;
        }
        let place: Vec<_> = place.segments().collect();
        let below = |pattern: &Pattern| pattern.relation(&place) == Relation::Below;
        self.for_kind(fidelity).iter().any(below)
    }

    fn for_kind(&self, fidelity: Fidelity) -> &[Pattern] {
        match fidelity {
            Fidelity::Added => &self.added,
            Fidelity::Lost => &self.lost,
            _ => &self.altered,
        }
    }
}
