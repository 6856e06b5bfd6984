//! Compares the results of searches for items with the results of the simplest possible search.

mod naive;

use super::*;
use naive::Settings;
use simtool_base::error::ErrorKind;
use simtool_base::options::Choice as _;
use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_model::similarity::Threshold;
use std::ops::Range;

/// Random numbers that depend only on the seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        (mix(self.0) % limit.max(1) as u64) as usize
    }

    fn words(&mut self, alphabet: usize, count: usize) -> Vec<u64> {
        (0..count).map(|_| mix(self.below(alphabet) as u64)).collect()
    }
}

/// Returns random texts with pieces of `sources` and of each other, repeated words, changed words, and short or
/// empty texts.
fn random_texts(random: &mut Random, sources: &[Vec<u64>], longest: usize) -> Vec<Vec<u64>> {
    let alphabet = [1, 2, 3, 10, 300][random.below(5)];
    let mut texts: Vec<Vec<u64>> = Vec::new();
    for _ in 0..random.below(8) {
        let mut words = Vec::new();
        for _ in 0..random.below(5) {
            let length = random.below(longest);
            match random.below(5) {
                0 | 1 if !sources.is_empty() => words.extend(&sources[random.below(sources.len())]),
                2 if !texts.is_empty() => {
                    let source = &texts[random.below(texts.len())];
                    let start = random.below(source.len());
                    words.extend(source[start..].iter().take(length));
                }
                3 => {
                    let period = 1 + random.below(6);
                    let period = random.words(alphabet, period);
                    words.extend(period.iter().cycle().take(length));
                }
                _ => words.extend(random.words(alphabet, length)),
            }
        }
        // A few changed words make items that are found in part.
        for _ in 0..random.below(4) {
            let at = random.below(words.len());
            if let Some(word) = words.get_mut(at) {
                *word = mix(random.below(400) as u64);
            }
        }
        texts.push(words);
    }
    texts
}

fn items_of(texts: &[Vec<u64>]) -> Items {
    let mut items = Items::default();
    for words in texts {
        items.push(words).unwrap();
    }
    items
}

fn search<'a>(settings: Settings, context: &'a Context<'a>) -> ContaminationSearch<'a> {
    let share = Threshold::new(settings.percent as u32, 100).unwrap();
    let search = ContaminationSearch::new(settings.words, context).unwrap();
    search.with_measure(settings.measure).with_share(share)
}

/// Returns the items that each document contains.
fn find(
    search: &ContaminationSearch<'_>,
    items: &[Vec<u64>],
    documents: &[Vec<u64>],
) -> Vec<Vec<FoundItem>> {
    let windows = search.windows(items_of(items)).unwrap();
    let counts = search.measure().needs_counts().then(|| windows.document_counts().unwrap());
    let mut is_searched = vec![true; documents.len()];
    if let Some(counts) = &counts {
        let mut buffers = DocumentHits::default();
        for (words, is_searched) in documents.iter().zip(&mut is_searched) {
            *is_searched = windows.count_document(words, counts, &mut buffers);
        }
    }
    let index = search.index(windows, counts).unwrap();
    let mut buffers = SearchBuffers::default();
    let mut find = |(words, is_searched): (&Vec<u64>, bool)| {
        if is_searched { index.find(words, &mut buffers) } else { Vec::new() }
    };
    documents.iter().zip(is_searched).map(&mut find).collect()
}

/// Searches for items, and checks that the result equals the result of the simplest possible search. Returns the
/// result.
#[track_caller]
fn check(items: &[Vec<u64>], documents: &[Vec<u64>], settings: Settings) -> Vec<Vec<FoundItem>> {
    let expected = naive::find(items, documents, settings);
    let context = Context::default();
    // With hashes of three bits, nearly all windows have the hash of another one.
    for mask in [u64::MAX, 7] {
        let found = find(&search(settings, &context).with_mask(mask), items, documents);
        assert_eq!(found, expected, "{settings:?}, mask {mask:x}");
    }
    expected
}

#[test]
fn searches_agree_with_the_obvious_one() {
    let mut count = 0;
    for seed in 0..1200 {
        let mut random = Random(mix(seed));
        let items = random_texts(&mut random, &[], 25);
        let documents = random_texts(&mut random, &items, 60);
        let most = [3, 6, 30][random.below(3)];
        let settings = Settings {
            words: 1 + random.below(most),
            measure: Measure::ALL[random.below(3)],
            percent: [1, 30, 50, 60, 80, 95, 100][random.below(7)],
        };
        count += check(&items, &documents, settings).iter().flatten().count();
    }
    assert!(count > 3000, "{count}");
}

const USUAL: Settings = Settings { words: 5, measure: Measure::Words, percent: 80 };

fn words(range: Range<u64>) -> Vec<u64> {
    range.map(mix).collect()
}

#[test]
fn short_items_are_matched_whole() {
    let items = [words(0..3), vec![], words(7..8), words(1..5), words(0..4)];
    let documents = [words(0..4), words(0..9), words(2..8), vec![]];
    let found = check(&items, &documents, USUAL);
    let numbers: Vec<Vec<u32>> =
        found.iter().map(|found| found.iter().map(|item| item.item).collect()).collect();
    assert_eq!(numbers, [vec![0, 4], vec![0, 2, 3, 4], vec![2], vec![]]);
    assert!(found.iter().flatten().all(|item| item.weight == item.whole_weight));
}

#[test]
fn equal_items_are_all_found_and_the_first_is_best() {
    // The third item contains the first two, so it is better if the document has all of it.
    let items = [words(0..9), words(0..9), words(0..20)];
    let [in_both, in_short] = [words(0..20), words(0..9)];
    let found = check(&items, &[in_both, in_short], USUAL);
    let best: Vec<Vec<bool>> =
        found.iter().map(|found| found.iter().map(|item| item.is_best).collect()).collect();
    assert_eq!(best, [vec![false, false, true], vec![true, false]]);
}

#[test]
fn changed_words_split_the_spans() {
    // The item is in the middle of the document, and one of its words is another one.
    let mut document = words(100..130);
    document.splice(10..10, words(0..40));
    document[25] = mix(999);
    let found = check(&[words(0..40)], &[document], USUAL);
    let [item] = &found[0][..] else { panic!("one item is found") };
    assert_eq!(
        (&item.item_spans[..], &item.spans[..]),
        (&[0..15, 16..40][..], &[10..25, 26..50][..])
    );
    assert_eq!((item.words(), item.weight, item.whole_weight), (39, 39, 40));
    assert_eq!(item.share().to_string(), "0.975");
    assert!(item.is_best);
}

#[test]
fn parts_of_an_item_must_be_near_each_other() {
    // A region has 60 words.
    let parts = |gap: u64| [words(0..10), words(100..100 + gap), words(10..20)].concat();
    let whole = Settings { percent: 100, ..USUAL };
    let found = check(&[words(0..20)], &[parts(40), parts(41)], whole);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(found[0][0].spans, [0..10, 50..60]);
    // Each copy is reported, but no phrase that is far away from a copy.
    let text = [words(0..20), words(1000..1100), words(3..9), words(2000..2100), words(0..19)];
    let found = check(&[words(0..20)], &[text.concat()], USUAL);
    assert_eq!(found[0][0].spans, [0..20, 226..245]);
}

#[test]
fn texts_that_repeat_a_word_have_parts_in_several_regions() {
    let same = |count| vec![mix(7); count];
    let item = [same(12), words(100..108)].concat();
    let other = [words(100..108), same(4)].concat();
    for (before, between) in [(3, 5), (40, 59), (40, 60), (200, 61), (9, 200)] {
        let document =
            [same(before), item.clone(), same(between), other.clone(), same(before)].concat();
        for percent in [30, 60, 100] {
            for measure in Measure::ALL {
                let settings = Settings { measure: *measure, percent, ..USUAL };
                let items = [item.clone(), other.clone()];
                let found = check(&items, std::slice::from_ref(&document), settings);
                assert_eq!(found[0].len(), 2, "{settings:?}, {before} and {between} words");
            }
        }
    }
}

#[test]
fn windows_cross_the_borders_of_blocks() {
    // The windows of a document are hashed in blocks of 2048.
    let mut document = words(1000..14_000);
    for at in [2042_usize, 4096, 6143, 8184, 10_239] {
        document.splice(at..at + 9, words(0..9));
    }
    let found = check(&[words(0..9)], std::slice::from_ref(&document), USUAL);
    assert_eq!(found[0][0].spans.len(), 5);
    // The document is also an item itself.
    let context = Context::default();
    let found = find(&search(USUAL, &context), &[document.clone()], &[document]);
    assert_eq!((found[0][0].words(), &found[0][0].spans[0]), (13_000, &(0..13_000)));
}

#[test]
fn buffers_are_reused_for_many_documents() {
    let documents: Vec<Vec<u64>> = (0..700).map(|at| words(at % 9..at % 9 + 12)).collect();
    let found = check(&[words(3..15), words(4..10)], &documents, USUAL);
    // The first item is in 5 of 9 different documents, and the second one in 6.
    assert_eq!(found.iter().flatten().count(), 78 * 11);
}

#[test]
fn a_share_is_reached_exactly() {
    // As floating-point numbers, 0.55 * 100 is more than 55.
    for percent in 1..=100 {
        for count in [7_u64, 20, 100] {
            let needed = (count * percent).div_ceil(100);
            let settings = Settings { words: 1, measure: Measure::Words, percent };
            let documents = [words(0..needed), words(0..needed - 1)];
            let found = check(&[words(0..count)], &documents, settings);
            assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0], "{percent} {count}");
        }
    }
}

#[test]
fn common_windows_weigh_less() {
    // The documents have the frame of the item, and only the last one has its core.
    let item = [words(0..20), words(100..120)].concat();
    let mut documents = vec![words(0..20); 30];
    documents.push(words(100..120));
    let settings = Settings { measure: Measure::Weighted, percent: 60, ..USUAL };
    let found = check(&[item], &documents, settings);
    assert!(found[..30].iter().all(Vec::is_empty));
    assert_eq!(found[30].len(), 1);
}

#[test]
fn appended_items_come_after_the_others() {
    let mut items = items_of(&[words(0..3), vec![]]);
    items.append(&items_of(&[words(5..9), words(1..2)])).unwrap();
    let all: Vec<&[u64]> = (0..items.len()).map(|item| items.words(item)).collect();
    assert_eq!(all, [words(0..3), vec![], words(5..9), words(1..2)]);
}

#[test]
fn documents_are_only_counted_for_weights() {
    let counted = Measure::ALL.iter().filter(|measure| measure.needs_counts());
    assert_eq!(counted.copied().collect::<Vec<_>>(), [Measure::Weighted]);
}

#[test]
fn wrong_settings_and_too_little_memory_are_refused() {
    let context = Context::default();
    for words in [0, 1001] {
        assert!(ContaminationSearch::new(words, &context).is_err());
    }
    // The index takes about 50 bytes a word.
    let resources = Resources { memory: 10_000, ..Resources::default() };
    let context = Context::new(&resources, &NoProgress).unwrap();
    let search = search(USUAL, &context);
    let error = search.windows(items_of(&[words(0..300)])).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }));
    let text = error.to_string();
    assert!(text.starts_with("the items need 15") && text.contains("leaves 10"), "{text}");
    search.windows(items_of(&[words(0..100)])).unwrap();
    // Items without words take memory, too.
    assert!(search.windows(items_of(&vec![Vec::new(); 5000])).is_err());
}
