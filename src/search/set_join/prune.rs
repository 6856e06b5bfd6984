//! Rounds that drop the sets that cannot have a partner.
//!
//! A set with a partner at threshold t shares at least t of its elements, so a set with more
//! unmatched terms than that leaves is dropped; what only dropped sets had is unmatched in the
//! next round. The first round looks at a sample of the terms, chosen by their hashes: the bound
//! on unmatched terms holds for any part of a set, so the sample costs survivors, never pairs.

use super::cells::{Cells, Note, Writer};
use super::workers::Workers;
use super::{Sources, TermSource as _};
use crate::error::Result;
use crate::similarity::Threshold;

/// Cells per term that is counted. More cells make fewer false matches and more cache misses.
const CELLS_PER_TERM: u64 = 5;

/// Eighths of the terms that the first round looks at; all of them where the sample would let
/// too many sets pass.
fn sample_eighths(threshold: Threshold) -> u64 {
    // The share of a set that may be unmatched, in thousandths.
    let unmatched = u64::from(threshold.max_unshared(1000));
    (unmatched * 8 * 17).div_ceil(10 * 1000).clamp(1, 8)
}

/// What is known of the documents of a shard after the first reading.
#[derive(Debug)]
pub(super) struct Shard {
    /// The row of its first document.
    pub(super) first_row: u32,
    /// Occurrences of terms, by document.
    pub(super) sizes: Vec<u32>,
    /// Whether a document may have a partner, by document.
    pub(super) alive: Vec<bool>,
    /// For living documents, by document: equal texts have equal signatures.
    pub(super) signatures: Vec<u64>,
}

/// A shard's sampled terms as cell numbers.
#[derive(Default)]
struct Sample {
    sizes: Vec<u32>,
    ends: Vec<usize>,
    cells: Vec<u32>,
}

/// The first round, over all documents.
///
/// # Errors
/// Those of the source.
pub(super) fn first_round(
    sources: &Sources<'_>,
    threshold: Threshold,
    workers: Workers<'_>,
) -> Result<Vec<Shard>> {
    let eighths = sample_eighths(threshold);
    let expected = sources.term_count_hint() * eighths / 8;
    let mut cells = Cells::new(expected * CELLS_PER_TERM, 0);
    let numbers = cells.numbers();
    let filling = cells.filling();
    let samples = workers.try_map(
        sources.shard_count(),
        || notes(sources.second.is_some()).map(|note| filling.writer(note)),
        |writers: &mut [Writer<'_, '_>; 2], shard| {
            let writer = &mut writers[sources.side(shard)];
            let mut sample = Sample::default();
            sources.visit_shard(shard, &|_| true, &mut |_, terms| {
                let from = sample.cells.len();
                sample.cells.resize(from + terms.len(), 0);
                let mut end = from;
                for &term in terms {
                    sample.cells[end] = numbers.of(term);
                    end += usize::from(term & 7 < eighths);
                }
                sample.cells.truncate(end);
                sample.cells[from..].iter().for_each(|&cell| writer.push(cell));
                sample.sizes.push(terms.len() as u32);
                sample.ends.push(end);
            })?;
            Ok(sample)
        },
    )?;
    drop(filling);

    let mut shards = workers.map_items(samples, |sample| survivors(sample, &cells, threshold));
    let mut row = 0;
    for shard in &mut shards {
        shard.first_row = row;
        row += shard.sizes.len() as u32;
    }
    Ok(shards)
}

/// What the terms of each side leave in the cells.
fn notes(across: bool) -> [Note; 2] {
    if across { [Note::First, Note::Second] } else { [Note::Occurrence; 2] }
}

/// Which documents of the sample may have a partner.
fn survivors(sample: Sample, cells: &Cells, threshold: Threshold) -> Shard {
    let mut shard = Shard {
        first_row: 0,
        alive: Vec::with_capacity(sample.sizes.len()),
        signatures: Vec::with_capacity(sample.sizes.len()),
        sizes: sample.sizes,
    };
    let mut start = 0;
    for (&end, &size) in sample.ends.iter().zip(&shard.sizes) {
        let of_document = &sample.cells[start..end];
        let limit = threshold.max_unshared(size) as usize;
        let alive = size > 0 && !exceeds(of_document, limit, |&cell| !cells.is_matched(cell));
        shard.alive.push(alive);
        let bytes = if alive { bytemuck::cast_slice(of_document) } else { &[] };
        shard.signatures.push(crate::stable_hash::hash(bytes));
        start = end;
    }
    shard
}

/// Whether more than `limit` of the items are unmatched.
fn exceeds<T>(items: &[T], limit: usize, unmatched: impl Fn(&T) -> bool) -> bool {
    let mut found = 0;
    items.chunks(32).any(|chunk| {
        found += chunk.iter().filter(|item| unmatched(item)).count();
        found > limit
    })
}

/// Terms of documents in memory, in reading order.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Rows of the documents, ascending.
    pub(super) rows: Vec<u32>,
    /// Where each document's terms end.
    pub(super) ends: Vec<usize>,
    /// The terms, one per occurrence.
    pub(super) terms: Vec<u64>,
}

impl Stored {
    pub(super) fn push(&mut self, row: u32, terms: &[u64]) {
        self.terms.extend_from_slice(terms);
        self.rows.push(row);
        self.ends.push(self.terms.len());
    }

    /// Rows and terms of the documents.
    pub(super) fn documents(&self) -> impl Iterator<Item = (u32, &[u64])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        self.rows.iter().zip(ranges).map(|(&row, (start, &end))| (row, &self.terms[start..end]))
    }

    /// Drops the documents for which `keep` is false.
    fn retain(&mut self, keep: impl Fn(&[u64]) -> bool) {
        let (mut start, mut kept, mut kept_terms) = (0, 0, 0);
        for document in 0..self.rows.len() {
            let end = self.ends[document];
            if keep(&self.terms[start..end]) {
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

/// Rounds over documents in memory, until one drops less than a fifth of the terms. Returns the
/// cells of the last round. With two sides, those of the second have rows from `second_from`.
pub(super) fn rounds(
    stored: &mut [Stored],
    second_from: Option<u32>,
    threshold: Threshold,
    workers: Workers<'_>,
) -> Cells {
    let mut round = 1;
    loop {
        let before: usize = stored.iter().map(|shard| shard.terms.len()).sum();
        let mut cells = Cells::new(before as u64 * CELLS_PER_TERM, round);
        let numbers = cells.numbers();
        let filling = cells.filling();
        workers.map(
            stored.len(),
            || notes(second_from.is_some()).map(|note| filling.writer(note)),
            |writers: &mut [Writer<'_, '_>; 2], part| {
                // All documents of a part are of one side.
                let first_row = stored[part].rows.first();
                let second = second_from.zip(first_row).is_some_and(|(from, &row)| row >= from);
                let writer = &mut writers[usize::from(second)];
                stored[part].terms.iter().for_each(|&term| writer.push(numbers.of(term)));
            },
        );
        drop(filling);
        workers.map_items(stored.iter_mut().collect(), |shard: &mut Stored| {
            shard.retain(|terms| {
                let limit = threshold.max_unshared(terms.len() as u32) as usize;
                !exceeds(terms, limit, |&term| !cells.is_matched(numbers.of(term)))
            });
        });
        let after: usize = stored.iter().map(|shard| shard.terms.len()).sum();
        round += 1;
        if after * 5 >= before * 4 {
            return cells;
        }
    }
}
