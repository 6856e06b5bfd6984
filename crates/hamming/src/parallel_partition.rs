//! Partitions records with all threads, for arrays that do not fit into the caches.

use simtool_compute::tasks;
use simtool_kernels::partition::{Parts, SharedOutput, scatter_shared};
use simtool_model::fingerprint_table::Fingerprint;
use std::ops::Range;

/// Minimum number of records that one thread counts or moves at a time. With fewer records, clearing
/// its counters would take longer than handling the records.
const CHUNK_ROWS: usize = 1 << 14;

/// Records in two arrays. Record i is the fingerprint `values[i]` with the row or group number
/// `numbers[i]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberedValues<'a, W> {
    pub(super) values: &'a [W],
    pub(super) numbers: &'a [u32],
}

impl<W> NumberedValues<'_, W> {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn slice(&self, range: Range<usize>) -> Self {
        Self { values: &self.values[range.clone()], numbers: &self.numbers[range] }
    }
}

/// Partitions the records of all `rows` rows by `hash`, which returns the part of a fingerprint. Writes
/// the records to `out_values` and `out_numbers`, one part after the other. `records` returns the
/// records of a range of `0..rows`.
///
/// Returns the index of the first record of each part, followed by the total number of records as last
/// element.
///
/// Records of the same part keep their order, so the result does not depend on the number of threads.
///
/// # Complexity
///
/// O(n). Each record is requested twice.
pub(super) fn partition<W: Fingerprint, I: Iterator<Item = (W, u32)>>(
    rows: usize,
    records: impl Fn(Range<usize>) -> I + Sync,
    hash: &impl Parts<W>,
    out_values: &mut [W],
    out_numbers: &mut [u32],
) -> Vec<usize> {
    let chunk_count = (rows / CHUNK_ROWS).clamp(1, 4 * rayon::current_num_threads());
    let chunk = |i: usize| rows * i / chunk_count..rows * (i + 1) / chunk_count;
    // Each chunk counts its records of each part. The counts of all chunks determine where each chunk
    // writes its records. So the chunks can write at the same time, and the order stays.
    let mut next: Vec<Vec<u32>> = tasks::map(chunk_count, |i| {
        let mut counts = vec![0u32; hash.parts()];
        for (value, _) in records(chunk(i)) {
            counts[hash.part(value)] += 1;
        }
        counts
    });
    let mut starts = Vec::with_capacity(hash.parts() + 1);
    let mut place = 0;
    for part in 0..hash.parts() {
        starts.push(place as usize);
        for counts in &mut next {
            place += std::mem::replace(&mut counts[part], place);
        }
    }
    starts.push(place as usize);
    let out = SharedOutput::new(out_values, out_numbers);
    tasks::map_items(next.iter_mut().enumerate().collect(), |(i, next)| {
        scatter_shared(records(chunk(i)), hash, next, &out);
    });
    starts
}
