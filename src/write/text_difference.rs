//! Compares two texts word by word and shows the differences to people.
//!
//! A word is a segment of UAX #29 with the white space that follows it. White space is ignored when words are
//! compared, so a text with other line breaks shows no difference. The common beginning and end of the texts
//! are skipped first. At most a few thousand of the remaining words are compared, so the time is limited for
//! texts of any length.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use simtool_base::unordered_map::UnorderedMap;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// Maximum number of words of each text that are compared by the diff. Words of the common beginning and of
/// the common end are not counted.
const COMPARED_WORDS: usize = 4000;
/// Factor that limits the comparison: at most `COMPARED_FOR_SHOWN` × [`Shown::words`] words of each text are compared.
const COMPARED_FOR_SHOWN: usize = 2;
/// Approximate maximum number of words that [`marked_text`] returns of a text.
const MARKED_WORDS: usize = 100_000;

/// Part of the comparison of two texts, in text order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Text that both texts have, as the left text writes it.
    Both(&'t str),
    /// Text that only the left text has.
    Left(&'t str),
    /// Text that only the right text has.
    Right(&'t str),
    /// Number of consecutive words that both texts have and that are not shown.
    Equal(usize),
    /// Words that are not shown and may differ: their number in the left text, and their number in the right
    /// text.
    Unread(usize, usize),
}

/// Limits on the number of words of a comparison that are shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Number of equal words to show before and after each difference.
    pub context: usize,
    /// Approximate number of words of the comparison to show.
    pub words: usize,
}

/// Compares two texts word by word and returns the parts of the comparison in text order. `extent` limits how
/// many words are shown.
///
/// ```
/// use simtool::write::text_difference::{Piece, Shown, text_difference};
///
/// let extent = Shown { context: 10, words: 100 };
/// let pieces = text_difference("a quick fox", "a red fox", extent);
/// let expected =
///     [Piece::Both("a "), Piece::Left("quick "), Piece::Right("red "), Piece::Both("fox")];
/// assert_eq!(pieces, expected);
/// ```
///
/// # Complexity
///
/// O(n + d²) for texts of n bytes with d different words. The number d is limited, because at most a few
/// thousand words of each text are compared.
///
/// # References
///
/// E. W. Myers. An O(ND) difference algorithm and its variations. Algorithmica 1986.
#[must_use]
pub fn text_difference<'t>(left: &'t str, right: &'t str, extent: Shown) -> Vec<Piece<'t>> {
    let (left, right) = (DividedWords::of(left), DividedWords::of(right));
    let shorter = left.len().min(right.len());
    // Near-duplicates have most of their words in common. Without these, few words are left for the diff,
    // whose time is quadratic in the number of differences.
    let begin = (0..shorter).take_while(|&at| left.word(at) == right.word(at)).count();
    // The common end must not overlap the common beginning, as it would for `a a` and `a`.
    let end = (1..=shorter - begin)
        .take_while(|&back| left.word(left.len() - back) == right.word(right.len() - back))
        .count();
    let [left_end, right_end] = [&left, &right].map(|words| words.len() - end);
    // Words after this limit would not be shown, so they are not compared.
    let most = extent.words.saturating_mul(COMPARED_FOR_SHOWN).min(COMPARED_WORDS);
    let [left_stop, right_stop] = [left_end, right_end].map(|end| end.min(begin + most));

    let mut excerpt = Excerpt { extent, shown: 0, pieces: Vec::new() };
    excerpt.equal(&left, 0..begin, false, begin < left_end.max(right_end));
    // Equal words get equal numbers, which the diff compares faster than words.
    let mut numbers: UnorderedMap<&str, u32> = UnorderedMap::default();
    let mut compared = |words: &DividedWords<'t>, stop| -> Vec<u32> {
        let number = |at| {
            let next = numbers.len() as u32;
            *numbers.entry(words.word(at)).or_insert(next)
        };
        (begin..stop).map(number).collect()
    };
    let (left_numbers, right_numbers) = (compared(&left, left_stop), compared(&right, right_stop));
    let operations = capture_diff_slices(Algorithm::Myers, &left_numbers, &right_numbers);
    for operation in operations {
        let ranges = [operation.old_range(), operation.new_range()];
        let [old, new] = ranges.map(|range| range.start + begin..range.end + begin);
        if let DiffOp::Equal { .. } = operation {
            let more_follows = old.end < left_end || new.end < right_end;
            // The last word of the left text has no white space after it, although more text is shown. Then
            // the words are taken from the right text, which has the white space.
            let ends_left = old.end == left.len() && more_follows;
            let (words, range) = if ends_left { (&right, new) } else { (&left, old) };
            excerpt.equal(words, range, true, more_follows);
        } else {
            excerpt.differing(&left, old, Piece::Left);
            excerpt.differing(&right, new, Piece::Right);
        }
    }
    // The words after the limit were not compared, so it is not known whether they differ.
    excerpt.unread(left_end - left_stop, right_end - right_stop);
    excerpt.equal(&left, left_end..left.len(), begin < left_end.max(right_end), false);
    excerpt.pieces
}

/// Finds the words of `whole` that are also in `compared`, the part of the text that is compared. Returns both texts as
/// pieces, in order. A [`Piece::Left`] is text that is not compared. All other pieces with a text are compared.
#[must_use]
pub(crate) fn marked_text<'t>(whole: &'t str, compared: &'t str) -> Vec<Piece<'t>> {
    text_difference(whole, compared, Shown { context: usize::MAX, words: MARKED_WORDS })
}

/// A text that is divided into words, each with the white space that follows it.
struct DividedWords<'t> {
    text: &'t str,
    /// Byte offset at which each word starts. The last element is the length of the text.
    starts: Vec<usize>,
}

impl<'t> DividedWords<'t> {
    fn of(text: &'t str) -> Self {
        let mut starts: Vec<usize> = text
            .split_word_bound_indices()
            .filter(|(_, segment)| !segment.trim().is_empty())
            .map(|(at, _)| at)
            .collect();
        // White space before the first word belongs to the first word.
        if let Some(first) = starts.first_mut() {
            *first = 0;
        }
        starts.push(text.len());
        Self { text, starts }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn word(&self, at: usize) -> &'t str {
        self.slice(at..at + 1).trim()
    }

    fn slice(&self, words: Range<usize>) -> &'t str {
        &self.text[self.starts[words.start]..self.starts[words.end]]
    }
}

/// The comparison of two texts while it is built: its parts so far, and the number of words that they show.
struct Excerpt<'t> {
    extent: Shown,
    shown: usize,
    pieces: Vec<Piece<'t>>,
}

impl<'t> Excerpt<'t> {
    /// Adds words that both texts have: the words of `words` in `range`. Only the words near a difference are
    /// shown. `after` says whether a difference precedes these words, and `before` whether a difference
    /// follows them.
    fn equal(&mut self, words: &DividedWords<'t>, range: Range<usize>, after: bool, before: bool) {
        let context = self.extent.context;
        let room = self.extent.words.saturating_sub(self.shown);
        // Equal texts have no difference to show, so their beginning is shown instead.
        let alone = !after && !before;
        let head = if alone { room } else { context.min(room) * usize::from(after) };
        let tail = context.min(room.saturating_sub(head)) * usize::from(before);
        if head + tail >= range.len() {
            self.show(words, range, Piece::Both);
            return;
        }
        let (hidden_from, hidden_to) = (range.start + head, range.end - tail);
        self.show(words, range.start..hidden_from, Piece::Both);
        // If no text is shown between two hidden parts, they become one gap.
        if let Some(Piece::Equal(count)) = self.pieces.last_mut() {
            *count += hidden_to - hidden_from;
        } else {
            self.pieces.push(Piece::Equal(hidden_to - hidden_from));
        }
        self.show(words, hidden_to..range.end, Piece::Both);
    }

    /// Adds words that only one text has: the words of `words` in `range`. `piece` is `Piece::Left` or
    /// `Piece::Right`.
    fn differing(
        &mut self,
        words: &DividedWords<'t>,
        range: Range<usize>,
        piece: fn(&'t str) -> Piece<'t>,
    ) {
        let room = self.extent.words.saturating_sub(self.shown);
        let shown_to = range.end.min(range.start.saturating_add(room));
        let hidden = range.end - shown_to;
        self.show(words, range.start..shown_to, piece);
        // Calling the constructor shows which text the words are from.
        match piece("") {
            Piece::Left(_) => self.unread(hidden, 0),
            _ => self.unread(0, hidden),
        }
    }

    fn unread(&mut self, left: usize, right: usize) {
        if left + right == 0 {
            return;
        }
        if let Some(Piece::Unread(lefts, rights)) = self.pieces.last_mut() {
            *lefts += left;
            *rights += right;
        } else {
            self.pieces.push(Piece::Unread(left, right));
        }
    }

    fn show(
        &mut self,
        words: &DividedWords<'t>,
        range: Range<usize>,
        piece: fn(&'t str) -> Piece<'t>,
    ) {
        if !range.is_empty() {
            self.shown += range.len();
            self.pieces.push(piece(words.slice(range)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Number of words of a text.
    fn word_count(text: &str) -> usize {
        text.split_word_bounds().filter(|word| !word.trim().is_empty()).count()
    }

    const ALL: Shown = Shown { context: usize::MAX, words: usize::MAX };

    #[test]
    fn words_that_differ_are_marked() {
        assert_eq!(
            text_difference("The quick brown fox\njumps", "The quick red  fox jumps!", ALL),
            [
                Piece::Both("The quick "),
                Piece::Left("brown "),
                Piece::Right("red  "),
                Piece::Both("fox jumps"),
                Piece::Right("!"),
            ]
        );
    }

    #[test]
    fn equal_words_far_from_a_difference_are_counted() {
        let left = "1 2 3 4 5 6 7 8 9";
        let extent = Shown { context: 1, words: 100 };
        assert_eq!(
            text_difference(left, "1 2 3 4 x 6 7 8 9", extent),
            [
                Piece::Equal(3),
                Piece::Both("4 "),
                Piece::Left("5 "),
                Piece::Right("x "),
                Piece::Both("6 "),
                Piece::Equal(3),
            ]
        );
        let extent = Shown { context: 1, words: 3 };
        assert_eq!(text_difference(left, left, extent), [Piece::Both("1 2 3 "), Piece::Equal(6)]);
        assert_eq!(
            text_difference("a b c d e", "f g", extent),
            [Piece::Left("a b c "), Piece::Unread(2, 2)]
        );
    }

    #[test]
    fn the_work_is_bounded() {
        let numbers = |from: usize| {
            (from..from + 100_000).map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
        };
        let (left, right) = (numbers(0), numbers(200_000));
        let pieces = text_difference(&left, &right, ALL);
        let unread = 100_000 - COMPARED_WORDS;
        assert_eq!(pieces.last(), Some(&Piece::Unread(unread, unread)));
    }

    proptest! {
        #[test]
        fn each_side_reads_as_its_text(left in "[ab ,\n中]{0,40}", right in "[ab ,\n中]{0,40}") {
            let pieces = text_difference(&left, &right, ALL);
            let side = |is_of_side: fn(&Piece<'_>) -> bool| -> String {
                let text = pieces.iter().filter(|&piece| is_of_side(piece)).map(|piece| match piece {
                    Piece::Both(text) | Piece::Left(text) | Piece::Right(text) => *text,
                    Piece::Equal(_) | Piece::Unread(..) => "",
                });
                text.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
            };
            let without_white = |text: &str| -> String {
                text.chars().filter(|c| !c.is_whitespace()).collect()
            };
            prop_assert_eq!(side(|piece| !matches!(piece, Piece::Right(_))), without_white(&left));
            prop_assert_eq!(side(|piece| !matches!(piece, Piece::Left(_))), without_white(&right));
        }

        #[test]
        fn every_word_is_accounted_for(
            left in "[ab ]{0,60}", right in "[ab ]{0,60}", context in 0..4_usize, words in 0..9_usize,
        ) {
            let mut count = [0, 0];
            for piece in text_difference(&left, &right, Shown { context, words }) {
                let [lefts, rights] = match piece {
                    Piece::Both(text) => [word_count(text); 2],
                    Piece::Left(text) => [word_count(text), 0],
                    Piece::Right(text) => [0, word_count(text)],
                    Piece::Equal(words) => [words; 2],
                    Piece::Unread(lefts, rights) => [lefts, rights],
                };
                count[0] += lefts;
                count[1] += rights;
            }
            prop_assert_eq!(count, [word_count(&left), word_count(&right)]);
        }
    }
}
