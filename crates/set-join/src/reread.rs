//! Counting rounds for collections whose terms do not fit into memory. Each round reads the
//! documents twice instead of keeping their terms. If the table of counters is too small for all
//! terms, the first round counts the terms in several slices, one after the other.

use super::cells::{CellWriter, Cells};
use super::known_rows::KnownRows;
use super::memory_texts::{TERMS, enough_more};
use super::prune::{
    CELLS_PER_TERM, JoinShard, document_size, living_terms, outweighs, row_after, sample_eighths,
    unmatched_up_to,
};
use super::sketch_room::SketchRoom;
use super::sketching::{SketchScratch, Sketching};
use super::survivors::FirstRound;
use super::term_sample::{TermOrder, TermSample};
use super::term_source::{TermSource as _, TermSources, Wanted};
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::filled;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_model::similarity::Threshold;
use std::ops::Range;

/// Smallest and largest result of [`least_cells_per_term`]. With so many cells per term, the table recognizes at least
/// 26 % or 61 % of the unmatched terms, which no other set contains.
const FEWEST_CELLS_PER_TERM: [f64; 2] = [0.75, 2.0];
/// Safety factor for the number of recognized terms. If all terms of a set are unmatched, the table must recognize this
/// many times as many of them as a similar set may lack. The set is then dropped.
const RECOGNIZED: f64 = 1.2;

/// Maximum number of slices of the terms in the first round of counting. A slice has the terms that are
/// counted in one table. Each slice takes two readings of the collection.
const MOST_SLICES: u64 = 16;

/// Maximum number of slices that the estimated number of terms may need. With more, the join fails before it reads the
/// collection. This limit is higher than [`MOST_SLICES`], because the estimate may be far too high.
const FAR_TOO_MANY_SLICES: u64 = 4 * MOST_SLICES;

/// Number of bits at the lower end of a term that determine the term's slice.
const SLICE_BITS: u32 = 16;

/// The input for rounds of counting that read the documents again, because the terms of the documents
/// do not fit into memory.
pub(super) struct Rereading<'a> {
    pub(super) sources: &'a TermSources<'a>,
    pub(super) threshold: Threshold,
    /// Maximum number of bytes of a table of counters, including the buffers of its writers.
    pub(super) table_bytes: u64,
    pub(super) context: &'a Context<'a>,
}

/// Returns the minimum number of cells (two-bit counters) per counted term if `eighths` eighths of all terms are counted.
/// With so many cells, a set is dropped if it shares no term with another set, even if all sets are like that. If there
/// is not enough memory for so many cells, terms are counted in slices, one after the other.
fn least_cells_per_term(threshold: Threshold, eighths: u64) -> f64 {
    let [least, most] = FEWEST_CELLS_PER_TERM;
    let unmatched = RECOGNIZED * f64::from(threshold.max_unshared(1000)) / 1000.0;
    // Only counted terms can be recognized. An unmatched term is recognized if its cell has no other term. Terms are
    // spread at random, so e^(-terms/cells) of them are recognized.
    let of_counted = unmatched * 8.0 / eighths as f64;
    if of_counted < 1.0 { (-1.0 / of_counted.ln()).clamp(least, most) } else { most }
}

/// The terms that are counted in one table. These are all terms whose lowest [`SLICE_BITS`] bits are a
/// number in this range.
#[derive(Clone)]
struct TermSlice(Range<u64>);

impl TermSlice {
    const ALL: Self = Self(0..1 << SLICE_BITS);

    /// Divides some eighths of all terms into `slices` slices of about equal size. `eighths` is the
    /// number of eighths. Returns the slice with index `number`.
    fn of(eighths: u64, number: u64, slices: u64) -> Self {
        let start = |number| (eighths << (SLICE_BITS - 3)) * number / slices;
        Self(start(number)..start(number + 1))
    }

    fn has(&self, term: u64) -> bool {
        // Terms are hashes, so their low bits divide them evenly among the slices.
        self.0.contains(&(term % (1 << SLICE_BITS)))
    }

    fn terms<'t>(&self, terms: &'t [u64]) -> impl Iterator<Item = u64> + use<'_, 't> {
        terms.iter().copied().filter(|&term| self.has(term))
    }
}

impl Rereading<'_> {
    /// Returns the size of a table of counters with the buffers of all its writers, in eighths of the size of the table
    /// alone. For example, the result is 12 if the buffers take half as many bytes as the table.
    fn eighths_of_table(&self) -> u64 {
        let sides = 1 + u64::from(self.sources.second.is_some());
        8 + self.context.threads().count() as u64 * sides * Cells::EIGHTHS_A_WRITER
    }

    /// Returns the maximum number of cells (two-bit counters) for which there is memory.
    fn most_cells(&self) -> u64 {
        let bytes = self.table_bytes.saturating_mul(8) / self.eighths_of_table();
        bytes.saturating_mul(Cells::A_BYTE).max(Cells::LEAST)
    }

    fn cells(&self, terms: u64, round: u32) -> Result<Cells> {
        let cells = terms.saturating_mul(CELLS_PER_TERM).min(self.most_cells());
        Cells::new(cells, round, self.context.memory())
    }

    /// Runs the first round of counting: reads the documents, and drops the documents that cannot have
    /// a similar one. Returns all shards, in which the dropped documents are marked, and the sketches of the other
    /// documents if they fit in memory.
    ///
    /// # Errors
    /// The source fails, there is not enough memory, more than [`MOST_SLICES`] slices would be
    /// necessary, or a number of documents or terms exceeds 32 bits.
    pub(super) fn first_round(&self) -> Result<FirstRound> {
        let hint = self.sources.term_count_hint();
        let mut eighths = self.eighths(hint);
        let mut slices = self.slices(hint, FAR_TOO_MANY_SLICES)?.min(MOST_SLICES);
        let mut cells = self.first_cells(hint, eighths, slices)?;
        let mut shards: Vec<JoinShard> = Vec::new();
        let mut first_row = 0;
        self.begin("read and count");
        let sample = TermSample::new(hint)?;
        let first_slice = TermSlice::of(eighths, 0, slices);
        for sizes in self.count(&mut cells, &first_slice, &[], Some(&sample))? {
            let shard = JoinShard::new(first_row, sizes);
            first_row = row_after(first_row, shard.sizes.len())?;
            shards.push(shard);
        }
        // If the estimated number of terms was far from the truth, starting again takes fewer
        // readings or drops more documents.
        let terms = living_terms(&shards);
        let needed = self.slices(terms, MOST_SLICES)?;
        let least_cells = least_cells_per_term(self.threshold, eighths);
        let most_terms = hint as f64 * CELLS_PER_TERM as f64 / least_cells;
        let is_anew = needed != slices || terms as f64 > most_terms;
        if is_anew {
            drop(cells);
            (slices, eighths) = (needed, self.eighths(terms));
            cells = self.first_cells(terms, eighths, slices)?;
        }
        // With a single slice, the first decision is final, so no counts have to be kept.
        for shard in shards.iter_mut().filter(|_| slices > 1) {
            shard.unmatched = filled(0, shard.sizes.len(), TERMS)?;
        }
        let order = sample.counted();
        let mut sketches = None;
        for number in 0..slices {
            let slice = TermSlice::of(eighths, number, slices);
            if number > 0 {
                drop(cells);
                cells = self.first_cells(terms, eighths, slices)?;
            }
            if number > 0 || is_anew {
                self.begin("read and count");
                self.count(&mut cells, &slice, &shards, None)?;
            }
            cells.keep_matched();
            // The last reading has all documents that are left, so it can make their sketches, too.
            let is_last = number + 1 == slices;
            let order = (is_last && !self.sources.is_weighted()).then_some(&order);
            sketches = self.prune(&mut shards, &cells, &slice, order)?;
        }
        for shard in &mut shards {
            shard.unmatched = Vec::new();
        }
        Ok(FirstRound { shards, sketches, has_counted_all: eighths == 8 })
    }

    /// Returns the number of slices into which terms must be divided if the documents have `terms`
    /// terms.
    ///
    /// # Errors
    /// There would be more than `most` slices.
    fn slices(&self, terms: u64, most: u64) -> Result<u64> {
        let least_cells = self.least_cells(terms, self.eighths(terms));
        // More slices need less memory, and each of them reads all documents twice more.
        let slices = least_cells.div_ceil(self.most_cells()).max(1);
        if slices <= most {
            return Ok(slices);
        }
        let table =
            (least_cells / MOST_SLICES / Cells::A_BYTE).saturating_mul(self.eighths_of_table());
        let rule = format!(
            "`max_memory` leaves {} bytes for them, which is too little to find out which of them match. {} \
             for that; the method simhash needs less",
            self.table_bytes * 2,
            enough_more(table / 8 * 2, self.table_bytes * 2)
        );
        Err(Error::limit(format!("about {terms} shingles"), rule))
    }

    /// Creates the table of counters in which the slices of the first round are counted, one after the
    /// other. The documents have `terms` terms, and `eighths` is the number of eighths of them that are counted.
    fn first_cells(&self, terms: u64, eighths: u64, slices: u64) -> Result<Cells> {
        self.cells(terms / 8 * eighths / slices, 0)
    }

    /// Returns how many eighths of all terms the first round counts if the documents have `terms` terms. It counts all
    /// terms if one table is large enough for them, because more unmatched terms are recognized then. Otherwise, it
    /// counts a sample, if this needs fewer cells.
    fn eighths(&self, terms: u64) -> u64 {
        let [all, sample] = [8, sample_eighths(self.threshold)];
        let of_all = self.least_cells(terms, all);
        if of_all <= self.most_cells() || of_all <= self.least_cells(terms, sample) {
            all
        } else {
            sample
        }
    }

    /// Returns the minimum number of cells for counting some eighths of `terms` terms.
    #[expect(clippy::cast_sign_loss, reason = "no number of cells is negative")]
    fn least_cells(&self, terms: u64, eighths: u64) -> u64 {
        let counted = terms as f64 * eighths as f64 / 8.0;
        (counted * least_cells_per_term(self.threshold, eighths)) as u64
    }

    /// Runs further rounds of counting. Ends when the documents that were not dropped have at most
    /// `enough` terms, or when a round drops less than a fifth of the terms.
    ///
    /// # Errors
    /// The source fails.
    pub(super) fn rounds(&self, shards: &mut [JoinShard], enough: u64) -> Result<()> {
        for round in 1.. {
            let before = living_terms(shards);
            if before <= enough {
                break;
            }
            let mut cells = self.cells(before, round)?;
            self.begin("prune");
            self.count(&mut cells, &TermSlice::ALL, shards, None)?;
            self.prune(shards, &cells, &TermSlice::ALL, None)?;
            let after = living_terms(shards);
            // A round that drops less than a fifth costs more time than it saves later.
            if after * 5 >= before * 4 {
                break;
            }
        }
        Ok(())
    }

    /// Counts the terms of the documents that may still have a similar one.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    pub(super) fn counted(&self, shards: &[JoinShard]) -> Result<Cells> {
        let mut cells = self.cells(living_terms(shards), 0)?;
        self.context.progress().begin("prune", Work::Bytes(self.sources.bytes()));
        self.count(&mut cells, &TermSlice::ALL, shards, None)?;
        Ok(cells)
    }

    /// Begins a progress stage for one slice or round of counting, which reads the collection twice.
    fn begin(&self, stage: &'static str) {
        self.context.progress().begin(stage, Work::Bytes(self.sources.bytes() * 2));
    }

    /// Reads documents and counts their terms that are in `slice`. `known` is empty in the first
    /// reading, which reads all documents. Later it has all shards, and only documents that may still
    /// have a similar one are read. Returns a list for each shard: the number of terms of each document
    /// that was read. Adds documents to `sample` if it is given.
    fn count(
        &self,
        cells: &mut Cells,
        slice: &TermSlice,
        known: &[JoinShard],
        sample: Option<&TermSample>,
    ) -> Result<Vec<Vec<u32>>> {
        let numbers = cells.numbers();
        let terms = living_terms(known);
        let filling = cells.filling();
        self.context.threads().try_map(
            self.sources.shard_count(),
            || filling.writers(self.sources.second.is_some()),
            |writers: &mut [CellWriter<'_, '_>; 2], number| {
                let writer = &mut writers[self.sources.side(number)];
                let mut sizes = Vec::new();
                let visit = &mut |index, terms: &[u64]| {
                    sizes.push(document_size(terms.len())?);
                    if let Some(sample) = sample {
                        sample.add(number, index, terms);
                    }
                    writer.push_all(slice.terms(terms).map(|term| numbers.of(term)));
                    Ok(())
                };
                match known.get(number) {
                    Some(shard) => {
                        let is_one = &|index| shard.is_alive(index);
                        self.sources.try_visit(number, Wanted::Remaining { is_one, terms }, visit)
                    }
                    None => self.sources.try_visit(number, Wanted::All, visit),
                }?;
                Ok(sizes)
            },
        )
    }

    /// Reads the remaining documents, and drops each document that has too many unmatched terms for a similar document.
    /// The terms of `slice` were counted in `cells`, and the unmatched terms of earlier slices count, too. If `order`
    /// is given, sketches the other documents with prefixes in this order, and returns the sketches if they fit in
    /// memory.
    fn prune(
        &self,
        shards: &mut [JoinShard],
        cells: &Cells,
        slice: &TermSlice,
        order: Option<&TermOrder>,
    ) -> Result<Option<Vec<Sketching>>> {
        let numbers = cells.numbers();
        let terms = living_terms(shards);
        let known = &*shards;
        let memory = self.context.memory();
        let room = SketchRoom::new(memory);
        let rows = KnownRows::new(memory);
        let judged = self.context.threads().try_fold(
            shards.len(),
            || {
                let sketches = order.map(|_| {
                    let sketches = Sketching::new(self.threshold, true, memory);
                    room.entered(sketches.with_prefixes(memory).sharing(&rows))
                });
                let (sampled, scratch) = (Vec::new(), SketchScratch::default());
                Ok(Pruning { judged: Vec::new(), sampled, sketches, scratch })
            },
            |Pruning { judged, sampled, sketches, scratch }, number| {
                room.fit(sketches);
                let shard = &known[number];
                let is_one = &|index| shard.is_alive(index);
                let mut alive = shard.alive.clone();
                let mut unmatched = shard.unmatched.clone();
                let visit = &mut |index: u32, terms: &[u64]| {
                    let at = index as usize;
                    if let Some(&weight) = shard.weights.get(at) {
                        let limit = weight - self.threshold.min_weight(weight);
                        let weight = |term| self.sources.weight(term);
                        alive[at] = !outweighs(terms, limit, cells, weight);
                        return Ok(());
                    }
                    sampled.clear();
                    sampled.extend(slice.terms(terms).map(|term| numbers.of(term)));
                    let mut limit = self.threshold.max_unshared(terms.len() as u32);
                    // Earlier slices found some unmatched terms, which count against the same limit.
                    let known = unmatched.get_mut(at);
                    limit = limit.saturating_sub(known.as_deref().copied().unwrap_or(0));
                    let found = unmatched_up_to(sampled, limit, |&cell| !cells.is_matched(cell));
                    alive[at] = found <= limit;
                    if let Some(known) = known {
                        *known += found;
                    }
                    let sketches = sketches.as_mut().filter(|_| alive[at]);
                    let Some((order, sketches)) = order.zip(sketches) else { return Ok(()) };
                    let matched = |terms: &[u64], matched: &mut Vec<bool>| {
                        cells.look_up_terms(terms, matched);
                        for (matched, &term) in matched.iter_mut().zip(terms) {
                            *matched |= !slice.has(term);
                        }
                    };
                    let token = |term| order.token(term);
                    sketches.push_counted(shard.first_row + index, terms, matched, token, scratch)
                };
                self.sources.try_visit(number, Wanted::Remaining { is_one, terms }, visit)?;
                judged.push((number, alive, unmatched));
                Ok(())
            },
        )?;
        let (judged, mut sketches): (Vec<_>, Vec<_>) =
            judged.into_iter().map(|pruning| (pruning.judged, pruning.sketches)).unzip();
        for (number, alive, unmatched) in judged.into_iter().flatten() {
            let shard = &mut shards[number];
            (shard.alive, shard.unmatched) = (alive, unmatched);
        }
        for sketches in &mut sketches {
            room.fit(sketches);
        }
        let sketches: Option<Vec<Sketching>> = sketches.into_iter().collect();
        Ok(sketches.map(Sketching::after_sharing))
    }
}

/// Results and buffers of one worker thread that drops documents.
struct Pruning {
    /// For each shard that the thread has read: its number, whether each document may still have a similar one, and the
    /// numbers of unmatched terms.
    judged: Vec<(usize, Vec<bool>, Vec<u32>)>,
    sampled: Vec<u64>,
    /// `None` if no sketches are made.
    sketches: Option<Sketching>,
    scratch: SketchScratch,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_cells_recognize_enough_unmatched_terms() {
        for hundredths in 30..99 {
            let threshold = Threshold::new(hundredths, 100).unwrap();
            let most = f64::from(threshold.max_unshared(1000)) / 1000.0;
            for eighths in [8, sample_eighths(threshold)] {
                let cells = least_cells_per_term(threshold, eighths);
                let recognized = eighths as f64 / 8.0 * (-1.0 / cells).exp();
                assert!((0.75..=2.0).contains(&cells));
                assert!(recognized > 1.19 * most || cells > 1.99, "{threshold:?}: {recognized}");
            }
        }
        assert!(least_cells_per_term("0.7".parse().unwrap(), 8) < 1.0);
    }
}
