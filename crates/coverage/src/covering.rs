//! Finds kept documents that have the words of each removed document: few documents, and first the one that has most.
//!
//! Each kept run of a removed document is in a kept document: the first one in the order of preference is known. Only these
//! documents are considered. If there are several of them for a removed document, they are read again, and the one that
//! has most of the words that are left is taken first.

use crate::candidates::Candidates;
use crate::lose_limit::LostWords;
use crate::loss::visit_lost;
use crate::run_table::{RunSlice, RunTable};
use crate::search::{Candidate, CoveredDocument, NONE, NumberedRuns};
use simtool_base::error::Result;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of kept documents that are compared with a removed document.
const MOST_PARTNERS: usize = 64;

/// A removed document.
pub(crate) struct Removed {
    pub(crate) candidate: Candidate,
    pub(crate) loss: LostWords,
}

/// A removed document with runs that are in several kept documents.
struct Stitched {
    row: u32,
    loss: LostWords,
    /// For each run, the rank of the first kept document that has it, or [`NONE`].
    firsts: Vec<u32>,
    /// Ranks of the kept documents that are compared with it, in ascending order.
    partners: Vec<u32>,
}

/// The search for kept documents that have the words of removed ones.
pub(crate) struct Partners<'p> {
    pub(crate) candidates: &'p Candidates<'p>,
    /// Row numbers in the order of preference.
    pub(crate) rows: &'p [u32],
    /// Number of words of a run.
    pub(crate) run_length: u32,
}

/// Texts that were read again, as numbers of runs. Only runs of removed documents have numbers.
struct RereadTexts {
    /// Runs of each removed document in reading order, by its row number.
    removed: BTreeMap<u32, Vec<u32>>,
    /// Different runs of each kept document in ascending order, by its row number.
    partners: BTreeMap<u32, Vec<u32>>,
}

impl Partners<'_> {
    /// Returns the removed documents with the documents that are kept in their place, in any order.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    pub(crate) fn find(
        &self,
        runs: &NumberedRuns,
        removed: &[Removed],
    ) -> Result<Vec<CoveredDocument>> {
        let Self { candidates, rows, run_length } = *self;
        let mut covered = Vec::with_capacity(removed.len());
        let mut stitched = Vec::new();
        for Removed { candidate, loss } in removed {
            let (row, loss) = (candidate.row, *loss);
            let firsts = runs.of(candidate).iter().map(|&run| runs.first[run as usize]);
            let firsts: Vec<u32> = firsts.collect();
            let mut partners = most_frequent(&firsts);
            if let [rank] = partners[..] {
                let kept = rows[rank as usize];
                covered.push(CoveredDocument { row, kept, covering: 1, loss });
                continue;
            }
            partners.sort_unstable();
            stitched.push(Stitched { row, loss, firsts, partners });
        }
        if stitched.is_empty() {
            return Ok(covered);
        }
        let texts = self.read(&stitched)?;
        covered.extend(candidates.context.threads().map(stitched, |document: Stitched| {
            let own = &texts.removed[&document.row];
            let partner = |&rank: &u32| &texts.partners[&rows[rank as usize]][..];
            let has: Vec<Vec<bool>> = (document.partners.iter().map(partner))
                .map(|partner| own.iter().map(|run| partner.binary_search(run).is_ok()).collect())
                .collect();
            let (best, covering) = fewest(&document, &has, run_length);
            let kept = rows[best as usize];
            CoveredDocument { row: document.row, kept, covering, loss: document.loss }
        }));
        Ok(covered)
    }

    /// Reads the removed documents and those that are compared with them again.
    fn read(&self, stitched: &[Stitched]) -> Result<RereadTexts> {
        let removed: BTreeSet<u32> = stitched.iter().map(|document| document.row).collect();
        let removed = self.read_rows(&removed, &|runs| runs.to_vec())?;
        let mut all: Vec<u64> = removed.values().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        let table = RunTable::new(RunSlice::WHOLE, all)?;
        let numbers = |runs: &[u64]| {
            let mut numbers = Vec::new();
            table.visit_numbers(runs, |_, number| numbers.push(number));
            numbers
        };
        let own = removed.iter().map(|(&row, runs)| (row, numbers(runs))).collect();
        let partners = stitched.iter().flat_map(|document| &document.partners);
        let partners: BTreeSet<u32> = partners.map(|&rank| self.rows[rank as usize]).collect();
        let partners = self.read_rows(&partners, &|runs| {
            let mut found = numbers(runs);
            found.sort_unstable();
            found.dedup();
            found
        })?;
        Ok(RereadTexts { removed: own, partners })
    }

    /// Reads the documents `wanted`, and returns what `make` makes of the runs of each of them.
    fn read_rows<T: Send>(
        &self,
        wanted: &BTreeSet<u32>,
        make: &(dyn Fn(&[u64]) -> T + Sync),
    ) -> Result<BTreeMap<u32, T>> {
        let candidates = self.candidates;
        let read = candidates.context.threads().try_map(
            candidates.shards.len(),
            || Ok(()),
            |(), shard| {
                let mut found = Vec::new();
                candidates.visit(shard, &|row| wanted.contains(&row), &mut |row, runs| {
                    found.push((row, make(runs)));
                    Ok(())
                })?;
                Ok(found)
            },
        )?;
        Ok(read.into_iter().flatten().collect())
    }
}

/// Returns the different ranks of a list except [`NONE`], at most [`MOST_PARTNERS`]. The most frequent ones come first:
/// documents with most of the runs are most likely to have others, too.
fn most_frequent(firsts: &[u32]) -> Vec<u32> {
    let mut sorted: Vec<u32> = firsts.iter().copied().filter(|&rank| rank != NONE).collect();
    sorted.sort_unstable();
    let mut counted: Vec<(Reverse<usize>, u32)> =
        sorted.chunk_by(|a, b| a == b).map(|equal| (Reverse(equal.len()), equal[0])).collect();
    counted.sort_unstable();
    counted.into_iter().map(|(_, rank)| rank).take(MOST_PARTNERS).collect()
}

/// Takes the document that has most of the words that no document before it has, until all kept words are covered.
/// `has` says of each partner and each run of the document whether the partner has the run. Returns the rank of the first
/// document, and the number of all.
fn fewest(document: &Stitched, has: &[Vec<bool>], run_length: u32) -> (u32, u32) {
    let runs = document.firsts.len() as u32;
    let words = runs + run_length - 1;
    let mut is_covered = vec![false; words as usize];
    let mut first = None;
    let mut count = 0;
    loop {
        let gain = |has: &Vec<bool>| {
            let mut gain = 0;
            visit_covered(words, run_length, has, |from, to| {
                let stretch = &is_covered[from as usize..to as usize];
                gain += stretch.iter().filter(|is_covered| !**is_covered).count();
            });
            gain
        };
        let gains = has.iter().map(gain).enumerate();
        // The first of equal gains is that of the document that comes first in the order of preference.
        let best = gains.min_by_key(|&(_, gain)| Reverse(gain));
        let Some((best, _)) = best.filter(|&(_, gain)| gain > 0) else { break };
        first = first.or(Some(document.partners[best]));
        count += 1;
        visit_covered(words, run_length, &has[best], |from, to| {
            is_covered[from as usize..to as usize].fill(true);
        });
    }
    // Words of documents beyond the limit of partners are left.
    let mut others = BTreeSet::new();
    for (start, &rank) in document.firsts.iter().enumerate() {
        let run = start..start + run_length as usize;
        if rank != NONE && is_covered[run.clone()].contains(&false) {
            others.insert(rank);
            is_covered[run].fill(true);
        }
    }
    let first = first.or(others.first().copied());
    (first.unwrap_or(NONE), count + others.len() as u32)
}

/// Calls `visit` with the beginning and the end of each stretch of words that are in the runs that a partner has.
fn visit_covered(words: u32, run_length: u32, has: &[bool], mut visit: impl FnMut(u32, u32)) {
    let mut done = 0;
    visit_lost(words, run_length, has.iter().copied(), |from, to| {
        if from > done {
            visit(done, from);
        }
        done = to;
    });
    if done < words {
        visit(done, words);
    }
}
