//! Searching for many needles at once.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use memchr::memmem::Finder;

use super::{Coding, Hit, MAX_HITS, Marker};

/// How many bytes needles have in common that are sought together. All markers of one coding begin
/// alike, so one pass finds all of them.
const COMMON: usize = 4;

/// One byte sequence to search for.
#[derive(Clone, Debug)]
struct Needle {
    marker: usize,
    /// What has to be there.
    head: Vec<u8>,
    /// What is there if nothing is missing; it begins with the head.
    whole: Vec<u8>,
}

/// Needles that begin alike.
#[derive(Clone, Debug)]
struct Group {
    finder: Finder<'static>,
    needles: Vec<Needle>,
}

/// All needles of one coding.
#[derive(Clone, Debug, Default)]
pub(super) struct Needles(Vec<Group>);

impl Needles {
    /// The markers as they are.
    pub(super) fn plain(markers: &[Marker]) -> Self {
        let mut needles = Self::default();
        for (marker, made) in markers.iter().enumerate() {
            needles.add(marker, made.head().into(), made.text().into());
        }
        needles
    }

    /// The markers inside base64: at each of three alignments, in each of two alphabets.
    pub(super) fn base64(markers: &[Marker]) -> Self {
        let mut needles = Self::default();
        for (marker, made) in markers.iter().enumerate() {
            for alignment in 0..3 {
                let head = base64_core(made.head(), alignment);
                let whole = base64_core(made.text(), alignment);
                if whole.contains(['+', '/']) {
                    let url_safe = |core: &str| core.replace('+', "-").replace('/', "_").into();
                    needles.add(marker, url_safe(&head), url_safe(&whole));
                }
                needles.add(marker, head.into(), whole.into());
            }
        }
        needles
    }

    fn add(&mut self, marker: usize, head: Vec<u8>, whole: Vec<u8>) {
        let common = &head[..head.len().min(COMMON)];
        if common.is_empty() {
            return;
        }
        let known = self.0.iter().position(|group| group.finder.needle() == common);
        let at = known.unwrap_or_else(|| {
            let finder = Finder::new(common).into_owned();
            self.0.push(Group { finder, needles: Vec::new() });
            self.0.len() - 1
        });
        self.0[at].needles.push(Needle { marker, head, whole });
    }

    /// Appends every hit, until there are enough.
    pub(super) fn find(&self, haystack: &[u8], coding: Coding, hits: &mut Vec<Hit>) {
        for group in &self.0 {
            let mut from = 0;
            while let Some(found) = group.finder.find(&haystack[from..]) {
                let offset = from + found;
                let here = &haystack[offset..];
                for needle in group.needles.iter().filter(|needle| here.starts_with(&needle.head)) {
                    let whole = here.starts_with(&needle.whole);
                    hits.push(Hit { offset, marker: needle.marker, coding, whole });
                }
                if hits.len() >= MAX_HITS {
                    return;
                }
                from = offset + 1;
            }
        }
    }
}

/// The base64 characters that a text decides alone when `alignment` bytes of its first group of
/// three belong to something else.
fn base64_core(text: &str, alignment: usize) -> String {
    let mut bytes = vec![0; alignment];
    bytes.extend_from_slice(text.as_bytes());
    let coded = STANDARD_NO_PAD.encode(&bytes);
    // A character holds six bits; the ones at the ends may hold bits of a neighbour.
    let first = (alignment * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    coded.get(first..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_does_not_depend_on_its_neighbours() {
        for alignment in 0..3 {
            let core = base64_core("bsmkdigits", alignment);
            for neighbour in [0x00, 0x5A, 0xFF] {
                let mut bytes = vec![neighbour; 3 + alignment];
                bytes.extend_from_slice(b"bsmkdigits");
                bytes.extend([neighbour; 4]);
                let coded = STANDARD_NO_PAD.encode(&bytes);
                assert!(coded.contains(&core), "{alignment} {core} {coded}");
            }
            assert!(core.len() >= 12);
        }
        assert_eq!(base64_core("a", 1), "");
    }
}
