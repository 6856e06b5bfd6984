//! The plain loop of [`crate::word_positions`], and the steps that the loops of all levels share.

/// Number of bytes that are classified at once.
pub(crate) const BLOCK: usize = 64;

/// Maximum number of elements behind the last position of a word that a loop overwrites with
/// numbers without meaning.
pub(crate) const OVERRUN: usize = 40;

/// Search for the starts and ends of the words of a text, block by block. A word is a run of ASCII letters.
#[derive(Default)]
pub(crate) struct Edges {
    /// 1 if the last byte of the previous block is a letter, else 0.
    carry: u64,
}

impl Edges {
    /// Returns a mask of the first bytes of words and a mask of the bytes behind words. `letters`
    /// is the mask of the letters of the next block.
    #[inline(always)]
    pub(crate) fn next(&mut self, letters: u64) -> (u64, u64) {
        let after_letter = (letters << 1) | self.carry;
        self.carry = letters >> 63;
        (letters & !after_letter, !letters & after_letter)
    }
}

/// Writes the positions of the set bits of `mask`, plus `base`, to `out` from index `at` on.
/// Returns the index behind the last position. Overwrites up to seven elements behind the last
/// position with numbers that have no meaning.
#[inline(always)]
pub(crate) fn write_bits(mut mask: u64, base: u32, out: &mut [u32], mut at: usize) -> usize {
    let next = at + mask.count_ones() as usize;
    while mask != 0 {
        let eight: &mut [u32; 8] = (&mut out[at..at + 8]).try_into().unwrap_or_else(|_| {
            unreachable!("a slice of eight is an array of eight");
        });
        for place in eight {
            // An empty mask gives a position that nobody reads.
            *place = base.wrapping_add(mask.trailing_zeros());
            mask &= mask.wrapping_sub(1);
        }
        at += 8;
    }
    next
}

/// Returns a mask of the letters of a block, eight bytes at a time within a machine word.
#[inline(always)]
fn letters(block: &[u8; BLOCK]) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (words, _) = block.as_chunks::<8>();
    words.iter().rev().fold(0, |mask, &word| {
        let bytes = u64::from_le_bytes(word);
        let lower = (bytes | (ONES * 0x20)) & !HIGH;
        // Bit 7 of a byte is set in `from_a` if the byte is at least 'a', and in `past_z` if it is
        // above 'z'. It is set in `bytes` if the byte is beyond ASCII.
        let from_a = lower + ONES * u64::from(0x80 - b'a');
        let past_z = lower + ONES * u64::from(0x80 - b'z' - 1);
        let is_letter = (from_a & !past_z & !bytes & HIGH) >> 7;
        // Gathers bit 0 of every byte into the top byte.
        (mask << 8) | (is_letter.wrapping_mul(0x0102_0408_1020_4080) >> 56)
    })
}

/// Writes the byte offsets at which the words of `text` start and end to `starts` and `ends`. A word is a run of ASCII
/// letters. Returns the number of starts and the number of ends.
#[inline(always)]
pub(crate) fn plain(text: &[u8], starts: &mut [u32], ends: &mut [u32]) -> (usize, usize) {
    let mut edges = Edges::default();
    let (mut start_count, mut end_count) = (0, 0);
    for (number, block) in text.chunks(BLOCK).enumerate() {
        let mut padded = [0; BLOCK];
        padded[..block.len()].copy_from_slice(block);
        let (first, past) = edges.next(letters(&padded));
        let past = past & (u64::MAX >> (BLOCK - block.len()));
        let base = (number * BLOCK) as u32;
        start_count = write_bits(first, base, starts, start_count);
        end_count = write_bits(past, base, ends, end_count);
    }
    (start_count, end_count)
}
