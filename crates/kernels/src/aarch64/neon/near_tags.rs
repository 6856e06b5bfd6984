//! Compares tags with NEON, eight of them at once.

use crate::own_loops::near_tags::{TagSearch, plain};
use std::arch::aarch64::{
    vcleq_u16, vcntq_u8, vdupq_n_u16, veorq_u8, vld1q_u8, vmaxvq_u16, vorrq_u16, vpaddlq_u8,
    vreinterpretq_u8_u16,
};

/// Number of tags (16-bit summaries of fingerprints) that are compared with the query before one branch checks whether
/// any of them is near.
const STEP: usize = 32;

/// Appends to `places` the index of each tag that differs from the tag `search.query` in at most `search.most` bits.
/// The index of the first tag is `search.first`. A tag is a 16-bit summary of a fingerprint.
#[target_feature(enable = "neon")]
pub(super) fn near_tags(tags: &[[u8; 2]], search: TagSearch, places: &mut Vec<u32>) {
    let TagSearch { first, query, most } = search;
    let queries = vreinterpretq_u8_u16(vdupq_n_u16(query));
    let most = vdupq_n_u16(most.min(u16::BITS) as u16);
    let (steps, tail) = tags.as_chunks::<STEP>();
    for (step, tags) in steps.iter().enumerate() {
        let mut near = vdupq_n_u16(0);
        for eight in tags.as_flattened().as_chunks::<16>().0 {
            // SAFETY: eight tags have the 16 bytes of a vector.
            let tags = unsafe { vld1q_u8(eight.as_ptr()) };
            let distances = vpaddlq_u8(vcntq_u8(veorq_u8(tags, queries)));
            near = vorrq_u16(near, vcleq_u16(distances, most));
        }
        if vmaxvq_u16(near) != 0 {
            plain(tags, TagSearch { first: first + (step * STEP) as u32, ..search }, places);
        }
    }
    let first = first + (tags.len() - tail.len()) as u32;
    plain(tail, TagSearch { first, ..search }, places);
}
