//! The plain loop of [`crate::mark_characters`].

use crate::character_starts::{Starts, places};
use crate::character_table::{CharacterEntry, CharacterTable, kind};
use crate::high_bits::flagged;
use crate::words::{Block, MARGIN, Words};

/// Returns whether a byte is a quotation mark.
#[inline]
pub(crate) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// Masks of the characters of two bytes in a block, or of the characters of three bytes. There is a
/// mask for each kind, and it has the first bytes of the characters.
#[derive(Clone, Copy, Default)]
pub(crate) struct FoundCharacters {
    pub(crate) letters: u64,
    pub(crate) quoted: u64,
    pub(crate) singles: u64,
    pub(crate) marks: u64,
    pub(crate) single_marks: u64,
    pub(crate) odd: u64,
}

impl FoundCharacters {
    /// Returns a mask of the characters whose kind the table does not decide if a quotation mark
    /// follows.
    #[inline(always)]
    fn before_quotes(&self) -> u64 {
        self.quoted | self.marks
    }

    /// Returns only the characters whose first bytes are in `mask`.
    #[inline(always)]
    fn only(&self, mask: u64) -> Self {
        Self {
            letters: self.letters & mask,
            quoted: self.quoted & mask,
            singles: self.singles & mask,
            marks: self.marks & mask,
            single_marks: self.single_marks & mask,
            odd: self.odd & mask,
        }
    }
}

/// Returns a mask of all bytes of some characters. `two` and `three` are masks of the first bytes of
/// characters of two and of three bytes.
#[inline(always)]
fn bytes(two: u64, three: u64) -> u128 {
    let (two, three) = (u128::from(two), u128::from(three));
    two | two << 1 | three | three << 1 | three << 2
}

/// Returns some bits of `runs`, which consists of runs of adjacent set bits. Each run keeps its
/// bits from its first bit in `starts` on. For example, runs `0b0111_0110` and starts `0b0010_0010`
/// give `0b0110_0110`.
#[inline(always)]
fn following(runs: u128, starts: u128) -> u128 {
    // A sum carries through the rest of a run.
    runs & !(runs + (runs & starts))
}

/// Facts about a block that are needed for the next block. They are the bits that the block's last
/// character sets in the next block, and the kind of the block's last byte.
#[derive(Default)]
pub(crate) struct Carry {
    letters: u64,
    singles: u64,
    breaks: u64,
    /// 1 if the last byte of the block belongs to a letter, else 0.
    letter_before: u64,
    single_before: u64,
}

impl Carry {
    /// Handles a block that has only ASCII characters. Sets the bit of `block.breaks` behind a one-character word that
    /// ended the previous block. Then stores the facts about `block` that are needed for the next block.
    #[inline(always)]
    pub(crate) fn pass(&mut self, block: &mut Block) {
        block.breaks |= self.breaks;
        *self = Self { letter_before: block.letters >> 63, ..Self::default() };
    }

    /// Adds the characters of two and of three bytes that were found in a block to its masks.
    /// Returns a mask of the first bytes of the characters whose kind the table does not decide.
    /// `quotes` returns two masks of the characters before a quotation mark: the first bytes of
    /// characters of two bytes, and of three bytes.
    #[inline(always)]
    pub(crate) fn mark(
        &mut self,
        block: &mut Block,
        [mut of_two, mut of_three]: [FoundCharacters; 2],
        quotes: impl FnOnce() -> [u64; 2],
    ) -> u64 {
        let mut odd = of_two.odd | of_three.odd;
        if (of_two.before_quotes() | of_three.before_quotes()) != 0 {
            let [after_two, after_three] = quotes();
            for (found, quotes) in [(&mut of_two, after_two), (&mut of_three, after_three)] {
                odd |= found.before_quotes() & quotes;
                found.letters |= found.quoted & !quotes;
                found.marks &= !quotes;
            }
        }
        let mut letters = bytes(of_two.letters, of_three.letters) | u128::from(self.letters);
        let mut singles = bytes(of_two.singles, of_three.singles) | u128::from(self.singles);
        let mut single_starts = of_two.singles | of_three.singles;
        let mut single_ends = u128::from(of_two.singles) << 2 | u128::from(of_three.singles) << 3;
        if of_two.marks | of_three.marks != 0 {
            let marks = bytes(of_two.marks, of_three.marks);
            let before =
                (letters | u128::from(block.letters)) << 1 | u128::from(self.letter_before);
            let followed = following(marks, before);
            letters |= followed;
            odd |= (of_two.marks | of_three.marks) & !(followed as u64);
        }
        if of_two.single_marks | of_three.single_marks != 0 {
            let marks = bytes(of_two.single_marks, of_three.single_marks);
            let followed = following(marks, singles << 1 | u128::from(self.single_before));
            singles |= followed;
            let followed = followed as u64;
            odd |= (of_two.single_marks | of_three.single_marks) & !followed;
            let (two, three) = (of_two.single_marks & followed, of_three.single_marks & followed);
            single_starts |= two | three;
            single_ends |= u128::from(two) << 2 | u128::from(three) << 3;
        }
        block.letters |= letters as u64;
        block.others |= singles as u64;
        block.breaks |= single_starts | single_ends as u64 | self.breaks;
        *self = Self {
            letters: (letters >> 64) as u64,
            singles: (singles >> 64) as u64,
            breaks: (single_ends >> 64) as u64,
            // A character that goes on into the next block ends there.
            letter_before: block.letters >> 63,
            single_before: block.others >> 63,
        };
        odd
    }
}

/// Appends the positions of the set bits of `mask`, as byte offsets in the text. The mask is for block
/// number `index` of the text.
#[inline(always)]
pub(crate) fn push_places(index: usize, mask: u64, out: &mut Vec<u32>) {
    out.extend(places(mask).map(|at| (64 * index + at) as u32));
}

/// Adds the characters beyond ASCII to the masks of `words`. Appends to `odd` the byte offsets of the characters whose
/// kind, such as letter, the table does not decide. Looks up the characters of a block one by one, and then adds all of
/// them to the masks at once. So no look-up waits for an earlier one.
#[inline(always)]
pub(crate) fn mark_characters(table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
    let members = table.members();
    let Words { lowered, blocks, .. } = words;
    let mut carry = Carry::default();
    for (index, block) in blocks.iter_mut().enumerate() {
        if block.foreign == 0 {
            carry.pass(block);
            continue;
        }
        // The text of the block, the rest of a character that begins in it, and one more byte.
        let Some(text) = lowered[64 * index + MARGIN..].first_chunk::<67>() else { break };
        let Some(bytes) = text.first_chunk::<64>() else { break };
        let starts = Starts::of(bytes, block.foreign);
        let (mut kinds, mut any) = ([0; 64], 0);
        for at in places(starts.two) {
            let CharacterEntry { kind, .. } = members.of_two([text[at], text[at + 1]]);
            kinds[at] = kind;
            any |= kind;
        }
        for at in places(starts.three) {
            let CharacterEntry { kind, .. } =
                members.of_three([text[at], text[at + 1], text[at + 2]]);
            kinds[at] = kind;
            any |= kind;
        }
        let of = |kind: u8| if any & kind == 0 { 0 } else { flagged(&kinds, kind) };
        let found = FoundCharacters {
            letters: of(kind::LETTER),
            quoted: of(kind::QUOTED_LETTER),
            singles: of(kind::SINGLE),
            marks: of(kind::MARK),
            single_marks: of(kind::SINGLE_MARK),
            odd: of(kind::ODD),
        };
        let [of_two, of_three] = [found.only(starts.two), found.only(starts.three)];
        let quotes = || {
            [(of_two, 2), (of_three, 3)].map(|(found, length): (FoundCharacters, usize)| {
                let is_before = |&at: &usize| is_quote(text[at + length]);
                let before = places(found.before_quotes()).filter(is_before);
                before.fold(0, |mask, at| mask | 1 << at)
            })
        };
        let odd_here = carry.mark(block, [of_two, of_three], quotes) | starts.longer;
        push_places(index, odd_here, odd);
    }
}
