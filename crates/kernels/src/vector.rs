//! Algorithms that are written once and compiled for each instruction set.
//!
//! Three traits work together:
//!
//! - A [`Kernel`] is a hot loop together with its arguments. Its one method is generic over the
//!   instruction set.
//! - A [`Level`] is an instruction set: `portable.rs` and the files of the processor's folder hold
//!   one each. Only a level's file names the processor's features and its intrinsics.
//! - `Isa::run` in [`lib.rs`](super) joins the two: it hands the kernel to the level that was chosen
//!   when the program started.
//!
//! For example, a kernel that adds up the bits of many words:
//!
//! ```text
//! struct CountBits<'a>(&'a [u64]);
//!
//! impl Kernel for CountBits<'_> {
//!     type Output = u64;
//!
//!     #[inline(always)]
//!     fn run<L: Level>(self, _: L) -> u64 {
//!         count_bits(self.0)
//!     }
//! }
//!
//! #[inline(always)]
//! fn count_bits(words: &[u64]) -> u64 {
//!     words.iter().map(|word| u64::from(word.count_ones())).sum()
//! }
//! ```
//!
//! The loop is a function with references as arguments, because the compiler knows of these, but not
//! of references in a struct, that they do not overlap. Without that it cannot keep sums in registers.
//!
//! Everything that a kernel calls is inlined into `Level::compile`, the one function of the level that
//! enables its features. So the compiler turns the same loop into one `popcnt` a word with AVX2, and
//! into one `vpopcntq` for eight words with AVX-512. This is why kernels and their helpers are
//! `#[inline(always)]`: a helper that stays a function of its own is compiled without the features.
//!
//! A value of a level proves that the processor has its instructions, because only
//! `Level::compile` makes one.

/// A hot loop and its arguments.
pub(super) trait Kernel {
    /// The result of the loop.
    type Output;

    /// Runs the loop. Implementations are `#[inline(always)]`.
    fn run<L: Level>(self, level: L) -> Self::Output;
}

/// An instruction set that kernels are compiled for.
pub(super) trait Level: Copy {
    /// Measured costs of the kernels at this level.
    const COSTS: Costs;

    /// Returns whether this processor has the instructions.
    fn is_supported() -> bool;

    /// Runs a kernel that is compiled for this level.
    ///
    /// # Safety
    ///
    /// The processor has the instructions: [`is_supported`](Self::is_supported) returned true.
    unsafe fn compile<K: Kernel>(kernel: K) -> K::Output;
}

/// Measured costs in nanoseconds of one core. They only weigh choices against each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// One pair of 32-bit words in `near_pairs_32`.
    pub(super) pair_of_32_bits: f64,
    /// One pair of 64-bit words in `near_pairs_64`.
    pub(super) pair_of_64_bits: f64,
    /// One pair of rows in `near_in_groups`, whatever their length.
    pub(super) pair_in_groups: f64,
    /// Each word of such a pair.
    pub(super) word_in_groups: f64,
}
