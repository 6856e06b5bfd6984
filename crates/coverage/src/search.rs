//! The search: counts the runs of the documents that may be removed exactly, and decides about these documents in the
//! order of preference.

use crate::candidates::{Candidates, Counting, Shard};
use crate::coverage::Coverage;
use crate::covering::{Partners, Removed};
use crate::decision::{Removing, change_counts};
use crate::groups::DocumentGroups;
use crate::lose_limit::LoseLimit;
use crate::loss::LossRule;
use crate::numbered_runs::{Candidate, NONE, NumberedRuns, Numbering};
use crate::run_table::RUNS;
use crate::sources::Sources;
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, filled};
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_set_join::TermSource;
use std::cmp::Reverse;
use std::fmt;

/// Order of preference and groups of the documents. The search calls the functions after it has read all documents.
#[derive(Clone, Copy)]
pub struct DocumentOrder<'o> {
    /// Returns all row numbers in the order of preference: the documents that should rather be kept come first.
    pub rows: &'o dyn Fn() -> Vec<u32>,
    /// Returns the number of the group of each document. Only documents of the same group can cover each other.
    /// Documents of group 0 are not compared. The list is empty if all documents are in one group.
    pub groups: &'o dyn Fn() -> Vec<u64>,
}

impl fmt::Debug for DocumentOrder<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("DocumentOrder").finish_non_exhaustive()
    }
}

/// A search for the documents whose words are all in other documents, so that they can be removed.
#[derive(Clone, Copy, Debug)]
pub struct CoverageSearch<'c> {
    rule: LossRule,
    context: &'c Context<'c>,
}

impl<'c> CoverageSearch<'c> {
    /// Creates a search that compares documents by their runs, which are sequences of `run_length` consecutive words. A
    /// removal may lose as many words as `limit` allows.
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
    /// Row numbers count the queries first and then the documents of the corpus, also in `order`.
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
        let all = listed(&candidates);
        let mut list = all.clone();
        self.context.progress().begin("decide", Work::Steps(0));
        // Queries rely on the corpus alone, which stays, so the order of their removal means nothing.
        let removed = if sources.corpus.is_some() {
            self.covered_by_others(list, &runs)
        } else {
            // The documents that should rather go come first.
            list.sort_unstable_by_key(|candidate| Reverse(ranks[candidate.row as usize]));
            self.removed_in_order(list, &mut runs, &ranks)?
        };
        self.context.progress().begin("find kept documents", Work::Steps(0));
        let run_length = self.rule.run_length;
        let partners = Partners { candidates: &candidates, listed: &all, rows: &rows, run_length };
        let covered = partners.find(&runs, &removed)?;
        let (documents, stretches): (Vec<_>, Vec<_>) = covered.into_iter().unzip();
        Ok(Coverage { documents, stretches: stretches.concat() })
    }

    /// Returns the documents of `list` whose words are in documents that certainly stay. `runs` has the runs of all
    /// documents of `list`.
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

    /// Decides about the documents of `list` one after the other, and returns the removed ones. Then enters the ranks
    /// of the other documents in `runs.first`, because they stay. `ranks` has the rank of each document, which is its
    /// position in the order of preference.
    fn removed_in_order(
        &self,
        list: Vec<Candidate>,
        runs: &mut NumberedRuns,
        ranks: &[u32],
    ) -> Result<Vec<Removed>> {
        let pins = runs.place.zeroed(runs.first.len(), self.context)?;
        let documents = self.documents(&list, runs)?;
        let mut removing = Removing::new(self.rule, documents, pins);
        let (mut removed, mut left) = (Vec::new(), Vec::new());
        for candidate in list {
            match removing.remove(runs.of(&candidate)) {
                Some(loss) => removed.push(Removed { candidate, loss }),
                None => left.push(candidate),
            }
        }
        // From here on, the candidates that were not removed certainly stay.
        for candidate in left {
            let rank = ranks[candidate.row as usize];
            for &run in &runs.numbers[candidate.runs] {
                let first = &mut runs.first[run as usize];
                *first = (*first).min(rank);
            }
        }
        Ok(removed)
    }

    /// Returns for each run the number of documents that have it. All documents that certainly stay count as one.
    /// `list` has all documents that may be removed.
    fn documents(&self, list: &[Candidate], runs: &NumberedRuns) -> Result<LargeBuffer<u32>> {
        let mut documents: LargeBuffer<u32> = runs.place.zeroed(runs.first.len(), self.context)?;
        for (count, &first) in documents.iter_mut().zip(&*runs.first) {
            *count = u32::from(first != NONE);
        }
        let counts = &mut documents[..];
        for candidate in list {
            change_counts(counts, runs.of(candidate), |_, count| count + 1);
        }
        Ok(documents)
    }
}

/// Lists the documents that may be removed, in reading order, with the ranges of their runs among the runs of all of
/// them.
fn listed(candidates: &Candidates<'_>) -> Vec<Candidate> {
    let mut start = 0;
    let placed = candidates.shards.iter().flat_map(Shard::candidates).map(|(row, runs)| {
        start += runs;
        Candidate { row, runs: start - runs..start }
    });
    placed.collect()
}
