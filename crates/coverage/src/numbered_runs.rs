//! Numbers the runs of the documents that may be removed, and finds these runs in all other documents.

use crate::candidates::{BYTES_A_NUMBERED_RUN, Candidates, KeptRuns, Shard};
use crate::run_table::{BYTES_A_LISTED_RUN, MOST_RUNS, RUNS, RunSlice, RunTable, joined};
use bytemuck::Pod;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::{LargeBuffer, reserve};
use simtool_base::progress::Work;
use simtool_base::quantity;
use simtool_compute::context::Context;
use simtool_kernels::{as_atomics, prefetch};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Rank that means no document. The rank of a document is its position in the order of preference.
pub(crate) const NONE: u32 = u32::MAX;
/// Maximum number of slices into which the hashes of runs are divided if memory is scarce. A slice is a range of
/// hashes. Its runs are numbered separately, and the collection is read once more for it.
const MOST_SLICES: u64 = 64;
/// Maximum number of slices (ranges of hashes) if the numbers of runs are in memory. If more were needed, the numbers
/// go to a temporary file, which takes less time than more readings of the collection.
const MOST_SLICES_IN_MEMORY: u64 = 2;

/// Distance, in runs, between the run that is handled and a later run for which memory is prefetched.
pub(crate) const AHEAD: usize = 16;

/// A candidate: a document that may be removed.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) row: u32,
    /// Range of its runs among the runs of all candidates.
    pub(crate) runs: Range<usize>,
}

/// The runs of all candidates as numbers. Equal runs have the same number. A candidate is a document that may be
/// removed.
pub(crate) struct NumberedRuns {
    /// The numbers of the runs of all candidates, one document after the other, in reading order.
    pub(crate) numbers: LargeBuffer<u32>,
    /// For each run, the lowest rank of a document that certainly stays and has the run, or [`NONE`]. The rank of a
    /// document is its position in the order of preference. The buffer may be longer than the number of runs.
    pub(crate) first: LargeBuffer<u32>,
    /// Table from hashes of runs to their numbers. `None` if there is not enough memory for all runs at once.
    pub(crate) table: Option<RunTable>,
    /// Place of the buffers: memory or a temporary file.
    pub(crate) place: BufferPlace,
}

/// Place of the buffers for the numbers of runs: memory or a temporary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferPlace {
    Memory,
    TemporaryFile,
}

impl BufferPlace {
    /// Creates a buffer of `length` zeros.
    ///
    /// # Errors
    /// There is not enough memory, or no space for the temporary file.
    pub(crate) fn zeroed<T: Pod>(
        self,
        length: usize,
        context: &Context<'_>,
    ) -> Result<LargeBuffer<T>> {
        match self {
            Self::Memory => LargeBuffer::try_zeroed(length, RUNS),
            Self::TemporaryFile => LargeBuffer::spilled(length, context.temporary_folder(), RUNS),
        }
    }
}

impl NumberedRuns {
    /// Returns the numbers of the runs of a candidate, in reading order.
    pub(crate) fn of(&self, candidate: &Candidate) -> &[u32] {
        &self.numbers[candidate.runs.clone()]
    }
}

/// Numbers the runs of the candidates, and finds which of them are in a document that certainly stays. A candidate is a
/// document that may be removed.
pub(crate) struct Numbering<'n> {
    pub(crate) candidates: &'n Candidates<'n>,
    /// For each document, its rank, which is its position in the order of preference.
    pub(crate) ranks: &'n [u32],
}

impl Numbering<'_> {
    pub(crate) fn number(&self, kept: Option<KeptRuns>) -> Result<NumberedRuns> {
        let context = self.candidates.context;
        let sizes = self.candidates.shards.iter().map(Shard::candidate_runs);
        let runs: usize = sizes.clone().sum();
        let threads = context.threads();
        let (slices, place) = match &kept {
            Some(_) => (1, BufferPlace::Memory),
            None => self.slices(runs as u64)?,
        };
        let reading = self.candidates.sources.bytes();
        context.progress().begin("read and compare", Work::Bytes(reading * slices));
        let mut numbers: LargeBuffer<u32> = place.zeroed(runs, context)?;
        if let Some(KeptRuns { of_shards, memory: _memory }) = kept {
            // Memory is counted before, by what each run takes in all steps.
            let all = joined(of_shards, runs)?;
            let table = RunTable::new(RunSlice::WHOLE, all, &mut numbers, threads)?;
            let mut first = place.zeroed(table.len(), context)?;
            self.find_firsts(&table, &mut first)?;
            return Ok(NumberedRuns { numbers, first, table: Some(table), place });
        }
        let mut rest = &mut numbers[..];
        let of_shards = sizes.map(|runs| {
            let (of_shard, others) = std::mem::take(&mut rest).split_at_mut(runs);
            rest = others;
            Mutex::new(of_shard)
        });
        let of_shards: Vec<Mutex<&mut [u32]>> = of_shards.collect();
        // Only the last slice shows how many different runs there are.
        let mut first: LargeBuffer<u32> = place.zeroed(runs, context)?;
        let mut before = 0_u32;
        for number in 0..slices {
            let slice = RunSlice { number, slices };
            let lists = self.runs_of(slice)?;
            let count = lists.iter().map(Vec::len).sum();
            // The lists are those of threads, so the numbers of the candidates are looked up below.
            let mut unused = LargeBuffer::try_zeroed(count, RUNS)?;
            let table = RunTable::new(slice, joined(lists, count)?, &mut unused, threads)?;
            drop(unused);
            let Some(end) = before.checked_add(table.len() as u32) else {
                let rule = "are too many for numbers of 32 bits; cut the collection";
                return Err(Error::limit("different runs of documents that may be removed", rule));
            };
            self.fill(&table, before, &of_shards)?;
            self.find_firsts(&table, &mut first[before as usize..end as usize])?;
            before = end;
        }
        drop(of_shards);
        Ok(NumberedRuns { numbers, first, table: None, place })
    }

    /// Returns the number of slices into which the hashes of runs are divided, and the place for the numbers of runs.
    /// The runs of one slice are numbered at a time, because there is not enough memory for all hashes. `runs` is the
    /// number of runs of all candidates.
    fn slices(&self, runs: u64) -> Result<(u64, BufferPlace)> {
        let of_slices = BYTES_A_LISTED_RUN * runs;
        let free = self.candidates.context.memory().free();
        // Half of the greatest list is enough: slices differ in size.
        let least = runs.div_ceil(MOST_RUNS as u64 / 2).max(1);
        let slices = |free: u64| of_slices.div_ceil(free.max(1)).max(least);
        let in_memory = slices(free.saturating_sub(runs * BYTES_A_NUMBERED_RUN));
        if in_memory <= MOST_SLICES_IN_MEMORY {
            return Ok((in_memory, BufferPlace::Memory));
        }
        if slices(free) > MOST_SLICES {
            let [free, least] = [free, of_slices / MOST_SLICES].map(quantity::bytes);
            let rule = format!("`max_memory` leaves {free} for them; allow {least} for that");
            return Err(Error::limit(
                format!("{runs} runs of documents that may be removed"),
                rule,
            ));
        }
        Ok((slices(free), BufferPlace::TemporaryFile))
    }

    /// Reads the candidates, and returns the hashes of their runs that are in `slice`, as one list for each thread.
    fn runs_of(&self, slice: RunSlice) -> Result<Vec<Vec<u64>>> {
        let candidates = self.candidates;
        candidates.context.threads().try_fold(
            candidates.shards.len(),
            || Ok(Vec::new()),
            |found: &mut Vec<u64>, shard| {
                let is_wanted = |row| candidates.shards[shard].is_candidate(row);
                candidates.visit(shard, &is_wanted, &mut |_, runs| {
                    reserve(found, runs.len(), RUNS)?;
                    found.extend(runs.iter().filter(|&&run| slice.has(run)));
                    Ok(())
                })
            },
        )
    }

    /// Reads the candidates, looks up their runs in `table`, and writes the numbers of the found runs to `of_shards`,
    /// which has one list for each shard. `before` is added to each number of the table.
    fn fill(&self, table: &RunTable, before: u32, of_shards: &[Mutex<&mut [u32]>]) -> Result<()> {
        let candidates = self.candidates;
        candidates.context.threads().try_fold(
            candidates.shards.len(),
            || Ok(()),
            |(), shard| {
                let mut numbers = of_shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
                let is_wanted = |row| candidates.shards[shard].is_candidate(row);
                let mut places = candidates.shards[shard].candidates();
                let mut start = 0;
                candidates.visit(shard, &is_wanted, &mut |row, runs| {
                    // Documents that can no longer be read, or have changed, have no numbers.
                    for (other, size) in places.by_ref() {
                        if other == row && runs.len() == size {
                            let own = &mut numbers[start..start + size];
                            table.visit_numbers(runs, |at, number| own[at] = before + number);
                        }
                        start += size;
                        if other == row {
                            break;
                        }
                    }
                    Ok(())
                })
            },
        )?;
        Ok(())
    }

    /// Reads the documents that certainly stay. Writes to `firsts`, for each run of `table`, the lowest rank of a
    /// document that has the run, or [`NONE`].
    fn find_firsts(&self, table: &RunTable, firsts: &mut [u32]) -> Result<()> {
        let candidates = self.candidates;
        firsts.fill(NONE);
        let firsts = as_atomics(firsts);
        candidates.context.threads().try_fold(
            candidates.shards.len(),
            || Ok(Vec::new()),
            |numbers: &mut Vec<u32>, shard| {
                // If queries are compared with a corpus, they do not cover each other.
                if !candidates.sources.may_cover(shard) {
                    return Ok(());
                }
                let is_wanted = |row| {
                    candidates.groups.is_compared(row)
                        && !candidates.shards[shard].is_candidate(row)
                };
                candidates.visit(shard, &is_wanted, &mut |row, runs| {
                    let rank = self.ranks[row as usize];
                    numbers.clear();
                    table.visit_numbers(runs, |_, number| numbers.push(number));
                    for (at, &number) in numbers.iter().enumerate() {
                        if let Some(&ahead) = numbers.get(at + AHEAD) {
                            prefetch(firsts, ahead as usize);
                        }
                        // The lowest of all ranks does not depend on the order in which threads find them.
                        let first = &firsts[number as usize];
                        if first.load(Ordering::Relaxed) > rank {
                            first.fetch_min(rank, Ordering::Relaxed);
                        }
                    }
                    Ok(())
                })
            },
        )?;
        Ok(())
    }
}
