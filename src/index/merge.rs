//! Merges segments and pending documents into one new segment.

use super::kept_recipe::KeptRecipe;
use super::pending::{InputEntry, Pending, merge_repeats};
use crate::index::store::{
    IndexWriter, Origin, Repeats, Segment, SegmentRest, SegmentRows, SegmentWriter,
};
use simtool_base::error::{Error, Result};
use simtool_compute::context::Context;
use simtool_compute::tasks;
use simtool_compute::threads::Threads;
use simtool_hamming::bucket_table::{BucketTable, TableKeys, building_bytes, entry_bytes};
use simtool_model::fingerprint_table::{Fingerprint, Wide};
use std::ops::Range;
use std::sync::Arc;

/// Limit for merging a segment with all newer data, which are the later segments and the pending documents. The segment
/// is merged if its weight (the cost of writing it again) is at most this many times the weight of the newer data. A
/// greater number gives fewer segments to search, but each document is written more often.
const MERGED_TIMES: u64 = 1;
/// Number of bytes of data other than documents, such as counts of repeats, whose writing costs as much as one
/// document.
const DOCUMENT_BYTES: u64 = 64;
/// Minimum weight of the pending documents, which is the cost of writing them, in units of one document. Fewer
/// documents get this weight, too, because opening one more file costs as much as writing this many documents.
const LEAST: u64 = 1024;
/// Maximum difference between the numbers of the last and the first document of a segment.
const MOST_NUMBERS: u64 = u32::MAX as u64;

/// Returns the weight of a segment or of the pending data. The weight is the cost of writing the data again,
/// in units of the cost of one document. `bytes` is the size of the data.
fn weight(documents: usize, bytes: u64) -> u64 {
    (documents as u64).max(bytes / DOCUMENT_BYTES)
}

/// Returns the number of segments to merge with the pending documents, counted from the last segment.
///
/// A segment that is not merged weighs more than all later segments and the pending documents together. So n documents
/// are in O(log n) segments, and each document is written O(log n) times. The merged segment has at most `most_rows`
/// documents. `next_number` is the number that the next added document will get.
pub(super) fn merged_with(
    segments: &[Arc<Segment>],
    pending: &Pending,
    next_number: u64,
    most_rows: u64,
) -> usize {
    let mut rows = pending.len() as u64;
    let mut total = weight(pending.len(), pending.rest_bytes()).max(LEAST);
    let is_merged = |segment: &&Arc<Segment>| {
        let weight = weight(segment.len(), segment.file_bytes());
        // Each merged segment adds to the total, so merging a small segment can make ever larger ones merge
        // as well.
        let grows = weight <= MERGED_TIMES * total;
        total += weight;
        rows += segment.len() as u64;
        // A segment stores document numbers as 32-bit differences from its first number, which limits their
        // range.
        grows && rows <= most_rows && next_number - segment.first() < MOST_NUMBERS
    };
    segments.iter().rev().take_while(is_merged).count()
}

/// Returns the bytes of memory that a merge needs for each document, in addition to [`table_bytes`]. They hold the
/// fingerprint of the document, its number, and a flag that says whether the document is in the merged segment.
fn row_bytes(recipe: &KeptRecipe) -> u64 {
    (recipe.row_words() * size_of::<u64>() + size_of::<u32>() + size_of::<bool>()) as u64
}

/// Returns the bytes of memory that the lookup tables need for each document of the merged segment. These bytes are
/// enough to build one table while another table is written.
fn table_bytes() -> u64 {
    (building_bytes(usize::MAX) + entry_bytes(usize::MAX)) as u64
}

/// Returns the maximum number of documents that can be merged in `memory` bytes of memory.
pub(super) fn most_rows(recipe: &KeptRecipe, memory: u64) -> u64 {
    memory / (row_bytes(recipe) + table_bytes())
}

/// Checks that `rows` documents can be merged in `memory` bytes.
///
/// # Errors
///
/// The memory is too small.
pub(super) fn check_memory(rows: u64, recipe: &KeptRecipe, memory: u64) -> Result<()> {
    if rows <= most_rows(recipe, memory) {
        return Ok(());
    }
    let enough = rows * (row_bytes(recipe) + table_bytes());
    let rule = format!(
        "`max_memory` of {memory} bytes is too little to put them together. {}M is enough for that",
        enough.div_ceil(1_000_000)
    );
    Err(Error::limit(format!("{rows} documents"), rule))
}

/// Returns the number of lookup tables that can be built at the same time for a segment of `rows` documents.
/// It is at least one, and limited by the memory and the threads.
fn tables_at_once(rows: usize, recipe: &KeptRecipe, context: &Context<'_>) -> usize {
    let rows = (rows as u64).max(1);
    let memory = context.memory().limit();
    let room = memory.saturating_sub(rows * row_bytes(recipe)) / (rows * table_bytes());
    usize::try_from(room).unwrap_or(usize::MAX).clamp(1, context.threads().count())
}

/// Merger of segments (files of the index) and of pending documents, which are not in a segment yet. It writes them
/// into one new segment, without the documents in `removed`.
#[derive(Clone, Copy)]
pub(super) struct SegmentMerger<'m> {
    /// Numbers of removed documents, ascending.
    pub(super) removed: &'m [u64],
    pub(super) recipe: &'m KeptRecipe,
    pub(super) context: &'m Context<'m>,
}

impl SegmentMerger<'_> {
    /// Merges the last `merged` segments and all pending data, which is not in a segment yet, into one new segment.
    /// Leaves out the removed documents.
    pub(super) fn seal(
        &self,
        writer: &mut IndexWriter,
        merged: usize,
        pending: &mut Pending,
    ) -> Result<()> {
        let &Self { removed, recipe, context } = self;
        let segments = writer.folder().segments();
        let segments = segments[segments.len() - merged..].to_vec();
        let pending_first = writer.next_number();
        let next_number = pending_first + pending.len() as u64;
        let first = segments.first().map_or(pending_first, |segment| segment.first());
        let row_words = recipe.row_words();

        let most = segments.iter().map(|segment| segment.len()).sum::<usize>() + pending.len();
        let mut rows = MergedRows {
            first,
            row_words,
            removed,
            words: Vec::with_capacity(most * row_words),
            numbers: Vec::with_capacity(most),
            rest: SegmentRest::default(),
        };
        let mut inputs = Vec::new();
        // For each segment, whether each of its documents stays.
        let mut kept: Vec<Vec<bool>> = Vec::with_capacity(merged);
        for segment in &segments {
            kept.push(rows.push_segment(segment)?);
            inputs.push(segment.inputs()?);
        }
        let pending_inputs = rows.push_pending(pending, pending_first, recipe.reach.shape.words());
        // Pending entries must come last, because a later entry about an input replaces an earlier one.
        inputs.push(&pending_inputs);
        rows.rest.inputs = InputEntry::merged(&inputs);

        let stored = SegmentRows::new(first, &rows.numbers, row_words, &rows.words);
        let pushed: &Pending = pending;
        let write_ids = |segment: &mut SegmentWriter<'_>| {
            for (old, stays) in segments.iter().zip(&kept) {
                segment.push_ids_of(old, stays)?;
            }
            (0..pushed.len()).try_for_each(|row| segment.push_id(pushed.id(row)))?;
            segment.end_ids()
        };
        let write = &mut |segment: &mut SegmentWriter<'_>| {
            write_ids_and_tables(segment, &write_ids, &rows.words, recipe, context)
        };
        writer.push_segment(merged, &stored, &rows.rest, next_number, write)?;
        *pending = Pending::default();
        Ok(())
    }
}

/// Fingerprints and other data of the new segment. They are collected from the segments and pending data that
/// are merged.
struct MergedRows<'r> {
    /// Number of the first document of the new segment.
    first: u64,
    row_words: usize,
    /// Numbers of the documents that are left out of the new segment because they were removed, ascending.
    removed: &'r [u64],
    words: Vec<u64>,
    /// For each document, the difference of its number from `first`.
    numbers: Vec<u32>,
    rest: SegmentRest,
}

impl MergedRows<'_> {
    fn is_removed(&self, number: u64) -> bool {
        self.removed.binary_search(&number).is_ok()
    }

    /// Appends the documents of an old segment that were not removed. Returns for each document whether it stays.
    fn push_segment(&mut self, segment: &Segment) -> Result<Vec<bool>> {
        let rows = segment.len();
        let words = segment.words()?;
        let stays: Vec<bool> = (0..rows).map(|row| !self.is_removed(segment.number(row))).collect();
        segment.check()?;
        append_origins(&mut self.rest.origins, segment.origins()?, &stays, self.numbers.len());
        if stays.iter().all(|&stays| stays) {
            // Usually no document was removed, and all words can be copied at once.
            self.words.extend_from_slice(words);
            self.numbers.extend((0..rows).map(|row| (segment.number(row) - self.first) as u32));
        } else {
            for row in (0..rows).filter(|&row| stays[row]) {
                let place = row * self.row_words..(row + 1) * self.row_words;
                self.words.extend_from_slice(&words[place]);
                self.numbers.push((segment.number(row) - self.first) as u32);
            }
        }
        segment.check()?;
        self.rest.repeats.extend_from_slice(segment.repeats()?);
        self.rest.removed.extend_from_slice(segment.removed()?);
        Ok(stays)
    }

    /// Appends all pending data. Drops the repeats of removed documents, and the removals of documents that the new
    /// segment leaves out. `first` is the number of the first pending document. Each pending fingerprint has
    /// `own_words` words. Returns the pending entries about input files.
    fn push_pending(&mut self, pending: &mut Pending, first: u64, own_words: usize) -> Vec<u8> {
        let rest = pending.take_rest();
        let stays = vec![true; pending.len()];
        append_origins(&mut self.rest.origins, &rest.origins, &stays, self.numbers.len());
        let offset = first - self.first;
        self.numbers.extend((0..pending.len()).map(|row| (offset + row as u64) as u32));
        for row in pending.words.chunks_exact(own_words) {
            self.words.extend_from_slice(row);
            // Stored fingerprints may be padded, so they can have more words than pending ones.
            self.words.resize(self.words.len().next_multiple_of(self.row_words), 0);
        }
        self.rest.repeats.extend(rest.repeats);
        let removed = self.removed;
        let is_removed = |repeats: &Repeats| removed.binary_search(&repeats.number).is_ok();
        // Removed documents are never reported, so their repeats are of no use.
        self.rest.repeats.retain(|repeats| !is_removed(repeats));
        // Several segments may have repeats of the same document. One entry for each document and source
        // remains.
        merge_repeats(&mut self.rest.repeats);
        self.rest.removed.extend(rest.removed);
        self.rest.removed.sort_unstable();
        // Removed documents of the merged segments are gone now. Removals of documents in earlier segments
        // must be kept.
        let first = self.first;
        self.rest.removed.retain(|&number| number < first);
        rest.inputs
    }
}

/// Appends the sources and times in `more` to `origins`, except those of removed documents. `stays` says for
/// each document whether it stays. The first document that stays becomes row `next` of the new segment.
fn append_origins(origins: &mut Vec<Origin>, more: &[Origin], stays: &[bool], next: usize) {
    let mut row = next as u32;
    for (at, origin) in more.iter().enumerate() {
        // An origin applies up to the row of the next one. Both are limited to the rows that exist, so that
        // damaged numbers cannot cause a panic.
        let end = more.get(at + 1).map_or(stays.len(), |next| stays.len().min(next.row as usize));
        let start = (origin.row as usize).min(end);
        let count = stays[start..end].iter().filter(|&&stays| stays).count() as u32;
        if count > 0 {
            Origin { row, ..*origin }.push(origins);
        }
        row += count;
    }
}

/// Function that writes the IDs of all documents of a segment.
type WriteIds<'w> = dyn Fn(&mut SegmentWriter<'_>) -> Result<()> + Sync + 'w;

/// Writes the IDs of a segment by `write_ids`, and its lookup tables if the index has any. `words` holds the
/// fingerprints, from which the tables are made.
pub(super) fn write_ids_and_tables(
    segment: &mut SegmentWriter<'_>,
    write_ids: &WriteIds<'_>,
    words: &[u64],
    recipe: &KeptRecipe,
    context: &Context<'_>,
) -> Result<()> {
    let Some(keys) = &recipe.tables else { return write_ids(segment) };
    let rows = words.len() / recipe.row_words();
    let workers = (context.threads(), tables_at_once(rows, recipe, context));
    match recipe.row_words() {
        1 => write_with_tables::<u64>(segment, write_ids, words, keys, workers),
        2 => write_with_tables::<Wide<2>>(segment, write_ids, words, keys, workers),
        4 => write_with_tables::<Wide<4>>(segment, write_ids, words, keys, workers),
        _ => write_with_tables::<Wide<8>>(segment, write_ids, words, keys, workers),
    }
}

/// Writes the IDs by `write_ids`, and the lookup tables of the fingerprints in `words`. While some tables are written,
/// the next `at_once` tables are built.
fn write_with_tables<L: Fingerprint>(
    segment: &mut SegmentWriter<'_>,
    write_ids: &WriteIds<'_>,
    words: &[u64],
    keys: &TableKeys,
    (workers, at_once): (&Threads, usize),
) -> Result<()> {
    let values: &[L] = bytemuck::cast_slice(words);
    let make = |tables: Range<usize>| -> Result<Vec<_>> {
        let made =
            tasks::map_items(tables.collect(), |table| BucketTable::new(values, keys, table));
        made.into_iter().collect()
    };
    // Building tables needs the processor and writing needs the disk, so both are done at the same time. Each pass of
    // the loop writes the tables that the pass before has built. The first pass has no tables yet and writes the IDs.
    let mut made: Option<Vec<BucketTable<L>>> = None;
    let mut first = 0;
    loop {
        let numbers = first..(first + at_once).min(keys.tables());
        first = numbers.end;
        let write = || match &made {
            Some(tables) => tables
                .iter()
                .map(BucketTable::parts)
                .try_for_each(|table| segment.push_table(&table.starts, &table.entries)),
            None => write_ids(segment),
        };
        let (written, next) = workers.run(|| rayon::join(write, || make(numbers)))?;
        written?;
        let next = next?;
        if next.is_empty() {
            return Ok(());
        }
        made = Some(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_move_with_the_rows_that_stay() {
        let origin = |row, source| Origin { row, source, time: 9 };
        let mut origins = vec![origin(0, 1)];
        let more = [origin(0, 1), origin(2, 2), origin(3, 1)];
        append_origins(&mut origins, &more, &[false, true, false, true, true], 4);
        assert_eq!(origins, [origin(0, 1)]);
        append_origins(&mut origins, &more, &[false, true, true, true, false], 7);
        assert_eq!(origins, [origin(0, 1), origin(8, 2), origin(9, 1)]);
    }
}
