//! Counting rounds, which drop the sets that cannot have a similar set.
//!
//! A term is called unmatched if no other set contains it. Two sets that are similar at threshold t
//! share at least the fraction t of their terms. So a set with too many unmatched terms is dropped.
//! The terms that only dropped sets had are unmatched in the next round. If memory is scarce, or the cells of the terms
//! are kept in memory, the first round counts a sample of the terms, chosen by their hashes. The limit on unmatched
//! terms holds for every subset of a set, so with a sample fewer sets are dropped, but never a wrong one.

use super::cells::{CellNumbers, CellWriter, Cells};
use super::large_vec::LargeVec;
use super::memory_texts::TERMS;
use super::term_source::{TermSource as _, TermSources, Wanted};
use simtool_base::error::{Error, Result};
use simtool_base::memory_ledger::Ledger;
use simtool_compute::context::Context;
use simtool_model::similarity::Threshold;

/// Number of cells (two-bit counters) per counted term. With more cells, fewer terms share one. Terms
/// that share a cell may look matched although they are not. But more cells cause more cache misses.
pub(super) const CELLS_PER_TERM: u64 = 5;

/// Returns how many eighths of all terms the first round of counting counts. The result is 8 if a
/// smaller sample would drop too few sets.
pub(crate) fn sample_eighths(threshold: Threshold) -> u64 {
    // The part of a set that may be unmatched, in thousandths of its terms.
    let unmatched = u64::from(threshold.max_unshared(1000));
    // A set is dropped only if its sample has more unmatched terms than the whole set may have. So the
    // sample must be much larger than this part of the set.
    (unmatched * 8 * 17).div_ceil(10 * 1000).clamp(1, 8)
}

/// Maximum number of terms of a document. It is so small that 32 bits are enough for the number of
/// terms of two documents together.
pub(super) const MOST_TERMS: usize = (1 << 31) - 1;

/// Returns the number of terms of a document as 32 bits, counting repeated terms.
///
/// # Errors
/// The document has more than [`MOST_TERMS`] terms.
pub(super) fn document_size(terms: usize) -> Result<u32> {
    if terms > MOST_TERMS {
        let rule = format!(
            "an exact join takes at most {MOST_TERMS} of each; a smaller `max_record` passes over \
             such a document, the method simhash takes it"
        );
        return Err(Error::limit(format!("a document of {terms} shingles"), rule));
    }
    Ok(terms as u32)
}

/// Returns `row` + `documents`, which is the row number behind `documents` documents from `row` on.
///
/// # Errors
/// The number does not fit into 32 bits.
pub(super) fn row_after(row: u32, documents: usize) -> Result<u32> {
    let end = u32::try_from(documents).ok().and_then(|documents| row.checked_add(documents));
    let rule = "must be fewer than 4294967296 in all, queries included";
    end.ok_or_else(|| Error::limit("documents", rule))
}

/// A shard, which is a range of consecutive documents that is read as a unit. All lists are indexed
/// by the document's position in the shard.
#[derive(Clone, Debug)]
pub(super) struct JoinShard {
    /// Row number of the first document in the shard.
    pub(super) first_row: u32,
    /// Number of terms of each document, counting repeated terms.
    pub(super) sizes: Vec<u32>,
    /// Whether each document may still have a similar document. False for documents without terms, and for documents
    /// that were dropped.
    pub(super) alive: Vec<bool>,
    /// For each document, the number of its terms that earlier tables have shown to be in no other document. Empty
    /// unless terms are counted in several tables, one after the other.
    pub(super) unmatched: Vec<u32>,
    /// Sum of the weights of each document's distinct terms. Empty if terms have no weights.
    pub(super) weights: Vec<u64>,
}

/// Results and buffers of one worker thread in the first round of counting.
struct Reading<'f, 't> {
    writers: [CellWriter<'f, 't>; 2],
    shards: Vec<ShardSample>,
    /// The cell numbers of all sampled terms that the worker thread has read. A cell is a two-bit
    /// counter.
    cells: LargeVec<u32>,
}

impl Reading<'_, '_> {
    /// Reads a shard, counts the sampled terms of its documents and keeps their cell numbers. A
    /// term is sampled if its lowest three bits are below `eighths`.
    fn read_shard(
        &mut self,
        sources: &TermSources<'_>,
        shard: usize,
        numbers: CellNumbers,
        eighths: u64,
    ) -> Result<()> {
        let Self { writers, shards, cells } = self;
        let writer = &mut writers[sources.side(shard)];
        let mut sizes = Vec::new();
        let mut ends = Vec::new();
        let start = cells.len();
        sources.try_visit(shard, Wanted::All, &mut |_, terms| {
            sizes.push(document_size(terms.len())?);
            // Each number is written, but `picked` advances only for sampled terms. A branch on
            // random bits would often be mispredicted.
            let room = cells.spare(terms.len())?;
            let mut picked = 0;
            for &term in terms {
                room[picked] = numbers.of(term) as u32;
                picked += usize::from(term & 7 < eighths);
            }
            writer.push_all(room[..picked].iter().map(|&cell| u64::from(cell)));
            cells.extend_by(picked);
            ends.push(cells.len());
            Ok(())
        })?;
        shards.push(ShardSample { shard, sizes, ends, start });
        Ok(())
    }
}

impl JoinShard {
    /// Creates a shard in which every document with terms may have a similar document.
    pub(super) fn new(first_row: u32, sizes: Vec<u32>) -> Self {
        let alive = sizes.iter().map(|&size| size > 0).collect();
        Self { first_row, sizes, alive, unmatched: Vec::new(), weights: Vec::new() }
    }

    /// Whether the document at position `index` of the shard may still have a similar document.
    pub(super) fn is_alive(&self, index: u32) -> bool {
        self.alive.get(index as usize) == Some(&true)
    }

    /// Returns the number of terms of each document that may still have a similar document. Other
    /// documents are left out.
    pub(super) fn living_sizes(&self) -> impl Iterator<Item = u32> {
        let living = self.sizes.iter().zip(&self.alive).filter(|&(_, &alive)| alive);
        living.map(|(&size, _)| size)
    }

    /// Returns the total number of terms of the documents that may still have a similar document.
    pub(super) fn living_terms(&self) -> u64 {
        self.living_sizes().map(u64::from).sum()
    }

    /// Returns the row number after the last document of the shard.
    pub(super) fn end_row(&self) -> u32 {
        self.first_row + self.sizes.len() as u32
    }
}

/// Returns the row number after the last document of the last shard.
pub(super) fn end_row(shards: &[JoinShard]) -> u32 {
    shards.last().map_or(0, JoinShard::end_row)
}

/// Returns the index of the shard that contains the document with row number `row`.
pub(super) fn shard_of(shards: &[JoinShard], row: u32) -> usize {
    shards.partition_point(|shard| shard.end_row() <= row)
}

/// Documents of one shard as read in the first round of counting. The cell numbers of their sampled
/// terms are in [`Reading::cells`], from index `start` to the last of `ends`.
struct ShardSample {
    shard: usize,
    /// Number of terms of each document, counting repeated terms.
    sizes: Vec<u32>,
    /// For each document, the index in [`Reading::cells`] behind its last sampled term.
    ends: Vec<usize>,
    start: usize,
}

/// Runs the first round of counting: reads all documents, counts a sample of their terms, and drops the
/// documents that cannot have a similar one. Returns all shards, in which the dropped documents are
/// marked.
///
/// # Errors
/// The source fails, there is not enough memory, or a number of documents or terms exceeds 32 bits.
pub(super) fn first_round(
    sources: &TermSources<'_>,
    threshold: Threshold,
    context: &Context<'_>,
) -> Result<Vec<JoinShard>> {
    let threads = context.threads();
    let eighths = sample_eighths(threshold);
    let expected = sources.term_count_hint().saturating_mul(eighths) / 8;
    // Only 32 bits of the cell number of a sampled term are kept, so a table has at most 2³² cells.
    let cells = expected.saturating_mul(CELLS_PER_TERM).min(1 << 32);
    let mut cells = Cells::new(cells, 0, context.memory())?;
    let numbers = cells.numbers();
    let filling = cells.filling();
    let samples = threads.try_fold_into(
        sources.shard_count(),
        || {
            let capacity = (expected as usize / threads.count()).saturating_mul(3) / 2;
            Ok(Reading {
                writers: filling.writers(sources.second.is_some())?,
                shards: Vec::new(),
                cells: LargeVec::with_capacity(capacity, TERMS, context.memory()),
            })
        },
        |reading, shard| reading.read_shard(sources, shard, numbers, eighths),
        // The writers are dropped here, and write the rest of their buffers to the table. Until then,
        // the table is incomplete.
        |Reading { writers: _, shards, cells }| (shards, cells),
    )?;
    drop(filling);

    let shards = threads.map(samples, |(samples, sampled)| {
        let shards =
            samples.into_iter().map(|sample| survivors(sample, &sampled, &cells, threshold));
        shards.collect::<Vec<_>>()
    });
    in_row_order(shards.into_iter().flatten().collect())
}

/// Sorts numbered shards, and gives each its first row number. Threads took the shards in any
/// order, but rows follow the order of the shards.
fn in_row_order(mut shards: Vec<(usize, JoinShard)>) -> Result<Vec<JoinShard>> {
    shards.sort_unstable_by_key(|&(number, _)| number);
    let mut shards: Vec<JoinShard> = shards.into_iter().map(|(_, shard)| shard).collect();
    let mut row = 0;
    for shard in &mut shards {
        shard.first_row = row;
        row = row_after(row, shard.sizes.len())?;
    }
    Ok(shards)
}

/// Returns the index of a shard, and the shard. In the shard, documents that cannot have a similar one are marked as
/// dropped. `sample` has the documents of the shard, `sampled` the cell numbers of their sampled terms, and `cells` is
/// the table in which all sampled terms were counted.
fn survivors(
    sample: ShardSample,
    sampled: &[u32],
    cells: &Cells,
    threshold: Threshold,
) -> (usize, JoinShard) {
    let mut shard = JoinShard::new(0, sample.sizes);
    let mut start = sample.start;
    for ((&end, &size), alive) in sample.ends.iter().zip(&shard.sizes).zip(&mut shard.alive) {
        let of_document = &sampled[start..end];
        // The size counts repeated terms, too. That can only raise the limit, so no document is
        // dropped wrongly.
        let limit = threshold.max_unshared(size);
        let unmatched = |&cell: &u32| !cells.is_matched(u64::from(cell));
        *alive = size > 0 && unmatched_up_to(of_document, limit, unmatched) <= limit;
        start = end;
    }
    (sample.shard, shard)
}

/// Counts the items for which `is_unmatched` is true. Stops soon after the count exceeds `limit`, and
/// then returns the count so far.
pub(super) fn unmatched_up_to<T>(
    items: &[T],
    limit: u32,
    is_unmatched: impl Fn(&T) -> bool,
) -> u32 {
    let mut found = 0;
    // One check for each chunk keeps branches out of the inner loop, at the price of a few items
    // more.
    for chunk in items.chunks(32) {
        found += chunk.iter().map(|item| u32::from(is_unmatched(item))).sum::<u32>();
        if found > limit {
            break;
        }
    }
    found
}

/// Returns whether the weights of the unmatched terms among `terms` add up to more than `limit`. A term is unmatched if
/// no other set has it, by the counts in `cells`.
pub(super) fn outweighs(
    terms: &[u64],
    limit: u64,
    cells: &Cells,
    weight: impl Fn(u64) -> u32,
) -> bool {
    let mut found = 0;
    terms.iter().any(|&term| {
        if !cells.may_match(term) {
            found += u64::from(weight(term));
        }
        found > limit
    })
}

/// Some documents in memory with their terms, in ascending order of their row numbers.
#[derive(Debug)]
pub(super) struct Stored {
    /// Row number of each document, in ascending order.
    pub(super) rows: Vec<u32>,
    /// For each document, the index behind its last term in `terms`.
    pub(super) ends: Vec<usize>,
    /// The terms of all documents, including repeated terms.
    pub(super) terms: LargeVec<u64>,
}

impl Stored {
    /// Creates an empty list of documents. If there is enough memory, it has room for `terms`
    /// terms. `ledger` counts the memory of the terms.
    pub(super) fn with_capacity(terms: usize, ledger: &Ledger) -> Self {
        let terms = LargeVec::with_capacity(terms, TERMS, ledger);
        Self { rows: Vec::new(), ends: Vec::new(), terms }
    }

    /// Appends a document with its row number and its terms.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn push(&mut self, row: u32, terms: &[u64]) -> Result<()> {
        self.terms.extend_from_slice(terms)?;
        self.rows.push(row);
        self.ends.push(self.terms.len());
        Ok(())
    }

    /// Returns the terms of the document with index `place` in this list of documents.
    pub(super) fn terms_of(&self, place: usize) -> &[u64] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.terms[start..self.ends[place]]
    }

    /// Returns the row number and the terms of each document.
    pub(super) fn documents(&self) -> impl Iterator<Item = (u32, &[u64])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        self.rows.iter().zip(ranges).map(|(&row, (start, &end))| (row, &self.terms[start..end]))
    }

    /// Drops each document for which `keep` is false. The arguments of `keep` are the row number and
    /// the terms of the document.
    fn retain(&mut self, keep: impl Fn(u32, &[u64]) -> bool) {
        let mut start = 0;
        let mut kept = 0;
        let mut kept_terms = 0;
        for document in 0..self.rows.len() {
            let end = self.ends[document];
            if keep(self.rows[document], &self.terms[start..end]) {
                // Terms only move towards the front, so no document overwrites one that was not yet
                // tested.
                self.terms.copy_within(start..end, kept_terms);
                kept_terms += end - start;
                self.rows[kept] = self.rows[document];
                self.ends[kept] = kept_terms;
                kept += 1;
            }
            start = end;
        }
        self.rows.truncate(kept);
        self.ends.truncate(kept);
        self.terms.truncate(kept_terms);
    }
}

/// Counts the terms of documents in memory, and drops documents that cannot have a similar one. Repeats
/// this until a round drops less than a fifth of the terms. Returns the table of cells of the last
/// round.
///
/// A round drops each document for which `may_match` is false. The arguments of `may_match` are the row
/// number, the terms and the table of cells. In a join of two collections, the rows of the second begin
/// at `second_from`.
///
/// # Errors
/// Not enough memory for the table.
pub(super) fn rounds(
    stored: &mut [Stored],
    second_from: Option<u32>,
    context: &Context<'_>,
    may_match: impl Fn(u32, &[u64], &Cells) -> bool + Sync,
) -> Result<Cells> {
    let threads = context.threads();
    let mut round = 1;
    loop {
        let before: usize = stored.iter().map(|shard| shard.terms.len()).sum();
        // In each round, other terms share a counter. So a term that looked matched by mistake can
        // now turn out to be unmatched.
        let mut cells = Cells::new(before as u64 * CELLS_PER_TERM, round, context.memory())?;
        let numbers = cells.numbers();
        let filling = cells.filling();
        threads.try_map(
            stored.len(),
            || filling.writers(second_from.is_some()),
            |writers: &mut [CellWriter<'_, '_>; 2], part| {
                let part = &stored[part];
                // Rows ascend, so a single cut separates the terms of the two sides.
                let first_of_second = second_from
                    .map_or(part.rows.len(), |from| part.rows.partition_point(|&row| row < from));
                let split = first_of_second.checked_sub(1).map_or(0, |last| part.ends[last]);
                for (writer, terms) in
                    writers.iter_mut().zip([&part.terms[..split], &part.terms[split..]])
                {
                    writer.push_all(terms.iter().map(|&term| numbers.of(term)));
                }
                Ok(())
            },
        )?;
        drop(filling);
        threads.map(stored.iter_mut().collect(), |shard: &mut Stored| {
            shard.retain(|row, terms| may_match(row, terms, &cells));
        });
        let after: usize = stored.iter().map(|shard| shard.terms.len()).sum();
        round += 1;
        // A further round would cost a pass over all terms and drop even less than this one.
        if after * 5 >= before * 4 {
            return Ok(cells);
        }
    }
}

/// Returns the number of terms of all documents that may still have a similar one. Repeated terms
/// count.
pub(super) fn living_terms(shards: &[JoinShard]) -> u64 {
    shards.iter().map(JoinShard::living_terms).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_32_bits_cannot_count_is_refused() {
        assert_eq!(document_size(MOST_TERMS).unwrap() as usize, MOST_TERMS);
        let error = document_size(1 << 32).unwrap_err().to_string();
        assert!(error.starts_with("a document of 4294967296 shingles: "), "{error}");
        assert_eq!(row_after(7, (1 << 32) - 8).unwrap(), u32::MAX);
        for (row, documents) in [(7, (1 << 32) - 7), (u32::MAX, 1), (0, 1 << 32), (0, usize::MAX)] {
            let error = row_after(row, documents).unwrap_err().to_string();
            assert!(error.starts_with("documents: must be fewer than 4294967296"), "{error}");
        }
    }

    #[test]
    fn documents_that_are_kept_keep_their_terms() {
        let mut stored = Stored::with_capacity(0, &Ledger::new(0));
        for (row, terms) in [(2, &[5, 6][..]), (3, &[]), (7, &[8]), (9, &[1, 2, 3])] {
            stored.push(row, terms).unwrap();
        }
        stored.retain(|row, terms| row != 2 && !terms.is_empty());
        let documents: Vec<_> = stored.documents().collect();
        assert_eq!(documents, [(7, &[8][..]), (9, &[1, 2, 3])]);
    }
}
