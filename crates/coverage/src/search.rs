//! The search: counts the runs of the candidates exactly, and decides about them in the order of preference.

use crate::candidates::{BYTES_A_NUMBERED_RUN, Candidates, RUNS, Shard};
use crate::covering::{Removed, covering};
use crate::decision::Removing;
use crate::lose_limit::{LoseLimit, LostWords};
use crate::loss::LossRule;
use crate::run_table::{RunSlice, RunTable};
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::{filled, reserved};
use simtool_base::progress::Work;
use simtool_base::quantity;
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_set_join::TermSource;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Rank of a document that there is not.
pub(crate) const NONE: u32 = u32::MAX;
/// Maximum number of slices into which the runs of the candidates are divided if memory is scarce. For each slice, the
/// collection is read once more.
const MOST_SLICES: u64 = 64;

/// A removed document, and the documents that are kept in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoveredDocument {
    /// Row number of the removed document.
    pub row: u32,
    /// Row number of the kept document that has most of its words.
    pub kept: u32,
    /// Number of kept documents that have all of its words together, except those that are lost.
    pub covering: u32,
    /// Number of its words, and of those that are lost.
    pub loss: LostWords,
}

/// Order of preference and groups of the documents, which are known once all documents were read.
#[derive(Clone, Copy)]
pub struct DocumentOrder<'o> {
    /// Returns all row numbers. The documents that should rather be kept come first.
    pub rows: &'o dyn Fn() -> Vec<u32>,
    /// Returns the group of each document. Only documents of one group cover each other, and documents of group 0 cover
    /// none. The list is empty if all documents are in one group.
    pub groups: &'o dyn Fn() -> Vec<u64>,
}

impl fmt::Debug for DocumentOrder<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("DocumentOrder").finish_non_exhaustive()
    }
}

/// Groups of documents that may cover each other.
pub(crate) struct DocumentGroups(Vec<u64>);

impl DocumentGroups {
    /// Returns whether a document may cover others, and others may cover it.
    pub(crate) fn is_compared(&self, row: u32) -> bool {
        self.0.get(row as usize) != Some(&0)
    }

    /// Returns the hash of a run of a document. Equal runs of two groups have different hashes.
    pub(crate) fn run(&self, row: u32, run: u64) -> u64 {
        self.0.get(row as usize).map_or(run, |&group| mix(run ^ mix(group)))
    }
}

/// A search for the documents whose words are all in others.
#[derive(Clone, Copy, Debug)]
pub struct CoverageSearch<'c> {
    rule: LossRule,
    context: &'c Context<'c>,
}

/// A candidate: a document that may be removed.
pub(crate) struct Candidate {
    pub(crate) row: u32,
    shard: usize,
    runs: Range<usize>,
}

/// The runs of the candidates, by their numbers.
pub(crate) struct NumberedRuns {
    /// For each shard, the numbers of the runs of its candidates, one document after the other.
    of_shards: Vec<Vec<u32>>,
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

impl<'c> CoverageSearch<'c> {
    /// Creates a search in which a run has `run_length` words, and a removal may lose as many words as `limit` allows.
    #[must_use]
    pub fn new(run_length: u32, limit: LoseLimit, context: &'c Context<'c>) -> Self {
        Self { rule: LossRule { run_length, limit }, context }
    }

    /// Finds the documents to remove, in ascending order. The terms of `source` must be the hashes of the runs of each
    /// document, in reading order.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    ///
    /// # Complexity
    /// The time of reading the collection twice. The memory is about 1.3 bytes a word, and 30 bytes for each word of a
    /// document that may be removed.
    pub fn find(
        &self,
        source: &dyn TermSource,
        order: &DocumentOrder<'_>,
    ) -> Result<Vec<CoveredDocument>> {
        let mut candidates = Candidates::count(source, self.rule, self.context)?;
        let groups = DocumentGroups((order.groups)());
        candidates.confirm(&groups)?;
        let rows = (order.rows)();
        let mut ranks = filled(NONE, rows.len(), RUNS)?;
        for (rank, &row) in (0..).zip(&rows) {
            ranks[row as usize] = rank;
        }
        let runs =
            Numbering { candidates: &candidates, groups: &groups, ranks: &ranks }.number()?;
        let mut list = listed(&candidates);
        // The documents that should rather go come first.
        list.sort_unstable_by_key(|candidate| std::cmp::Reverse(ranks[candidate.row as usize]));
        self.context.progress().begin("decide", Work::Steps(0));
        let mut removing = Removing::new(self.rule, documents(&list, &runs));
        let (mut removed, mut left) = (Vec::new(), Vec::new());
        for candidate in list {
            match removing.remove(runs.of(&candidate)) {
                Some(loss) => removed.push(Removed { candidate, loss }),
                None => left.push(candidate),
            }
        }
        drop(removing);
        let runs = with_kept_candidates(runs, &left, &ranks);
        let mut covered = covering(&candidates, &groups, &rows, &runs, &removed)?;
        covered.sort_unstable_by_key(|document| document.row);
        Ok(covered)
    }
}

/// Lists the candidates in reading order.
fn listed(candidates: &Candidates<'_>) -> Vec<Candidate> {
    let mut list = Vec::new();
    for (number, shard) in candidates.shards.iter().enumerate() {
        let mut start = 0;
        for (row, runs) in shard.candidates() {
            list.push(Candidate { row, shard: number, runs: start..start + runs });
            start += runs;
        }
    }
    list
}

/// Returns the number of documents with each run. All documents that certainly stay count as one.
fn documents(list: &[Candidate], runs: &NumberedRuns) -> Vec<u32> {
    let stays = |&first: &u32| u32::from(first != NONE);
    let mut documents: Vec<u32> = runs.first.iter().map(stays).collect();
    let mut distinct = Vec::new();
    for candidate in list {
        distinct.clear();
        distinct.extend_from_slice(runs.of(candidate));
        distinct.sort_unstable();
        distinct.dedup();
        distinct.iter().for_each(|&run| documents[run as usize] += 1);
    }
    documents
}

/// Makes the candidates that were not removed documents that stay.
fn with_kept_candidates(mut runs: NumberedRuns, left: &[Candidate], ranks: &[u32]) -> NumberedRuns {
    for candidate in left {
        let rank = ranks[candidate.row as usize];
        for &run in &runs.of_shards[candidate.shard][candidate.runs.clone()] {
            let first = &mut runs.first[run as usize];
            *first = (*first).min(rank);
        }
    }
    runs
}

/// Numbers the runs of the candidates, and finds those that a document has which certainly stays.
struct Numbering<'n> {
    candidates: &'n Candidates<'n>,
    groups: &'n DocumentGroups,
    /// Place of each document in the order of preference.
    ranks: &'n [u32],
}

impl Numbering<'_> {
    fn number(&self) -> Result<NumberedRuns> {
        let context = self.candidates.context;
        let shards = &self.candidates.shards;
        let sizes: Vec<usize> = shards.iter().map(|shard| shard.candidate_runs()).collect();
        let slices = self.slices(sizes.iter().sum::<usize>() as u64)?;
        let source = self.candidates.source;
        let reading = (0..shards.len()).map(|shard| source.shard_bytes(shard)).sum::<u64>();
        context.progress().begin("read and compare", Work::Bytes(reading * slices));
        let of_shards = sizes.iter().map(|&runs| Ok(Mutex::new(filled(0, runs, RUNS)?)));
        let of_shards = of_shards.collect::<Result<Vec<_>>>()?;
        let mut first: Vec<u32> = Vec::new();
        for number in 0..slices {
            let table = self.table(RunSlice { number, slices })?;
            let before = first.len() as u32;
            if before.checked_add(table.len() as u32).is_none() {
                let rule = "are too many for numbers of 32 bits; cut the collection";
                return Err(Error::limit("different runs of documents that may be removed", rule));
            }
            let found: Vec<AtomicU32> = (0..table.len()).map(|_| AtomicU32::new(NONE)).collect();
            context.threads().try_fold(
                shards.len(),
                || Ok(()),
                |(), shard| {
                    let mut numbers =
                        of_shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
                    self.fill(shard, &table, before, &mut numbers)?;
                    self.mark(shard, &table, &found)
                },
            )?;
            first.extend(found.into_iter().map(AtomicU32::into_inner));
        }
        let of_shards = of_shards.into_iter();
        let of_shards = of_shards.map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(NumberedRuns { of_shards: of_shards.collect(), first })
    }

    /// Returns the number of slices in which the runs are numbered. `runs` is the number of runs of all candidates.
    fn slices(&self, runs: u64) -> Result<u64> {
        if self.candidates.are_kept() {
            return Ok(1);
        }
        // A slice takes the hashes of its runs twice while it is sorted.
        let free = self.candidates.context.memory().free();
        let numbered = runs * BYTES_A_NUMBERED_RUN;
        let of_slices = 16 * runs;
        let slices = of_slices.div_ceil(free.saturating_sub(numbered).max(1)).max(1);
        if slices > MOST_SLICES {
            let [free, least] = [free, numbered + of_slices / MOST_SLICES].map(quantity::bytes);
            let rule = format!(
                "`max_memory` leaves {free} for them; allow {least} more than that, or compare longer runs with `shingle`"
            );
            return Err(Error::limit(
                format!("{runs} runs of documents that may be removed"),
                rule,
            ));
        }
        Ok(slices)
    }

    /// Creates the table of the runs of the candidates that are in `slice`.
    fn table(&self, slice: RunSlice) -> Result<RunTable> {
        let threads = self.candidates.context.threads();
        let found = threads.try_map(
            self.candidates.shards.len(),
            || Ok(()),
            |(), shard| {
                let mut found = Vec::new();
                self.candidates.visit(shard, &mut |row, runs| {
                    let own = runs.iter().map(|&run| self.groups.run(row, run));
                    found.extend(own.filter(|&run| slice.has(run)));
                })?;
                found.sort_unstable();
                found.dedup();
                Ok(found)
            },
        )?;
        let mut runs: Vec<u64> = reserved(found.iter().map(Vec::len).sum(), RUNS)?;
        found.iter().for_each(|of_shard| runs.extend_from_slice(of_shard));
        drop(found);
        threads.sort_by_key(&mut runs, |&run| run);
        runs.dedup();
        RunTable::new(slice, runs)
    }

    /// Writes the numbers of the runs of the candidates of a shard that `table` has. Its first run has the number
    /// `before`.
    fn fill(&self, shard: usize, table: &RunTable, before: u32, numbers: &mut [u32]) -> Result<()> {
        let mut at = 0;
        self.candidates.visit(shard, &mut |row, runs| {
            for &run in runs {
                if let Some(number) = table.number(self.groups.run(row, run)) {
                    numbers[at] = before + number;
                }
                at += 1;
            }
        })
    }

    /// Notes in `found` the rank of each document of a shard that certainly stays, for each run of `table` that it has.
    /// The lowest rank remains.
    fn mark(&self, shard: usize, table: &RunTable, found: &[AtomicU32]) -> Result<()> {
        let Shard { first_row, is_candidate, .. } = &self.candidates.shards[shard];
        let is_wanted =
            |row: u32| !is_candidate[(row - first_row) as usize] && self.groups.is_compared(row);
        self.candidates.visit_rows(shard, &is_wanted, &mut |row, runs| {
            let rank = self.ranks[row as usize];
            for &run in runs {
                // Most runs are in one document, which takes one look in a small table.
                if self.candidates.may_be_repeated(run)
                    && let Some(number) = table.number(self.groups.run(row, run))
                {
                    // The lowest of all ranks does not depend on the order in which threads note them.
                    found[number as usize].fetch_min(rank, Ordering::Relaxed);
                }
            }
        })
    }
}
