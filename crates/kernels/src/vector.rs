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
//! For example, a kernel that counts the bits of each of many words:
//!
//! ```text
//! struct CountBits<'a> {
//!     words: &'a [u64],
//! }
//!
//! impl Kernel<&mut [u32]> for CountBits<'_> {
//!     type Result = ();
//!
//!     #[inline(always)]
//!     fn run<L: Level>(self, _: L, counts: &mut [u32]) {
//!         for (count, word) in counts.iter_mut().zip(self.words) {
//!             *count = word.count_ones();
//!         }
//!     }
//! }
//! ```
//!
//! A kernel reads its fields and writes to its output, which is a separate argument. The compiler knows
//! that nothing else refers to the memory of a mutable reference in an argument. It does not know this
//! for a reference in a field. Then it cannot keep sums in registers, and makes fewer vectors.
//!
//! Everything that a kernel calls is inlined into `Level::compile`, the one function of the level that
//! enables its features. So the compiler turns the same loop into one `popcnt` a word with AVX2, and
//! into one `vpopcntq` for eight words with AVX-512. This is why kernels and their helpers are
//! `#[inline(always)]`: a helper that stays a function of its own is compiled without the features.
//!
//! A value of a level proves that the processor has its instructions, because only
//! `Level::compile` makes one.

use super::own_loops::OwnLoops;

/// A hot loop with its input. Its output is written to a value of type `Out`, which is `()` for loops that only return
/// a result.
pub(super) trait Kernel<Out> {
    /// The value that the loop returns, or `()` if it only writes output.
    type Result;

    /// Runs the loop. Implementations are `#[inline(always)]`.
    fn run<L: Level>(self, level: L, out: Out) -> Self::Result;
}

/// An instruction set that kernels are compiled for.
pub(super) trait Level: OwnLoops {
    /// Costs of the kernels at this level in nanoseconds, by which alternatives are compared.
    const COSTS: Costs;

    /// Returns whether this processor has the instructions of this level.
    fn is_supported() -> bool;

    /// Runs a kernel that is compiled for this level.
    ///
    /// # Safety
    ///
    /// The processor has the instructions: [`is_supported`](Self::is_supported) returned true.
    unsafe fn compile<Out, K: Kernel<Out>>(kernel: K, out: Out) -> K::Result;
}

/// Measured or estimated costs in nanoseconds of one core. They are only used to compare alternatives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Nanoseconds for comparing one pair of 32-bit words in `near_pairs_32`.
    pub(super) pair_of_32_bits: f64,
    /// Nanoseconds for comparing one pair of 64-bit words in `near_pairs_64`.
    pub(super) pair_of_64_bits: f64,
    /// Nanoseconds for comparing one pair of rows in `near_in_groups`, in addition to the time for
    /// each word.
    pub(super) pair_in_groups: f64,
    /// Additional nanoseconds for each 64-bit word of a pair of rows in `near_in_groups`.
    pub(super) word_in_groups: f64,
}
