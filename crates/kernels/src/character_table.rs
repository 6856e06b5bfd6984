//! A table of the characters of two and three bytes of UTF-8: their replacements and their kinds.
//!
//! The 64 characters that differ only in their last byte form a row. The lowest six bits of that byte
//! are the place of a character in its row. A row of 64 bytes fits into a register, so one look-up
//! finds the entries for a whole block of text:
//!
//! ```text
//! "é"  C3 A9        row C3, place 29
//! "中" E4 B8 AD     rows E4, row B8, place 2D
//! ```
//!
//! A row is computed when one of its characters is looked up for the first time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The byte that fills the room of characters whose replacements are shorter. It is no part of UTF-8, so the
/// caller can find it and remove it.
pub const PAD: u8 = 0xFF;

/// Bits that say how a character is replaced.
pub mod fold {
    /// Flag of a character that the table cannot replace, because the replacement has another length or depends on
    /// neighbours.
    pub const ALONE: u8 = 0x80;
    /// Flag of an entry that is for several characters, such as 64 characters that differ only in their last byte. It
    /// means that these characters have different flags, so each of them has an entry of its own in another row of the
    /// table.
    pub(crate) const ROW: u8 = 0x40;
    /// Flag of a combining mark. If another mark precedes it, the table cannot replace it.
    pub const MARK: u8 = 1;
    /// Flag of a character whose last byte is replaced, while its other bytes become [`PAD`](super::PAD).
    pub const PADDED: u8 = 2;
}

/// Bits that say how a character takes part in the words of a text. A character without any of
/// these bits separates words.
pub mod kind {
    /// Odd character: the table does not know its kind, so the caller must decide.
    pub const ODD: u8 = 0x80;
    /// Flag of an entry that is for several characters, such as 64 characters that differ only in their last byte. It
    /// means that these characters have different kinds, so each of them has an entry of its own in another row of the
    /// table.
    pub(crate) const ROW: u8 = 0x40;
    /// A letter, which forms a word with the letters around it.
    pub const LETTER: u8 = 1;
    /// A letter, unless a quotation mark follows. If one follows, the character is [odd](ODD).
    pub const QUOTED_LETTER: u8 = 2;
    /// A character that is a word by itself, for example a Chinese character.
    pub const SINGLE: u8 = 4;
    /// A character that is part of the letter before it, for example a combining mark. It is [odd](ODD) if
    /// no letter precedes it, or if a quotation mark follows.
    pub const MARK: u8 = 8;
    /// A character that is a word by itself if a word of one character precedes it. Otherwise it is
    /// [odd](ODD).
    pub const SINGLE_MARK: u8 = 16;
}

/// The entry of a character: its replacement and its kind.
#[derive(Clone, Copy, Debug)]
pub struct Character {
    /// The bytes that replace the bytes of the character. Characters of two bytes use the first and the
    /// last element.
    pub bytes: [u8; 3],
    /// Flags that say how the character is replaced, from the module [`fold`].
    pub fold: u8,
    /// Flags that say how the character takes part in words, from the module [`kind`]. 0 for a
    /// character that separates words.
    pub kind: u8,
}

impl Character {
    const ALONE: Self = Self { bytes: [0; 3], fold: fold::ALONE, kind: kind::ODD };
}

/// The table entries of 64 characters whose UTF-8 bytes differ only in the last byte. The index of an
/// entry is the number in the lowest six bits of the last byte.
///
/// The special row [`CharacterRows::whole`] has an entry for each of 64 other rows instead. There, the index
/// is the number in the lowest six bits of the second byte.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Row {
    /// Flags from the module [`fold`] for each entry. They say how the character of the entry is replaced.
    pub(crate) folds: [u8; 64],
    /// Flags from the module [`kind`] for each entry. They say how the character of the entry takes part in words.
    pub(crate) kinds: [u8; 64],
    /// For each entry, the byte that replaces the last UTF-8 byte of the entry's character.
    pub(crate) last: [u8; 64],
    /// For each entry, the byte that replaces the first UTF-8 byte of the entry's character.
    pub(crate) first: [u8; 64],
    /// All flags that occur in `folds`, combined by OR.
    pub(crate) any_fold: u8,
    /// All flags that occur in `kinds`, combined by OR.
    pub(crate) any_kind: u8,
    /// The [`kind`] flags that all entries have in common, or `None` if the entries have different flags.
    pub(crate) kind: Option<u8>,
    /// Whether the last byte of at least one character is replaced.
    pub(crate) changes_last: bool,
    /// Whether the first byte of at least one character is replaced.
    pub(crate) changes_first: bool,
}

impl Row {
    /// Creates a row of characters that begin with the byte `first`. `members` returns the entry for each
    /// index from 0 to 63.
    fn new(first: u8, members: impl Fn(u8) -> Character) -> Self {
        let members: [Character; 64] = std::array::from_fn(|at| members(at as u8));
        let folds = members.map(|member| member.fold);
        let kinds = members.map(|member| member.kind);
        let row = Self {
            folds,
            kinds,
            last: members.map(|member| member.bytes[2]),
            first: members.map(|member| member.bytes[0]),
            any_fold: folds.iter().fold(0, |any, fold| any | fold),
            any_kind: kinds.iter().fold(0, |any, kind| any | kind),
            kind: kinds.iter().all(|&kind| kind == kinds[0]).then_some(kinds[0]),
            changes_last: false,
            changes_first: false,
        };
        let is_whole = |&(_, &fold): &(usize, &u8)| fold & fold::ALONE == 0;
        let changes_last = (folds.iter().enumerate().filter(is_whole))
            .any(|(at, _)| row.last[at] != 0x80 | at as u8);
        let changes_first =
            folds.iter().enumerate().filter(is_whole).any(|(at, _)| row.first[at] != first);
        Self { changes_last, changes_first, ..row }
    }

    /// Returns the flags of the modules [`fold`] and [`kind`] that all characters of the row have. Returns `None` if
    /// the characters have different flags or if one of them is replaced.
    fn uniform_flags(&self) -> Option<(u8, u8)> {
        let fold = self.folds[0];
        let are_equal = self.folds == [fold; 64] && !self.changes_last;
        self.kind.filter(|_| are_equal && fold == 0).map(|kind| (fold, kind))
    }
}

/// The table entries of the characters of three bytes with the same first byte. They form 64 rows, one for each second
/// byte.
#[derive(Debug)]
pub(crate) struct CharacterRows {
    /// An entry for each of the 64 rows. It has the flags of the row's characters if they all have the same flags.
    /// Otherwise it has the flags `ROW` of [`fold`] and [`kind`].
    pub(crate) whole: Row,
    /// The rows whose characters have different entries. `None` for the other rows, which [`Self::whole`]
    /// describes.
    pub(crate) mixed: [Option<Box<Row>>; 64],
}

/// Replacements and kinds of the characters of two and three bytes of UTF-8. They are computed when they
/// are needed for the first time.
#[derive(Debug)]
pub struct CharacterTable {
    describe: fn(char) -> Character,
    two: [OnceLock<Box<Row>>; 32],
    three: [OnceLock<Box<CharacterRows>>; 16],
    folds: KnownLeads,
    kinds: KnownLeads,
    members: OnceLock<Box<[AtomicU32; ALL]>>,
}

/// The table entry of a character of two or three bytes, which says how it is replaced and which kind of character it
/// is. This form is for code that looks up one character at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CharacterEntry {
    /// Byte that replaces the first byte of the character in lower-cased text.
    pub(crate) first: u8,
    /// Byte that replaces the last byte of the character in lower-cased text.
    pub(crate) last: u8,
    /// Flags that say how the character is replaced, from the module [`fold`].
    pub(crate) fold: u8,
    /// Flags that say how the character takes part in words, from the module [`kind`].
    pub(crate) kind: u8,
}

/// The entries of all characters of two and three bytes in one array, for looking up one character at a
/// time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members<'t> {
    table: &'t CharacterTable,
    /// The entries of characters of three bytes, followed by the entries of characters of two bytes. An
    /// entry is 0 until it is requested for the first time.
    known: &'t [AtomicU32; ALL],
}

/// Number of entries for characters of three bytes.
const THREE: usize = 1 << 16;
/// Number of entries for characters of two and of three bytes together.
const ALL: usize = THREE + (1 << 11);

impl Members<'_> {
    /// Returns the entry of a character of two bytes.
    #[inline(always)]
    pub(crate) fn of_two(self, [first, last]: [u8; 2]) -> CharacterEntry {
        let (row, member) = (usize::from(first & 0x1F), usize::from(last & 0x3F));
        self.member(THREE | row << 6 | member, [first, last])
    }

    /// Returns the entry of a character of three bytes.
    #[inline(always)]
    pub(crate) fn of_three(self, bytes @ [first, second, last]: [u8; 3]) -> CharacterEntry {
        let row = usize::from(first & 0xF) << 6 | usize::from(second & 0x3F);
        self.member(row << 6 | usize::from(last & 0x3F), bytes)
    }

    #[inline(always)]
    fn member<const LENGTH: usize>(self, at: usize, bytes: [u8; LENGTH]) -> CharacterEntry {
        let known = match self.known[at].load(Ordering::Relaxed) {
            0 => self.ask(at, bytes),
            known => known,
        };
        let [first, last, fold, kind] = known.to_le_bytes();
        CharacterEntry { first, last, fold, kind }
    }

    #[cold]
    fn ask<const LENGTH: usize>(self, at: usize, mut bytes: [u8; LENGTH]) -> u32 {
        for tail in &mut bytes[1..] {
            *tail = 0x80 | *tail & 0x3F;
        }
        let replaced = self.table.replaced(&bytes);
        let Character { bytes: [first, _, last], fold, kind } =
            replaced.map_or(Character::ALONE, |(character, _)| character);
        // Never 0: a character without a first byte has the flag `ALONE`.
        let known = u32::from_le_bytes([first, last, fold, kind]);
        self.known[at].store(known, Ordering::Relaxed);
        known
    }
}

/// Flags for each byte with which a character beyond ASCII can begin. The lowest six bits of this first byte are the
/// index of its flags.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Leads(pub(crate) [u8; 64]);

/// For each first byte of a character, the flags that all characters with this first byte have in common.
/// The flags of eight first bytes are in one number, so that few loads read them all.
#[derive(Debug)]
struct KnownLeads([AtomicU64; 8]);

impl KnownLeads {
    const fn new<const ALL: u8>() -> Self {
        Self([const { AtomicU64::new(u64::from_le_bytes([ALL; 8])) }; 8])
    }

    fn set(&self, lead: u8, old: u8, new: u8) {
        let lead = usize::from(lead & 0x3F);
        self.0[lead / 8].fetch_xor(u64::from(old ^ new) << (lead % 8 * 8), Ordering::Relaxed);
    }

    #[inline]
    fn load(&self) -> Leads {
        let mut leads = Leads([0; 64]);
        for (bytes, known) in leads.0.as_chunks_mut().0.iter_mut().zip(&self.0) {
            *bytes = known.load(Ordering::Relaxed).to_le_bytes();
        }
        leads
    }
}

impl CharacterTable {
    /// Creates a table whose entries are the results of `describe`. The function is called for all
    /// characters with the same first byte when one of them is looked up for the first time.
    ///
    /// For a character of two bytes, the middle byte of the entry is ignored. A character of three bytes
    /// can only be replaced if its first two bytes stay or become [`PAD`].
    #[must_use]
    pub const fn new(describe: fn(char) -> Character) -> Self {
        Self {
            describe,
            two: [const { OnceLock::new() }; 32],
            three: [const { OnceLock::new() }; 16],
            folds: KnownLeads::new::<{ fold::ROW }>(),
            kinds: KnownLeads::new::<{ kind::ROW }>(),
            members: OnceLock::new(),
        }
    }

    /// Returns the entries of the table in a form for looking up one character at a time.
    #[inline]
    pub(crate) fn members(&self) -> Members<'_> {
        let known = self.members.get_or_init(|| {
            let all: Box<[AtomicU32]> = (0..ALL).map(|_| AtomicU32::new(0)).collect();
            all.try_into().unwrap_or_else(|_| unreachable!("the box has `ALL` elements"))
        });
        Members { table: self, known }
    }

    /// Returns the row of the characters of two bytes that begin with `first`.
    #[inline]
    pub(crate) fn two(&self, first: u8) -> &Row {
        self.two[usize::from(first & 0x1F)].get_or_init(|| {
            let code = |last: u8| u32::from(first & 0x1F) << 6 | u32::from(last);
            let row = Row::new(first, |last| self.character(code(last), 0x80));
            self.store_common_flags(first, &row, row.changes_first || row.changes_last);
            Box::new(row)
        })
    }

    /// Returns the rows of the characters of three bytes that begin with `first`.
    #[inline]
    pub(crate) fn three(&self, first: u8) -> &CharacterRows {
        self.three[usize::from(first & 0xF)].get_or_init(|| {
            let rows = self.rows(first);
            self.store_common_flags(first, &rows.whole, false);
            Box::new(rows)
        })
    }

    /// Returns for each first byte of a character whether characters that begin with it may be replaced. The flags are
    /// 0 if all of these characters are known to stay as they are, otherwise [`fold::ROW`].
    #[inline]
    pub(crate) fn lead_folds(&self) -> Leads {
        self.folds.load()
    }

    /// Returns for each first byte the kind of all characters with this first byte. The kind is 0
    /// (separators), [`kind::LETTER`] or [`kind::SINGLE`]. It is [`kind::ROW`] if the characters
    /// have different kinds, another kind, or were not looked up yet.
    #[inline]
    pub(crate) fn lead_kinds(&self) -> Leads {
        self.kinds.load()
    }

    /// Stores the flags that all characters with the first byte `lead` have in common. For characters of two bytes,
    /// `row` is their row. For characters of three bytes, `row` has one entry for each of their rows. `changes` says
    /// whether one of the characters is replaced.
    fn store_common_flags(&self, lead: u8, row: &Row, changes: bool) {
        if row.any_fold == 0 && !changes {
            self.folds.set(lead, fold::ROW, 0);
        }
        if let Some(kind) = row.kind.filter(|kind| kind & !(kind::LETTER | kind::SINGLE) == 0) {
            self.kinds.set(lead, kind::ROW, kind);
        }
    }

    fn character(&self, code: u32, least: u32) -> Character {
        let character = char::from_u32(code).filter(|_| code >= least);
        character.map_or(Character::ALONE, self.describe)
    }

    #[cold]
    fn rows(&self, first: u8) -> CharacterRows {
        let mut rows: [Option<Box<Row>>; 64] = std::array::from_fn(|second| {
            let before = u32::from(first & 0xF) << 12 | (second as u32) << 6;
            let row = Row::new(first, |last| {
                let character = self.character(before | u32::from(last), 0x800);
                let is_prefix = character.bytes[..2] == [first, 0x80 | second as u8];
                if is_prefix || character.fold & fold::PADDED != 0 {
                    character
                } else {
                    Character { fold: fold::ALONE, ..character }
                }
            });
            Some(Box::new(row))
        });
        let whole = Row::new(first, |second| {
            let uniform_flags =
                rows[usize::from(second)].as_ref().and_then(|row| row.uniform_flags());
            let (fold, kind) = uniform_flags.unwrap_or((fold::ROW, kind::ROW));
            Character { bytes: [first, 0, 0x80 | second], fold, kind }
        });
        let is_mixed = |second: usize| whole.folds[second] & fold::ROW != 0;
        let mixed = std::array::from_fn(|second| rows[second].take_if(|_| is_mixed(second)));
        CharacterRows { whole, mixed }
    }

    /// Returns the entry of the character at the start of `bytes`, and its number of bytes. Returns `None` if the
    /// character does not have two or three bytes or is not valid UTF-8.
    #[inline]
    pub(crate) fn replaced(&self, bytes: &[u8]) -> Option<(Character, usize)> {
        let tail =
            |at: usize| bytes.get(at).filter(|&byte| byte & 0xC0 == 0x80).map(|byte| byte & 0x3F);
        let member = |row: &Row, at: u8| {
            let at = usize::from(at);
            let bytes = [row.first[at], 0, row.last[at]];
            Character { bytes, fold: row.folds[at], kind: row.kinds[at] }
        };
        let &first = bytes.first()?;
        match first {
            0xC0..0xE0 => Some((member(self.two(first), tail(1)?), 2)),
            0xE0..0xF0 => {
                let rows = self.three(first);
                let (second, last) = (tail(1)?, tail(2)?);
                let character = match &rows.mixed[usize::from(second)] {
                    None => Character {
                        bytes: [first, bytes[1], bytes[2]],
                        ..member(&rows.whole, second)
                    },
                    Some(row) => {
                        let mut character = member(row, last);
                        let is_padded = character.fold & fold::PADDED != 0;
                        character.bytes[1] = if is_padded { PAD } else { bytes[1] };
                        character
                    }
                };
                Some((character, 3))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns an entry for a character, for tests. The code of the character selects the entry, so
    /// that replacements and kinds of all sorts occur.
    pub(crate) fn described(character: char) -> Character {
        let code = character as u32;
        let mut bytes = [0; 4];
        let own = character.encode_utf8(&mut bytes).as_bytes();
        let (mut bytes, three) = match *own {
            [first, last] => ([first, 0, last], false),
            [first, second, last] => ([first, second, last], true),
            _ => unreachable!("the callers pass only characters of two or three bytes"),
        };
        let plain = |fold, kind| Character { bytes, fold, kind };
        // Some rows have only letters, and some only words by themselves. The other rows have several
        // sorts.
        let sort = match code >> 6 {
            row if row % 5 == 0 => return plain(0, kind::LETTER),
            row if row % 5 == 1 || three && row > 0x200 => return plain(0, kind::SINGLE),
            row if row % 5 == 2 => code % 3,
            _ => code % 13,
        };
        match sort {
            0 => plain(0, kind::LETTER),
            1 => {
                // A capital.
                bytes[2] ^= 0x20;
                bytes[0] = if three { bytes[0] } else { 0xC2 | bytes[0] & 0x1D };
                Character { bytes, fold: 0, kind: kind::LETTER }
            }
            2 => plain(0, 0),
            3 => plain(fold::MARK, kind::MARK),
            4 => plain(fold::MARK, kind::SINGLE_MARK),
            5 => plain(0, kind::MARK),
            6 => plain(fold::ALONE, kind::ODD),
            7 => plain(0, kind::QUOTED_LETTER),
            8 => plain(0, kind::SINGLE),
            9 => plain(0, kind::SINGLE_MARK),
            10 => plain(0, kind::ODD),
            11 => Character { bytes: [PAD, PAD, b'!'], fold: fold::PADDED, kind: 0 },
            _ => Character { bytes: [PAD; 3], fold: fold::PADDED | fold::MARK, kind: 0 },
        }
    }

    #[test]
    fn characters_are_found_by_their_bytes() {
        static TABLE: CharacterTable = CharacterTable::new(described);
        for character in ('\u{80}'..='\u{ffff}').step_by(7) {
            let expected = described(character);
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            let padded = [bytes, b"  "].concat();
            let (found, length) = TABLE.replaced(&padded).unwrap();
            for _ in ["asked", "known"] {
                let member = match *bytes {
                    [first, last] => TABLE.members().of_two([first, last]),
                    [first, second, last] => TABLE.members().of_three([first, second, last]),
                    _ => unreachable!("the loop has only characters of two or three bytes"),
                };
                let expected = [found.bytes[0], found.bytes[2], found.fold, found.kind];
                assert_eq!([member.first, member.last, member.fold, member.kind], expected);
            }
            let is_as_described = (found.fold, found.kind) == (expected.fold, expected.kind);
            assert!(is_as_described && length == bytes.len(), "{character:?}");
            if found.fold & fold::ALONE == 0 {
                let ends = |bytes: [u8; 3]| [bytes[0], bytes[2]];
                assert_eq!(ends(found.bytes), ends(expected.bytes), "{character:?}");
            }
        }
        for wrong in
            [&b"\xc3"[..], b"\xc3a ", b"\xe4\xb8 ", b"\xe0\x80\x80", b"\xed\xa0\x80", b"ab "]
        {
            let found = TABLE.replaced(wrong);
            assert!(found.is_none_or(|(found, _)| found.fold == fold::ALONE), "{wrong:?}");
        }
    }

    #[test]
    fn first_bytes_know_what_their_characters_have_in_common() {
        let table = CharacterTable::new(described);
        assert_eq!(table.lead_kinds().0, [kind::ROW; 64]);
        let _ = (table.two(0xC5), table.three(0xE9));
        // All characters that begin with 0xC5 are letters. Characters that begin with 0xC6 are not
        // known yet.
        assert_eq!(table.lead_kinds().0[0xC5 & 0x3F], kind::LETTER);
        assert_eq!(table.lead_folds().0[0xC5 & 0x3F], 0);
        assert_eq!(table.lead_folds().0[0xC6 & 0x3F], fold::ROW);
    }
}
