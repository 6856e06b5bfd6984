//! A table that numbers distinct runs.

use crate::candidates::RUNS;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::threads::Threads;
use simtool_kernels::prefetch;

/// Average number of runs that share a bucket of the table.
const RUNS_A_BUCKET: usize = 4;
/// Number of bits of the filter for each run. With so many, one of eight runs that the table lacks passes.
const BITS_A_RUN: usize = 8;
/// Number of runs that are looked up together, so that the processor loads their places at the same time.
const TOGETHER: usize = 64;

/// The runs of one slice of all hashes, numbered from 0 in ascending order.
#[derive(Debug)]
pub(crate) struct RunTable {
    slice: RunSlice,
    /// Hashes of the runs in ascending order. There may be unused room behind them.
    runs: LargeBuffer<u64>,
    /// Number of the runs.
    count: usize,
    /// Index in `runs` at which each bucket begins, and the number of all runs. A bucket has the runs of an equal share
    /// of the slice, so that a run is found in a few steps.
    starts: LargeBuffer<u32>,
    /// A bit set in which each run of the table sets one bit. It is small enough for a near cache, so most runs that are
    /// not in the table are found missing by one look.
    filter: LargeBuffer<u8>,
}

/// One of several slices of equal size, into which all hashes of runs are divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSlice {
    pub(crate) number: u64,
    pub(crate) slices: u64,
}

impl RunSlice {
    /// All hashes.
    pub(crate) const WHOLE: Self = Self { number: 0, slices: 1 };

    pub(crate) fn has(self, run: u64) -> bool {
        scaled(run, self.slices) == self.number
    }
}

/// Returns the place of a hash if all hashes are divided into `parts` equal parts.
fn scaled(run: u64, parts: u64) -> u64 {
    ((u128::from(run) * u128::from(parts)) >> 64) as u64
}

impl RunTable {
    /// Creates a table of the runs in `lists`, which are of `slice`, in any order and with repetitions.
    ///
    /// # Errors
    /// There are too many runs for numbers of 32 bits, or there is not enough memory.
    pub(crate) fn new(slice: RunSlice, lists: &[&[u64]], threads: &Threads) -> Result<Self> {
        let mut runs = LargeBuffer::try_zeroed(lists.iter().map(|list| list.len()).sum(), RUNS)?;
        let mut rest = &mut runs[..];
        for list in lists {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(list.len());
            own.copy_from_slice(list);
            rest = others;
        }
        threads.sort_by_key(&mut runs, |&run| run);
        let mut count = 0;
        for at in 0..runs.len() {
            if count == 0 || runs[count - 1] != runs[at] {
                runs[count] = runs[at];
                count += 1;
            }
        }
        let most = u32::MAX - 1;
        if count > most as usize {
            let rule = format!("a search takes at most {most}; cut the collection");
            return Err(Error::limit(format!("{count} different runs"), rule));
        }
        // Equal runs of copies may be most of the list, and the table is needed to the end.
        if count < runs.len() / 4 * 3 {
            let mut distinct = LargeBuffer::try_zeroed(count, RUNS)?;
            distinct.copy_from_slice(&runs[..count]);
            runs = distinct;
        }
        let starts = LargeBuffer::try_zeroed(count.div_ceil(RUNS_A_BUCKET) + 1, RUNS)?;
        let filter = LargeBuffer::try_zeroed((count * BITS_A_RUN).div_ceil(8), RUNS)?;
        let mut table = Self { slice, runs, count, starts, filter };
        for at in 0..count {
            let run = table.runs[at];
            let bucket = table.bucket(run);
            table.starts[bucket + 1] += 1;
            let bit = table.bit(run);
            table.filter[bit / 8] |= 1 << (bit % 8);
        }
        // The counts become the places at which buckets begin.
        for bucket in 1..table.starts.len() {
            table.starts[bucket] += table.starts[bucket - 1];
        }
        Ok(table)
    }

    /// Returns the number of runs.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Calls `visit` with the index in `runs` and the number of each run that the table has.
    pub(crate) fn visit_numbers(&self, runs: &[u64], mut visit: impl FnMut(usize, u32)) {
        if self.count == 0 {
            return;
        }
        // Each access would find the length of a buffer anew.
        let (all, starts, filter) = (&self.runs[..], &self.starts[..], &self.filter[..]);
        let mut start = 0;
        for together in runs.chunks(TOGETHER) {
            let mut bits = [0; TOGETHER];
            for (bit, &run) in bits.iter_mut().zip(together) {
                *bit = self.bit(run);
                prefetch(filter, *bit / 8);
            }
            // Places of the runs that pass the filter, with their buckets.
            let mut passed = [(0, 0); TOGETHER];
            let mut count = 0;
            for (at, (&run, &bit)) in together.iter().zip(&bits).enumerate() {
                let is_set = filter[bit / 8] >> (bit % 8) & 1 == 1;
                if is_set && self.slice.has(run) {
                    let bucket = self.bucket(run);
                    prefetch(starts, bucket);
                    passed[count] = (at, bucket);
                    count += 1;
                }
            }
            // The bounds of the buckets have arrived by now, and their runs are asked for.
            for &(_, bucket) in &passed[..count] {
                prefetch(all, starts[bucket] as usize);
            }
            for &(at, bucket) in &passed[..count] {
                let [first, end] = [starts[bucket], starts[bucket + 1]];
                let bucket = &all[first as usize..end as usize];
                if let Ok(found) = bucket.binary_search(&together[at]) {
                    visit(start + at, first + found as u32);
                }
            }
            start += together.len();
        }
    }

    /// Returns the bucket of a run, which must be in the slice. Greater runs have no smaller bucket.
    fn bucket(&self, run: u64) -> usize {
        // The low half of this product is the place of the run in its slice.
        let place = run.wrapping_mul(self.slice.slices);
        scaled(place, self.starts.len() as u64 - 1) as usize
    }

    /// Returns the bit of a run in the filter.
    fn bit(&self, run: u64) -> usize {
        // Other bits of the hash decide than those that are equal within a bucket.
        scaled(run.rotate_left(32), self.filter.len() as u64 * 8) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    #[test]
    fn runs_have_their_places_as_numbers() {
        for slices in [1, 3, 64] {
            for number in [0, slices / 2, slices - 1] {
                let slice = RunSlice { number, slices };
                let mut runs: Vec<u64> = (0..5000).map(mix).filter(|&run| slice.has(run)).collect();
                runs.extend([0, u64::MAX].into_iter().filter(|&run| slice.has(run)));
                let threads = Threads::new(2).unwrap();
                let lists = [&runs[..], &runs[..runs.len() / 2]];
                let table = RunTable::new(slice, &lists, &threads).unwrap();
                runs.sort_unstable();
                runs.dedup();
                assert_eq!(table.len(), runs.len());
                let asked: Vec<u64> = (5000..9000).map(mix).chain(runs.iter().copied()).collect();
                let mut found = Vec::new();
                table.visit_numbers(&asked, |at, number| found.push((asked[at], number)));
                let expected: Vec<(u64, u32)> = runs.into_iter().zip(0..).collect();
                assert_eq!(found, expected, "{slice:?}");
            }
        }
        let none = RunTable::new(RunSlice::WHOLE, &[], &Threads::new(1).unwrap()).unwrap();
        none.visit_numbers(&[0, 5], |_, _| panic!("the table is empty"));
    }

    #[test]
    fn each_run_is_in_one_slice() {
        for run in (0..500).map(mix).chain([0, u64::MAX]) {
            let slices = (0..7).filter(|&number| RunSlice { number, slices: 7 }.has(run));
            assert_eq!(slices.count(), 1);
        }
    }
}
