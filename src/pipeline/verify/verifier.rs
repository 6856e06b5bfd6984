//! Compares the texts of candidate pairs that another engine found, for example in a distributed collection.

use super::{GroupTask, RowTexts, Verifying};
use crate::method::{Criterion, DocumentTerms, Fitted, Method, TermScratch};
use crate::pipeline::set_keys::with_sequence;
use crate::pipeline::shard_summary::CollectionSummary;
use simtool_base::error::Result;
use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::wide_hash;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_model::closeness::Closeness;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::groups::{Groups, RowGroups};
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;
use simtool_model::similarity::{Similarity, Threshold};
use simtool_read::Texts;
use simtool_set_join::close::{Close, ClosePair, Neighbourhood};
use simtool_set_join::row_sequences::RowSequences;
use std::collections::BTreeSet;
use std::fmt;

/// Compares the sets of terms of candidate pairs.
///
/// If the method verifies fingerprints, the candidates are texts with close fingerprints. If the method
/// compares sets, the candidates can be any pairs, for example pairs of sets that share a
/// [key](super::super::SetKeys).
pub struct Verifier {
    threshold: Threshold,
    terms: DocumentTerms,
    context: Context<'static>,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

impl Verifier {
    /// Creates the verifier for `method`. Returns `None` if the method compares no sets of terms. If the
    /// method uses learned weights of terms, `fitted` must hold the weights that were learned from the
    /// collection.
    ///
    /// # Errors
    ///
    /// `fitted` was learned for other terms, or the threads cannot be started.
    pub fn new(method: &Method, fitted: &Fitted, resources: &Resources) -> Result<Option<Self>> {
        let threshold = match method.close() {
            Criterion::Similarity(threshold) => Some(threshold),
            Criterion::Distance(_) | Criterion::Coverage => method.verify(),
        };
        let Some(threshold) = threshold else { return Ok(None) };
        // With weights that were learned for other terms, similarities would be wrong without an error.
        fitted.check(method.compared())?;
        let terms = DocumentTerms::new(method.compared(), fitted, resources.isa);
        let context = Context::new(resources, &NoProgress)?;
        Ok(Some(Self { threshold, terms, context }))
    }

    /// Returns a hash of the fingerprint, the set of terms and the sequence of tokens of each text. Two texts have the same
    /// hash only if all three are equal. The hash of a text without a fingerprint is 0.
    /// `rows` holds the fingerprints in the order of `texts`.
    #[must_use]
    pub fn numbers(&self, texts: &[&[u8]], rows: &FingerprintRows<'_>) -> Vec<u128> {
        let mut scratch = TermScratch::with_sequence();
        let mut both = Vec::new();
        let number = |(row, text): (usize, &&[u8])| {
            let Some(words) = rows.row(row) else { return 0 };
            let terms = self.terms.find(text, &mut scratch);
            terms.sort_unstable();
            terms.dedup();
            both.clear();
            // One hash covers both the fingerprint and the set, so hashes are equal only if both are equal.
            both.extend_from_slice(words);
            both.extend_from_slice(terms);
            with_sequence(wide_hash(bytemuck::cast_slice(&both)), scratch.sequence())
        };
        texts.iter().enumerate().map(number).collect()
    }

    /// Returns the pairs of similar texts. Each text is named by its index in `texts`.
    ///
    /// `groups` lists texts with equal fingerprints. `pairs` names the groups to compare, with the distance
    /// of their fingerprints. A group may be paired with itself. If several texts of a group have equal sets,
    /// only the first of them is in the result. Texts with equal sets and different sequences have a similarity below 1.
    ///
    /// # Errors
    ///
    /// There are more than 2³² − 1 texts, or the system lacks memory.
    pub fn similar(
        &self,
        texts: &[&[u8]],
        groups: &Groups,
        pairs: &[ValuePair],
    ) -> Result<Vec<ClosePair>> {
        let corpus = Texts::of(texts);
        let context = &self.context;
        let read = CollectionSummary::read(&corpus, context.threads())?;
        let row_texts = RowTexts::of(&corpus, &read, &self.terms, context);
        let tasks = pairs.iter().map(|&ValuePair { a, b, distance }| GroupTask { a, b, distance });
        // One half of the memory is for the sets, the other half for joining them.
        let memory = context.memory().limit() / 2;
        let verifying = Verifying { threshold: self.threshold, memory, context };
        let groups = RowGroups::new(groups);
        let verified = verifying.verify(Sides::One((&row_texts, &groups)), tasks.collect())?;
        let equal = verified.repeated.into_iter().next().unwrap_or_default();
        Ok(self.by_sequences(texts, verified.pairs, &equal))
    }

    /// Adds to `pairs` the pairs of texts with equal sets of terms and different sequences of tokens. Returns all pairs
    /// that are similar enough. In `pairs`, a set is named by the first text with this set. `equal` has lists of texts
    /// with equal sets and close fingerprints.
    fn by_sequences(
        &self,
        texts: &[&[u8]],
        pairs: Vec<ClosePair>,
        equal: &[Vec<u32>],
    ) -> Vec<ClosePair> {
        // Sequences count only between texts with equal sets, so the other texts need no hash.
        let is_one = |closeness: Closeness| closeness.exact_similarity() == Some(Similarity::ONE);
        let of_pairs = pairs.iter().filter(|pair| is_one(pair.closeness));
        let rows =
            of_pairs.flat_map(|pair| [pair.a, pair.b]).chain(equal.iter().flatten().copied());
        let mut scratch = TermScratch::with_sequence();
        let mut hashes = vec![0; texts.len()];
        for row in rows.collect::<BTreeSet<u32>>() {
            hashes[row as usize] = self.terms.sequence(texts[row as usize], &mut scratch);
        }
        // If the sequences are equal, too, the texts count as one: only the first of them is in pairs.
        let firsts = equal.iter().map(|rows| {
            let mut seen = BTreeSet::new();
            let is_first = |row: &u32| seen.insert(hashes[*row as usize]);
            rows.iter().copied().filter(is_first).collect::<Vec<u32>>()
        });
        let groups = firsts.collect::<Groups>().several();
        let of_equal = Closeness::Verified(Similarity::ONE, 0);
        let mut close = Close::new(Sides::One(groups), pairs.into(), of_equal);
        if self.threshold.is_one_for_equal_sets_only() {
            close = close.with_sequences(RowSequences::new(Sides::One(hashes)));
        }
        let holds = |closeness: Closeness| {
            closeness.exact_similarity().is_some_and(|similarity| self.threshold.holds(similarity))
        };
        let mut all = Vec::new();
        Neighbourhood::new(&close).visit_rows(|a, partners| {
            let partners = partners.iter().filter(|&&(_, closeness)| holds(closeness));
            all.extend(partners.map(|&(b, closeness)| ClosePair { a, b, closeness }));
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::pipeline::one_call::deduplicate;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};

    fn verifier(method: &str) -> Result<Option<Verifier>> {
        let resources = Resources { threads: 1, ..Resources::default() };
        Verifier::new(&method.parse().unwrap(), &Fitted::Nothing, &resources)
    }

    /// Returns similar texts of a few words.
    fn texts() -> Vec<String> {
        let text = |number: u32| {
            let changed = |at: u32| if number.is_multiple_of(at + 2) { "x" } else { "w" };
            let words = (0..12).map(|at| format!("{}{at}", changed(at)));
            words.collect::<Vec<_>>().join(if number.is_multiple_of(2) { " " } else { ", " })
        };
        (0..60).map(text).collect()
    }

    #[test]
    fn given_texts_are_compared_like_texts_that_are_read() {
        let texts = texts();
        let method = "simhash:max_distance=31,verify=0.5,shingle=words:1";
        let found = deduplicate(
            &Texts::of(&texts),
            &Config { method: method.parse().unwrap(), ..Config::default() },
        );
        let Close { groups, pairs, .. } = found.unwrap().close;
        assert!(!groups.first().is_empty() && pairs.len() > 50);
        // Each text is a group of its own. The distance does not matter.
        let rows: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let each: Groups = (0..60).map(|row| [row]).collect();
        let all = (0..60).flat_map(|b| (0..b).map(move |a| ValuePair { a, b, distance: 7 }));
        let all: Vec<ValuePair> = all.collect();
        let verifier = verifier(method).unwrap().unwrap();
        let similar = verifier.similar(&rows, &each, &all).unwrap();
        let similarity_of = |a: u32, b: u32| {
            let place = similar.binary_search_by_key(&(a, b), |pair| (pair.a, pair.b)).ok()?;
            similar[place].closeness.exact_similarity()
        };
        for pair in pairs.iter() {
            assert_eq!(similarity_of(pair.a, pair.b), pair.closeness.exact_similarity());
        }
        // Within one group, texts with equal sets are merged.
        let one = [ValuePair { a: 0, b: 0, distance: 0 }];
        let within =
            verifier.similar(&rows, &[(0..60).collect::<Vec<_>>()].iter().collect(), &one).unwrap();
        assert!(!within.is_empty() && within.len() < similar.len());
        for pair in &within {
            let similarity = similarity_of(pair.a, pair.b).unwrap();
            assert_eq!(pair.closeness, Closeness::Verified(similarity, 0));
        }
    }

    #[test]
    fn texts_of_one_group_with_different_sequences_are_pairs() {
        let verifier = verifier("simhash:verify=0.8,shingle=words:1").unwrap().unwrap();
        let texts = ["a b < c d", "a b > c d", "A b > c, d!", "a b c d e"].map(str::as_bytes);
        let groups: Groups = [vec![0, 1, 2], vec![3]].into_iter().collect();
        let pair = |a, b, distance| ValuePair { a, b, distance };
        let similar = verifier.similar(&texts, &groups, &[pair(0, 0, 0), pair(0, 1, 5)]).unwrap();
        let found: Vec<_> = similar.iter().map(|pair| (pair.a, pair.b, pair.closeness)).collect();
        let almost = Closeness::Verified(Similarity::ALMOST_ONE, 0);
        let near = Closeness::Verified(Similarity { shared: 4, union: 5 }, 5);
        assert_eq!(found, [(0, 1, almost), (0, 3, near), (1, 3, near)]);
    }

    #[test]
    fn equal_texts_with_equal_fingerprints_have_one_number() {
        let verifier = verifier("simhash:verify=0.8,shingle=words:1").unwrap().unwrap();
        let texts = ["a b a", "A b, a!", "a b a", "a a b", "a b a"].map(str::as_bytes);
        let mut rows = RowsBuilder::new(Shape::bits(64));
        for word in [Some(5), Some(5), Some(6), Some(5), None] {
            rows.push(word.as_ref().map(std::slice::from_ref));
        }
        let numbers = verifier.numbers(&texts, &rows.finish());
        assert_eq!((numbers[0], numbers[4]), (numbers[1], 0));
        let mut others = [numbers[0], numbers[2], numbers[3], numbers[4]];
        others.sort_unstable();
        assert!(others.windows(2).all(|two| two[0] != two[1]));
    }

    #[test]
    fn missing_weights_are_refused() {
        assert!(verifier("simhash").unwrap().is_none());
        let error = verifier("simhash:verify=0.8,verify_weight=idf").unwrap_err().to_string();
        assert!(error.contains("fitted nothing: was not learned for"), "{error}");
    }
}
