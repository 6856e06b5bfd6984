//! Keys of words, and the plain loop of [`crate::word_keys`].

/// Maximum number of letters of a word with a key.
pub const KEY_LETTERS: usize = 16;

/// A word of up to 16 letters as two little-endian numbers: the letters in lower case, followed by zeros.
pub type WordKey = [u64; 2];

/// The key of a word of more than 16 letters. In the key of every other word, the first number is not 0.
pub const NO_KEY: WordKey = [0; 2];

/// Returns the hash of a key for tables in memory. The hash is a 128-bit product whose two halves
/// are combined by XOR. It is neither stored nor printed, so it may change with any version.
#[inline(always)]
pub fn hash_key(key: WordKey) -> u64 {
    // Two odd constants from the digits of the square roots of 2 and 3.
    let product =
        u128::from(key[0] ^ 0x6a09_e667_f3bc_c909) * u128::from(key[1] ^ 0xbb67_ae85_84ca_a73b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Returns the key of one word: its letters in lower case as two numbers. Reads the word byte by byte.
pub fn word_key(word: &[u8]) -> WordKey {
    if word.len() > KEY_LETTERS {
        return NO_KEY;
    }
    let mut bytes = [0; KEY_LETTERS];
    for (to, from) in bytes.iter_mut().zip(word) {
        *to = from.to_ascii_lowercase();
    }
    let (low, high) = bytes.split_at(8);
    [low, high].map(|half| half.iter().rev().fold(0, |key, &byte| (key << 8) | u64::from(byte)))
}

/// The words of a text: word `i` is `text[starts[i]..ends[i]]`.
#[derive(Clone, Copy, Debug)]
pub struct WordSpans<'a> {
    /// Bytes of the text.
    pub text: &'a [u8],
    /// Byte offset in `text` of the first letter of each word.
    pub starts: &'a [u32],
    /// Byte offset in `text` behind the last letter of each word.
    pub ends: &'a [u32],
}

/// A number in which each byte has one bit set: the bit that differs between the lower-case and the
/// upper-case form of a letter.
const CASE: u64 = 0x2020_2020_2020_2020;

/// Returns a mask of the lowest `letters` bytes of a number.
#[inline(always)]
fn low_bytes(letters: usize) -> u64 {
    if letters >= 8 { u64::MAX } else { !(u64::MAX << (8 * letters)) }
}

/// Writes the key of each word, which is its letters in lower case as two numbers, to `keys`.
/// Writes the hash of the key to `hashes`.
#[inline(always)]
pub(crate) fn plain(spans: WordSpans<'_>, keys: &mut [WordKey], hashes: &mut [u64]) {
    let WordSpans { text, starts, ends } = spans;
    let words = starts.iter().zip(ends);
    for ((&start, &end), (key, hash)) in words.zip(keys.iter_mut().zip(hashes)) {
        let (start, length) = (start as usize, (end - start) as usize);
        *key = match text[start..].first_chunk::<KEY_LETTERS>() {
            _ if length > KEY_LETTERS => NO_KEY,
            Some(bytes) => {
                let whole = u128::from_le_bytes(*bytes);
                let low = low_bytes(length);
                let high = low_bytes(length.saturating_sub(8));
                [(whole as u64 | CASE) & low, ((whole >> 64) as u64 | CASE) & high]
            }
            // The last bytes of the text.
            None => word_key(&text[start..start + length]),
        };
        *hash = hash_key(*key);
    }
}
