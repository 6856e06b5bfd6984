//! The bipartite join: many queries against a corpus, by the recursion of the self-join.
//!
//! Queries come first in every bucket, since partitions keep the order; a bucket of one side alone
//! is dropped.

use crate::kernels::Isa;
use crate::matches::ValuePair;
use crate::search::collect::{Collect, KeepPairs};
use crate::search::grouping::{EqualGroups, group};
use crate::search::recursion::Join;
use crate::search::{Rows, SearchLane};

/// What a bipartite join found: groups of equal rows on both sides, and pairs of groups.
#[derive(Debug)]
pub struct BipartiteJoin<W> {
    /// The queries, by fingerprint.
    pub queries: EqualGroups<W>,
    /// The corpus, by fingerprint.
    pub corpus: EqualGroups<W>,
    /// Pairs of a group of queries, `a`, and one of the corpus, `b`, ascending.
    pub pairs: Vec<ValuePair>,
}

/// Finds all pairs of a query and a corpus row that differ in at most `max_distance` bits.
///
/// # Panics
///
/// As [`group`], for both sides together.
pub fn bipartite_join<L: SearchLane>(
    queries: Rows<'_, L>,
    corpus: Rows<'_, L>,
    max_distance: u32,
    isa: Isa,
) -> BipartiteJoin<L::Wide> {
    let (queries, corpus) = (group(queries), group(corpus));
    let pairs = collect_bipartite(&queries, &corpus, max_distance, isa, &KeepPairs).into_sorted();
    BipartiteJoin { queries, corpus, pairs }
}

/// Hands each pair of a group of queries and a group of the corpus to `collect`.
///
/// # Panics
///
/// There are 2^32 groups or more, of both sides together.
pub fn collect_bipartite<W: SearchLane<Wide = W>, C: Collect>(
    queries: &EqualGroups<W>,
    corpus: &EqualGroups<W>,
    max_distance: u32,
    isa: Isa,
    collect: &C,
) -> C::Part {
    let Ok(boundary) = u32::try_from(queries.len()) else { return collect.part() };
    if boundary == 0 || corpus.is_empty() {
        return collect.part();
    }
    let values = [queries.values(), corpus.values()].concat();
    assert!(u32::try_from(values.len()).is_ok(), "group numbers are 32 bits wide");
    let renumbered = CorpusFromZero { collect, boundary };
    Join::new(&values, boundary, max_distance, isa, &renumbered, None).run(&values)
}

/// Numbers the corpus from 0.
struct CorpusFromZero<'a, C> {
    collect: &'a C,
    boundary: u32,
}

impl<C: Collect> Collect for CorpusFromZero<'_, C> {
    type Part = C::Part;

    fn part(&self) -> C::Part {
        self.collect.part()
    }

    #[inline]
    fn pair(&self, part: &mut C::Part, a: u32, b: u32, distance: u32) {
        self.collect.pair(part, a, b - self.boundary, distance);
    }

    fn merge(&self, part: &mut C::Part, later: C::Part) {
        self.collect.merge(part, later);
    }
}
