//! A table that numbers distinct runs.

use simtool_base::error::{Error, Result};

/// Average number of runs that share a bucket of the table.
const RUNS_A_BUCKET: usize = 4;

/// The runs of one slice of all hashes, numbered from 0 in ascending order.
#[derive(Debug)]
pub(crate) struct RunTable {
    slice: RunSlice,
    /// Hashes of the runs in ascending order.
    runs: Vec<u64>,
    /// Index in `runs` at which each bucket begins, and the number of all runs. A bucket has the runs of an equal share
    /// of the slice, so that a run is found in a few steps.
    starts: Vec<u32>,
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
        (u128::from(run) * u128::from(self.slices)) >> 64 == u128::from(self.number)
    }
}

impl RunTable {
    /// Creates a table of runs of `slice`, which ascend.
    ///
    /// # Errors
    /// There are too many runs for numbers of 32 bits.
    pub(crate) fn new(slice: RunSlice, runs: Vec<u64>) -> Result<Self> {
        let most = u32::MAX - 1;
        if runs.len() > most as usize {
            let rule = format!(
                "a search takes at most {most}; leave documents out, or cut the collection"
            );
            return Err(Error::limit(format!("{} different runs", runs.len()), rule));
        }
        let mut table = Self { slice, runs, starts: Vec::new() };
        let buckets = table.runs.len().div_ceil(RUNS_A_BUCKET);
        let mut starts = vec![0; buckets + 1];
        for &run in &table.runs {
            starts[table.bucket(run, buckets) + 1] += 1;
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        table.starts = starts;
        Ok(table)
    }

    /// Returns the number of runs.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns the number of a run. `None` if the table does not have it.
    #[inline]
    pub(crate) fn number(&self, run: u64) -> Option<u32> {
        let buckets = self.starts.len() - 1;
        if buckets == 0 || !self.slice.has(run) {
            return None;
        }
        let bucket = self.bucket(run, buckets);
        let [start, end] = [self.starts[bucket], self.starts[bucket + 1]];
        let found = self.runs[start as usize..end as usize].binary_search(&run).ok()?;
        Some(start + found as u32)
    }

    /// Returns the bucket of a run, which must be in the slice. Greater runs have no smaller bucket.
    fn bucket(&self, run: u64, buckets: usize) -> usize {
        // The low half of this product is the place of the run in its slice.
        let place = run.wrapping_mul(self.slice.slices);
        ((u128::from(place) * buckets as u128) >> 64) as usize
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
                runs.sort_unstable();
                runs.dedup();
                let table = RunTable::new(slice, runs.clone()).unwrap();
                for (at, &run) in runs.iter().enumerate() {
                    assert_eq!(table.number(run), Some(at as u32), "{slice:?}");
                }
                assert!((5000..9000).map(mix).all(|run| table.number(run).is_none()));
            }
        }
        assert_eq!(RunTable::new(RunSlice::WHOLE, Vec::new()).unwrap().number(5), None);
    }

    #[test]
    fn each_run_is_in_one_slice() {
        for run in (0..500).map(mix).chain([0, u64::MAX]) {
            let slices = (0..7).filter(|&number| RunSlice { number, slices: 7 }.has(run));
            assert_eq!(slices.count(), 1);
        }
    }
}
