//! Numbers the runs of the documents that may be removed, and looks them up in all other documents.

use crate::candidates::{BYTES_A_NUMBERED_RUN, Candidates, KeptRuns, RUNS, Shard};
use crate::run_table::{RunSlice, RunTable};
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::{filled, reserve, reserved};
use simtool_base::progress::Work;
use simtool_base::quantity;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Rank of a document that there is not.
pub(crate) const NONE: u32 = u32::MAX;
/// Maximum number of slices into which the runs of the candidates are divided if memory is scarce. For each slice, the
/// collection is read once more.
const MOST_SLICES: u64 = 64;

/// A candidate: a document that may be removed.
pub(crate) struct Candidate {
    pub(crate) row: u32,
    pub(crate) shard: usize,
    pub(crate) runs: Range<usize>,
}

/// The runs of the candidates, by their numbers.
pub(crate) struct NumberedRuns {
    /// For each shard, the numbers of the runs of its candidates, one document after the other.
    pub(crate) of_shards: Vec<Vec<u32>>,
    /// For each run, the rank of the first document in the order of preference that has it and that certainly stays, or
    /// [`NONE`].
    pub(crate) first: Vec<u32>,
}

impl NumberedRuns {
    /// Returns the numbers of the runs of a candidate, in reading order.
    pub(crate) fn of(&self, candidate: &Candidate) -> &[u32] {
        &self.of_shards[candidate.shard][candidate.runs.clone()]
    }
}

/// Numbers the runs of the candidates, and finds those that a document has which certainly stays.
pub(crate) struct Numbering<'n> {
    pub(crate) candidates: &'n Candidates<'n>,
    /// Place of each document in the order of preference.
    pub(crate) ranks: &'n [u32],
}

impl Numbering<'_> {
    pub(crate) fn number(&self, kept: Option<KeptRuns>) -> Result<NumberedRuns> {
        let context = self.candidates.context;
        let sizes = self.candidates.shards.iter().map(Shard::candidate_runs);
        let slices = match &kept {
            Some(_) => 1,
            None => self.slices(sizes.clone().sum::<usize>() as u64)?,
        };
        let reading = self.candidates.sources.bytes();
        context.progress().begin("read and compare", Work::Bytes(reading * slices));
        if let Some(KeptRuns { of_shards, memory: _memory }) = kept {
            // Memory is counted before, by what each run takes in all steps.
            let mut runs = reserved(of_shards.iter().map(Vec::len).sum(), RUNS)?;
            for of_shard in &of_shards {
                runs.extend_from_slice(of_shard);
            }
            let table = self.table(RunSlice::WHOLE, runs)?;
            // The numbers take the place of the hashes, shard by shard.
            let of_shards = context.threads().map(of_shards, |runs: Vec<u64>| {
                let mut numbers = vec![0; runs.len()];
                table.visit_numbers(&runs, |at, number| numbers[at] = number);
                numbers
            });
            return Ok(NumberedRuns { of_shards, first: self.firsts(&table)? });
        }
        let of_shards = sizes.map(|runs| Ok(Mutex::new(filled(0, runs, RUNS)?)));
        let of_shards = of_shards.collect::<Result<Vec<_>>>()?;
        let mut first: Vec<u32> = Vec::new();
        for number in 0..slices {
            let slice = RunSlice { number, slices };
            let table = self.table(slice, self.runs_of(slice)?)?;
            let before = first.len() as u32;
            if before.checked_add(table.len() as u32).is_none() {
                let rule = "are too many for numbers of 32 bits; cut the collection";
                return Err(Error::limit("different runs of documents that may be removed", rule));
            }
            self.fill(&table, before, &of_shards)?;
            first.extend(self.firsts(&table)?);
        }
        let of_shards = of_shards.into_iter();
        let of_shards = of_shards.map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(NumberedRuns { of_shards: of_shards.collect(), first })
    }

    /// Returns the number of slices in which the runs are numbered if they are not in memory. `runs` is the number of
    /// runs of all candidates.
    fn slices(&self, runs: u64) -> Result<u64> {
        // A slice takes the hashes of its runs twice while it is sorted.
        let free = self.candidates.context.memory().free();
        let numbered = runs * BYTES_A_NUMBERED_RUN;
        let of_slices = 16 * runs;
        let slices = of_slices.div_ceil(free.saturating_sub(numbered).max(1)).max(1);
        if slices > MOST_SLICES {
            let [free, least] = [free, numbered + of_slices / MOST_SLICES].map(quantity::bytes);
            let rule = format!("`max_memory` leaves {free} for them; allow {least} for that");
            return Err(Error::limit(
                format!("{runs} runs of documents that may be removed"),
                rule,
            ));
        }
        Ok(slices)
    }

    /// Creates the table of the runs of a slice, which are sorted here.
    fn table(&self, slice: RunSlice, mut runs: Vec<u64>) -> Result<RunTable> {
        self.candidates.context.threads().sort_by_key(&mut runs, |&run| run);
        runs.dedup();
        // Equal runs of copies may be most of the list.
        runs.shrink_to_fit();
        RunTable::new(slice, runs)
    }

    /// Reads the candidates, and returns their runs that are in `slice`.
    fn runs_of(&self, slice: RunSlice) -> Result<Vec<u64>> {
        let candidates = self.candidates;
        let found = candidates.context.threads().try_fold(
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
        )?;
        Ok(found.concat())
    }

    /// Writes the numbers of the runs of the candidates that `table` has. Its first run has the number `before`.
    fn fill(&self, table: &RunTable, before: u32, of_shards: &[Mutex<Vec<u32>>]) -> Result<()> {
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

    /// Reads the documents that certainly stay. Returns for each run of `table` the lowest rank of those that have it, or
    /// [`NONE`].
    fn firsts(&self, table: &RunTable) -> Result<Vec<u32>> {
        let candidates = self.candidates;
        let found: Vec<AtomicU32> = (0..table.len()).map(|_| AtomicU32::new(NONE)).collect();
        candidates.context.threads().try_fold(
            candidates.shards.len(),
            || Ok(()),
            |(), shard| {
                // In a match, queries do not cover each other.
                if !candidates.sources.may_cover(shard) {
                    return Ok(());
                }
                let is_wanted = |row| {
                    candidates.groups.is_compared(row)
                        && !candidates.shards[shard].is_candidate(row)
                };
                candidates.visit(shard, &is_wanted, &mut |row, runs| {
                    let rank = self.ranks[row as usize];
                    // The lowest of all ranks does not depend on the order in which threads find them.
                    table.visit_numbers(runs, |_, number| {
                        found[number as usize].fetch_min(rank, Ordering::Relaxed);
                    });
                    Ok(())
                })
            },
        )?;
        Ok(found.into_iter().map(AtomicU32::into_inner).collect())
    }
}
