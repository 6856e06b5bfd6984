//! The plain loop of [`crate::fold_characters`].

use crate::character_starts::{Starts, places};
use crate::character_table::{CharacterTable, PAD, fold};
use crate::high_bits::flagged;
use crate::words::{MARGIN, Words};

/// Number of additional bytes that the output must have at its end, because loops write whole
/// blocks. They are a block of 64 bytes and the last two bytes of a character that begins at its
/// end.
pub const ROOM: usize = 66;

/// Masks of the characters of a block that the table does not simply replace. A mask marks the first bytes of these
/// characters, except [`Self::mark_ends`].
#[derive(Default)]
pub(crate) struct Special {
    /// Mask of the characters that the table cannot replace, and of the bytes that are not part of a valid character.
    pub(crate) alone: u64,
    pub(crate) marks: u64,
    /// Mask of the last bytes of combining marks.
    pub(crate) mark_ends: u64,
}

/// A text whose characters are being replaced, with the position of the current block of 64 bytes.
pub(crate) struct Around<'t> {
    pub(crate) words: &'t Words,
    pub(crate) table: &'t CharacterTable,
    /// The whole lower-cased text.
    pub(crate) text: &'t [u8],
    /// Byte offset in the text where the replacement starts. The bytes before it are not looked at.
    pub(crate) start: usize,
    /// Byte offset in the text of the current block.
    pub(crate) at: usize,
    /// Whether the loop must stop at a combining mark at the start of the block. This is so if the
    /// character before the block is a mark, or is unknown because it is before `start`.
    pub(crate) is_behind_mark: bool,
}

impl Special {
    /// Creates the masks of a block. `starts` has the masks of its first and later bytes of characters. The mask
    /// `alone` of the result marks the bytes beyond ASCII that are not part of a valid character of two or three bytes.
    /// The masks of combining marks are still empty, and the caller fills them.
    #[inline(always)]
    pub(crate) fn new(starts: &Starts) -> Self {
        let Starts { tails, two, three, longer } = *starts;
        let expected = (two | three) << 1 | three << 2;
        let missing = expected & !tails;
        let broken = (two | three) & missing >> 1 | three & missing >> 2;
        Self { alone: longer | tails & !expected | broken, ..Self::default() }
    }

    /// Moves `around` to the byte after the characters of the block that are replaced. These end
    /// before the first character that the table cannot replace, or that continues in the next
    /// block. Returns true if the whole loop must end there, because the table cannot replace the
    /// character or the text ends inside it.
    #[inline(always)]
    pub(crate) fn advance(mut self, starts: &Starts, around: &mut Around<'_>) -> bool {
        let Around { text, at, is_behind_mark, .. } = *around;
        let Starts { two, three, .. } = *starts;
        self.alone |= self.marks & (self.mark_ends << 1 | u64::from(is_behind_mark));
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
    /// Moves to the byte after the current block. All characters of the block must be ASCII, so that none of them is
    /// replaced.
    #[inline(always)]
    pub(crate) fn pass(&mut self) {
        self.at += (self.text.len() - self.at).min(64);
        self.is_behind_mark = false;
    }
}

/// Copies the text from byte `around.start` on to `folded`, and replaces its characters one by one. Returns the number
/// of bytes before the first character that cannot be replaced. The flags of a block are examined only after all its
/// characters were looked up, so no look-up waits for an earlier one.
#[inline(always)]
pub(crate) fn fold_characters(mut around: Around<'_>, folded: &mut [u8]) -> usize {
    let (words, members, start) = (around.words, around.table.members(), around.start);
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
        if any != 0 {
            let of = |flag: u8| if any & flag == 0 { 0 } else { flagged(&folds, flag) };
            special.alone |= of(fold::ALONE);
            special.marks = of(fold::MARK);
            special.mark_ends =
                (special.marks & starts.two) << 1 | (special.marks & starts.three) << 2;
            for at in places(of(fold::PADDED) & starts.three) {
                room[at..at + 2].fill(PAD);
            }
        }
        if special.advance(&starts, &mut around) {
            break;
        }
    }
    around.at - start
}
