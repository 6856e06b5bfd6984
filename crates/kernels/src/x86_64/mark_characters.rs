//! Marks characters, 64 bytes at once: the loop of the levels with registers of bytes.

use super::byte_lanes::Lanes;
use crate::character_starts::Starts;
use crate::character_table::{CharacterTable, Row, kind};
use crate::own_loops::mark_characters::{Carry, FoundCharacters, push_places};
use crate::words::{MARGIN, Words};

impl FoundCharacters {
    /// Adds the characters of `row` whose first bytes are in `mask`. At the position of each first
    /// byte, `lasts` has the byte whose lowest six bits select the character's entry in the row.
    ///
    /// # Safety
    ///
    /// The processor has the instructions of `L`.
    #[inline(always)]
    unsafe fn add_row<L: Lanes>(&mut self, row: &Row, mask: u64, lasts: L) {
        // SAFETY: the caller has the instructions.
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

/// Adds the characters beyond ASCII to the masks of `words`. Appends to `odd` the byte offsets of the characters whose
/// kind, such as letter, the table does not decide. One look-up finds the kinds of all characters of a block that
/// belong to one row of the table.
///
/// # Safety
///
/// The processor has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn mark_characters<L: Lanes>(
    table: &CharacterTable,
    words: &mut Words,
    odd: &mut Vec<u32>,
) {
    let leads = table.lead_kinds();
    let any_lead = leads.0.iter().fold(0, |any, kind| any | kind);
    // SAFETY: the caller has the instructions.
    let leads = unsafe { L::table(&leads.0) };
    let Words { lowered, blocks, .. } = words;
    let mut carry = Carry::default();
    for (index, block) in blocks.iter_mut().enumerate() {
        if block.foreign == 0 {
            carry.pass(block);
            continue;
        }
        // The text of the block, the rest of a character that begins in it, and one more byte.
        let Some(text) = lowered[64 * index + MARGIN..].first_chunk::<67>() else { break };
        let byte_at = |at: usize, mask: u64| text[at + mask.trailing_zeros() as usize];
        // SAFETY: the caller has the instructions; the text has a block, and three bytes behind it.
        let (block_bytes, seconds, thirds) = unsafe {
            let start = text.as_ptr();
            (L::load(start), L::load(start.add(1)), L::load(start.add(2)))
        };
        // SAFETY: the caller has the instructions.
        let (tails, below_three, below_four) =
            unsafe { (block_bytes.below(-64), block_bytes.below(-32), block_bytes.below(-16)) };
        let Starts { two, three, longer, .. } =
            Starts::new(block.foreign, tails, below_three, below_four);
        // SAFETY: the caller has the instructions.
        let (kinds, mixed) = unsafe {
            let kinds = block_bytes.lookup(leads);
            (kinds, kinds.having(kind::ROW))
        };
        // SAFETY: the caller has the instructions.
        let (letters, singles) = unsafe {
            let of = |kind: u8| if any_lead & kind == 0 { 0 } else { kinds.having(kind) };
            (of(kind::LETTER), of(kind::SINGLE))
        };
        let of_length = |mask: u64| FoundCharacters {
            letters: letters & mask,
            singles: singles & mask,
            ..FoundCharacters::default()
        };
        let mut of_two = of_length(two);
        let mut rest = two & mixed;
        while rest != 0 {
            let first = byte_at(0, rest);
            // SAFETY: the caller has the instructions.
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
            // SAFETY: the caller has the instructions.
            let mask = unsafe { block_bytes.equal(first) & three };
            rest &= !mask;
            // SAFETY: the caller has the instructions.
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
            // SAFETY: the caller has the instructions; the text has a block, and three bytes behind it.
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
