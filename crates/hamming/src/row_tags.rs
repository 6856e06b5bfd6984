//! Tags: 16-bit summaries of fingerprints. A table of the block index stores a tag for each row.
//! Comparing tags excludes most of the rows that have the same bucket as a query by chance.
//!
//! The k + 1 blocks of a layout form a ring. Two near fingerprints have at most k different bits. Then
//! there is a block such that, counting from it, the first l blocks have fewer than l differences, for
//! every l. To see this, give each block its number of differences minus 1, and add these numbers up
//! around the ring. The total is negative. Start behind the last block where the running sum is
//! highest. From there on, it is always negative.
//!
//! So this first block has no difference, the next block at most one, and the next two blocks at most
//! two together. Each block has a table. A table may exclude fingerprints that differ from the query in
//! more than l bits of the l blocks behind its own, and still some table finds every pair. A tag
//! consists of the bits of the blocks behind the table's own, until there are at least sixteen bits.
//!
//! # References
//!
//! J. Qin, C. Xiao, "Pigeonring: a principle for faster thresholded similarity search", PVLDB 12(1),
//! 2018.

use crate::layout::Layout;
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::{Fingerprint, Reach};
use std::ops::Range;

/// Number of bits that [`GatheredBits`] returns, which is also the number of bits of a tag. A tag is a
/// summary of a fingerprint.
pub(super) const GATHERED_BITS: usize = 16;

/// Number of weights that a tag, which is a 16-bit summary of a fingerprint, can have. The weight of a tag is the
/// number of its set bits, from 0 to 16.
pub(super) const WEIGHTS: usize = GATHERED_BITS + 1;

/// Function that computes the tag of each fingerprint in one table. A tag is a 16-bit summary of a
/// fingerprint.
#[derive(Debug)]
pub(super) struct RowTags {
    bits: GatheredBits,
    /// For each weight (number of set bits) of a query's tag, the range of a bucket's tags that are likely to be near
    /// the query's tag. The bucket's tags are sorted by weight. Start and end of the range are fractions of all tags in
    /// the bucket, in units of 1/2¹⁶.
    expected: [(u32, u32); WEIGHTS],
    /// Maximum number of bits in which the tags (16-bit summaries) of a query and of a row may differ. This table skips
    /// all other rows. If one of them is near the query, another table finds it.
    pub(super) most: u32,
}

/// Function that extracts some bits of a fingerprint and packs them into 16 bits.
#[derive(Clone, Debug)]
pub(super) struct GatheredBits {
    /// For each byte of a fingerprint with an extracted bit: the index of its word, the position of its
    /// lowest bit in the word, and a table. The table has the extracted bits for each value of the
    /// byte.
    bytes: Vec<(usize, u32, [u16; 256])>,
}

impl GatheredBits {
    /// Creates the function for the bit positions `bits`. The bit at the j-th position goes to bit j
    /// modulo 16 of the result. If several bits go to the same place, they are combined by XOR.
    pub(super) fn new(bits: impl IntoIterator<Item = u32>) -> Self {
        let mut bytes: Vec<(usize, u32, [u16; 256])> = Vec::new();
        for (at, bit) in bits.into_iter().enumerate() {
            let (word, shift) = (bit as usize / 64, bit % 64 / 8 * 8);
            // Bits of the same byte share a table.
            let known = bytes.iter().position(|&(w, s, _)| (w, s) == (word, shift));
            let known = known.unwrap_or_else(|| {
                bytes.push((word, shift, [0; 256]));
                bytes.len() - 1
            });
            for (value, gathered) in bytes[known].2.iter_mut().enumerate() {
                *gathered ^= ((value as u16 >> (bit % 8)) & 1) << (at % GATHERED_BITS);
            }
        }
        Self { bytes }
    }

    /// Returns the extracted bits of a fingerprint. The function is linear: the XOR of two results is
    /// the result for the XOR of the fingerprints.
    #[inline]
    pub(super) fn of<L: Fingerprint>(&self, row: L) -> u16 {
        let words = row.words();
        let of_byte = |(word, shift, gathered): &(usize, u32, [u16; 256])| {
            gathered[usize::from((words[*word] >> shift) as u8)]
        };
        self.bytes.iter().map(of_byte).fold(0, |all, more| all ^ more)
    }
}

impl RowTags {
    /// Creates the function that computes the tags in the table of block number `number` of `layout`.
    ///
    /// The tag of a fingerprint consists of the bits of the blocks that follow this block in the layout, until there
    /// are 16 bits. After the last block follows the first. If distances do not count bits, or there are too few
    /// blocks, the tag has the bits of this block itself. In each block, the lowest bit comes first. The j-th bit is
    /// combined by XOR with bit j modulo 16 of the tag. This choice of bits must never change, because tables are
    /// stored.
    pub(super) fn new(layout: &Layout, number: usize, reach: Reach) -> Self {
        let blocks = layout.masks().len();
        // The next blocks limit the number of differences only if distances count bits, and if there
        // are enough blocks for the argument above.
        let is_ring = reach.shape.metric() == Metric::Bits && blocks > reach.max_distance as usize;
        let (mut bits, mut behind) = (Vec::new(), 0);
        while is_ring && bits.len() < GATHERED_BITS && behind + 1 < blocks {
            behind += 1;
            bits.extend(layout.mask_bits((number + behind) % blocks));
        }
        if behind == 0 {
            // Use the bits of the block itself, in which near fingerprints are equal. A bucket may
            // contain fingerprints that are not equal in the block.
            bits.extend(layout.mask_bits(number));
        }
        let lighter = lighter_tags(bits.len().min(GATHERED_BITS));
        let expected = std::array::from_fn(|weight| {
            let heaviest = (weight + behind).min(GATHERED_BITS);
            (lighter[weight.saturating_sub(behind)], lighter[heaviest + 1])
        });
        Self { bits: GatheredBits::new(bits), expected, most: behind as u32 }
    }

    /// Returns the tag of a fingerprint, which is a 16-bit summary of it. The XOR of two tags is the tag of the XOR of
    /// their fingerprints.
    #[inline]
    pub(super) fn tag<L: Fingerprint>(&self, row: L) -> u16 {
        self.bits.of(row)
    }

    /// Returns the range of a bucket's tags that are likely to be near `tag`, as indices in the bucket. A tag is a
    /// 16-bit summary of a fingerprint. The bucket has `tags` tags, sorted by weight, which is the number of set bits.
    /// The range is a little longer than it would be for random tags.
    #[inline]
    pub(super) fn expected(&self, tag: u16, tags: usize) -> Range<usize> {
        let (start, end) = self.expected[tag.count_ones() as usize];
        let place = |of_all: u32| ((tags as u64 * u64::from(of_all)) >> 16) as usize;
        // Tags are not quite random, so the range is a little longer.
        let more = tags / 16 + 4;
        place(start).saturating_sub(more)..(place(end) + more).min(tags)
    }
}

/// Returns a list about all possible tags of `bits` bits. Element w is the fraction of these tags with fewer than w set
/// bits, in units of 1/2¹⁶. A tag is a summary of a fingerprint.
fn lighter_tags(bits: usize) -> [u32; WEIGHTS + 1] {
    let (mut lighter, mut before) = ([0; WEIGHTS + 1], 0);
    // Number of tags with this weight. There are 2^bits tags in total.
    let mut tags = 1;
    for (weight, lighter) in lighter.iter_mut().enumerate() {
        *lighter = before << (GATHERED_BITS - bits);
        before += tags;
        tags = tags * bits.saturating_sub(weight) as u32 / (weight as u32 + 1);
    }
    lighter
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use simtool_model::fingerprint_rows::Shape;
    use simtool_model::fingerprint_table::Wide;

    fn tags<L: Fingerprint>(shape: Shape, max_distance: u32) -> (Vec<L>, Vec<RowTags>) {
        let layout = Layout::even(shape, max_distance);
        let reach = Reach { shape, max_distance };
        let tags = (0..layout.masks().len()).map(|number| RowTags::new(&layout, number, reach));
        (layout.blocks(), tags.collect())
    }

    #[test]
    fn a_tag_is_the_block_behind() {
        let (_, tags) = tags::<u64>(Shape::bits(64), 3);
        let row = 0x0123_4567_89AB_CDEF;
        assert_eq!(
            tags.iter().map(|tags| tags.tag(row)).collect::<Vec<_>>(),
            [0x89AB, 0x4567, 0x0123, 0xCDEF]
        );
        assert!(tags.iter().all(|tags| tags.most == 1));
    }

    #[test]
    fn most_near_tags_are_where_they_are_expected() {
        for (shape, max_distance) in [(Shape::bits(64), 3), (Shape::bits(33), 8)] {
            let (_, tags) = tags::<u64>(shape, max_distance);
            let mut stored: Vec<u16> = (0..5000).map(|row| tags[0].tag(mix(row))).collect();
            stored.sort_unstable_by_key(|tag| tag.count_ones());
            for tag in &stored {
                let expected = tags[0].expected(*tag, stored.len());
                let weights = stored.iter().map(|other| other.count_ones());
                let near = weights
                    .enumerate()
                    .filter(|(_, w)| w.abs_diff(tag.count_ones()) <= tags[0].most);
                let near: Vec<usize> = near.map(|(place, _)| place).collect();
                let found = near.iter().filter(|place| expected.contains(place)).count();
                assert!(found * 10 > near.len() * 9, "{found} of {}", near.len());
                assert!(expected.len() < near.len() + stored.len() / 4);
            }
            assert_eq!(tags[0].expected(0, 0), 0..0);
        }
    }

    /// Checks that tables miss no near pair. For many random pairs with up to k differences, at least
    /// one table must find the pair.
    #[test]
    fn no_difference_within_reach_is_missed() {
        fn check<L: Fingerprint>(shape: Shape, max_distance: u32) {
            let (blocks, tags) = tags::<L>(shape, max_distance);
            for seed in 0..3000 {
                let mut difference = L::ZERO;
                let mut state = seed;
                for _ in 0..=mix(seed) % u64::from(max_distance + 1) {
                    state = mix(state + 1);
                    // Some differences are far apart, and some are in few blocks.
                    let spread = shape.row_bits() >> (seed % 4);
                    let bit = (state % u64::from(spread)) as u32;
                    if difference.count_ones() < max_distance {
                        difference = difference | L::ZERO.flipped(bit);
                    }
                }
                let found = (0..blocks.len()).any(|table| {
                    difference & blocks[table] == L::ZERO
                        && tags[table].tag(difference).count_ones() <= tags[table].most
                });
                assert!(found, "{shape}, {max_distance}: {difference:?}");
            }
        }
        for max_distance in 0..12 {
            check::<u64>(Shape::bits(64), max_distance);
            check::<u64>(Shape::bits(33), max_distance);
            check::<Wide<2>>(Shape::bits(128), max_distance);
            check::<Wide<8>>(Shape::bits(512), max_distance);
        }
    }
}
