//! Finds the words of a text: where each maximal run of ASCII letters starts and ends.
//!
//! 64 bytes become a bit mask of letters. A start is a letter after a non-letter, an end is a
//! non-letter after a letter:
//!
//! ```text
//! text      t h e   c a t ,
//! letters   1 1 1 0 1 1 1 0
//! shifted   0 1 1 1 0 1 1 1     the byte before is a letter
//! starts    1 0 0 0 1 0 0 0     letters & !shifted
//! ends      0 0 0 1 0 0 0 1     !letters & shifted
//! ```
//!
//! AVX-512 turns the masks into positions with a byte compression. The other levels take out the lowest
//! bits, eight at a time. So no loop branches on a byte of the text.

use super::Isa;
use super::own_loops::word_positions::OVERRUN;
use super::vector::{Kernel, Level};

/// Finds the words of `text`, which are its runs of ASCII letters. Replaces `starts` and `ends` by their byte offsets:
/// word i is `text[starts[i]..ends[i]]`.
///
/// Only the first 2³² − 1 bytes are looked at.
///
/// # Complexity
///
/// O(bytes); on a 2-core Intel Xeon with AVX-512 (2026-11, `cargo bench --bench stages`) about
/// 8 GB/s a core with AVX-512.
pub fn word_positions(isa: Isa, text: &[u8], starts: &mut Vec<u32>, ends: &mut Vec<u32>) {
    let text = &text[..text.len().min(u32::MAX as usize)];
    // A word and its separator take two bytes.
    let most = text.len() / 2 + 1 + OVERRUN;
    if starts.len() < most {
        starts.resize(most, 0);
    }
    if ends.len() < most {
        ends.resize(most, 0);
    }
    let (start_count, mut end_count) = isa.run(WordPositions { text }, (&mut *starts, &mut *ends));
    if start_count > end_count {
        ends[end_count] = text.len() as u32;
        end_count += 1;
    }
    starts.truncate(start_count);
    ends.truncate(end_count);
}

struct WordPositions<'a> {
    text: &'a [u8],
}

impl Kernel<(&mut Vec<u32>, &mut Vec<u32>)> for WordPositions<'_> {
    type Result = (usize, usize);

    #[inline(always)]
    fn run<L: Level>(
        self,
        level: L,
        (starts, ends): (&mut Vec<u32>, &mut Vec<u32>),
    ) -> (usize, usize) {
        level.word_positions(self.text, starts, ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Finds the words of [`word_positions`] in a slow and simple way for comparison: goes through the text byte by
    /// byte.
    fn naive(text: &[u8]) -> Vec<(u32, u32)> {
        let mut words = Vec::new();
        let mut start = None;
        for (at, byte) in text.iter().enumerate() {
            match (byte.is_ascii_alphabetic(), start) {
                (true, None) => start = Some(at),
                (false, Some(first)) => {
                    words.push((first as u32, at as u32));
                    start = None;
                }
                _ => {}
            }
        }
        words.extend(start.map(|first| (first as u32, text.len() as u32)));
        words
    }

    fn check(text: &[u8]) {
        let expected = naive(text);
        for &isa in Isa::available() {
            // Leftovers of an earlier call must not show.
            let (mut starts, mut ends) = (vec![7; 3], vec![9; 200]);
            word_positions(isa, text, &mut starts, &mut ends);
            let found: Vec<_> = starts.iter().copied().zip(ends.iter().copied()).collect();
            assert_eq!(starts.len(), ends.len());
            assert_eq!(found, expected, "{isa} on {:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn every_byte_value_is_classified() {
        let all: Vec<u8> = (0..=255).flat_map(|byte| [b' ', byte, b'x', byte]).collect();
        check(&all);
        for byte in 0..=255 {
            check(&[byte]);
        }
    }

    #[test]
    fn every_length_and_alignment_is_the_same() {
        let text: Vec<u8> = (0..400u32)
            .map(|i| if i.wrapping_mul(2_654_435_761) >> 30 == 0 { b'.' } else { b'q' })
            .collect();
        for from in 0..66 {
            for to in from..text.len().min(from + 200) {
                check(&text[from..to]);
            }
        }
        check(&b"a ".repeat(200));
        check(&b"a".repeat(200));
    }

    proptest! {
        #[test]
        fn random_bytes_are_the_same(text in proptest::collection::vec(
            prop_oneof![Just(b' '), Just(b'a'), Just(b'Z'), any::<u8>()], 0..500)) {
            check(&text);
        }
    }
}
