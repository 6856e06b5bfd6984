//! The bipartite join: many queries against a corpus, by the recursion of the self-join.
//!
//! Queries come first in every bucket, since partitions keep the order; a bucket of one side alone
//! is dropped.

use crate::Rows;
use crate::collect::{Collect, KeepPairs};
use crate::grouping::{EqualGroups, Groups, group};
use crate::recursion;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::reserved;
use simtool_base::progress::Share;
use simtool_kernels::Isa;
use simtool_model::fingerprint_table::{Lane, Reach};
use simtool_model::matches::ValuePair;

/// What a join of queries and corpus found: groups of equal rows on both sides, and pairs of groups.
#[derive(Debug)]
pub struct Join {
    /// The queries, by fingerprint.
    pub queries: Groups,
    /// The corpus, by fingerprint.
    pub corpus: Groups,
    /// Pairs of a group of queries, `a`, and one of the corpus, `b`, ascending.
    pub pairs: Vec<ValuePair>,
}

/// Finds all pairs of a query and a corpus row within reach of each other; `share` is told how much of
/// the work is done.
///
/// # Errors
///
/// There are 2^32 groups or more, of both sides together, or the memory cannot be had.
///
/// # Panics
///
/// As [`group`].
pub fn bipartite_join<L: Lane>(
    queries: Rows<'_, L>,
    corpus: Rows<'_, L>,
    reach: Reach,
    isa: Isa,
    share: Share<'_>,
) -> Result<Join> {
    let (queries, corpus) = (group(queries)?, group(corpus)?);
    let pairs = collect_bipartite(&queries, &corpus, reach, isa, &KeepPairs, share)?.into_sorted();
    Ok(Join { queries: queries.groups, corpus: corpus.groups, pairs })
}

/// Hands each pair of a group of queries and a group of the corpus to `collect`.
fn collect_bipartite<L: Lane, C: Collect>(
    queries: &EqualGroups<L>,
    corpus: &EqualGroups<L>,
    reach: Reach,
    isa: Isa,
    collect: &C,
    share: Share<'_>,
) -> Result<C::Part> {
    let boundary = boundary(queries.groups.len(), corpus.groups.len())?;
    if queries.groups.is_empty() || corpus.groups.is_empty() {
        return Ok(collect.part());
    }
    let sides = [queries.values(), corpus.values()];
    let mut values =
        reserved(sides.iter().map(|side| side.len()).sum(), "the fingerprints of both sides")?;
    for side in sides {
        values.extend_from_slice(side);
    }
    let renumbered = CorpusFromZero { collect, boundary };
    let join = recursion::Join::new(&values, boundary, reach, isa, &renumbered, None);
    join.run(&values, share)
}

/// The number of the corpus's first group, where groups of both sides have numbers of 32 bits.
fn boundary(queries: usize, corpus: usize) -> Result<u32> {
    let rule = || {
        let what = format!("{queries} different queries and {corpus} different rows of the corpus");
        Error::limit(
            what,
            "a bipartite join takes fewer than 4294967296 together: search the queries in parts, or \
             with `index` streamed-queries",
        )
    };
    let all = queries.checked_add(corpus).and_then(|all| u32::try_from(all).ok());
    // No more than both together.
    all.map(|_| queries as u32).ok_or_else(rule)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_groups_than_there_are_numbers_are_a_limit_that_is_met() {
        assert_eq!(boundary(7, u32::MAX as usize - 7).unwrap(), 7);
        for (queries, corpus) in [(1 << 31, 1 << 31), (1, u32::MAX as usize), (2, usize::MAX)] {
            let error = boundary(queries, corpus).unwrap_err();
            assert!(matches!(error.kind(), simtool_base::error::ErrorKind::Limit { .. }));
            assert!(error.to_string().contains("fewer than 4294967296 together"), "{error}");
        }
    }
}
