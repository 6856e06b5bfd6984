//! The levels of 64-bit Arm processors, a folder each.

mod neon;

pub(super) use neon::Neon;
