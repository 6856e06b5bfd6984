//! Normalizes and folds texts with the same result as [`normalize::fold`], but faster: the
//! characters are decomposed with a table, put into canonical order and composed again.
//!
//! The Unicode libraries are called when a character first occurs. Usually it does not matter whether a character is
//! folded before or after its decomposition. The only exception is the iota subscript (U+0345). It becomes a letter,
//! whose position among the other marks depends on whether it composes.
//!
//! # References
//! Unicode Standard Annex #15, Unicode Normalization Forms; the Unicode Standard, sections 3.11 and 3.13.

use super::normalize::{self, KNOWN, is_ignorable, plain_quote};
use caseless::Caseless as _;
use simtool_base::unordered_map::UnorderedMap;
use std::sync::atomic::{AtomicU64, Ordering};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{canonical_combining_class, compose};

const IOTA_BELOW: char = '\u{345}';

/// A character and its canonical combining class.
type Classed = (char, u8);

/// Number of bits that the code point of a character takes in an entry of [`DECOMPOSED`].
const CHARACTER_BITS: u32 = 21;
/// Number of bits that a character and its combining class take in an entry of [`DECOMPOSED`].
const CLASSED_BITS: u32 = CHARACTER_BITS + 8;

/// Table of folded decompositions of at most two characters, by code point. Bits 58 and 59 hold the number of
/// characters. Each character takes 29 bits, from bit 0 on. An entry is 0 if it was not computed yet, or if the
/// decomposition is too long.
static DECOMPOSED: [AtomicU64; KNOWN] = [const { AtomicU64::new(0) }; KNOWN];

/// Normalizes and folds texts. Its buffers are reused for the next text.
#[derive(Debug, Default)]
pub(super) struct Composer {
    characters: Vec<Classed>,
    /// Decompositions of more than two characters, which are too long for the table.
    long: UnorderedMap<char, Box<[Classed]>>,
    /// Normalized and folded forms of single characters, for [`Self::fold_one`].
    forms: UnorderedMap<char, Box<str>>,
    pairs: Pairs,
    text: String,
}

impl Composer {
    /// Starts a new text. Each character of the text must then be passed to [`Self::append`].
    pub(super) fn begin(&mut self) {
        self.characters.clear();
    }

    /// Ends the text, and passes its normalized and folded characters to `take`. `text` is the UTF-8 form of the
    /// characters that were appended.
    pub(super) fn finish(&mut self, text: &[u8], take: impl FnMut(char)) {
        // The exception: the order of folding and decomposing matters for the iota subscript.
        if self.characters.iter().any(|&(character, _)| character == IOTA_BELOW) {
            normalize::fold(str::from_utf8(text).unwrap_or_default(), &mut self.text);
            self.text.chars().for_each(take);
            return;
        }
        put_in_order(&mut self.characters);
        compose_all(&mut self.characters, &mut self.pairs).for_each(take);
    }

    /// Returns the normalized and folded form of a single character.
    pub(super) fn fold_one(&mut self, character: char) -> &str {
        self.forms.entry(character).or_insert_with(|| {
            normalize::fold(character.encode_utf8(&mut [0; 4]), &mut self.text);
            self.text.as_str().into()
        })
    }

    /// Appends the folded decomposition of a character to the text.
    #[inline]
    pub(super) fn append(&mut self, character: char) {
        let known =
            DECOMPOSED.get(character as usize).map_or(0, |known| known.load(Ordering::Relaxed));
        let classed = |at: u32| {
            let code = (known >> at) as u32 & ((1 << CHARACTER_BITS) - 1);
            (char::from_u32(code).unwrap_or_default(), (known >> (at + CHARACTER_BITS)) as u8)
        };
        // The number of characters is in the highest bits.
        match known >> (2 * CLASSED_BITS) {
            1 => self.characters.push(classed(0)),
            2 => self.characters.extend([classed(0), classed(CLASSED_BITS)]),
            _ => self.ask(character),
        }
    }

    #[cold]
    fn ask(&mut self, character: char) {
        if let Some(long) = self.long.get(&character) {
            self.characters.extend_from_slice(long);
            return;
        }
        let all: Vec<Classed> = decomposed(character).collect();
        self.characters.extend_from_slice(&all);
        // Characters beyond the table occur in hardly any text, so nothing is stored for them.
        let Some(known) = DECOMPOSED.get(character as usize) else { return };
        let bits = |(character, class): Classed| {
            u64::from(u32::from(character)) | u64::from(class) << CHARACTER_BITS
        };
        let kept = match all[..] {
            [only] => 1 << (2 * CLASSED_BITS) | bits(only),
            [one, other] => 2 << (2 * CLASSED_BITS) | bits(one) | bits(other) << CLASSED_BITS,
            _ => {
                self.long.insert(character, all.into());
                return;
            }
        };
        // Threads may compute the same entry at the same time. All get the same result, so the
        // order of their stores does not matter.
        known.store(kept, Ordering::Relaxed);
    }
}

/// Returns the folded decomposition of a character, each part with its combining class. The result is empty if
/// normalization drops the character. If the full decomposition contains an iota subscript, one iota subscript is added
/// at the end.
fn decomposed(character: char) -> impl Iterator<Item = Classed> {
    let visible = Some(character).filter(|&character| !is_ignorable(character));
    let has_below = visible.into_iter().nfkd().any(|part| part == IOTA_BELOW);
    let parts = visible.into_iter().nfkd().default_case_fold().nfkd().map(plain_quote);
    let below = has_below.then_some(IOTA_BELOW);
    parts.chain(below).map(|part| (part, canonical_combining_class(part)))
}

/// Sorts each run of marks by combining class. A character with class 0 is not a mark and ends a run.
fn put_in_order(characters: &mut [Classed]) {
    for marks in characters.chunk_by_mut(|&(_, before), &(_, class)| before != 0 && class != 0) {
        if !marks.is_sorted_by_key(|&(_, class)| class) {
            marks.sort_by_key(|&(_, class)| class);
        }
    }
}

/// Cache of the results of composing two characters. Most texts have only a few different pairs that may compose, and
/// repeat each of them often.
#[derive(Debug)]
struct Pairs([u64; Self::COUNT]);

impl Pairs {
    const COUNT: usize = 256;

    #[inline]
    fn compose(&mut self, one: char, other: char) -> Option<char> {
        // The bits of both characters identify the pair, and the composed character is in the bits
        // below.
        let pair = u64::from(u32::from(one)) << (2 * CHARACTER_BITS)
            | u64::from(u32::from(other)) << CHARACTER_BITS;
        // A direct-mapped cache: a new pair replaces the pair in the same slot.
        let place = (u32::from(one) ^ u32::from(other) << 3) as usize % Self::COUNT;
        let known = &mut self.0[place];
        if *known >> CHARACTER_BITS != pair >> CHARACTER_BITS {
            *known =
                pair | compose(one, other).map_or(0, |composed| u64::from(u32::from(composed)));
        }
        match *known as u32 & ((1 << CHARACTER_BITS) - 1) {
            0 => None,
            composed => char::from_u32(composed),
        }
    }
}

impl Default for Pairs {
    fn default() -> Self {
        // The initial entries are correct: two characters of code 0 compose to nothing.
        Self([0; Self::COUNT])
    }
}

/// Composes characters that are in canonical order. Changes `characters` in place, and returns the composed characters.
fn compose_all(characters: &mut [Classed], pairs: &mut Pairs) -> impl Iterator<Item = char> {
    let mut length = 0;
    // Index of the last starter (a character of class 0), and the class of the last mark behind it
    // that was kept.
    let mut starter = None;
    let mut last = None;
    for at in 0..characters.len() {
        let (character, class) = characters[at];
        let composed =
            // A character composes with the starter unless a mark of the same or a higher class is
            // between them.
            starter.filter(|_| last.is_none_or(|last| last < class)).and_then(|starter: usize| {
                Some((starter, pairs.compose(characters[starter].0, character)?))
            });
        if let Some((starter, composed)) = composed {
            characters[starter].0 = composed;
            continue;
        }
        if class == 0 {
            (starter, last) = (Some(length), None);
        } else {
            last = Some(class);
        }
        characters[length] = (character, class);
        length += 1;
    }
    characters[..length].iter().map(|&(character, _)| character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(composer: &mut Composer, text: &str) {
        let mut found = String::new();
        let mut expected = String::new();
        composer.begin();
        text.chars().for_each(|character| composer.append(character));
        composer.finish(text.as_bytes(), |character| found.push(character));
        normalize::fold(text, &mut expected);
        assert_eq!(found, expected, "{}", text.escape_unicode());
    }

    #[test]
    fn every_character_is_that_of_the_definition() {
        let mut composer = Composer::default();
        for character in '\0'..=char::MAX {
            let text = character.to_string();
            check(&mut composer, &text);
            check(&mut composer, &text);
        }
        for character in "a\u{fdfa}\u{390}\u{345}\u{1fb3}".chars() {
            let mut expected = String::new();
            normalize::fold(&character.to_string(), &mut expected);
            assert_eq!(composer.fold_one(character), expected);
            assert_eq!(composer.fold_one(character), expected);
        }
    }

    /// Checks each character that folding or normalization changes, composes or moves. Each check
    /// puts marks of several combining classes around the character.
    #[test]
    fn characters_among_marks_are_those_of_the_definition() {
        let mut composer = Composer::default();
        let is_plain = |character: char| {
            let mut folded = String::new();
            normalize::fold(character.encode_utf8(&mut [0; 4]), &mut folded);
            folded.chars().eq([character])
                && std::iter::once(character).nfkd().eq([character])
                && canonical_combining_class(character) == 0
                && unicode_normalization::is_nfkc_quick(std::iter::once(character))
                    == unicode_normalization::IsNormalized::Yes
        };
        for character in ('\0'..=char::MAX).filter(|&character| !is_plain(character)) {
            // Syllables are made by one rule.
            if ('\u{ac02}'..='\u{d7a3}').contains(&character) {
                continue;
            }
            for before in ["α", "a\u{345}", "Ω\u{327}\u{301}", "가", "ᄒ", "か\u{3099}"] {
                for behind in ["", "\u{301}", "\u{345}\u{323}", "ᅡ", "\u{11a8}", "\u{308}\u{301}"]
                {
                    check(&mut composer, &format!("{before}{character}{behind}"));
                }
            }
        }
    }

    #[test]
    fn many_marks_are_put_in_order_at_once() {
        let text = format!("a{}", "\u{301}\u{323}\u{345}\u{327}".repeat(100_000));
        check(&mut Composer::default(), &text);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn texts_are_those_of_the_definition(
            text in "([\u{300}-\u{345}]|[α-ώ]|[\u{1f00}-\u{1fff}]|[ -~]|[\u{1100}-\u{11ff}]|[ぁ-ゟ]|\\PC){0,40}",
        ) {
            check(&mut Composer::default(), &text);
        }
    }
}
