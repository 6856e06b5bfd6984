//! Joins the documents that may still have a similar one by prefixes, which are their rarest terms. If
//! memory is scarce, joins them block by block.

use super::close::ClosePair;
use super::memory_texts::enough_more;
use super::pair_filter::JoinFilter;
use super::prefix_join::PrefixJoin;
use super::prune::{self, JoinShard, Stored, living_terms};
use super::ranked_sets::{NANOSECONDS_A_RANKED_TERM, Ranking};
use super::set_join::{BYTES_PER_TERM, SetJoin};
use super::term_source::{TermSource as _, TermSources, Wanted};
use simtool_base::error::{Error, Result};
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use std::ops::Range;

/// Nanoseconds of a core for each posting that a join by prefixes visits. The index of the join has a list for each
/// term: the documents that have the term among their rarest terms. An entry of such a list is a posting.
const NANOSECONDS_A_POSTING: f64 = 2.0;

/// Maximum number of blocks into which documents are divided if their terms do not fit in memory
/// together. Each pair of blocks takes one reading of the documents.
pub(super) const MOST_BLOCKS: usize = 64;

/// Error messages about too little memory recommend an amount of memory. With this amount, the
/// documents are divided into this number of blocks.
const FEW_BLOCKS: u64 = 16;

impl SetJoin<'_> {
    /// Finds the similar pairs among the documents of `shards` that were not dropped. Joins them by prefixes, which are
    /// the rarest terms of each document. If memory is scarce, divides the documents into blocks and joins each block
    /// with each other block. In a join of two collections, the rows of the second begin at `second_from`. Returns
    /// `None` if there are more than `most` pairs.
    pub(super) fn join_by_prefixes(
        &self,
        sources: &TermSources<'_>,
        shards: &mut [JoinShard],
        second_from: Option<u32>,
        most: u64,
    ) -> Result<Option<Vec<ClosePair>>> {
        let fitting = self.fitting();
        let filter = JoinFilter { filter: self.filter, second_from: second_from.unwrap_or(0) };
        let mut pairs: Vec<ClosePair> = Vec::new();
        self.rereading(sources).rounds(shards, fitting)?;
        // Two blocks are in memory at the same time.
        let blocks = blocks(shards, fitting / 2);
        if blocks.len() > MOST_BLOCKS {
            return Err(self.too_little_memory(shards));
        }
        for (at, left) in blocks.iter().enumerate() {
            // Each pair of blocks is joined. A single block is joined with itself.
            let others = if blocks.len() > 1 { &blocks[at + 1..] } else { &blocks[..] };
            for right in others {
                let two = [left.clone(), right.clone()];
                self.context.progress().begin("read survivors", Work::Bytes(sources.bytes()));
                let stored = read_living(sources, shards, &two, self.context)?;
                let found = if sources.is_weighted() {
                    Some(self.join_weighted(sources, shards, stored, second_from)?)
                } else {
                    self.join_stored(stored, second_from, most, u64::MAX)?
                };
                let Some(found) = found else { return Ok(None) };
                pairs.extend(found.into_iter().filter(|pair| filter.takes(pair.a, pair.b)));
                if pairs.len() as u64 > most {
                    return Ok(None);
                }
            }
        }
        if blocks.len() > 2 {
            // A pair inside one block is found once for each other block.
            pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
            pairs.dedup_by_key(|pair| (pair.a, pair.b));
        }
        Ok(Some(pairs))
    }

    /// Finds the similar pairs among the documents of `shards` that were not dropped. Joins them by prefixes, which are
    /// the rarest terms of each document. Returns `None` if that would take more than `nanoseconds` of a core, if the
    /// terms do not fit in memory together, or if there are more than `most` pairs.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    pub(super) fn join_by_few_postings(
        &self,
        sources: &TermSources<'_>,
        shards: &[JoinShard],
        second_from: Option<u32>,
        most: u64,
        nanoseconds: f64,
    ) -> Result<Option<Vec<ClosePair>>> {
        let ranking = living_terms(shards) as f64 * NANOSECONDS_A_RANKED_TERM;
        let block = match blocks(shards, self.fitting() / 2).as_slice() {
            [block] if ranking < nanoseconds => block.clone(),
            _ => return Ok(None),
        };
        self.context.progress().begin("read survivors", Work::Bytes(sources.bytes()));
        let stored = read_living(sources, shards, &[block.clone(), block], self.context)?;
        #[expect(clippy::cast_sign_loss, reason = "no time is negative here")]
        let most_visits = ((nanoseconds - ranking) / NANOSECONDS_A_POSTING) as u64;
        let found = self.join_stored(stored, second_from, most, most_visits)?;
        let filter = JoinFilter { filter: self.filter, second_from: second_from.unwrap_or(0) };
        let passing = |pairs: Vec<ClosePair>| {
            pairs.into_iter().filter(|pair| filter.takes(pair.a, pair.b)).collect()
        };
        Ok(found.map(passing))
    }

    /// Joins the documents in `stored` by prefixes. In a join of two collections, the rows of the
    /// second begin at `second_from`. Returns `None` if there are more than `most` pairs, or if more
    /// than `most_visits` postings must be visited to find them.
    ///
    /// # Errors
    /// Not enough memory.
    fn join_stored(
        &self,
        mut stored: Vec<Stored>,
        second_from: Option<u32>,
        most: u64,
        most_visits: u64,
    ) -> Result<Option<Vec<ClosePair>>> {
        let threshold = self.threshold;
        self.context.progress().begin("rank", Work::Steps(0));
        let cells = prune::rounds(&mut stored, second_from, self.context, |_, terms, cells| {
            let limit = threshold.max_unshared(terms.len() as u32);
            let is_unmatched = |&term: &u64| !cells.may_match(term);
            prune::unmatched_up_to(terms, limit, is_unmatched) <= limit
        })?;
        let ranking = Ranking {
            stored: &stored,
            cells: &cells,
            second_from,
            weight: None,
            context: self.context,
        };
        // Terms that share a counter may look matched although they are not. The ranking compares the
        // terms themselves, so it can drop more sets.
        let sets = ranking.rank(|size, unmatched| unmatched <= threshold.max_unshared(size))?;
        drop((stored, cells));
        self.context.progress().counted("rows", sets.len() as u64);
        self.context.progress().counted("terms", sets.ranks.len() as u64);

        let across = second_from.is_some();
        let context = self.context;
        let join = PrefixJoin { sets: &sets, across, threshold, most, most_visits, context };
        let Some(found) = join.pairs()? else { return Ok(None) };
        let pairs = found.into_iter().map(|(left, right, similarity)| {
            let left = sets.rows[left as usize];
            let right = sets.rows[right as usize];
            ClosePair::similar(left.min(right), left.max(right), similarity)
        });
        Ok(Some(pairs.collect()))
    }

    /// Returns whether a join by prefixes would divide the documents into more than [`MOST_BLOCKS`] blocks, because the
    /// terms of larger blocks do not fit in memory.
    pub(super) fn has_too_many_blocks(&self, shards: &[JoinShard]) -> bool {
        blocks(shards, self.fitting() / 2).len() > MOST_BLOCKS
    }

    pub(super) fn too_little_memory(&self, shards: &[JoinShard]) -> Error {
        let living = living_terms(shards);
        let enough = living * BYTES_PER_TERM * 2 / FEW_BLOCKS;
        let rule = format!(
            "`max_memory` leaves {} bytes for them, which is too little: they would be compared in more \
             than {MOST_BLOCKS} parts, each with each. {}; the method simhash needs less",
            self.memory_bytes,
            enough_more(enough, self.memory_bytes)
        );
        Error::limit(format!("{living} shingles that may match"), rule)
    }
}

/// Divides the row numbers of all shards into one or more ranges. In each range, the documents that were not dropped
/// have at most about `terms` terms together. A document with more terms gets a range of its own.
pub(super) fn blocks(shards: &[JoinShard], terms: u64) -> Vec<Range<u32>> {
    let mut blocks = Vec::new();
    let mut start = 0;
    let mut inside = 0;
    for shard in shards {
        let documents = shard.sizes.iter().zip(&shard.alive);
        for (row, (&size, &alive)) in (shard.first_row..).zip(documents) {
            let size = u64::from(alive) * u64::from(size);
            // A document larger than a block gets a block of its own, without an empty block before
            // it.
            if inside > 0 && inside + size > terms {
                blocks.push(start..row);
                (start, inside) = (row, 0);
            }
            inside += size;
        }
    }
    blocks.push(start..u32::MAX);
    blocks
}

/// Reads the terms of documents whose row numbers are in one of the ranges in `rows`. Skips documents
/// that cannot have a similar one.
fn read_living(
    sources: &TermSources<'_>,
    shards: &[JoinShard],
    rows: &[Range<u32>],
    context: &Context<'_>,
) -> Result<Vec<Stored>> {
    let wanted = |shard: &JoinShard, index: u32| {
        let row = shard.first_row + index;
        shard.is_alive(index) && rows.iter().any(|r| r.contains(&row))
    };
    let wanted_terms = |shard: &JoinShard| {
        let documents = (0..).zip(&shard.sizes).filter(|&(index, _)| wanted(shard, index));
        documents.map(|(_, &size)| size as usize).sum::<usize>()
    };
    let expected =
        shards.iter().map(wanted_terms).sum::<usize>() / context.threads().count() * 3 / 2;
    context.threads().try_fold(
        shards.len(),
        || Ok(Stored::with_capacity(expected, context.memory())),
        |stored, number| {
            let shard = &shards[number];
            let wanted = |index| wanted(shard, index);
            sources.try_visit(number, Wanted::Some(&wanted), &mut |index, terms| {
                stored.push(shard.first_row + index, terms)
            })
        },
    )
}
