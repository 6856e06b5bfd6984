//! Keys by which sets that are alike come together: for who has collections that no reader of ours reads,
//! and joins by keys what lies in many places.
//!
//! A set stands under the terms of its prefix: the first ones in an order that all sets share, until the
//! rest weighs less than it must share with any partner. Two sets that are alike enough have such a term in
//! common, and of the first one that they share what comes behind it in both weighs enough.
//!
//! Any order will do. With rare terms first few sets come together; terms of which nothing is known count
//! as rare, and stand in the order of their hashes.
//!
//! # References
//!
//! S. Chaudhuri, V. Ganti, R. Kaushik. A primitive operator for similarity joins in data cleaning. ICDE 2006.
//! C. Xiao, W. Wang, X. Lin, J. Yu. Efficient similarity joins for near duplicate detection. WWW 2008
//! (what comes behind a shared term).

use crate::method::{Criterion, DocumentTerms, Fitted, Method, TermScratch};
use simtool_base::error::{Error, Result};
use simtool_base::stable_hash::wide_hash;
use simtool_kernels::Isa;
use simtool_model::similarity::Threshold;
use simtool_terms::extract::frequencies::Frequencies;
use std::fmt;
use std::sync::Arc;

/// What finds keys of sets by a method that compares sets.
pub struct SetKeys {
    threshold: Threshold,
    terms: DocumentTerms,
    order: Arc<Frequencies>,
}

/// A set with its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedSet {
    /// A number that equal sets have and others do not.
    pub number: u128,
    /// The sum of the weights of its terms; their number, where all weigh the same.
    pub weight: u64,
    /// The terms of its prefix, each with what it and all behind it weigh.
    pub keys: Vec<(u64, u64)>,
}

/// A set as it stands under one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetUnderKey {
    /// Of two sides the second one.
    pub is_second: bool,
    /// What the set weighs.
    pub weight: u64,
    /// What the key and all behind it weigh.
    pub rest: u64,
}

impl fmt::Debug for SetKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetKeys").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

impl SetKeys {
    /// What finds the keys for a method. `fitted` are numbers of documents that terms are ordered by, of
    /// the whole collection where terms weigh by them, else of any sample, or nothing.
    ///
    /// # Errors
    ///
    /// The method compares no sets; what was learned is not of its terms.
    pub fn new(method: &Method, fitted: &Fitted, isa: Isa) -> Result<Self> {
        let Criterion::Similarity(threshold) = method.close() else {
            return Err(Error::config("method", method.name(), "compares no sets"));
        };
        let terms = method.compared();
        fitted.check_known(terms)?;
        let order = fitted.frequencies();
        Ok(Self { threshold, terms: DocumentTerms::new(terms, fitted, isa), order })
    }

    /// The sets of texts; none where a text has no terms.
    #[must_use]
    pub fn of(&self, texts: &[&[u8]]) -> Vec<Option<KeyedSet>> {
        let mut scratch = TermScratch::default();
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
        let keys = with_rest.take_while(|&(_, rest)| rest >= least).collect();
        Some(KeyedSet { number, weight, keys })
    }

    /// The places of every two sets under one key that may be alike enough, the smaller place first; of
    /// two sides, of one of each, that of the first side first. Those of the sets from number `from` on by
    /// their weights are looked for until there are `most` pairs or more, and the number to go on from is
    /// told, if that is not the end.
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
            let first = order.partition_point(|&place| sets[place].weight < least);
            for &lighter in &order[first..at] {
                let other = sets[lighter];
                let needed = self.threshold.min_shared_weight(set.weight, other.weight);
                let is_within = are_two_sides && set.is_second == other.is_second;
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

    /// Texts of many sizes that share words, some of which are in most of them.
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
    fn candidates_are_all_that_is_alike_and_little_else() {
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
                        let words = |row: usize| {
                            texts[row].split(' ').collect::<std::collections::BTreeSet<_>>()
                        };
                        assert_eq!(are_equal, words(a) == words(b));
                    }
                }
            }
        }
    }

    #[test]
    fn only_pairs_of_two_sides_are_candidates_of_these() {
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
    fn what_goes_with_no_sets_is_refused() {
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
