//! Generates a document, and near-duplicates of it.

use super::random::Random;
use super::vocabulary::{InventedWords, STOP_WORDS};

/// Distribution of the number of words of a document: its quantiles at (i + ½) / 65 for i = 0 … 64. It is
/// log-normal, with a median of 220 words. The standard deviation of the logarithm is 0.8.
const LENGTHS: [u16; 65] = [
    32, 45, 53, 61, 67, 73, 79, 84, 90, 95, 100, 105, 110, 115, 120, 125, 129, 134, 140, 145, 150,
    155, 160, 166, 171, 177, 183, 188, 194, 201, 207, 213, 220, 227, 234, 241, 249, 257, 265, 274,
    283, 292, 302, 312, 323, 335, 347, 360, 374, 389, 405, 422, 441, 462, 485, 511, 540, 574, 613,
    661, 720, 797, 906, 1084, 1529,
];
/// Mean number of words of a generated document.
pub(super) const MEAN_WORDS: u64 = 290;
/// Mean number of bytes of a generated document, including its ID and separators.
pub(super) const MEAN_BYTES: u64 = 1_800;

/// Number of different words that belong to the subject of a document. On average, every fourth word of the
/// document is a word of its subject.
const SUBJECT_WORDS: usize = 24;
/// Minimum number of words of a paragraph, except the last paragraph of a document. The longest paragraphs
/// have almost twice as many words.
const PARAGRAPH_WORDS: usize = 40;
/// Number of bytes of a line after which the line is broken.
const LINE: usize = 68;

/// A generated document: the words of each paragraph, as ranks in the vocabulary, and the seed of its punctuation and
/// line breaks.
#[derive(Clone, Debug)]
pub(super) struct GeneratedDocument {
    paragraphs: Vec<Vec<u32>>,
    layout: u64,
}

/// The change that turns a document into a near-duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The copy is equal to the document.
    None,
    /// This number of words of the document is replaced by random words.
    Words(usize),
    /// The copy lacks the last sixth of the words of the document.
    Truncated,
    /// The paragraphs of the copy are in another order.
    Shuffled,
    /// The copy has an additional paragraph of 30 words.
    Extended,
    /// The copy has the same words, but other line breaks, sentences and capitals.
    Reflowed,
}

impl Change {
    /// Returns a random kind of change.
    pub(super) fn draw(random: &mut Random) -> Self {
        match random.below(8) {
            0 => Self::None,
            1 => Self::Truncated,
            2 => Self::Shuffled,
            3 => Self::Extended,
            4 => Self::Reflowed,
            _ => Self::Words(1 << random.below(5)),
        }
    }

    /// Returns the name of the change as it appears in the list of true pairs, for example `words-4`.
    pub(super) fn name(self) -> String {
        match self {
            Self::None => "exact".to_owned(),
            Self::Words(count) => format!("words-{count}"),
            Self::Truncated => "truncated".to_owned(),
            Self::Shuffled => "shuffled".to_owned(),
            Self::Extended => "extended".to_owned(),
            Self::Reflowed => "reflowed".to_owned(),
        }
    }
}

impl GeneratedDocument {
    /// Generates a document about a random subject.
    pub(super) fn draw(vocabulary: &InventedWords, random: &mut Random) -> Self {
        // A subject has no stop words, because those are in documents of every subject.
        let rare = vocabulary.len() - STOP_WORDS;
        let subject: [u32; SUBJECT_WORDS] =
            std::array::from_fn(|_| (STOP_WORDS + random.below(rare.min(20_000))) as u32);
        let mut left = length(random);
        let mut paragraphs = Vec::new();
        while left > 0 {
            // The last paragraph takes whatever is left, so the document has exactly the length
            // that was drawn.
            let words = left.min(PARAGRAPH_WORDS + random.below(PARAGRAPH_WORDS));
            left -= words;
            paragraphs.push((0..words).map(|_| word(vocabulary, &subject, random)).collect());
        }
        Self { paragraphs, layout: random.number() }
    }

    /// Returns a copy of the document with `change` applied.
    pub(super) fn changed(
        &self,
        change: Change,
        vocabulary: &InventedWords,
        random: &mut Random,
    ) -> Self {
        let mut copy = self.clone();
        let paragraphs = &mut copy.paragraphs;
        match change {
            Change::None => {}
            Change::Words(count) => {
                for _ in 0..count {
                    let paragraph = random.below(paragraphs.len());
                    if let Some(paragraph) = paragraphs.get_mut(paragraph) {
                        let at = random.below(paragraph.len());
                        paragraph[at] = vocabulary.draw(random);
                    }
                }
            }
            Change::Truncated => {
                let words: usize = paragraphs.iter().map(Vec::len).sum();
                let mut left = words - words / 6;
                for paragraph in paragraphs.iter_mut() {
                    paragraph.truncate(left);
                    left -= paragraph.len();
                }
                // Paragraphs behind the cut are empty now and would leave empty lines.
                paragraphs.retain(|paragraph| !paragraph.is_empty());
            }
            Change::Shuffled => {
                for at in (1..paragraphs.len()).rev() {
                    paragraphs.swap(at, random.below(at + 1));
                }
            }
            Change::Extended => {
                paragraphs.push((0..30).map(|_| vocabulary.draw(random)).collect());
            }
            Change::Reflowed => copy.layout = random.number(),
        }
        copy
    }

    /// Appends the text of the document to `text`. Sentences are broken into lines, and an empty line
    /// separates paragraphs.
    pub(super) fn write(&self, vocabulary: &InventedWords, text: &mut Vec<u8>) {
        for (number, paragraph) in self.paragraphs.iter().enumerate() {
            // The layout of a paragraph depends only on the paragraph, so that a copy with another
            // order of paragraphs has the same sentences.
            let first = paragraph.first().copied().unwrap_or_default();
            let mut random = Random::new(self.layout ^ u64::from(first));
            if number > 0 {
                text.extend_from_slice(b"\r\n");
            }
            write_paragraph(paragraph, vocabulary, &mut random, text);
        }
    }
}

fn write_paragraph(
    words: &[u32],
    vocabulary: &InventedWords,
    random: &mut Random,
    text: &mut Vec<u8>,
) {
    let (mut left_in_sentence, mut line_start) = (0, text.len());
    for (at, &rank) in words.iter().enumerate() {
        let start = text.len();
        text.extend_from_slice(vocabulary.word(rank));
        if left_in_sentence == 0 {
            text[start].make_ascii_uppercase();
            left_in_sentence = 5 + random.below(16);
        }
        left_in_sentence -= 1;
        if left_in_sentence == 0 || at + 1 == words.len() {
            text.push(if random.happens(1, 12) { b'?' } else { b'.' });
        } else if random.happens(1, 12) {
            text.push(b',');
        }
        if text.len() - line_start > LINE || at + 1 == words.len() {
            text.extend_from_slice(b"\r\n");
            line_start = text.len();
        } else {
            text.push(b' ');
        }
    }
}

/// Returns a random number of words for a document, interpolated between the quantiles in [`LENGTHS`].
fn length(random: &mut Random) -> usize {
    const PARTS: usize = 256;
    let place = random.below((LENGTHS.len() - 1) * PARTS);
    let (below, part) = (place / PARTS, place % PARTS);
    let (low, high) = (usize::from(LENGTHS[below]), usize::from(LENGTHS[below + 1]));
    low + (high - low) * part / PARTS
}

/// Returns the rank of a random word of a document. `subject` has the ranks of the words of its subject, the most
/// frequent words first.
fn word(vocabulary: &InventedWords, subject: &[u32; SUBJECT_WORDS], random: &mut Random) -> u32 {
    if random.happens(1, 4) {
        // Drawing twice makes the first words of the subject more likely than the last ones.
        let last = random.below(SUBJECT_WORDS);
        subject[random.below(last + 1)]
    } else {
        vocabulary.draw(random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(document: &GeneratedDocument) -> Vec<u32> {
        document.paragraphs.concat()
    }

    #[test]
    fn changes_change_what_they_say() {
        let vocabulary = InventedWords::for_text_of(100_000);
        let mut random = Random::new(3);
        for _ in 0..50 {
            let document = GeneratedDocument::draw(&vocabulary, &mut random);
            let original = words(&document);
            let mut changed = |change| document.changed(change, &vocabulary, &mut random);
            assert_eq!(words(&changed(Change::None)), original);
            let others = words(&changed(Change::Words(4)));
            let differing = others.iter().zip(&original).filter(|(a, b)| a != b).count();
            assert!(others.len() == original.len() && differing <= 4);
            let cut = words(&changed(Change::Truncated));
            assert_eq!(cut, original[..original.len() - original.len() / 6]);
            let (mut shuffled, mut sorted) = (words(&changed(Change::Shuffled)), original.clone());
            shuffled.sort_unstable();
            sorted.sort_unstable();
            assert_eq!(shuffled, sorted);
            assert!(words(&changed(Change::Extended)).starts_with(&original));
            let reflowed = changed(Change::Reflowed);
            assert_eq!(words(&reflowed), original);
            let (mut a, mut b) = (Vec::new(), Vec::new());
            document.write(&vocabulary, &mut a);
            reflowed.write(&vocabulary, &mut b);
            assert_ne!(a, b);
        }
    }

    #[test]
    fn documents_are_as_long_as_the_means_say() {
        let vocabulary = InventedWords::for_text_of(10_000_000);
        let mut random = Random::new(5);
        let (mut total, mut text) = (0, Vec::new());
        for _ in 0..2_000 {
            let document = GeneratedDocument::draw(&vocabulary, &mut random);
            total += words(&document).len();
            document.write(&vocabulary, &mut text);
        }
        let (mean, bytes) = (total as u64 / 2_000, text.len() as u64 / 2_000);
        assert!(mean.abs_diff(MEAN_WORDS) < 15, "{mean}");
        assert!(bytes.abs_diff(MEAN_BYTES) < 170, "{bytes}");
    }

    #[test]
    fn every_kind_of_change_is_drawn() {
        let mut random = Random::new(3);
        let drawn: Vec<String> = (0..400).map(|_| Change::draw(&mut random).name()).collect();
        for name in
            ["exact", "truncated", "shuffled", "extended", "reflowed", "words-1", "words-16"]
        {
            assert!(drawn.iter().any(|drawn| drawn == name), "{name}");
        }
    }
}
