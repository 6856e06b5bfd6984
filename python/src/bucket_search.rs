//! The search for close pairs among the fingerprints of one bucket.

use crate::bucket_keys::BucketKeys;
use simtool::Resources;
use simtool::progress::NoProgress;
use simtool::run::join_fingerprints::{list_pairs, plan_join};
use simtool::stages::context::Context;
use simtool::stages::fingerprint_rows::{FingerprintRows, Metric};
use simtool::stages::kernels::hamming_pairs::{Candidates, PairSearch, near_pairs_64};
use simtool::stages::matches::ValuePair;
use simtool::stages::sides::Sides;
use std::collections::BTreeSet;

/// If a bucket has at most this many fingerprints, every two of them are compared. A larger bucket is joined like the
/// fingerprints of a run on one machine, which divides the bucket further.
const FEW: usize = 1 << 10;

/// Search for pairs of close fingerprints, in one bucket after the other. `found` has the pairs so far.
pub(crate) struct ClosePairSearch<'s> {
    keys: &'s BucketKeys,
    resources: &'s Resources,
    given: &'s FingerprintRows<'s>,
    full: &'s BTreeSet<u32>,
    candidates: Candidates,
    pub(crate) found: Vec<ValuePair>,
}

impl<'s> ClosePairSearch<'s> {
    pub(crate) fn new(
        keys: &'s BucketKeys,
        resources: &'s Resources,
        given: &'s FingerprintRows<'s>,
        full: &'s BTreeSet<u32>,
    ) -> Self {
        let (candidates, found) = Default::default();
        Self { keys, resources, given, full, candidates, found }
    }

    /// Finds the pairs of close fingerprints in the bucket with number `bucket`, and adds them to `found`. `run` has
    /// the row numbers of its fingerprints. If `sides` is given, it has the side of each row, and a pair has one row of
    /// side 0 and one row of another side.
    pub(crate) fn run(
        &mut self,
        bucket: u32,
        run: Vec<u32>,
        sides: Option<&[i64]>,
    ) -> simtool::Result<()> {
        let (first, second) = match sides {
            None => (run, None),
            Some(sides) => {
                let (first, second): (Vec<u32>, Vec<u32>) =
                    run.into_iter().partition(|&row| sides[row as usize] == 0);
                (first, Some(second))
            }
        };
        let others = second.as_ref().unwrap_or(&first);
        // A small bucket is compared directly: planning a join would take longer.
        let is_large = first.len().max(others.len()) > FEW;
        let is_some = !first.is_empty() && !others.is_empty();
        // The join may be impossible to plan. Then the ways below compare the bucket.
        if is_large
            && is_some
            && let Some(found) = self.joined(&first, second.as_deref())?
        {
            for pair in found {
                self.take(bucket, first[pair.a as usize], others[pair.b as usize]);
            }
            return Ok(());
        }
        if second.is_none()
            && self.keys.shape.metric() == Metric::Bits
            && self.given.shape.words() == 1
        {
            let words: Vec<u64> = first.iter().map(|&row| self.given.words[row as usize]).collect();
            let mut near = Vec::new();
            let mut sink = |rows: &[u32], columns: &[u32]| {
                near.extend(rows.iter().copied().zip(columns.iter().copied()));
            };
            let search = PairSearch {
                words: &words,
                rows: 0..words.len(),
                first_column: 0,
                max_distance: self.keys.distance,
            };
            near_pairs_64(search, self.resources.isa, &mut self.candidates, &mut sink);
            for (a, b) in near {
                self.take(bucket, first[a as usize], first[b as usize]);
            }
            return Ok(());
        }
        for (place, &a) in first.iter().enumerate() {
            // Within one side each pair is compared once, from its first row.
            let behind = if second.is_some() { 0 } else { place + 1 };
            others[behind..].iter().for_each(|&b| self.take(bucket, a, b));
        }
        Ok(())
    }

    /// Finds the close pairs of many rows with the join of a run on one machine. If `second` is given, each pair has a
    /// row of `first` and a row of `second`. Returns `None` if the join cannot be planned, for example because all rows
    /// are within the distance.
    fn joined(
        &self,
        first: &[u32],
        second: Option<&[u32]>,
    ) -> simtool::Result<Option<Vec<ValuePair>>> {
        let gathered = |rows: &[u32]| {
            let words =
                rows.iter().flat_map(|&number| row(self.given, number as usize).iter().copied());
            let words: Vec<u64> = words.collect();
            FingerprintRows {
                shape: self.given.shape,
                words: words.into(),
                validity: None,
                recipe: None,
            }
        };
        let (resources, distance) = (self.resources, self.keys.distance);
        let first = gathered(first);
        let second = second.map(gathered);
        let rows = match &second {
            None => Sides::One(&first),
            Some(second) => Sides::Two(&first, second),
        };
        let Ok(plan) = plan_join(rows, distance, None, resources.memory) else { return Ok(None) };
        list_pairs(rows, &plan, &Context::with_pool(resources, &NoProgress)?).map(Some)
    }

    /// Adds the pair of rows `a` and `b` if they are close, and `bucket` is the first bucket that they share. So a pair
    /// that is in several buckets is added only once.
    fn take(&mut self, bucket: u32, a: u32, b: u32) {
        let (one, other) = (row(self.given, a as usize), row(self.given, b as usize));
        let distance = self.keys.shape.distance(one, other);
        if distance <= self.keys.distance
            && self.keys.first_bucket(one, other, self.full) == Some(bucket)
        {
            self.found.push(ValuePair { a, b, distance });
        }
    }
}

/// Returns the 64-bit words of the fingerprint with index `number`.
pub(crate) fn row<'r>(rows: &'r FingerprintRows<'_>, number: usize) -> &'r [u64] {
    let words = rows.shape.words();
    &rows.words[number * words..][..words]
}
