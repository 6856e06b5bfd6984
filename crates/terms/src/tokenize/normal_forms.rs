//! Normalizes and folds texts with the same result as [`fold`](super::normalize::fold), but
//! character by character where possible.
//!
//! A vectorized loop handles most characters with a table. Other characters are handled one by one. The form of a few
//! characters depends on the characters before them. For such a character, the text is normalized again from the last
//! character on whose form is the same in every context.

use super::character_forms::{Form, State, form};
use super::decompositions::Composer;
use super::known_characters::CHARACTERS;
use simtool_base::large_buffer::reserve_for_now;
use simtool_kernels::Isa;
use simtool_kernels::character_table::PAD;
use simtool_kernels::fold_characters::{ROOM, fold_characters};
use simtool_kernels::word_masks::Words;

/// Smallest number of bytes for which a call of the vectorized loop is worth its cost. If a call handles fewer bytes,
/// the next characters are handled one by one.
const FEW: usize = 16;
/// Initial number of bytes that are handled one by one before the vectorized loop is called again.
/// Each time a call handles fewer than [`FEW`] bytes, the number doubles, up to [`MOST`].
const MANY: usize = 32;
/// Largest number of bytes that are handled one by one before the vectorized loop is called again.
const MOST: usize = 256;

/// Length in bytes of a normalized text from which its buffer grows in smaller steps, to save memory.
const LONG_TEXT: usize = 1 << 20;

/// Number of bytes of a block. [`without_pads`] first skips the blocks at the start of a text that have no padding byte
/// ([`PAD`]), because most texts begin with such blocks.
const PAD_BLOCK: usize = 256;
/// A number in which the lowest bit of each byte is 1.
const LOWEST_BITS: u64 = u64::MAX / 0xFF;

/// A normalized and folded text.
#[derive(Debug, Default)]
pub(super) struct Normalized {
    folded: FoldedText,
    /// Normalizer for the parts of the text whose characters depend on each other.
    composer: Composer,
}

/// Output buffer for normalized text. The first `length` bytes are written, and the bytes after them are free.
#[derive(Debug, Default)]
struct FoldedText {
    bytes: Vec<u8>,
    length: usize,
}

impl Normalized {
    /// Returns the normalized and folded text.
    pub(super) fn text(&self) -> &[u8] {
        &self.folded.bytes[..self.folded.length]
    }

    /// Replaces the content by the normalized and folded form of `text`. `words` must have the bit masks and the
    /// lower-case copy of `text`.
    ///
    /// Each sequence of bytes that is not UTF-8 becomes a line end.
    pub(super) fn fill(&mut self, isa: Isa, text: &[u8], words: &Words) {
        self.folded.length = 0;
        let mut at = 0;
        let mut many = MANY;
        while at < text.len() {
            // The output is rarely longer than the input.
            let room = self.folded.reserve(text.len() - at + ROOM);
            let done = fold_characters(isa, &CHARACTERS, words, at..text.len(), room);
            self.folded.length += without_pads(&mut room[..done]);
            at += done;
            // If the kernel did not come far, the next characters are faster one by one.
            let one_by_one = if done < FEW { many } else { 1 };
            many = if done < FEW { MOST.min(2 * many) } else { MANY };
            let until = text.len().min(at + one_by_one);
            while at < until {
                at = self.fill_one(text, at);
            }
        }
    }

    /// Appends the normalized and folded form of the character at byte offset `at`, and of the following characters
    /// whose forms depend on it. Returns the byte offset after these characters.
    fn fill_one(&mut self, text: &[u8], at: usize) -> usize {
        let Some((character, length)) = decode(text, at) else {
            self.folded.push(b"\n");
            return at + invalid_length(&text[at..]);
        };
        let form = form(character);
        match form.state() {
            State::Stable => self.folded.push_form(form),
            State::Dropped => {}
            State::Mark if form.combining() >= combining_before(text, at) => {
                self.folded.push_form(form);
            }
            State::Long => self.folded.push(self.composer.fold_one(character).as_bytes()),
            State::Mark | State::Unstable => return self.unstable(text, at),
        }
        at + length
    }

    /// Normalizes the text again from the last stable character before `at` up to the next stable character. A stable
    /// character has the same form in every context. Returns the byte offset of the next stable character.
    #[cold]
    fn unstable(&mut self, text: &[u8], at: usize) -> usize {
        let start = self.back_to_stable(text, at);
        let Self { folded, composer } = self;
        // The stable character and all that follows it up to the next one are normalized as a unit.
        composer.begin();
        let mut end = start;
        while let Some((character, length)) = decode(text, end) {
            let is_stable = || matches!(form(character).state(), State::Stable | State::Long);
            if end > at && is_stable() {
                break;
            }
            composer.append(character);
            end += length;
        }
        composer.finish(&text[start..end], |character| folded.push_character(character));
        end
    }

    /// Removes from the output the last stable character before `at` and the marks after it. Characters that
    /// normalization drops are skipped. Returns the byte offset of the stable character in `text`.
    fn back_to_stable(&mut self, text: &[u8], at: usize) -> usize {
        let mut start = at;
        let mut length = self.folded.length;
        while let Some((before, character)) = character_before(text, start) {
            let form = form(character);
            let bytes = match form.state() {
                State::Unstable => break,
                State::Long => self.composer.fold_one(character).len(),
                State::Stable | State::Mark => form.length(),
                State::Dropped => 0,
            };
            (start, length) = (before, length - bytes);
            if !matches!(form.state(), State::Mark | State::Dropped) {
                break;
            }
        }
        self.folded.length = length;
        start
    }
}

impl FoldedText {
    #[inline]
    fn push_form(&mut self, form: Form) {
        let (bytes, length) = form.folded();
        // All eight bytes are written, which is a single store.
        if let Some(room) = self.reserve(bytes.len()).first_chunk_mut() {
            *room = bytes;
        }
        self.length += length;
    }

    #[inline]
    fn push_character(&mut self, character: char) {
        let room = self.reserve(character.len_utf8());
        self.length += character.encode_utf8(room).len();
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Returns the free part of the buffer, which is at least `more` bytes long.
    #[inline]
    fn reserve(&mut self, more: usize) -> &mut [u8] {
        if self.bytes.len() < self.length + more {
            self.grow(self.length + more);
        }
        &mut self.bytes[self.length..]
    }

    #[cold]
    fn grow(&mut self, length: usize) {
        if length < LONG_TEXT {
            self.bytes.resize(2 * length.max(1 << 10), 0);
            return;
        }
        let more = length + length / 4 - self.bytes.len();
        reserve_for_now(&mut self.bytes, more);
        self.bytes.resize(length + length / 4, 0);
    }
}

/// Removes each padding byte ([`PAD`]) from `folded`. Moves the other bytes to the start of `folded`, and returns their
/// number.
fn without_pads(folded: &mut [u8]) -> usize {
    // Without a branch, many bytes are compared at once. `contains` compares eight.
    let marks = |block: &[u8]| block.iter().fold(0, |marks, &byte| marks | u8::from(byte == PAD));
    let clean = folded.chunks(PAD_BLOCK).take_while(|block| marks(block) == 0).count();
    let mut kept = folded.len().min(PAD_BLOCK * clean);
    let mut at = kept;
    while let Some(&eight) = folded[at..].first_chunk::<8>() {
        let inverted = !u64::from_le_bytes(eight);
        // A byte of the inverted number is 0 if the byte is a pad.
        let zeros = inverted.wrapping_sub(LOWEST_BITS) & !inverted & LOWEST_BITS << 7;
        if zeros == 0 {
            folded[kept..kept + 8].copy_from_slice(&eight);
            kept += 8;
        } else {
            kept += copy_without_pads(eight, &mut folded[kept..]);
        }
        at += 8;
    }
    let tail: [u8; 8] = std::array::from_fn(|next| folded.get(at + next).copied().unwrap_or(PAD));
    kept + copy_without_pads(tail, &mut folded[kept..])
}

/// Copies the bytes of `eight` that are not [`PAD`] to the start of `out`, and returns their number. May change the
/// other bytes of `out` up to index 7.
fn copy_without_pads(eight: [u8; 8], out: &mut [u8]) -> usize {
    let mut kept = 0;
    for byte in eight {
        // Each byte is written in any case, because a branch would often be mispredicted.
        if let Some(place) = out.get_mut(kept) {
            *place = byte;
        }
        kept += usize::from(byte != PAD);
    }
    kept
}

/// Returns the Unicode combining class of the character before byte offset `at`. Characters that normalization drops
/// are skipped. Returns 0 if the character found is in another state than [`State::Mark`], or if there is no character.
fn combining_before(text: &[u8], mut at: usize) -> u8 {
    while let Some((before, character)) = character_before(text, at) {
        let form = form(character);
        match form.state() {
            State::Dropped => at = before,
            State::Mark => return form.combining(),
            State::Unstable | State::Stable | State::Long => break,
        }
    }
    0
}

/// Returns the byte offset of the character that ends at `at`, and the character. Returns `None` if `at` is 0, or if
/// the bytes before `at` are not UTF-8.
fn character_before(text: &[u8], at: usize) -> Option<(usize, char)> {
    let start = (at > 0).then(|| previous(text, at))?;
    let (character, _) = decode(text, start).filter(|(_, bytes)| start + bytes == at)?;
    Some((start, character))
}

/// Returns the byte offset of the character that ends at `at`.
pub(super) fn previous(text: &[u8], at: usize) -> usize {
    let is_first = |start: &usize| text[*start] & 0xC0 != 0x80;
    (1..=4.min(at)).map(|back| at - back).find(is_first).unwrap_or(at - 1)
}

/// Decodes the character at byte offset `at`. Returns the character and its number of bytes, or
/// `None` if the bytes are not UTF-8.
#[inline]
pub(super) fn decode(text: &[u8], at: usize) -> Option<(char, usize)> {
    let rest = &text[at..];
    let tail = |at: usize| {
        let byte = *rest.get(at)?;
        (byte & 0xC0 == 0x80).then_some(u32::from(byte & 0x3F))
    };
    // Checked by hand instead of with the standard library, because this runs for each character
    // and must not validate the whole rest of the text.
    let first = u32::from(*rest.first()?);
    let (code, length) = match first {
        0..0x80 => (first, 1),
        0xC2..0xE0 => ((first & 0x1F) << 6 | tail(1)?, 2),
        0xE0..0xF0 => {
            let code = (first & 0xF) << 12 | tail(1)? << 6 | tail(2)?;
            // Longer encodings than necessary are invalid.
            (if code >= 0x800 { code } else { return None }, 3)
        }
        0xF0..0xF5 => {
            let code = (first & 7) << 18 | tail(1)? << 12 | tail(2)? << 6 | tail(3)?;
            (if code >= 0x1_0000 { code } else { return None }, 4)
        }
        _ => return None,
    };
    Some((char::from_u32(code)?, length))
}

/// Returns the number of bytes of the invalid UTF-8 sequence at the start of `text`, at least 1.
#[cold]
fn invalid_length(text: &[u8]) -> usize {
    let chunk = text[..text.len().min(4)].utf8_chunks().next();
    chunk.map_or(1, |chunk| chunk.invalid().len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pads_are_removed_at_every_place(
            bytes in prop::collection::vec(prop_oneof![3 => 0_u8..=0xFF, 1 => Just(PAD)], 0..60),
            before in 0..600_usize,
        ) {
            let mut folded = [vec![b'a'; before], bytes].concat();
            let expected: Vec<u8> = folded.iter().copied().filter(|&byte| byte != PAD).collect();
            let kept = without_pads(&mut folded);
            prop_assert_eq!(&folded[..kept], expected);
        }
    }
}
