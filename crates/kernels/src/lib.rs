//! The hot loops, one file each, every one with a portable twin that its fast paths are tested
//! against.
//!
//! The instruction set is chosen once, when it is first asked for: the best that the processor
//! has, or what the environment variable `SIMTOOL_ISA` names if that is lower. A kernel takes the
//! choice as an argument, so a test can run every path that its processor has.
#![expect(unsafe_code, reason = "SIMD intrinsics; every block states why it is sound")]

pub mod binary_digits;
pub mod bit_majority;
pub mod block_keys;
pub mod bucket_filter;
#[cfg(target_arch = "x86_64")]
mod byte_lanes;
mod character_starts;
pub mod character_table;
pub mod fold_characters;
pub mod hamming_accept;
pub mod hamming_groups;
pub mod hamming_pairs;
pub mod hamming_scan;
pub mod kept_terms;
pub mod mark_characters;
pub mod min_hash;
pub mod near_tags;
pub mod partition;
pub mod row_distances;
pub mod row_words;
pub mod shared_bits;
pub mod shingle_terms;
pub mod weighted_majority;
pub mod word_keys;
pub mod word_masks;
pub mod word_positions;
pub mod xxh3_short;

use std::fmt;
use std::sync::OnceLock;

/// An instruction set that the kernels are written for, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Plain Rust, on any processor; x86-64 with SSE2, which all of these have.
    Portable,
    /// x86-64 with AVX2, BMI1, BMI2 and POPCNT.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL, VBMI, VBMI2, VPOPCNTDQ and BITALG: Intel since Ice Lake, AMD
    /// since Zen 4.
    Avx512,
}

impl Isa {
    /// What this processor can run, lowest first.
    #[must_use]
    pub fn available() -> &'static [Self] {
        const ALL: [Isa; 3] = [Isa::Portable, Isa::Avx2, Isa::Avx512];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("avx512vpopcntdq")
                && is_x86_feature_detected!("avx512bitalg");
            match (avx2, avx512) {
                (_, true) => &ALL,
                (true, false) => &ALL[..2],
                (false, false) => &ALL[..1],
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            &ALL[..1]
        }
    }

    /// The instruction set of this process: the best available one, or a lower one that
    /// `SIMTOOL_ISA` (`portable`, `avx2` or `avx512`) names. Chosen at the first call.
    #[must_use]
    pub fn detected() -> Self {
        static CHOICE: OnceLock<Isa> = OnceLock::new();
        *CHOICE.get_or_init(|| {
            let best = Self::available().last().copied().unwrap_or(Self::Portable);
            let asked = std::env::var("SIMTOOL_ISA").ok().and_then(|name| Self::from_name(&name));
            asked.map_or(best, |asked| asked.min(best))
        })
    }

    /// The same, or the best that this processor has where that is lower: what a kernel that was
    /// handed a choice may run.
    #[inline]
    #[must_use]
    pub fn runnable(self) -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        self.min(*BEST.get_or_init(|| Self::available().last().copied().unwrap_or(Self::Portable)))
    }

    /// The instruction set of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "portable" => Some(Self::Portable),
            "avx2" => Some(Self::Avx2),
            "avx512" => Some(Self::Avx512),
            _ => None,
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}

/// Asks the processor to load the cache line at `slice[index]`; does nothing out of bounds.
#[inline]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < slice.len() {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch never faults, and the address is inside the slice.
        unsafe { _mm_prefetch(slice.as_ptr().add(index).cast(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_display_agree_and_portable_is_always_there() {
        for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512] {
            assert_eq!(Isa::from_name(&isa.to_string()), Some(isa));
        }
        assert_eq!(Isa::from_name("mmx"), None);
        assert_eq!(Isa::available()[0], Isa::Portable);
        assert!(Isa::available().contains(&Isa::detected()));
    }
}
