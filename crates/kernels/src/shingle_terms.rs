//! Computes the terms of shingles. A term is a polynomial of the hashes of consecutive tokens, mixed.
//!
//! For tokens x y z … and shingles of three tokens, the terms are `mix(x A² + y A + z)` and so on, with
//! a frozen odd number A. The sums can be computed in two ways:
//!
//! - rolling: the next sum is A times the sum before it, plus the token that enters, minus A³ times the
//!   token that leaves. This takes two multiplications for any length, but each sum waits for the one
//!   before.
//! - direct: sums that begin at consecutive tokens are computed next to each other in a vector. This
//!   takes one multiplication less than a shingle has tokens, and is faster for short shingles.
//!
//! Both loops are plain. The compiler computes the direct sums of four tokens (AVX2) or eight tokens
//! (AVX-512) at once. Each level has a maximum length up to which its direct sums are faster.

use super::Isa;
use super::vector::{Kernel, Level};
use simtool_base::stable_hash::{SHINGLE_BASE, mix};

/// Number of sums of shingles that are computed at the same time, as the elements of a vector.
const TOGETHER: usize = 8;

/// Appends the term of every shingle, which is a sequence of s = `length` consecutive tokens `x_1`
/// to `x_s`. The term is `mix(x_1 A^(s-1) + ... + x_s)` with a fixed odd number A.
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
    isa.run(ShingleTerms { tokens, length, count }, terms);
}

struct ShingleTerms<'a> {
    tokens: &'a [u64],
    length: usize,
    /// Number of shingles, which are sequences of `length` consecutive tokens.
    count: usize,
}

impl Kernel<&mut Vec<u64>> for ShingleTerms<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L, terms: &mut Vec<u64>) {
        let Self { tokens, length, count } = self;
        let is_direct = length <= L::LONGEST_DIRECT_SHINGLE;
        let made = if is_direct { direct(tokens, length, count, terms) } else { 0 };
        if made < count {
            rolling(&tokens[made..], length, terms);
        }
    }
}

/// Appends the terms of the first shingles, as many as fill whole blocks of [`TOGETHER`] terms. A term is a hash of the
/// `length` tokens of a shingle, and each is computed from these tokens alone. Returns the number of appended terms.
/// `count` is the number of all shingles.
#[inline(always)]
fn direct(tokens: &[u64], length: usize, count: usize, terms: &mut Vec<u64>) -> usize {
    let (blocks, _) = terms.spare_capacity_mut()[..count].as_chunks_mut::<TOGETHER>();
    let made = blocks.len() * TOGETHER;
    for (at, block) in (0..).step_by(TOGETHER).zip(blocks) {
        let tokens = &tokens[at..][..TOGETHER + length - 1];
        let mut sums = [0_u64; TOGETHER];
        sums.copy_from_slice(&tokens[..TOGETHER]);
        for next in 1..length {
            for (sum, &token) in sums.iter_mut().zip(&tokens[next..next + TOGETHER]) {
                *sum = sum.wrapping_mul(SHINGLE_BASE).wrapping_add(token);
            }
        }
        for (slot, sum) in block.iter_mut().zip(sums) {
            slot.write(mix(sum));
        }
    }
    // SAFETY: every slot of the blocks was written, and these are the first free ones.
    unsafe { terms.set_len(terms.len() + made) };
    made
}

/// Appends the terms of all shingles of `tokens`, which has at least `length` tokens. A term is the mix of a sum over
/// the `length` tokens of a shingle. Each sum is computed from the sum of the shingle before it.
///
/// So each sum waits for one multiplication of the earlier sum. Meanwhile, the processor combines
/// the token that leaves the shingle and the token that enters it.
#[inline(always)]
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the terms of [`shingle_terms`], computed in a slow and simple way for comparison: the sum of each
    /// shingle separately.
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
