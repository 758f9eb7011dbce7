//! Aligning the elements of two arrays, so that one inserted element is one difference.
//!
//! Elements are told apart by digests of their values. Equal values have equal digests, so equal
//! arrays are always paired element by element. For all others a digest only proposes what belongs
//! together: whatever is paired is compared exactly afterwards, so a collision costs a clumsy
//! sentence and never a wrong verdict.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::scan::{JsonStr, Kind, Node};

/// What is known of a value at a glance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Print {
    /// Always the same for equal values. Different for different ones, as far as a double can tell
    /// numbers apart.
    pub(super) value: u64,
    /// The same for values of one kind, for objects: with the same member names.
    pub(super) shape: u64,
}

/// The prints of a value and of all that is in it.
pub(super) struct Prints {
    first: u32,
    prints: Vec<Print>,
}

impl Prints {
    /// One pass from the last token to the first: children stand behind their container, so theirs
    /// are known when it is reached.
    pub(super) fn of(root: Node<'_>) -> Self {
        let first = root.index();
        let mut prints = vec![Print::default(); (root.end_index() - first) as usize];
        for at in (0..prints.len()).rev() {
            let node = root.sibling(first + at as u32);
            let known = |node: Node<'_>| prints[(node.index() - first) as usize];
            prints[at] = print(node, known);
        }
        Self { first, prints }
    }

    pub(super) fn get(&self, node: Node<'_>) -> Print {
        let at = node.index().checked_sub(self.first);
        at.and_then(|at| self.prints.get(at as usize).copied()).unwrap_or_default()
    }
}

fn print(node: Node<'_>, known: impl Fn(Node<'_>) -> Print) -> Print {
    let kind = node.kind() as u64;
    match node.kind() {
        Kind::Null => plain(kind, 0),
        Kind::Bool => plain(kind, node.boolean().unwrap_or_default()),
        Kind::Number => {
            let number: f64 = node.raw().parse().unwrap_or(f64::NAN);
            // Adding 0 makes -0 the same as 0.
            plain(kind, (number + 0.0).to_bits())
        }
        Kind::String => plain(kind, node.string().map(JsonStr::wtf8)),
        Kind::Array => {
            let mut hasher = seeded(kind);
            node.items().for_each(|item| known(item).value.hash(&mut hasher));
            Print { value: hasher.finish(), shape: kind }
        }
        Kind::Object => {
            let mut members: Vec<_> = node
                .members()
                .map(|member| (digest(kind, member.key.wtf8()), known(member.value).value))
                .collect();
            // Of duplicates only the last counts for the value.
            members.reverse();
            members.sort_by_key(|&(name, _)| name);
            members.dedup_by_key(|&mut (name, _)| name);
            let names: Vec<_> = members.iter().map(|&(name, _)| name).collect();
            Print { value: digest(kind, members), shape: digest(kind, names) }
        }
    }
}

fn plain(kind: u64, content: impl Hash) -> Print {
    Print { value: digest(kind, content), shape: kind }
}

fn digest(seed: u64, content: impl Hash) -> u64 {
    let mut hasher = seeded(seed);
    content.hash(&mut hasher);
    hasher.finish()
}

fn seeded(seed: u64) -> DefaultHasher {
    let mut hasher = DefaultHasher::new();
    seed.hash(&mut hasher);
    hasher
}

/// Which elements of two arrays belong together. What is in neither list was lost or added.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Alignment {
    /// Pairs of positions, upstream and downstream, rising on both sides.
    pub(super) pairs: Vec<(usize, usize)>,
    /// Pairs of equal elements that stand out of order.
    pub(super) moved: Vec<(usize, usize)>,
}

/// How many cells the alignments of one comparison may fill; beyond that, elements are paired by
/// position.
pub(super) const CELLS: usize = 1 << 22;
/// How many of them one array may take.
const CELLS_AN_ARRAY: usize = 1 << 18;

/// Aligns two arrays. Swapping them gives the same pairs, swapped.
pub(super) fn align(up: &[Print], down: &[Print], cells: &mut usize) -> Alignment {
    let head = up.iter().zip(down).take_while(|(up, down)| up.value == down.value).count();
    let rest = (&up[head..], &down[head..]);
    let rest_pairs = rest.0.iter().rev().zip(rest.1.iter().rev());
    let tail = rest_pairs.take_while(|(up, down)| up.value == down.value).count();
    let middle = (&up[head..up.len() - tail], &down[head..down.len() - tail]);

    let mut found = middle_part(middle.0, middle.1, cells);
    for (at_up, at_down) in found.pairs.iter_mut().chain(&mut found.moved) {
        *at_up += head;
        *at_down += head;
    }
    found.pairs.extend((0..head).map(|at| (at, at)));
    found.pairs.extend((1..=tail).map(|back| (up.len() - back, down.len() - back)));
    found.pairs.sort_unstable();
    found
}

fn middle_part(up: &[Print], down: &[Print], cells: &mut usize) -> Alignment {
    let all = (0..up.len()).collect::<Vec<_>>();
    let all_down = (0..down.len()).collect::<Vec<_>>();
    let Some(anchors) =
        longest_common(&all, &all_down, |at| up[at].value, |at| down[at].value, cells)
    else {
        return Alignment { pairs: all.into_iter().zip(all_down).collect(), moved: Vec::new() };
    };
    let moved = moved(up, down, &anchors);
    let mut pairs = Vec::new();
    let mut from = (0, 0);
    for &(at_up, at_down) in anchors.iter().chain(&[(up.len(), down.len())]) {
        let free_up = |at: &usize| !moved.iter().any(|pair| pair.0 == *at);
        let free_down = |at: &usize| !moved.iter().any(|pair| pair.1 == *at);
        let gap_up: Vec<_> = (from.0..at_up).filter(free_up).collect();
        let gap_down: Vec<_> = (from.1..at_down).filter(free_down).collect();
        pair_gap(&gap_up, &gap_down, up, down, cells, &mut pairs);
        from = (at_up + 1, at_down + 1);
    }
    pairs.extend(anchors);
    Alignment { pairs, moved }
}

/// Elements of the same value that no anchor holds. Sorting pairs them the same way from both
/// sides.
fn moved(up: &[Print], down: &[Print], anchors: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut free_up: Vec<_> = (0..up.len()).map(|at| (up[at].value, at)).collect();
    let mut free_down: Vec<_> = (0..down.len()).map(|at| (down[at].value, at)).collect();
    free_up.retain(|&(_, at)| anchors.binary_search_by_key(&at, |pair| pair.0).is_err());
    free_down.retain(|&(_, at)| anchors.binary_search_by_key(&at, |pair| pair.1).is_err());
    free_up.sort_unstable();
    free_down.sort_unstable();
    let mut moved = Vec::new();
    let (mut ups, mut downs) = (free_up.iter().peekable(), free_down.iter().peekable());
    while let (Some(&&(value, at_up)), Some(&&(other, at_down))) = (ups.peek(), downs.peek()) {
        if value == other {
            moved.push((at_up, at_down));
        }
        if value <= other {
            ups.next();
        }
        if value >= other {
            downs.next();
        }
    }
    moved
}

/// Pairs what stands between two anchors: those of one shape first, the others by position.
fn pair_gap(
    gap_up: &[usize],
    gap_down: &[usize],
    up: &[Print],
    down: &[Print],
    cells: &mut usize,
    pairs: &mut Vec<(usize, usize)>,
) {
    let alike = longest_common(gap_up, gap_down, |at| up[at].shape, |at| down[at].shape, cells)
        .unwrap_or_default();
    let (mut rest_up, mut rest_down) = (gap_up, gap_down);
    for &(at_up, at_down) in &alike {
        let before_up = rest_up.partition_point(|&at| at < at_up);
        let before_down = rest_down.partition_point(|&at| at < at_down);
        pairs.extend(
            rest_up[..before_up].iter().copied().zip(rest_down[..before_down].iter().copied()),
        );
        pairs.push((at_up, at_down));
        rest_up = &rest_up[before_up + 1..];
        rest_down = &rest_down[before_down + 1..];
    }
    pairs.extend(rest_up.iter().copied().zip(rest_down.iter().copied()));
}

/// The longest common subsequence by key, as pairs of positions; `None` if it costs too much.
///
/// Where two ways are equally long, the side with the smaller key gives way: a rule that does not
/// depend on which side is called upstream.
fn longest_common(
    up: &[usize],
    down: &[usize],
    up_key: impl Fn(usize) -> u64,
    down_key: impl Fn(usize) -> u64,
    cells: &mut usize,
) -> Option<Vec<(usize, usize)>> {
    let width = down.len() + 1;
    let needed = (up.len() + 1).saturating_mul(width);
    if up.is_empty() || down.is_empty() {
        return Some(Vec::new());
    }
    if needed > CELLS_AN_ARRAY || needed > *cells {
        return None;
    }
    *cells -= needed;
    // lengths[i * width + j]: how much of up[i..] and down[j..] can be matched.
    let mut lengths = vec![0_u32; needed];
    for i in (0..up.len()).rev() {
        for j in (0..down.len()).rev() {
            lengths[i * width + j] = if up_key(up[i]) == down_key(down[j]) {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < up.len() && j < down.len() {
        let (key, other) = (up_key(up[i]), down_key(down[j]));
        let (skip_up, skip_down) = (lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
        if key == other {
            pairs.push((up[i], down[j]));
            i += 1;
            j += 1;
        } else if skip_up > skip_down || (skip_up == skip_down && key < other) {
            i += 1;
        } else {
            j += 1;
        }
    }
    Some(pairs)
}
