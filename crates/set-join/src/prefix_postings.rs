//! An index of prefixes, for finding the sets that can be similar to a set without comparing it with all of them.
//!
//! Terms have an order that is the same for all sets. The prefix of a set has its first terms. Two sets that share
//! enough terms share at least one term of their prefixes, because the terms behind the prefixes are too few. Terms
//! that no other set has are first in the order. They make prefixes shorter, and need no memory in the index. So copies
//! of a document with words of their own have short prefixes.
//!
//! The token of a term is a 32-bit number, and terms are sorted by their tokens. The index has a list of sets for each
//! bucket of tokens. It does not store the tokens, so a list can have sets without a common term. The comparison of
//! their sketches excludes such sets.
//!
//! # References
//! S. Chaudhuri, V. Ganti, R. Kaushik. A primitive operator for similarity joins in data cleaning. ICDE 2006.

use super::memory_texts::INDEX;
use super::sketches::SomeSets;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::context::Context;
use simtool_kernels::prefetch;
use std::ops::Range;

/// Number of sets from which the cost of looking up all sets is estimated.
const SAMPLED: usize = 4096;
/// Nanoseconds of a core for looking up a token, and for visiting a posting.
const NANOSECONDS_A_TOKEN: f64 = 20.0;
const NANOSECONDS_A_POSTING: f64 = 4.0;
/// Nanoseconds of a core for each posting while the index is made.
const NANOSECONDS_A_MADE_POSTING: f64 = 15.0;
/// Maximum of the average number of postings (entries of the index) in a bucket. Copies of a document have the same
/// tokens, so a bucket has fewer different tokens than postings.
const POSTINGS_A_BUCKET: usize = 4;
/// Number of tokens between the token that is looked up and the later token whose bucket is prefetched.
const AHEAD: usize = 8;

/// For each bucket of tokens, the sets that have one of these tokens among the first tokens of their prefixes. A token
/// is the 32-bit number of a term.
#[derive(Debug)]
pub(super) struct PrefixPostings {
    /// For each bucket, the index of its first posting. The last element is the number of postings.
    starts: LargeBuffer<u32>,
    /// Indices of sets in the list of sets for which the index was made. They ascend within a bucket.
    postings: LargeBuffer<u32>,
    /// Number of bits by which a hash is shifted to get a bucket.
    shift: u32,
}

impl PrefixPostings {
    /// Builds the index of `sets`. The possible partners of a larger set are found in it. Returns `None` if there are
    /// too many postings (entries of the index) for 32 bits.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn new(sets: &SomeSets<'_>, context: &Context<'_>) -> Result<Option<Self>> {
        let SomeSets { sketches, places } = sets;
        let prefixes = || places.iter().map(|&place| sketches.prefix_for_larger(place as usize));
        let count: usize = prefixes().map(<[u32]>::len).sum();
        if u32::try_from(count).is_err() {
            return Ok(None);
        }
        let bucket_bits = (count / POSTINGS_A_BUCKET).max(2).next_power_of_two().trailing_zeros();
        let (buckets, shift) = (1 << bucket_bits, u32::BITS - bucket_bits);
        let ledger = context.memory();
        let mut starts = LargeBuffer::try_zeroed(buckets + 1, INDEX)?.entered_in(ledger);
        let mut postings = LargeBuffer::try_zeroed(count, INDEX)?.entered_in(ledger);
        // Each thread has a range of the buckets, and looks through all tokens for those of its buckets.
        let of_thread = buckets.div_ceil(context.threads().count());
        let own_starts = starts[..buckets].chunks_mut(of_thread).enumerate().collect();
        context.threads().map(own_starts, |(number, starts): (usize, &mut [u32])| {
            let first = number * of_thread;
            for &token in prefixes().flatten() {
                if let Some(count) = starts.get_mut(bucket(token, shift).wrapping_sub(first)) {
                    *count += 1;
                }
            }
        });
        let mut end = 0;
        for bucket in &mut *starts {
            end += *bucket;
            *bucket = end;
        }
        // So far, each bucket has the index behind its last posting. The sets are inserted from the last one to the
        // first. Each set moves this index back by one. At the end, it is the index of the first posting.
        let mut work = Vec::new();
        let (mut rest, mut before) = (&mut *postings, 0);
        for (number, starts) in starts[..buckets].chunks_mut(of_thread).enumerate() {
            let end = starts.last().map_or(before, |&end| end as usize);
            let (own, others) = rest.split_at_mut(end - before);
            work.push((number * of_thread, starts, own, before));
            (rest, before) = (others, end);
        }
        context.threads().map(work, |(first, starts, postings, before)| {
            for (set, prefix) in (0..places.len() as u32).zip(prefixes()).rev() {
                for &token in prefix {
                    let Some(end) = starts.get_mut(bucket(token, shift).wrapping_sub(first)) else {
                        continue;
                    };
                    *end -= 1;
                    postings[*end as usize - before] = set;
                }
            }
        });
        Ok(Some(Self { starts, postings, shift }))
    }

    /// Returns the sets in the bucket of `token` whose indices are in the range `window`. They have `token`, or another
    /// token of the same bucket, among their first tokens.
    #[inline]
    fn of(&self, token: u32, window: &Range<usize>) -> &[u32] {
        let bucket = bucket(token, self.shift);
        let postings =
            &self.postings[self.starts[bucket] as usize..self.starts[bucket + 1] as usize];
        let start = postings.partition_point(|&set| (set as usize) < window.start);
        let postings = &postings[start..];
        &postings[..postings.partition_point(|&set| (set as usize) < window.end)]
    }

    /// Estimates the nanoseconds that one core takes to build the index and to look up all of `sets` in it. `window`
    /// returns for a set the range of the sets that have a suitable size for a similar set.
    pub(super) fn nanoseconds(
        &self,
        sets: &SomeSets<'_>,
        window: impl Fn(u32) -> Range<usize>,
    ) -> f64 {
        let SomeSets { sketches, places } = sets;
        let step = places.len().div_ceil(SAMPLED).max(1);
        let mut of_sample = 0.0;
        for &place in places.iter().step_by(step) {
            let window = window(place);
            for &token in sketches.prefix(place as usize) {
                let postings = self.of(token, &window).len();
                of_sample += NANOSECONDS_A_TOKEN + NANOSECONDS_A_POSTING * postings as f64;
            }
        }
        of_sample * step as f64 + NANOSECONDS_A_MADE_POSTING * self.postings.len() as f64
    }

    /// Returns the sets in the range `window` that have a token of `prefix` among the first tokens of their own
    /// prefixes. Tokens share buckets, so the result can also have sets without a common token. `found` is a buffer.
    pub(super) fn look_up<'f>(
        &self,
        prefix: &[u32],
        window: &Range<usize>,
        found: &'f mut FoundSets,
    ) -> &'f [u32] {
        found.clear();
        for (at, &token) in prefix.iter().enumerate() {
            // First the index of a posting is loaded, and then the posting, so that both are there when they are used.
            if let Some(&later) = prefix.get(at + 2 * AHEAD) {
                prefetch(&self.starts, bucket(later, self.shift));
            }
            if let Some(&later) = prefix.get(at + AHEAD) {
                prefetch(&self.postings, self.starts[bucket(later, self.shift)] as usize);
            }
            for &set in self.of(token, window) {
                if found.marks.insert(set) {
                    found.sets.push(set);
                }
            }
        }
        &found.sets
    }
}

/// Returns the index of the bucket of a token. It has the upper 32 - `shift` bits of the product of the token with an
/// odd number.
#[inline]
fn bucket(token: u32, shift: u32) -> usize {
    // The tokens of prefixes are small numbers, and the upper bits of the product depend on all bits.
    (token.wrapping_mul(0x9e37_79b1) >> shift) as usize
}

/// Buffers of a worker thread for the sets that a lookup has found. `marks` has the same numbers as `sets`, so that no
/// set is listed twice.
#[derive(Debug, Default)]
pub(super) struct FoundSets {
    sets: Vec<u32>,
    marks: Marks,
}

impl FoundSets {
    /// Removes all sets.
    fn clear(&mut self) {
        for set in self.sets.drain(..) {
            self.marks.remove(set);
        }
    }
}

/// Some numbers, stored as a bit set with one bit for each number.
#[derive(Debug, Default)]
struct Marks(Vec<u64>);

impl Marks {
    /// Inserts a number, and returns whether it was not in the set.
    #[inline]
    fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if word >= self.0.len() {
            self.0.resize((word + 1).next_power_of_two(), 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    fn remove(&mut self, number: u32) {
        self.0[number as usize / 64] &= !(1 << (number % 64));
    }
}
