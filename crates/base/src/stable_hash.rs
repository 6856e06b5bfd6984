//! The only hash that is stored, printed and compared between machines: XXH3-64 with seed 0. All other stored hashes
//! are derived from it. XXH3-128 is for code that takes content with equal hashes as equal, and does not compare the
//! content.
//!
//! If one input needs many hashes, they are computed with [`mix`] and multiples of [`GAMMA`], never with seeds of XXH3.
//! XXH3 computes the hash of an input of one to three bytes as `avalanche(bytes ^ (constant + seed))`. So neighbouring
//! seeds would only exchange the hashes of neighbouring short inputs.
//!
//! # References
//! G. Steele, D. Lea, C. Flood. Fast splittable pseudorandom number generators. OOPSLA 2014
//! ([`mix`] is its finalizer).

use std::fmt;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

/// Constant for computing many hashes from one hash `x`. The hash with index `i` is `mix(x + i * GAMMA)`. The value is
/// 2⁶⁴ divided by the golden ratio.
pub const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// Base of the polynomial that combines the hashes of the tokens of a shingle into one 64-bit hash. A shingle is a
/// sequence of adjacent tokens that count as one unit.
pub const SHINGLE_BASE: u64 = 0xD6E8_FEB8_6659_FD93;

/// Returns the XXH3-64 hash of the bytes with seed 0.
///
/// ```
/// use simtool_base::stable_hash::hash;
///
/// assert_eq!(hash(b""), 0x2d06_8005_38d3_94c2);
/// ```
#[inline]
#[must_use]
pub fn hash(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// Returns the XXH3-128 hash of the bytes with seed 0.
#[must_use]
pub fn wide_hash(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// Computes the [`hash`] of bytes that arrive in pieces.
#[derive(Clone, Default)]
pub struct StreamedHash(Xxh3);

impl StreamedHash {
    /// Adds the next bytes to the bytes that are hashed.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all bytes that were added so far.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.0.digest()
    }
}

impl fmt::Debug for StreamedHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamedHash").field(&self.digest()).finish()
    }
}

/// Mixes the bits of a 64-bit number. Similar inputs have unrelated outputs, and different inputs
/// have different outputs.
#[inline]
#[must_use]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns the word with index `index` in the sequence of pseudorandom 64-bit words of `term`. A term is the hash of a
/// piece of text. Word 0 is the term itself.
#[inline]
#[must_use]
pub const fn row_word(term: u64, index: u32) -> u64 {
    // A term is a hash already, so it serves as the first word without further work. Fingerprints
    // of 64 bits need no other word.
    if index == 0 { term } else { mix(term.wrapping_add(GAMMA.wrapping_mul(index as u64))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_have_their_frozen_values() {
        for (token, expected) in [
            ("a", 0xe6c6_32b6_1e96_4e1f),
            ("rose", 0xd6ea_2b8b_8a72_aca7),
            ("is", 0x82ae_9640_2909_4daa),
            ("", 0x2d06_8005_38d3_94c2),
        ] {
            assert_eq!(hash(token.as_bytes()), expected, "{token:?}");
        }
        assert_eq!(wide_hash(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
    }

    #[test]
    fn pieces_have_the_hash_of_the_whole() {
        let bytes: Vec<u8> = (0..5000_u32).map(|n| (n * n) as u8).collect();
        for piece in [1, 63, 1024, 5000] {
            let mut streamed = StreamedHash::default();
            bytes.chunks(piece).for_each(|piece| streamed.update(piece));
            assert_eq!(streamed.digest(), hash(&bytes), "pieces of {piece}");
        }
        assert_eq!(StreamedHash::default().digest(), hash(b""));
    }

    #[test]
    fn mix_and_rows_have_their_frozen_values() {
        assert_eq!(mix(0), 0);
        assert_eq!(mix(GAMMA), 0xe220_a839_7b1d_cdaf);
        assert_eq!(row_word(hash(b"a"), 0), hash(b"a"));
        assert_eq!(row_word(hash(b"a"), 1), 0xdbac_1e87_5f4d_0340);
        assert_eq!(row_word(hash(b"rose"), 1), 0xea75_7c73_4e03_c2ec);
    }
}
