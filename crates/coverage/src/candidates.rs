//! The counting pass: finds the few documents whose runs occur elsewhere, so that they may be removed. A run is a
//! sequence of n consecutive words.
//!
//! All runs are counted in a table of two-bit cells ([`Cells`]). A run that occurs once is in no other document. In
//! real text, a few runs of a document often show that it must stay, because too many of its words are only in runs
//! that occur once. Such a document is not read again for this decision. Runs that share a cell look repeated. So too
//! many documents may remain, but never too few.

use crate::groups::DocumentGroups;
use crate::loss::{LossRule, RunWindow};
use crate::run_table::{MOST_RUNS, RUNS};
use crate::sources::Sources;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::{LargeBuffer, reserve};
use simtool_base::memory_ledger::Reservation;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_set_join::{Cells, Wanted};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of cells for each run in the table that counts runs. A cell is a two-bit counter, and a run is a sequence of
/// n consecutive words.
const CELLS_A_RUN: u64 = 5;
/// Number of consecutive runs that are tested first, in the middle of a document and at its end. For most documents,
/// these runs already show that the document must stay. The beginning is not tested, because documents often begin with
/// the same words.
const WINDOW: usize = 24;
/// Number of runs of a candidate whose counts are looked up first when the candidate is read again. A candidate is a
/// document that may be removed.
const FIRST_LOOK: usize = 64;
/// Divisor of the free memory. The table that counts runs takes at most the free memory divided by this number.
const CELLS_PART: u64 = 2;
/// Bytes of memory for each run of a candidate, if the hash of the run is kept in memory. They hold its number and its
/// slot in the table. For each different run, they also hold the hash, the bits of the filter, and counts such as the
/// number of documents that have it.
pub(crate) const BYTES_A_KEPT_RUN: u64 = 30;
/// Bytes of memory for each run of a candidate if only the number of the run is kept: this number, and for each
/// different run counts such as the number of documents that have it.
pub(crate) const BYTES_A_NUMBERED_RUN: u64 = 13;

/// Documents of a shard, which is a part of the collection that is read on its own.
#[derive(Debug)]
pub(crate) struct Shard {
    /// Row number of the first document. Row numbers count the documents of all shards, from 0.
    pub(crate) first_row: u32,
    /// Number of runs of each document. A run is a sequence of n consecutive words.
    pub(crate) sizes: Vec<u32>,
    /// Whether each document may be removed, as far as is known so far.
    pub(crate) is_candidate: Vec<bool>,
}

/// The documents of a collection after their runs were counted. The documents that may then still be removed are called
/// candidates, and are marked in `shards`.
pub(crate) struct Candidates<'s> {
    pub(crate) sources: Sources<'s>,
    pub(crate) groups: DocumentGroups,
    pub(crate) shards: Vec<Shard>,
    pub(crate) context: &'s Context<'s>,
}

/// Hashes of the runs of the candidates in each shard, one document after the other. They are kept if they fit in
/// memory, so that the candidates are not read again.
pub(crate) struct KeptRuns {
    pub(crate) of_shards: Vec<LargeBuffer<u64>>,
    pub(crate) memory: Reservation,
}

/// Result of the first reading of a collection: its documents, and the table that shows which runs may be in several
/// documents.
pub(crate) struct Counting<'s> {
    sources: Sources<'s>,
    rule: LossRule,
    context: &'s Context<'s>,
    shards: Vec<Shard>,
    cells: Cells,
}

/// Documents of a shard after the first reading: the number of runs of each document, and the numbers of the cells for
/// the runs in its [`windows`], one document after the other. A cell is the two-bit counter of a run.
struct Counted {
    sizes: Vec<u32>,
    cells: Vec<u32>,
}

impl Counted {
    /// Returns for each document whether it may be removed, as far as the runs in its middle and at its end show.
    /// `cells` are the counts of all runs.
    fn candidates(&self, rule: LossRule, cells: &Cells) -> Vec<bool> {
        let mut rest = &self.cells[..];
        let (mut of_middle, mut of_end) = (Vec::new(), Vec::new());
        let mut may_go = |&runs: &u32| {
            let runs = runs as usize;
            let [middle, end] = windows(runs);
            let (middle_cells, others) = rest.split_at(middle.len());
            let (end_cells, others) = others.split_at(end.len());
            rest = others;
            of_end.clear();
            cells.look_up(end_cells.iter().map(|&cell| u64::from(cell)), &mut of_end);
            let at_end = RunWindow { start: end.start, is_kept: &of_end };
            let may_go = rule.may_go(&[at_end], runs);
            // The last window often decides alone. Each look at the table waits for memory.
            if !may_go || middle.is_empty() {
                return may_go;
            }
            of_middle.clear();
            cells.look_up(middle_cells.iter().map(|&cell| u64::from(cell)), &mut of_middle);
            let in_middle = RunWindow { start: middle.start, is_kept: &of_middle };
            rule.may_go(&[at_end, in_middle], runs)
        };
        self.sizes.iter().map(&mut may_go).collect()
    }
}

impl Shard {
    /// Returns the row number and the number of runs of each document that may be removed.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (u32, usize)> {
        let sizes = self.sizes.iter().zip(&self.is_candidate);
        let rows = (self.first_row..).zip(sizes);
        rows.filter(|(_, (_, is_one))| **is_one).map(|(row, (&size, _))| (row, size as usize))
    }

    /// Returns whether the document with row number `row` may be removed.
    pub(crate) fn is_candidate(&self, row: u32) -> bool {
        self.is_candidate.get((row - self.first_row) as usize) == Some(&true)
    }

    /// Returns the number of runs of all documents that may be removed.
    pub(crate) fn candidate_runs(&self) -> usize {
        self.candidates().map(|(_, runs)| runs).sum()
    }
}

impl<'s> Counting<'s> {
    /// Reads the collection, and finds the documents that may be removed, as far as the runs in their middle and at
    /// their end show.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    pub(crate) fn count(
        sources: Sources<'s>,
        rule: LossRule,
        context: &'s Context<'s>,
    ) -> Result<Self> {
        context.progress().begin("read and count", Work::Bytes(sources.bytes()));
        let fitting = context.memory().free() / CELLS_PART * 4;
        // Only 32 bits of the number of a cell are kept.
        let count = sources.run_count_hint().saturating_mul(CELLS_A_RUN).min(fitting).min(1 << 32);
        let mut cells = Cells::new(count, 0, context.memory())?;
        let numbers = cells.numbers();
        let filling = cells.filling();
        let counted = context.threads().try_map(
            sources.shard_count(),
            || filling.writers(sources.corpus.is_some()),
            |writers, shard| {
                let may_go = sources.may_go(shard);
                let writer = &mut writers[usize::from(!may_go)];
                let mut counted = Counted { sizes: Vec::new(), cells: Vec::new() };
                sources.visit(shard, Wanted::All, &mut |_, runs| {
                    counted.sizes.push(size(runs.len())?);
                    // A run that is twice in a document looks repeated, which costs a look later and no document.
                    writer.push_all(runs.iter().map(|&run| numbers.of(run)));
                    for window in windows(runs.len()).into_iter().filter(|_| may_go) {
                        reserve(&mut counted.cells, window.len(), RUNS)?;
                        counted
                            .cells
                            .extend(runs[window].iter().map(|&run| numbers.of(run) as u32));
                    }
                    Ok(())
                })?;
                Ok(counted)
            },
        )?;
        // The writers are gone, so the table is complete.
        drop(filling);
        let numbered = counted.into_iter().enumerate().collect();
        let mut shards = context.threads().map(numbered, |(shard, counted): (usize, Counted)| {
            let is_candidate = if sources.may_go(shard) {
                counted.candidates(rule, &cells)
            } else {
                vec![false; counted.sizes.len()]
            };
            Shard { first_row: 0, sizes: counted.sizes, is_candidate }
        });
        let mut rows = 0_u32;
        for shard in &mut shards {
            shard.first_row = rows;
            let end = u32::try_from(shard.sizes.len()).ok().and_then(|more| rows.checked_add(more));
            let rule = "must be fewer than 4294967296 in all";
            rows = end.ok_or_else(|| Error::limit("documents", rule))?;
        }
        Ok(Self { sources, rule, context, shards, cells })
    }

    /// Reads the documents that may be removed again, and drops the documents that must stay according to all of their
    /// runs. Returns the remaining documents, and their runs if the runs fit in memory.
    pub(crate) fn confirm(
        self,
        groups: DocumentGroups,
    ) -> Result<(Candidates<'s>, Option<KeptRuns>)> {
        let Self { sources, rule, context, mut shards, cells } = self;
        let runs: usize = shards.iter().map(Shard::candidate_runs).sum();
        context.progress().begin("read candidates", Work::Steps(0));
        context.progress().counted("terms", runs as u64);
        // A table of the runs numbers their places by 32 bits.
        let most = (context.memory().free() / BYTES_A_KEPT_RUN).min(MOST_RUNS as u64);
        let found = AtomicU64::new(0);
        let confirmed = context.threads().try_map(
            shards.len(),
            || Ok(Vec::new()),
            |is_kept: &mut Vec<bool>, number| {
                let shard = &shards[number];
                let Shard { first_row, sizes, .. } = shard;
                let mut is_confirmed = vec![false; sizes.len()];
                // There is room for all candidates of the shard. Memory that is never touched is not allocated by the
                // system.
                let mut kept = LargeBuffer::try_zeroed(shard.candidate_runs(), RUNS)?;
                let mut count = 0;
                let wanted = |index: u32| {
                    let row = first_row + index;
                    groups.is_compared(row) && shard.is_candidate(row)
                };
                sources.visit(number, Wanted::Some(&wanted), &mut |index, runs| {
                    // A text that has changed since the first reading stays.
                    let is_same = sizes.get(index as usize) == Some(&(runs.len() as u32));
                    if !is_same || !may_go(rule, runs, &cells, is_kept) {
                        return Ok(());
                    }
                    is_confirmed[index as usize] = true;
                    let more = runs.len() as u64;
                    // The sum of all documents does not depend on their order, so neither does the decision to keep them.
                    if found.fetch_add(more, Ordering::Relaxed) + more > most {
                        (kept, count) = (LargeBuffer::zeroed(0), 0);
                        return Ok(());
                    }
                    let own = kept[count..].iter_mut().zip(groups.runs(first_row + index, runs));
                    own.for_each(|(place, run)| *place = run);
                    count += runs.len();
                    Ok(())
                })?;
                kept.truncate(count);
                Ok((is_confirmed, kept))
            },
        )?;
        let mut of_shards = Vec::with_capacity(confirmed.len());
        for (shard, (is_confirmed, kept)) in shards.iter_mut().zip(confirmed) {
            shard.is_candidate = is_confirmed;
            of_shards.push(kept);
        }
        let found = found.into_inner();
        let memory = context.memory().hold(found.min(most) * size_of::<u64>() as u64);
        let kept = (found <= most).then_some(KeptRuns { of_shards, memory });
        let candidates = Candidates { sources, groups, shards, context };
        let count = candidates.shards.iter().map(|shard| shard.candidates().count() as u64);
        context.progress().counted("rows", count.sum());
        Ok((candidates, kept))
    }
}

impl Candidates<'_> {
    /// Calls `visit` with the row number and the runs of each document of shard `number`, if `is_wanted` is true for
    /// the row number of the document.
    ///
    /// # Errors
    /// The source fails, or `visit` does.
    pub(crate) fn visit(
        &self,
        number: usize,
        is_wanted: &dyn Fn(u32) -> bool,
        visit: &mut dyn FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let first_row = self.shards[number].first_row;
        let wanted = |index: u32| is_wanted(first_row + index);
        let mut own = Vec::new();
        self.sources.visit(number, Wanted::Some(&wanted), &mut |index, runs| {
            let row = first_row + index;
            if self.groups.are_one() {
                return visit(row, runs);
            }
            own.clear();
            reserve(&mut own, runs.len(), RUNS)?;
            own.extend(self.groups.runs(row, runs));
            visit(row, &own)
        })
    }
}

/// Returns whether a document may be removed, assuming that each run that `cells` shows as repeated is also in another
/// document. `runs` are the runs of the document, and `cells` the counts of all runs. `is_kept` is a buffer.
fn may_go(rule: LossRule, runs: &[u64], cells: &Cells, is_kept: &mut Vec<bool>) -> bool {
    let numbers = cells.numbers();
    is_kept.clear();
    // For a document that stays, few runs are looked up. Their number doubles until they decide.
    let mut end = FIRST_LOOK;
    while is_kept.len() < runs.len() {
        let more = &runs[is_kept.len()..runs.len().min(end)];
        cells.look_up(more.iter().map(|&run| numbers.of(run)), is_kept);
        if !rule.may_go(&[RunWindow { start: 0, is_kept }], runs.len()) {
            return false;
        }
        end *= 2;
    }
    rule.loss(is_kept).is_some()
}

/// Returns the ranges of the runs that are tested first: in the middle and at the end of a document of `runs` runs. A
/// short document has an empty range, and a range of all of its runs.
fn windows(runs: usize) -> [Range<usize>; 2] {
    if runs <= 2 * WINDOW {
        return [0..0, 0..runs];
    }
    let end = runs - WINDOW;
    let middle = (end - WINDOW) / 2;
    [middle..middle + WINDOW, end..runs]
}

/// Returns the number of runs of a document as a number of 32 bits, or an error if it is 2³¹ or more.
fn size(runs: usize) -> Result<u32> {
    let size = u32::try_from(runs).ok().filter(|&size| size < 1 << 31);
    size.ok_or_else(|| {
        let rule = "is too long: at most 2147483647 runs are compared; pass over it with a smaller `max_record`";
        Error::limit(format!("a document of {runs} runs"), rule)
    })
}
