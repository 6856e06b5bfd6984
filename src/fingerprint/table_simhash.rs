//! SimHash over a given table of bits: the reference program's fingerprint.
//!
//! Every occurrence of a feature adds its row; the fingerprint has the bits that more than half of
//! the added rows have.
//!
//! # References
//!
//! M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.

use super::hash_table::HashTable;
use crate::fingerprint_table::Lane;
use crate::kernels::Isa;
use crate::kernels::bit_majority::BitCounts;

/// Rows that are gathered before they are counted.
const GATHERED: usize = 1024;

/// The fingerprinter. Its rows lie as planes of 64 columns: one for up to 64 bits, two for more.
#[derive(Debug)]
pub struct TableSimhash {
    planes: Vec<Vec<u64>>,
    isa: Isa,
}

/// A fingerprint in the making; reused from document to document.
#[derive(Debug, Default)]
pub struct Accumulator {
    gathered: Vec<u64>,
    counts: [BitCounts; 2],
}

impl TableSimhash {
    /// A fingerprinter over the rows of `table` that runs on `isa`.
    #[must_use]
    pub fn new(isa: Isa, table: &HashTable) -> Self {
        let plane = |shift: u32| table.rows().iter().map(|row| (row >> shift) as u64).collect();
        let planes = (0..table.bits()).step_by(64).map(plane).collect();
        Self { planes, isa }
    }

    /// Adds one occurrence of each of the features with these ranks.
    ///
    /// # Panics
    ///
    /// A rank is not below the number of rows.
    pub fn add(&self, ranks: &[u32], accumulator: &mut Accumulator) {
        for ranks in ranks.chunks(GATHERED) {
            for (plane, counts) in self.planes.iter().zip(&mut accumulator.counts) {
                accumulator.gathered.clear();
                accumulator.gathered.extend(ranks.iter().map(|&rank| plane[rank as usize]));
                counts.add(self.isa, &accumulator.gathered);
            }
        }
    }

    /// The fingerprint of what was added, and an empty accumulator; all zeros if nothing was.
    pub fn finish<L: Lane>(&self, accumulator: &mut Accumulator) -> L {
        let mut fingerprint = L::ZERO;
        let counts = accumulator.counts.iter_mut().take(self.planes.len());
        for (word, counts) in fingerprint.words_mut().iter_mut().zip(counts) {
            *word = counts.take_majority();
        }
        fingerprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint_table::Wide;
    use proptest::prelude::*;

    /// The slow, obvious twin.
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
                    let found = simhash.finish::<Wide<2>>(&mut accumulator);
                    prop_assert_eq!(u128::from(found), naive(&table, &ranks));
                }
            }
        }
    }
}
