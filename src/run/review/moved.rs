//! Passages of two texts that are in both, but at different places, so that a comparison shows them as different.

use simtool_base::unordered_map::UnorderedMap;
use std::ops::Range;

/// Minimum number of words of a moved passage. Shorter ones are often equal by chance.
const LEAST_WORDS: usize = 8;

/// A passage that both texts have, at different places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// Indexes of the two parts that have the passage: the first one in the parts of the kept text, the second one in
    /// those of the removed text.
    pub(super) parts: [usize; 2],
    /// Byte range of the passage in each of the two parts.
    pub(super) bytes: [Range<usize>; 2],
}

/// A word of one part of a text.
#[derive(Clone, Copy)]
struct Word<'t> {
    part: usize,
    start: usize,
    text: &'t str,
}

/// Finds passages that both texts have, at different places. `kept` and `removed` are the parts that only one of the
/// two texts has, as a comparison shows them. Returns the passages in the order of the removed text. Each word is in at
/// most one passage.
///
/// # Complexity
///
/// O(n) for n words, if few sequences of eight words occur twice.
pub(super) fn moved(kept: &[&str], removed: &[&str]) -> Vec<Moved> {
    let (kept, removed) = (words(kept), words(removed));
    let mut places: UnorderedMap<Vec<&str>, usize> = UnorderedMap::default();
    for (at, window) in kept.windows(LEAST_WORDS).enumerate().filter(|(_, w)| is_in_one_part(w)) {
        // The first of several equal sequences counts, as a reader would find it.
        places.entry(texts_of(window)).or_insert(at);
    }
    let mut is_used = vec![false; kept.len()];
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(window) = removed.get(at..at + LEAST_WORDS) {
        let place = places.get(&texts_of(window)).filter(|_| is_in_one_part(window));
        let length = place.map_or(0, |&place| common([&kept[place..], &removed[at..]]));
        // A word that is in two passages would lead to two places.
        let Some(&place) = place.filter(|&&place| !is_used[place..place + length].contains(&true))
        else {
            at += 1;
            continue;
        };
        is_used[place..place + length].fill(true);
        let both = [&kept[place..place + length], &removed[at..at + length]];
        found.push(Moved { parts: both.map(|words| words[0].part), bytes: both.map(bytes_of) });
        at += length;
    }
    found
}

/// Returns the words of all parts, in order.
fn words<'t>(parts: &[&'t str]) -> Vec<Word<'t>> {
    let mut words = Vec::new();
    for (part, text) in parts.iter().enumerate() {
        let mut start = 0;
        for piece in text.split_inclusive(char::is_whitespace) {
            let text = piece.trim_end();
            words.extend((!text.is_empty()).then_some(Word { part, start, text }));
            start += piece.len();
        }
    }
    words
}

fn texts_of<'t>(words: &[Word<'t>]) -> Vec<&'t str> {
    words.iter().map(|word| word.text).collect()
}

fn is_in_one_part(words: &[Word<'_>]) -> bool {
    words.first().map(|word| word.part) == words.last().map(|word| word.part)
}

/// Returns the number of equal words at the beginning of two lists. Only words are counted that are in the same part as
/// the first word of their list.
fn common([one, other]: [&[Word<'_>]; 2]) -> usize {
    let pairs = one.iter().zip(other);
    let is_same = |(a, b): &(&Word<'_>, &Word<'_>)| {
        a.text == b.text && a.part == one[0].part && b.part == other[0].part
    };
    pairs.take_while(is_same).count()
}

fn bytes_of(words: &[Word<'_>]) -> Range<usize> {
    let last = words[words.len() - 1];
    words[0].start..last.start + last.text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_passage_that_changed_its_place_is_found() {
        let passage = "one two three four five six seven eight nine";
        let kept = [&*format!("before {passage} behind"), "other"];
        let removed = ["x y z", &*format!("start {passage}\nend")];
        let found = moved(&kept, &removed);
        let [found] = &found[..] else { panic!("{found:?}") };
        assert_eq!(found.parts, [0, 1]);
        assert_eq!(&kept[0][found.bytes[0].clone()], passage);
        assert_eq!(&removed[1][found.bytes[1].clone()], passage);
        assert_eq!(moved(&["a b c d e f g"], &["a b c d e f g"]), []);
    }

    proptest! {
        /// Found passages are equal in both texts and have at least eight words. If both texts have the same eight
        /// words in sequence, at least one passage is found. No word is in two passages.
        #[test]
        fn passages_are_equal_and_complete(
            kept in proptest::collection::vec("([ab] ){0,30}", 0..4),
            removed in proptest::collection::vec("([ab] ){0,30}", 0..4),
        ) {
            let (kept, removed): (Vec<&str>, Vec<&str>) =
                (kept.iter().map(|t| &**t).collect(), removed.iter().map(|t| &**t).collect());
            let found = moved(&kept, &removed);
            for Moved { parts, bytes } in &found {
                let texts = [
                    &kept[parts[0]][bytes[0].clone()],
                    &removed[parts[1]][bytes[1].clone()],
                ];
                prop_assert_eq!(texts[0], texts[1]);
                prop_assert!(texts[0].split(' ').count() >= LEAST_WORDS);
            }
            // The definition: if any eight words in sequence are in both, at least one passage is found.
            let windows = |parts: &[&str]| -> Vec<String> {
                let of_part = |part: &&str| {
                    let words: Vec<&str> = part.split_whitespace().collect();
                    words.windows(LEAST_WORDS).map(|w| w.join(" ")).collect::<Vec<_>>()
                };
                parts.iter().flat_map(of_part).collect()
            };
            let (of_kept, of_removed) = (windows(&kept), windows(&removed));
            let has_common = of_removed.iter().any(|window| of_kept.contains(window));
            prop_assert_eq!(!found.is_empty(), has_common);
            // No word is in two passages.
            for side in 0..2 {
                let mut places: Vec<(usize, usize, usize)> =
                    found.iter().map(|m| (m.parts[side], m.bytes[side].start, m.bytes[side].end)).collect();
                places.sort_unstable();
                prop_assert!(places.windows(2).all(|w| w[0].0 < w[1].0 || w[0].2 <= w[1].1));
            }
        }
    }
}
