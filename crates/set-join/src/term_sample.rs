//! Estimates how common terms are, from the terms of a sample of the documents.

use super::memory_texts::TERMS;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::stable_hash::mix;
use std::sync::{Mutex, PoisonError};

/// Approximate number of terms of the sampled documents.
const SAMPLED_TERMS: u64 = 1 << 21;
/// Number of bits of a term that choose its counter. The counters are bytes, and most of them are in a cache.
const COUNTER_BITS: u32 = 22;
/// Number of lower bits of a token, which are bits of the term. The upper bits are a level, which shows how common the
/// term is.
const HASH_BITS: u32 = 28;

/// Counts the terms of some documents. Several terms share a counter.
#[derive(Debug)]
pub(super) struct TermSample {
    counts: Mutex<LargeBuffer<u8>>,
    /// One in this many documents is in the sample.
    one_in: u64,
}

impl TermSample {
    /// Creates an empty sample of documents that have about `terms` terms in total.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn new(terms: u64) -> Result<Self> {
        let counts = Mutex::new(LargeBuffer::try_zeroed(1 << COUNTER_BITS, TERMS)?);
        Ok(Self { counts, one_in: terms.div_ceil(SAMPLED_TERMS).max(1) })
    }

    /// Counts the terms of the document with number `index` in shard number `shard`, if the document is in the sample.
    pub(super) fn add(&self, shard: usize, index: u32, terms: &[u64]) {
        if !mix((shard as u64) << 32 | u64::from(index)).is_multiple_of(self.one_in) {
            return;
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for &term in terms {
            let count = &mut counts[counter(term)];
            *count = count.saturating_add(1);
        }
    }

    /// Ends the counting. Returns the order of terms that follows from the counts.
    pub(super) fn counted(self) -> TermOrder {
        TermOrder { counts: self.counts.into_inner().unwrap_or_else(PoisonError::into_inner) }
    }
}

/// The order of terms in prefixes: rare terms come before common ones.
#[derive(Debug)]
pub(super) struct TermOrder {
    counts: LargeBuffer<u8>,
}

impl TermOrder {
    /// Returns the token of a term, which is the number by which terms are sorted. Its upper bits are a level that
    /// grows with the logarithm of the count of the term. The lower bits are bits of the term, so different terms
    /// seldom have the same token.
    #[inline]
    pub(super) fn token(&self, term: u64) -> u32 {
        let level = u32::from(self.counts[counter(term)] | 1).ilog2();
        level << HASH_BITS | term as u32 & ((1 << HASH_BITS) - 1)
    }
}

/// Returns the index of the counter of a term.
fn counter(term: u64) -> usize {
    (term >> (u64::BITS - COUNTER_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_terms_come_last() {
        let sample = TermSample::new(1000).unwrap();
        for document in 0..100 {
            sample.add(0, document, &[mix(1), mix(1000 + u64::from(document))]);
        }
        let order = sample.counted();
        let rare = (0..100).map(|document| order.token(mix(1000 + document)));
        assert!(rare.max().unwrap() < order.token(mix(1)));
        // Few documents of a large collection are counted.
        let sample = TermSample::new(SAMPLED_TERMS * 1000);
        let sample = sample.unwrap();
        (0..10_000).for_each(|document| sample.add(3, document, &[mix(1)]));
        let count = sample.counted().counts[counter(mix(1))];
        assert!((1..30).contains(&count), "{count}");
    }
}
