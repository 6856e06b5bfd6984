//! Tags: sixteen bits of a row that stand for it in a table, and tell most rows apart that share a
//! bucket by chance.
//!
//! Think of the blocks of a layout as a ring. If k + 1 blocks hold at most k differences together, there
//! is a block from which on every stretch of l blocks holds fewer than l: count from any block on one
//! less than the differences of each; the sum over the ring is negative, and behind the last block
//! where it is highest it only falls. So that block holds none, the one behind it at most one, the two
//! behind it at most two together. A table for each block misses nothing if it leaves out what differs
//! from the query in more bits of the l blocks behind its own than l. A tag is these bits: of as many
//! blocks as give sixteen.
//!
//! # References
//!
//! J. Qin, C. Xiao, "Pigeonring: a principle for faster thresholded similarity search", PVLDB 12(1),
//! 2018.

use crate::layout::Layout;
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::{Lane, Reach};
use std::ops::Range;

/// Bits of a tag, and of all that is gathered.
pub(super) const GATHERED_BITS: usize = 16;

/// Weights that a tag may have: as many as it has bits, and none.
pub(super) const WEIGHTS: usize = GATHERED_BITS + 1;

/// How the rows of a table get their tags.
#[derive(Debug)]
pub(super) struct RowTags {
    bits: GatheredBits,
    /// Where those that are near a tag of each weight stand among random ones by their weights, in
    /// 1/2^16 of all.
    expected: [(u32, u32); WEIGHTS],
    /// Bits in which the tags of two rows differ, at most, that this table is to find.
    pub(super) most: u32,
}

/// Some bits of a row, side by side.
#[derive(Clone, Debug)]
pub(super) struct GatheredBits {
    /// For each byte of a row that has a say: its word, its place there, and what each value gives.
    bytes: Vec<(usize, u32, [u16; 256])>,
}

impl GatheredBits {
    /// These bits, combined by XOR: the j-th is bit j modulo 16.
    pub(super) fn new(bits: impl IntoIterator<Item = u32>) -> Self {
        let mut bytes: Vec<(usize, u32, [u16; 256])> = Vec::new();
        for (at, bit) in bits.into_iter().enumerate() {
            let (word, shift) = (bit as usize / 64, bit % 64 / 8 * 8);
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

    /// Those of a row. Linear: of a difference they are the difference of those of the rows.
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
    /// The tags of the table for the block of that number.
    ///
    /// They are frozen, since tables are stored: the j-th of the chosen bits, block after block and the
    /// lowest of each first, is combined with bit j modulo 16 of the tag by XOR.
    pub(super) fn new(layout: &Layout, number: usize, reach: Reach) -> Self {
        let blocks = layout.masks().len();
        // Only where units are bits, and there are enough blocks for the ring to hold, do the blocks
        // behind tell anything.
        let is_ring = reach.shape.metric() == Metric::Bits && blocks > reach.max_distance as usize;
        let (mut bits, mut behind) = (Vec::new(), 0);
        while is_ring && bits.len() < GATHERED_BITS && behind + 1 < blocks {
            behind += 1;
            bits.extend(layout.mask_bits((number + behind) % blocks));
        }
        if behind == 0 {
            // Its own, in which rows that are near agree: a bucket may hold others as well.
            bits.extend(layout.mask_bits(number));
        }
        let lighter = lighter_tags(bits.len().min(GATHERED_BITS));
        let expected = std::array::from_fn(|weight| {
            let heaviest = (weight + behind).min(GATHERED_BITS);
            (lighter[weight.saturating_sub(behind)], lighter[heaviest + 1])
        });
        Self { bits: GatheredBits::new(bits), expected, most: behind as u32 }
    }

    /// The tag of a row. Linear, too.
    #[inline]
    pub(super) fn tag<L: Lane>(&self, row: L) -> u16 {
        self.bits.of(row)
    }

    /// Among tags that stand by their weights, the places of those near a tag if they are of random
    /// rows, and some more on both sides.
    #[inline]
    pub(super) fn expected(&self, tag: u16, tags: usize) -> Range<usize> {
        let (start, end) = self.expected[tag.count_ones() as usize];
        let place = |of_all: u32| ((tags as u64 * u64::from(of_all)) >> 16) as usize;
        let more = tags / 16 + 4;
        place(start).saturating_sub(more)..(place(end) + more).min(tags)
    }
}

/// Of all tags of so many bits those that have less than each weight, in 1/2^16.
fn lighter_tags(bits: usize) -> [u32; WEIGHTS + 1] {
    let (mut lighter, mut before) = ([0; WEIGHTS + 1], 0);
    // The number of tags of a weight, of which there are 2^bits in all.
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
    fn most_of_what_is_near_stands_where_it_is_expected() {
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
