//! SimHash with a given table of random bits, as the reference program computes it.
//!
//! Every occurrence of a feature counts the bits in its row of the table. A bit of the fingerprint
//! is 1 if it is set in more than half of the counted rows.
//!
//! # References
//!
//! M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.

use super::hash_table::HashTable;
use super::hashed_simhash::cosine_at;
use super::sketch::{Scratch, Sketch, Sketcher};
use super::term_weights::is_weighty;
use simtool_base::stable_hash::hash;
use simtool_kernels::Isa;
use simtool_kernels::bit_majority::BitCounts;
use simtool_model::features::Features;
use simtool_model::fingerprint_rows::Shape;
use simtool_model::fingerprint_table::Fingerprint;

/// Number of rows of the hash table that are copied to a buffer before their bits are counted.
const GATHERED: usize = 1024;

/// Computes fingerprints with a [`HashTable`]. Each feature has a rank, which is its row number in
/// the table. The columns of the table are stored in groups of 64: one group for fingerprints of up
/// to 64 bits, two for more.
#[derive(Debug)]
pub struct TableSimhash {
    planes: Vec<Vec<u64>>,
    isa: Isa,
}

/// Counts from which one fingerprint is computed: for each bit of a fingerprint, the number of table rows in which it
/// is set. The buffers are reused between documents.
#[derive(Debug, Default)]
pub struct Accumulator {
    gathered: Vec<u64>,
    counts: [BitCounts; 2],
}

impl TableSimhash {
    /// Creates a value that computes fingerprints with the rows of `table`.
    #[must_use]
    pub fn new(isa: Isa, table: &HashTable) -> Self {
        let plane = |shift: u32| table.rows().iter().map(|row| (row >> shift) as u64).collect();
        let planes = (0..table.bits()).step_by(64).map(plane).collect();
        Self { planes, isa }
    }

    /// Counts the bits in the table rows of the features `ranks`, one occurrence of each. The rank of a feature is its
    /// row number in the table.
    ///
    /// # Panics
    ///
    /// Panics if a rank is not below the number of rows of the table.
    pub fn add(&self, ranks: &[u32], accumulator: &mut Accumulator) {
        // Rows are gathered into a small buffer first, since the kernel counts adjacent words. The
        // buffer stays in the first-level cache.
        for ranks in ranks.chunks(GATHERED) {
            for (plane, counts) in self.planes.iter().zip(&mut accumulator.counts) {
                accumulator.gathered.clear();
                accumulator.gathered.extend(ranks.iter().map(|&rank| plane[rank as usize]));
                counts.add(self.isa, &accumulator.gathered);
            }
        }
    }

    /// Returns the fingerprint of the counted features, and empties the accumulator for the next
    /// document. Without features, all bits are 0.
    pub fn finish<L: Fingerprint>(&self, accumulator: &mut Accumulator) -> L {
        let mut fingerprint = L::ZERO;
        let counts = accumulator.counts.iter_mut().take(self.planes.len());
        for (word, counts) in fingerprint.words_mut().iter_mut().zip(counts) {
            *word = counts.take_majority();
        }
        fingerprint
    }
}

/// Makes the SimHash with a table of random bits usable like every other sketch. The terms of a document must be row
/// numbers of the table.
impl Sketch for HashTable {
    fn shape(&self) -> Shape {
        Shape::bits(self.bits())
    }

    /// Returns a text that identifies the width of the fingerprints and the table. The hash of the
    /// table identifies the table.
    fn recipe(&self) -> String {
        let table: Vec<u8> = self.rows().iter().flat_map(|row| row.to_le_bytes()).collect();
        format!("simhash{}/table={:016x}", self.bits(), hash(&table))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("bits", self.bits().to_string())]
    }

    fn distance_of_strangers(&self) -> u32 {
        self.bits().div_ceil(2)
    }

    fn meaning(&self, distance: u32, features: &str) -> String {
        let bits = self.bits();
        format!(
            "Documents at distance {distance} of {bits} bits have on average a cosine of {:.3} \
             between their counts of the {features}.",
            cosine_at(distance, bits)
        )
    }

    fn sketcher(&self, isa: Isa) -> Box<dyn Sketcher> {
        Box::new(TableSimhash::new(isa, self))
    }
}

impl Sketcher for TableSimhash {
    /// Computes the fingerprint of features whose terms are row numbers of the table.
    fn make(&self, features: &Features<'_>, row: &mut [u64], scratch: &mut Scratch) -> bool {
        let Scratch { words, counts, weights, .. } = scratch;
        for (plane, word) in self.planes.iter().zip(row) {
            for (at, ranks) in (0..).step_by(GATHERED).zip(features.terms.chunks(GATHERED)) {
                words.clear();
                words.extend(ranks.iter().map(|&rank| plane[rank as usize]));
                match features.weights {
                    None => counts.add(self.isa, words),
                    Some(given) => weights.add(self.isa, words, &given[at..at + words.len()]),
                }
            }
            *word = match features.weights {
                None => counts.take_majority(),
                Some(_) => weights.take_majority(),
            };
        }
        is_weighty(features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_model::fingerprint_table::Wide;

    /// Returns the fingerprint of `ranks` like [`TableSimhash`], in a slow and simple way for comparison: computes each
    /// bit separately.
    fn naive(table: &HashTable, ranks: &[u32]) -> u128 {
        (0..table.bits()).fold(0, |fingerprint, bit| {
            let sum: i64 = ranks
                .iter()
                .map(|&rank| if table.rows()[rank as usize] >> bit & 1 == 1 { 1 } else { -1 })
                .sum();
            fingerprint | u128::from(sum > 0) << bit
        })
    }

    proptest! {
        #[test]
        fn equals_signed_sums(bits in 1usize..=128, ranks in proptest::collection::vec(0u32..50, 0..3000)) {
            let table = HashTable::built_in(50, bits).unwrap();
            for &isa in Isa::available() {
                let simhash = TableSimhash::new(isa, &table);
                let mut accumulator = Accumulator::default();
                for _ in 0..2 {
                    let (first, second) = ranks.split_at(ranks.len() / 2);
                    simhash.add(first, &mut accumulator);
                    simhash.add(second, &mut accumulator);
                    let found = u128::from(simhash.finish::<Wide<2>>(&mut accumulator));
                    prop_assert_eq!(found, naive(&table, &ranks));
                    let terms: Vec<u64> = ranks.iter().map(|&rank| rank.into()).collect();
                    let mut row = vec![0; table.shape().words()];
                    let scratch = &mut Scratch::default();
                    let features = Features::occurrences(&terms);
                    prop_assert_eq!(simhash.make(&features, &mut row, scratch), !ranks.is_empty());
                    prop_assert_eq!(row[0], found as u64);
                    prop_assert!(row.get(1).is_none_or(|&word| word == (found >> 64) as u64));
                    let once = vec![1; terms.len()];
                    let mut weighted = vec![0; row.len()];
                    let features = Features { terms: &terms, weights: Some(&once) };
                    simhash.make(&features, &mut weighted, scratch);
                    prop_assert_eq!(weighted, row);
                }
            }
        }
    }
}
