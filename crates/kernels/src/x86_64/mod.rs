//! The levels of x86-64 processors, a file each.

mod avx2;
mod avx512;
mod byte_lanes;
mod fold_characters;
mod mark_characters;
mod place_masks;
mod xxh3_short;

pub(super) use avx2::Avx2;
pub(super) use avx512::Avx512;
