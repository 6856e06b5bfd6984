//! Estimates the time and memory of a join of sets from a sample of the sets.
//!
//! The constants were measured with both threads of a 2-core AMD EPYC in November 2026.

use crate::forecast::{SampledSizes, ScanForecast, scan_forecast};
use crate::prune::sample_eighths;
use crate::ranked_sets::NANOSECONDS_A_RANKED_TERM;
use crate::sketch_join::BYTES_PER_COMPARED_TERM;
use crate::survivors::{FEW_TERMS, NANOSECONDS_A_ROUND, SAMPLE_BYTES};
use simtool_kernels::Isa;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;

/// Seconds of one core for adding a term to the sketch of its set. The time for reading the term is not
/// included.
const SECONDS_A_SKETCHED_TERM: f64 = 5e-9;
/// Seconds of one core for counting a term in the table of two-bit counters. This happens before sets
/// are sketched. The time for reading the term is not included.
const SECONDS_A_COUNTED_TERM: f64 = 15e-9;
/// Seconds of one core for asking for the count of a term, if documents are read again. The count is rarely in a cache.
const SECONDS_AN_ASKED_TERM: f64 = 35e-9;
/// Seconds of one core for each term of documents that are compared by an index of prefixes.
const SECONDS_A_LOOKED_UP_TERM: f64 = 35e-9;
/// Seconds of one core for each pair of similar documents, if an index of prefixes finds them. Many pairs that are found
/// with it are not similar, such as copies with too many differences.
const SECONDS_A_FOUND_PAIR: f64 = 550e-9;
/// Seconds of one core for each term of documents whose sketches are similar, because these documents
/// are compared term by term.
const SECONDS_A_COMPARED_TERM: f64 = 25e-9;
/// Bytes of the table of two-bit counters, for each term that the first round of counting samples.
const BYTES_A_CELL: f64 = 1.25;
/// Bytes of the table of two-bit counters and of the buffers of two writers, for each term, if documents are read again.
const BYTES_A_WRITTEN_CELL: f64 = 1.25 * BYTES_A_CELL;
/// Bytes for the number of a term's counter, for each term that the first round of counting samples.
const BYTES_A_NUMBER: f64 = 4.0;
/// Bytes of a sketch for each term of its set.
const BYTES_A_SKETCHED_TERM: f64 = 0.5;
/// Bytes of the prefix of a set for each term that a similar set may lack, on average. For example, the prefix takes 75
/// bytes if a similar set may lack 30 terms. Terms that no other set has are not in the prefix.
const BYTES_A_PREFIX_TERM: f64 = 2.5;
/// Bytes for each sketched set, without the bits of its sketch. These are size, signature and position,
/// which exist twice while the sets are sorted.
const BYTES_A_SKETCHED_SET: f64 = 72.0;
/// Bytes for each term of documents that are compared term by term. The memory for their pairs is
/// included.
const BYTES_A_COMPARED_TERM: f64 = 14.0;
/// Bytes for each term of documents that are compared while they are read. Only one document of each pair is in memory.
const BYTES_A_STREAMED_TERM: f64 = 4.0;
/// Bytes for each pair of documents with similar sketches. It exists twice: in the order in which pairs
/// were found, and in sorted order.
const BYTES_A_CANDIDATE: f64 = 32.0;

/// Bytes for each pair of similar sets while they are compared and sorted.
const BYTES_A_SIMILAR_PAIR: f64 = 26.0;

/// Numbers of sets and terms in one collection of a join, and the sizes of some of its sets, which are
/// a sample.
#[derive(Clone, Debug, Default)]
pub struct SampledSets {
    /// Number of sets in this collection.
    pub sets: f64,
    /// Number of terms in all sets of this collection, counting repeated terms.
    pub terms: f64,
    /// Number of terms of each sampled set, ascending.
    pub sizes: Vec<u32>,
}

/// Estimated cost of a join. The time for reading the texts is not included.
#[derive(Clone, Copy, Debug)]
pub struct SetJoinCost {
    /// Fraction of all terms that belong to documents which are compared term by term.
    pub compared_share: f64,
    /// Seconds that one core would take for the join.
    pub seconds: f64,
    /// Whether documents without a similar one are dropped in a second reading of all documents. This happens if the
    /// numbers of the counters of all sampled terms are too many to keep them after the first reading.
    pub is_read_again: bool,
    /// Bytes of the table of counters if memory is not limited. The table takes at most half of the memory.
    table_bytes: f64,
    /// Bytes of the sketches.
    sketch_bytes: f64,
    /// Number of terms of the documents that are compared term by term.
    compared_terms: f64,
    /// Number of pairs of documents with similar sketches whose sets share no term.
    near_by_chance: f64,
    /// Number of pairs of similar sets, or 0 if only a small fraction of all pairs is similar.
    pub pairs: f64,
}

/// Fractions of all terms and of all pairs, estimated from a sample of the documents.
#[derive(Clone, Copy, Debug)]
pub struct TermShares {
    /// Fraction of all terms that belong to living documents. A document is living if, by the counts of
    /// its terms, it may have a similar document.
    pub living: f64,
    /// Fraction of all terms that belong to documents with at least one similar document. Of equal documents, only the
    /// first one counts.
    pub similar: f64,
    /// Fraction of all terms that belong to documents which are equal to an earlier document.
    pub repeated: f64,
    /// Average number of similar documents elsewhere in the collection, for a document that is equal to no earlier one.
    /// Large groups of similar documents do not count.
    pub partners: f64,
    /// Fraction of all pairs of documents that are similar and not equal, or 0 if that fraction is small.
    pub pairs: f64,
}

impl SetJoinCost {
    /// Estimates the cost of joining the sets of one or two collections. `sides` has a sample of the sets of each
    /// collection, and `shares` has fractions that were estimated from a sample, too.
    #[must_use]
    pub fn estimate(
        sides: &Sides<SampledSets>,
        shares: TermShares,
        threshold: Threshold,
        isa: Isa,
    ) -> Self {
        let terms: f64 = sides.iter().map(|side| side.terms).sum();
        let sets: f64 = sides.iter().map(|side| side.sets).sum();
        let is_counted = terms > FEW_TERMS as f64;
        let sketched = if is_counted { shares.living } else { 1.0 };
        let kept_numbers = kept_numbers_bytes(terms, threshold);
        let is_read_again = is_counted && kept_numbers.is_none();
        let mut scan = scan(sides, terms, shares.living, threshold, isa);
        let mut bytes_a_term = BYTES_A_SKETCHED_TERM;
        if is_read_again {
            let found_pairs = sets * (1.0 - shares.repeated) * shares.partners;
            let looked_up =
                terms * shares.living * (1.0 - shares.repeated) * SECONDS_A_LOOKED_UP_TERM;
            scan.seconds = scan.seconds.min(looked_up + found_pairs * SECONDS_A_FOUND_PAIR);
            // Sketches have prefixes then, so documents without a similar one are not compared. Equal documents share their
            // rows and prefixes.
            scan.terms_share = 0.0;
            bytes_a_term += BYTES_A_PREFIX_TERM * f64::from(threshold.max_unshared(1000)) / 1000.0;
            bytes_a_term *= 1.0 - shares.repeated;
        }
        let compared = 1.0 - (1.0 - shares.similar) * (1.0 - scan.terms_share);
        let counted = if is_counted { terms } else { 0.0 };
        let asked = if is_read_again { terms } else { 0.0 };
        let seconds = counted * SECONDS_A_COUNTED_TERM
            + asked * SECONDS_AN_ASKED_TERM
            + terms * sketched * SECONDS_A_SKETCHED_TERM
            + scan.seconds
            + terms * compared * SECONDS_A_COMPARED_TERM;
        let table = kept_numbers.unwrap_or(terms * BYTES_A_WRITTEN_CELL);
        Self {
            compared_share: compared,
            seconds,
            is_read_again,
            table_bytes: if is_counted { table } else { 0.0 },
            sketch_bytes: sketched * (terms * bytes_a_term + sets * BYTES_A_SKETCHED_SET),
            compared_terms: terms * compared,
            near_by_chance: scan.pairs,
            pairs: shares.pairs * pairs_of_sets(sides),
        }
    }

    /// Returns the number of bytes of memory that the join needs while it reads the texts. `memory` is the number of
    /// bytes that the join may take.
    #[must_use]
    pub fn reading_bytes(&self, memory: f64) -> f64 {
        let table = self.table_bytes.min(memory / 2.0);
        // While documents are sketched, each counter is one bit and has no buffers of writers. If the numbers of
        // counters are kept, documents are sketched when these numbers are gone.
        let is_sketched = self.is_read_again || table == 0.0;
        if is_sketched { table.max(table / 2.5 + self.sketch_bytes) } else { table }
    }

    /// Returns the number of bytes of memory that the join needs while it compares documents. `memory` is the number of
    /// bytes that the join may take. The memory for similar pairs is not included, see [`Self::pairs_bytes`].
    #[must_use]
    pub fn comparing_bytes(&self, memory: f64) -> f64 {
        let of_terms = if self.is_streamed(memory) {
            // The join takes at most half of the memory with which it plans.
            (self.compared_terms * BYTES_A_STREAMED_TERM).min(self.planned_bytes(memory) / 2.0)
        } else {
            self.compared_terms * BYTES_A_COMPARED_TERM
        };
        self.sketch_bytes + of_terms + self.near_by_chance * BYTES_A_CANDIDATE
    }

    /// Returns whether documents are compared while they are read, because they do not fit in memory. They are then read
    /// several times. `memory` is the number of bytes that the join may take.
    #[must_use]
    pub fn is_streamed(&self, memory: f64) -> bool {
        self.compared_terms * BYTES_PER_COMPARED_TERM as f64 > self.planned_bytes(memory)
    }

    /// Returns the number of bytes of memory with which the join plans for the terms of compared documents.
    fn planned_bytes(&self, memory: f64) -> f64 {
        (memory - self.sketch_bytes).max(memory / 4.0) * 0.75
    }

    /// Returns the bytes of memory that the similar pairs take if at most `most` pairs are stored.
    #[must_use]
    pub fn pairs_bytes(&self, most: f64) -> f64 {
        self.pairs.min(most) * BYTES_A_SIMILAR_PAIR
    }
}

/// Returns the approximate number of pairs of sets that can be similar. In a join of two collections, a pair has one
/// set of each collection.
fn pairs_of_sets(sides: &Sides<SampledSets>) -> f64 {
    match sides {
        Sides::One(all) => all.sets * all.sets / 2.0,
        Sides::Two(queries, corpus) => queries.sets * corpus.sets,
    }
}

/// Returns the bytes of memory that the first round of counting takes if it counts only a sample of the terms and keeps
/// the numbers of their counters. Returns `None` if the counters and these numbers do not fit in [`SAMPLE_BYTES`].
fn kept_numbers_bytes(terms: f64, threshold: Threshold) -> Option<f64> {
    let sampled = terms * sample_eighths(threshold) as f64 / 8.0;
    let kept = sampled * (BYTES_A_CELL + BYTES_A_NUMBER);
    (kept <= SAMPLE_BYTES as f64).then_some(kept)
}

/// Forecasts step 3 of the join, the comparison of sketches. If it would take longer than the join by
/// prefixes, forecasts that join instead. `living` is the fraction of terms in documents that may have
/// a similar document.
fn scan(
    sides: &Sides<SampledSets>,
    terms: f64,
    living: f64,
    threshold: Threshold,
    isa: Isa,
) -> ScanForecast {
    let is_counted = terms > FEW_TERMS as f64;
    let sketched = if is_counted { living } else { 1.0 };
    let sampled = sides.as_ref().map(|side| SampledSizes {
        times: side.sets * sketched / side.sizes.len().max(1) as f64,
        sizes: side.sizes.clone(),
    });
    let scan = scan_forecast(&sampled, threshold, isa);
    let nanoseconds = terms * (NANOSECONDS_A_ROUND + living * NANOSECONDS_A_RANKED_TERM);
    if scan.seconds > nanoseconds * 1e-9 {
        return ScanForecast { seconds: nanoseconds * 1e-9, pairs: 0.0, terms_share: living };
    }
    // Documents that counting dropped have no sketch that could be near by chance.
    ScanForecast { terms_share: if is_counted { 0.0 } else { scan.terms_share }, ..scan }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_takes_memory_for_its_sample_of_the_terms() {
        // Three eighths of the terms are sampled.
        let threshold: Threshold = "0.8".parse().unwrap();
        let kept = kept_numbers_bytes(800.0, threshold).unwrap();
        assert!((kept - 300.0 * (BYTES_A_CELL + BYTES_A_NUMBER)).abs() < 1.0);
        // The numbers of so many counters are not kept.
        assert_eq!(kept_numbers_bytes(8e9, threshold), None);
    }
}
