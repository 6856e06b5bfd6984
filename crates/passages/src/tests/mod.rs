//! Compares searches for passages with the most obvious one.

mod naive;

use super::*;
use crate::search::Way;
use naive::bytes_of;
use simtool_base::error::{ErrorKind, Result};
use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use std::ops::Range;

/// Documents in memory. Each shard has `shard_documents` of them.
struct ListedDocuments<'d> {
    documents: &'d [Vec<u64>],
    shard_documents: usize,
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
        visit: &mut dyn FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        self.shard(shard)
            .filter(|(index, _)| is_wanted(*index))
            .try_for_each(|(index, words)| visit(index, words))
    }

    fn visit_places<'p>(
        &self,
        shard: usize,
        asked: &dyn Fn(u32) -> &'p [u32],
        visit: &mut dyn FnMut(u32, &[u64], &[Range<u64>]) -> Result<()>,
    ) -> Result<()> {
        for (index, words) in self.shard(shard).filter(|(index, _)| !asked(*index).is_empty()) {
            assert!(asked(index).iter().all(|&word| (word as usize) < words.len()));
            let places: Vec<_> =
                asked(index).iter().map(|&word| bytes_of(word..word + 1)).collect();
            visit(index, words, &places)?;
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

const RULES: [Repeated; 4] = [
    Repeated::Anywhere,
    Repeated::Documents(2),
    Repeated::Documents(3),
    Repeated::Documents(1),
];

#[test]
fn all_ways_agree_with_the_obvious_one() {
    let contexts = [1, 3].map(with_threads);
    for seed in 0..1500 {
        let mut random = Random(mix(seed));
        let documents = random_documents(&mut random, 60);
        let most = [3, 12, 50][random.below(3)];
        let length = 1 + random.below(most);
        let source = ListedDocuments { documents: &documents, shard_documents: 1 + random.below(4) };
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
