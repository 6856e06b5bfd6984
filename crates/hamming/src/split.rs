//! Chooses the bits in which pairs must be equal next. This is the pigeonhole step of the recursive
//! joins.
//!
//! A path of the recursion has bits in which its pairs are equal (`equal`), disjoint masks with at
//! least one different bit each (`unequal`), and the other bits (`free`). With d unequal masks, at most
//! k − d differences are left for the free bits. So if the free bits are divided into k − d + 1 groups,
//! the pair is equal in one of them. In the same way, if an unequal mask is divided into k − d + 2
//! groups, the pair is equal in one of them.
//!
//! Each child takes one group as the *first* in which the pair is equal, so the pair differs in each
//! group before it. Exactly one path accepts a pair, so no pair is found twice.
//!
//! If a distance counts lanes, which are groups of bits, the same holds for lanes. A group then has
//! whole lanes, and a pair differs in at least one lane of an unequal mask.

use simtool_kernels::Isa;
use simtool_model::fingerprint_rows::Shape;
use simtool_model::fingerprint_table::{Fingerprint, Reach, set_lowest_bits};
use std::sync::{Arc, OnceLock};

/// Number of values in the sample from which the weights of bits are computed. The weight of a bit says how well it
/// distinguishes fingerprints.
const SAMPLE: usize = 1024;

/// Maximum number of bits of the hash of a block. So many bits distinguish the values of all rows well
/// enough.
const MAX_WIDTH: u32 = 28;

/// A path from the root of the recursion to one of its nodes. It has bit masks, which are conditions
/// for the pairs that are found below that node.
#[derive(Clone, Debug)]
pub(super) struct Path<W> {
    /// Bits in which the two fingerprints of a pair must be equal.
    pub(super) equal: W,
    /// Disjoint masks. A pair must differ in at least one bit of each mask.
    pub(super) unequal: Vec<W>,
    /// Bits that are neither in `equal` nor in a mask of `unequal`. A pair may differ in any of them.
    pub(super) free: W,
    /// The bits that the last split added to `equal`. Buckets are partitioned by a hash of these bits.
    pub(super) block: W,
}

impl<W: Fingerprint> Path<W> {
    /// Creates the path of the root of the recursion. It has no conditions, so it accepts every pair of
    /// fingerprints of this shape.
    pub(super) fn root(shape: Shape) -> Self {
        let free = W::lowest_bits(shape.row_bits());
        Self { equal: W::ZERO, unequal: Vec::new(), free, block: W::ZERO }
    }
}

/// Estimated times in nanoseconds. They decide whether a bucket is split further or all of its pairs
/// are compared.
///
/// They were measured on a 2-core Intel Xeon with AVX-512. The decisions hardly depend on the exact
/// values.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitCosts {
    /// Nanoseconds for comparing one pair in a leaf, which is a bucket whose pairs are all compared.
    compare: f64,
    /// Nanoseconds for moving one record (a fingerprint and its number) through a partition and into a leaf, which is a
    /// bucket whose pairs are all compared.
    record: f64,
    /// Average number of records of a leaf, if a partition made the leaf. A leaf is a bucket whose pairs are all
    /// compared.
    leaf: f64,
}

/// Nanoseconds for reading the fingerprints of a pair whose folds are near, if fingerprints have several words. A fold
/// is the XOR of a fingerprint's words.
const LOOK: f64 = 5.0;
/// If more than this fraction of unrelated pairs has near folds by chance, leaves are made smaller. A fold is the XOR
/// of a fingerprint's words, and a leaf is a bucket whose pairs are all compared.
const MOST_PASSING: f64 = 1e-3;

impl SplitCosts {
    /// Returns the costs for fingerprints of `words` 64-bit words and the maximum distance in `reach`.
    /// `short_words` is true if folds have 32 bits, and false if they have 64 bits. A fold is the XOR
    /// of a fingerprint's words.
    pub(super) fn of(isa: Isa, words: usize, reach: Reach, short_words: bool) -> Self {
        let compare = isa.pair_nanoseconds(short_words);
        if words <= 2 {
            return Self { compare, record: 5.0, leaf: LEAF };
        }
        // Fraction of unrelated pairs whose folds are near by chance.
        let passing = binomial_share(if short_words { 32 } else { 64 }, reach.most_bits());
        let leaf = if passing > MOST_PASSING { LEAF / 4.0 } else { LEAF };
        Self { compare: compare + passing * LOOK, record: 4.0 + words as f64, leaf }
    }

    /// Returns the maximum number of records of a bucket for which a split is never considered. All
    /// pairs of so small a bucket are compared.
    pub(super) fn leaf_records(&self) -> usize {
        if self.leaf < LEAF { 24 } else { 96 }
    }
}

/// Average number of records of a leaf, if a partition made the leaf and comparisons are cheap. A leaf is a bucket
/// whose pairs are all compared.
const LEAF: f64 = 48.0;

/// Returns the fraction of pairs of random words of `bits` bits that differ in at most `most` bits.
fn binomial_share(bits: u32, most: u32) -> f64 {
    let mut term = (-f64::from(bits)).exp2();
    let mut sum = term;
    for differing in 1..=most.min(bits) {
        term *= f64::from(bits + 1 - differing) / f64::from(differing);
        sum += term;
    }
    sum.min(1.0)
}

#[cfg(test)]
impl SplitCosts {
    /// Returns costs for tests: comparisons are so expensive that every bucket is split as often as its
    /// bits allow.
    pub(super) fn of_tests() -> Self {
        Self { compare: 1e6, record: 1.0, leaf: LEAF }
    }
}

/// The weight of each bit, which measures how well the bit distinguishes fingerprints. It is the
/// collision entropy of the bit in a sample. A bit that is 1 in half of the values has weight 1. A
/// constant bit has weight 0.
#[derive(Clone, Debug)]
pub(super) struct BitWeights {
    weights: Vec<f32>,
    /// Number of bits of a unit. A distance is a number of different units, which are single bits or
    /// lanes.
    unit_bits: u32,
}

impl BitWeights {
    /// Computes the weight of each bit, which says how well the bit distinguishes fingerprints, from a sample of
    /// `values`.
    pub(super) fn of<W: Fingerprint>(values: &[W], shape: Shape) -> Self {
        Self::of_words(bytemuck::cast_slice(values), W::WORDS, shape)
    }

    /// Computes the weight of each bit, which says how well the bit distinguishes fingerprints, from a sample of the
    /// fingerprints in `words`. Each fingerprint has `stride` words.
    pub(super) fn of_words(words: &[u64], stride: usize, shape: Shape) -> Self {
        let step = (words.len() / stride / SAMPLE).max(1);
        let mut ones = vec![[0u32; 64]; stride];
        let mut count = 0u32;
        for row in words.chunks_exact(stride).step_by(step) {
            for (&word, ones) in row.iter().zip(&mut ones) {
                for (bit, ones) in ones.iter_mut().enumerate() {
                    *ones += (word >> bit) as u32 & 1;
                }
            }
            count += 1;
        }
        let total = count.max(1) as f32;
        let weight = |ones: u32| {
            let p = ones as f32 / total;
            -(p * p + (1.0 - p) * (1.0 - p)).log2()
        };
        Self { weights: ones.into_iter().flatten().map(weight).collect(), ..Self::even(shape) }
    }

    /// Returns weights of 1 for all bits.
    pub(super) fn even(shape: Shape) -> Self {
        let unit_bits = shape.parts().1;
        Self { weights: vec![1.0; shape.words() * 64], unit_bits }
    }

    /// Returns the weight of the bit at position `bit`: how much the bit distinguishes fingerprints,
    /// from 0 to 1.
    pub(super) fn of_bit(&self, bit: u32) -> f64 {
        f64::from(self.weights[bit as usize])
    }

    /// Returns the total weight of all bits of a fingerprint of this shape, as a rounded number. This many random bits
    /// would distinguish fingerprints as well.
    #[expect(clippy::cast_sign_loss, reason = "weights are not negative")]
    pub(super) fn effective_bits(&self, shape: Shape) -> u32 {
        let mut all = vec![0; shape.words()];
        set_lowest_bits(&mut all, shape.row_bits());
        self.of_words_mask(&all).round() as u32
    }

    fn of_mask<W: Fingerprint>(&self, mask: W) -> f64 {
        self.of_words_mask(mask.words())
    }

    fn of_words_mask(&self, mask: &[u64]) -> f64 {
        let words = mask.iter().zip(self.weights.chunks_exact(64));
        let weights = words.flat_map(|(&word, weights)| {
            weights.iter().enumerate().filter(move |(bit, _)| word >> bit & 1 == 1)
        });
        weights.map(|(_, &weight)| f64::from(weight)).sum()
    }

    /// Divides the units of `mask`, which are bits or lanes, into `groups` groups of about the same weight. The groups
    /// then distinguish fingerprints about equally well. Returns the mask of each group, or `None` if there are fewer
    /// units than groups.
    fn deal<W: Fingerprint>(&self, mask: W, groups: usize) -> Option<Vec<W>> {
        let dealt = self.deal_words(mask.words(), groups)?;
        Some(dealt.chunks_exact(W::WORDS).map(W::from_words).collect())
    }

    /// Divides the units of `mask`, which are bits or lanes, into `groups` groups of about the same weight, for masks
    /// of any number of words. Returns the words of the masks of all groups, one mask after the other, or `None` if
    /// there are fewer units than groups.
    pub(super) fn deal_words(&self, mask: &[u64], groups: usize) -> Option<Vec<u64>> {
        // The mask of one unit, at its lowest bit.
        let unit_mask = u64::MAX >> (u64::BITS - self.unit_bits);
        let per_word = (u64::BITS / self.unit_bits) as usize;
        let place = |unit: usize| (unit / per_word, unit % per_word * self.unit_bits as usize);
        let is_masked = |&unit: &usize| {
            let (word, bit) = place(unit);
            mask[word] >> bit & 1 == 1
        };
        let weight = |unit: usize| {
            let (word, bit) = place(unit);
            let first = word * 64 + bit;
            self.weights[first..first + self.unit_bits as usize].iter().sum::<f32>()
        };
        let units = (0..mask.len() * per_word).filter(is_masked);
        let mut units: Vec<_> = units.map(|unit| (unit, weight(unit))).collect();
        if units.len() < groups {
            return None;
        }
        // Take the heaviest unit first, and add each unit to the group that has the lowest weight so
        // far.
        units.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut heights = vec![0.0f32; groups];
        let mut dealt = vec![0; groups * mask.len()];
        for (unit, weight) in units {
            let lightest = (0..groups).min_by(|a, b| heights[*a].total_cmp(&heights[*b]))?;
            // Units with weight 0 count a little, so that they are distributed over the groups.
            heights[lightest] += weight + 1e-3;
            let (word, bit) = place(unit);
            dealt[lightest * mask.len() + word] |= unit_mask << bit;
        }
        Some(dealt)
    }
}

/// Returns the total weight of all bits of fingerprints of this shape, estimated from a sample of `words` and rounded.
/// This many random bits would distinguish fingerprints as well.
pub(super) fn effective_bits(words: &[u64], shape: Shape) -> u32 {
    BitWeights::of_words(words, shape.words(), shape).effective_bits(shape)
}

/// A node of the recursion: a path, which is a set of conditions for pairs, and the children into which
/// it can be split. The children are computed once, and all buckets of the path use them.
#[derive(Debug)]
pub(super) struct Node<W> {
    pub(super) path: Path<W>,
    /// Number of bits of the hash of the path's last block of bits. A bucket of this path can be partitioned by at most
    /// this number of hash bits.
    pub(super) width: u32,
    weights: Arc<BitWeights>,
    free_weight: f64,
    /// Index of the mask in `path.unequal` whose bits distinguish fingerprints best (the greatest weight), and this
    /// weight. `None` if `path.unequal` is empty.
    widest: Option<(usize, f64)>,
    /// The children that result if the free bits of the path are divided into groups. The inner
    /// `Option` is `None` if there are fewer free bits than groups.
    by_free: OnceLock<Option<Vec<Self>>>,
    /// The children that result if the mask `widest` is divided into groups. The inner `Option` is
    /// `None` if the mask has fewer bits than groups.
    by_widest: OnceLock<Option<Vec<Self>>>,
}

impl<W: Fingerprint> Node<W> {
    pub(super) fn new(path: Path<W>, weights: Arc<BitWeights>) -> Self {
        let weigh = |(index, &mask): (usize, &W)| (index, weights.of_mask(mask));
        let masks = path.unequal.iter().enumerate();
        let widest = masks.map(weigh).max_by(|a, b| a.1.total_cmp(&b.1));
        // A hash with two bits more than the weight of the block distinguishes its values nearly as
        // well as the block.
        let worth = weights.of_mask(path.block).ceil() as i32 + 2;
        let width = path.block.count_ones().min(worth.unsigned_abs()).min(MAX_WIDTH);
        let free_weight = weights.of_mask(path.free);
        let (by_free, by_widest) = (OnceLock::new(), OnceLock::new());
        #[cfg(test)]
        live_paths::add(&path);
        Self { path, width, weights, free_weight, widest, by_free, by_widest }
    }

    /// Returns a node for the same path whose children are chosen by `weights`. The weight of a bit says how well the
    /// bit distinguishes fingerprints.
    pub(super) fn weighed(&self, weights: BitWeights) -> Self {
        Self::new(self.path.clone(), Arc::new(weights))
    }

    /// Returns the children into which a bucket of this node is split, or `None` if it is cheaper to compare all of its
    /// pairs.
    ///
    /// The bucket has `records` records, and `compares` pairs can be formed from them.
    pub(super) fn split(
        &self,
        max_distance: u32,
        records: usize,
        compares: f64,
        costs: SplitCosts,
    ) -> Option<&[Self]> {
        let left = (max_distance as usize).checked_sub(self.path.unequal.len())?;
        let brute = costs.compare * compares;
        // Every split moves each record at least twice. If that takes longer than comparing all pairs,
        // no split is searched.
        if costs.record * records as f64 * 2.0 > brute && left > 0 {
            return None;
        }
        let cost = |groups: usize, weight: f64| {
            let per_group = weight / groups as f64;
            // A partition ends at leaves, so buckets do not become smaller than leaves.
            let shrink = (-per_group).exp2().max(costs.leaf / records as f64);
            groups as f64 * (costs.record * records as f64 + brute * shrink)
        };
        let free_cost = cost(left + 1, self.free_weight);
        let widest = self.widest.map(|(index, weight)| (index, cost(left + 2, weight)));
        let widest = widest.filter(|&(_, cost)| cost < free_cost);
        if widest.map_or(free_cost, |(_, cost)| cost) >= brute {
            return None;
        }
        let children = match widest {
            Some((index, _)) => self.by_widest.get_or_init(|| {
                let groups = self.weights.deal(self.path.unequal[index], left + 2)?;
                Some(self.nodes(split_unequal(&self.path, index, &groups)))
            }),
            None => self.by_free.get_or_init(|| {
                let groups = self.weights.deal(self.path.free, left + 1)?;
                Some(self.nodes(split_free(&self.path, &groups)))
            }),
        };
        children.as_deref()
    }

    fn nodes(&self, paths: Vec<Path<W>>) -> Vec<Self> {
        paths.into_iter().map(|path| Self::new(path, Arc::clone(&self.weights))).collect()
    }
}

/// Counts for tests the 64-bit words in the masks of all paths that a thread has created and not
/// dropped yet. Also stores the maximum of this count.
#[cfg(test)]
pub(super) mod live_paths {
    use super::{Node, Path};
    use std::cell::Cell;

    thread_local! {
        static LIVE: Cell<isize> = const { Cell::new(0) };
        static PEAK: Cell<isize> = const { Cell::new(0) };
    }

    /// Returns the number of 64-bit words in the masks of a path. A path has three single masks and a list of masks
    /// `unequal`.
    fn words<W>(path: &Path<W>) -> isize {
        ((3 + path.unequal.len()) * size_of::<W>() / size_of::<u64>()).cast_signed()
    }

    pub(super) fn add<W>(path: &Path<W>) {
        let live = LIVE.get() + words(path);
        LIVE.set(live);
        PEAK.set(PEAK.get().max(live));
    }

    /// Sets the result of `peak_words` back to the number of words in the paths that exist now.
    pub(crate) fn forget_peak() {
        PEAK.set(LIVE.get());
    }

    /// Returns the maximum number of words in paths that existed at the same time in this thread, since
    /// the last call of `forget_peak`.
    pub(crate) fn peak_words() -> usize {
        PEAK.get().unsigned_abs()
    }

    // If one thread creates a node and another drops it, the count of the second becomes negative. So
    // the bound is only checked for joins with one thread.
    impl<W> Drop for Node<W> {
        fn drop(&mut self) {
            LIVE.set(LIVE.get() - words(&self.path));
        }
    }
}

/// Splits a path, which is a set of conditions for pairs, by groups of its free bits. Returns one child for each of
/// `groups`. The pairs of child i are equal in group i and differ in each group before it.
pub(super) fn split_free<W: Fingerprint>(path: &Path<W>, groups: &[W]) -> Vec<Path<W>> {
    let mut free = path.free;
    let children = groups.iter().enumerate().map(|(t, &group)| {
        free = free & !group;
        let mut unequal = path.unequal.clone();
        unequal.extend_from_slice(&groups[..t]);
        Path { equal: path.equal | group, unequal, free, block: group }
    });
    children.collect()
}

/// Splits a path, which is a set of conditions for pairs, by groups of the bits of the mask `unequal[widest]`. Returns
/// one child for each of `groups`. The pairs of child i are equal in group i and differ in each group before it.
fn split_unequal<W: Fingerprint>(path: &Path<W>, widest: usize, groups: &[W]) -> Vec<Path<W>> {
    let mut rest = path.unequal[widest];
    let children = groups.iter().enumerate().map(|(t, &group)| {
        rest = rest & !group;
        let mut unequal = path.unequal.clone();
        unequal.remove(widest);
        let mut free = path.free;
        if t == 0 {
            // The mask has at least one difference, which must be in the rest of it.
            unequal.push(rest);
        } else {
            unequal.extend_from_slice(&groups[..t]);
            free = free | rest;
        }
        Path { equal: path.equal | group, unequal, free, block: group }
    });
    children.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_table::Wide;

    /// Returns the number of paths that accept a pair of fingerprints whose XOR is `difference`.
    fn accepting(paths: &[Path<u64>], difference: u64) -> usize {
        paths
            .iter()
            .filter(|path| {
                difference & path.equal == 0 && path.unequal.iter().all(|m| difference & m != 0)
            })
            .count()
    }

    #[test]
    fn every_near_pair_is_accepted_on_exactly_one_path() {
        let masks = [0xFu64, 0xF0, 0xFF00, 0xFFFF_0000];
        let first = split_free(&Path::root(Shape::bits(64)), &masks);
        let mut second = Vec::new();
        for path in &first {
            let left = 3 - path.unequal.len();
            let weights = BitWeights::even(Shape::bits(64));
            if path.unequal.is_empty() {
                let groups = weights.deal(path.free, left + 1).unwrap();
                second.extend(split_free(path, &groups));
            } else {
                let groups = weights.deal(path.unequal[0], left + 2);
                match groups {
                    Some(groups) => second.extend(split_unequal(path, 0, &groups)),
                    None => second.push(path.clone()),
                }
            }
        }
        for a in 0..32 {
            for b in 0..32 {
                for c in 0..32 {
                    let difference = 1u64 << a | 1 << b | 1 << c;
                    assert_eq!(accepting(&first, difference), 1, "{difference:x}");
                    assert_eq!(accepting(&second, difference), 1, "{difference:x}");
                }
            }
        }
    }

    #[test]
    fn constant_bits_weigh_nothing_and_are_spread() {
        let values: Vec<u64> = (0..1024).collect();
        let weights = BitWeights::of(&values, Shape::bits(64));
        assert!((weights.of_mask(u64::MAX) - 10.0).abs() < 0.01);
        let groups = weights.deal(u64::MAX, 2).unwrap();
        for group in &groups {
            assert!((weights.of_mask(*group) - 5.0).abs() < 0.01);
        }
        assert_eq!(groups[0] ^ groups[1], u64::MAX);
        assert_eq!(weights.deal(0b111u64, 4), None);
    }

    #[test]
    fn lanes_are_dealt_whole_and_no_bits_behind_the_row() {
        let values = [Wide([0x1234, 5]), Wide([0x4321, 9])];
        let shape = Shape::lanes(20, 4);
        let weights = BitWeights::of(&values, shape);
        let groups = weights.deal(Wide::<2>::lowest_bits(shape.row_bits()), 6).unwrap();
        let mut union = Wide::<2>::ZERO;
        for group in groups {
            assert_eq!(group & union, Wide::<2>::ZERO);
            union = union | group;
            for lane in 0..20 {
                let lane_bits = group.0[lane / 16] >> (lane % 16 * 4) & 0xF;
                assert!(lane_bits == 0 || lane_bits == 0xF);
            }
        }
        assert_eq!(union, Wide([u64::MAX, 0xFFFF]));
        assert_eq!(weights.deal(Wide([0xFF0u64, 0]), 3), None);
    }
}
