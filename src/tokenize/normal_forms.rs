//! Texts as [`normalize::fold`] normalizes and folds them, character by character where that is the same.
//!
//! Most characters are replaced as a table says. The others are looked at one by one, and the few of
//! them whose form depends on what is before go the slow way, with the stable one before them.

use super::character_forms::{Form, State, form};
use super::known_characters::CHARACTERS;
use super::normalize;
use crate::kernels::Isa;
use crate::kernels::character_table::fold;
use crate::kernels::fold_characters::{ROOM, fold_characters};
use crate::kernels::word_masks::Words;
use unicode_normalization::char::{canonical_combining_class, compose};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// A text that is normalized and folded, and room behind it.
#[derive(Debug, Default)]
pub(super) struct Normalized {
    bytes: Vec<u8>,
    length: usize,
    /// A part that goes the slow way.
    slow: String,
}

impl Normalized {
    /// The text.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Replaces it by `text`, normalized and folded, of which `words` holds the masks and the
    /// lower-cased copy. A line end stands for each sequence that is no UTF-8; more spaces may stand
    /// before what is no letter or digit.
    pub(super) fn fill(&mut self, isa: Isa, text: &[u8], words: &Words) {
        self.length = 0;
        let mut at = 0;
        while at < text.len() {
            // Mostly there are no more bytes.
            self.reserve(text.len() - at + ROOM);
            let room = &mut self.bytes[self.length..];
            let done = fold_characters(isa, &CHARACTERS, words, at..text.len(), room);
            (at, self.length) = (at + done, self.length + done);
            if at < text.len() {
                at = self.fill_one(text, at);
                // Mostly there are more of the sort.
                while text.get(at).is_some_and(|&byte| byte >= 0x80) && is_left_alone(&text[at..]) {
                    at = self.fill_one(text, at);
                }
            }
        }
    }

    /// Appends the character at `at`, with those behind it that depend on it; returns where others
    /// begin.
    fn fill_one(&mut self, text: &[u8], at: usize) -> usize {
        let Some((character, length)) = decode(text, at) else {
            self.push(b"\n");
            return at + invalid_length(&text[at..]);
        };
        let form = form(character);
        match form.state() {
            State::Stable => {
                self.push_form(form);
            }
            State::Mark if form.combining() >= combining_before(text, at) => self.push_form(form),
            State::Long => self.push_slowly(&text[at..at + length]),
            State::Mark | State::Unstable => return self.unstable(text, at),
        }
        at + length
    }

    /// Does again what begins at the stable character before `at`, up to the next one behind; returns
    /// where that is.
    #[cold]
    fn unstable(&mut self, text: &[u8], at: usize) -> usize {
        let start = self.back_to_stable(text, at);
        let mut end = at;
        while let Some((character, length)) = decode(text, end) {
            let is_stable = matches!(form(character).state(), State::Stable | State::Long);
            if end > at && is_stable {
                break;
            }
            end += length;
        }
        let mut characters = text[start..end].utf8_chunks().flat_map(|chunk| chunk.valid().chars());
        let is_composed = match [(); 3].map(|()| characters.next()) {
            [Some(first), Some(mark), None] if start < at => self.push_composed(first, mark),
            _ => false,
        };
        if !is_composed {
            self.push_slowly(&text[start..end]);
        }
        end
    }

    /// Takes back what was appended for the stable character before `at` and the marks on it; returns
    /// where it begins.
    fn back_to_stable(&mut self, text: &[u8], at: usize) -> usize {
        let (mut start, mut length) = (at, self.length);
        while let Some((before, character)) = character_before(text, start) {
            let form = form(character);
            let bytes = match form.state() {
                State::Unstable => break,
                State::Long => {
                    normalize::fold(character.encode_utf8(&mut [0; 4]), &mut self.slow);
                    self.slow.len()
                }
                State::Stable | State::Mark => form.length(),
            };
            (start, length) = (before, length - bytes);
            if form.state() != State::Mark {
                break;
            }
        }
        self.length = length;
        start
    }

    /// Appends a character with one mark, if that is simple.
    fn push_composed(&mut self, first: char, mark: char) -> bool {
        let quick = |character| is_nfkc_quick(std::iter::once(character));
        let before = form(first);
        let is_simple = before.state() == State::Stable
            && quick(first) == IsNormalized::Yes
            && quick(mark) == IsNormalized::Maybe
            && canonical_combining_class(mark) != 0
            && form(mark).character() == Some(mark);
        let Some(folded) = before.character().filter(|_| is_simple) else { return false };
        match (compose(first, mark), compose(folded, mark)) {
            (Some(composed), _) => {
                let form = form(composed);
                let is_stable = form.state() == State::Stable;
                if is_stable {
                    self.push_form(form);
                }
                is_stable
            }
            // A mark of its own might change places with this one.
            (None, None) if std::iter::once(first).nfd().count() == 1 => {
                self.push_form(before);
                self.push(mark.encode_utf8(&mut [0; 4]).as_bytes());
                true
            }
            // It may compose once it is folded, too.
            (None, _) => false,
        }
    }

    #[cold]
    fn push_slowly(&mut self, text: &[u8]) {
        let mut slow = std::mem::take(&mut self.slow);
        // It was decoded.
        normalize::fold(str::from_utf8(text).unwrap_or_default(), &mut slow);
        self.push(slow.as_bytes());
        self.slow = slow;
    }

    #[inline]
    fn push_form(&mut self, form: Form) {
        let (bytes, length) = form.folded();
        self.push(&bytes[..length]);
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        let end = self.length + bytes.len();
        self.bytes[self.length..end].copy_from_slice(bytes);
        self.length = end;
    }

    /// Makes room for `more` bytes.
    #[inline]
    fn reserve(&mut self, more: usize) {
        if self.bytes.len() < self.length + more {
            self.grow(self.length + more);
        }
    }

    #[cold]
    fn grow(&mut self, length: usize) {
        self.bytes.resize(2 * length.max(1 << 10), 0);
    }
}

/// Whether the table leaves the character beyond ASCII alone that a text begins with.
fn is_left_alone(text: &[u8]) -> bool {
    let known = CHARACTERS.replaced(text);
    known.is_none_or(|(character, _)| character.fold & fold::ALONE != 0)
}

/// The combining class of the character before `at`, if that is a mark that stays.
fn combining_before(text: &[u8], at: usize) -> u8 {
    let form = character_before(text, at).map(|(_, character)| form(character));
    form.filter(|form| form.state() == State::Mark).map_or(0, Form::combining)
}

/// Where the character before `at` begins, and the character, if there is one.
fn character_before(text: &[u8], at: usize) -> Option<(usize, char)> {
    let start = (at > 0).then(|| previous(text, at))?;
    let (character, _) = decode(text, start).filter(|(_, bytes)| start + bytes == at)?;
    Some((start, character))
}

/// Where the character before `at` begins.
pub(super) fn previous(text: &[u8], at: usize) -> usize {
    let is_first = |start: &usize| text[*start] & 0xC0 != 0x80;
    (1..=4.min(at)).map(|back| at - back).find(is_first).unwrap_or(at - 1)
}

/// The character at `at` and the bytes that it has, if they are UTF-8.
#[inline]
pub(super) fn decode(text: &[u8], at: usize) -> Option<(char, usize)> {
    let rest = &text[at..];
    let tail = |at: usize| {
        let byte = *rest.get(at)?;
        (byte & 0xC0 == 0x80).then_some(u32::from(byte & 0x3F))
    };
    let first = u32::from(*rest.first()?);
    let (code, length) = match first {
        0..0x80 => (first, 1),
        0xC2..0xE0 => ((first & 0x1F) << 6 | tail(1)?, 2),
        0xE0..0xF0 => {
            let code = (first & 0xF) << 12 | tail(1)? << 6 | tail(2)?;
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

/// The bytes of the sequence at the start that is no UTF-8.
#[cold]
fn invalid_length(text: &[u8]) -> usize {
    let chunk = text[..text.len().min(4)].utf8_chunks().next();
    chunk.map_or(1, |chunk| chunk.invalid().len()).max(1)
}
