//! Computes the keys of rows for a block of bits. Rows that agree in the block have the same key.
//!
//! A key is the product of the row's bits in the block with odd constants. The loop is plain: with
//! AVX-512 the compiler multiplies eight words at a time.

use super::Isa;
use super::partition::BlockHash;
use super::vector::{Kernel, Level};
use simtool_model::fingerprint_table::Fingerprint;

/// Writes the key of each of `values` to `keys`. The key is a 64-bit hash of those bits of the value that the mask
/// `block` selects.
///
/// ```
/// use simtool_kernels::{Isa, block_keys::block_keys};
///
/// let mut keys = [0; 3];
/// block_keys(&[0x12_u64, 0x92, 0x13], 0xF, Isa::detected(), &mut keys);
/// // The first two rows agree in their lowest four bits.
/// assert_eq!(keys[0], keys[1]);
/// assert_ne!(keys[0], keys[2]);
/// ```
///
/// # Panics
///
/// If there are not as many keys as values.
pub fn block_keys<L: Fingerprint>(values: &[L], block: L, isa: Isa, keys: &mut [u64]) {
    assert_eq!(values.len(), keys.len(), "a key for each value");
    isa.run(BlockKeys { values, hash: BlockHash::new(block, 0, 64) }, keys);
}

struct BlockKeys<'a, W> {
    values: &'a [W],
    hash: BlockHash<W>,
}

impl<W: Fingerprint> Kernel<&mut [u64]> for BlockKeys<'_, W> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L, keys: &mut [u64]) {
        for (key, &value) in keys.iter_mut().zip(self.values) {
            *key = self.hash.hash(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_table::Wide;

    #[test]
    fn every_level_makes_the_same_keys() {
        let values: Vec<Wide<8>> = (0..50u64)
            .map(|i| Wide([1, 2, 3, 5, 7, 11, 13, 17].map(|f| (f * (i % 7)) << (i % 40))))
            .collect();
        let block = Wide([0xFF00_FF00_FF00_FF00; 8]);
        let mut expected = vec![0; values.len()];
        let hash = BlockHash::new(block, 0, 64);
        for (key, &value) in expected.iter_mut().zip(&values) {
            *key = hash.hash(value);
        }
        for &isa in Isa::available() {
            let mut keys = vec![1; values.len()];
            block_keys(&values, block, isa, &mut keys);
            assert_eq!(keys, expected, "{isa}");
        }
        for (a, first) in values.iter().enumerate() {
            for (b, second) in values.iter().enumerate() {
                let agree = (*first ^ *second) & block == Wide::ZERO;
                assert!(!agree || expected[a] == expected[b]);
            }
        }
    }
}
