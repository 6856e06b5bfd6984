//! The search: counts the runs of the candidates exactly, and decides about them in the order of preference.

use crate::candidates::{BYTES_A_NUMBERED_RUN, Candidates, Counting, KeptRuns, RUNS, Shard};
use crate::covering::{Partners, Removed};
use crate::decision::Removing;
use crate::lose_limit::{LoseLimit, LostWords};
use crate::loss::LossRule;
use crate::run_table::{RunSlice, RunTable};
use crate::sources::Sources;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::{filled, reserve, reserved};
use simtool_base::progress::Work;
use simtool_base::quantity;
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_set_join::TermSource;
use std::cmp::Reverse;
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

/// A stretch of words of a removed document that a kept document has, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Row number of the removed document.
    pub row: u32,
    /// Number of its first word, and the number behind its last word. Words are counted from 0.
    pub words: [u32; 2],
    /// Row number of the kept document.
    pub kept: u32,
    /// Number of the first of these words in the kept document.
    pub kept_from: u32,
}

/// The documents to remove, and the proof that their words stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Documents to remove, in ascending order.
    pub documents: Vec<CoveredDocument>,
    /// Stretches of their words in kept documents. Those of a removed document follow each other, in reading order, and
    /// have each of its words once, except for those that are lost. A document with fewer words than a run has one
    /// stretch, of one word.
    pub stretches: Vec<Stretch>,
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

    /// Returns whether all documents are in one group, so that runs are compared by their own hashes.
    pub(crate) fn are_one(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the hashes of runs of a document for comparisons. Equal runs of two groups have different hashes.
    pub(crate) fn runs(&self, row: u32, runs: &[u64]) -> impl Iterator<Item = u64> {
        let group = self.0.get(row as usize).map(|&group| mix(group));
        runs.iter().map(move |&run| group.map_or(run, |group| mix(run ^ group)))
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

    /// Finds the documents of one collection to remove. The terms of `source` must be the hashes of the runs of each
    /// document, in reading order.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    ///
    /// # Complexity
    /// The time of reading the collection twice. The memory is about 1.3 bytes a word, and 30 bytes for each word of a
    /// document that may be removed.
    pub fn find(&self, source: &dyn TermSource, order: &DocumentOrder<'_>) -> Result<Coverage> {
        self.search(Sources { first: source, corpus: None }, order)
    }

    /// Finds the documents of `queries` whose words are in documents of `corpus`. The queries do not cover each other.
    /// Row numbers, and those of `order`, begin with the queries, and the corpus follows.
    ///
    /// # Errors
    /// The same as for [`Self::find`].
    pub fn find_in(
        &self,
        queries: &dyn TermSource,
        corpus: &dyn TermSource,
        order: &DocumentOrder<'_>,
    ) -> Result<Coverage> {
        self.search(Sources { first: queries, corpus: Some(corpus) }, order)
    }

    fn search(&self, sources: Sources<'_>, order: &DocumentOrder<'_>) -> Result<Coverage> {
        let counting = Counting::count(sources, self.rule, self.context)?;
        let (candidates, kept) = counting.confirm(DocumentGroups((order.groups)()))?;
        let rows = (order.rows)();
        let mut ranks = filled(NONE, rows.len(), RUNS)?;
        for (rank, &row) in (0..).zip(&rows) {
            ranks[row as usize] = rank;
        }
        let mut runs = Numbering { candidates: &candidates, ranks: &ranks }.number(kept)?;
        let mut list = listed(&candidates);
        self.context.progress().begin("decide", Work::Steps(0));
        let removed = if sources.corpus.is_some() {
            self.covered_by_others(list, &runs)
        } else {
            // The documents that should rather go come first.
            list.sort_unstable_by_key(|candidate| Reverse(ranks[candidate.row as usize]));
            self.removed_in_order(list, &mut runs, &ranks)
        };
        self.context.progress().begin("find kept documents", Work::Steps(0));
        let run_length = self.rule.run_length;
        let partners = Partners { candidates: &candidates, rows: &rows, run_length };
        let covered = partners.find(&runs, &removed)?;
        let (documents, stretches): (Vec<_>, Vec<_>) = covered.into_iter().unzip();
        Ok(Coverage { documents, stretches: stretches.concat() })
    }

    /// Returns the documents that go if the documents which certainly stay have their words.
    fn covered_by_others(&self, list: Vec<Candidate>, runs: &NumberedRuns) -> Vec<Removed> {
        let mut is_kept = Vec::new();
        let removed = |candidate: Candidate| {
            is_kept.clear();
            let firsts = runs.of(&candidate).iter().map(|&run| runs.first[run as usize]);
            is_kept.extend(firsts.map(|first| first != NONE));
            let loss = self.rule.loss(&is_kept)?;
            Some(Removed { candidate, loss })
        };
        list.into_iter().filter_map(removed).collect()
    }

    /// Looks at the candidates one after the other, and returns those that go. From then on, `runs` has the others as
    /// documents that stay.
    fn removed_in_order(
        &self,
        list: Vec<Candidate>,
        runs: &mut NumberedRuns,
        ranks: &[u32],
    ) -> Vec<Removed> {
        let mut removing = Removing::new(self.rule, documents(&list, runs));
        let (mut removed, mut left) = (Vec::new(), Vec::new());
        for candidate in list {
            match removing.remove(runs.of(&candidate)) {
                Some(loss) => removed.push(Removed { candidate, loss }),
                None => left.push(candidate),
            }
        }
        for candidate in left {
            let rank = ranks[candidate.row as usize];
            for &run in &runs.of_shards[candidate.shard][candidate.runs] {
                let first = &mut runs.first[run as usize];
                *first = (*first).min(rank);
            }
        }
        removed
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

/// Numbers the runs of the candidates, and finds those that a document has which certainly stays.
struct Numbering<'n> {
    candidates: &'n Candidates<'n>,
    /// Place of each document in the order of preference.
    ranks: &'n [u32],
}

impl Numbering<'_> {
    fn number(&self, kept: Option<KeptRuns>) -> Result<NumberedRuns> {
        let context = self.candidates.context;
        let sizes = self.candidates.shards.iter().map(Shard::candidate_runs);
        let slices = match &kept {
            Some(_) => 1,
            None => self.slices(sizes.clone().sum::<usize>() as u64)?,
        };
        let reading = self.candidates.sources.bytes();
        context.progress().begin("read and compare", Work::Bytes(reading * slices));
        if let Some(KeptRuns { of_shards, memory: _memory }) = kept {
            let mut runs = reserved(of_shards.iter().map(Vec::len).sum(), RUNS)?;
            of_shards.iter().for_each(|of_shard| runs.extend_from_slice(of_shard));
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
                    // Documents that can no longer be read have no numbers.
                    let skipped = places.by_ref().take_while(|&(other, _)| other != row);
                    start += skipped.map(|(_, runs)| runs).sum::<usize>();
                    if let Some(own) = numbers.get_mut(start..start + runs.len()) {
                        table.visit_numbers(runs, |at, number| own[at] = before + number);
                    }
                    start += runs.len();
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
