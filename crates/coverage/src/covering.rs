//! Finds a few kept documents that together have the words of each removed document.
//!
//! A run is a sequence of n consecutive words. For each kept run of a removed document, the first document in the order
//! of preference that has the run is known. Only these documents are considered. They are read again. The document that
//! has most of the missing words is chosen first, and so on until all kept words are covered.

use crate::candidates::Candidates;
use crate::coverage::{CoveredDocument, Stretch};
use crate::lose_limit::LostWords;
use crate::loss::visit_lost;
use crate::numbered_runs::{Candidate, NONE, NumberedRuns};
use crate::own_numbers::OwnNumbers;
use crate::run_ranges::{RunRanges, SharedRuns};
use crate::run_table::{RUNS, RunSlice, RunTable, joined};
use simtool_base::error::Result;
use simtool_base::large_buffer::filled;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of kept documents whose words are compared with the words of a removed document.
const MOST_PARTNERS: usize = 64;
/// Bytes of memory for each run of the removed documents that are handled in one batch.
const BYTES_A_RUN: u64 = 64;
/// Minimum number of runs that fit in one batch, even if there is not enough memory for them.
const LEAST_RUNS: u64 = 1 << 20;

/// A removed document.
pub(crate) struct Removed {
    pub(crate) candidate: Candidate,
    pub(crate) loss: LostWords,
}

/// A removed document, with the kept documents that are compared with it.
struct Compared {
    candidate: Candidate,
    loss: LostWords,
    /// For each run of the document, the rank of the first kept document that has the run, or [`NONE`]. The rank is the
    /// position in the order of preference.
    firsts: Vec<u32>,
    /// Ranks of the kept documents that are compared with this document, in ascending order.
    partners: Vec<u32>,
}

/// The search for kept documents that have the words of removed ones.
pub(crate) struct Partners<'p> {
    pub(crate) candidates: &'p Candidates<'p>,
    /// All documents that may have been removed, in reading order.
    pub(crate) listed: &'p [Candidate],
    /// Row numbers of all documents in the order of preference. So the index is the rank of a document.
    pub(crate) rows: &'p [u32],
    /// Number of words of a run.
    pub(crate) run_length: u32,
}

/// Removed documents and kept documents that are compared with them, as numbers of runs. Only runs of documents that
/// may have been removed have numbers.
struct RereadTexts<'n> {
    own: OwnNumbers<'n>,
    /// Runs of each kept document that is compared, by the row number of the document.
    partners: BTreeMap<u32, RunRanges>,
}

/// A removed document with the stretches of its words in kept documents.
type Covered = (CoveredDocument, Vec<Stretch>);

impl Partners<'_> {
    /// Returns each removed document, together with the stretches of its words in kept documents. The documents are in
    /// ascending order of row numbers.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    pub(crate) fn find(&self, runs: &NumberedRuns, removed: &[Removed]) -> Result<Vec<Covered>> {
        let memory = self.candidates.context.memory().free();
        let most = (memory / BYTES_A_RUN).max(LEAST_RUNS) as usize;
        let mut covered = Vec::with_capacity(removed.len());
        let mut rest = removed;
        while !rest.is_empty() {
            // Texts are read again for each batch. A batch has at least one document.
            let mut size = 0;
            let fitting = rest.iter().take_while(|removed| {
                size += runs.of(&removed.candidate).len();
                size <= most
            });
            let (batch, others) = rest.split_at(fitting.count().max(1));
            covered.extend(self.of_batch(runs, batch)?);
            rest = others;
        }
        covered.sort_unstable_by_key(|(document, _)| document.row);
        Ok(covered)
    }

    fn of_batch(&self, runs: &NumberedRuns, batch: &[Removed]) -> Result<Vec<Covered>> {
        let threads = self.candidates.context.threads();
        let batch = threads.map(batch.iter().collect(), |removed: &Removed| {
            let Removed { candidate, loss } = removed;
            let firsts = runs.of(candidate).iter().map(|&run| runs.first[run as usize]);
            let firsts: Vec<u32> = firsts.collect();
            let partners = most_frequent(&firsts);
            Compared { candidate: candidate.clone(), loss: *loss, firsts, partners }
        });
        let texts = match &runs.table {
            Some(table) => {
                let own = OwnNumbers::Known { listed: self.listed, numbers: &runs.numbers };
                self.read_partners(&batch, table, own)?
            }
            None => self.read(&batch)?,
        };
        let covered = |document: Compared| {
            // A text that can no longer be read has no runs.
            let own = texts.own.of(&document.candidate);
            let partner = |&rank: &u32| texts.partners.get(&self.rows[rank as usize]);
            let partners: Vec<Option<&RunRanges>> = document.partners.iter().map(partner).collect();
            Covering::new(&document, own, &partners, self.run_length).find(self.rows)
        };
        Ok(threads.map(batch, covered))
    }

    /// Reads the removed documents in `batch` and their partners again, and returns their runs as numbers. The partners
    /// of a removed document are the kept documents that are compared with it.
    fn read<'n>(&self, batch: &[Compared]) -> Result<RereadTexts<'n>> {
        let threads = self.candidates.context.threads();
        let removed: BTreeSet<u32> = batch.iter().map(|document| document.candidate.row).collect();
        let removed = self.read_rows(&removed, &|runs| runs.to_vec())?;
        let count = removed.values().map(Vec::len).sum();
        let sizes: Vec<(u32, usize)> =
            removed.iter().map(|(&row, runs)| (row, runs.len())).collect();
        let mut numbers = filled(0, count, RUNS)?;
        let all = joined(removed.into_values(), count)?;
        let table = RunTable::new(RunSlice::WHOLE, all, &mut numbers, threads)?;
        let mut rest = &numbers[..];
        let own = sizes.into_iter().map(|(row, runs)| {
            let (own, others) = rest.split_at(runs);
            rest = others;
            (row, own.to_vec())
        });
        self.read_partners(batch, &table, OwnNumbers::Read(own.collect()))
    }

    /// Returns the runs of the partners of the documents in `batch` as numbers. The partners are the kept documents
    /// that are compared with a removed document. They are read again, unless `own` has the numbers of their runs.
    /// `table` has the number of each run, and `own` the numbers of the runs of the removed documents.
    fn read_partners<'n>(
        &self,
        batch: &[Compared],
        table: &RunTable,
        own: OwnNumbers<'n>,
    ) -> Result<RereadTexts<'n>> {
        let partners = batch.iter().flat_map(|document| &document.partners);
        let partners: BTreeSet<u32> = partners.map(|&rank| self.rows[rank as usize]).collect();
        let known = partners.iter().filter_map(|&row| Some((row, own.of_partner(row)?)));
        let threads = self.candidates.context.threads();
        let known = threads.map(known.collect(), |(row, numbers): (u32, &[u32])| {
            (row, RunRanges::new(numbers.iter().copied().zip(0..)))
        });
        let unread = partners.into_iter().filter(|&row| own.of_partner(row).is_none()).collect();
        let mut partners = self.read_rows(&unread, &|runs| {
            let mut found = Vec::new();
            table.visit_numbers(runs, |at, number| found.push((number, at as u32)));
            RunRanges::new(found)
        })?;
        partners.extend(known);
        Ok(RereadTexts { own, partners })
    }

    /// Reads the documents whose row numbers are in `wanted`. Calls `make` with the runs of each document, and returns
    /// its results by row number.
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

/// Returns the different ranks in `firsts` except [`NONE`], in ascending order. If there are more than
/// [`MOST_PARTNERS`], returns those that occur most often. A document with many runs in this list most likely has other
/// runs of the removed document, too.
fn most_frequent(firsts: &[u32]) -> Vec<u32> {
    // Neighbours mostly have the same rank.
    let equal = firsts.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len()));
    let mut sorted: Vec<(u32, usize)> = equal.filter(|&(rank, _)| rank != NONE).collect();
    sorted.sort_unstable();
    let counts = sorted.chunk_by(|a, b| a.0 == b.0).map(|equal| {
        let count: usize = equal.iter().map(|(_, count)| count).sum();
        (Reverse(count), equal[0].0)
    });
    let mut counted: Vec<(Reverse<usize>, u32)> = counts.collect();
    counted.sort_unstable();
    let mut ranks: Vec<u32> =
        counted.into_iter().map(|(_, rank)| rank).take(MOST_PARTNERS).collect();
    ranks.sort_unstable();
    ranks
}

/// The choice of the kept documents that together have the words of a removed document.
struct Covering<'c> {
    document: &'c Compared,
    /// Numbers of the runs of the removed document, in reading order.
    own: &'c [u32],
    /// The runs of the removed document as ranges of numbers.
    ranges: RunRanges,
    /// The kept documents that are compared, as ranges of runs. `None` if the text of a document can no longer be read.
    partners: &'c [Option<&'c RunRanges>],
    /// For each of `partners`, the runs of the removed document that the partner has, too. `None` until needed.
    shared: Vec<Option<Vec<SharedRuns>>>,
    /// For each of `partners`, an upper bound of its gain: the number of words that the partner has and that no chosen
    /// document has.
    most_gains: Vec<usize>,
    run_length: u32,
    /// Number of words of the removed document, or 1 if it has only one run.
    words: u32,
    /// For each word of the removed document, whether a chosen document has it.
    is_covered: Vec<bool>,
    /// Number of words that are not lost and that no chosen document has yet.
    missing: usize,
    stretches: Vec<Stretch>,
}

impl<'c> Covering<'c> {
    fn new(
        document: &'c Compared,
        own: &'c [u32],
        partners: &'c [Option<&'c RunRanges>],
        run_length: u32,
    ) -> Self {
        // The number of words of a single run is not known.
        let runs = document.firsts.len() as u32;
        let words = if runs > 1 { runs + run_length - 1 } else { 1 };
        let mut missing = words as usize;
        let is_kept = document.firsts.iter().map(|&rank| rank != NONE);
        visit_lost(words, run_length, is_kept, |from, to| missing -= (to - from) as usize);
        Self {
            document,
            own,
            ranges: RunRanges::new(own.iter().copied().zip(0..)),
            partners,
            shared: vec![None; partners.len()],
            most_gains: vec![missing; partners.len()],
            run_length,
            words,
            is_covered: vec![false; words as usize],
            missing,
            stretches: Vec::new(),
        }
    }

    /// Chooses the partner that has the most words that no chosen document has, again and again, until all kept words
    /// are covered. `rows` has the row numbers of documents by their rank.
    fn find(mut self, rows: &[u32]) -> Covered {
        let mut chosen = Vec::new();
        // Each step covers at least one word, so the loop ends.
        while let Some(best) = self.best() {
            let kept = rows[self.document.partners[best] as usize];
            // A text that was changed since may have more words in common.
            self.missing = self.missing.saturating_sub(self.most_gains[best]);
            self.add_stretches(best, kept);
            chosen.push(kept);
        }
        // Words of documents beyond the limit of partners are left.
        let mut others = BTreeSet::new();
        for (start, &rank) in self.document.firsts.iter().enumerate() {
            let words = start..self.is_covered.len().min(start + self.run_length as usize);
            if rank != NONE && self.is_covered[words.clone()].contains(&false) {
                others.insert(rank);
                self.is_covered[words].fill(true);
            }
        }
        let kept = chosen.first().copied();
        let kept = kept.or_else(|| others.first().map(|&rank| rows[rank as usize]));
        self.stretches.sort_unstable_by_key(|stretch| stretch.words[0]);
        let document = CoveredDocument {
            row: self.document.candidate.row,
            kept: kept.unwrap_or(NONE),
            covering: (chosen.len() + others.len()) as u32,
            loss: self.document.loss,
        };
        (document, self.stretches)
    }

    /// Returns the index of the partner that has most of the missing words. If several have the same number, returns
    /// the first one in the order of preference. Returns `None` if no partner has a missing word.
    fn best(&mut self) -> Option<usize> {
        let (mut best, mut most) = (None, 0);
        for partner in 0..self.partners.len() {
            // Gains only become less, so a partner that had no more before has no more now.
            if self.most_gains[partner] > most {
                let gain = self.gain(partner);
                self.most_gains[partner] = gain;
                if gain > most {
                    (best, most) = (Some(partner), gain);
                }
            }
            // No other partner can have more words. Most documents are in one other document, so most partners are not
            // examined.
            if most >= self.missing {
                break;
            }
        }
        best
    }

    /// Returns the gain of a partner: the number of words that it has and that no chosen document has.
    fn gain(&mut self, partner: usize) -> usize {
        let shared = self.shared[partner].get_or_insert_with(|| {
            self.partners[partner].map_or(Vec::new(), |partner| self.ranges.shared_with(partner))
        });
        let (mut gain, mut done) = (0, 0);
        for &SharedRuns { place, count, .. } in &*shared {
            let end = (place + count - 1).saturating_add(self.run_length).min(self.words);
            let words = done.max(place)..end;
            let words = &self.is_covered[words.start as usize..words.end as usize];
            gain += words.iter().filter(|is_covered| !**is_covered).count();
            done = end;
        }
        gain
    }

    /// Adds the stretches of words that a partner has and that no chosen document has. A stretch also has the place of
    /// its words in the partner, where they follow each other, too. `kept` is the row number of the partner.
    fn add_stretches(&mut self, partner: usize, kept: u32) {
        let Some(runs) = self.partners[partner] else { return };
        let row = self.document.candidate.row;
        let mut last: Option<Stretch> = None;
        let shared = self.shared[partner].iter().flatten();
        let placed = shared.flat_map(|shared| {
            (shared.place..shared.place + shared.count).zip(shared.other_place..)
        });
        for (start, first_place) in placed {
            let end = start.saturating_add(self.run_length).min(self.words);
            let mut done = start;
            while let Some(words) = next_missing(&self.is_covered, done, end) {
                let [from, to] = words;
                // A stretch continues if the partner has this run directly behind the words of the stretch.
                let goes_on = last.as_mut().filter(|stretch| {
                    let place = (stretch.kept_from + start).checked_sub(stretch.words[0]);
                    let has_run =
                        |place| place == first_place || runs.has(self.own[start as usize], place);
                    stretch.words[1] == from && place.is_some_and(has_run)
                });
                if let Some(stretch) = goes_on {
                    stretch.words[1] = to;
                } else {
                    self.stretches.extend(last.take());
                    let kept_from = first_place + (from - start);
                    last = Some(Stretch { row, words, kept, kept_from });
                }
                self.is_covered[from as usize..to as usize].fill(true);
                done = to;
            }
        }
        self.stretches.extend(last);
    }
}

/// Returns the beginning and the end of the first sequence of words that are not covered, among the words from `start`
/// to `end`.
fn next_missing(is_covered: &[bool], start: u32, end: u32) -> Option<[u32; 2]> {
    let from = (start..end).find(|&word| !is_covered[word as usize])?;
    let to = (from..end).find(|&word| is_covered[word as usize]).unwrap_or(end);
    Some([from, to])
}
