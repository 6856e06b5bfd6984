//! The levels of 64-bit Arm processors, a folder each.

mod neon;

pub(super) use neon::Neon;
pub(super) use neon::gathered_high_bits;
