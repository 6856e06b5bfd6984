//! Computes keys of sets of terms. Any two similar sets have at least one key in common. So an engine that
//! joins distributed collections by equal keys finds all similar sets.
//!
//! The keys of a set are the first terms of the set, called its prefix. All sets sort their terms in the same
//! order. The prefix ends where the remaining terms weigh less than the set must share with any similar set.
//! So any two similar sets have a term in common that is in both prefixes. From their first common term on,
//! the terms of each set weigh at least as much as the two sets must share.
//!
//! Any order is correct. If rare terms come first, few sets have the same key. Terms with unknown frequency
//! count as rare, and are sorted by their hashes.
//!
//! # References
//!
//! S. Chaudhuri, V. Ganti, R. Kaushik. A primitive operator for similarity joins in data cleaning. ICDE 2006.
//! C. Xiao, W. Wang, X. Lin, J. Yu. Efficient similarity joins for near duplicate detection. WWW 2008
//! (the filter by the terms behind a shared term).

use crate::method::{Criterion, DocumentTerms, Fitted, Method, TermScratch};
use simtool_base::error::{Error, Result};
use simtool_base::stable_hash::wide_hash;
use simtool_kernels::Isa;
use simtool_model::similarity::Threshold;
use simtool_terms::extract::frequencies::Frequencies;
use std::fmt;
use std::sync::Arc;

/// Computes the keys of sets of terms, for a method that compares such sets. A key is a term of the set,
/// chosen so that any two similar sets have at least one key in common.
pub struct SetKeys {
    threshold: Threshold,
    terms: DocumentTerms,
    order: Arc<Frequencies>,
}

/// Hash of a set of terms, its weight, and its keys. Any two similar sets have at least one key in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedSet {
    /// Hash of the set and of the sequence of tokens. Equal sets of texts with equal sequences have
    /// equal hashes. Other texts have different hashes in practice.
    pub number: u128,
    /// Sum of the weights of the terms, or number of terms if all weigh the same.
    pub weight: u64,
    /// Keys of the set. If its terms are sorted from rare to frequent, the keys are the first ones. The second number
    /// of a key is the total weight of this term and of all terms after it in this order.
    pub keys: Vec<(u64, u64)>,
}

/// A set in the list of all sets that have one key in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetUnderKey {
    /// Whether the set belongs to the second of two collections. The value is ignored if one collection is
    /// joined with itself.
    pub is_second: bool,
    /// Total weight of the terms of the set.
    pub weight: u64,
    /// Total weight of the key and of all terms after it in the set. It is the second number of the key in
    /// [`KeyedSet::keys`].
    pub rest: u64,
}

/// Returns the hash of a text from the hash of its set of terms and the hash of its sequence of tokens.
pub(crate) fn with_sequence(of_set: u128, sequence: u64) -> u128 {
    let mut both = [0; 24];
    both[..16].copy_from_slice(&of_set.to_le_bytes());
    both[16..].copy_from_slice(&sequence.to_le_bytes());
    wide_hash(&both)
}

impl fmt::Debug for SetKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetKeys").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

impl SetKeys {
    /// Creates a value that computes keys for the sets that `method` compares. The terms of a set are sorted
    /// by their document frequencies in `fitted`. If the method weights terms, `fitted` must be learned from
    /// the whole collection. Otherwise a sample or [`Fitted::Nothing`] is enough.
    ///
    /// # Errors
    ///
    /// The method compares no sets, or `fitted` was learned for other terms.
    pub fn new(method: &Method, fitted: &Fitted, isa: Isa) -> Result<Self> {
        let Criterion::Similarity(threshold) = method.close() else {
            return Err(Error::config("method", method.name(), "compares no sets"));
        };
        let terms = method.compared();
        fitted.check_known(terms)?;
        let order = fitted.frequencies();
        Ok(Self { threshold, terms: DocumentTerms::new(terms, fitted, isa), order })
    }

    /// Returns for each text the hash, the weight and the keys of its set of terms. `None` means that the
    /// text has no terms.
    #[must_use]
    pub fn of(&self, texts: &[&[u8]]) -> Vec<Option<KeyedSet>> {
        let mut scratch = TermScratch::with_sequence();
        texts.iter().map(|text| self.set(text, &mut scratch)).collect()
    }

    fn set(&self, text: &[u8], scratch: &mut TermScratch) -> Option<KeyedSet> {
        let terms = self.terms.find(text, scratch);
        if terms.is_empty() {
            return None;
        }
        terms.sort_unstable();
        terms.dedup();
        let number = wide_hash(bytemuck::cast_slice(terms));
        // The hash was computed from the ascending terms. From here on, rare terms come first.
        terms.sort_by_cached_key(|&term| (self.order.get(term).0, term));
        let weights = || terms.iter().map(|&term| u64::from(self.terms.weight(term)));
        let weight = weights().sum();
        let least = self.threshold.min_weight(weight);
        let mut rest = weight;
        let with_rest = terms.iter().zip(weights()).map(|(&term, weight)| {
            let from_here = rest;
            rest -= weight;
            (term, from_here)
        });
        // After this point the remaining terms weigh too little to hold everything that a similar set must
        // share.
        let keys = with_rest.take_while(|&(_, rest)| rest >= least).collect();
        let number = with_sequence(number, scratch.sequence());
        Some(KeyedSet { number, weight, keys })
    }

    /// Returns the pairs of sets that may be similar enough, as indexes in `sets`. `sets` lists all sets that have one
    /// key in common. `are_two_sides` is true if two collections are joined.
    ///
    /// In one collection, the smaller index comes first. Between two, each pair has one set of each
    /// collection, and the set of the first collection comes first.
    ///
    /// A frequent key can have so many pairs that they would fill the memory. So a call ends after the set
    /// with which it has found at least `most` pairs. The second result is then the value of `from` for the
    /// next call, or `None` if all sets were visited. The value of `from` for the first call is 0. Sets are
    /// visited by ascending weight, and `from` is a position in this order.
    #[must_use]
    pub fn candidates(
        &self,
        sets: &[SetUnderKey],
        are_two_sides: bool,
        from: usize,
        most: usize,
    ) -> (Vec<(usize, usize)>, Option<usize>) {
        let mut order: Vec<usize> = (0..sets.len()).collect();
        order.sort_by_key(|&place| sets[place].weight);
        let mut found = Vec::new();
        for at in from..order.len() {
            let place = order[at];
            let set = sets[place];
            let least = self.threshold.min_weight(set.weight);
            // Sets that weigh too little cannot be similar, whatever they share.
            let first = order.partition_point(|&place| sets[place].weight < least);
            for &lighter in &order[first..at] {
                let other = sets[lighter];
                let needed = self.threshold.min_shared_weight(set.weight, other.weight);
                let is_within = are_two_sides && set.is_second == other.is_second;
                // If this key is the first term that two similar sets share, the rest of both weighs enough.
                // Otherwise the pair is found under its first shared term.
                if is_within || set.rest.min(other.rest) < needed {
                    continue;
                }
                let is_swapped = if are_two_sides { set.is_second } else { lighter < place };
                found.push(if is_swapped { (lighter, place) } else { (place, lighter) });
            }
            if found.len() >= most {
                return (found, Some(at + 1).filter(|&next| next < order.len()));
            }
        }
        (found, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::deduplicate;
    use crate::method::{PartCounter, PartCounts};
    use simtool_read::Texts;
    use std::collections::BTreeMap;

    /// Returns texts of many sizes that share words. Some words are in most of the texts.
    fn texts() -> Vec<String> {
        let mut state = 1_u64;
        let mut random = |end: u64| {
            state = simtool_base::stable_hash::mix(
                state.wrapping_add(simtool_base::stable_hash::GAMMA),
            );
            state % end
        };
        let mut texts: Vec<String> = Vec::new();
        for number in 0..150 {
            let words = if number % 3 > 0 {
                let other: Vec<_> = texts[random(number) as usize].split(' ').collect();
                let mut words: Vec<String> = other.iter().map(ToString::to_string).collect();
                let changed = random(words.len() as u64) as usize;
                words[changed] = format!("w{}", random(40));
                words
            } else {
                (0..=random(30)).map(|_| format!("w{}", random(40) * random(40) / 8)).collect()
            };
            texts.push(words.join(" "));
        }
        texts
    }

    fn counted(method: &Method, texts: &[String]) -> Fitted {
        let mut counter = PartCounter::for_documents(method.compared(), None, Isa::detected());
        for text in texts {
            counter.add(text.as_bytes());
        }
        let PartCounts::Documents(documents, terms) = counter.take() else { unreachable!() };
        counter.learned(PartCounts::Documents(documents, terms))
    }

    #[test]
    fn candidates_hold_all_similar_pairs_and_not_all_pairs() {
        let texts = texts();
        let rows: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        for similarity in
            ["0.8", "1", "0.3", "cosine:0.7", "containment:0.9", "tversky:0.6", "dice:0.7"]
        {
            for weight in ["binary", "idf"] {
                let options =
                    format!("exact:similarity={similarity},weight={weight},shingle=words:1");
                let method: Method = options.parse().unwrap();
                let config = Config { method: method.clone(), ..Config::default() };
                let mut expected = Vec::new();
                let found = deduplicate(&Texts::of(&texts), &config).unwrap();
                found
                    .close
                    .for_each_pair(|pair| {
                        expected.push((pair.a as usize, pair.b as usize));
                        Ok::<_, ()>(())
                    })
                    .unwrap();
                let whole = counted(&method, &texts);
                let of_sample = [Fitted::Nothing, counted(&method, &texts[..20])];
                let orders = std::iter::once(whole).chain(of_sample);
                for order in orders.take(if weight == "idf" { 1 } else { 3 }) {
                    let keys = SetKeys::new(&method, &order, Isa::detected()).unwrap();
                    let sets = keys.of(&rows);
                    let mut under: BTreeMap<u64, Vec<(usize, SetUnderKey)>> = BTreeMap::new();
                    for (row, set) in sets.iter().enumerate() {
                        let Some(set) = set else { continue };
                        for &(term, rest) in &set.keys {
                            let set = SetUnderKey { is_second: false, weight: set.weight, rest };
                            under.entry(term).or_default().push((row, set));
                        }
                    }
                    let mut candidates = Vec::new();
                    for under in under.values() {
                        let (rows, sets): (Vec<_>, Vec<_>) = under.iter().copied().unzip();
                        let mut next = Some(0);
                        while let Some(from) = next {
                            let (found, more) = keys.candidates(&sets, false, from, 5);
                            candidates.extend(found.iter().map(|&(a, b)| (rows[a], rows[b])));
                            next = more;
                        }
                    }
                    candidates.sort_unstable();
                    candidates.dedup();
                    assert!(
                        expected.iter().all(|pair| candidates.binary_search(pair).is_ok()),
                        "{options}"
                    );
                    assert!(candidates.len() < 150 * 149 / 2, "{options}");
                    for &(a, b) in &expected {
                        let are_equal =
                            sets[a].as_ref().unwrap().number == sets[b].as_ref().unwrap().number;
                        assert_eq!(are_equal, texts[a] == texts[b]);
                    }
                }
            }
        }
    }

    #[test]
    fn candidates_of_two_sides_have_one_set_of_each() {
        let keys = SetKeys::new(&Method::default(), &Fitted::Nothing, Isa::PORTABLE).unwrap();
        let set = |is_second, weight| SetUnderKey { is_second, weight, rest: weight };
        let sets = [set(false, 10), set(true, 10), set(true, 9), set(false, 11), set(true, 3)];
        let found = |sets: &[SetUnderKey], are_two_sides| {
            let (mut found, more) = keys.candidates(sets, are_two_sides, 0, 100);
            assert_eq!(more, None);
            found.sort_unstable();
            found
        };
        assert_eq!(found(&sets, true), [(0, 1), (0, 2), (3, 1), (3, 2)]);
        let sets = sets.map(|set| SetUnderKey { is_second: false, ..set });
        assert_eq!(found(&sets, false), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    }

    #[test]
    fn methods_and_weights_that_do_not_fit_sets_are_refused() {
        let error = |method: &str, fitted: &Fitted| {
            let method: Method = method.parse().unwrap();
            SetKeys::new(&method, fitted, Isa::PORTABLE).unwrap_err().to_string()
        };
        assert!(error("simhash", &Fitted::Nothing).contains("compares no sets"));
        assert!(error("exact:weight=idf", &Fitted::Nothing).contains("was not learned for"));
        let others = counted(&"exact:shingle=words:1".parse().unwrap(), &texts());
        assert!(error("exact", &others).contains("was not learned for"));
    }
}
