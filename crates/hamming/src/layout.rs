//! Layouts: sets of bit masks. Two fingerprints are compared if they are equal in all bits of one of
//! the masks. A layout can be stored.

use crate::split::BitWeights;
use simtool_base::stable_hash::{GAMMA, mix};
use simtool_model::fingerprint_rows::{Metric, Shape};
use simtool_model::fingerprint_table::{Fingerprint, set_lowest_bits};
use simtool_model::similarity::Threshold;

/// Disjoint bit masks for fingerprints of one shape.
///
/// A unit is a bit or, if the metric counts different lanes, a lane, which is a group of bits. There
/// are three kinds of layouts:
///
/// - **k + 1 masks without a common unit.** Two fingerprints that differ in at most k units are equal
///   in one of the masks. So tables and joins by these masks miss no pair.
/// - **k + 1 masks for each of several 64-bit words**, if the words vote. If v of w words must be near,
///   then any w − v + 1 words include a near one. So the first w − v + 1 words have masks.
/// - **Bands**, which are longer masks. Similar fingerprints are equal in one of them with the
///   probability that [`Self::recall`] returns.
///
/// ```
/// use simtool_model::fingerprint_rows::Shape;
/// use simtool_hamming::layout::Layout;
///
/// let layout = Layout::even(Shape::bits(64), 3);
/// let masks: Vec<u64> = layout.blocks();
/// assert_eq!(masks, [0xFFFF, 0xFFFF << 16, 0xFFFF << 32, 0xFFFF << 48]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    /// The 64-bit words of all masks, one mask after the other.
    masks: Vec<u64>,
}

impl Layout {
    /// Creates a layout for `max_distance` whose masks all distinguish the given fingerprints about equally well. For
    /// example, a constant bit does not count in the division of the bits. `words` are the words of all fingerprints or
    /// of a sample, one fingerprint after the other.
    ///
    /// # Panics
    ///
    /// The number of words is not a multiple of the words of one fingerprint.
    #[must_use]
    pub fn of(words: &[u64], shape: Shape, max_distance: u32) -> Self {
        assert!(words.len().is_multiple_of(shape.words()), "whole rows of {shape}");
        Self::weighed(&BitWeights::of_words(words, shape.words(), shape), shape, max_distance)
    }

    /// Creates a layout for `max_distance` from fingerprints of type `L`, like [`Self::of`] from words. All masks
    /// distinguish these fingerprints about equally well.
    pub(super) fn of_fingerprints<L: Fingerprint>(
        fingerprints: &[L],
        shape: Shape,
        max_distance: u32,
    ) -> Self {
        Self::weighed(&BitWeights::of(fingerprints, shape), shape, max_distance)
    }

    fn weighed(weights: &BitWeights, shape: Shape, max_distance: u32) -> Self {
        let groups = (max_distance as usize).saturating_add(1);
        // If all units of two fingerprints may differ, any two fingerprints may be near. Then one mask
        // without bits makes every pair a candidate.
        let dealt = |part: Vec<u64>| weights.deal_words(&part, groups);
        let masks: Option<Vec<_>> = regions(shape).map(dealt).collect();
        Self { shape, masks: masks.map_or_else(|| vec![0; shape.words()], |masks| masks.concat()) }
    }

    /// Creates a layout for `max_distance` without knowing the fingerprints. All masks have about the same number of
    /// units, which are neighbouring bits or lanes. For a given shape and distance, the result is the same in every
    /// version.
    #[must_use]
    pub fn even(shape: Shape, max_distance: u32) -> Self {
        let masks = u64::from(max_distance) + 1;
        if masks > u64::from(shape.units()) {
            return Self { shape, masks: vec![0; shape.words()] };
        }
        if !matches!(shape.metric(), Metric::Votes { .. }) {
            return Self::bands(shape, max_distance + 1);
        }
        // Words that vote are searched one by one, so each word has masks of its own.
        let of_lane = Self::bands(Shape::bits(u64::BITS), max_distance + 1).masks;
        let mut masks = Vec::new();
        for region in regions(shape) {
            for mask in &of_lane {
                masks.extend(region.iter().map(|word| word & mask));
            }
        }
        Self { shape, masks }
    }

    /// Creates `bands` masks, called bands, which have about the same number of neighbouring units (bits or lanes).
    /// Fingerprints that are equal in a band are compared. Pairs that are equal in no band are missed.
    ///
    /// # Panics
    ///
    /// Panics if there are no bands, if there are more bands than units, or if the words of a
    /// fingerprint vote.
    #[must_use]
    pub fn bands(shape: Shape, bands: u32) -> Self {
        assert!(
            !matches!(shape.metric(), Metric::Votes { .. }),
            "{shape} are looked up lane by lane"
        );
        let (units, unit_bits) = shape.parts();
        assert!((1..=units).contains(&bands), "{bands} bands of {units} units");
        // Bands are as equal as possible. They end at equal fractions of the units.
        let edge = |band: u32| {
            let unit = u64::from(units) * u64::from(band) / u64::from(bands);
            unit as u32 * unit_bits
        };
        let mut masks = Vec::with_capacity(bands as usize * shape.words());
        for band in 0..bands {
            let (mut below, mut upto) = (vec![0; shape.words()], vec![0; shape.words()]);
            set_lowest_bits(&mut below, edge(band));
            set_lowest_bits(&mut upto, edge(band + 1));
            masks.extend(below.iter().zip(&upto).map(|(below, upto): (&u64, &u64)| upto & !below));
        }
        Self { shape, masks }
    }

    /// Whether two fingerprints are equal in all bits of at least one mask.
    #[must_use]
    pub fn has_equal_mask(&self, a: &[u64], b: &[u64]) -> bool {
        self.masks().any(|mask| agree(mask, a, b))
    }

    /// Creates a layout of bands that finds at least the fraction `recall` of the pairs at distance
    /// `max_distance`. It has as few bands as possible. Nearer pairs are found with a greater
    /// probability.
    ///
    /// Returns `None` if a layout that misses no pair at all needs no more masks. Also returns `None` if the words of a
    /// fingerprint vote or if its hashes may be null.
    #[must_use]
    pub fn with_recall(shape: Shape, max_distance: u32, recall: Threshold) -> Option<Self> {
        if matches!(shape.metric(), Metric::Votes { .. } | Metric::Lanes { null: true, .. }) {
            return None;
        }
        let similarity = Self::agreement(shape, max_distance);
        // Number of masks with which every pair is equal in one, wherever its differences are.
        let exact = match shape.metric() {
            Metric::Cosine { .. } => shape.parts().0 + 1,
            _ => max_distance.saturating_add(1).min(shape.units()),
        };
        let bands = (1..exact).map(|bands| Self::bands(shape, bands));
        bands.into_iter().find(|bands| bands.recall(similarity) >= recall.ratio())
    }

    /// Returns a lower bound of the average fraction of units (bits or lanes) in which two fingerprints
    /// at this distance are equal.
    #[must_use]
    pub fn agreement(shape: Shape, distance: u32) -> f64 {
        let near = 1.0 - f64::from(distance) / f64::from(shape.units());
        match shape.metric() {
            // The Jaccard similarity of two sets is the square of their cosine if one set holds the
            // other, and larger otherwise.
            Metric::Cosine { bits } => {
                let by_chance = 0.5_f64.powi(bits.cast_signed());
                by_chance + (1.0 - by_chance) * near * near
            }
            _ => near,
        }
    }

    /// Returns the shape of the fingerprints.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the 64-bit words of each mask.
    pub fn masks(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.masks.chunks_exact(self.shape.words())
    }

    /// Returns the 64-bit words of mask number `mask`.
    fn mask(&self, mask: usize) -> &[u64] {
        let words = self.shape.words();
        &self.masks[mask * words..(mask + 1) * words]
    }

    /// Returns the bit positions of mask number `mask`, in ascending order.
    pub(super) fn mask_bits(&self, mask: usize) -> impl Iterator<Item = u32> {
        let words = self.mask(mask);
        (0..self.shape.row_bits()).filter(|&bit| words[bit as usize / 64] >> (bit % 64) & 1 == 1)
    }

    /// Returns mask number `mask` as a value of type `L`.
    pub(super) fn block<L: Fingerprint>(&self, mask: usize) -> L {
        L::from_words(self.mask(mask))
    }

    /// Returns all masks as values of type `L`.
    #[must_use]
    pub fn blocks<L: Fingerprint>(&self) -> Vec<L> {
        self.masks().map(L::from_words).collect()
    }

    /// Replaces `keys` by the keys of a fingerprint: for each mask, a 64-bit hash of the bits in the
    /// mask. Fingerprints that are equal in a mask have the same key for it. Other fingerprints hardly
    /// ever do.
    ///
    /// The function must never change, so that keys can be stored and shared: the same fingerprint and
    /// masks give the same keys in every version and on every machine. A key starts as the mix of the
    /// mask's number, counted from 1, times [`GAMMA`]. Then for each word in which the mask has bits,
    /// the lowest first, the key is combined with the masked word by XOR, [`GAMMA`] is added, and the
    /// key is [mixed](mix) again.
    ///
    /// # Panics
    ///
    /// The fingerprint has fewer words than the shape.
    pub fn keys(&self, row: &[u64], keys: &mut Vec<u64>) {
        keys.clear();
        keys.extend((0..self.masks().len()).map(|mask| self.key(mask, row)));
    }

    /// Returns one of the [`Self::keys`] of a fingerprint: the key for mask number `mask`, counted from
    /// 0.
    pub(super) fn key(&self, mask: usize, row: &[u64]) -> u64 {
        let bits = self.mask(mask);
        let masked = row[..bits.len()].iter().zip(bits).filter(|&(_, &bits)| bits != 0);
        let start = mix(GAMMA.wrapping_mul(mask as u64 + 1));
        masked.fold(start, |key, (word, bits)| mix((key ^ (word & bits)).wrapping_add(GAMMA)))
    }

    /// Returns the probability that two fingerprints are equal in at least one mask, if each of their
    /// units (bits or lanes) is equal with the probability `similarity`. This is 1 − (1 − s^r)^b for b
    /// masks of r units.
    #[must_use]
    pub fn recall(&self, similarity: f64) -> f64 {
        let unit_bits = self.shape.parts().1;
        let missed = self.masks().map(|mask| {
            let bits: u32 = mask.iter().map(|word| word.count_ones()).sum();
            1.0 - similarity.powi((bits / unit_bits).cast_signed())
        });
        1.0 - missed.product::<f64>()
    }
}

/// Returns masks of the parts of a fingerprint that a layout divides. Two near fingerprints differ in
/// at most k units (bits or lanes) of at least one part. Usually there is one part, the whole
/// fingerprint. If words vote, each of the first words is a part.
fn regions(shape: Shape) -> impl Iterator<Item = Vec<u64>> {
    let (count, bits) = match shape.metric() {
        Metric::Votes { needed } => (shape.words() - needed as usize + 1, u64::BITS),
        _ => (1, shape.row_bits()),
    };
    (0..count).map(move |region| {
        let mut words = vec![0; shape.words()];
        set_lowest_bits(&mut words[region..], bits);
        words
    })
}

/// Whether block number `table` is the first of `blocks` in which two fingerprints are equal.
/// `difference` is the XOR of the two fingerprints.
#[inline]
pub(super) fn is_first_agreeing<W: Fingerprint>(blocks: &[W], table: usize, difference: W) -> bool {
    difference & blocks[table] == W::ZERO
        && blocks[..table].iter().all(|&block| difference & block != W::ZERO)
}

/// Whether two fingerprints are equal in the bits of `mask`.
#[inline]
pub(super) fn agree(mask: &[u64], a: &[u64], b: &[u64]) -> bool {
    mask.iter().zip(a).zip(b).all(|((mask, a), b)| (a ^ b) & mask == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the masks are disjoint, and that together they have the lowest `bits` bits.
    fn check(layout: &Layout, masks: usize, bits: u32) {
        assert_eq!(layout.masks().len(), masks);
        let mut union = vec![0; layout.shape().words()];
        for mask in layout.masks() {
            for (union, word) in union.iter_mut().zip(mask) {
                assert_eq!(*union & word, 0);
                *union |= word;
            }
        }
        assert_eq!(union.iter().map(|word: &u64| word.count_ones()).sum::<u32>(), bits);
    }

    #[test]
    fn masks_share_no_bits_and_leave_none() {
        check(&Layout::even(Shape::bits(100), 3), 4, 100);
        check(&Layout::even(Shape::bits(512), 24), 25, 512);
        check(&Layout::even(Shape::lanes(16, 32), 4), 5, 512);
        check(&Layout::of(&[1, 2, 3, 4, 5, 6], Shape::bits(192), 3), 4, 192);
        check(&Layout::of(&[], Shape::bits(64), 63), 64, 64);
        // Too few bits: one mask without bits, in which all fingerprints are equal.
        check(&Layout::of(&[1], Shape::bits(64), 64), 1, 0);
        check(&Layout::even(Shape::bits(64), u32::MAX), 1, 0);
    }

    #[test]
    fn rows_with_enough_near_lanes_agree_in_a_mask() {
        let shape = Shape::votes(5, 3);
        let words: Vec<u64> = (0..40).map(mix).collect();
        let layouts = [Layout::even(shape, 3), Layout::of(&words, shape, 3)];
        for layout in &layouts {
            check(layout, 12, 3 * u64::BITS);
            let (mut of_row, mut of_other) = (Vec::new(), Vec::new());
            for near in (0u32..1 << 5).filter(|lanes| lanes.count_ones() == 3) {
                // Three bits differ in a word that is near, and most bits in another.
                let changed = |lane: u64| {
                    let bits = if near >> lane & 1 == 1 { 3 } else { 30 };
                    words[lane as usize]
                        ^ (0..bits).fold(0, |bits, bit| bits | 1 << ((bit * 19 + lane) % 64))
                };
                let other: Vec<u64> = (0..5).map(changed).collect();
                assert_eq!(shape.distance(&words[..5], &other), 3);
                layout.keys(&words[..5], &mut of_row);
                layout.keys(&other, &mut of_other);
                assert!(of_row.iter().zip(&of_other).any(|(a, b)| a == b), "{near:b}");
            }
        }
        check(&Layout::even(shape, 64), 1, 0);
    }

    #[test]
    fn keys_have_their_frozen_values() {
        let mut keys = Vec::new();
        Layout::even(Shape::bits(64), 3).keys(&[0x0123_4567_89AB_CDEF], &mut keys);
        assert_eq!(keys, GOLDEN_64);
        Layout::bands(Shape::lanes(32, 4), 2).keys(&[1, 2], &mut keys);
        assert_eq!(keys, GOLDEN_LANES);
        // Neither bits outside the mask nor additional words change a key.
        let mut others = Vec::new();
        Layout::bands(Shape::lanes(32, 4), 2).keys(&[1, 3, 9], &mut others);
        assert_eq!((others[0], others[1] == keys[1]), (keys[0], false));
    }

    const GOLDEN_64: [u64; 4] = [
        0xa209_db7f_ae63_026c,
        0x8895_6c27_5d07_ed15,
        0xc855_97e7_9e79_14cd,
        0x8319_094a_0136_ed13,
    ];
    const GOLDEN_LANES: [u64; 2] = [0x08b4_fda8_c892_b50e, 0x88ad_cd8d_4573_57f7];

    #[test]
    fn bands_are_as_few_as_a_recall_allows() {
        let recall = Threshold::parse("recall", "0.98").unwrap();
        let shape = Shape::lanes(128, 4);
        let layout = Layout::with_recall(shape, 24, recall).unwrap();
        let similarity = 104.0 / 128.0;
        assert!(layout.recall(similarity) >= 0.98);
        let fewer = Layout::bands(shape, layout.masks().len() as u32 - 1);
        assert!(fewer.recall(similarity) < 0.98);
        // With one more mask than different bits, no pair is missed. One mask less is no better.
        assert_eq!(Layout::with_recall(Shape::bits(64), 3, Threshold::new(1, 1).unwrap()), None);
    }

    #[test]
    fn recall_is_that_of_bands() {
        let layout = Layout::bands(Shape::lanes(128, 4), 32);
        assert!((layout.recall(0.8) - (1.0 - (1.0 - 0.8f64.powi(4)).powi(32))).abs() < 1e-12);
        assert!((layout.recall(1.0) - 1.0).abs() < 1e-12);
    }
}
