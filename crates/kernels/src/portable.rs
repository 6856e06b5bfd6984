//! The portable level: plain Rust for any processor.
//!
//! On x86-64 the compiler may use SSE2, which all of these processors have.

use super::own_loops::OwnLoops;
use super::vector::{Costs, Kernel, Level};

/// The portable level. Unlike the types of other levels, it proves nothing about the processor,
/// because every processor runs plain Rust.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

impl Level for Portable {
    const COSTS: Costs = Costs {
        pair_of_32_bits: 0.4,
        pair_of_64_bits: 1.2,
        pair_in_groups: 0.3,
        word_in_groups: 0.55,
    };

    fn is_supported() -> bool {
        true
    }

    unsafe fn compile<Out, K: Kernel<Out>>(kernel: K, out: Out) -> K::Result {
        kernel.run(Self, out)
    }
}

impl OwnLoops for Portable {}
