//! Covering: rows of values, one an axis, in which every possible pair of values stands together.
//!
//! Greedy and seeded: the same space and seed give the same rows. First every pair that the
//! exclusions leave is covered; then rows are added, each for the triples that are new in it, until
//! there are as many as wanted.

use std::collections::HashSet;

/// What is covered.
#[derive(Clone, Debug, Default)]
pub(super) struct Space {
    /// How many values each axis has; none has 0. The first value is the simplest.
    pub(super) sizes: Vec<usize>,
    /// Values beside which the others are not judged, by axis and number: a row with one of them
    /// covers only what it is in.
    pub(super) masks: HashSet<(usize, usize)>,
    /// Values that cannot all stand in one row: axes and the values meant.
    pub(super) exclude: Vec<super::Exclusion>,
}

/// Rows that are made for each that is taken: the best of them.
const CANDIDATES: usize = 12;

/// How often in a row nothing new may be found before there is thought to be no more.
const PATIENCE: usize = 16;

/// Choices that are tried for one row before it is thought that there is none: exclusions that need
/// more than that are hardly meant.
const STEPS: usize = 2_000;

/// A row that is being made: axes without a value have none yet.
type Partial = Vec<Option<usize>>;

impl Space {
    /// The rows, the simplest first: all pairs, and at least so many as wanted, if there are.
    pub(super) fn cover(&self, seed: u64, at_least: usize) -> Vec<Vec<usize>> {
        let mut work = Work::new(self, seed);
        let order: Vec<usize> = (0..self.sizes.len()).collect();
        let mut blank = vec![None; self.sizes.len()];
        if self.complete(&mut blank, &order, &|_, (_, value)| value, &mut { STEPS }) {
            work.take(&blank);
        }
        for pair in work.all_pairs() {
            if work.pairs[work.pair(pair[0], pair[1])] {
                continue;
            }
            // The exclusions may leave no row in which the two stand together.
            if let Some(row) = work.best(&pair, Work::new_pairs) {
                work.take(&row);
            }
        }
        let mut idle = 0;
        while work.rows.len() < at_least && idle < PATIENCE {
            match work.best(&[], Work::new_triples).filter(|row| work.is_new(row)) {
                Some(row) => {
                    work.take(&row);
                    idle = 0;
                }
                None => idle += 1,
            }
        }
        work.rows
    }

    /// Whether no exclusion forbids what is chosen so far.
    pub(super) fn allows(&self, chosen: &[Option<usize>]) -> bool {
        let meant = |(axis, values): &(usize, Vec<usize>)| {
            chosen.get(*axis).copied().flatten().is_some_and(|value| values.contains(&value))
        };
        !self.exclude.iter().any(|exclusion| exclusion.iter().all(meant))
    }

    /// Chooses a value for every axis of `order` that has none, that of the lowest rank first, and
    /// goes back where the exclusions lead into a dead end. Whether that could be done in so many
    /// steps.
    fn complete(
        &self,
        chosen: &mut Partial,
        order: &[usize],
        rank: &dyn Fn(&[Option<usize>], Value) -> usize,
        steps: &mut usize,
    ) -> bool {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return false;
        }
        let Some((axis, rest)) = order.split_first() else {
            return self.allows(chosen);
        };
        if chosen[*axis].is_some() {
            return self.complete(chosen, rest, rank, steps);
        }
        let mut values: Vec<usize> = (0..self.sizes[*axis]).collect();
        values.sort_by_cached_key(|value| rank(chosen, (*axis, *value)));
        for value in values {
            chosen[*axis] = Some(value);
            if self.allows(chosen) && self.complete(chosen, rest, rank, steps) {
                return true;
            }
        }
        chosen[*axis] = None;
        false
    }
}

/// A value, by its axis and its number there.
type Value = (usize, usize);

/// What is covered so far.
struct Work<'a> {
    space: &'a Space,
    random: Random,
    rows: Vec<Vec<usize>>,
    /// Where the values of each axis begin when all values are numbered through.
    offsets: Vec<usize>,
    /// How many values there are.
    values: usize,
    /// Which values mask the others.
    masks: Vec<bool>,
    /// Which pairs are covered.
    pairs: Vec<bool>,
    /// Which triples are.
    triples: Vec<bool>,
}

impl<'a> Work<'a> {
    fn new(space: &'a Space, seed: u64) -> Self {
        let (mut values, mut offsets) = (0, Vec::new());
        for size in &space.sizes {
            offsets.push(values);
            values += size;
        }
        let (pairs, triples) = (vec![false; values.pow(2)], vec![false; values.pow(3)]);
        let mut masks = vec![false; values];
        for (axis, value) in &space.masks {
            masks[offsets[*axis] + value] = true;
        }
        let (random, rows) = (Random(seed), Vec::new());
        Self { space, random, rows, offsets, values, masks, pairs, triples }
    }

    fn number(&self, (axis, value): Value) -> usize {
        self.offsets[axis] + value
    }

    fn pair(&self, one: Value, other: Value) -> usize {
        self.number(one) * self.values + self.number(other)
    }

    /// All pairs of values of different axes, the lower axis first.
    fn all_pairs(&self) -> Vec<[Value; 2]> {
        let sizes = &self.space.sizes;
        let mut pairs = Vec::new();
        for (a, size) in sizes.iter().enumerate() {
            for (b, other) in sizes.iter().enumerate().skip(a + 1) {
                pairs.extend((0..*size).flat_map(|i| (0..*other).map(move |j| [(a, i), (b, j)])));
            }
        }
        pairs
    }

    /// The best of some rows that hold these values; none where the exclusions leave none.
    fn best(
        &mut self,
        with: &[Value],
        gain: impl Fn(&Self, &[Option<usize>]) -> usize,
    ) -> Option<Partial> {
        let mut best: Option<(usize, Partial)> = None;
        for _ in 0..CANDIDATES {
            let row = self.candidate(with)?;
            let gained = gain(self, &row);
            if best.as_ref().is_none_or(|(most, _)| gained > *most) {
                best = Some((gained, row));
            }
        }
        best.filter(|(gained, _)| *gained > 0).map(|(_, row)| row)
    }

    /// A row with these values: the other axes in any order, each with the value that stands
    /// beside those before it in the most new pairs. A value that would mask those asked for comes
    /// last.
    fn candidate(&mut self, with: &[Value]) -> Option<Partial> {
        let mut order: Vec<usize> = (0..self.space.sizes.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.random.below(at + 1));
        }
        let chance: Vec<usize> = (0..self.values).map(|_| self.random.below(1 << 16)).collect();
        let mut row: Partial = vec![None; order.len()];
        for (axis, value) in with {
            row[*axis] = Some(*value);
        }
        let masks = |value: &Value| self.masks[self.number(*value)];
        let whole = !with.is_empty() && !with.iter().any(masks);
        let rank = |chosen: &[Option<usize>], value: Value| {
            let beside = stand(chosen).filter(|other| !self.pairs[self.sorted(value, *other)]);
            let new = beside.count();
            let masked = usize::from(whole && masks(&value));
            (masked << 32) + ((chosen.len() - new) << 16) + chance[self.number(value)]
        };
        self.space.complete(&mut row, &order, &rank, &mut { STEPS }).then_some(row)
    }

    fn sorted(&self, one: Value, other: Value) -> usize {
        if one.0 < other.0 { self.pair(one, other) } else { self.pair(other, one) }
    }

    /// The pairs that a row covers: beside a value that masks the others, only those with it.
    fn pairs_of(&self, row: &[Option<usize>]) -> Vec<usize> {
        let values: Vec<usize> = stand(row).map(|value| self.number(value)).collect();
        let whole = !values.iter().any(|value| self.masks[*value]);
        let mut pairs = Vec::with_capacity(values.len().pow(2) / 2);
        for (at, a) in values.iter().enumerate() {
            let beside = values.iter().skip(at + 1);
            let beside = beside.filter(|b| whole || self.masks[*a] || self.masks[**b]);
            pairs.extend(beside.map(|b| a * self.values + b));
        }
        pairs
    }

    /// The triples that a row covers, likewise.
    fn triples_of(&self, row: &[Option<usize>]) -> Vec<usize> {
        let values: Vec<usize> = stand(row).map(|value| self.number(value)).collect();
        let whole = !values.iter().any(|value| self.masks[*value]);
        let mut triples = Vec::with_capacity(values.len().pow(3) / 6);
        for (at, a) in values.iter().enumerate() {
            for (then, b) in values.iter().enumerate().skip(at + 1) {
                let pair = (a * self.values + b) * self.values;
                let told = whole || self.masks[*a] || self.masks[*b];
                let beside = values.iter().skip(then + 1);
                let beside = beside.filter(|c| told || self.masks[**c]);
                triples.extend(beside.map(|c| pair + c));
            }
        }
        triples
    }

    fn new_pairs(&self, row: &[Option<usize>]) -> usize {
        self.pairs_of(row).into_iter().filter(|pair| !self.pairs[*pair]).count()
    }

    fn new_triples(&self, row: &[Option<usize>]) -> usize {
        self.triples_of(row).into_iter().filter(|triple| !self.triples[*triple]).count()
    }

    fn is_new(&self, row: &[Option<usize>]) -> bool {
        let row: Option<Vec<usize>> = row.iter().copied().collect();
        row.is_some_and(|row| !self.rows.contains(&row))
    }

    fn take(&mut self, row: &[Option<usize>]) {
        for pair in self.pairs_of(row) {
            self.pairs[pair] = true;
        }
        for triple in self.triples_of(row) {
            self.triples[triple] = true;
        }
        self.rows.extend(row.iter().copied().collect::<Option<Vec<usize>>>());
    }
}

/// The values that are chosen.
fn stand(row: &[Option<usize>]) -> impl Iterator<Item = Value> {
    row.iter().enumerate().filter_map(|(axis, value)| Some((axis, (*value)?)))
}

/// `SplitMix64`: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space {
            sizes: vec![3, 4, 2, 5, 2],
            masks: HashSet::from([(3, 4)]),
            exclude: vec![
                vec![(0, vec![1]), (1, vec![2, 3])],
                // Together these leave no row with (2, 1) and (4, 1).
                vec![(2, vec![1]), (4, vec![1]), (0, vec![0, 1])],
                vec![(4, vec![1]), (0, vec![2])],
            ],
        }
    }

    fn has(row: &[usize], [(a, i), (b, j)]: [Value; 2]) -> bool {
        row[a] == i && row[b] == j
    }

    #[test]
    fn every_pair_that_is_left_stands_in_some_row() {
        let space = space();
        let rows = space.cover(7, 0);
        let whole = |row: &&Vec<usize>| row[3] != 4;
        for pair in Work::new(&space, 0).all_pairs() {
            let impossible =
                [[(0, 1), (1, 2)], [(0, 1), (1, 3)], [(2, 1), (4, 1)], [(0, 2), (4, 1)]];
            let masked = pair[1] == (3, 4) || pair[0] == (3, 4);
            let found = rows.iter().any(|row| has(row, pair) && (masked || whole(&row)));
            assert_eq!(found, !impossible.contains(&pair), "{pair:?}");
        }
        // Little more than the product of the two largest axes.
        assert!(rows.len() < 32, "{}", rows.len());
    }

    #[test]
    fn no_row_is_excluded_or_stands_twice_and_the_simplest_is_first() {
        let space = space();
        let rows = space.cover(7, 60);
        assert_eq!(rows.first(), Some(&vec![0; 5]));
        assert_eq!(rows.len(), 60);
        let mut seen = HashSet::new();
        for row in &rows {
            let chosen: Partial = row.iter().map(|value| Some(*value)).collect();
            assert!(space.allows(&chosen) && seen.insert(row), "{row:?}");
        }
    }

    #[test]
    fn the_seed_decides() {
        let space = space();
        assert_eq!(space.cover(1, 40), space.cover(1, 40));
        assert_ne!(space.cover(1, 40), space.cover(2, 40));
    }

    #[test]
    fn a_small_space_has_an_end() {
        let space = Space { sizes: vec![2, 2], ..Space::default() };
        assert_eq!(space.cover(1, 100).len(), 4);
    }
}
