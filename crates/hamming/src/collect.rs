//! The receivers of the pairs that a join finds: counted or kept.

use simtool_model::groups::Groups;
use simtool_model::matches::ValuePair;

/// A way to collect pairs from many threads.
///
/// Each part of a join collects on its own, and parts are merged in an order that does not depend
/// on the threads.
pub(crate) trait Collect: Sync {
    /// The pairs that one part of a join has collected.
    type Part: Send;

    /// An empty part.
    fn part(&self) -> Self::Part;

    /// Adds a pair to `part`. In a self-join `a` is below `b`; otherwise `a` is the query.
    fn pair(&self, part: &mut Self::Part, a: u32, b: u32, distance: u32);

    /// Appends the pairs of a later part.
    fn merge(&self, part: &mut Self::Part, later: Self::Part);
}

/// Counts pairs of rows: a pair of groups counts once for each row of the one and of the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountRows<'a> {
    /// The groups of the first and of the second member.
    pub groups: (&'a Groups, &'a Groups),
}

impl Collect for CountRows<'_> {
    type Part = u64;

    fn part(&self) -> u64 {
        0
    }

    #[inline]
    fn pair(&self, part: &mut u64, a: u32, b: u32, _: u32) {
        *part += u64::from(self.groups.0.size(a)) * u64::from(self.groups.1.size(b));
    }

    fn merge(&self, part: &mut u64, later: u64) {
        *part += later;
    }
}

/// Keeps the pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeepPairs;

/// Pairs in the order in which they were found, in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairList {
    full: Vec<Vec<ValuePair>>,
    open: Vec<ValuePair>,
}

/// Pairs of a full piece: from this size on, a piece is moved and not copied.
const PIECE: usize = 1 << 14;

impl PairList {
    /// Number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.full.iter().map(Vec::len).sum::<usize>() + self.open.len()
    }

    /// Whether there is no pair.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.full.is_empty()
    }

    /// The pairs in the order in which they were found.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ValuePair> {
        self.full.iter().flatten().chain(&self.open)
    }

    /// The pairs in one piece, ascending.
    pub(crate) fn into_sorted(self) -> Vec<ValuePair> {
        use rayon::prelude::ParallelSliceMut;
        let mut pairs = Vec::with_capacity(self.len());
        for piece in self.full {
            pairs.extend_from_slice(&piece);
        }
        pairs.extend_from_slice(&self.open);
        pairs.par_sort_unstable();
        pairs
    }

    /// Adds a pair at the end.
    #[inline]
    pub(crate) fn push(&mut self, pair: ValuePair) {
        if self.open.len() == PIECE {
            self.full.push(std::mem::replace(&mut self.open, Vec::with_capacity(PIECE)));
        }
        self.open.push(pair);
    }
}

impl Collect for KeepPairs {
    type Part = PairList;

    fn part(&self) -> PairList {
        PairList::default()
    }

    #[inline]
    fn pair(&self, part: &mut PairList, a: u32, b: u32, distance: u32) {
        part.push(ValuePair { a, b, distance });
    }

    fn merge(&self, part: &mut PairList, later: PairList) {
        if later.is_empty() {
            return;
        }
        // Few pairs are copied, so that many small parts do not become many small pieces.
        if later.full.is_empty() && part.open.len() + later.open.len() <= PIECE {
            part.open.extend_from_slice(&later.open);
            return;
        }
        // The order of the pairs must stay, so the open piece of the earlier part ends here.
        if !part.open.is_empty() {
            part.full.push(std::mem::take(&mut part.open));
        }
        part.full.extend(later.full);
        part.open = later.open;
    }
}
