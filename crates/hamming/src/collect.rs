//! The receivers of the pairs that a join finds. One counts the pairs, and another keeps them.

use crate::pair_room::PairRoom;
use crate::work::JoinWork;
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_model::groups::Groups;
use simtool_model::matches::ValuePair;

/// Receiver of the pairs that a join finds in many threads.
///
/// A join is divided into parts, for example one for each task of a thread. Each part collects its pairs separately.
/// The results of the parts are merged in an order that does not depend on the threads.
pub(crate) trait Collect: Sync {
    /// The result that a receiver collects for one part of a join, for example the number of pairs.
    type Part: Send;

    /// Creates the result for a part of a join. It has no pairs yet.
    fn part(&self) -> Self::Part;

    /// Adds the pair of `a` and `b` at distance `distance` to the result of a part. `a` and `b` are numbers of groups
    /// or of rows. In a self-join, `a` is below `b`. In a search, `a` belongs to the queries, and `b` to the corpus.
    fn pair(&self, part: &mut Self::Part, a: u32, b: u32, distance: u32);

    /// Appends `later`, the result of a later part of the join, to `part`.
    fn merge(&self, part: &mut Self::Part, later: Self::Part);
}

/// Receiver that counts pairs of rows. A pair of groups with m and n rows counts as m × n pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountRows<'a> {
    /// The groups that the numbers `a` and `b` of a pair refer to. In a self-join, both refer to the
    /// same groups.
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

/// Receiver that keeps all pairs in memory. Their bytes are counted in `ledger`, which counts the memory of the whole
/// run and has its limit.
#[derive(Clone, Debug)]
pub(crate) struct KeepPairs<'w> {
    ledger: Ledger,
    /// Records whether pairs do not fit in memory. Such pairs are left out. If it is `None`, all pairs are kept, even
    /// beyond the limit of the ledger.
    room: Option<&'w PairRoom>,
}

impl<'w> KeepPairs<'w> {
    /// Creates a receiver for the pairs that the join `work` finds. It takes the ledger and the limits for pairs
    /// (`room`) from `work`.
    pub(crate) fn new(work: JoinWork<'w>) -> Self {
        Self { ledger: work.context.memory().clone(), room: work.room }
    }

    /// Creates a receiver that keeps all pairs, even if they take more memory than the run may use.
    pub(crate) fn all() -> Self {
        Self { ledger: Ledger::new(u64::MAX), room: None }
    }

    /// Whether pairs were left out. The result is then dropped, so more pairs are of no use.
    pub(crate) fn is_full(&self) -> bool {
        self.room.is_some_and(PairRoom::is_exceeded)
    }

    /// Counts the memory of `pairs` more pairs in `part`. Returns whether they fit in memory.
    fn has_room(&self, part: &mut PairList, pairs: usize) -> bool {
        let bytes = pairs as u64 * PAIR_BYTES;
        let Some(room) = self.room else {
            part.held.grow(bytes);
            return true;
        };
        if room.has_many(bytes) && self.ledger.free() == 0 {
            room.exceed();
        }
        let has_room = !room.is_exceeded();
        part.held.grow(if has_room { bytes } else { 0 });
        has_room
    }

    /// Makes room for more pairs in the open vector of `part`, which is full. The open vector is the one to which new
    /// pairs are appended. If there is no memory for more pairs, drops the pairs of the open vector.
    #[cold]
    fn make_room(&self, part: &mut PairList) {
        let pairs = part.open.len();
        // Thousands of parts can be in memory together, so short vectors grow slowly and are counted, too.
        let more = if pairs < PIECE { pairs.clamp(LEAST_PAIRS, PIECE) } else { PIECE };
        if let (Some(room), true) = (self.room, pairs >= PIECE) {
            room.count(pairs as u64);
        }
        if !self.has_room(part, more) {
            part.open.clear();
            return;
        }
        if pairs >= PIECE {
            part.close();
        }
        part.open.reserve_exact(more);
    }
}

/// Pairs in the order in which they were found, as a list of vectors.
#[derive(Debug)]
pub(crate) struct PairList {
    full: Vec<Vec<ValuePair>>,
    open: Vec<ValuePair>,
    /// Bytes of memory of all vectors, as they are counted in the ledger, the account of the memory of the run.
    held: Reservation,
}

/// Number of pairs of a full vector in a [`PairList`]. When lists are merged, a full vector is moved and not copied.
const PIECE: usize = 1 << 12;
/// Number of pairs for which the first vector of a [`PairList`] has room. Most parts of a join have few pairs.
const LEAST_PAIRS: usize = 8;
/// Bytes of memory that are counted for a found pair. The pair exists twice while all pairs are copied to one vector,
/// and more than twice while they are sorted by row.
pub(crate) const PAIR_BYTES: u64 = 28;

impl PairList {
    /// Returns the number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.full.iter().map(Vec::len).sum::<usize>() + self.open.len()
    }

    /// Whether there are no pairs.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.full.is_empty()
    }

    /// Returns the pairs in the order in which they were found.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ValuePair> {
        self.full.iter().flatten().chain(&self.open)
    }

    /// Returns the pairs in one vector, in ascending order.
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

    /// Moves the open vector, to which new pairs are appended, to the list of full vectors. Starts an empty open
    /// vector.
    fn close(&mut self) {
        self.full.push(std::mem::take(&mut self.open));
    }
}

impl Collect for KeepPairs<'_> {
    type Part = PairList;

    fn part(&self) -> PairList {
        PairList { full: Vec::new(), open: Vec::new(), held: self.ledger.hold(0) }
    }

    #[inline]
    fn pair(&self, part: &mut PairList, a: u32, b: u32, distance: u32) {
        if part.open.len() == part.open.capacity() {
            self.make_room(part);
        }
        part.open.push(ValuePair { a, b, distance });
    }

    fn merge(&self, part: &mut PairList, later: PairList) {
        if later.is_empty() {
            return;
        }
        // Few pairs are copied, so that many small lists do not become many short vectors.
        if later.full.is_empty() && part.open.len() + later.open.len() <= PIECE {
            let before = part.open.capacity();
            part.open.extend_from_slice(&later.open);
            part.held.grow((part.open.capacity() - before) as u64 * PAIR_BYTES);
            return;
        }
        // The order of the pairs must stay, so the last vector of the earlier list ends here.
        if !part.open.is_empty() {
            part.close();
        }
        part.held.grow(later.held.bytes());
        part.full.extend(later.full);
        part.open = later.open;
    }
}
