//! The keys of the multi-index join. A key is a range of bits of a fingerprint, and has a radius: the
//! maximum number of bits in which the keys of a pair may differ.
//!
//! The bits of a fingerprint are divided into m blocks. Block i gets a radius rᵢ such that the sum of
//! all rᵢ + 1 is k + 1. Fingerprints that differ in more than rᵢ bits of every block i differ in at
//! least k + 1 bits. So every pair with at most k different bits is within the radius of some block.
//!
//! The key of a block is the first bits of the block. A pair that is within the radius in the block is
//! also within the radius in the key. A key has only so many bits that the rows fill its buckets.

use crate::split::BitWeights;
use simtool_kernels::partition::Parts;
use simtool_model::fingerprint_table::Fingerprint;

/// Number of values that are copied at once. The last copy of a list may read this number of values
/// beyond its end, so every list has room for them.
pub(super) const COPIED: usize = 8;
/// Number of rows in a sample. The sample shows how many pairs of rows have near keys. A key is a range of bits of a
/// fingerprint, and near keys differ in at most `radius` bits of their block.
const SAMPLE: usize = 1024;
/// If far more pairs of rows than by chance have near keys (ranges of bits), the recursive join is used instead of the
/// multi-index join. This is the maximum ratio of the pairs with near keys in a sample to the pairs expected by chance.
const CROWDED: f64 = 8.0;
/// Maximum number of blocks into which a fingerprint is divided. Each block has one key.
const MOST_BLOCKS: u32 = 12;
/// Possible numbers of bits of a key, which is a range of bits of a fingerprint. With b bits, the table of bucket
/// starts has 2^b entries.
const KEY_BITS: std::ops::RangeInclusive<u32> = 4..=22;

// Nanoseconds, rounded from measurements on a 2-core AMD EPYC with AVX-512 in November 2026.

/// Nanoseconds for partitioning one row by a key in two passes. [`PARTITION_WORD`] and
/// [`PARTITION_BIT`] add to this time.
const PARTITION: f64 = 15.0;
/// Additional nanoseconds of the two passes of a partition for each 64-bit word of the row.
const PARTITION_WORD: f64 = 7.0;
/// Additional nanoseconds of the two passes of a partition for each bit of a key beyond
/// [`CACHED_BITS`].
const PARTITION_BIT: f64 = 8.0;
/// Maximum number of bits of a key (a range of bits of a fingerprint) for fast partitions. With at most this number of
/// bits, the ends of all buckets stay in the caches while a partition fills the buckets.
const CACHED_BITS: u32 = 18;
/// Nanoseconds for each 64-bit word of a row, for one of two steps: looking up the bucket of a key, or copying
/// [`COPIED`] rows of a bucket.
const LOOK: f64 = 5.0;
/// Nanoseconds for preparing the comparison of a bucket with other buckets. A bucket has the rows with the same key,
/// and it is compared with the buckets of near keys.
const BUCKET: f64 = 100.0;
/// Nanoseconds for one comparison of two rows.
const COMPARE: f64 = 0.07;
/// Average number of unused rows in the last tile of a bucket. A tile is a group of rows that are compared together,
/// and an unused row takes as much time as a used one.
const TILE_WASTE: f64 = 3.5;

/// The key of a block: a range of bits of every fingerprint. Two fingerprints may be a pair if their
/// keys differ in at most `radius` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyBlock {
    /// Position of the key's lowest bit in the fingerprint.
    first: u32,
    /// Number of bits of the key.
    pub(super) bits: u32,
    /// Maximum number of bits in which the keys of a pair may differ.
    pub(super) radius: u32,
}

impl KeyBlock {
    /// Returns the `bits` bits of the key from its bit `first` on, as a window by which rows can be
    /// partitioned. Bit 0 is the lowest bit of the key.
    pub(super) fn window(&self, first: u32, bits: u32) -> KeyWindow {
        KeyWindow { first: self.first + first, bits }
    }

    /// Returns a mask of the key's bits.
    pub(super) fn mask<L: Fingerprint>(&self) -> L {
        L::lowest_bits(self.first + self.bits) & !L::lowest_bits(self.first)
    }

    /// Returns the XOR of a key with each other key within the radius. These are all numbers from 1 on
    /// with at most `radius` set bits. Element h of the result has the numbers whose highest set bit is
    /// bit h, in ascending order.
    pub(super) fn flips(&self) -> Vec<Vec<u32>> {
        let mut flips = Vec::new();
        if self.radius > 0 {
            flips.resize(self.bits as usize, Vec::new());
            let near = (1..1u32 << self.bits).filter(|flip| flip.count_ones() <= self.radius);
            near.for_each(|flip| flips[flip.ilog2() as usize].push(flip));
        }
        flips
    }
}

/// Returns two numbers. The first is the number of keys of `bits` bits that differ from a given key in
/// at most `radius` bits. The second is the fraction of rows with such a key. `worth` is the average
/// information per bit. It is 1 if each bit is 1 in half of the rows.
fn ball(bits: u32, radius: u32, worth: f64) -> (f64, f64) {
    let agree = (-worth).exp2();
    let mut keys = 0.0;
    let mut share = 0.0;
    // The number of ways to flip `flipped` bits: a binomial coefficient, which the loop updates.
    let mut choices = 1.0;
    for flipped in 0..=radius {
        keys += choices;
        let differ = (1.0 - agree).powi(flipped.cast_signed());
        share += choices * differ * agree.powi((bits - flipped).cast_signed());
        choices *= f64::from(bits - flipped) / f64::from(flipped + 1);
    }
    (keys, share)
}

/// Whether far more pairs of rows in a sample of `values` have near keys than by chance. Keys of a block are near if
/// they differ in at most its radius. The pairs are so many if the bits of the rows depend on each other. `worth` is
/// the average information per bit, at most 1.
pub(super) fn are_crowded<L: Fingerprint>(blocks: &[KeyBlock], values: &[L], worth: f64) -> bool {
    let sample: Vec<L> = values.iter().copied().step_by((values.len() / SAMPLE).max(1)).collect();
    let mut expected = 0.0;
    let mut meetings = 0u32;
    for block in blocks {
        expected += ball(block.bits, block.radius, worth).1;
        let window = block.window(0, block.bits);
        let keys: Vec<u32> = sample.iter().map(|&value| window.part(value) as u32).collect();
        for (number, key) in keys.iter().enumerate() {
            let near = keys[..number].iter().filter(|o| (*o ^ key).count_ones() <= block.radius);
            meetings += near.count() as u32;
        }
    }
    let pairs = (sample.len() * sample.len()) as f64 / 2.0;
    // In a small sample, a few near keys are no evidence. So 10 more than expected are always allowed.
    f64::from(meetings) > CROWDED * (expected * pairs + 10.0)
}

/// Some consecutive bits of a fingerprint, by which rows are partitioned. The value of these bits is
/// the number of the fingerprint's part, which is also called its bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyWindow {
    first: u32,
    bits: u32,
}

impl<L: Fingerprint> Parts<L> for KeyWindow {
    #[inline]
    fn part(&self, value: L) -> usize {
        let (word, bit) = (self.first as usize / 64, self.first % 64);
        let words = value.words();
        let above = words.get(word + 1).copied().unwrap_or(0);
        // Two shifts, since a shift by 64 bits at once is not defined for `bit` 0.
        let bits = words[word] >> bit | (above << 1) << (63 - bit);
        bits as usize & ((1 << self.bits) - 1)
    }

    fn parts(&self) -> usize {
        1 << self.bits
    }
}

/// The way in which fingerprints are divided into keys: the number of blocks, and the maximum number of
/// bits of the key of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyPlan {
    blocks: u32,
    key_bits: u32,
}

impl KeyPlan {
    #[cfg(test)]
    pub(super) fn new(blocks: u32, key_bits: u32) -> Self {
        Self { blocks, key_bits }
    }

    /// Returns the plan that takes the least time for `rows` rows of `row_bits` bits, and its estimated nanoseconds on
    /// one core. `effective_bits` random bits would distinguish rows as well as their `row_bits` bits do.
    pub(super) fn cheapest(
        rows: f64,
        row_bits: u32,
        effective_bits: u32,
        max_distance: u32,
    ) -> (Self, f64) {
        let most_blocks = max_distance.saturating_add(1).min(row_bits).min(MOST_BLOCKS);
        let plans = (1..=most_blocks).flat_map(|blocks| {
            KEY_BITS.map(move |key_bits| {
                let plan = Self { blocks, key_bits };
                (plan, plan.cost(rows, row_bits, effective_bits, max_distance))
            })
        });
        let first = (Self { blocks: 1, key_bits: *KEY_BITS.start() }, f64::INFINITY);
        plans.fold(first, |best, plan| if plan.1 < best.1 { plan } else { best })
    }

    /// Returns the number of bytes of the table that holds the start of the bucket of each key.
    pub(super) fn table_bytes(self) -> f64 {
        f64::from(self.key_bits).exp2() * size_of::<u32>() as f64
    }

    fn cost(self, rows: f64, row_bits: u32, effective_bits: u32, max_distance: u32) -> f64 {
        let words = f64::from(row_bits.div_ceil(64));
        let worth = f64::from(effective_bits) / f64::from(row_bits);
        let block = |number| {
            let bits = (row_bits / self.blocks).min(self.key_bits);
            let radius = self.radius(number, max_distance);
            // Every key is within the radius, so the block excludes no pair.
            if radius >= bits {
                return f64::INFINITY;
            }
            let (near, share) = ball(bits, radius, worth);
            let keys = (f64::from(bits) * worth).exp2();
            let buckets = keys * (1.0 - (-rows / keys).exp());
            let compares = rows * rows / 2.0 * share * (1.0 + TILE_WASTE * buckets / rows);
            let looks = buckets * near / 2.0 * (1.0 + rows / keys / COPIED as f64);
            let far_bits = f64::from(bits.saturating_sub(CACHED_BITS));
            let partition = PARTITION + PARTITION_WORD * words + PARTITION_BIT * far_bits;
            rows * partition
                + f64::from(bits).exp2()
                + buckets * BUCKET
                + looks * words * LOOK
                + compares * COMPARE
        };
        (0..self.blocks).map(block).sum()
    }

    /// Returns the radius of block number `block`, which is the maximum number of bits in which near keys of this block
    /// differ. The radii of all blocks plus the number of blocks is `max_distance` + 1. So the keys of each near pair
    /// are near in at least one block.
    fn radius(self, block: u32, max_distance: u32) -> u32 {
        let (each, more) = ((max_distance + 1) / self.blocks, (max_distance + 1) % self.blocks);
        each + u32::from(block < more) - 1
    }

    /// Divides fingerprints of `row_bits` bits into blocks of about equal weight, and returns the key of each block.
    /// The weight of a bit measures how well the bit distinguishes fingerprints.
    pub(super) fn cut(
        self,
        weights: &BitWeights,
        row_bits: u32,
        max_distance: u32,
    ) -> Vec<KeyBlock> {
        let total: f64 = (0..row_bits).map(|bit| weights.of_bit(bit)).sum();
        let share = total / f64::from(self.blocks);
        let mut first = 0;
        // Weight of all bits before `end`.
        let mut weight = 0.0;
        let mut blocks = Vec::new();
        for number in 0..self.blocks {
            // Each later block needs at least one bit.
            let last = row_bits - (self.blocks - 1 - number);
            let mut end = first;
            // The block takes bits until its middle would be behind its part of the total weight. The
            // last block takes all remaining bits.
            while end < last
                && (end == first
                    || number + 1 == self.blocks
                    || weight + weights.of_bit(end) / 2.0 < share * f64::from(number + 1))
            {
                weight += weights.of_bit(end);
                end += 1;
            }
            let bits = (end - first).min(self.key_bits);
            let radius = self.radius(number, max_distance).min(bits);
            blocks.push(KeyBlock { first, bits, radius });
            first = end;
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_rows::Shape;
    use simtool_model::fingerprint_table::Wide;

    #[test]
    fn radii_and_blocks_come_to_the_distance_and_the_rows_bits() {
        let narrow = BitWeights::of(&(0..1024u64).collect::<Vec<_>>(), Shape::bits(64));
        for weights in [BitWeights::even(Shape::bits(64)), narrow] {
            for max_distance in 0..20 {
                for blocks in 1..=MOST_BLOCKS.min(max_distance + 1) {
                    let plan = KeyPlan { blocks, key_bits: 64 };
                    let radii = (0..blocks).map(|block| plan.radius(block, max_distance) + 1);
                    assert_eq!(radii.sum::<u32>(), max_distance + 1);
                    let cut = plan.cut(&weights, 64, max_distance);
                    let bits: u32 = cut.iter().map(|block| block.bits).sum();
                    let union = cut.iter().fold(0, |all, block| all | block.mask::<u64>());
                    assert!(cut.len() == blocks as usize && cut.iter().all(|block| block.bits > 0));
                    assert_eq!((bits, union), (64, u64::MAX));
                }
            }
        }
    }

    #[test]
    fn keys_are_bits_of_the_row_across_its_words() {
        let block = KeyBlock { first: 60, bits: 10, radius: 2 };
        let row = Wide([0xA << 60 | 0x4D, 0b10_1101 | 1 << 20]);
        assert_eq!(block.window(0, 10).part(row), 0b10_1101 << 4 | 0xA);
        assert_eq!(block.window(2, 3).part(row), 0b110);
        assert_eq!(block.window(0, 0).part(row), 0);
        assert_eq!(block.mask::<Wide<2>>(), Wide([0xF << 60, 0x3F]));
        let last = KeyBlock { first: 118, ..block };
        assert_eq!(last.window(0, 10).part(Wide([0, 3 << 62 | 1 << 54])), 0b11_0000_0001);
        let flips = block.flips();
        assert_eq!(flips[3], [8, 9, 10, 12]);
        assert_eq!(flips.concat().len(), 10 + 45);
        assert!(KeyBlock { radius: 0, ..block }.flips().is_empty());
    }

    #[test]
    fn rows_whose_bits_depend_on_each_other_are_crowded() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(11);
            state ^ state >> 29
        };
        let random: Vec<u64> = (0..5000).map(|_| next()).collect();
        // Twenty different rows with a few flipped bits. Each single bit looks random.
        let centres: Vec<u64> =
            (0..5000).map(|row| random[row % 20] ^ 1 << (next() >> 58)).collect();
        let (plan, _) = KeyPlan::cheapest(1e6, 64, 64, 10);
        let blocks = plan.cut(&BitWeights::even(Shape::bits(64)), 64, 10);
        assert!(!are_crowded(&blocks, &random, 1.0) && are_crowded(&blocks, &centres, 1.0));
    }
}
