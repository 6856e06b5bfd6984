//! In how many documents of a collection each term is, learned in parallel.
//!
//! Every worker gathers the distinct terms of its documents and merges them, sorted, with what it
//! counted before; the workers' counts are merged by ranges of terms. A term that is in one document
//! only is not kept: any that is not known counts as one of these, also in documents that come later.

use crate::kernels::prefetch;
use std::cmp::Ordering;

/// Gathered terms that are worth sorting.
const LEAST_GATHERED: usize = 1 << 20;

/// In how many documents a term is that is not known.
const UNKNOWN: u32 = 1;

/// Bytes of a term that is stored.
const STORED_BYTES: usize = 16;

/// Places of the table of terms that are looked at at once.
const TOGETHER: usize = 4;

/// Counts the documents of each term for one worker.
#[derive(Debug, Default)]
pub struct FrequencyCounter {
    documents: u64,
    gathered: Vec<u64>,
    /// Terms with their numbers of documents, ascending.
    counted: Vec<(u64, u32)>,
}

impl FrequencyCounter {
    /// Counts a document with these distinct terms.
    pub fn add(&mut self, distinct: &[u64]) {
        self.documents += 1;
        self.gathered.extend_from_slice(distinct);
        // As many as were counted, so that each is merged a few times only.
        if self.gathered.len() >= LEAST_GATHERED.max(self.counted.len()) {
            self.merge();
        }
    }

    /// The counter, with everything counted.
    #[must_use]
    pub fn finished(mut self) -> Self {
        self.merge();
        self.gathered = Vec::new();
        self
    }

    fn merge(&mut self) {
        self.gathered.sort_unstable();
        let counted = std::mem::take(&mut self.counted);
        let mut before = counted.into_iter().peekable();
        let mut merged = Vec::with_capacity(before.len() + self.gathered.len());
        for run in self.gathered.chunk_by(|one, other| one == other) {
            let (term, mut documents) = (run[0], run.len() as u32);
            while let Some(counted) = before.next_if(|counted| counted.0 <= term) {
                match counted.0.cmp(&term) {
                    Ordering::Equal => documents += counted.1,
                    _ => merged.push(counted),
                }
            }
            merged.push((term, documents));
        }
        merged.extend(before);
        self.counted = merged;
        self.gathered.clear();
    }
}

/// The terms of two documents or more that belong to part `part` of `parts`, with their numbers of
/// documents over all workers; ascending, also from part to part.
#[must_use]
pub fn merged(counters: &[FrequencyCounter], part: usize, parts: usize) -> Vec<(u64, u32)> {
    let bound = |part: usize| ((part as u128) << 64) / parts as u128;
    let mut all = Vec::new();
    for FrequencyCounter { counted, .. } in counters {
        let [start, end] = [part, part + 1]
            .map(|part| counted.partition_point(|&(term, _)| u128::from(term) < bound(part)));
        all.extend_from_slice(&counted[start..end]);
    }
    all.sort_unstable_by_key(|&(term, _)| term);
    let runs = all.chunk_by(|one, other| one.0 == other.0);
    let sums = runs.map(|run| (run[0].0, run.iter().map(|&(_, documents)| documents).sum()));
    sums.filter(|&(_, documents)| documents > UNKNOWN).collect()
}

/// The inverse document frequency of a term in `df` of `documents`, an integer:
/// 1024 × ln((n + 1) / (df + 1)), rounded half up, and 1.
#[must_use]
#[expect(clippy::cast_sign_loss, reason = "it is not below 0")]
pub fn idf(documents: u64, df: u32) -> u32 {
    let ratio = (documents as f64 + 1.0) / (f64::from(df) + 1.0);
    (1024.0 * ratio.ln() + 0.5).floor().max(0.0) as u32 + 1
}

/// In how many documents of a collection each term is, and what it weighs for that.
///
/// The weights are computed once and then stored with the rest: a logarithm differs in the last bit
/// between platforms.
///
/// # References
///
/// O. Amble, D. Knuth. Ordered hash tables. The Computer Journal 17(2), 1974.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frequencies {
    documents: u64,
    unknown_idf: u32,
    /// Number of terms of two documents or more.
    len: usize,
    /// These, ascending, with gaps between: each stands at its [place](place), or behind it if
    /// smaller ones took that. A gap is last.
    table: Vec<Known>,
}

/// A term with its number of documents and its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    term: u64,
    df: u32,
    idf: u32,
}

impl Known {
    /// None: no term is in no document.
    const GAP: Self = Self { term: u64::MAX, df: 0, idf: 0 };
}

impl Default for Frequencies {
    /// Of no document.
    fn default() -> Self {
        Self::new(&[], Vec::new())
    }
}

impl Frequencies {
    /// Those of what the counters counted, of which `merged` holds the
    /// [parts](merged) in order.
    #[must_use]
    pub fn new(counters: &[FrequencyCounter], merged: Vec<Vec<(u64, u32)>>) -> Self {
        let documents = counters.iter().map(|counter| counter.documents).sum();
        // Few numbers of documents come often.
        let mut known = vec![None; 1 << 12];
        let mut of_df = |df: u32| match known.get_mut(df as usize) {
            Some(known) => *known.get_or_insert_with(|| idf(documents, df)),
            None => idf(documents, df),
        };
        let len = merged.iter().map(Vec::len).sum();
        let terms = merged.into_iter().flatten();
        let known = terms.map(|(term, df)| Known { term, df, idf: of_df(df) });
        Self::of_terms(documents, idf(documents, UNKNOWN), len, known)
    }

    /// Those of `len` ascending terms.
    fn of_terms(
        documents: u64,
        unknown_idf: u32,
        len: usize,
        terms: impl Iterator<Item = Known>,
    ) -> Self {
        let mut table = Vec::with_capacity(places(len) + 1);
        for known in terms {
            let place = table.len().max(place(known.term, len));
            table.resize(place, Known::GAP);
            table.push(known);
        }
        table.resize(table.len().max(places(len)) + 1, Known::GAP);
        Self { documents, unknown_idf, len, table }
    }

    /// The terms of two documents or more.
    fn known(&self) -> impl Iterator<Item = &Known> {
        self.table.iter().filter(|known| known.df > 0)
    }

    /// Number of documents of the collection.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Number of terms of two documents or more.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no term is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// In how many documents a term is, and its [idf](idf()); of an unknown one as if it were in one.
    ///
    /// # Complexity
    ///
    /// O(1) for terms that are hashes.
    #[inline]
    #[must_use]
    pub fn of(&self, term: u64) -> (u32, u32) {
        // A branch that goes wrong costs more than to look at a few.
        let mut at = place(term, self.len);
        let near = self.table[at..].first_chunk::<TOGETHER>();
        at += near.map_or(0, |near| near.iter().map(|known| usize::from(known.term < term)).sum());
        while self.table[at].term < term {
            at += 1;
        }
        let Known { term: found, df, idf } = self.table[at];
        let is_known = u32::from(found == term && df > 0).wrapping_neg();
        (df & is_known | UNKNOWN & !is_known, idf & is_known | self.unknown_idf & !is_known)
    }

    /// Fetches what [`Self::of`] looks at into the caches.
    #[inline]
    pub(super) fn prefetch(&self, term: u64) {
        prefetch(&self.table, place(term, self.len));
    }

    /// What a store keeps, as numbers with the lowest byte first: of documents, of terms, and the
    /// weight of an unknown term; the terms, their numbers of documents, and their weights.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let Self { documents, unknown_idf, len, .. } = self;
        bytes.reserve(20 + len * STORED_BYTES);
        bytes.extend(documents.to_le_bytes());
        bytes.extend((*len as u64).to_le_bytes());
        bytes.extend(unknown_idf.to_le_bytes());
        bytes.extend(self.known().flat_map(|known| known.term.to_le_bytes()));
        bytes.extend(self.known().flat_map(|known| known.df.to_le_bytes()));
        bytes.extend(self.known().flat_map(|known| known.idf.to_le_bytes()));
    }

    /// What [`Self::write`] wrote, if it is that.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (documents, bytes) = bytes.split_first_chunk()?;
        let (length, bytes) = bytes.split_first_chunk()?;
        let (unknown_idf, bytes) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        if length.checked_mul(STORED_BYTES)? != bytes.len() {
            return None;
        }
        let (terms, numbers) = bytes.split_at(length * 8);
        let (dfs, idfs) = numbers.split_at(length * 4);
        let numbers = dfs.as_chunks().0.iter().zip(idfs.as_chunks().0);
        let known = terms.as_chunks().0.iter().zip(numbers).map(|(&term, (&df, &idf))| Known {
            term: u64::from_le_bytes(term),
            df: u32::from_le_bytes(df),
            idf: u32::from_le_bytes(idf),
        });
        let (documents, unknown_idf) =
            (u64::from_le_bytes(*documents), u32::from_le_bytes(*unknown_idf));
        let is_valid = known.clone().all(|known| known.df > 0)
            && known.clone().is_sorted_by(|one, other| one.term < other.term);
        is_valid.then(|| Self::of_terms(documents, unknown_idf, length, known))
    }

    /// Those of ascending terms with their numbers of documents and weights.
    #[cfg(test)]
    pub(super) fn of_known(documents: u64, known: &[(u64, u32, u32)]) -> Self {
        let terms = known.iter().map(|&(term, df, idf)| Known { term, df, idf });
        Self::of_terms(documents, idf(documents, UNKNOWN), known.len(), terms)
    }
}

/// Places of a table of so many terms, of which two in three are taken.
fn places(terms: usize) -> usize {
    terms + terms / 2 + 1
}

/// Where a term stands in a table of so many terms, if no other does.
#[inline(always)]
fn place(term: u64, terms: usize) -> usize {
    // Below the number of places, since the product is below that × 2^64.
    ((u128::from(term) * places(terms) as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn learned(documents: &[BTreeSet<u64>], workers: usize, parts: usize) -> Frequencies {
        let mut counters: Vec<_> = (0..workers).map(|_| FrequencyCounter::default()).collect();
        for (at, document) in documents.iter().enumerate() {
            let terms: Vec<u64> = document.iter().copied().collect();
            let counter = &mut counters[at % workers];
            counter.add(&terms);
            if at % 3 == 0 {
                counter.merge();
            }
        }
        let counters: Vec<_> = counters.into_iter().map(FrequencyCounter::finished).collect();
        Frequencies::new(&counters, (0..parts).map(|part| merged(&counters, part, parts)).collect())
    }

    #[test]
    fn idf_is_an_integer() {
        assert_eq!([(4, 4), (4, 2), (0, 1)].map(|(n, df)| idf(n, df)), [1, 524, 1]);
        assert_eq!(idf(1_000_000, 1), 13_438);
    }

    proptest! {
        #[test]
        fn any_division_among_workers_gives_the_same(
            documents in proptest::collection::vec(
                proptest::collection::btree_set((0..60_u64).prop_map(mix), 0..20), 0..40,
            ),
        ) {
            let mut expected = BTreeMap::new();
            for &term in documents.iter().flatten() {
                *expected.entry(term).or_insert(0) += 1;
            }
            let one = learned(&documents, 1, 1);
            let n = documents.len() as u64;
            prop_assert_eq!(one.documents(), n);
            prop_assert_eq!(one.len(), expected.values().filter(|&&df| df > 1).count());
            for term in (0..70).map(mix) {
                let df = expected.get(&term).copied().unwrap_or(1);
                prop_assert_eq!(one.of(term), (df, idf(n, df)));
            }
            let mut bytes = Vec::new();
            one.write(&mut bytes);
            prop_assert!(Frequencies::read(&bytes).is_some_and(|read| read == one));
            prop_assert_eq!(Frequencies::read(&bytes[..bytes.len() - 1]), None);
            for workers in 2..5 {
                prop_assert_eq!(&learned(&documents, workers, 7 - workers), &one);
            }
        }
    }
}
