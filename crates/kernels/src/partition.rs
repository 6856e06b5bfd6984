//! Radix partitioning of records by a hash of some bits of their values. A record is a value and a number.
//!
//! Values and numbers are in two arrays. Every partition is stable: records of one part keep
//! their order, so the result does not depend on how the input was cut among threads.

use simtool_model::fingerprint_table::Fingerprint;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Function that assigns each value to one of several parts, for example by a hash of the value.
pub trait Parts<L>: Sync {
    /// Returns the index of the part to which `value` is assigned. It is below [`Self::parts`].
    fn part(&self, value: L) -> usize;

    /// Returns the number of parts.
    fn parts(&self) -> usize;
}

/// Partition by hash: some bits of the hash of a value are the number of its part. Only the bits of
/// the value that a mask selects are hashed. This mask is called block.
///
/// The hash is the product of the masked value and an odd constant. The number of the part is taken
/// from the highest bits of the hash, because every bit of the block influences them. Values that
/// are equal in the block are in the same part. Other values can be in that part, too.
#[derive(Clone, Copy, Debug)]
pub struct BlockHash<L> {
    pub(super) block: L,
    pub(super) shift: u32,
    pub(super) window: u64,
}

impl<L: Fingerprint> BlockHash<L> {
    /// Odd factors for the words of a value. The first is the factor of the golden ratio, the next two
    /// are from `SplitMix64`, and the others are numbers without a pattern.
    pub(super) const FACTORS: [u64; 8] = [
        0x9E37_79B9_7F4A_7C15,
        0xBF58_476D_1CE4_E5B9,
        0x94D0_49BB_1331_11EB,
        0xD6E8_FEB8_6659_FD93,
        0xA24B_AED4_963E_E407,
        0x9FB2_1C65_1E98_DF25,
        0xC6BC_2796_92B5_C323,
        0xE703_7ED1_A0B4_28DB,
    ];

    /// Creates the partition by the bits `used .. used + bits` of the hash, counted from its highest
    /// bit. `block` is the mask of the bits that are hashed.
    pub fn new(block: L, used: u32, bits: u32) -> Self {
        debug_assert!(bits > 0 && used + bits <= 64);
        Self { block, shift: 64 - used - bits, window: u64::MAX >> (64 - bits) }
    }

    /// Returns all 64 bits of the hash of `value`.
    #[inline]
    pub(super) fn hash(&self, value: L) -> u64 {
        (value & self.block).products(&Self::FACTORS)
    }
}

impl<L: Fingerprint> Parts<L> for BlockHash<L> {
    #[inline]
    fn part(&self, value: L) -> usize {
        ((self.hash(value) >> self.shift) & self.window) as usize
    }

    fn parts(&self) -> usize {
        self.window as usize + 1
    }
}

/// Counts how many of `values` the function `hash` assigns to each part, and adds these numbers to `counts`.
#[inline(never)]
pub fn count<L: Fingerprint>(values: &[L], hash: &impl Parts<L>, counts: &mut [u32]) {
    let counts = &mut counts[..hash.parts()];
    for &value in values {
        counts[hash.part(value)] += 1;
    }
}

/// Replaces the count of each part by the index where the part begins. The first part begins at
/// `first`. Returns the index where the last part ends. For example, counts 2, 3, 1 become starts 0,
/// 2, 5, and the result is 6.
pub fn counts_to_starts<T: Copy + AddAssign>(counts: &mut [T], first: T) -> T {
    let mut place = first;
    for count in counts {
        place += std::mem::replace(count, place);
    }
    place
}

/// Copies records to their parts in the output arrays. Record i is the value `values[i]` and its number `numbers[i]`,
/// and `hash` assigns the value to a part. `next` has for each part the index of its next record in the output, and
/// this index is increased with each record.
///
/// # Panics
///
/// An index is outside the output, because `next` was not computed from the counts of these values.
#[inline(never)]
pub fn scatter<L: Fingerprint>(
    values: &[L],
    numbers: &[u32],
    hash: &impl Parts<L>,
    next: &mut [u32],
    out_values: &mut [L],
    out_numbers: &mut [u32],
) {
    let next = &mut next[..hash.parts()];
    let out_numbers = &mut out_numbers[..out_values.len()];
    for (&value, &number) in values.iter().zip(numbers) {
        let place = &mut next[hash.part(value)];
        out_values[*place as usize] = value;
        out_numbers[*place as usize] = number;
        *place += 1;
    }
}

/// Two output arrays, for values and numbers, that several threads fill at the same time. Two threads
/// must never write to the same index.
///
/// The stores are relaxed atomic stores, which cost the same as plain ones. If two threads wrote to
/// the same index by mistake, one of their values would remain.
#[derive(Debug)]
pub struct SharedOutput<'a> {
    /// The 64-bit words of all values. The lowest word of a value comes first.
    words: &'a [AtomicU64],
    numbers: &'a [AtomicU32],
}

impl<'a> SharedOutput<'a> {
    /// Creates the shared output from two arrays of equal length.
    pub fn new<L: Fingerprint>(values: &'a mut [L], numbers: &'a mut [u32]) -> Self {
        let words: &mut [u64] = bytemuck::cast_slice_mut(values);
        // SAFETY: an atomic has the size and, on the 64-bit platforms that this is built for, the
        // alignment of its integer, and the borrow is exclusive for as long as the atomics live.
        let words = unsafe { &*(std::ptr::from_mut(words) as *const [AtomicU64]) };
        // SAFETY: as above.
        let numbers = unsafe { &*(std::ptr::from_mut(numbers) as *const [AtomicU32]) };
        Self { words, numbers }
    }

    #[inline]
    fn store<L: Fingerprint>(&self, place: usize, value: L, number: u32) {
        let first = place * L::WORDS;
        let places = &self.words[first..first + L::WORDS];
        for (place, &word) in places.iter().zip(value.words()) {
            place.store(word, Ordering::Relaxed);
        }
        self.numbers[place].store(number, Ordering::Relaxed);
    }
}

/// Copies records to their parts like [`scatter`]. The records come from an iterator and are written to a shared
/// output, which several threads fill. `next` has for each part the index of its next record in the output, and this
/// index is increased with each record.
///
/// # Panics
///
/// An index is outside the output.
#[inline(never)]
pub fn scatter_shared<L: Fingerprint>(
    records: impl Iterator<Item = (L, u32)>,
    hash: &impl Parts<L>,
    next: &mut [u32],
    out: &SharedOutput<'_>,
) {
    let next = &mut next[..hash.parts()];
    for (value, number) in records {
        let place = &mut next[hash.part(value)];
        out.store(*place as usize, value, number);
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_table::Wide;

    #[test]
    fn records_reach_the_part_of_their_hash_in_their_order() {
        let values: Vec<u64> =
            (0..1000u64).map(|i| i.wrapping_mul(0x1234_5678_9ABC_DEF1)).collect();
        let numbers: Vec<u32> = (0..1000).collect();
        let hash = BlockHash::new(0xFFFF_0000_0000u64, 3, 4);
        let mut counts = vec![0; hash.parts()];
        count(&values, &hash, &mut counts);
        let mut next: Vec<u32> = counts
            .iter()
            .scan(0, |sum, count| {
                *sum += count;
                Some(*sum - count)
            })
            .collect();
        let mut shared_next = next.clone();
        let (mut out, mut out_numbers) = (vec![0u64; 1000], vec![0; 1000]);
        scatter(&values, &numbers, &hash, &mut next, &mut out, &mut out_numbers);

        let mut expected: Vec<(usize, u32)> =
            (0..1000).map(|i| (hash.part(values[i as usize]), i)).collect();
        expected.sort_unstable();
        assert!(expected.iter().map(|pair| pair.1).eq(out_numbers.iter().copied()));
        assert!(out_numbers.iter().zip(&out).all(|(&i, &value)| values[i as usize] == value));

        let (mut twin, mut twin_numbers) = (vec![0u64; 1000], vec![0; 1000]);
        let records = values.iter().copied().zip(0..);
        let shared = SharedOutput::new(&mut twin, &mut twin_numbers);
        scatter_shared(records, &hash, &mut shared_next, &shared);
        assert_eq!((out, out_numbers), (twin, twin_numbers));
    }

    #[test]
    fn values_that_agree_in_the_block_share_a_part() {
        let block = Wide([0xF0, 0xFF << 26]);
        let hash = BlockHash::new(block, 0, 10);
        let (a, b) = (Wide([0x4F, 5 << 27]), Wide([0x40, 5 << 27 | 1 << 63]));
        assert_eq!(hash.part(a), hash.part(b));
        assert_ne!(hash.part(a), hash.part(a ^ Wide([0, 1 << 26])));
    }
}
