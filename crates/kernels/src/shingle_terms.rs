//! Makes the terms of shingles: a polynomial over the hashes of consecutive tokens, mixed.
//!
//! For tokens x y z … and shingles of three tokens, the terms are `mix(x A² + y A + z)` and so on, with a
//! frozen odd number A. There are two ways to the sums:
//!
//! - rolling: the next sum is A times the last one, plus the token that enters, minus A³ times the
//!   one that leaves. It takes two multiplications whatever the length, but each waits for the last.
//! - direct: sums that begin at consecutive tokens are made next to each other in a vector. It takes one
//!   multiplication less than a shingle has tokens, and is faster for short shingles.

use super::{Isa, Kind};
use simtool_base::stable_hash::{SHINGLE_BASE, mix};

/// Appends `mix(x_1 A^(s-1) + ... + x_s)` for every run of s = `length` tokens.
///
/// # Panics
/// If `length` is 0.
///
/// # Complexity
/// O(tokens), whatever the length.
pub fn shingle_terms(isa: Isa, tokens: &[u64], length: usize, terms: &mut Vec<u64>) {
    assert!(length > 0, "a shingle has a token");
    let count = (tokens.len() + 1).saturating_sub(length);
    if count == 0 {
        return;
    }
    terms.reserve(count);
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 if length <= avx512::LONGEST_DIRECT => {
            // SAFETY: AVX-512 was detected; room for `count` terms was reserved.
            unsafe { avx512::direct(tokens, length, count, terms) }
        }
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 if length <= avx2::LONGEST_DIRECT => {
            // SAFETY: AVX2 was detected; room for `count` terms was reserved.
            unsafe { avx2::direct(tokens, length, count, terms) }
        }
        _ => rolling(tokens, length, terms),
    }
}

/// The terms of one run or more, by a sum that rolls on.
///
/// Each sum waits for one multiplication of the sum before it. The tokens that leave and enter are
/// joined in parallel to it.
fn rolling(tokens: &[u64], length: usize, terms: &mut Vec<u64>) {
    let (first, entering) = tokens.split_at(length);
    let (mut sum, mut power) = (0_u64, 1_u64);
    for &token in first {
        sum = sum.wrapping_mul(SHINGLE_BASE).wrapping_add(token);
        power = power.wrapping_mul(SHINGLE_BASE);
    }
    terms.push(mix(sum));
    terms.extend(entering.iter().zip(tokens).map(|(&new, &old)| {
        let change = new.wrapping_sub(old.wrapping_mul(power));
        sum = sum.wrapping_mul(SHINGLE_BASE).wrapping_add(change);
        mix(sum)
    }));
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{SHINGLE_BASE, rolling};
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi64, _mm256_loadu_si256, _mm256_mul_epu32, _mm256_set1_epi64x,
        _mm256_slli_epi64, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_xor_si256,
    };

    /// Beyond this many tokens per shingle the rolling sum costs less than whole sums side by side.
    pub(super) const LONGEST_DIRECT: usize = 4;

    /// # Safety
    /// Needs AVX2; `count` is the number of runs of `length` tokens, and `terms` has room for as
    /// many more.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) unsafe fn direct(tokens: &[u64], length: usize, count: usize, terms: &mut Vec<u64>) {
        let first_new = terms.len();
        let whole = count / 4 * 4;
        for at in (0..whole).step_by(4) {
            // SAFETY: run `at + 3` ends at token `at + 3 + length - 1`, which exists; `terms` has
            // room for term `at + 3`.
            unsafe {
                let first = tokens.as_ptr().add(at);
                let mut sum = _mm256_loadu_si256(first.cast());
                for next in 1..length {
                    let token = _mm256_loadu_si256(first.add(next).cast());
                    sum = _mm256_add_epi64(product(sum, SHINGLE_BASE), token);
                }
                _mm256_storeu_si256(terms.as_mut_ptr().add(first_new + at).cast(), mix(sum));
            }
        }
        // SAFETY: `whole` terms were written.
        unsafe { terms.set_len(first_new + whole) };
        if whole < count {
            rolling(&tokens[whole..], length, terms);
        }
    }

    /// [`simtool_base::stable_hash::mix`] of four numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mix(mut z: __m256i) -> __m256i {
        z = product(_mm256_xor_si256(z, _mm256_srli_epi64::<30>(z)), 0xBF58_476D_1CE4_E5B9);
        z = product(_mm256_xor_si256(z, _mm256_srli_epi64::<27>(z)), 0x94D0_49BB_1331_11EB);
        _mm256_xor_si256(z, _mm256_srli_epi64::<31>(z))
    }

    /// The low halves of the products.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn product(a: __m256i, factor: u64) -> __m256i {
        let low = _mm256_set1_epi64x(factor.cast_signed());
        let high = _mm256_set1_epi64x((factor >> 32).cast_signed());
        let a_high = _mm256_srli_epi64::<32>(a);
        let cross = _mm256_add_epi64(_mm256_mul_epu32(a_high, low), _mm256_mul_epu32(a, high));
        _mm256_add_epi64(_mm256_mul_epu32(a, low), _mm256_slli_epi64::<32>(cross))
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{SHINGLE_BASE, rolling};
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi64, _mm512_loadu_si512, _mm512_mullo_epi64, _mm512_set1_epi64,
        _mm512_srli_epi64, _mm512_storeu_si512, _mm512_xor_si512,
    };

    /// Beyond this many tokens per shingle the rolling sum costs less than whole sums side by side.
    pub(super) const LONGEST_DIRECT: usize = 12;

    /// # Safety
    /// Needs AVX-512 F and DQ; `count` is the number of runs of `length` tokens, and `terms` has
    /// room for as many more.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) unsafe fn direct(tokens: &[u64], length: usize, count: usize, terms: &mut Vec<u64>) {
        let first_new = terms.len();
        let whole = count / 8 * 8;
        let base = _mm512_set1_epi64(SHINGLE_BASE.cast_signed());
        for at in (0..whole).step_by(8) {
            // SAFETY: run `at + 7` ends at token `at + 7 + length - 1`, which exists; `terms` has
            // room for term `at + 7`.
            unsafe {
                let first = tokens.as_ptr().add(at);
                let mut sum = _mm512_loadu_si512(first.cast());
                for next in 1..length {
                    let token = _mm512_loadu_si512(first.add(next).cast());
                    sum = _mm512_add_epi64(_mm512_mullo_epi64(sum, base), token);
                }
                _mm512_storeu_si512(terms.as_mut_ptr().add(first_new + at).cast(), mix(sum));
            }
        }
        // SAFETY: `whole` terms were written.
        unsafe { terms.set_len(first_new + whole) };
        if whole < count {
            rolling(&tokens[whole..], length, terms);
        }
    }

    /// [`simtool_base::stable_hash::mix`] of eight numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn mix(mut z: __m512i) -> __m512i {
        let first = _mm512_set1_epi64(0xBF58_476D_1CE4_E5B9_u64.cast_signed());
        let second = _mm512_set1_epi64(0x94D0_49BB_1331_11EB_u64.cast_signed());
        z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64::<30>(z)), first);
        z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64::<27>(z)), second);
        _mm512_xor_si512(z, _mm512_srli_epi64::<31>(z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, each sum for itself.
    fn slowly(tokens: &[u64], length: usize) -> Vec<u64> {
        let sum = |run: &[u64]| {
            run.iter().fold(0_u64, |sum, &x| sum.wrapping_mul(SHINGLE_BASE).wrapping_add(x))
        };
        tokens.windows(length).map(|run| mix(sum(run))).collect()
    }

    #[test]
    fn all_paths_agree_at_every_length() {
        let tokens: Vec<u64> = (1..=40).map(mix).collect();
        for &isa in Isa::available() {
            for count in 0..tokens.len() {
                for length in 1..=20 {
                    let mut terms = vec![9];
                    shingle_terms(isa, &tokens[..count], length, &mut terms);
                    assert_eq!(terms[1..], slowly(&tokens[..count], length), "{isa} {count}");
                }
            }
        }
    }
}
