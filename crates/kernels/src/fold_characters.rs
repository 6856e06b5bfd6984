//! Replaces characters beyond ASCII by the entries of a table, up to the first one that the table
//! cannot replace.
//!
//! For example, a table for lower case turns "ÉTÉ" into "été". Both have two bytes a character; a
//! character whose replacement has another length ends the work, and the caller goes on from there.

use super::character_starts::{Starts, places};
use super::character_table::{CharacterTable, fold};
use super::high_bits::flagged;
use super::words::Words;
use super::xxh3_short::MARGIN;
use super::{Isa, Kind};
use std::ops::Range;

/// Room behind the written bytes: a block, and the rest of a character that begins at its end.
pub const ROOM: usize = 66;

/// Writes the replaced text of a range to `folded`, until the first character that the table leaves
/// alone, or that is not valid. Returns the number of bytes before it; as many are written.
///
/// `words` holds the masks and the lower-cased copy of a text. The range ends with the text and begins
/// with a character. A joiner between characters that may be joined ends the work, too.
///
/// # Panics
/// If `folded` has fewer bytes than the range and [`ROOM`], or the text is not that of `words`.
pub fn fold_characters(
    isa: Isa,
    table: &CharacterTable,
    words: &Words,
    range: Range<usize>,
    folded: &mut [u8],
) -> usize {
    assert!(folded.len() >= range.len() + ROOM, "room to write");
    assert!(words.lowered.len() >= range.end + MARGIN + ROOM, "the text of the words");
    let lowered = &words.lowered[..];
    let text = &lowered[MARGIN..MARGIN + range.end];
    let around = Around { table, text, start: range.start, at: range.start, is_behind_mark: true };
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX-512 was detected, and there is room.
        Kind::Avx512 => unsafe { x86::avx512(around, lowered, folded) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX2 was detected, and there is room.
        Kind::Avx2 => unsafe { x86::avx2(around, lowered, folded) },
        _ => portable(around, words, folded),
    }
}

/// Characters of a block that are more than replaced, by their first bytes.
#[derive(Default)]
struct Special {
    /// Characters that end the work, and bytes that are no character.
    alone: u64,
    marks: u64,
    /// Last bytes of marks.
    mark_ends: u64,
    joiners: u64,
}

/// A text around the block that is being replaced.
struct Around<'t> {
    table: &'t CharacterTable,
    /// The text until its end.
    text: &'t [u8],
    /// Nothing is known before this place.
    start: usize,
    /// Where the block begins.
    at: usize,
    /// Whether there is a mark before the block, or nothing that is known.
    is_behind_mark: bool,
}

impl Special {
    /// Finds the bytes that are no character of two or three bytes.
    #[inline(always)]
    fn new(starts: &Starts) -> Self {
        let Starts { tails, two, three, longer } = *starts;
        let expected = (two | three) << 1 | three << 2;
        let missing = expected & !tails;
        let broken = (two | three) & missing >> 1 | three & missing >> 2;
        Self { alone: longer | tails & !expected | broken, ..Self::default() }
    }

    /// Moves behind the characters of a block that are done: the ones before the next special character.
    /// Returns whether the work ends there.
    #[inline(always)]
    fn advance(mut self, starts: &Starts, around: &mut Around<'_>) -> bool {
        let Around { table, text, start, at, is_behind_mark } = *around;
        let Starts { two, three, .. } = *starts;
        self.alone |= self.marks & (self.mark_ends << 1 | u64::from(is_behind_mark));
        for joiner in places(self.joiners) {
            let length = if two >> joiner & 1 != 0 { 2 } else { 3 };
            if at + joiner + length <= text.len()
                && !is_inert_beside(table, text, at + joiner, length, start)
            {
                self.alone |= 1 << joiner;
            }
        }
        // Characters that continue behind the block or the text are left for the next block.
        let count = (text.len() - at).min(64);
        let ends = 1_u64 << (count - 1);
        let cut = (two | three) & ends | three & ends >> 1;
        let beyond = u64::MAX.checked_shl(count as u32).unwrap_or(0);
        let stop = self.alone | cut | beyond;
        let done = if stop == 0 { 64 } else { stop.trailing_zeros() as usize };
        around.at += done;
        if done == 0 || done < 64 && self.alone >> done & 1 != 0 {
            return true;
        }
        around.is_behind_mark = self.mark_ends >> (done - 1) & 1 != 0;
        false
    }
}

impl Around<'_> {
    /// Moves behind a block without characters beyond ASCII.
    #[inline(always)]
    fn pass(&mut self) {
        self.at += (self.text.len() - self.at).min(64);
        self.is_behind_mark = false;
    }
}

/// The portable way: each character is looked up by itself, and the flags of a block are gathered when
/// all of its characters are done. No step waits for the one before it.
fn portable(mut around: Around<'_>, words: &Words, folded: &mut [u8]) -> usize {
    let (members, start) = (around.table.members(), around.start);
    while around.at < around.text.len() {
        let bytes = words.lowered[MARGIN + around.at..].first_chunk::<ROOM>();
        let room = folded[around.at - start..].first_chunk_mut::<ROOM>();
        let (Some(bytes), Some(room)) = (bytes, room) else { break };
        let Some(block) = bytes.first_chunk() else { break };
        *room = *bytes;
        let foreign = words.foreign(around.at);
        if foreign == 0 {
            around.pass();
            continue;
        }
        let starts = Starts::of(block, foreign);
        let (mut folds, mut any) = ([0; 64], 0);
        // A character that continues in the next block belongs to that block.
        for at in places(starts.two & !(1 << 63)) {
            let member = members.of_two([bytes[at], bytes[at + 1]]);
            (room[at], room[at + 1]) = (member.first, member.last);
            folds[at] = member.fold;
            any |= member.fold;
        }
        for at in places(starts.three & !(3 << 62)) {
            let member = members.of_three([bytes[at], bytes[at + 1], bytes[at + 2]]);
            room[at + 2] = member.last;
            folds[at] = member.fold;
            any |= member.fold;
        }
        let mut special = Special::new(&starts);
        if any & !fold::INERT != 0 {
            let of = |flag: u8| if any & flag == 0 { 0 } else { flagged(&folds, flag) };
            special.alone |= of(fold::ALONE);
            special.marks = of(fold::MARK);
            special.mark_ends =
                (special.marks & starts.two) << 1 | (special.marks & starts.three) << 2;
            special.joiners = of(fold::JOINER);
            for at in places(of(fold::PADDED) & starts.three) {
                room[at..at + 2].fill(b' ');
            }
        }
        if special.advance(&starts, &mut around) {
            break;
        }
    }
    around.at - start
}

/// Returns whether a neighbour of the character of `length` bytes at `at` may not be joined. Nothing is
/// known before `start`.
#[cold]
fn is_inert_beside(
    table: &CharacterTable,
    text: &[u8],
    at: usize,
    length: usize,
    start: usize,
) -> bool {
    let is_inert = |at: usize| match text.get(at) {
        None => true,
        Some(byte) if byte.is_ascii() => !byte.is_ascii_alphanumeric() && *byte != b'_',
        Some(_) => {
            let replaced = table.replaced(&text[at..]);
            replaced.is_some_and(|(character, _)| character.fold & fold::INERT != 0)
        }
    };
    let before = |back: &usize| at >= start + back && text[at - back] & 0xC0 != 0x80;
    is_inert(at + length) || (1..4).find(before).is_some_and(|back| is_inert(at - back))
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Around, MARGIN, Special, Starts, fold};
    use crate::byte_lanes::{Avx2, Avx512, Lanes};
    use crate::character_table::Row;

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2")]
    pub(super) unsafe fn avx512(around: Around<'_>, lowered: &[u8], folded: &mut [u8]) -> usize {
        // SAFETY: the caller's.
        unsafe { fold_lanes::<Avx512>(around, lowered, folded) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) unsafe fn avx2(around: Around<'_>, lowered: &[u8], folded: &mut [u8]) -> usize {
        // SAFETY: the caller's.
        unsafe { fold_lanes::<Avx2>(around, lowered, folded) }
    }

    /// A block while its characters are replaced.
    struct Folded<L> {
        bytes: L,
        special: Special,
    }

    impl<L: Lanes> Folded<L> {
        /// Replaces the characters of a row, of `length` bytes each, that begin at `mask`; `lasts`
        /// holds their last bytes at the places of the first ones, `own` at their own.
        #[inline(always)]
        unsafe fn replace(&mut self, row: &Row, mask: u64, lasts: L, own: L, length: u32) {
            // SAFETY: the caller's.
            unsafe {
                let end = length - 1;
                if row.changes_last {
                    self.bytes = self.bytes.replaced(mask << end, own.lookup(L::table(&row.last)));
                }
                if row.changes_first && length == 2 {
                    self.bytes = self.bytes.replaced(mask, lasts.lookup(L::table(&row.first)));
                }
                if row.any_fold & !fold::INERT == 0 {
                    return;
                }
                let folds = lasts.lookup(L::table(&row.folds));
                let special = &mut self.special;
                special.alone |= folds.having(fold::ALONE) & mask;
                let marks = folds.having(fold::MARK) & mask;
                special.marks |= marks;
                special.mark_ends |= marks << end;
                if row.any_fold & fold::PADDED != 0 {
                    let padded = folds.having(fold::PADDED) & mask;
                    special.joiners |= folds.having(fold::JOINER) & mask;
                    if length == 3 {
                        self.bytes = self.bytes.replaced(padded | padded << 1, L::all(b' '));
                    }
                }
            }
        }
    }

    /// # Safety
    /// The instruction set is there, `folded` has room, and the text its margins.
    #[inline(always)]
    unsafe fn fold_lanes<L: Lanes>(
        mut around: Around<'_>,
        lowered: &[u8],
        folded: &mut [u8],
    ) -> usize {
        let (table, start) = (around.table, around.start);
        let leads = table.lead_folds();
        // SAFETY: the instruction set is there.
        let leads = unsafe { L::table(&leads.0) };
        while around.at < around.text.len() {
            let at = around.at;
            let text = &lowered[MARGIN + at..];
            let byte_at = |at: usize, mask: u64| text[at + mask.trailing_zeros() as usize];
            // SAFETY: the loads stay within the margin behind the text. As many bytes were written
            // before as were read, so there is room for a block more.
            let (bytes, room) =
                unsafe { (L::load(text.as_ptr()), folded.as_mut_ptr().add(at - start)) };
            // SAFETY: as above.
            let foreign = unsafe { bytes.below(0) };
            if foreign == 0 {
                // SAFETY: as above.
                unsafe { bytes.store(room) };
                around.pass();
                continue;
            }
            // SAFETY: as above.
            let (seconds, thirds) =
                unsafe { (L::load(text.as_ptr().add(1)), L::load(text.as_ptr().add(2))) };
            // SAFETY: the instruction set is there.
            let starts = unsafe {
                Starts::new(foreign, bytes.below(-64), bytes.below(-32), bytes.below(-16))
            };
            let Starts { two, three, .. } = starts;
            let mut block = Folded { bytes, special: Special::new(&starts) };
            // SAFETY: the instruction set is there.
            let changing = unsafe { bytes.lookup(leads).having(fold::ROW) };
            let mut rest = two & changing;
            while rest != 0 {
                let first = byte_at(0, rest);
                // SAFETY: the instruction set is there.
                unsafe {
                    let mask = bytes.equal(first) & two;
                    rest &= !mask;
                    block.replace(table.two(first), mask, seconds, bytes, 2);
                }
            }
            rest = three & changing;
            while rest != 0 {
                let first = byte_at(0, rest);
                let rows = table.three(first);
                // SAFETY: the instruction set is there.
                unsafe {
                    let mask = bytes.equal(first) & three;
                    rest &= !mask;
                    let mut mixed =
                        seconds.lookup(L::table(&rows.whole.folds)).having(fold::ROW) & mask;
                    while mixed != 0 {
                        let second = byte_at(1, mixed);
                        let mask = seconds.equal(second) & mixed;
                        mixed &= !mask;
                        if let Some(row) = &rows.mixed[usize::from(second & 0x3F)] {
                            block.replace(row, mask, thirds, bytes, 3);
                        }
                    }
                }
            }
            // SAFETY: there is room for a block.
            unsafe { block.bytes.store(room) };
            if block.special.advance(&starts, &mut around) {
                break;
            }
        }
        around.at - start
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
    fn one_by_one(
        table: &CharacterTable,
        words: &Words,
        range: Range<usize>,
        folded: &mut [u8],
    ) -> usize {
        let Range { start, end } = range;
        let mut at = start;
        // The text before the range is not known.
        let mut is_behind_mark = true;
        while at < end {
            if words.lowered[MARGIN + at] < 0x80 {
                folded[at - start] = words.lowered[MARGIN + at];
                (at, is_behind_mark) = (at + 1, false);
                continue;
            }
            let text = &words.lowered[MARGIN..MARGIN + end];
            let Some((character, length)) = table.replaced(&text[at..]) else { break };
            let has = |flag: u8| character.fold & flag != 0;
            let is_mark = has(fold::MARK);
            if has(fold::ALONE)
                || is_mark && is_behind_mark
                || has(fold::JOINER) && !is_inert_beside(table, text, at, length, start)
            {
                break;
            }
            let [first, middle, last] = character.bytes;
            if length == 2 {
                folded[at - start..][..2].copy_from_slice(&[first, last]);
            } else {
                folded[at - start..][..3].copy_from_slice(&[first, middle, last]);
            }
            (at, is_behind_mark) = (at + length, is_mark);
        }
        at - start
    }

    /// All that becomes of a text by an instruction set, or by the twin, where a byte that is left
    /// alone stays; and the places of these.
    fn folded(isa: Option<Isa>, text: &[u8]) -> (Vec<u8>, Vec<usize>) {
        let mut words = Words::default();
        classify(Isa::PORTABLE, text, &mut words);
        let (mut folded, mut alone) = (vec![0; text.len() + ROOM], Vec::new());
        let mut at = 0;
        while at < text.len() {
            let (range, room) = (at..text.len(), &mut folded[at..]);
            at += match isa {
                Some(isa) => fold_characters(isa, &TABLE, &words, range, room),
                None => one_by_one(&TABLE, &words, range, room),
            };
            if at < text.len() {
                alone.push(at);
                folded[at] = text[at];
                at += 1;
                while at < text.len() && text[at] & 0xC0 == 0x80 {
                    folded[at] = text[at];
                    at += 1;
                }
            }
        }
        folded.truncate(text.len());
        (folded, alone)
    }

    #[track_caller]
    fn check(text: &[u8]) {
        let expected = folded(None, text);
        for &isa in Isa::available() {
            assert!(folded(Some(isa), text) == expected, "{isa} {}", text.escape_ascii());
        }
    }

    /// The text that the twin makes, from the description of each character alone.
    fn slowly(text: &str) -> Vec<u8> {
        let mut folded = Vec::new();
        for character in text.chars() {
            let mut bytes = [0; 4];
            let own = character.encode_utf8(&mut bytes).as_bytes();
            let known = (own.len() == 2 || own.len() == 3).then(|| described(character));
            match known {
                _ if own.len() == 1 => folded.push(own[0].to_ascii_lowercase()),
                Some(Character { bytes, fold, .. }) if fold & fold::ALONE == 0 => {
                    let [first, middle, last] = bytes;
                    folded.push(first);
                    folded.extend((own.len() == 3).then_some(middle));
                    folded.push(last);
                }
                _ => folded.extend_from_slice(own),
            }
        }
        folded
    }

    #[test]
    fn characters_are_replaced_at_every_place_of_a_block() {
        // Without marks and joiners, whose neighbours decide.
        let is_simple = |&c: &char| described(c).fold & (fold::MARK | fold::JOINER) == 0;
        let characters: String = ('\u{80}'..='\u{fff}').step_by(3).filter(is_simple).collect();
        for shift in 0..64 {
            let text = format!("{}{characters} Z", "x".repeat(shift));
            assert_eq!(folded(None, text.as_bytes()).0, slowly(&text));
            check(text.as_bytes());
        }
    }

    #[test]
    fn a_joiner_is_replaced_beside_what_it_cannot_join() {
        let of_sort =
            |fold: u8| ('\u{80}'..='\u{7ff}').find(|&c| described(c).fold == fold).unwrap();
        let joiner = of_sort(fold::PADDED | fold::JOINER);
        let inert = of_sort(fold::INERT);
        for (text, is_replaced) in [
            (format!("a{joiner}b"), false),
            (format!("a{joiner}-"), true),
            (format!("-{joiner}b"), true),
            (format!("a{joiner}{inert}"), true),
            (format!("{inert}{joiner}b"), true),
            (format!("a{joiner}{joiner}b"), false),
            (format!("a{joiner}"), true),
        ] {
            let (_, alone) = folded(None, text.as_bytes());
            assert_eq!(alone.is_empty(), is_replaced, "{text:?}");
            check(text.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn texts_agree(text in "([\u{80}-\u{7ff}]|[\u{800}-\u{9fff}]|[ -z]|\\PC){0,200}") {
            check(text.as_bytes());
        }

        #[test]
        fn bytes_agree(text in prop::collection::vec(prop_oneof![
            Just(b'a'), 0x80_u8..0xC0, 0xC0_u8..0xE0, 0xE0_u8..0xF0, any::<u8>(),
        ], 0..300)) {
            check(&text);
        }
    }
}
