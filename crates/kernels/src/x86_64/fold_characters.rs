//! Replaces characters, 64 bytes at once: the loop of the levels with registers of bytes.

use super::byte_lanes::Lanes;
use crate::character_starts::Starts;
use crate::character_table::{PAD, Row, fold};
use crate::own_loops::fold_characters::{Around, ROOM, Special};
use crate::words::MARGIN;

/// A block of 64 bytes whose characters are being replaced.
struct FoldedBlock<L> {
    bytes: L,
    special: Special,
}

impl<L: Lanes> FoldedBlock<L> {
    /// Replaces the characters of the block that belong to `row`. `mask` has a bit for the first byte of each of these
    /// characters, and `length` is the number of bytes of each character. `own` has the bytes of the block before any
    /// replacement. `lasts` has the 64 bytes of the text that begin `length - 1` bytes after the start of the block. So
    /// the position of the first byte of a character in `own` is the position of its last byte in `lasts`.
    ///
    /// # Safety
    ///
    /// The processor has the instructions of `L`.
    #[inline(always)]
    unsafe fn replace(&mut self, row: &Row, mask: u64, lasts: L, own: L, length: u32) {
        // SAFETY: the caller has the instructions.
        unsafe {
            let end = length - 1;
            if row.changes_last {
                self.bytes = self.bytes.replaced(mask << end, own.lookup(L::table(&row.last)));
            }
            if row.changes_first && length == 2 {
                self.bytes = self.bytes.replaced(mask, lasts.lookup(L::table(&row.first)));
            }
            if row.any_fold == 0 {
                return;
            }
            let folds = lasts.lookup(L::table(&row.folds));
            let special = &mut self.special;
            special.alone |= folds.having(fold::ALONE) & mask;
            let marks = folds.having(fold::MARK) & mask;
            special.marks |= marks;
            special.mark_ends |= marks << end;
            if row.any_fold & fold::PADDED != 0 && length == 3 {
                let padded = folds.having(fold::PADDED) & mask;
                self.bytes = self.bytes.replaced(padded | padded << 1, L::all(PAD));
            }
        }
    }
}

/// Copies the text from byte `around.start` on to `folded`, and replaces its characters. All characters of a block that
/// belong to one row of the table are replaced with one look-up. Returns the number of bytes before the first character
/// that cannot be replaced.
///
/// # Safety
///
/// The processor has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn fold_characters<L: Lanes>(mut around: Around<'_>, folded: &mut [u8]) -> usize {
    let (table, start) = (around.table, around.start);
    let lowered = &around.words.lowered[..];
    let leads = table.lead_folds();
    // SAFETY: the caller has the instructions.
    let leads = unsafe { L::table(&leads.0) };
    while around.at < around.text.len() {
        let at = around.at;
        let text = lowered[MARGIN + at..].first_chunk::<ROOM>();
        let room = folded[at - start..].first_chunk_mut::<64>();
        let (Some(text), Some(room)) = (text, room) else { break };
        let (text, room) = (&text[..], room.as_mut_ptr());
        let byte_at = |at: usize, mask: u64| text[at + mask.trailing_zeros() as usize];
        // SAFETY: the caller has the instructions; the text has a block, and two bytes behind it.
        let bytes = unsafe { L::load(text.as_ptr()) };
        // SAFETY: the caller has the instructions.
        let foreign = unsafe { bytes.below(0) };
        if foreign == 0 {
            // SAFETY: the caller has the instructions; there is room for a block.
            unsafe { bytes.store(room) };
            around.pass();
            continue;
        }
        // SAFETY: the caller has the instructions; the text has a block, and two bytes behind it.
        let (seconds, thirds) =
            unsafe { (L::load(text.as_ptr().add(1)), L::load(text.as_ptr().add(2))) };
        // SAFETY: the caller has the instructions.
        let starts =
            unsafe { Starts::new(foreign, bytes.below(-64), bytes.below(-32), bytes.below(-16)) };
        let Starts { two, three, .. } = starts;
        let mut block = FoldedBlock { bytes, special: Special::new(&starts) };
        // SAFETY: the caller has the instructions.
        let changing = unsafe { bytes.lookup(leads).having(fold::ROW) };
        let mut rest = two & changing;
        while rest != 0 {
            let first = byte_at(0, rest);
            // SAFETY: the caller has the instructions.
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
            // SAFETY: the caller has the instructions.
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
        // SAFETY: the caller has the instructions; there is room for a block.
        unsafe { block.bytes.store(room) };
        if block.special.advance(&starts, &mut around) {
            break;
        }
    }
    around.at - start
}
