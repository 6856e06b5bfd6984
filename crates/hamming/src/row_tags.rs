//! Tags: sixteen bits that represent a row in a table. They exclude most rows that share a bucket with a
//! query by chance.
//!
//! Think of the k + 1 blocks of a layout as a ring, in which two near rows have at most k differences.
//! Then there is a block such that, counting from it, any first l blocks hold fewer than l differences.
//! To see this, give each block its number of differences less one, and add these up around the ring. The
//! whole sum is negative. Start behind the last block where the sum is highest: from there on it is
//! always negative.
//!
//! So this first block holds no difference, the block behind it at most one, and the two blocks behind it
//! at most two together. A table for each block misses no pair if it excludes rows that differ from the
//! query in more than l bits of the l blocks behind its own. A tag is made of the bits of these blocks: as
//! many blocks as give sixteen bits.
//!
//! # References
//!
//! J. Qin, C. Xiao, "Pigeonring: a principle for faster thresholded similarity search", PVLDB 12(1),
//! 2018.

use crate::layout::Layout;
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::{Lane, Reach};
use std::ops::Range;

/// Bits of a tag, and most bits that are gathered.
pub(super) const GATHERED_BITS: usize = 16;

/// Number of weights that a tag can have: from 0 to all of its bits.
pub(super) const WEIGHTS: usize = GATHERED_BITS + 1;

/// The function from the rows of a table to their tags.
#[derive(Debug)]
pub(super) struct RowTags {
    bits: GatheredBits,
    /// For a tag of each weight, the range of the near tags among random tags sorted by weight, in
    /// 1/2^16 of all tags.
    expected: [(u32, u32); WEIGHTS],
    /// Most bits in which the tags of a pair differ that this table must find.
    pub(super) most: u32,
}

/// Some bits of a row, side by side.
#[derive(Clone, Debug)]
pub(super) struct GatheredBits {
    /// For each byte of a row that holds a gathered bit: its word, its place in the word, and the gathered
    /// bits of each value of the byte.
    bytes: Vec<(usize, u32, [u16; 256])>,
}

impl GatheredBits {
    /// Gathers these bits: the j-th becomes bit j modulo 16, combined by XOR.
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

    /// Returns the gathered bits of a row. The function is linear: the bits of a difference are the
    /// difference of the bits.
    #[inline]
    pub(super) fn of<L: Lane>(&self, row: L) -> u16 {
        let words = row.words();
        let of_byte = |(word, shift, gathered): &(usize, u32, [u16; 256])| {
            gathered[usize::from((words[*word] >> shift) as u8)]
        };
        self.bytes.iter().map(of_byte).fold(0, |all, more| all ^ more)
    }
}

impl RowTags {
    /// Chooses the bits of the tags in the table for block `number`.
    ///
    /// The choice is frozen, since tables are stored. The bits are taken block after block, the lowest bit
    /// of each block first, and the j-th is combined by XOR with bit j modulo 16 of the tag.
    pub(super) fn new(layout: &Layout, number: usize, reach: Reach) -> Self {
        let blocks = layout.masks().len();
        // The blocks behind limit the differences only if units are bits, and if there are enough blocks
        // for the argument of the ring.
        let is_ring = reach.shape.metric() == Metric::Bits && blocks > reach.max_distance as usize;
        let (mut bits, mut behind) = (Vec::new(), 0);
        while is_ring && bits.len() < GATHERED_BITS && behind + 1 < blocks {
            behind += 1;
            bits.extend(layout.mask_bits((number + behind) % blocks));
        }
        if behind == 0 {
            // The bits of its own block, in which near rows agree. A bucket may hold other rows as well.
            bits.extend(layout.mask_bits(number));
        }
        let lighter = lighter_tags(bits.len().min(GATHERED_BITS));
        let expected = std::array::from_fn(|weight| {
            let heaviest = (weight + behind).min(GATHERED_BITS);
            (lighter[weight.saturating_sub(behind)], lighter[heaviest + 1])
        });
        Self { bits: GatheredBits::new(bits), expected, most: behind as u32 }
    }

    /// Returns the tag of a row, which is linear, too.
    #[inline]
    pub(super) fn tag<L: Lane>(&self, row: L) -> u16 {
        self.bits.of(row)
    }

    /// Returns the range in which the tags near `tag` are expected among `tags` tags sorted by weight,
    /// with some more on both sides. Random tags would be in this range.
    #[inline]
    pub(super) fn expected(&self, tag: u16, tags: usize) -> Range<usize> {
        let (start, end) = self.expected[tag.count_ones() as usize];
        let place = |of_all: u32| ((tags as u64 * u64::from(of_all)) >> 16) as usize;
        // Tags are not quite random, so the range is a little longer.
        let more = tags / 16 + 4;
        place(start).saturating_sub(more)..(place(end) + more).min(tags)
    }
}

/// The share of all tags of `bits` bits that are lighter than each weight, in 1/2^16.
fn lighter_tags(bits: usize) -> [u32; WEIGHTS + 1] {
    let (mut lighter, mut before) = ([0; WEIGHTS + 1], 0);
    // The number of tags of this weight; all weights together have 2^bits.
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

    fn tags<L: Lane>(shape: Shape, max_distance: u32) -> (Vec<L>, Vec<RowTags>) {
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

    /// For every way in which up to k differences fall on the blocks, some table finds the pair.
    #[test]
    fn no_difference_within_reach_is_missed() {
        fn check<L: Lane>(shape: Shape, max_distance: u32) {
            let (blocks, tags) = tags::<L>(shape, max_distance);
            for seed in 0..3000 {
                let mut difference = L::ZERO;
                let mut state = seed;
                for _ in 0..=mix(seed) % u64::from(max_distance + 1) {
                    state = mix(state + 1);
                    // Some far apart, some crowded in few blocks.
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
