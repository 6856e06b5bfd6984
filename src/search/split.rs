//! Which bits to agree on next: the pigeonhole step of the recursive joins.
//!
//! A path of the recursion knows bits in which its pairs agree (`equal`), disjoint masks in each of
//! which they differ (`unequal`), and the other bits (`free`). With d masks that cost at least one
//! difference each, at most k - d differences are left to the free bits, so of k - d + 1 groups
//! of free bits one agrees. In the same way one of k - d + 2 groups of an unequal mask agrees. Each
//! child takes one group as the *first* that agrees, so the groups before it differ; a pair is
//! accepted on the one path where all of that is true, and nowhere twice.

use crate::fingerprint_table::Lane;
use crate::kernels::Isa;
use std::sync::{Arc, OnceLock};

/// Values that are looked at to weigh the bits.
const SAMPLE: usize = 1024;

/// Bits of a block's hash that tell as many values apart as there can be rows.
const MAX_WIDTH: u32 = 28;

/// What is known of the pairs on a path.
#[derive(Clone, Debug)]
pub(super) struct Path<W> {
    /// The pairs agree here.
    pub(super) equal: W,
    /// The pairs differ in each of these, which share no bits.
    pub(super) unequal: Vec<W>,
    /// Everything else.
    pub(super) free: W,
    /// The group of bits that was added to `equal` last: the key of the partition.
    pub(super) block: W,
}

impl<W: Lane> Path<W> {
    /// Nothing is known.
    pub(super) fn root() -> Self {
        Self { equal: W::ZERO, unequal: Vec::new(), free: !W::ZERO, block: W::ZERO }
    }
}

/// Costs in nanoseconds, which only weigh choices against each other.
///
/// Measured on a 2-core Intel Xeon with AVX-512; the choices depend on them little.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// One compare in a leaf.
    compare: f64,
    /// One record through a partition and into a leaf.
    record: f64,
}

impl Costs {
    pub(super) fn of(isa: Isa, short_words: bool) -> Self {
        let compare = match (isa.runnable(), short_words) {
            (Isa::Avx512, true) => 0.03,
            (Isa::Avx512, false) => 0.07,
            (Isa::Avx2, true) => 0.12,
            (Isa::Avx2, false) => 0.3,
            (Isa::Portable, true) => 0.4,
            (Isa::Portable, false) => 1.2,
        };
        Self { compare, record: 5.0 }
    }
}

/// How much each bit tells two values apart: the collision entropy of a sample, in bits.
#[derive(Clone, Debug)]
pub(super) struct BitWeights([f32; 128]);

impl BitWeights {
    pub(super) fn of<W: Lane>(values: &[W]) -> Self {
        let step = (values.len() / SAMPLE).max(1);
        let mut ones = [0u32; 128];
        let mut count = 0u32;
        for value in values.iter().step_by(step) {
            let value = value.widen();
            for (bit, ones) in ones.iter_mut().enumerate().take(W::BITS as usize) {
                *ones += (value >> bit) as u32 & 1;
            }
            count += 1;
        }
        let total = count.max(1) as f32;
        Self(ones.map(|ones| {
            let p = ones as f32 / total;
            -(p * p + (1.0 - p) * (1.0 - p)).log2()
        }))
    }

    fn of_mask<W: Lane>(&self, mask: W) -> f64 {
        let mask = mask.widen();
        (0..128).filter(|bit| mask >> bit & 1 == 1).map(|bit| f64::from(self.0[bit])).sum()
    }

    /// Deals the bits of `mask` to `groups` groups of about the same weight; none if a group would
    /// get no bit that tells values apart.
    fn deal<W: Lane>(&self, mask: W, groups: usize) -> Option<Vec<W>> {
        let wide = mask.widen();
        let mut bits: Vec<u32> = (0..W::BITS).filter(|bit| wide >> bit & 1 == 1).collect();
        if bits.len() < groups {
            return None;
        }
        bits.sort_by(|a, b| self.0[*b as usize].total_cmp(&self.0[*a as usize]));
        let mut dealt = vec![(0.0f32, 0u128); groups];
        for bit in bits {
            let lightest = (0..groups).min_by(|a, b| dealt[*a].0.total_cmp(&dealt[*b].0))?;
            let weight = self.0[bit as usize];
            // A bit without weight still counts a little, so that such bits spread.
            dealt[lightest].0 += weight + 1e-3;
            dealt[lightest].1 |= 1 << bit;
        }
        Some(dealt.into_iter().map(|(_, mask)| W::narrow(mask)).collect())
    }
}

/// The blocks of an index for `max_distance`: k + 1 of them, of which two near values agree in one.
///
/// One empty block, in which all values agree, if there are too few bits.
pub(super) fn index_blocks<W: Lane>(values: &[W], max_distance: u32) -> Vec<W> {
    let weights = BitWeights::of(values);
    let groups = (max_distance as usize).saturating_add(1);
    weights.deal(!W::ZERO, groups).unwrap_or_else(|| vec![W::ZERO])
}

#[expect(clippy::cast_sign_loss, reason = "weights are not negative")]
/// How many bits' worth the bits of `values` tell them apart, from a sample.
pub(super) fn effective_bits<W: Lane>(values: &[W]) -> u32 {
    BitWeights::of(values).of_mask(!W::ZERO).round() as u32
}

/// Whether block `table` is the first of `blocks` that holds none of the differing bits.
#[inline]
pub(super) fn is_first_agreeing<W: Lane>(blocks: &[W], table: usize, difference: W) -> bool {
    difference & blocks[table] == W::ZERO
        && blocks[..table].iter().all(|&block| difference & block != W::ZERO)
}

/// A path with the ways to split it, which are worked out once for all of its buckets.
#[derive(Debug)]
pub(super) struct Node<W> {
    pub(super) path: Path<W>,
    /// Bits of the last block's hash that are worth a partition.
    pub(super) width: u32,
    weights: Arc<BitWeights>,
    free_weight: f64,
    /// The unequal mask that tells values apart best, and how well.
    widest: Option<(usize, f64)>,
    /// The children by groups of the free bits and of the widest mask; none if there are too few
    /// bits.
    by_free: OnceLock<Option<Vec<Self>>>,
    by_widest: OnceLock<Option<Vec<Self>>>,
}

impl<W: Lane> Node<W> {
    pub(super) fn new(path: Path<W>, weights: Arc<BitWeights>) -> Self {
        let weigh = |(index, &mask): (usize, &W)| (index, weights.of_mask(mask));
        let masks = path.unequal.iter().enumerate();
        let widest = masks.map(weigh).max_by(|a, b| a.1.total_cmp(&b.1));
        // A hash of so many bits is a little better than the block's own distribution.
        let worth = weights.of_mask(path.block).ceil() as i32 + 2;
        let width = path.block.count_ones().min(worth.unsigned_abs()).min(MAX_WIDTH);
        let free_weight = weights.of_mask(path.free);
        let (by_free, by_widest) = (OnceLock::new(), OnceLock::new());
        Self { path, width, weights, free_weight, widest, by_free, by_widest }
    }

    /// The same path, weighed anew.
    pub(super) fn weighed(&self, weights: BitWeights) -> Self {
        Self::new(self.path.clone(), Arc::new(weights))
    }

    /// The children, each with its block; none if comparing everything is cheaper.
    ///
    /// `records` are as many as a bucket of the path has, `compares` the pairs of them.
    pub(super) fn split(
        &self,
        max_distance: u32,
        records: usize,
        compares: f64,
        costs: Costs,
    ) -> Option<&[Self]> {
        let left = (max_distance as usize).checked_sub(self.path.unequal.len())?;
        let brute = costs.compare * compares;
        // The least that any split costs.
        if costs.record * records as f64 * 2.0 > brute && left > 0 {
            return None;
        }
        let cost = |groups: usize, weight: f64| {
            let per_group = weight / groups as f64;
            // A partition does not go on below leaves of about 48.
            let shrink = (-per_group).exp2().max(48.0 / records as f64);
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

/// One child for each group of the free bits.
pub(super) fn split_free<W: Lane>(path: &Path<W>, groups: &[W]) -> Vec<Path<W>> {
    let mut free = path.free;
    let children = groups.iter().enumerate().map(|(t, &group)| {
        free = free & !group;
        let mut unequal = path.unequal.clone();
        unequal.extend_from_slice(&groups[..t]);
        Path { equal: path.equal | group, unequal, free, block: group }
    });
    children.collect()
}

/// One child for each group of the bits of an unequal mask.
fn split_unequal<W: Lane>(path: &Path<W>, widest: usize, groups: &[W]) -> Vec<Path<W>> {
    let mut rest = path.unequal[widest];
    let children = groups.iter().enumerate().map(|(t, &group)| {
        rest = rest & !group;
        let mut unequal = path.unequal.clone();
        unequal.remove(widest);
        let mut free = path.free;
        if t == 0 {
            // The mask's difference must be in what is left of it.
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

    /// On how many of `paths` a pair with these differences is accepted.
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
        let first = split_free(&Path::root(), &masks);
        let mut second = Vec::new();
        for path in &first {
            let left = 3 - path.unequal.len();
            let weights = BitWeights([1.0; 128]);
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
        let weights = BitWeights::of(&values);
        assert!((weights.of_mask(u64::MAX) - 10.0).abs() < 0.01);
        let groups = weights.deal(u64::MAX, 2).unwrap();
        for group in &groups {
            assert!((weights.of_mask(*group) - 5.0).abs() < 0.01);
        }
        assert_eq!(groups[0] ^ groups[1], u64::MAX);
        assert_eq!(weights.deal(0b111u64, 4), None);
    }
}
