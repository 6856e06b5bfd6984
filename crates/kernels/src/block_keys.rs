//! The keys of rows for a block of bits: rows that agree in the block have the same one.

use super::Isa;
use super::partition::BlockHash;
use simtool_model::fingerprint_table::Lane;

/// Writes the key of each of `values`: the whole hash of the bits in `block`.
///
/// # Panics
///
/// There are not as many keys as values.
pub fn block_keys<L: Lane>(values: &[L], block: L, isa: Isa, keys: &mut [u64]) {
    assert_eq!(values.len(), keys.len(), "a key for each value");
    let hash = BlockHash::new(block, 0, 64);
    match isa.runnable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `runnable` says that this processor has the instructions.
        Isa::Avx512 => unsafe { x86::block_keys_avx512(values, &hash, keys) },
        _ => portable(values, &hash, keys),
    }
}

#[inline(always)]
fn portable<L: Lane>(values: &[L], hash: &BlockHash<L>, keys: &mut [u64]) {
    for (key, &value) in keys.iter_mut().zip(values) {
        *key = hash.hash(value);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BlockHash, Lane, portable};

    /// The plain loop, compiled for AVX-512, which multiplies eight words at a time.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn block_keys_avx512<L: Lane>(values: &[L], hash: &BlockHash<L>, keys: &mut [u64]) {
        portable(values, hash, keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_table::Wide;

    #[test]
    fn every_path_makes_the_same_keys() {
        let values: Vec<Wide<8>> = (0..50u64)
            .map(|i| Wide([1, 2, 3, 5, 7, 11, 13, 17].map(|f| (f * (i % 7)) << (i % 40))))
            .collect();
        let block = Wide([0xFF00_FF00_FF00_FF00; 8]);
        let mut expected = vec![0; values.len()];
        portable(&values, &BlockHash::new(block, 0, 64), &mut expected);
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
