//! Checks by brute force on random documents that each choice of the words to cut keeps its promises.

use super::{
    ListedDocuments, RULES, Random, Way, check, random_documents, random_units, with_threads,
};
use crate::{Cut, PassageSearch, Passages, Repeated};
use simtool_base::stable_hash::mix;
use std::collections::{BTreeMap, BTreeSet};

/// Documents, with a mark for each word that was cut.
struct CutDocuments<'d> {
    documents: &'d [Vec<u64>],
    /// For each word of each document, whether it was cut.
    is_cut: Vec<Vec<bool>>,
}

impl<'d> CutDocuments<'d> {
    fn new(documents: &'d [Vec<u64>], found: &Passages, cut: Cut) -> Self {
        let mut is_cut: Vec<Vec<bool>> =
            documents.iter().map(|words| vec![false; words.len()]).collect();
        for (document, is_cut) in (0..).zip(&mut is_cut) {
            for range in found.cuts(cut, document) {
                is_cut[range.words.start as usize..range.words.end as usize].fill(true);
            }
        }
        Self { documents, is_cut }
    }

    /// Returns all windows of `length` words, each with a list that has `true` for its words that were cut.
    fn windows(&self, length: usize) -> impl Iterator<Item = (&'d [u64], &[bool])> {
        self.documents
            .iter()
            .zip(&self.is_cut)
            .flat_map(move |(words, is_cut)| words.windows(length).zip(is_cut.windows(length)))
    }

    /// Returns the windows of `length` words from which no word was cut.
    fn kept(&self, length: usize) -> BTreeSet<&'d [u64]> {
        let windows = self.windows(length).filter(|(_, is_cut)| !is_cut.contains(&true));
        windows.map(|(window, _)| window).collect()
    }
}

/// Returns the windows that are repeated by `rule`, if each document is an origin of its own.
fn repeated(documents: &[Vec<u64>], length: usize, rule: Repeated) -> BTreeSet<&[u64]> {
    let mut places: BTreeMap<&[u64], Vec<usize>> = BTreeMap::new();
    for (document, words) in documents.iter().enumerate() {
        for window in words.windows(length) {
            places.entry(window).or_default().push(document);
        }
    }
    places.retain(|_, documents| {
        let occurrences = documents.len();
        documents.dedup();
        let least = match rule {
            Repeated::Anywhere => 1,
            Repeated::Documents(least) => least as usize,
        };
        occurrences > 1 && documents.len() >= least
    });
    places.into_keys().collect()
}

#[test]
fn every_window_is_kept_unless_the_edge_of_a_cut_breaks_it() {
    let (mut cuts, mut broken) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random(mix(seed));
        let documents = random_documents(&mut random, 50);
        let length = 1 + random.below(12);
        let rule = RULES[random.below(4)];
        let found = check(&documents, length, rule);
        let copies = CutDocuments::new(&documents, &found, Cut::First);
        let kept = copies.kept(length);
        let repeated = repeated(&documents, length, rule);
        for (window, is_cut) in copies.windows(length).filter(|(window, _)| !kept.contains(window))
        {
            // Only a window with words on both sides of an edge is lost, and no other document needs it.
            let case = format!("seed {seed}, {length} words, {rule:?}");
            assert!(is_cut.contains(&true) && is_cut.contains(&false), "{case}");
            assert!(!repeated.contains(window), "{case}");
            broken += 1;
        }
        // No cut is shorter than a window.
        assert!(found.cuts.iter().all(|cut| cut.words.len() >= length), "seed {seed}");
        cuts += found.cuts.len();
    }
    assert!(cuts > 2000 && broken > 2000, "{cuts} cuts break {broken} windows");
}

#[test]
fn no_repeated_window_is_left_if_all_copies_are_cut() {
    for seed in 0..300 {
        let mut random = Random(mix(seed));
        let documents = random_documents(&mut random, 50);
        let length = 1 + random.below(12);
        let rule = RULES[random.below(4)];
        let found = check(&documents, length, rule);
        let copies = CutDocuments::new(&documents, &found, Cut::All);
        let repeated = repeated(&documents, length, rule);
        for (window, is_cut) in copies.windows(length) {
            let is_repeated = repeated.contains(window);
            assert!(!is_repeated || !is_cut.contains(&false), "seed {seed}, {length} words");
        }
        // Each word that was cut is in a repeated window.
        for (document, words) in (0..).zip(&documents) {
            for cut in found.cuts(Cut::All, document) {
                let words = &words[cut.words.start as usize..cut.words.end as usize];
                assert!(repeated.contains(&words[..length]), "seed {seed}, {length} words");
                assert!(repeated.contains(&words[words.len() - length..]), "seed {seed}");
            }
        }
    }
}

#[test]
fn each_unit_is_kept_once() {
    for seed in 0..600 {
        let mut random = Random(mix(seed));
        let documents = random_documents(&mut random, 40);
        let ends = random_units(&mut random, &documents);
        let mut source = ListedDocuments::new(&documents, 3);
        source.ends = Some(&ends);
        let context = with_threads(1);
        let search = PassageSearch::new(1 + random.below(5), &context).unwrap();
        let search = search.with_rule(RULES[random.below(4)]).with_details(Way::Units, 2, u64::MAX);
        let found = search.find(&source).unwrap();
        let copies = CutDocuments::new(&documents, &found, Cut::First);
        let mut kept = BTreeMap::<&[u64], bool>::new();
        for ((words, is_cut), ends) in documents.iter().zip(&copies.is_cut).zip(&ends) {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            for (start, &end) in starts.zip(ends) {
                let unit = start as usize..end as usize;
                let is_cut = &is_cut[unit.clone()];
                // A unit is cut as a whole or not at all.
                assert!(is_cut.iter().all(|&word| word == is_cut[0]), "seed {seed}");
                *kept.entry(&words[unit]).or_default() |= !is_cut[0];
            }
        }
        assert!(kept.values().all(|&is_kept| is_kept), "seed {seed}");
    }
}

#[test]
fn words_next_to_a_first_copy_stay_if_they_are_few() {
    let words = |range: std::ops::Range<u64>| range.map(mix).collect::<Vec<_>>();
    // The third document has the words of the first, and those that follow for the first time.
    let documents = [words(0..5), words(100..105), words(0..9), words(2..9)];
    let found = check(&documents, 5, Repeated::default());
    assert_eq!(found.cuts(Cut::First, 2), []);
    assert_eq!(found.cuts(Cut::First, 3)[0].words, 0..7);
    // Two later passages touch. The words around the border are together in no other document.
    let documents = [words(0..20), words(50..70), [words(0..20), words(50..70)].concat()];
    let found = check(&documents, 5, Repeated::default());
    let cuts: Vec<_> = found.cuts(Cut::First, 2).into_iter().map(|cut| cut.words).collect();
    assert_eq!(cuts, [0..16, 24..40]);
}
