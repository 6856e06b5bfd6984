//! Marks characters beyond ASCII in the masks of words, as far as a table knows their kind.
//!
//! A letter joins the word around it, a Chinese character is a word by itself, a combining mark
//! belongs to the letter before it:
//!
//! ```text
//! bytes     c a f é é 中中中文文文        é has two bytes, 中 and 文 have three
//! letters   x x x x x . . . . . . .
//! others    . . . . . x x x x x x .
//! breaks    . . . . . x . . x . . x      a word may not go on across these places
//! ```

use super::character_starts::{Starts, places};
use super::character_table::{CharacterTable, Member, kind};
use super::high_bits::flagged;
use super::words::{Block, Words};
use super::xxh3_short::MARGIN;
use super::{Isa, Kind};

/// Marks the characters beyond ASCII of the text that `words` classified last. Replaces `odd` by the
/// places of the characters that the table does not know, in ascending order.
///
/// The text is UTF-8.
///
/// # Panics
///
/// `words` has no room for the margins of the text.
pub fn mark_characters(isa: Isa, table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
    odd.clear();
    let blocks = words.blocks.len();
    assert!(words.lowered.len() >= 64 * blocks.saturating_sub(2) + 2 * MARGIN + 64, "margins");
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX-512 was detected, and the text has its margins.
        Kind::Avx512 => unsafe { x86::avx512(table, words, odd) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX2 was detected, and the text has its margins.
        Kind::Avx2 => unsafe { x86::avx2(table, words, odd) },
        _ => portable(table, words, odd),
    }
}

/// Whether a byte is a quotation mark.
#[inline]
fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// The kinds of the characters of one length, as masks of their first bytes.
#[derive(Clone, Copy, Default)]
struct Found {
    letters: u64,
    quoted: u64,
    singles: u64,
    marks: u64,
    single_marks: u64,
    odd: u64,
}

impl Found {
    /// Returns the characters that are odd before a quotation mark.
    #[inline(always)]
    fn before_quotes(&self) -> u64 {
        self.quoted | self.marks
    }

    /// Returns the characters that begin at `mask`.
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

/// Returns the masks of all bytes of characters of two and three bytes, from their first bytes.
#[inline(always)]
fn bytes(two: u64, three: u64) -> u128 {
    let (two, three) = (u128::from(two), u128::from(three));
    two | two << 1 | three | three << 1 | three << 2
}

/// Returns the part of each run of bits from the first bit of `starts` in it on. For example,
/// runs `0b0111_0110` and starts `0b0010_0010` give `0b0110_0110`.
#[inline(always)]
fn following(runs: u128, starts: u128) -> u128 {
    // A sum carries through the rest of a run.
    runs & !(runs + (runs & starts))
}

/// Facts of a block that the next block needs.
#[derive(Default)]
struct Carry {
    letters: u64,
    singles: u64,
    breaks: u64,
    /// Whether its last byte is a letter.
    letter_before: u64,
    single_before: u64,
}

impl Carry {
    /// Moves behind a block without characters beyond ASCII.
    #[inline(always)]
    fn pass(&mut self, block: &mut Block) {
        block.breaks |= self.breaks;
        *self = Self { letter_before: block.letters >> 63, ..Self::default() };
    }

    /// Marks the characters of two and of three bytes that were found in a block, and returns the odd
    /// ones. `quotes` returns, for each of the two lengths, the places whose character of that length
    /// would have a quotation mark behind it.
    #[inline(always)]
    fn mark(
        &mut self,
        block: &mut Block,
        [mut of_two, mut of_three]: [Found; 2],
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

/// The places of a mask in block `index` of a text.
#[inline(always)]
fn push_places(index: usize, mask: u64, out: &mut Vec<u32>) {
    out.extend(places(mask).map(|at| (64 * index + at) as u32));
}

/// The portable way: each character is looked up by itself, and all characters of a block are marked
/// at once. No step waits for the one before it.
fn portable(table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
    let members = table.members();
    let Words { lowered, blocks, .. } = words;
    let mut carry = Carry::default();
    for (index, block) in blocks.iter_mut().enumerate() {
        if block.foreign == 0 {
            carry.pass(block);
            continue;
        }
        // A character that begins in the block, and a byte behind it.
        let Some(text) = lowered[64 * index + MARGIN..].first_chunk::<67>() else { break };
        let Some(bytes) = text.first_chunk::<64>() else { break };
        let starts = Starts::of(bytes, block.foreign);
        let (mut kinds, mut any) = ([0; 64], 0);
        for at in places(starts.two) {
            let Member { kind, .. } = members.of_two([text[at], text[at + 1]]);
            kinds[at] = kind;
            any |= kind;
        }
        for at in places(starts.three) {
            let Member { kind, .. } = members.of_three([text[at], text[at + 1], text[at + 2]]);
            kinds[at] = kind;
            any |= kind;
        }
        let of = |kind: u8| if any & kind == 0 { 0 } else { flagged(&kinds, kind) };
        let found = Found {
            letters: of(kind::LETTER),
            quoted: of(kind::QUOTED_LETTER),
            singles: of(kind::SINGLE),
            marks: of(kind::MARK),
            single_marks: of(kind::SINGLE_MARK),
            odd: of(kind::ODD),
        };
        let [of_two, of_three] = [found.only(starts.two), found.only(starts.three)];
        let quotes = || {
            [(of_two, 2), (of_three, 3)].map(|(found, length): (Found, usize)| {
                let is_before = |&at: &usize| is_quote(text[at + length]);
                let before = places(found.before_quotes()).filter(is_before);
                before.fold(0, |mask, at| mask | 1 << at)
            })
        };
        let odd_here = carry.mark(block, [of_two, of_three], quotes) | starts.longer;
        push_places(index, odd_here, odd);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Carry, CharacterTable, Found, MARGIN, Starts, Words, kind, push_places};
    use crate::byte_lanes::{Avx2, Avx512, Lanes};
    use crate::character_table::Row;

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2")]
    pub(super) unsafe fn avx512(table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
        // SAFETY: the caller's.
        unsafe { mark_lanes::<Avx512>(table, words, odd) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) unsafe fn avx2(table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
        // SAFETY: the caller's.
        unsafe { mark_lanes::<Avx2>(table, words, odd) }
    }

    impl Found {
        /// Adds the characters of a row that begin at `mask`; `lasts` holds their last bytes there.
        #[inline(always)]
        unsafe fn add_row<L: Lanes>(&mut self, row: &Row, mask: u64, lasts: L) {
            // SAFETY: the caller's.
            unsafe {
                let kinds = lasts.lookup(L::table(&row.kinds));
                let of = |kind: u8| {
                    if row.any_kind & kind == 0 { 0 } else { kinds.having(kind) & mask }
                };
                self.letters |= of(kind::LETTER);
                self.quoted |= of(kind::QUOTED_LETTER);
                self.singles |= of(kind::SINGLE);
                self.marks |= of(kind::MARK);
                self.single_marks |= of(kind::SINGLE_MARK);
                self.odd |= of(kind::ODD);
            }
        }
    }

    /// # Safety
    /// The instruction set is there, and the text has its margins.
    #[inline(always)]
    unsafe fn mark_lanes<L: Lanes>(table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
        let leads = table.lead_kinds();
        let any_lead = leads.0.iter().fold(0, |any, kind| any | kind);
        // SAFETY: the instruction set is there.
        let leads = unsafe { L::table(&leads.0) };
        let Words { lowered, blocks, .. } = words;
        let mut carry = Carry::default();
        for (index, block) in blocks.iter_mut().enumerate() {
            if block.foreign == 0 {
                carry.pass(block);
                continue;
            }
            let text = &lowered[64 * index + MARGIN..];
            let byte_at = |at: usize, mask: u64| text[at + mask.trailing_zeros() as usize];
            // SAFETY: the margin behind the text is as wide.
            let (block_bytes, seconds, thirds) = unsafe {
                let start = text.as_ptr();
                (L::load(start), L::load(start.add(1)), L::load(start.add(2)))
            };
            // SAFETY: the instruction set is there.
            let (tails, below_three, below_four) =
                unsafe { (block_bytes.below(-64), block_bytes.below(-32), block_bytes.below(-16)) };
            let Starts { two, three, longer, .. } =
                Starts::new(block.foreign, tails, below_three, below_four);
            // SAFETY: the instruction set is there.
            let (kinds, mixed) = unsafe {
                let kinds = block_bytes.lookup(leads);
                (kinds, kinds.having(kind::ROW))
            };
            // SAFETY: the instruction set is there.
            let (letters, singles) = unsafe {
                let of = |kind: u8| if any_lead & kind == 0 { 0 } else { kinds.having(kind) };
                (of(kind::LETTER), of(kind::SINGLE))
            };
            let of_length = |mask: u64| Found {
                letters: letters & mask,
                singles: singles & mask,
                ..Found::default()
            };
            let mut of_two = of_length(two);
            let mut rest = two & mixed;
            while rest != 0 {
                let first = byte_at(0, rest);
                // SAFETY: the instruction set is there.
                unsafe {
                    let mask = block_bytes.equal(first) & two;
                    rest &= !mask;
                    of_two.add_row(table.two(first), mask, seconds);
                }
            }
            let mut of_three = of_length(three);
            rest = three & mixed;
            while rest != 0 {
                let first = byte_at(0, rest);
                let rows = table.three(first);
                // SAFETY: the instruction set is there.
                let mask = unsafe { block_bytes.equal(first) & three };
                rest &= !mask;
                // SAFETY: the instruction set is there.
                unsafe {
                    of_three.add_row(&rows.whole, mask, seconds);
                    let mut mixed =
                        seconds.lookup(L::table(&rows.whole.kinds)).having(kind::ROW) & mask;
                    while mixed != 0 {
                        let second = byte_at(1, mixed);
                        let mask = seconds.equal(second) & mixed;
                        mixed &= !mask;
                        if let Some(row) = &rows.mixed[usize::from(second & 0x3F)] {
                            of_three.add_row(row, mask, thirds);
                        }
                    }
                }
            }
            let quotes = || {
                // SAFETY: the margin behind the text is as wide.
                unsafe {
                    let fourths = L::load(text.as_ptr().add(3));
                    let quotes = |bytes: L| bytes.equal(b'"') | bytes.equal(b'\'');
                    [quotes(thirds), quotes(fourths)]
                }
            };
            let odd_here = carry.mark(block, [of_two, of_three], quotes) | longer;
            push_places(index, odd_here, odd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character_table::Character;
    use crate::character_table::tests::described;
    use crate::word_masks::classify;
    use proptest::prelude::*;

    static TABLE: CharacterTable = CharacterTable::new(described);

    /// The plain twin: one character after the other.
    fn one_by_one(table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
        let mut at = 0;
        // The run of letters, with the marks that belong to them.
        let mut letters = 0..0;
        // Where the last word of one character ends.
        let mut single_end = usize::MAX;
        while at < 64 * (words.blocks.len() - 2) {
            let text = &words.lowered[MARGIN..];
            if text[at].is_ascii() {
                at += 1;
                continue;
            }
            let Some((Character { kind, .. }, length)) = table.replaced(&text[at..]) else {
                odd.push(at as u32);
                at += 4;
                continue;
            };
            let end = at + length;
            let is_letter = match kind {
                kind::LETTER => true,
                kind::QUOTED_LETTER => !is_quote(text[end]),
                kind::MARK => {
                    let is_behind = letters.end == at && !letters.is_empty()
                        || at > 0 && words.blocks[(at - 1) / 64].at((at - 1) % 64).letters != 0;
                    is_behind && !is_quote(text[end])
                }
                _ => false,
            };
            if is_letter {
                if letters.end != at {
                    words.mark(letters, |block| &mut block.letters);
                    letters = at..end;
                }
                letters.end = end;
            } else if kind == kind::SINGLE || kind == kind::SINGLE_MARK && single_end == at {
                for place in [at, end] {
                    words.blocks[place / 64].breaks |= 1 << (place % 64);
                }
                words.mark(at..end, |block| &mut block.others);
                single_end = end;
            } else if kind != 0 {
                odd.push(at as u32);
            }
            at = end;
        }
        words.mark(letters, |block| &mut block.letters);
    }

    /// The blocks and odd places of a text by an instruction set, or by the twin.
    fn marked(isa: Option<Isa>, text: &str) -> (Vec<Block>, Vec<u32>) {
        let (mut words, mut odd) = (Words::default(), vec![7]);
        // Leftovers of an earlier text.
        classify(Isa::PORTABLE, &[b'"'; 300], &mut words);
        classify(Isa::PORTABLE, text.as_bytes(), &mut words);
        if let Some(isa) = isa {
            mark_characters(isa, &TABLE, &mut words, &mut odd);
        } else {
            odd.clear();
            one_by_one(&TABLE, &mut words, &mut odd);
        }
        (words.blocks, odd)
    }

    #[track_caller]
    fn check(text: &str) {
        let expected = marked(None, text);
        for &isa in Isa::available() {
            assert!(marked(Some(isa), text) == expected, "{isa} {text:?}");
        }
    }

    /// A character of a kind, of two bytes or of three.
    fn of_kind(kind: u8, first: char) -> char {
        (first..'\u{1000}').find(|&c| described(c).kind == kind).unwrap()
    }

    #[test]
    fn kinds_are_marked_as_their_neighbours_let_them() {
        for first in ['\u{80}', '\u{800}'] {
            let [letter, quoted, single, mark, single_mark, odd] = [
                kind::LETTER,
                kind::QUOTED_LETTER,
                kind::SINGLE,
                kind::MARK,
                kind::SINGLE_MARK,
                kind::ODD,
            ]
            .map(|kind| of_kind(kind, first));
            let length = letter.len_utf8();
            let letters = (1 << length) - 1;
            for (text, expected, odd_places) in [
                (format!("{letter}"), (letters, 0, 0), vec![]),
                (format!("{single}"), (0, letters, 1 | 1 << length), vec![]),
                (format!("a{mark}"), (1 | letters << 1, 0, 0), vec![]),
                (format!("-{mark}"), (0, 0, 0), vec![1]),
                (format!("a{mark}'"), (1, 0, 0), vec![1]),
                (format!("{quoted}-"), (letters, 0, 0), vec![]),
                (format!("{quoted}\""), (0, 0, 0), vec![0]),
                (format!("-{single_mark}"), (0, 0, 0), vec![1]),
                (format!("a{odd}"), (1, 0, 0), vec![1]),
            ] {
                let (blocks, odd) = marked(None, &text);
                let Block { letters, others, breaks, .. } = blocks[0];
                assert_eq!(((letters, others, breaks), odd), (expected, odd_places), "{text:?}");
                check(&text);
            }
            let (blocks, odd) = marked(None, &format!("{single}{single_mark}{single_mark}"));
            assert_eq!(blocks[0].others, (1 << (3 * length)) - 1);
            assert_eq!(blocks[0].breaks, 1 | 1 << length | 1 << (2 * length) | 1 << (3 * length));
            assert!(odd.is_empty());
        }
    }

    #[test]
    fn characters_are_marked_at_every_place_of_a_block() {
        let characters: String = ('\u{80}'..='\u{fff}').step_by(3).collect();
        for shift in 0..64 {
            check(&format!("{}{characters}", "x".repeat(shift)));
        }
    }

    proptest! {
        #[test]
        fn texts_agree(text in "([\u{80}-\u{7ff}]|[\u{800}-\u{9fff}]|[ -z]|\\PC){0,200}") {
            check(&text);
        }
    }
}
