//! Compares candidate pairs term by term if their documents do not fit in memory together, and most documents have few
//! pairs. Only one document of each pair is in memory, and the other is compared with it while it is read. Copies of a
//! document are usually in pairs with only one or two kept documents. So the kept documents fit in memory even if the
//! copies do not.

use super::candidate_links::marked;
use super::compare_terms::TermComparison;
use super::pair_order::Candidate;
use super::term_source::{TermSource as _, Wanted};
use crate::close::SetPair;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_model::distinct_terms::DistinctTerms;
use std::sync::atomic::AtomicU32;

/// Number of terms of stored documents that take as much memory as one term in [`TermComparison::fitting`]. That field
/// plans with a table of the terms, but stored terms are in no table.
const TERMS_A_FITTING: u64 = 2;

/// A candidate pair as it is compared. All numbers are indices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    /// Batch of the stored document.
    batch: u32,
    /// Document that is compared while it is read.
    read: u32,
    /// Document whose terms are in memory.
    stored: u32,
    pair: u32,
}

impl TermComparison<'_> {
    /// Compares pairs, and returns the similar ones in ascending order. `pairs` holds indices into `rows`, in ascending
    /// order. `sizes` has the number of terms of each document in `rows`. Writes the number of distinct terms of each
    /// document to `sizes_of`, by row number.
    ///
    /// # Complexity
    /// O(terms of the pairs). Each document is read twice at most, unless the stored documents do not fit in memory.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    pub(super) fn streamed(
        &self,
        pairs: &[Candidate],
        rows: &[u32],
        sizes: &[u64],
        sizes_of: &mut [u32],
    ) -> Result<LargeBuffer<SetPair>> {
        let links = self.stored_and_read(pairs, sizes);
        let (shared, _held) = self.shared_counts(pairs.len())?;
        for of_batch in links.chunk_by(|one, other| one.batch == other.batch) {
            self.compare_while_reading(of_batch, rows, &shared, sizes_of)?;
        }
        self.found(pairs, &shared, rows)
    }

    /// Decides which document of each pair is stored in memory. The other document is compared while it is read.
    /// Divides the stored documents into batches that fit in memory. Returns the pairs, sorted by the batch of the
    /// stored document and then by the other document.
    fn stored_and_read(&self, pairs: &[Candidate], sizes: &[u64]) -> Vec<Link> {
        let mut counts = vec![0_u32; sizes.len()];
        for &place in pairs.as_flattened() {
            counts[place as usize] += 1;
        }
        // A document with many pairs takes the place of many others in memory.
        let stored_and_read = |&[a, b]: &Candidate| {
            if counts[b as usize] > counts[a as usize] { [b, a] } else { [a, b] }
        };
        let is_stored = marked(pairs.iter().map(|pair| stored_and_read(pair)[0]), sizes.len());
        let (mut batch, mut terms) = (0, 0);
        let mut batches = vec![0_u32; sizes.len()];
        for place in (0..sizes.len()).filter(|&place| is_stored[place]) {
            if terms > 0 && terms + sizes[place] > self.fitting * TERMS_A_FITTING {
                (batch, terms) = (batch + 1, 0);
            }
            terms += sizes[place];
            batches[place] = batch;
        }
        let link = |(number, pair)| {
            let [stored, read] = stored_and_read(pair);
            Link { batch: batches[stored as usize], read, stored, pair: number }
        };
        let mut links: Vec<Link> = (0..).zip(pairs).map(link).collect();
        self.context.threads().sort_by_key(&mut links, |&link| link);
        links
    }

    /// Reads the stored documents of one batch of pairs into memory. Then reads the other documents of these pairs, and
    /// compares each with its stored documents. Writes the number of shared terms of each similar pair to `shared`, and
    /// the number of distinct terms of each document to `sizes_of`, by row number.
    fn compare_while_reading(
        &self,
        links: &[Link],
        rows: &[u32],
        shared: &[AtomicU32],
        sizes_of: &mut [u32],
    ) -> Result<()> {
        let is_stored = marked(links.iter().map(|link| link.stored), rows.len());
        let documents = self.read(&is_stored, rows)?;
        self.begin_reading();
        let read_sizes = self.context.threads().try_fold(
            self.shards.len(),
            || Ok((DistinctTerms::default(), Vec::new())),
            |(table, read_sizes), number| {
                let shard = &self.shards[number];
                let row_of = |link: &Link| rows[link.read as usize];
                let before = |links: &[Link], row| links.partition_point(|link| row_of(link) < row);
                let own = &links[before(links, shard.first_row)..before(links, shard.end_row())];
                if own.is_empty() {
                    // A shard that is skipped counts as done. Otherwise the stage would never reach its end.
                    self.context.progress().advance(self.sources.shard_bytes(number));
                    return Ok(());
                }
                self.context.check_cancelled()?;
                let of_document = |index: u32| {
                    let row = shard.first_row + index;
                    &own[before(own, row)..before(own, row + 1)]
                };
                let is_read = |index: u32| !of_document(index).is_empty();
                self.sources.try_visit(number, Wanted::Some(&is_read), &mut |index, terms| {
                    let size = table.replace(terms)?.len() as u32;
                    read_sizes.push((shard.first_row + index, size));
                    for link in of_document(index) {
                        let terms = documents.terms_of(link.stored);
                        let sizes = [size, terms.len() as u32];
                        let needed = self.threshold.min_shared(size, sizes[1]) as usize;
                        if let Some(found) = table.count_if_enough(terms, needed) {
                            self.judge(sizes, found, &shared[link.pair as usize]);
                        }
                    }
                    Ok(())
                })
            },
        )?;
        for (row, size) in read_sizes.into_iter().flat_map(|(_, sizes)| sizes) {
            sizes_of[row as usize] = size;
        }
        documents.write_sizes(rows, sizes_of);
        Ok(())
    }
}
