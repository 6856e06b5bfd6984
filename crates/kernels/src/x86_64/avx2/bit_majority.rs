//! Adds rows with AVX2, four of them an instruction.

use crate::own_loops::bit_majority::add_rows as add_plainly;

/// Adds rows to the counts of set bits. Bit i of `digits[k]` is binary digit k of the number of
/// rows in which bit i is set.
// Not inlined, so that AVX-512 runs the code for AVX2. The same loop is slower with longer registers.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
pub(in crate::x86_64) fn add_rows(rows: &[u64], digits: &mut [u64; 64]) {
    add_plainly(rows, digits);
}
