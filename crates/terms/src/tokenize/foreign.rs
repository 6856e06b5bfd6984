//! Marks the characters beyond ASCII of a normalized and folded text in the bit masks from which
//! words are found.
//!
//! Some characters depend on more than their neighbours. The text around them is cut out and handled by the slow
//! method, which finds words without bit masks. Such a range begins and ends where no word rule depends on both sides.

use super::known_characters::CHARACTERS;
use super::normal_forms::{decode, previous};
use super::pieces::is_white;
use super::symbols::is_symbol;
use super::word_roles::{MINUS, Role, role};
use simtool_kernels::Isa;
use simtool_kernels::mark_characters::mark_characters;
use simtool_kernels::word_masks::{Block, Words};
use std::ops::Range;

/// Marks the non-ASCII characters of `text` in the bit masks of `words`, from which words are found later. The ASCII
/// characters must already be marked. Some characters depend on more than their neighbours. Replaces the ranges in
/// `cut` by the byte ranges around them, which need the slow method. If `has_symbols` is true, these ranges include all
/// symbols that are not [separators](Role::Separator).
pub(super) fn mark(
    isa: Isa,
    text: &[u8],
    words: &mut Words,
    cut: &mut SlowRanges,
    has_symbols: bool,
) {
    let SlowRanges { places, odd } = cut;
    mark_characters(isa, &CHARACTERS, words, odd);
    places.clear();
    let mut marking = Marking { text, words, cut: places };
    // The masks of ASCII characters are complete already. Only the odd characters that the kernel
    // left are handled here.
    let mut done = 0;
    for at in odd.iter().map(|&at| at as usize) {
        // The character may be part of a range that was cut out already, but the sign of a number behind it.
        if at < done {
            marking.minus(at);
        } else {
            let (role, length) = role_at(text, at);
            // The masks cannot say that such a symbol is a word of its own.
            let is_symbol = || decode(text, at).is_some_and(|(character, _)| is_symbol(character));
            let is_odd_symbol = has_symbols && role != Role::Separator && is_symbol();
            if is_odd_symbol || !marking.mark(at, at + length, role) {
                done = marking.cut_out(at);
            }
        }
    }
}

/// Byte ranges of a text that need the slow method, which finds words without bit masks.
#[derive(Debug, Default)]
pub(super) struct SlowRanges {
    /// The ranges in ascending order.
    pub(super) places: Vec<Range<usize>>,
    /// Byte offsets of the characters that the vectorized loop does not handle, so that they are handled one by one.
    /// The buffer is reused for the next text.
    odd: Vec<u32>,
}

struct Marking<'m> {
    text: &'m [u8],
    words: &'m mut Words,
    cut: &'m mut Vec<Range<usize>>,
}

impl Marking<'_> {
    /// Marks the character in bytes `at..end` in the bit masks. Returns `true` if the word of the character can then be
    /// found from the masks. Returns `false` if the word depends on more than the neighbouring characters, so that the
    /// text around it needs the slow method.
    fn mark(&mut self, at: usize, end: usize, role: Role) -> bool {
        match role {
            Role::Letter => self.letters(at..end),
            Role::Single => self.single(at, end),
            Role::Separator => {
                self.minus(at);
                true
            }
            Role::Odd => false,
            Role::Digit => self.digits(at..end),
            Role::Hebrew => {
                self.quotation_mark(end);
                self.letters(at..end)
            }
            Role::JoiningSingle => {
                let before = role_before(self.text, at);
                let behind = role_at(self.text, end).0;
                !before.may_join() && !behind.may_join() && self.single(at, end)
            }
            Role::Prolonged => {
                // After a mark, the base of the mark decides whether the word continues. Only the
                // slow path finds the base.
                if self.follows(Role::is_attached, at) {
                    return false;
                }
                let is_like = |role| role == Role::Prolonged;
                if !(at > 0 && self.text[at - 1] == b'_' || self.follows(is_like, at)) {
                    self.break_before(at);
                }
                let behind = role_at(self.text, end).0;
                if self.text.get(end) != Some(&b'_') && !is_like(behind) {
                    self.break_before(end);
                }
                self.word(at..end)
            }
            Role::Mark | Role::WordMark => self.attached(at, end, role),
            Role::SingleMark | Role::SingleWordMark => self.attached_single(at, end, role),
            Role::JoinsLetters => self.joining(at, end, true, false),
            Role::JoinsBoth => self.joining(at, end, true, true),
            Role::JoinsDigits => self.joining(at, end, false, true),
        }
    }

    /// Marks a possible word boundary after the character at `at` if it is a minus sign, because a number may begin
    /// there.
    fn minus(&mut self, at: usize) {
        if let Some((MINUS, length)) = decode(self.text, at) {
            self.break_before(at + length - 1);
        }
    }

    /// Marks a combining character, in bytes `at..end`, in the bit masks. A combining character belongs to the
    /// character before it. Returns `false` if the text around it needs the slow method.
    fn attached(&mut self, at: usize, end: usize, role: Role) -> bool {
        let Some(before) = self.before_mark(at) else { return false };
        if before.letters != 0 {
            // After a Hebrew letter, a quotation mark may belong to the word.
            let is_quoted = matches!(self.text.get(end), Some(b'"' | b'\''));
            let may_be_hebrew = |role: Role| role == Role::Hebrew || role.is_attached();
            return !(is_quoted && self.follows(may_be_hebrew, at)) && self.letters(at..end);
        }
        if before.digits != 0 {
            return self.digits(at..end);
        }
        if before.underscores != 0 {
            // The mark and the underscore connect other characters, but make no word alone.
            return role != Role::WordMark && self.underscores(at..end);
        }
        // The mark belongs to no word, unless it turns its base or the character behind it into
        // one.
        let is_of_singles = self.follows(is_single, at);
        let goes_on = self.text.get(end) == Some(&b'_');
        if goes_on && self.follows(Role::is_attached, at) {
            // The base of these marks may be a single character that an underscore joins.
            return false;
        }
        let is_of_none = before.others == 0 || is_of_singles && !goes_on;
        is_of_none && role != Role::WordMark
    }

    /// Marks a combining character of a script without spaces, in bytes `at..end`, in the bit masks. The character is a
    /// separate word if the character before it belongs to a word. Returns `false` if the text around it needs the slow
    /// method.
    fn attached_single(&mut self, at: usize, end: usize, role: Role) -> bool {
        let Some(before) = self.before_mark(at) else { return false };
        if before.others != 0 {
            return self.follows(is_single, at) && self.single(at, end);
        }
        before.letters == 0
            && before.digits == 0
            && before.underscores == 0
            && role != Role::SingleWordMark
            && !self.follows(Role::is_attached, at)
    }

    /// Returns the classes, such as letter, that the bit masks give to the byte before `at`. A combining character
    /// begins at `at`. Returns `None` if the byte before it belongs to a character that may join its neighbours to one
    /// word.
    fn before_mark(&self, at: usize) -> Option<Block> {
        let before = self.before(at);
        let may_join = before.joins_letters | before.joins_digits != 0
            || at > 0 && self.text[at - 1] == b'"'
            || self.follows(Role::may_join, at);
        (!may_join).then_some(before)
    }

    /// Returns the classes, such as letter, that the bit masks give to the byte before `at`. If `at` is 0, the result
    /// has no class.
    fn before(&self, at: usize) -> Block {
        let bits = |last: usize| self.words.blocks[last / 64].at(last % 64);
        at.checked_sub(1).map_or_else(Block::default, bits)
    }

    /// Marks a joining character, in bytes `at..end`, in the bit masks. The character joins two letters to one word if
    /// `letters` is true, and two digits if `digits` is true. Returns `false` if the text around it needs the slow
    /// method.
    fn joining(&mut self, at: usize, end: usize, letters: bool, digits: bool) -> bool {
        let before = self.before(at);
        match role_at(self.text, end).0 {
            Role::Letter | Role::Hebrew if letters && before.letters != 0 => self.letters(at..end),
            Role::Digit if digits && before.digits != 0 => self.digits(at..end),
            Role::Odd | Role::JoiningSingle => false,
            behind => !behind.is_attached(),
        }
    }

    /// Marks the quotation mark at `at` in the bit masks if it belongs to the word of the Hebrew letter before it. Does
    /// nothing if there is no quotation mark at `at`.
    fn quotation_mark(&mut self, at: usize) {
        match self.text.get(at) {
            Some(b'"') if role_at(self.text, at + 1).0 == Role::Hebrew => {
                self.letters(at..at + 1);
            }
            Some(b'\'') => {
                self.word(at..at + 1);
                if !matches!(role_at(self.text, at + 1).0, Role::Letter | Role::Hebrew) {
                    self.break_before(at + 1);
                }
            }
            _ => {}
        }
    }

    /// Cuts out the character at `at` and all text whose words it may affect. Clears the bits of this range in the bit
    /// masks, and adds the range to `cut`. Returns the end of the range.
    #[cold]
    fn cut_out(&mut self, at: usize) -> usize {
        // Ranges that are cut out do not overlap, so the search for the start ends at the last one.
        let floor = self.cut.last().map_or(0, |cut| cut.end);
        let start = boundary_before(self.text, at, floor);
        let end = boundary_behind(self.text, at);
        self.words.unmark(start..end);
        match self.cut.last_mut() {
            // Adjacent ranges are joined, so that the slow path sees them as one text.
            Some(last) if last.end == start => last.end = end,
            _ => self.cut.push(start..end),
        }
        end
    }

    /// Returns whether the character before `at` is not ASCII and `is_so` returns true for its role.
    fn follows(&self, is_so: impl Fn(Role) -> bool, at: usize) -> bool {
        at > 0 && self.text[at - 1] >= 0x80 && is_so(role_before(self.text, at))
    }

    #[inline]
    fn letters(&mut self, range: Range<usize>) -> bool {
        self.words.mark(range, |block| &mut block.letters);
        true
    }

    fn digits(&mut self, range: Range<usize>) -> bool {
        self.words.mark(range, |block| &mut block.digits);
        true
    }

    fn underscores(&mut self, range: Range<usize>) -> bool {
        self.words.mark(range, |block| &mut block.underscores);
        true
    }

    #[inline]
    fn word(&mut self, range: Range<usize>) -> bool {
        self.words.mark(range, |block| &mut block.others);
        true
    }

    /// Marks the character in bytes `at..end` as a separate word in the bit masks. Always returns `true`, as
    /// [`Self::mark`] does for a character that does not need the slow method.
    #[inline]
    fn single(&mut self, at: usize, end: usize) -> bool {
        self.break_before(at);
        self.break_before(end);
        self.word(at..end)
    }

    #[inline]
    fn break_before(&mut self, at: usize) {
        self.words.blocks[at / 64].breaks |= 1 << (at % 64);
    }
}

/// Returns whether a character of this role is a separate word if it is part of a word at all.
fn is_single(role: Role) -> bool {
    matches!(role, Role::Single | Role::SingleMark | Role::SingleWordMark)
}

/// Returns the role of the character at `at` and its number of bytes. The end of the text counts as a separator with 0
/// bytes.
#[inline]
fn role_at(text: &[u8], at: usize) -> (Role, usize) {
    if at >= text.len() {
        return (Role::Separator, 0);
    }
    decode(text, at).map_or((Role::Odd, 1), |(character, length)| (role(character), length))
}

/// Returns the role of the character before `at`. The start of the text counts as a separator.
fn role_before(text: &[u8], at: usize) -> Role {
    if at == 0 { Role::Separator } else { role_at(text, previous(text, at)).0 }
}

/// Returns whether the words on both sides of a position do not depend on each other. `before` and `behind` are the
/// roles of the characters around the position, and `first_byte` is the byte after it.
fn is_boundary(before: Role, behind: Role, first_byte: u8) -> bool {
    if is_white(first_byte) {
        return true;
    }
    if before == Role::Odd || behind == Role::Odd || behind.is_attached() {
        return false;
    }
    match (before, behind) {
        (Role::Separator | Role::Single, _) | (_, Role::Separator) => true,
        // Katakana joins an underscore, even across the marks on it.
        (_, Role::Single) => !before.is_attached(),
        _ => false,
    }
}

/// Returns the last position from `floor` to `at` at which the words before it do not depend on the words after it.
/// Returns `floor` if there is no such position.
fn boundary_before(text: &[u8], at: usize, floor: usize) -> usize {
    let mut start = at;
    while start > floor {
        start = previous(text, start);
        let is_boundary = start > floor
            && is_boundary(role_before(text, start), role_at(text, start).0, text[start]);
        if is_boundary {
            return start;
        }
    }
    floor
}

/// Returns the first position after the character at `at` at which the words before it do not depend on the words after
/// it. Returns the end of the text if there is no such position.
fn boundary_behind(text: &[u8], at: usize) -> usize {
    let (mut before, length) = role_at(text, at);
    let mut end = at + length;
    while end < text.len() {
        let (behind, length) = role_at(text, end);
        if is_boundary(before, behind, text[end]) {
            return end;
        }
        (before, end) = (behind, end + length);
    }
    text.len()
}
