//! Groups of rows with equal fingerprints. A join finds them first, so that g equal rows are one group instead of about
//! g² / 2 pairs.

use crate::Rows;
use crate::parallel_partition::partition;
use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::memory_ledger::Ledger;
use simtool_compute::tasks;
use simtool_kernels::partition::{BlockHash, Parts, counts_to_starts};
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::groups::Groups;
use std::ops::Range;
use std::sync::Mutex;

/// Maximum number of hash bits by which rows are partitioned before each part is grouped.
const PARTITION_BITS: u32 = 8;
/// Description of the memory for groups. Out-of-memory messages contain it.
pub(super) const GROUPS: &str = "the groups of equal fingerprints";
/// Value of an empty slot of a hash table.
pub(super) const NONE: u32 = u32::MAX;

/// The different fingerprints, and the rows that have each of them.
#[derive(Debug)]
pub struct EqualGroups<L> {
    /// The rows of each different fingerprint.
    pub groups: Groups,
    values: LargeBuffer<L>,
    /// Scratch memory of the grouping, which the join can use again.
    pub(super) spare: Option<(LargeBuffer<L>, LargeBuffer<u32>)>,
}

impl<L: Fingerprint> EqualGroups<L> {
    /// Returns the different fingerprints, in the order of the groups.
    #[must_use]
    pub(crate) fn values(&self) -> &[L] {
        &self.values
    }
}

/// Returns the number of pairs of rows that are in the same group.
#[must_use]
pub(crate) fn equal_pairs(groups: &Groups) -> u64 {
    let pairs = |group| {
        let size = u64::from(groups.size(group));
        size * (size - 1) / 2
    };
    (0..groups.len() as u32).into_par_iter().with_min_len(1 << 14).map(pairs).sum()
}

/// Groups the rows with equal fingerprints. Rows without a fingerprint belong to no group.
///
/// ```
/// use simtool_hamming::Rows;
/// use simtool_base::memory_ledger::Ledger;
/// use simtool_hamming::grouping::group;
///
/// let equal = group(Rows::all(&[5_u64, 8, 5]), &Ledger::new(u64::MAX))?;
/// assert_eq!(equal.groups.len(), 2);
/// assert_eq!(equal.groups.size(0) + equal.groups.size(1), 3);
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
///
/// # Errors
///
/// There is too little memory.
///
/// # Panics
///
/// There are 2³² − 1 rows or more, or the number of validity bits differs from the number of rows.
///
/// # Complexity
///
/// O(n): one partition of all rows, then a hash table for each part, which fits into a cache.
pub fn group<L: Fingerprint>(rows: Rows<'_, L>, ledger: &Ledger) -> Result<EqualGroups<L>> {
    let row_count = rows.fingerprints.len();
    assert!(u32::try_from(row_count).is_ok_and(|n| n < NONE), "row numbers are 32 bits wide");
    assert!(rows.validity.is_none_or(|v| v.len() == row_count), "a validity bit for each row");
    let mut values = LargeBuffer::<L>::try_zeroed(row_count, GROUPS)?.entered_in(ledger);
    let mut numbers = LargeBuffer::<u32>::try_zeroed(row_count, GROUPS)?.entered_in(ledger);
    let (starts, bits) = partition_equal(rows, &mut values, &mut numbers);
    let mut group_starts = LargeBuffer::<u32>::try_zeroed(row_count, GROUPS)?.entered_in(ledger);
    let counts = group_parts(&starts, bits, &mut values, &mut numbers, &mut group_starts);
    compact(&starts, &counts, (values, numbers, group_starts), ledger)
}

/// Partitions the rows that have a fingerprint by a hash, so that equal rows are in the same part.
/// Writes their fingerprints to `values` and their row numbers to `numbers`. Returns the start of each
/// part in these arrays, followed by the end of the last part. Also returns the number of hash bits
/// that determine a part.
pub(super) fn partition_equal<L: Fingerprint>(
    rows: Rows<'_, L>,
    values: &mut [L],
    numbers: &mut [u32],
) -> (Vec<usize>, u32) {
    let row_count = rows.fingerprints.len();
    // Parts of about a thousand rows, whose hash tables stay in the first caches.
    let bits = (row_count >> 10).max(2).ilog2().min(PARTITION_BITS);
    let hash = BlockHash::new(!L::ZERO, 0, bits);
    let starts = match rows.validity {
        None => {
            let records = |range: Range<usize>| {
                (range.start as u32..)
                    .zip(&rows.fingerprints[range])
                    .map(|(row, &fingerprint)| (fingerprint, row))
            };
            partition(row_count, records, &hash, values, numbers)
        }
        Some(validity) => {
            let records = |range: Range<usize>| {
                (range.start as u32..)
                    .zip(&rows.fingerprints[range])
                    .filter(|(row, _)| validity.has_value(*row as usize))
                    .map(|(row, &fingerprint)| (fingerprint, row))
            };
            partition(row_count, records, &hash, values, numbers)
        }
    };
    (starts, bits)
}

/// Cuts `slice` into parts. Part i begins at index `starts[i]` and ends before `starts[i + 1]`.
pub(super) fn cut<'a, T>(mut slice: &'a mut [T], starts: &[usize]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(starts.len());
    for pair in starts.windows(2) {
        let (part, rest) = slice.split_at_mut(pair[1] - pair[0]);
        parts.push(part);
        slice = rest;
    }
    parts
}

/// Groups the rows of each part in place. Part i begins at index `starts[i]` and ends before
/// `starts[i + 1]`. Rows are in the same part if their hashes agree in `bits` bits. The different
/// fingerprints move to the start of the part. `numbers` then holds the row numbers group by group,
/// and `group_starts` the start of each group. Returns the number of groups of each part.
fn group_parts<W: Fingerprint>(
    starts: &[usize],
    bits: u32,
    values: &mut [W],
    numbers: &mut [u32],
    group_starts: &mut [u32],
) -> Vec<usize> {
    let scratch = Mutex::new(Vec::<GroupingScratch>::new());
    let parts = cut(values, starts)
        .into_iter()
        .zip(cut(numbers, starts))
        .zip(cut(group_starts, starts))
        .zip(starts);
    tasks::map_items(parts.collect(), |(((values, numbers), group_starts), &start)| {
        // Takes scratch memory that no other thread uses now, or creates it if there is none.
        let idle = scratch.lock().ok().and_then(|mut idle| idle.pop());
        let mut own = idle.unwrap_or_default();
        let count = own.group(bits, start, values, numbers, group_starts);
        if let Ok(mut idle) = scratch.lock() {
            idle.push(own);
        }
        count
    })
}

#[derive(Default)]
struct GroupingScratch {
    /// Hash table with open addressing. A slot holds the number of a group, or [`NONE`] if it is empty. There is one
    /// table at a time, for the rows of one part of the partition.
    table: Vec<u32>,
    /// Group number of each row in the part of the partition that is being grouped.
    groups: Vec<u32>,
    /// Copy of the row numbers of the part before they are sorted by group.
    numbers: Vec<u32>,
}

impl GroupingScratch {
    #[inline(never)]
    fn group<W: Fingerprint>(
        &mut self,
        used_bits: u32,
        start: usize,
        values: &mut [W],
        numbers: &mut [u32],
        sizes: &mut [u32],
    ) -> usize {
        let table_bits = (2 * values.len()).max(2).next_power_of_two().ilog2();
        let hash = BlockHash::new(!W::ZERO, used_bits, table_bits);
        let table_mask = (1usize << table_bits) - 1;
        self.table.clear();
        // At most half of the slots are filled, so a search ends soon.
        self.table.resize(table_mask + 1, NONE);
        self.groups.clear();
        let table = &mut self.table[..=table_mask];
        let mut count = 0;
        for record in 0..values.len() {
            let value = values[record];
            let mut slot = hash.part(value) & table_mask;
            let group = loop {
                let group = table[slot];
                if group == NONE {
                    // A new value. The element of `values` that it replaces was read before, because
                    // `count <= record`.
                    table[slot] = count as u32;
                    values[count] = value;
                    sizes[count] = 0;
                    count += 1;
                    break count - 1;
                }
                if values[group as usize] == value {
                    break group as usize;
                }
                slot = (slot + 1) & table_mask;
            };
            // Below, the sizes become the starts of the groups, and then their ends.
            sizes[group] += 1;
            self.groups.push(group as u32);
        }
        counts_to_starts(&mut sizes[..count], 0);
        // If no two rows are equal, the rows are in the order of their groups already.
        if count < numbers.len() {
            self.numbers.clear();
            self.numbers.extend_from_slice(numbers);
            for (&group, &number) in self.groups.iter().zip(&self.numbers) {
                let place = &mut sizes[group as usize];
                numbers[*place as usize] = number;
                *place += 1;
            }
            // Each element has advanced to the end of its group, which is the start of the next group.
            sizes.copy_within(..count - 1, 1);
            sizes[0] = 0;
        }
        for place in &mut sizes[..count] {
            *place += start as u32;
        }
        count
    }
}

/// Copies the groups of all parts into arrays without gaps between the parts. A part holds the rows with the same hash
/// bits. `starts` has the start of each part and the end of the last one, and `counts` the number of groups of each
/// part.
fn compact<W: Fingerprint>(
    starts: &[usize],
    counts: &[usize],
    (values, numbers, group_starts): (LargeBuffer<W>, LargeBuffer<u32>, LargeBuffer<u32>),
    ledger: &Ledger,
) -> Result<EqualGroups<W>> {
    let mut firsts = Vec::with_capacity(counts.len() + 1);
    let mut count = 0;
    for part in counts {
        firsts.push(count);
        count += part;
    }
    firsts.push(count);
    let mut dense_values = LargeBuffer::<W>::try_zeroed(count, GROUPS)?.entered_in(ledger);
    let mut dense_starts = LargeBuffer::<u32>::try_zeroed(count + 1, GROUPS)?.entered_in(ledger);
    dense_starts[count] = starts[starts.len() - 1] as u32;
    let parts = cut(&mut dense_values, &firsts)
        .into_iter()
        .zip(cut(&mut dense_starts, &firsts))
        .zip(starts);
    tasks::map_items(parts.collect(), |((dense_values, dense_starts), &start)| {
        dense_values.copy_from_slice(&values[start..start + dense_values.len()]);
        dense_starts.copy_from_slice(&group_starts[start..start + dense_starts.len()]);
    });
    Ok(EqualGroups {
        groups: Groups::new(dense_starts, numbers, count),
        values: dense_values,
        spare: Some((values, group_starts)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_table::Wide;
    use simtool_model::validity::Validity;
    use std::collections::BTreeMap;

    fn check<L: Fingerprint>(fingerprints: &[L], validity: Option<&Validity>) {
        let mut expected = BTreeMap::<L, Vec<u32>>::new();
        for (row, &fingerprint) in fingerprints.iter().enumerate() {
            if validity.is_none_or(|validity| validity.has_value(row)) {
                expected.entry(fingerprint).or_default().push(row as u32);
            }
        }
        let EqualGroups { groups, values, .. } =
            group(Rows { fingerprints, validity }, &Ledger::new(0)).unwrap();
        assert_eq!(groups.len(), expected.len());
        let found: BTreeMap<_, _> = (0..groups.len() as u32)
            .map(|group| (values[group as usize], groups.rows(group).to_vec()))
            .collect();
        assert_eq!(found, expected);
        let equal: u64 =
            expected.values().map(|rows| (rows.len() * (rows.len() - 1) / 2) as u64).sum();
        assert_eq!(equal_pairs(&groups), equal);
    }

    #[test]
    fn equal_rows_come_together_and_rows_without_fingerprint_stay_out() {
        for rows in [0usize, 1, 2, 1000, 40_000] {
            let fingerprints: Vec<u64> =
                (0..rows as u64).map(|i| (((i * i) % 997) << 40) | (i % 3)).collect();
            check(&fingerprints, None);
            let mut validity = Validity::all(rows);
            (0..rows).step_by(3).for_each(|row| validity.clear(row));
            check(&fingerprints, Some(&validity));
            check(
                &fingerprints
                    .iter()
                    .map(|&fingerprint| Wide([fingerprint << 30, fingerprint >> 34]))
                    .collect::<Vec<_>>(),
                None,
            );
            check(
                &fingerprints
                    .iter()
                    .map(|&fingerprint| Wide([3, fingerprint, 0, 0]))
                    .collect::<Vec<_>>(),
                None,
            );
            check(
                &fingerprints.iter().map(|&fingerprint| fingerprint >> 40).collect::<Vec<_>>(),
                None,
            );
        }
    }
}
