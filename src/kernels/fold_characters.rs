//! Replaces characters beyond ASCII as a table says, as long as the table knows all of it.

use super::Isa;
use super::character_table::{CharacterTable, fold};
use super::word_masks::Words;
use super::xxh3_short::MARGIN;
use std::ops::Range;

/// Room that must be behind what is written.
pub const ROOM: usize = 64;

/// Writes what becomes of a text to `folded`, from `range.start` on, until the first character that
/// the table leaves alone, or that is none; returns how many bytes there are before it, of which as
/// many are written.
///
/// `words` holds the masks and the lower-cased copy of the text that ends with the range, which
/// begins with a character. A joiner between others is replaced, or left alone.
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
    assert!(words.lowered.len() >= range.end + 2 * MARGIN + ROOM, "the text of the words");
    match isa.runnable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX-512 was detected, and there is room.
        Isa::Avx512 => unsafe { x86::avx512(table, &words.lowered, range, folded) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX2 was detected, and there is room.
        Isa::Avx2 => unsafe { x86::avx2(table, &words.lowered, range, folded) },
        _ => portable(table, words, range, folded),
    }
}

/// The plain twin.
fn portable(
    table: &CharacterTable,
    words: &Words,
    range: Range<usize>,
    folded: &mut [u8],
) -> usize {
    let Range { start, end } = range;
    let mut at = start;
    // Nobody knows what is before.
    let mut is_behind_mark = true;
    while at < end {
        let text = &words.lowered[MARGIN + at..];
        let room = &mut folded[at - start..];
        let Some(&[first, second, third]) = text.first_chunk() else { break };
        // Mostly it is a letter, or a word by itself.
        if (0xC2..0xE0).contains(&first) {
            let (row, member) = (table.two(first), usize::from(second & 0x3F));
            let is_known = (row.any_fold & row.folds[member]) & !fold::INERT == 0;
            if is_known && second & 0xC0 == 0x80 && at + 1 < end {
                room[..2].copy_from_slice(&[row.first[member], row.last[member]]);
                (at, is_behind_mark) = (at + 2, false);
                continue;
            }
        } else if (0xE0..0xF0).contains(&first) {
            let whole = &table.three(first).whole;
            let are_tails = second & 0xC0 == 0x80 && third & 0xC0 == 0x80;
            if whole.folds[usize::from(second & 0x3F)] & !fold::INERT == 0
                && are_tails
                && at + 2 < end
            {
                room[..3].copy_from_slice(&[first, second, third]);
                (at, is_behind_mark) = (at + 3, false);
                continue;
            }
        } else if first < 0x80 {
            let foreign = words.next_foreign(at).map_or(end, |foreign| foreign.min(end));
            copy(text, room, foreign - at);
            (at, is_behind_mark) = (foreign, false);
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
            room[..2].copy_from_slice(&[first, last]);
        } else {
            room[..3].copy_from_slice(&[first, middle, last]);
        }
        (at, is_behind_mark) = (at + length, is_mark);
    }
    at - start
}

/// Copies `length` bytes, of which mostly there are few.
#[inline]
fn copy(from: &[u8], to: &mut [u8], length: usize) {
    if length <= MARGIN
        && let (Some(from), Some(to)) = (from.first_chunk::<MARGIN>(), to.first_chunk_mut())
    {
        *to = *from;
    } else {
        to[..length].copy_from_slice(&from[..length]);
    }
}

/// Whether a neighbour of the character of `length` bytes at `at` may not be joined; what is before
/// `start` is not known.
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
    use super::{CharacterTable, MARGIN, fold, is_inert_beside};
    use crate::kernels::byte_lanes::{Avx2, Avx512, Lanes};
    use crate::kernels::character_table::Row;
    use std::ops::Range;

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2")]
    pub(super) unsafe fn avx512(
        table: &CharacterTable,
        lowered: &[u8],
        range: Range<usize>,
        folded: &mut [u8],
    ) -> usize {
        // SAFETY: the caller's.
        unsafe { fold_lanes::<Avx512>(table, lowered, range, folded) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) unsafe fn avx2(
        table: &CharacterTable,
        lowered: &[u8],
        range: Range<usize>,
        folded: &mut [u8],
    ) -> usize {
        // SAFETY: the caller's.
        unsafe { fold_lanes::<Avx2>(table, lowered, range, folded) }
    }

    /// What a block becomes.
    struct Folded<L> {
        bytes: L,
        /// First bytes of what goes no further.
        alone: u64,
        /// First bytes of marks.
        marks: u64,
        /// Last bytes of marks.
        mark_ends: u64,
        /// First bytes of joiners.
        joiners: u64,
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
                self.alone |= folds.having(fold::ALONE) & mask;
                let marks = folds.having(fold::MARK) & mask;
                self.marks |= marks;
                self.mark_ends |= marks << end;
                if row.any_fold & fold::PADDED != 0 {
                    let padded = folds.having(fold::PADDED) & mask;
                    self.joiners |= folds.having(fold::JOINER) & mask;
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
        table: &CharacterTable,
        lowered: &[u8],
        range: Range<usize>,
        folded: &mut [u8],
    ) -> usize {
        let text = &lowered[MARGIN..MARGIN + range.end];
        let leads = table.lead_folds();
        // SAFETY: the instruction set is there.
        let leads = unsafe { L::table(&leads.0) };
        // There are bytes behind the text, but nothing that matters.
        let byte_at = |at: usize, mask: u64| lowered[MARGIN + at + mask.trailing_zeros() as usize];
        let mut at = range.start;
        // Nobody knows what is before.
        let mut is_behind_mark = 1;
        while at < range.end {
            let left = range.end - at;
            // SAFETY: the margin behind the text is wider than what is read there; as many bytes
            // were written before, and there is room for a block more.
            let (bytes, room) = unsafe {
                (L::load(text.as_ptr().add(at)), folded.as_mut_ptr().add(at - range.start))
            };
            // SAFETY: as above.
            let foreign = unsafe { bytes.below(0) };
            if foreign == 0 {
                // SAFETY: as above.
                unsafe { bytes.store(room) };
                at += left.min(64);
                is_behind_mark = 0;
                continue;
            }
            // SAFETY: as above.
            let (seconds, thirds) =
                unsafe { (L::load(text.as_ptr().add(at + 1)), L::load(text.as_ptr().add(at + 2))) };
            // SAFETY: the instruction set is there.
            let (tails, below_three, below_four) =
                unsafe { (bytes.below(-64), bytes.below(-32), bytes.below(-16)) };
            let two = below_three & !tails;
            let three = below_four & !below_three;
            let expected = (two | three) << 1 | three << 2;
            let missing = expected & !tails;
            let mut block = Folded {
                bytes,
                alone: foreign & !below_four
                    | tails & !expected
                    | (two | three) & missing >> 1
                    | three & missing >> 2,
                marks: 0,
                mark_ends: 0,
                joiners: 0,
            };
            // SAFETY: the instruction set is there.
            let changing = unsafe { bytes.lookup(leads).having(fold::ROW) };
            let mut rest = two & changing;
            while rest != 0 {
                let first = byte_at(at, rest);
                // SAFETY: the instruction set is there.
                unsafe {
                    let mask = bytes.equal(first) & two;
                    rest &= !mask;
                    block.replace(table.two(first), mask, seconds, bytes, 2);
                }
            }
            rest = three & changing;
            while rest != 0 {
                let first = byte_at(at, rest);
                let rows = table.three(first);
                // SAFETY: the instruction set is there.
                unsafe {
                    let mask = bytes.equal(first) & three;
                    rest &= !mask;
                    let mut mixed =
                        seconds.lookup(L::table(&rows.whole.folds)).having(fold::ROW) & mask;
                    while mixed != 0 {
                        let second = byte_at(at + 1, mixed);
                        let mask = seconds.equal(second) & mixed;
                        mixed &= !mask;
                        if let Some(row) = &rows.mixed[usize::from(second & 0x3F)] {
                            block.replace(row, mask, thirds, bytes, 3);
                        }
                    }
                }
            }
            block.alone |= block.marks & (block.mark_ends << 1 | is_behind_mark);
            while block.joiners != 0 {
                let joiner = block.joiners.trailing_zeros() as usize;
                let length = if two >> joiner & 1 != 0 { 2 } else { 3 };
                if at + joiner + length <= text.len()
                    && !is_inert_beside(table, text, at + joiner, length, range.start)
                {
                    block.alone |= 1 << joiner;
                }
                block.joiners &= block.joiners - 1;
            }
            // What goes on behind the block, or the text.
            let count = left.min(64);
            let ends = 1_u64 << (count - 1);
            let cut = (two | three) & ends | three & ends >> 1;
            let beyond = u64::MAX.checked_shl(count as u32).unwrap_or(0);
            let stop = block.alone | cut | beyond;
            let done = if stop == 0 { 64 } else { stop.trailing_zeros() as usize };
            // SAFETY: there is room for a block.
            unsafe { block.bytes.store(room) };
            at += done;
            if done == 0 || done < 64 && block.alone >> done & 1 != 0 {
                break;
            }
            is_behind_mark = block.mark_ends >> (done - 1) & 1;
        }
        at - range.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::character_table::Character;
    use crate::kernels::character_table::tests::described;
    use crate::kernels::word_masks::classify;
    use proptest::prelude::*;

    static TABLE: CharacterTable = CharacterTable::new(described);

    /// All that becomes of a text, where a byte that is left alone stays; and the places of these.
    fn folded(isa: Isa, text: &[u8]) -> (Vec<u8>, Vec<usize>) {
        let mut words = Words::default();
        classify(isa, text, &mut words);
        let (mut folded, mut alone) = (vec![0; text.len() + ROOM], Vec::new());
        let mut at = 0;
        while at < text.len() {
            at += fold_characters(isa, &TABLE, &words, at..text.len(), &mut folded[at..]);
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
        let expected = folded(Isa::Portable, text);
        for &isa in Isa::available() {
            assert!(folded(isa, text) == expected, "{isa} {}", text.escape_ascii());
        }
    }

    /// What the twin makes of a text, by the description of each character alone.
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
        // Without marks and joiners, of which neighbours decide.
        let is_simple = |&c: &char| described(c).fold & (fold::MARK | fold::JOINER) == 0;
        let characters: String = ('\u{80}'..='\u{fff}').step_by(3).filter(is_simple).collect();
        for shift in 0..64 {
            let text = format!("{}{characters} Z", "x".repeat(shift));
            assert_eq!(folded(Isa::Portable, text.as_bytes()).0, slowly(&text));
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
            let (_, alone) = folded(Isa::Portable, text.as_bytes());
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
