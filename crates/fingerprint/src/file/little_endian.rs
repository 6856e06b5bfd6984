//! Converts between 64-bit words and little-endian bytes. On a little-endian machine, [`words`] copies nothing if the
//! bytes are aligned to words, and [`hand_over`] copies nothing.

use std::borrow::Cow;
use std::io;

/// Largest number of bytes that [`hand_over`] passes to its callback at once.
const PIECE_BYTES: usize = 1 << 20;

/// Returns `bytes` as 64-bit words. The number of bytes must be a multiple of 8.
pub(super) fn words(bytes: &[u8]) -> Cow<'_, [u64]> {
    match bytemuck::try_cast_slice(bytes) {
        // The cast fails if the bytes are not aligned to words. This happens for bytes in memory,
        // but not for a section of a mapped file.
        Ok(words) if cfg!(target_endian = "little") => Cow::Borrowed(words),
        _ => bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect(),
    }
}

/// Reads numbers of `number_bytes` bytes each, at most 8, and returns each as a 64-bit word.
pub(super) fn widened(bytes: &[u8], number_bytes: usize) -> Vec<u64> {
    let word =
        |number: &[u8]| number.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks_exact(number_bytes).map(word).collect()
}

/// Calls `take` with the little-endian bytes of `words`, in pieces that fit into a cache.
pub(super) fn hand_over(
    words: &[u64],
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    for words in words.chunks(PIECE_BYTES / size_of::<u64>()) {
        if cfg!(target_endian = "little") {
            take(bytemuck::cast_slice(words))?;
        } else {
            take(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_aligned_or_not() {
        let numbers: Vec<u64> = (0..300_000).map(|n| n << 40 | 5).collect();
        let mut bytes = vec![0];
        hand_over(&numbers, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        assert_eq!(words(&bytes[1..])[..], numbers);
        bytes.remove(0);
        assert_eq!(words(&bytes)[..], numbers);
        assert_eq!(widened(&[1, 0, 0, 2], 2), [1, 0x200]);
        assert_eq!(widened(&[4, 3, 2, 1], 4), [0x0102_0304]);
    }
}
