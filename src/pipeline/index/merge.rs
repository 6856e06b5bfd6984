//! Segments and what is pending, put together to one segment.

use super::kept_recipe::KeptRecipe;
use super::pending::{Input, Pending, merge_repeats};
use crate::store::{IndexWriter, Origin, Segment, SegmentRest, SegmentRows, SegmentWriter};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use simtool_base::error::{Error, Result};
use simtool_compute::context::Context;
use simtool_compute::threads::Threads;
use simtool_hamming::bucket_table::{Table, TableKeys, building_bytes, entry_bytes};
use simtool_model::fingerprint_table::{Lane, Wide};
use std::ops::Range;
use std::sync::Arc;

/// How many times as large as what follows it a segment may be and still be merged with it: with more,
/// there are fewer segments to look in, and each document is written more often.
const MERGED_TIMES: u64 = 1;
/// Bytes of repeats and the like that weigh as much as a document.
const DOCUMENT_BYTES: u64 = 64;
/// What a commit weighs at least: segments that are smaller cost no more to be written again than to be
/// one more file.
const LEAST: u64 = 1024;
/// Numbers that a segment may span.
const MOST_NUMBERS: u64 = u32::MAX as u64;

/// What documents, and so many bytes with all that is known of them, cost to be written again, in
/// documents.
fn weight(documents: usize, bytes: u64) -> u64 {
    (documents as u64).max(bytes / DOCUMENT_BYTES)
}

/// How many of the last segments are to be merged with what is pending: so many that segments grow at
/// least twofold on the way to the first, and each document and repeat is written O(log n) times; of
/// `most_rows` at most.
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
        let grows = weight <= MERGED_TIMES * total;
        total += weight;
        rows += segment.len() as u64;
        grows && rows <= most_rows && next_number - segment.first() < MOST_NUMBERS
    };
    segments.iter().rev().take_while(is_merged).count()
}

/// Bytes of memory for a row that is merged, beside tables: its words, its number, whether it stays.
fn row_bytes(recipe: &KeptRecipe) -> u64 {
    (recipe.row_words() * size_of::<u64>() + size_of::<u32>() + size_of::<bool>()) as u64
}

/// Bytes of memory for a row of a table that is made while the one before it is written.
fn table_bytes() -> u64 {
    (building_bytes(usize::MAX) + entry_bytes(usize::MAX)) as u64
}

/// Rows that can be merged in so many bytes of memory.
pub(super) fn most_rows(recipe: &KeptRecipe, memory: u64) -> u64 {
    memory / (row_bytes(recipe) + table_bytes())
}

/// That so many rows can be put together in so many bytes of memory.
///
/// # Errors
///
/// They cannot.
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

/// How many tables of so many rows are made at a time: one at the least.
fn tables_at_once(rows: usize, recipe: &KeptRecipe, context: &Context<'_>) -> usize {
    let rows = (rows as u64).max(1);
    let memory = context.memory().limit();
    let room = memory.saturating_sub(rows * row_bytes(recipe)) / (rows * table_bytes());
    usize::try_from(room).unwrap_or(usize::MAX).clamp(1, context.threads().count())
}

/// Puts the last `merged` segments and all that is pending into a new segment, without documents that
/// were removed, of which there is a list, ascending.
pub(super) fn seal(
    writer: &mut IndexWriter,
    merged: usize,
    pending: &mut Pending,
    removed: &[u64],
    recipe: &KeptRecipe,
    context: &Context<'_>,
) -> Result<()> {
    let segments = writer.folder().segments();
    let segments = segments[segments.len() - merged..].to_vec();
    let pending_first = writer.next_number();
    let next_number = pending_first + pending.len() as u64;
    let first = segments.first().map_or(pending_first, |segment| segment.first());
    let row_words = recipe.row_words();
    let is_removed = |number: u64| removed.binary_search(&number).is_ok();

    let most = segments.iter().map(|segment| segment.len()).sum::<usize>() + pending.len();
    let mut words: Vec<u64> = Vec::with_capacity(most * row_words);
    let mut numbers: Vec<u32> = Vec::with_capacity(most);
    let (mut rest, mut inputs) = (SegmentRest::default(), Vec::new());
    // The rows of each segment that stay.
    let mut kept: Vec<Vec<bool>> = Vec::with_capacity(merged);
    for segment in &segments {
        let (rows, their_words) = (segment.len(), segment.words()?);
        let stays: Vec<bool> = (0..rows).map(|row| !is_removed(segment.number(row))).collect();
        segment.check()?;
        append_origins(&mut rest.origins, segment.origins()?, &stays, numbers.len());
        if stays.iter().all(|&stays| stays) {
            words.extend_from_slice(their_words);
            numbers.extend((0..rows).map(|row| (segment.number(row) - first) as u32));
        } else {
            for row in (0..rows).filter(|&row| stays[row]) {
                words.extend_from_slice(&their_words[row * row_words..(row + 1) * row_words]);
                numbers.push((segment.number(row) - first) as u32);
            }
        }
        segment.check()?;
        rest.repeats.extend_from_slice(segment.repeats()?);
        rest.removed.extend_from_slice(segment.removed()?);
        inputs.push(segment.inputs()?);
        kept.push(stays);
    }
    let pending_rest = pending.take_rest();
    let stays = vec![true; pending.len()];
    append_origins(&mut rest.origins, &pending_rest.origins, &stays, numbers.len());
    numbers.extend((0..pending.len()).map(|row| (pending_first - first + row as u64) as u32));
    for row in pending.words.chunks_exact(recipe.reach.shape.words()) {
        words.extend_from_slice(row);
        words.resize(words.len().next_multiple_of(row_words), 0);
    }
    rest.repeats.extend(pending_rest.repeats);
    rest.repeats.retain(|repeats| !is_removed(repeats.number));
    merge_repeats(&mut rest.repeats);
    rest.removed.extend(pending_rest.removed);
    rest.removed.sort_unstable();
    // Those that were here are gone; others still are in their segments.
    rest.removed.retain(|&number| number < first);
    inputs.push(&pending_rest.inputs);
    rest.inputs = Input::merged(&inputs);

    let rows = SegmentRows::new(first, &numbers, row_words, &words);
    let pushed: &Pending = pending;
    let write_ids = |segment: &mut SegmentWriter<'_>| {
        for (old, stays) in segments.iter().zip(&kept) {
            segment.push_ids_of(old, stays)?;
        }
        (0..pushed.len()).try_for_each(|row| segment.push_id(pushed.id(row)))?;
        segment.end_ids()
    };
    let write = &mut |segment: &mut SegmentWriter<'_>| {
        write_ids_and_tables(segment, &write_ids, &words, recipe, context)
    };
    writer.push_segment(merged, &rows, &rest, next_number, write)?;
    *pending = Pending::default();
    Ok(())
}

/// Appends the origins of the rows that stay, of which the first will be row `next`.
fn append_origins(origins: &mut Vec<Origin>, more: &[Origin], stays: &[bool], next: usize) {
    let mut row = next as u32;
    for (at, origin) in more.iter().enumerate() {
        let end = more.get(at + 1).map_or(stays.len(), |next| stays.len().min(next.row as usize));
        let start = (origin.row as usize).min(end);
        let count = stays[start..end].iter().filter(|&&stays| stays).count() as u32;
        if count > 0 {
            Origin { row, ..*origin }.push(origins);
        }
        row += count;
    }
}

/// What writes the IDs of a segment.
type WriteIds<'w> = dyn Fn(&mut SegmentWriter<'_>) -> Result<()> + Sync + 'w;

/// Writes IDs, and the tables of rows as they are stored, if rows are looked up in tables.
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

/// Makes `at_once` tables at a time, while what was there before is written.
fn write_with_tables<L: Lane>(
    segment: &mut SegmentWriter<'_>,
    write_ids: &WriteIds<'_>,
    words: &[u64],
    keys: &TableKeys,
    (workers, at_once): (&Threads, usize),
) -> Result<()> {
    let values: &[L] = bytemuck::cast_slice(words);
    let make = |tables: Range<usize>| -> Result<Vec<_>> {
        tables.into_par_iter().map(|table| Table::new(values, keys, table)).collect()
    };
    let mut made: Option<Vec<Table<L>>> = None;
    let mut first = 0;
    loop {
        let numbers = first..(first + at_once).min(keys.tables());
        first = numbers.end;
        let write = || match &made {
            Some(tables) => tables
                .iter()
                .map(Table::parts)
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
