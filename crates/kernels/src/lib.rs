//! The hot loops, one file each. Tests compare every loop with a slow and simple one.
//!
//! A kernel is an algorithm over slices that knows nothing about its callers. A plain loop is written
//! once, generic over a `Level`, and compiled for each instruction set; see the module `vector`. A loop that is
//! faster with intrinsics is replaced in the folder of the level; see `own_loops`. Only the folder of a
//! level names instructions.
//!
//! The instruction set is chosen once, at the first call of [`Isa::detected`]: the best that the
//! processor has, or a lower one that the environment variable `SIMTOOL_ISA` names. Kernels take the
//! choice as an argument, so that a test can run every level of its processor. No result depends on
//! it.
#![expect(unsafe_code, reason = "SIMD intrinsics; every block states why it is sound")]

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub mod binary_digits;
pub mod bit_majority;
pub mod block_keys;
pub mod bucket_filter;
mod character_starts;
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "only levels with their own intrinsics look up whole rows")
)]
pub mod character_table;
pub mod fold_characters;
pub mod hamming_accept;
pub mod hamming_groups;
pub mod hamming_pairs;
pub mod hamming_scan;
mod high_bits;
pub mod kept_terms;
pub mod mark_characters;
pub mod min_hash;
pub mod near_tags;
mod own_loops;
pub mod partition;
mod portable;
pub mod row_bits;
pub mod row_distances;
pub mod row_words;
pub mod shingle_terms;
pub mod symbol_places;
mod vector;
pub mod weighted_majority;
pub mod window_anchors;
pub mod word_keys;
pub mod word_masks;
pub mod word_positions;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86_64;
pub mod xxh3_short;

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use vector::{Costs, Kernel, Level};

/// Lists the instruction sets, called levels, from the lowest to the highest. Each line has the variant of
/// [`Kind`], the name, and the type with the implementation.
///
/// To add a level, add a line here and a file. The macro writes the enum and its functions from the
/// lines.
macro_rules! levels {
    ($($(#[$attribute:meta])* $kind:ident = $name:literal: $level:ty,)+) => {
        /// The levels (instruction sets) that this program was built with, lowest first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        enum Kind {
            $($(#[$attribute])* $kind,)+
        }

        impl Kind {
            const ALL: &[Self] = &[$($(#[$attribute])* Self::$kind,)+];

            fn name(self) -> &'static str {
                match self {
                    $($(#[$attribute])* Self::$kind => $name,)+
                }
            }

            fn is_supported(self) -> bool {
                match self {
                    $($(#[$attribute])* Self::$kind => <$level>::is_supported(),)+
                }
            }

            fn costs(self) -> Costs {
                match self {
                    $($(#[$attribute])* Self::$kind => <$level>::COSTS,)+
                }
            }
        }

        impl Isa {
            /// Runs the version of `kernel` that is compiled for this instruction set. The kernel writes to `out`.
            #[inline]
            fn run<Out, K: Kernel<Out>>(self, kernel: K, out: Out) -> K::Result {
                match self.0 {
                    $($(#[$attribute])* Kind::$kind => {
                        // SAFETY: an `Isa` is portable, or it comes from `available`, which asked
                        // the processor.
                        unsafe { <$level>::compile(kernel, out) }
                    })+
                }
            }
        }
    };
}

levels! {
    Portable = "portable": portable::Portable,
    #[cfg(target_arch = "aarch64")]
    Neon = "neon": aarch64::Neon,
    #[cfg(target_arch = "x86_64")]
    Avx2 = "avx2": x86_64::Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512 = "avx512": x86_64::Avx512,
}

/// An instruction set that this processor has and that the kernels are compiled for. In comparisons, a higher
/// instruction set is greater.
///
/// A value exists only for instructions that the processor has, so any value can be given to any
/// kernel.
///
/// ```
/// use simtool_kernels::Isa;
///
/// // Every processor runs the portable code, and the fastest level comes last.
/// assert_eq!(Isa::available()[0], Isa::PORTABLE);
/// assert!(Isa::available().is_sorted());
/// assert_eq!(Isa::PORTABLE.to_string(), "portable");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Isa(Kind);

impl Isa {
    /// The portable level: plain Rust, which every processor runs.
    pub const PORTABLE: Self = Self(Kind::Portable);

    /// Returns the instruction sets that this processor has, lowest first.
    #[must_use]
    pub fn available() -> &'static [Self] {
        static AVAILABLE: OnceLock<Vec<Isa>> = OnceLock::new();
        AVAILABLE.get_or_init(|| {
            let supported = Kind::ALL.iter().filter(|kind| kind.is_supported());
            supported.copied().map(Isa).collect()
        })
    }

    /// Returns the instruction set of this process: the best available one, or a lower one that
    /// `SIMTOOL_ISA` (`portable`, `neon`, `avx2` or `avx512`) names. The first call chooses.
    #[must_use]
    pub fn detected() -> Self {
        static CHOICE: OnceLock<Isa> = OnceLock::new();
        *CHOICE.get_or_init(|| {
            let best = Self::available().last().copied().unwrap_or(Self::PORTABLE);
            let named = std::env::var("SIMTOOL_ISA").ok().and_then(|name| Self::from_name(&name));
            named.unwrap_or(best)
        })
    }

    /// Returns the instruction set with this name, or the best one below it that this processor has.
    /// Returns `None` if no instruction set has the name.
    ///
    /// ```
    /// use simtool_kernels::Isa;
    ///
    /// assert_eq!(Isa::from_name("portable"), Some(Isa::PORTABLE));
    /// assert_eq!(Isa::from_name("mmx"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let named = *Kind::ALL.iter().find(|kind| kind.name() == name)?;
        Self::available().iter().rfind(|isa| isa.0 <= named).copied()
    }

    /// Returns the approximate nanoseconds for comparing one pair of words in [`hamming_pairs`]. Words have 32
    /// bits if `short_words` is true, otherwise 64 bits.
    #[must_use]
    pub fn pair_nanoseconds(self, short_words: bool) -> f64 {
        let costs = self.0.costs();
        if short_words { costs.pair_of_32_bits } else { costs.pair_of_64_bits }
    }

    /// Returns the approximate nanoseconds for comparing one pair of rows in [`hamming_groups`]. `words` is the
    /// number of 64-bit words of each row that the kernel compares.
    #[must_use]
    pub fn group_nanoseconds(self, words: f64) -> f64 {
        let costs = self.0.costs();
        costs.pair_in_groups + costs.word_in_groups * words
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// Returns the same numbers as atomic numbers, so that several threads can change them.
#[must_use]
pub fn as_atomics(numbers: &mut [u32]) -> &[AtomicU32] {
    let (start, length) = (numbers.as_mut_ptr().cast(), numbers.len());
    // SAFETY: an `AtomicU32` has the size of a `u32`, and an array of `u32` that is aligned for it on all platforms
    // with such atomics. Nobody else uses the numbers while they are borrowed.
    unsafe { std::slice::from_raw_parts(start, length) }
}

/// Asks the processor to load the cache line at `slice[index]`. Does nothing if `index` is out of bounds.
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
    fn a_name_finds_its_instruction_set_and_portable_always_exists() {
        for &isa in Isa::available() {
            assert_eq!(Isa::from_name(&isa.to_string()), Some(isa));
        }
        assert_eq!(Isa::from_name("mmx"), None);
        assert_eq!(Isa::available()[0], Isa::PORTABLE);
        assert!(Isa::available().contains(&Isa::detected()));
    }
}
