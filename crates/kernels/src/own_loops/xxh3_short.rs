//! The plain loop of [`crate::xxh3_short`], and the numbers of XXH3.

use crate::words::MARGIN;
use std::hint::select_unpredictable;
use xxhash_rust::xxh3::xxh3_64;

/// Number of words of a block. The words of more than 8 bytes are hashed after the other words of
/// their block. Their indices in the block fit into a byte.
pub(crate) const BLOCK: usize = 256;

/// Number of words that are tested together for having at most three bytes.
const FEW: usize = 16;

/// The parts of XXH3's default secret that the hashes of words of up to 16 bytes depend on.
const SECRET: [u64; 7] = [
    0xbe4b_a423_396c_feb8,
    0x1cad_21f7_2c81_017c,
    0xdb97_9083_e96d_d4de,
    0x1f67_b3b7_a4a4_4072,
    0x78e5_c0cc_4ee6_79cb,
    0x2172_ffcc_7dd0_5a82,
    0x8e24_43f7_7446_08b8,
];
pub(crate) const FLIP_3: u64 = (SECRET[0] & 0xffff_ffff) ^ (SECRET[0] >> 32);
pub(crate) const FLIP_8: u64 = SECRET[1] ^ SECRET[2];
pub(crate) const FLIP_16_FIRST: u64 = SECRET[3] ^ SECRET[4];
pub(crate) const FLIP_16_LAST: u64 = SECRET[5] ^ SECRET[6];
pub(crate) const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
pub(crate) const PRIME64_3: u64 = 0x1656_67B1_9E37_79F9;
pub(crate) const PRIME_MX1: u64 = 0x1656_6791_9E37_79F9;
pub(crate) const PRIME_MX2: u64 = 0x9FB2_1C65_1E98_DF25;

/// Words of a text with their start and end offsets. Each word is at least [`MARGIN`] bytes away from
/// both ends of the text.
#[derive(Clone, Copy)]
pub(crate) struct PlacedWords<'t> {
    // The fields are private, so that only `new` creates such words. So the words of every value keep
    // the margin.
    text: &'t [u8],
    starts: &'t [u32],
    ends: &'t [u32],
}

impl<'t> PlacedWords<'t> {
    /// Creates the words `text[starts[i]..ends[i]]`.
    ///
    /// # Panics
    ///
    /// If the two slices differ in length, or a word is empty, reversed or nearer than [`MARGIN`] to
    /// either end of `text`.
    pub(crate) fn new(text: &'t [u8], starts: &'t [u32], ends: &'t [u32]) -> Self {
        assert_eq!(starts.len(), ends.len(), "each word must have a start and an end");
        assert!(in_bounds(text, starts, ends), "a word is empty or too near an end of the text");
        Self { text, starts, ends }
    }

    /// Returns the text, and the starts and ends of the words in it.
    pub(crate) fn parts(self) -> (&'t [u8], &'t [u32], &'t [u32]) {
        (self.text, self.starts, self.ends)
    }
}

/// Returns whether every word is non-empty and at least [`MARGIN`] bytes away from both ends of the text.
fn in_bounds(text: &[u8], starts: &[u32], ends: &[u32]) -> bool {
    let limit = text.len().saturating_sub(MARGIN);
    let Ok(limit) = u32::try_from(limit) else { return starts.is_empty() };
    // Words outside the bounds are counted, without a branch for each, so that many words are compared
    // at once.
    let outside = |(&start, &end): (&u32, &u32)| {
        u32::from(start >= end) + u32::from(start < MARGIN as u32) + u32::from(end > limit)
    };
    i32::try_from(limit).is_ok() && starts.iter().zip(ends).map(outside).sum::<u32>() == 0
}

/// Hashes one word after the other, and appends the hashes to `hashes`.
#[inline(always)]
pub(crate) fn hash_words(words: PlacedWords<'_>, hashes: &mut Vec<u64>) {
    let (text, starts, ends) = words.parts();
    let mut long = [0_u8; BLOCK];
    for (starts, ends) in starts.chunks(BLOCK).zip(ends.chunks(BLOCK)) {
        let mut noted = 0;
        let first_new = hashes.len();
        for (few, (starts, ends)) in starts.chunks(FEW).zip(ends.chunks(FEW)).enumerate() {
            let words = starts.iter().zip(ends);
            // In languages where each character is a word, hardly any word has more than 3 bytes.
            if words.clone().fold(0, |most, (start, end)| most.max(end - start)) <= 3 {
                hashes.extend(words.map(|(&start, &end)| {
                    hash_3(load(text, start), load(text, end - 8), u64::from(end - start))
                }));
                continue;
            }
            hashes.extend(words.enumerate().map(|(place, (&start, &end))| {
                let length = u64::from(end - start);
                // The index is always written, and overwritten later unless the word is long.
                long[noted % BLOCK] = (FEW * few + place) as u8;
                noted += usize::from(length > 8);
                hash_8(load(text, start), load(text, end - 8), length)
            }));
        }
        hash_long(text, starts, ends, &long[..noted], &mut hashes[first_new..]);
    }
}

/// Writes the hashes of the words of a block that have 9 bytes or more to `hashes`, which has an element for each word
/// of the block. `places` has the indices of these words in the block.
#[inline]
pub(crate) fn hash_long(
    text: &[u8],
    starts: &[u32],
    ends: &[u32],
    places: &[u8],
    hashes: &mut [u64],
) {
    for &place in places {
        let place = usize::from(place);
        let (start, end) = (starts[place], ends[place]);
        hashes[place] = match u64::from(end - start) {
            length @ ..=16 => hash_16(load(text, start), load(text, end - 8), length),
            _ => xxh3_64(&text[start as usize..end as usize]),
        };
    }
}

/// Returns the eight bytes from byte offset `at` on as a number. These bytes must exist.
#[inline(always)]
fn load(text: &[u8], at: u32) -> u64 {
    let bytes = text.get(at as usize..at as usize + 8);
    bytes.and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Combines the bytes and the length of a word of 1 to 3 bytes into one number, from which the hash is computed.
/// `first` is the little-endian number of the 8 bytes from the start of the word on, and `last` of the 8 bytes before
/// its end.
#[inline(always)]
fn joined_3(first: u64, last: u64, length: u64) -> u64 {
    let middle = first.wrapping_shr(8 * (length as u32 >> 1)) & 0xff;
    ((first & 0xff) << 16 | middle << 24 | last >> 56 | length << 8) ^ FLIP_3
}

/// Returns the XXH3 hash of a word of 1 to 3 bytes. `first` is the little-endian number of the 8 bytes of the text from
/// the start of the word on. `last` is the number of the 8 bytes of the text before the end of the word. So both
/// numbers include bytes of the text around the word.
#[inline(always)]
fn hash_3(first: u64, last: u64, length: u64) -> u64 {
    let mut hash = joined_3(first, last, length).wrapping_mul(PRIME64_2);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIME64_3);
    hash ^ hash >> 32
}

/// Returns the XXH3 hash of a word of 1 to 8 bytes, without a branch. `first` is the little-endian number of the 8
/// bytes from the start of the word on, and `last` of the 8 bytes before its end.
#[inline(always)]
fn hash_8(first: u64, last: u64, length: u64) -> u64 {
    struct LengthClass {
        factors: [u64; 2],
        shifts: [u32; 2],
        length_mask: u64,
    }
    static CLASSES: [LengthClass; 2] = [
        LengthClass { factors: [PRIME64_2, PRIME64_3], shifts: [29, 32], length_mask: 0 },
        LengthClass { factors: [PRIME_MX2; 2], shifts: [35, 28], length_mask: u64::MAX },
    ];
    let class = &CLASSES[usize::from(length > 3)];
    let three = joined_3(first, last, length);
    let eight = (last >> 32 | first << 32) ^ FLIP_8;
    let eight = eight ^ eight.rotate_left(49) ^ eight.rotate_left(24);
    let mut hash = select_unpredictable(length > 3, eight, three);
    hash = hash.wrapping_mul(class.factors[0]);
    hash ^= hash.wrapping_shr(class.shifts[0]).wrapping_add(class.length_mask & length);
    hash = hash.wrapping_mul(class.factors[1]);
    hash ^ hash.wrapping_shr(class.shifts[1])
}

/// Returns the hash of a word of 9 to 16 bytes. `first` has the 8 bytes from the start of the word on, and `last` the 8
/// bytes before the end of the word.
#[inline(always)]
fn hash_16(first: u64, last: u64, length: u64) -> u64 {
    let (first, last) = (first ^ FLIP_16_FIRST, last ^ FLIP_16_LAST);
    let product = u128::from(first) * u128::from(last);
    let folded = product as u64 ^ (product >> 64) as u64;
    let sum = length.wrapping_add(first.swap_bytes()).wrapping_add(last).wrapping_add(folded);
    let hash = (sum ^ sum >> 37).wrapping_mul(PRIME_MX1);
    hash ^ hash >> 32
}
