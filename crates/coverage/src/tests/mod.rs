//! Tests the rule and the search against the obvious way, with many small collections.

mod naive;
mod search;

use crate::decision::Removing;
use crate::lose_limit::LoseLimit;
use crate::loss::{LossRule, RunWindow};
use naive::{Words, all_runs, lost_words, runs};
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::percentage::Percentage;
use simtool_base::stable_hash::mix;
use std::collections::BTreeMap;

/// Limits of the tests.
const LIMITS: [LoseLimit; 5] = [
    LoseLimit::Words(0),
    LoseLimit::Words(1),
    LoseLimit::Words(3),
    LoseLimit::Words(10),
    LoseLimit::Share(Percentage::whole(25)),
];
/// Number of random collections of a test.
const COLLECTIONS: u64 = 1000;

/// Random numbers of a test.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = mix(self.0.wrapping_add(1));
        (self.0 % end as u64) as usize
    }
}

/// A random collection, and the settings of the search in it.
#[derive(Debug)]
struct Case {
    documents: Vec<Words>,
    /// Numbers of the documents, with the preferred ones first.
    order: Vec<usize>,
    /// Number of words of a run.
    length: usize,
    limit: LoseLimit,
}

impl Case {
    fn new(number: u64) -> Self {
        let mut random = Random(number);
        let length = 2 + (number % 12) as usize;
        let letters = 1 + random.below(4);
        let mut documents: Vec<Words> = Vec::new();
        for _ in 0..=random.below(12) {
            let mut words = Words::new();
            // Half of the documents are pieces of earlier ones, with new words between them.
            for _ in 0..random.below(4) {
                let new = random.below(length * 2);
                if let Some(at) = documents.len().checked_sub(1).filter(|_| new.is_multiple_of(2)) {
                    let copied = documents[random.below(at + 1)].clone();
                    let from = random.below(copied.len() + 1);
                    words.extend(&copied[from..copied.len().min(from + 3 * length)]);
                } else {
                    words.extend((0..new).map(|_| random.below(letters) as u8));
                }
            }
            documents.push(words);
        }
        let mut order: Vec<usize> = (0..documents.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        Self { documents, order, length, limit: LIMITS[random.below(LIMITS.len())] }
    }

    fn rule(&self) -> LossRule {
        LossRule { run_length: self.length as u32, limit: self.limit }
    }

    /// Returns the numbers of the documents that are left.
    fn left(&self, removed: &[(usize, usize)]) -> impl Iterator<Item = usize> {
        (0..self.documents.len()).filter(|number| removed.iter().all(|(gone, _)| gone != number))
    }
}

/// Returns the number of each removed document with the number of words that it loses, in ascending order. [`Removing`]
/// decides about the documents, by the numbers of their runs.
fn decided(case: &Case) -> Vec<(usize, usize)> {
    let mut numbers = BTreeMap::new();
    let mut documents = Vec::new();
    for words in &case.documents {
        let number = |run| {
            let next = numbers.len() as u32;
            *numbers.entry(run).or_insert(next)
        };
        documents.push(runs(words, case.length).into_iter().map(number).collect::<Vec<u32>>());
    }
    let mut counts = LargeBuffer::zeroed(numbers.len());
    for runs in &documents {
        let mut distinct = runs.clone();
        distinct.sort_unstable();
        distinct.dedup();
        for run in distinct {
            counts[run as usize] += 1;
        }
    }
    let pins = LargeBuffer::zeroed(numbers.len());
    let mut removing = Removing::new(case.rule(), counts, pins);
    let remove =
        |&number: &usize| Some((number, removing.remove(&documents[number])?.lost as usize));
    let mut removed: Vec<_> = case.order.iter().rev().filter_map(remove).collect();
    removed.sort_unstable();
    removed
}

#[test]
fn the_decision_is_that_of_sets() {
    let mut most = 0;
    for number in 0..COLLECTIONS {
        let case = Case::new(number);
        let groups = vec![1; case.documents.len()];
        let expected =
            naive::removed(&case.documents, &groups, &case.order, case.length, case.limit);
        assert_eq!(decided(&case), expected, "{case:?}");
        most = most.max(expected.len());
    }
    assert!(most > 6, "the collections are too simple: {most} removed");
}

#[test]
fn removed_documents_lose_at_most_the_limit_in_the_end() {
    let mut stricter = 0;
    for number in 0..COLLECTIONS {
        let case = Case::new(number);
        let removed = decided(&case);
        let kept = all_runs(&case.documents, case.length, case.left(&removed));
        for &(gone, lost) in &removed {
            let words = &case.documents[gone];
            let at_the_end = lost_words(words, case.length, &kept).len();
            // What a document relied on is there until the end, so exactly the counted words are lost.
            assert_eq!(at_the_end, lost, "{case:?}");
        }
        if case.limit == LoseLimit::Words(0) {
            let all = all_runs(&case.documents, case.length, 0..case.documents.len());
            assert_eq!(kept, all, "{case:?}");
            stricter += removed.len();
        }
    }
    assert!(stricter > 50, "the collections are too simple: {stricter} removed");
}

#[test]
fn documents_stay_whose_runs_are_in_no_other_document() {
    let limit = LoseLimit::Words(3);
    let rule = LossRule { run_length: 8, limit };
    // A document with three words of its own would lose only three words.
    assert_eq!(rule.loss(&[false]), None);
    assert_eq!(rule.loss(&[]), None);
    assert_eq!(rule.loss(&[true]).map(|loss| loss.lost), Some(0));
    let all = LossRule { run_length: 8, limit: LoseLimit::Share(Percentage::whole(100)) };
    assert_eq!(all.loss(&[false; 9]), None);
}

#[test]
fn a_stitched_document_goes_if_words_may_be_lost() {
    // The runs across the joint of two copied stretches are in no other document.
    let is_kept = [[true; 3].as_slice(), &[false; 7], &[true; 3]].concat();
    let loss = |limit| LossRule { run_length: 8, limit }.loss(&is_kept).map(|loss| loss.lost);
    assert_eq!(loss(LoseLimit::Words(1)), Some(0));
    assert_eq!(loss(LoseLimit::Words(0)), None);
}

#[test]
fn a_few_runs_of_a_document_never_rule_out_what_all_of_them_allow() {
    for number in 0..COLLECTIONS {
        let mut random = Random(number);
        let is_kept: Vec<bool> = (0..=random.below(30)).map(|_| random.below(3) > 0).collect();
        let run_length = 1 + random.below(9) as u32;
        let limit = LIMITS[random.below(LIMITS.len())];
        let rule = LossRule { run_length, limit };
        let window = |start: usize, end: usize| RunWindow { start, is_kept: &is_kept[start..end] };
        let runs = is_kept.len();
        for end in 0..=runs {
            let [start, middle] = [random.below(end + 1), end + random.below(runs - end + 1)];
            let may_go = rule.may_go(&[window(start, end), window(middle, runs)], runs);
            assert!(may_go || rule.loss(&is_kept).is_none(), "{is_kept:?} {start} {end} {rule:?}");
        }
        // All runs decide exactly.
        let may_go = rule.may_go(&[window(0, runs)], runs);
        assert_eq!(may_go, rule.loss(&is_kept).is_some() || !is_kept.contains(&true) && may_go);
    }
}
