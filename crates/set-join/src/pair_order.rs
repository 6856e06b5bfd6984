//! Sorts pairs of row numbers.
//!
//! There are many more pairs than rows. They were found by all threads and are in several lists.
//! The lists are divided into groups of neighbouring lists, called shares. Each thread takes one
//! share after the other and distributes its pairs into buckets of pairs with nearby first rows.
//! Then each bucket is sorted by itself with a radix sort in a cache.

use crate::close::SetPair;
use bytemuck::Pod;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::context::Context;
use simtool_kernels::partition::counts_to_starts;
use simtool_model::matches::ValuePair;
use std::ops::Deref;

/// Description of the memory for pairs. Out-of-memory messages contain it.
pub(super) const PAIRS: &str = "the pairs of documents";

/// Two documents that may be similar, as row numbers. The smaller number comes first.
pub(super) type Candidate = [u32; 2];

/// A pair of row numbers. The first row is the smaller one, or the row of the first collection.
pub trait RowPair: Pod + Send + Sync {
    /// Returns the two row numbers.
    fn rows(&self) -> [u32; 2];

    /// Returns the same pair with other row numbers.
    #[must_use]
    fn with_rows(self, rows: [u32; 2]) -> Self;

    /// Returns both rows as one number, with the first row in the upper half. These numbers have the
    /// same order as the pairs.
    fn key(&self) -> u64 {
        let [a, b] = self.rows();
        u64::from(a) << 32 | u64::from(b)
    }
}

impl RowPair for Candidate {
    fn rows(&self) -> [u32; 2] {
        *self
    }

    fn with_rows(self, rows: [u32; 2]) -> Self {
        rows
    }
}

impl RowPair for SetPair {
    fn rows(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn with_rows(self, [a, b]: [u32; 2]) -> Self {
        Self { a, b, ..self }
    }
}

impl RowPair for ValuePair {
    fn rows(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn with_rows(self, [a, b]: [u32; 2]) -> Self {
        Self { a, b, ..self }
    }
}

/// Number of ranges of row numbers. Pairs are divided into these ranges by their first row. Each bucket
/// has the pairs of some neighbouring ranges.
const RANGES: usize = 1 << 12;
/// Approximate number of buckets into which pairs are distributed by their first row. The pairs of one
/// bucket fit into the second-level cache.
const BUCKETS: usize = 256;
/// Number of shares for each thread. A share is a group of neighbouring lists of pairs. A thread
/// distributes the pairs of one share into buckets before it takes the next share.
const SHARES: usize = 2;
/// Number of values of a digit of the radix sort.
const DIGITS: usize = 256;
/// Maximum number of pairs that are sorted by comparisons instead of radix sort.
const FEW: usize = 256;

/// Sorts the pairs of several lists in ascending order. Equal pairs keep their order.
///
/// # Complexity
///
/// O(pairs).
///
/// # Errors
/// Not enough memory.
pub(super) fn in_order<P: RowPair>(
    parts: &[impl Deref<Target = [P]> + Sync],
    context: &Context<'_>,
) -> Result<LargeBuffer<P>> {
    let threads = context.threads();
    let all = parts.iter().map(|part| part.len()).sum();
    let mut pairs = LargeBuffer::try_zeroed(all, PAIRS)?.entered_in(context.memory());
    if all == 0 {
        return Ok(pairs);
    }
    let shares = shares(parts, all / (threads.count() * SHARES) + 1);
    let last_rows = threads.map(shares.clone(), |share| {
        share.iter().flat_map(|part| part.iter()).map(|pair| pair.rows()[0]).max()
    });
    let last_row = last_rows.into_iter().flatten().max().unwrap_or(0);
    let shift = (u32::BITS - last_row.leading_zeros()).saturating_sub(RANGES.ilog2());
    let counts = threads.map(shares.clone(), |share| range_counts(share, shift));
    let RangeBuckets { of_range, ends } = RangeBuckets::of_equal_size(&counts, all / BUCKETS);
    // Each share has pairs in each bucket.
    let bucket_counts: Vec<Vec<usize>> = (counts.into_iter())
        .map(|counts| {
            let mut buckets = vec![0; ends.len()];
            for (&bucket, count) in of_range.iter().zip(counts) {
                buckets[bucket] += count;
            }
            buckets
        })
        .collect();
    let rooms = divide(&mut pairs, ends.len(), &bucket_counts);
    threads.map(shares.into_iter().zip(rooms).collect(), |(share, rooms)| {
        distribute(share, rooms, |pair| of_range[range_of(pair, shift)]);
    });
    let mut rest = &mut pairs[..];
    let mut work = Vec::new();
    let mut start = 0;
    for end in ends {
        let (own, after) = rest.split_at_mut(end - start);
        work.push(own);
        (rest, start) = (after, end);
    }
    threads.map(work, put_in_order);
    Ok(pairs)
}

/// Returns the range of the first row number of `pair`. A range has 2^`shift` row numbers.
#[inline]
fn range_of<P: RowPair>(pair: &P, shift: u32) -> usize {
    (pair.rows()[0] >> shift) as usize
}

/// Returns for each range of row numbers the number of pairs of `share` whose first row is in the range. A range has
/// 2^`shift` row numbers, and a share is a group of lists of pairs.
fn range_counts<P: RowPair>(share: &[impl Deref<Target = [P]>], shift: u32) -> Vec<usize> {
    let mut counts = vec![0_usize; RANGES];
    for pair in share.iter().flat_map(|part| part.iter()) {
        counts[range_of(pair, shift)] += 1;
    }
    counts
}

/// Division of ranges of row numbers into buckets. A bucket has some neighbouring ranges.
struct RangeBuckets {
    /// For each range, its bucket.
    of_range: Vec<usize>,
    /// For each bucket, the number of pairs in it and in the buckets before it.
    ends: Vec<usize>,
}

impl RangeBuckets {
    /// Creates buckets with about the same number of pairs. Each bucket has more than `pairs` pairs,
    /// except the last. `counts` has the number of pairs of each share in each range.
    fn of_equal_size(counts: &[Vec<usize>], pairs: usize) -> Self {
        let mut of_range = vec![0; RANGES];
        let mut ends = Vec::new();
        let mut end = 0;
        for number in 0..RANGES {
            of_range[number] = ends.len();
            end += counts.iter().map(|counts| counts[number]).sum::<usize>();
            if end - ends.last().unwrap_or(&0) > pairs || number + 1 == RANGES {
                ends.push(end);
            }
        }
        Self { of_range, ends }
    }
}

/// Divides `pairs` into consecutive slices, called rooms: first by bucket, and within a bucket by share. A share is a
/// group of lists of pairs. Returns the rooms of each share, one for each bucket. `counts` has the number of pairs of
/// each share in each bucket.
fn divide<'p, P>(
    pairs: &'p mut [P],
    buckets: usize,
    counts: &[Vec<usize>],
) -> Vec<Vec<&'p mut [P]>> {
    let mut rooms: Vec<Vec<&mut [P]>> = counts.iter().map(|_| Vec::new()).collect();
    let mut rest = pairs;
    for bucket in 0..buckets {
        for (rooms, counts) in rooms.iter_mut().zip(counts) {
            let (own, after) = rest.split_at_mut(counts[bucket]);
            rooms.push(own);
            rest = after;
        }
    }
    rooms
}

/// Copies the pairs of a share, which is a group of lists, to the slices of their buckets. `rooms` has one slice per
/// bucket, and `bucket` returns the index of the bucket of a pair.
fn distribute<P: RowPair>(
    share: &[impl Deref<Target = [P]>],
    mut rooms: Vec<&mut [P]>,
    bucket: impl Fn(&P) -> usize,
) {
    for pair in share.iter().flat_map(|part| part.iter()) {
        let room = &mut rooms[bucket(pair)];
        // There is room for every pair, because the pairs were counted.
        if let Some((own, after)) = std::mem::take(room).split_first_mut() {
            *own = *pair;
            *room = after;
        }
    }
}

/// Divides `parts`, which are lists of pairs, into groups of neighbouring lists with about `pairs`
/// pairs each.
fn shares<P, T: Deref<Target = [P]>>(parts: &[T], pairs: usize) -> Vec<&[T]> {
    let mut shares = Vec::new();
    let mut start = 0;
    let mut inside = 0;
    for (number, part) in parts.iter().enumerate() {
        inside += part.len();
        if inside >= pairs || number + 1 == parts.len() {
            shares.push(&parts[start..=number]);
            (start, inside) = (number + 1, 0);
        }
    }
    shares
}

/// Sorts the pairs of a bucket in ascending order. Equal pairs keep their order.
fn put_in_order<P: RowPair>(pairs: &mut [P]) {
    let Some(first) = pairs.first().map(P::key) else { return };
    if pairs.len() <= FEW {
        pairs.sort_by_key(P::key);
        return;
    }
    // A digit in which no two pairs differ needs no pass.
    let differing = pairs.iter().fold(0, |differing, pair| differing | (pair.key() ^ first));
    let mut room = vec![P::zeroed(); pairs.len()];
    let mut from = pairs;
    let mut to = &mut room[..];
    let mut is_in_room = false;
    for shift in (0..u64::BITS).step_by(DIGITS.ilog2() as usize) {
        let digit = |pair: &P| (pair.key() >> shift) as usize % DIGITS;
        if (differing >> shift).is_multiple_of(DIGITS as u64) {
            continue;
        }
        let mut next = [0; DIGITS];
        for pair in &*from {
            next[digit(pair)] += 1;
        }
        counts_to_starts(&mut next, 0_usize);
        for pair in &*from {
            let next = &mut next[digit(pair)];
            to[*next] = *pair;
            *next += 1;
        }
        std::mem::swap(&mut from, &mut to);
        is_in_room = !is_in_room;
    }
    if is_in_room {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::progress::NoProgress;
    use simtool_base::stable_hash::mix;
    use simtool_compute::resources::Resources;

    #[test]
    fn pairs_of_many_parts_are_in_order() {
        let resources = Resources { threads: 3, ..Resources::default() };
        let pooled = Context::new(&resources, &NoProgress).unwrap();
        // Rows near each other, rows far from each other, and one row with most of the pairs.
        let rows: [fn(u64) -> u32; 3] = [
            |draw| (draw % 3_000) as u32,
            |draw| draw as u32,
            |draw| if draw.is_multiple_of(9) { u32::MAX - 7 } else { 70_000 },
        ];
        for row in rows {
            for count in [0, 1, 200, 100_000] {
                let pair = |number: u64| {
                    let [a, b] = [row(mix(number)), row(mix(number | 1 << 32))];
                    SetPair { a, b, shared: number as u32 }
                };
                let all: Vec<SetPair> = (0..count).map(pair).collect();
                let parts: Vec<Vec<SetPair>> = all.chunks(777).map(<[_]>::to_vec).collect();
                let mut expected = all;
                expected.sort_by_key(|pair| (pair.a, pair.b));
                for context in [&Context::default(), &pooled] {
                    assert!(*in_order(&parts, context).unwrap() == expected[..], "{count}");
                }
            }
        }
    }
}
