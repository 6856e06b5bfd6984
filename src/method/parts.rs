//! Learns from a collection that is counted in parts, for example by the machines of a cluster. Each part has
//! a [`PartCounter`]. The caller adds up the counts of all parts by term, and passes the sums to
//! [`PartCounter::learned`].

use super::document_terms::DocumentTerms;
use super::fitted::Fitted;
use super::learn::{CountedTerms, CountedWords};
use super::terms::Terms;
use simtool_kernels::Isa;
use simtool_terms::extract::frequencies::{Frequencies, TermRange};
use simtool_terms::extract::vocabulary::Vocabulary;
use simtool_terms::tokenize::ascii_letters::AsciiLetters;
use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

/// Counter of the words or document frequencies in one part of a collection.
pub struct PartCounter {
    terms: Terms,
    /// Maximum number of terms to learn from the whole collection. `None` means all terms that more than one
    /// document of the collection contains.
    most: Option<usize>,
    counting: Counting,
}

enum Counting {
    /// Counts the occurrences of each word that is not a stop word.
    Words(AsciiLetters, Arc<[Vec<u8>]>, Box<CountedWords>),
    Terms(Box<(DocumentTerms, CountedTerms)>),
}

/// Counts of one part of a collection, or sums of the counts of all parts. Each word or term is listed once,
/// in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartCounts {
    /// Number of occurrences of each word.
    Words(Vec<(Vec<u8>, u64)>),
    /// Number of documents in the part, and for each term the number of documents that contain it.
    Documents(u64, Vec<(u64, u64)>),
}

impl fmt::Debug for PartCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartCounter").field("terms", &self.terms).finish_non_exhaustive()
    }
}

impl PartCounter {
    /// Creates a counter of the words or document frequencies that `terms` need. Returns `None` if `terms`
    /// need no learning.
    #[must_use]
    pub fn new(terms: &Terms, isa: Isa) -> Option<Self> {
        match terms {
            Terms::MostFrequent { count, stop_words } => {
                let words = Box::new(CountedWords::new(0, stop_words));
                let counting =
                    Counting::Words(AsciiLetters::new(isa), Arc::clone(stop_words), words);
                Some(Self { terms: terms.clone(), most: Some(*count), counting })
            }
            Terms::Shingles { weighting, .. } if weighting.is_learned() => {
                Some(Self::for_documents(terms, None, isa))
            }
            Terms::Shingles { .. } => None,
        }
    }

    /// Creates a counter of document frequencies: for each term, the number of documents that contain it.
    /// `most` is the maximum number of terms to learn. `None` means all terms that more than one document of
    /// the collection contains.
    #[must_use]
    pub fn for_documents(terms: &Terms, most: Option<usize>, isa: Isa) -> Self {
        let maker = DocumentTerms::new(terms, &Fitted::Nothing, isa);
        let counting = Counting::Terms(Box::new((maker, none_counted())));
        Self { terms: terms.clone(), most, counting }
    }

    /// Returns whether this counter counts occurrences of words. Otherwise it counts the documents that
    /// contain a term.
    #[must_use]
    pub fn counts_words(&self) -> bool {
        matches!(self.counting, Counting::Words(..))
    }

    /// Returns a text that identifies the rules of counting. The counts of two counters may be added only if
    /// their recipes are equal.
    #[must_use]
    pub fn recipe(&self) -> String {
        match &self.counting {
            Counting::Words(..) => {
                format!("{}/{}", self.terms.recipe(), self.terms.weighting_recipe())
            }
            Counting::Terms(..) => self.terms.sets_recipe(),
        }
    }

    /// Returns the number of terms that are learned. These are the terms with the greatest counts. Among
    /// terms with equal counts, smaller terms come first. `None` means all terms with a count above 1.
    #[must_use]
    pub fn most(&self) -> Option<usize> {
        self.most
    }

    /// Counts the terms of one more document.
    pub fn add(&mut self, text: &[u8]) {
        match &mut self.counting {
            Counting::Words(tokenizer, _, words) => words.add(text, *tokenizer),
            Counting::Terms(counting) => {
                let (maker, counted) = &mut **counting;
                counted.add(0, |scratch| maker.find(text, scratch));
            }
        }
    }

    /// Returns the number of different terms that were counted.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.counting {
            Counting::Words(.., words) => words.counter.number_bound(),
            Counting::Terms(counting) => counting.1.counter.len(),
        }
    }

    /// Returns whether no term was counted yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the counts so far and resets the counter.
    pub fn take(&mut self) -> PartCounts {
        match &mut self.counting {
            Counting::Words(_, stop_words, words) => {
                let counted = std::mem::replace(&mut **words, CountedWords::new(0, stop_words));
                let words = counted.counter.words();
                let words = words.map(|(word, count)| (word.with_letters(<[u8]>::to_vec), count));
                PartCounts::Words(words.collect())
            }
            Counting::Terms(counting) => {
                let counted = std::mem::replace(&mut counting.1, none_counted()).counter;
                let terms = counted.terms().map(|(term, documents)| (term, u64::from(documents)));
                PartCounts::Documents(counted.documents(), terms.collect())
            }
        }
    }

    /// Learns from `sums`, which has the sum of the counts of all parts for each term. The sums may lack
    /// terms that are [not learned](Self::most), for example rare terms.
    #[must_use]
    pub fn learned(&self, sums: PartCounts) -> Fitted {
        match sums {
            // The order must be that of a vocabulary learned in one place: by descending count, then by
            // letters.
            PartCounts::Words(mut words) => {
                words.sort_unstable_by(|(a, of_a), (b, of_b)| {
                    (Reverse(of_a), a).cmp(&(Reverse(of_b), b))
                });
                words.truncate(self.most.unwrap_or(usize::MAX));
                let words = words.iter().map(|(word, _)| &word[..]);
                Fitted::Words(Arc::new(Vocabulary::from_words(words)))
            }
            PartCounts::Documents(documents, terms) => Fitted::Frequencies {
                terms: self.terms.sets_recipe(),
                frequencies: Arc::new(Frequencies::from_counts(documents, terms)),
            },
        }
    }
}

fn none_counted() -> CountedTerms {
    // The caller limits the memory by taking the counts in time, so the counter has no limit of its own.
    CountedTerms::new(TermRange::default(), u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;
    use crate::pipeline::{WithoutWords, fingerprint_collection};
    use simtool_base::progress::NoProgress;
    use simtool_compute::resources::Resources;
    use simtool_read::Texts;
    use std::collections::BTreeMap;

    /// Returns for each term the sum of its counts in all parts, as an engine for distributed data computes
    /// it.
    fn summed<T: Ord + Clone>(parts: &[Vec<(T, u64)>]) -> Vec<(T, u64)> {
        let mut sums = BTreeMap::new();
        for (term, count) in parts.iter().flatten() {
            *sums.entry(term.clone()).or_insert(0) += count;
        }
        sums.into_iter().rev().collect()
    }

    #[test]
    fn parts_teach_what_the_whole_does() {
        let text = |number: usize| {
            let word = |at: usize| format!("w{}", char::from(b'a' + (number * at % 11) as u8));
            (1..number % 7).map(word).collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = (0..90).map(text).collect();
        for method in ["simhash:weight=idf,shingle=2", "simhash:words=8", "simhash:words=100"] {
            let method: Method = method.parse().unwrap();
            let recipe = method.recipe();
            let resources = Resources::default();
            let expected = fingerprint_collection(
                &Texts::of(&texts),
                recipe,
                &resources,
                WithoutWords::Allowed,
                &NoProgress,
            );
            let expected = expected.unwrap().fitted.to_bytes();
            for part_len in [90, 40, 1] {
                let mut counter = PartCounter::new(recipe.terms(), Isa::detected()).unwrap();
                let mut words = Vec::new();
                let mut terms = Vec::new();
                let mut documents = 0;
                for part in texts.chunks(part_len) {
                    for text in part {
                        counter.add(text.as_bytes());
                    }
                    match counter.take() {
                        PartCounts::Words(counts) => words.push(counts),
                        PartCounts::Documents(more, counts) => {
                            documents += more;
                            terms.push(counts);
                        }
                    }
                }
                let sums = if words.is_empty() {
                    PartCounts::Documents(documents, summed(&terms))
                } else {
                    PartCounts::Words(summed(&words))
                };
                assert_eq!(counter.learned(sums).to_bytes(), expected, "{method} {part_len}");
            }
        }
        assert!(PartCounter::new(&Terms::default(), Isa::PORTABLE).is_none());
    }

    #[test]
    fn a_vocabulary_counts_words_and_a_weight_counts_documents() {
        let counts_words = |method: &str| {
            let method: Method = method.parse().unwrap();
            let counter = PartCounter::new(method.recipe().terms(), Isa::detected()).unwrap();
            counter.counts_words()
        };
        assert!(counts_words("simhash:words=8"));
        assert!(!counts_words("simhash:weight=idf,shingle=2"));
    }
}
