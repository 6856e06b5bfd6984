//! Tests the search in collections that are read in shards, with several threads and too little memory.

use super::naive::{self, Words, all_runs, lost_words, runs};
use super::{COLLECTIONS, Case, Random};
use crate::lose_limit::{LoseLimit, LostWords};
use crate::{Coverage, CoverageSearch, DocumentOrder};
use simtool_base::error::Result;
use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::hash;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_set_join::{TermSource, Wanted};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Documents in memory, as the hashes of their runs. The number of terms that they report may be wrong.
struct Documents {
    runs: Vec<Vec<u64>>,
    shard_size: usize,
    term_count_hint: u64,
    /// Number of readings of shards.
    readings: AtomicUsize,
}

impl Documents {
    fn new(documents: &[Words], length: usize, random: &mut Random) -> Self {
        let runs =
            documents.iter().map(|words| runs(words, length).into_iter().map(hash).collect());
        let runs: Vec<Vec<u64>> = runs.collect();
        let terms: usize = runs.iter().map(Vec::len).sum();
        // With few cells, many runs look repeated although they are not.
        let hint = terms * [0, 1, 20][random.below(3)];
        Self {
            runs,
            shard_size: 1 + random.below(4),
            term_count_hint: hint as u64,
            readings: AtomicUsize::new(0),
        }
    }
}

impl TermSource for Documents {
    fn shard_count(&self) -> usize {
        self.runs.len().div_ceil(self.shard_size)
    }

    fn term_count_hint(&self) -> u64 {
        self.term_count_hint
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        self.readings.fetch_add(1, Ordering::Relaxed);
        let documents = self.runs.chunks(self.shard_size).nth(shard).unwrap();
        for (index, runs) in (0..).zip(documents).filter(|&(index, _)| wanted.has(index)) {
            visit(index, runs);
        }
        Ok(())
    }
}

fn found(case: &Case, groups: &[u64], source: &Documents, resources: &Resources) -> Coverage {
    let context = Context::new(resources, &NoProgress).unwrap();
    let search = CoverageSearch::new(case.length as u32, case.limit, &context);
    let rows = || case.order.iter().map(|&row| row as u32).collect();
    let order = DocumentOrder { rows: &rows, groups: &|| groups.to_vec() };
    search.find(source, &order).unwrap()
}

#[test]
fn the_search_finds_what_sets_of_words_say() {
    let (mut several, mut sliced) = (0, 0);
    for number in 0..COLLECTIONS {
        let case = Case::new(number);
        let mut random = Random(number ^ 0x5eed);
        let documents = &case.documents;
        let source = Documents::new(documents, case.length, &mut random);
        let mut groups: Vec<u64> = (0..documents.len()).map(|_| random.below(3) as u64).collect();
        if random.below(2) == 0 {
            groups.clear();
        }
        let all_groups = if groups.is_empty() { vec![1; documents.len()] } else { groups.clone() };
        let expected = naive::removed(documents, &all_groups, &case.order, case.length, case.limit);
        let whole = found(&case, &groups, &source, &Resources::default());
        let removed: Vec<_> =
            whole.documents.iter().map(|it| (it.row as usize, it.loss.lost as usize)).collect();
        assert_eq!(removed, expected, "{case:?} {groups:?}");
        several += whole.documents.iter().filter(|covered| covered.covering > 1).count();
        check_covering(&case, &all_groups, &removed, &whole);
        let readings = source.readings.swap(0, Ordering::Relaxed);
        let terms: usize = source.runs.iter().map(Vec::len).sum();
        // The memory is enough for the runs in a few slices, or for little more than a slice.
        for (threads, memory) in [(1, terms * 32), (3, terms * 32), (2, terms / 2)] {
            let memory = 512 + memory as u64;
            let resources = Resources { threads, memory, ..Resources::default() };
            assert_eq!(found(&case, &groups, &source, &resources), whole, "{case:?} {threads}");
            sliced += usize::from(source.readings.swap(0, Ordering::Relaxed) > readings);
        }
    }
    assert!(several > 30 && sliced > 50, "the collections are too simple: {several} {sliced}");
}

#[test]
fn numbers_in_a_temporary_file_decide_the_same() {
    let mut random = Random(1);
    let mut piece = |_| (0..40).map(|_| random.below(200) as u8).collect();
    let pieces: Vec<Words> = (0..300).map(&mut piece).collect();
    let mut random = Random(2);
    let mut stitched = |_| (0..3).flat_map(|_| pieces[random.below(300)].clone()).collect();
    let documents: Vec<Words> = (0..500).map(&mut stitched).collect();
    let order = (0..documents.len()).rev().collect();
    let case = Case { documents, order, length: 8, limit: LoseLimit::Words(3) };
    let source = Documents::new(&case.documents, case.length, &mut Random(3));
    let whole = found(&case, &[], &source, &Resources::default());
    assert!(whole.documents.len() > 50, "{} removed", whole.documents.len());
    for threads in [1, 3] {
        // The numbers of the runs take a megabyte.
        let resources = Resources { threads, memory: 100_000, ..Resources::default() };
        assert_eq!(found(&case, &[], &source, &resources), whole);
    }
}

/// Checks that the kept documents have the words of the removed ones.
fn check_covering(case: &Case, groups: &[u64], removed: &[(usize, usize)], found: &Coverage) {
    let Case { documents, length, .. } = case;
    for document in &found.documents {
        let [row, kept] = [document.row, document.kept].map(|row| row as usize);
        assert!(removed.iter().all(|&(gone, _)| gone != kept), "{case:?}");
        assert_eq!(groups[row], groups[kept]);
        let has = |numbers: &[usize]| {
            let runs = all_runs(documents, *length, numbers.iter().copied());
            documents[row].len() - lost_words(&documents[row], *length, &runs).len()
        };
        let all: Vec<usize> = case.left(removed).filter(|&it| groups[it] == groups[row]).collect();
        let [by_first, by_all] = [has(&[kept]), has(&all)];
        assert!(by_first > 0, "{case:?}");
        assert_eq!(document.covering == 1, by_first == by_all, "{case:?} {document:?}");
        check_stretches(case, document.row, found);
    }
}

/// Checks that the words of each stretch of a removed document are also in its kept document. Each word of the removed
/// document that is not lost must be in exactly one stretch.
fn check_stretches(case: &Case, row: u32, found: &Coverage) {
    let document = found.documents.iter().find(|document| document.row == row).unwrap();
    let own = found.stretches.iter().filter(|stretch| stretch.row == row);
    let words = &case.documents[row as usize];
    let (mut end, mut covered, mut partners) = (0, 0, BTreeSet::new());
    for stretch in own {
        let [from, to] = stretch.words.map(|word| word as usize);
        assert!(end <= from && from < to, "{case:?} {stretch:?}");
        let kept_from = stretch.kept_from as usize;
        let kept = &case.documents[stretch.kept as usize][kept_from..kept_from + to - from];
        assert_eq!(&words[from..to], kept, "{case:?} {stretch:?}");
        end = to;
        covered += to - from;
        partners.insert(stretch.kept);
    }
    assert_eq!(covered as u32, document.loss.words - document.loss.lost, "{case:?}");
    assert_eq!(partners.len() as u32, document.covering, "{case:?}");
}

#[test]
fn queries_go_if_the_corpus_has_their_words() {
    let mut removed = 0;
    for number in 0..COLLECTIONS {
        let case = Case::new(number);
        let mut random = Random(number);
        let (queries, corpus) = case.documents.split_at(random.below(case.documents.len() + 1));
        let in_corpus = all_runs(corpus, case.length, 0..corpus.len());
        let is_gone = |words: &Words| {
            let own = runs(words, case.length);
            let lost = lost_words(words, case.length, &in_corpus).len() as u32;
            let gone = own.iter().filter(|run| !in_corpus.contains(*run)).count();
            let loss = LostWords { words: words.len() as u32, lost };
            gone < own.len() && case.limit.allows(loss) && !(case.limit.is_zero() && gone > 0)
        };
        let expected = (0_u32..).zip(queries).filter(|(_, words)| is_gone(words));
        let expected: Vec<u32> = expected.map(|(row, _)| row).collect();
        let sources = [queries, corpus].map(|side| Documents::new(side, case.length, &mut random));
        for threads in [1, 3] {
            let resources = Resources { threads, ..Resources::default() };
            let context = Context::new(&resources, &NoProgress).unwrap();
            let search = CoverageSearch::new(case.length as u32, case.limit, &context);
            let rows = || (0..case.documents.len() as u32).collect();
            let order = DocumentOrder { rows: &rows, groups: &Vec::new };
            let found = search.find_in(&sources[0], &sources[1], &order).unwrap();
            let gone: Vec<u32> = found.documents.iter().map(|document| document.row).collect();
            assert_eq!(gone, expected, "{case:?}");
            for document in &found.documents {
                assert!(document.kept as usize >= queries.len());
                check_stretches(&case, document.row, &found);
            }
        }
        removed += expected.len();
    }
    assert!(removed > 100, "the collections are too simple: {removed} removed");
}
