//! Finds the first row of each different fingerprint. This is enough to count pairs: it needs no lists
//! of equal rows, and does not move the rows.

use crate::Rows;
use crate::collect::Collect;
use crate::grouping::{GROUPS, NONE, partition_equal};
use rayon::prelude::ParallelSliceMut;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::memory_ledger::Ledger;
use simtool_compute::tasks;
use simtool_kernels::partition::{BlockHash, Parts};
use simtool_kernels::prefetch;
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::validity::Validity;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of pairs of first rows that are collected before they are counted together. Meanwhile, the elements of
/// [`FirstRows::repeated`] for their rows are prefetched. A first row is the first one with its fingerprint.
const PENDING: usize = 64;

/// The first row of each different fingerprint, and the number of rows that have this fingerprint.
#[derive(Debug)]
pub(super) struct FirstRows {
    /// Marks each row with a fingerprint that no earlier row has.
    pub(super) first: Validity,
    /// One bit for each row, in 64-bit words. It is set if the row is a first row and later rows are equal to it.
    repeated: Vec<u64>,
    /// The rows whose bit in `repeated` is set, in ascending order. Each comes with the number of rows
    /// that have its fingerprint.
    sizes: Vec<(u32, u32)>,
}

/// Memory for an array of fingerprints and an array of row numbers. Both have room for all rows.
pub(super) type Buffer<L> = (LargeBuffer<L>, LargeBuffer<u32>);

/// Finds the first row of each different fingerprint. Also returns the two arrays that this needed as
/// scratch memory, so that the join can use them again.
///
/// # Errors
///
/// There is too little memory.
pub(super) fn first_rows<L: Fingerprint>(
    rows: Rows<'_, L>,
    ledger: &Ledger,
) -> Result<(FirstRows, Buffer<L>)> {
    let row_count = rows.fingerprints.len();
    let mut values = LargeBuffer::<L>::try_zeroed(row_count, GROUPS)?.entered_in(ledger);
    let mut numbers = LargeBuffer::<u32>::try_zeroed(row_count, GROUPS)?.entered_in(ledger);
    let (starts, bits) = partition_equal(rows, &mut values, &mut numbers);
    let valid = rows.validity.cloned().unwrap_or_else(|| Validity::all(row_count));
    let first: Vec<AtomicU64> = valid.words().iter().map(|&word| AtomicU64::new(word)).collect();
    let parts: Vec<_> = starts.windows(2).map(|pair| pair[0]..pair[1]).collect();
    let sizes = tasks::map_items(parts, |part| {
        let (values, numbers) = (&values[part.clone()], &numbers[part]);
        part_sizes(values, bits, numbers, &first)
    });
    let mut sizes = sizes.concat();
    sizes.par_sort_unstable();
    let mut repeated = vec![0u64; first.len()];
    for &(row, _) in &sizes {
        repeated[row as usize / 64] |= 1 << (row % 64);
    }
    let words = first.into_iter().map(AtomicU64::into_inner).collect();
    let first = Validity::from_words(words, row_count).unwrap_or(valid);
    Ok((FirstRows { first, repeated, sizes }, (values, numbers)))
}

/// Finds the fingerprints that several rows of one part have. A part has the rows whose hashes agree in `used_bits`
/// bits. Returns the first row of each such fingerprint and its number of rows. In `first`, clears the bits of all
/// other rows with such a fingerprint.
fn part_sizes<L: Fingerprint>(
    values: &[L],
    used_bits: u32,
    numbers: &[u32],
    first: &[AtomicU64],
) -> Vec<(u32, u32)> {
    // A hash table with open addressing. It holds indices of first rows in the part.
    let table_bits = (2 * values.len()).max(2).next_power_of_two().ilog2();
    let hash = BlockHash::new(!L::ZERO, used_bits, table_bits);
    let mask = hash.parts() - 1;
    let mut table = vec![NONE; hash.parts()];
    let mut firsts = Vec::new();
    for (place, &value) in values.iter().enumerate() {
        let mut slot = hash.part(value) & mask;
        loop {
            let known = table[slot];
            if known == NONE {
                table[slot] = place as u32;
                break;
            }
            if values[known as usize] == value {
                // The partition keeps the order of the rows, so the known row comes before this one.
                let row = numbers[place];
                first[row as usize / 64].fetch_and(!(1 << (row % 64)), Ordering::Relaxed);
                firsts.push(numbers[known as usize]);
                break;
            }
            slot = (slot + 1) & mask;
        }
    }
    // Each first row is listed once for each later row that is equal to it.
    firsts.sort_unstable();
    let groups = firsts.chunk_by(|a, b| a == b);
    groups.map(|group| (group[0], group.len() as u32 + 1)).collect()
}

impl FirstRows {
    /// Returns the number of pairs of rows with equal fingerprints.
    pub(super) fn equal_pairs(&self) -> u64 {
        self.sizes.iter().map(|&(_, size)| u64::from(size) * u64::from(size - 1) / 2).sum()
    }

    /// Returns the number of rows that have the same fingerprint as `row`, including `row` itself. It must be the first
    /// row with its fingerprint.
    fn size(&self, row: u32) -> u64 {
        // Most first rows have no equal rows, and one bit says so without a search.
        if self.repeated[row as usize / 64] >> (row % 64) & 1 == 0 {
            return 1;
        }
        let found = self.sizes.binary_search_by_key(&row, |&(row, _)| row);
        found.map_or(1, |at| u64::from(self.sizes[at].1))
    }
}

/// Receiver that counts all pairs of rows, although the join finds only pairs of first rows. A first
/// row is the first row with its fingerprint. If m and n rows have the fingerprints of a pair, the pair
/// counts as m × n pairs.
#[derive(Debug)]
pub(super) struct CountFirst<'a>(pub(super) &'a FirstRows);

/// Result of one part of the join: the number of pairs of rows counted so far, and pairs of first rows
/// that are not counted yet.
#[derive(Debug, Default)]
pub(super) struct Counted {
    count: u64,
    pending: Vec<(u32, u32)>,
}

impl CountFirst<'_> {
    /// Counts the pairs that are not counted yet in `part`, the result of one part of the join. Returns the number of
    /// all pairs of rows in it.
    pub(super) fn total(&self, mut part: Counted) -> u64 {
        self.settle(&mut part);
        part.count
    }

    fn settle(&self, part: &mut Counted) {
        let rows = |(a, b)| self.0.size(a) * self.0.size(b);
        part.count += part.pending.drain(..).map(rows).sum::<u64>();
    }
}

impl Collect for CountFirst<'_> {
    type Part = Counted;

    fn part(&self) -> Counted {
        Counted::default()
    }

    #[inline]
    fn pair(&self, part: &mut Counted, a: u32, b: u32, _: u32) {
        prefetch(&self.0.repeated, a as usize / 64);
        prefetch(&self.0.repeated, b as usize / 64);
        part.pending.push((a, b));
        if part.pending.len() == PENDING {
            self.settle(part);
        }
    }

    fn merge(&self, part: &mut Counted, later: Counted) {
        part.count += self.total(later);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn first_rows_stand_for_all_rows_that_have_a_fingerprint() {
        for rows in [0usize, 1, 70, 40_000] {
            let fingerprints: Vec<u64> =
                (0..rows as u64).map(|i| ((i * i % 9973) << 40) | (i % 3)).collect();
            let mut some = Validity::all(rows);
            (0..rows).step_by(3).for_each(|row| some.clear(row));
            for validity in [None, Some(&some)] {
                let rows = Rows { fingerprints: &fingerprints, validity };
                let mut expected = BTreeMap::<u64, (u32, u64)>::new();
                for row in (0..fingerprints.len()).filter(|&row| rows.has_fingerprint(row)) {
                    expected.entry(fingerprints[row]).or_insert((row as u32, 0)).1 += 1;
                }
                let (found, _) = first_rows(rows, &Ledger::new(0)).unwrap();
                let firsts =
                    (0..fingerprints.len()).filter(|&row| found.first.has_value(row)).count();
                assert_eq!(firsts, expected.len());
                for &(row, size) in expected.values() {
                    assert!(found.first.has_value(row as usize));
                    assert_eq!(found.size(row), size);
                }
                let equal: u64 = expected.values().map(|(_, size)| size * (size - 1) / 2).sum();
                assert_eq!(found.equal_pairs(), equal);
            }
        }
    }
}
