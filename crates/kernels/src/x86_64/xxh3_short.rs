//! Hashes words, several of them at once: the loop of the levels with lanes of 64 bits.

use crate::own_loops::xxh3_short::{BLOCK, PlacedWords, hash_long};
use crate::words::MARGIN;
use std::mem::MaybeUninit;

/// Appends the XXH3 hash of each word to `hashes`. Each level passes two functions for its vectors
/// of `N` words: `hash` and `numbers`.
///
/// `hash` receives the text and the starts and ends of `N` words, which are at least [`MARGIN`]
/// bytes away from both ends of the text. It returns the hashes of these words, and a mask of the
/// words that are too long for it. `numbers` receives such a mask and the index in the block of the
/// first of the `N` words. It returns the indices in the block of the long words. Its other
/// elements have no meaning.
#[inline(always)]
pub(super) fn hash_words<const N: usize>(
    words: PlacedWords<'_>,
    hashes: &mut Vec<u64>,
    hash: impl Fn(&[u8], &[u32; N], &[u32; N]) -> ([u64; N], u8),
    numbers: impl Fn(u8, usize) -> [u8; N],
) {
    let (text, starts, ends) = words.parts();
    let mut long = [0_u8; BLOCK];
    for (starts, ends) in starts.chunks(BLOCK).zip(ends.chunks(BLOCK)) {
        let words = starts.len();
        let first_new = hashes.len();
        let mut noted = 0;
        let mut note = |mask: u8, first: usize| {
            if let Some(places) = long[noted..].first_chunk_mut() {
                *places = numbers(mask, first);
            }
            noted += mask.count_ones() as usize;
        };
        let (whole_starts, rest_starts) = starts.as_chunks::<N>();
        let (whole_ends, rest_ends) = ends.as_chunks::<N>();
        let (room, rest_room) = hashes.spare_capacity_mut()[..words].as_chunks_mut::<N>();
        for (at, ((start, end), room)) in whole_starts.iter().zip(whole_ends).zip(room).enumerate()
        {
            let (hashes, mask) = hash(text, start, end);
            *room = hashes.map(MaybeUninit::new);
            note(mask, N * at);
        }
        if !rest_starts.is_empty() {
            // The lanes without a word hash the byte after the first margin, and their hashes are not
            // used. A text with a word has that byte.
            let mut start = [MARGIN as u32; N];
            let mut end = [MARGIN as u32 + 1; N];
            start[..rest_starts.len()].copy_from_slice(rest_starts);
            end[..rest_ends.len()].copy_from_slice(rest_ends);
            let (hashes, mask) = hash(text, &start, &end);
            note(mask, words / N * N);
            for (slot, hash) in rest_room.iter_mut().zip(hashes) {
                slot.write(hash);
            }
        }
        // SAFETY: `words` hashes were written behind the first `first_new`.
        unsafe { hashes.set_len(first_new + words) };
        hash_long(text, starts, ends, &long[..noted], &mut hashes[first_new..]);
    }
}
