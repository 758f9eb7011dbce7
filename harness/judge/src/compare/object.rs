//! Matching the members of two objects by name.

use crate::scan::{Member, Node};

/// What became of the members of one name.
pub(super) enum Entry<'x> {
    /// It stands on both legs. A shadowed one is followed by another of the same name, so that it
    /// does not count for the value of the object.
    Both { up: Member<'x>, down: Member<'x>, shadowed: bool },
    /// It is missing downstream.
    OnlyUp(Member<'x>),
    /// It is missing upstream.
    OnlyDown(Member<'x>),
    /// It stands more often on one leg than on the other: the last on each leg, and how often.
    Repeated { up: Member<'x>, down: Member<'x>, counts: (usize, usize) },
}

/// The members of two objects, matched.
pub(super) struct Matching<'x> {
    /// In the order of the upstream object; what only the downstream object has comes last.
    pub(super) entries: Vec<Entry<'x>>,
    /// Whether members that both have stand in another order.
    pub(super) reordered: bool,
}

/// Up to here, comparing every name with every other is cheaper than sorting them.
const FEW: usize = 16;

/// Matches the members of two objects. Linear where both have the same few names in the same
/// order, else as costly as sorting the names.
pub(super) fn match_members<'x>(up: Node<'x>, down: Node<'x>) -> Matching<'x> {
    let up: Vec<_> = up.members().collect();
    let down: Vec<_> = down.members().collect();
    if in_step(&up, &down) {
        let pairs = up.into_iter().zip(down);
        let both = |(up, down)| Entry::Both { up, down, shadowed: false };
        return Matching { entries: pairs.map(both).collect(), reordered: false };
    }
    by_name(&up, &down)
}

/// Whether both sides have the same names in the same order, and none of them twice.
fn in_step(up: &[Member<'_>], down: &[Member<'_>]) -> bool {
    let repeats = |(at, member): (usize, &Member<'_>)| {
        up[..at].iter().any(|earlier| earlier.key == member.key)
    };
    up.len() == down.len()
        && up.len() <= FEW
        && up.iter().zip(down).all(|(up, down)| up.key == down.key)
        && !up.iter().enumerate().any(repeats)
}

/// All members of one name on one side, as positions in the object.
type Run<'s> = &'s [usize];

fn by_name<'x>(up: &[Member<'x>], down: &[Member<'x>]) -> Matching<'x> {
    let up_order = sorted(up);
    let down_order = sorted(down);
    let (mut ups, mut downs) = (runs(&up_order), runs(&down_order));
    let (mut next_up, mut next_down) = (ups.next(), downs.next());
    let mut found = Found::default();
    loop {
        match (next_up, next_down) {
            (Some((name, run)), Some((other, other_run))) if name == other => {
                found.both(up, down, run, other_run);
                (next_up, next_down) = (ups.next(), downs.next());
            }
            (Some((name, run)), other) if other.is_none_or(|(other, _)| name < other) => {
                found.only_up(up, run);
                next_up = ups.next();
            }
            (_, Some((_, run))) => {
                found.only_down(up.len(), down, run);
                next_down = downs.next();
            }
            (_, None) => break,
        }
    }
    found.finish()
}

/// Names with their positions, by name and then by position.
fn sorted<'x>(members: &[Member<'x>]) -> (Vec<std::borrow::Cow<'x, [u8]>>, Vec<usize>) {
    let names: Vec<_> = members.iter().map(|member| member.key.wtf8()).collect();
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|&left, &right| names[left].cmp(&names[right]));
    (names, order)
}

/// The runs of one name each, in the order of the names.
fn runs<'s>(
    (names, order): &'s (Vec<std::borrow::Cow<'_, [u8]>>, Vec<usize>),
) -> impl Iterator<Item = (&'s [u8], Run<'s>)> {
    order.chunk_by(|&left, &right| names[left] == names[right]).map(|run| (&*names[run[0]], run))
}

#[derive(Default)]
struct Found<'x> {
    /// Entries with their place in the final order.
    entries: Vec<(usize, Entry<'x>)>,
    /// The positions of members that both sides have.
    common: Vec<(usize, usize)>,
}

impl<'x> Found<'x> {
    fn both(&mut self, up: &[Member<'x>], down: &[Member<'x>], ups: Run<'_>, downs: Run<'_>) {
        if ups.len() != downs.len()
            && let (Some(&last_up), Some(&last_down)) = (ups.last(), downs.last())
        {
            // Which of the earlier ones is gone cannot be told; the last ones count.
            self.entries.push((
                last_up,
                Entry::Repeated {
                    up: up[last_up],
                    down: down[last_down],
                    counts: (ups.len(), downs.len()),
                },
            ));
            self.common.push((last_up, last_down));
            return;
        }
        for (nth, (&at_up, &at_down)) in ups.iter().zip(downs).enumerate() {
            let entry =
                Entry::Both { up: up[at_up], down: down[at_down], shadowed: nth + 1 < ups.len() };
            self.entries.push((at_up, entry));
            self.common.push((at_up, at_down));
        }
    }

    /// Of duplicates that are all gone, the last is told: it is the one that counted.
    fn only_up(&mut self, up: &[Member<'x>], run: Run<'_>) {
        if let Some(&last) = run.last() {
            self.entries.push((last, Entry::OnlyUp(up[last])));
        }
    }

    fn only_down(&mut self, offset: usize, down: &[Member<'x>], run: Run<'_>) {
        if let Some(&last) = run.last() {
            self.entries.push((offset + last, Entry::OnlyDown(down[last])));
        }
    }

    fn finish(mut self) -> Matching<'x> {
        self.entries.sort_by_key(|&(place, _)| place);
        self.common.sort_unstable();
        Matching {
            entries: self.entries.into_iter().map(|(_, entry)| entry).collect(),
            reordered: !self.common.is_sorted_by_key(|&(_, down)| down),
        }
    }
}
