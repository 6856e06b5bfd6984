//! Compares searches for passages with the most obvious one.

mod cuts;
mod naive;

use super::*;
use crate::search::Way;
use naive::{NaiveSearch, bytes_of};
use simtool_base::error::{ErrorKind, Result};
use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;

/// Documents in memory. Each shard has `shard_documents` of them.
struct ListedDocuments<'d> {
    documents: &'d [Vec<u64>],
    shard_documents: usize,
    /// Ends of the units of each document. Without them, a document is one unit.
    ends: Option<&'d [Vec<u32>]>,
    origins: Option<&'d [u32]>,
}

impl<'d> ListedDocuments<'d> {
    fn new(documents: &'d [Vec<u64>], shard_documents: usize) -> Self {
        Self { documents, shard_documents, ends: None, origins: None }
    }
}

impl ListedDocuments<'_> {
    fn shard(&self, shard: usize) -> impl Iterator<Item = (u32, &Vec<u64>)> {
        (0..).zip(self.documents.chunks(self.shard_documents).nth(shard).unwrap())
    }
}

impl WordSource for ListedDocuments<'_> {
    fn shard_count(&self) -> usize {
        self.documents.len().div_ceil(self.shard_documents)
    }

    fn word_count_hint(&self) -> u64 {
        self.documents.iter().map(|words| words.len() as u64).sum()
    }

    fn visit_words(
        &self,
        shard: usize,
        is_wanted: &dyn Fn(u32) -> bool,
        visit: &mut VisitWords<'_>,
    ) -> Result<()> {
        self.shard(shard)
            .filter(|(index, _)| is_wanted(*index))
            .try_for_each(|(index, words)| visit(index, words))
    }

    fn visit_units(
        &self,
        shard: usize,
        is_wanted: &dyn Fn(u32) -> bool,
        visit: &mut VisitUnits<'_>,
    ) -> Result<()> {
        let first = shard * self.shard_documents;
        self.visit_words(shard, is_wanted, &mut |index, words| match self.ends {
            Some(ends) => visit(index, words, &ends[first + index as usize]),
            None => visit(index, words, &[words.len() as u32][..usize::from(!words.is_empty())]),
        })
    }

    fn origins(&self) -> Option<Vec<u32>> {
        self.origins.map(<[u32]>::to_vec)
    }

    fn visit_places<'p>(
        &self,
        shard: usize,
        asked: &dyn Fn(u32) -> &'p [u32],
        visit: &mut VisitPlaces<'_>,
    ) -> Result<()> {
        for (index, words) in self.shard(shard).filter(|(index, _)| !asked(*index).is_empty()) {
            assert!(asked(index).iter().all(|&word| (word as usize) < words.len()));
            let places: Vec<_> =
                asked(index).iter().map(|&word| bytes_of(word..word + 1)).collect();
            visit(index, &places)?;
        }
        Ok(())
    }
}

/// Random numbers that depend only on the seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        (mix(self.0) % limit.max(1) as u64) as usize
    }
}

/// Returns random documents with copied pieces, repeated words, and short or empty documents.
fn random_documents(random: &mut Random, longest: usize) -> Vec<Vec<u64>> {
    let alphabet = [1, 2, 3, 10, 300][random.below(5)];
    let mut documents: Vec<Vec<u64>> = Vec::new();
    for _ in 0..random.below(9) {
        let mut words = Vec::new();
        for _ in 0..random.below(7) {
            let length = random.below(longest);
            match random.below(4) {
                0 if !documents.is_empty() => {
                    let source = &documents[random.below(documents.len())];
                    let start = random.below(source.len());
                    words.extend(source[start..].iter().take(length));
                }
                1 => {
                    let period: Vec<u64> =
                        (0..=random.below(6)).map(|_| mix(random.below(alphabet) as u64)).collect();
                    words.extend(period.iter().cycle().take(length));
                }
                _ => words.extend((0..length).map(|_| mix(random.below(alphabet) as u64))),
            }
        }
        documents.push(words);
    }
    documents
}

fn with_threads(threads: usize) -> Context<'static> {
    Context::new(&Resources { threads, ..Resources::default() }, &NoProgress).unwrap()
}

const RULES: [Repeated; 4] =
    [Repeated::Anywhere, Repeated::Documents(2), Repeated::Documents(3), Repeated::Documents(1)];

#[test]
fn all_ways_agree_with_the_obvious_one() {
    let contexts = [1, 3].map(with_threads);
    for seed in 0..1500 {
        let mut random = Random(mix(seed));
        let documents = random_documents(&mut random, 60);
        let most = [3, 12, 50][random.below(3)];
        let length = 1 + random.below(most);
        let source = ListedDocuments::new(&documents, 1 + random.below(4));
        let rule = RULES[random.below(4)];
        let expected = naive::find(&documents, length, rule);
        let context = &contexts[random.below(2)];
        for way in [Way::Windows, Way::Runs] {
            let parts = 1 + random.below(3) as u64;
            let search = PassageSearch::new(length, context).unwrap().with_rule(rule);
            let search = search.with_details(way, parts, u64::MAX);
            let found = search.with_verification(random.below(2) == 0).find(&source).unwrap();
            assert_eq!(found, expected, "seed {seed}, {length} words, {way:?}, {parts} parts");
        }
    }
}

/// Searches by windows and by runs, and checks that each result equals the result of `naive::find`. Returns the result.
#[track_caller]
fn check(documents: &[Vec<u64>], length: usize, rule: Repeated) -> Passages {
    let expected = naive::find(documents, length, rule);
    let source = ListedDocuments::new(documents, 7);
    let context = with_threads(2);
    for way in [Way::Windows, Way::Runs] {
        for parts in [1, 3] {
            let search = PassageSearch::new(length, &context).unwrap().with_rule(rule);
            let search = search.with_details(way, parts, u64::MAX);
            let found = search.find(&source).unwrap();
            assert!(found == expected, "{way:?}, {parts} parts, {length} words");
        }
    }
    expected
}

fn words(random: &mut Random, count: usize) -> Vec<u64> {
    (0..count).map(|_| mix(random.below(1 << 20) as u64)).collect()
}

#[test]
fn borders_of_documents_end_windows() {
    let [a, b, c] = [1, 2, 3].map(mix);
    assert!(check(&[], 3, Repeated::Anywhere).passages.is_empty());
    assert!(
        check(&[vec![], vec![a, b], vec![], vec![a, b]], 3, Repeated::Anywhere).passages.is_empty()
    );
    let found = check(&[vec![a, b, c], vec![], vec![a, b, c]], 3, Repeated::default());
    assert!(found.passages.iter().all(|passage| passage.is_whole && passage.words == (0..3)));
    assert_eq!(found.passages.iter().map(|p| p.is_first).collect::<Vec<_>>(), [true, false]);
    assert_eq!([found.passages[0].partner.document, found.passages[1].partner.document], [2, 0]);
    assert_eq!(found.cuts(Cut::First, 0), []);
    assert_eq!(found.cuts(Cut::First, 2)[0].words, 0..3);
    assert_eq!(found.cuts(Cut::All, 0)[0].bytes, bytes_of(0..3));
    // A window in one document only is no repeated one across documents.
    let found = check(&[vec![a, b, a, b]], 2, Repeated::Documents(1));
    assert_eq!(found.passages.len(), 1);
    assert!(check(&[vec![a, b, a, b]], 2, Repeated::Documents(2)).passages.is_empty());
}

#[test]
fn one_word_alone_keeps_its_first_window() {
    let found = check(&[vec![mix(1); 50]], 7, Repeated::Anywhere);
    assert_eq!(found.passages[0].words, 0..50);
    assert_eq!(found.passages[0].occurrences, 44);
    assert_eq!(found.cuts(Cut::First, 0)[0].words, 7..50);
}

#[test]
fn passages_cross_the_borders_of_blocks() {
    let mut random = Random(5);
    let text = words(&mut random, 3 * run_finder::BLOCK);
    for period in [1, 3, 40] {
        let periodic: Vec<u64> = text.iter().copied().take(period).cycle().take(20_000).collect();
        let middle = &text[run_finder::BLOCK - 300..2 * run_finder::BLOCK + 300];
        let documents =
            [text.clone(), periodic.clone(), middle.to_vec(), [&periodic[7..], middle].concat()];
        let found = check(&documents, 25, Repeated::default());
        assert_eq!(found.of_document(2)[0].words, 0..middle.len() as u32);
    }
}

#[test]
fn one_anchor_with_many_contents() {
    for (count, shared) in [(12_u32, 40), (3000, 60)] {
        let mut random = Random(u64::from(count));
        let passage = words(&mut random, shared);
        let documents: Vec<Vec<u64>> = (0..count)
            .map(|_| {
                // Each document has a part of the passage, between other words.
                let start = random.below(8);
                let end = shared - random.below(8);
                let [before, behind] = [0; 2].map(|_| random.below(50));
                let before = words(&mut random, before);
                [before, passage[start..end].to_vec(), words(&mut random, behind)].concat()
            })
            .collect();
        let found = check(&documents, 30, Repeated::default());
        assert!(found.passages.len() as u64 > found.documents / 2);
        check(&documents, 30, Repeated::Documents(count / 2));
    }
}

#[test]
fn verification_finds_equal_hashes_of_different_words() {
    let context = with_threads(2);
    let mut wrong = 0;
    for seed in 0..40 {
        let mut random = Random(mix(seed));
        let documents = random_documents(&mut random, 200);
        let source = ListedDocuments::new(&documents, 2);
        let length = 1 + random.below(20);
        let expected = naive::find(&documents, length, Repeated::Anywhere);
        for way in [Way::Windows, Way::Runs] {
            let search = PassageSearch::new(length, &context).unwrap();
            let search = search.with_rule(Repeated::Anywhere).with_details(way, 2, 0xFF);
            let found = search.with_verification(true).find(&source).unwrap();
            assert_eq!(found, expected, "seed {seed}, {length} words, {way:?}");
            wrong += usize::from(way == Way::Windows && search.find(&source).unwrap() != expected);
        }
    }
    assert!(wrong > 10, "{wrong} searches without verification are wrong");
}

#[test]
fn memory_decides_on_the_number_of_readings() {
    let context = with_threads(1);
    for length in [8, 50] {
        let search = PassageSearch::new(length, &context).unwrap();
        assert_eq!(search.with_memory(u64::MAX).parts(1 << 30), 1);
        let with_little = search.with_memory(1 << 20);
        assert!(with_little.parts(1 << 22) > 1);
        assert!(with_little.parts(1 << 23) >= 2 * with_little.parts(1 << 22) - 1);
        assert_eq!(search.with_memory(0).parts(u64::MAX), 1000);
    }
}

#[test]
fn wrong_numbers_of_words_are_errors() {
    let context = with_threads(1);
    for words in [0, 1001] {
        let error = PassageSearch::new(words, &context).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Config { field: "words", .. }), "{error}");
    }
    let documents = vec![vec![mix(7); 3000]; 2];
    let source = ListedDocuments::new(&documents, 1);
    let found = PassageSearch::new(1000, &context).unwrap().find(&source).unwrap();
    assert_eq!(found.repeated_windows, 2 * 2001);
}

/// Divides documents into units of random lengths. Returns the ends of the units of each document.
fn random_units(random: &mut Random, documents: &[Vec<u64>]) -> Vec<Vec<u32>> {
    let longest = 1 + random.below(9);
    let mut ends_of = |words: &Vec<u64>| {
        let mut ends = Vec::new();
        let mut end = 0;
        while end < words.len() {
            end = words.len().min(end + 1 + random.below(longest));
            ends.push(end as u32);
        }
        ends
    };
    documents.iter().map(&mut ends_of).collect()
}

#[test]
fn units_and_origins_agree_with_the_obvious_search() {
    let contexts = [1, 3].map(with_threads);
    let mut repeated = 0;
    for seed in 0..600 {
        let mut random = Random(mix(seed));
        let documents = random_documents(&mut random, 40);
        let most = [3, 15][random.below(2)];
        let least = 1 + random.below(most);
        let rule = RULES[random.below(4)];
        let ends = random_units(&mut random, &documents);
        let origins: Vec<u32> = documents.iter().map(|_| random.below(4) as u32).collect();
        let mut source = ListedDocuments::new(&documents, 1 + random.below(4));
        source.ends = Some(&ends);
        let is_by_origin = random.below(2) == 0;
        source.origins = is_by_origin.then_some(&origins);
        // Without origins, each document is its own.
        let own_origins = (0..documents.len() as u32).collect();
        for way in [Way::Units, Way::Windows, Way::Runs] {
            // The obvious search gets the windows of the way as ranges of words.
            let windows = if way == Way::Units {
                let units = |ends: &Vec<u32>| {
                    let starts = std::iter::once(0).chain(ends.iter().copied());
                    let units = starts.zip(ends).map(|(start, &end)| start..end);
                    units.filter(|unit| unit.len() >= least).collect()
                };
                ends.iter().map(units).collect()
            } else {
                naive::all_windows(&documents, least)
            };
            let origins = if is_by_origin { &origins } else { &own_origins }.clone();
            let expected = NaiveSearch { documents: &documents, windows, origins, rule }.find();
            let context = &contexts[random.below(2)];
            let search = PassageSearch::new(least, context).unwrap().with_rule(rule);
            let search = search.with_details(way, 1 + random.below(3) as u64, u64::MAX);
            let found = search.with_verification(random.below(2) == 0).find(&source).unwrap();
            assert_eq!(found, expected, "seed {seed}, {least} words, {way:?}, {is_by_origin}");
            repeated += usize::from(way == Way::Units && !found.passages.is_empty());
        }
    }
    assert!(repeated > 100, "{repeated} searches for units find some");
}

#[test]
fn verification_finds_units_with_equal_hashes() {
    let context = with_threads(2);
    let mut wrong = 0;
    for seed in 0..100 {
        let mut random = Random(mix(seed));
        let documents = random_documents(&mut random, 40);
        let ends = random_units(&mut random, &documents);
        let mut source = ListedDocuments::new(&documents, 2);
        source.ends = Some(&ends);
        let search = PassageSearch::new(1, &context).unwrap().with_rule(Repeated::Anywhere);
        let expected = search.with_units().find(&source).unwrap();
        let search = search.with_details(Way::Units, 2, 0xFF);
        let found = search.with_verification(true).find(&source).unwrap();
        assert_eq!(found, expected, "seed {seed}");
        wrong += usize::from(search.find(&source).unwrap() != expected);
    }
    assert!(wrong > 10, "{wrong} searches without verification are wrong");
}

#[test]
fn a_long_unit_is_found_whole() {
    // Polynomials of these words have equal sums with any base.
    let morse = |flip: u64| (0..1 << 14).map(move |at: u64| u64::from(at.count_ones() & 1) ^ flip);
    let documents = [0, 1, 0].map(|flip| morse(flip).collect::<Vec<_>>());
    let context = with_threads(1);
    let search = PassageSearch::new(8, &context).unwrap().with_units();
    let found = search.find(&ListedDocuments::new(&documents, 1)).unwrap();
    let of: Vec<_> = found.passages.iter().map(|found| (found.document, found.is_whole)).collect();
    assert_eq!(of, [(0, true), (2, true)]);
}

#[test]
fn passages_that_do_not_fit_in_memory_are_an_error() {
    let documents = [0, 1].map(|_| (0..4000).map(mix).collect::<Vec<_>>());
    let source = ListedDocuments::new(&documents, 1);
    // One passage in each document fits, but not thousands.
    let limited = |memory| {
        let resources = Resources { threads: 1, memory, ..Resources::default() };
        Context::new(&resources, &NoProgress).unwrap()
    };
    for (least, is_found) in [(1 << 20, true), (1 << 10, false)] {
        let context = limited(least);
        let found = PassageSearch::new(20, &context).unwrap().find(&source);
        assert_eq!(found.is_ok(), is_found, "{least}: {found:?}");
        if let Err(error) = found {
            let error = error.to_string();
            assert!(error.contains("`max_memory` leaves") && error.contains("`words`"), "{error}");
        }
        assert_eq!(context.memory().used(), 0);
    }
}
