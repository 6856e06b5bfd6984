//! The self-join of fingerprints that do not fit in memory. The first partition is written to temporary
//! files.
//!
//! Rows are read once and distributed to files by a hash of the fingerprint, so equal rows are in one
//! file. The different fingerprints are then distributed once for each block of bits. Each file is a
//! bucket that the recursion joins in memory. Only 8 bytes for each row, one bucket and the collected
//! pairs are in memory. If a block does not divide the rows, the bucket is joined as a whole.

use crate::Rows;
use crate::collect::{Collect, CountRows, KeepPairs};
use crate::group_pairs::GroupPairs;
use crate::grouping::{GROUPS, equal_pairs, group};
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::layout::Layout;
use crate::parallel_partition::NumberedValues;
use crate::recursion::Recursion;
use crate::split::{Path as BlockPath, split_free};
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, Workload};
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::{LargeBuffer, reserved};
use simtool_base::memory_ledger::Ledger;
use simtool_kernels::partition::{BlockHash, Parts};
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// Maximum number of hash bits by which rows are distributed to temporary files. With b bits, there are
/// 2^b files, and each has a buffer.
const MAX_BITS: u32 = 8;
/// Number of bytes of the buffer of a temporary file.
const BUFFER_BYTES: usize = 1 << 16;
/// Minimum number of bytes of memory for the records of one bucket. Smaller buckets would save no
/// memory, but need more files.
const LEAST_BUCKET_BYTES: usize = 1 << 14;
/// Description of the memory for the records of one bucket, which are read from a temporary file.
/// Out-of-memory messages contain it.
const BUCKET: &str = "the fingerprints of a temporary file";
/// Number of bytes of a row number in a temporary file.
const NUMBER_BYTES: f64 = 4.0;
/// Memory for joining a bucket, as a multiple of the size of the bucket's records. A bucket consists of the records of
/// one temporary file.
const WORK: usize = 3;

/// Groups of equal rows. Their fingerprints are in a temporary file.
#[derive(Debug)]
pub(crate) struct SpilledGroups<W> {
    /// The rows of each group. The fingerprints are not in memory.
    pub groups: Groups,
    values: Spill,
    bucket_bytes: usize,
    fingerprint: PhantomData<W>,
}

/// Records in a temporary file. A record is a fingerprint with its row or group number. The file has no name and is
/// deleted when the process ends.
#[derive(Debug)]
struct Spill {
    folder: PathBuf,
    file: BufWriter<File>,
    records: usize,
}

impl Spill {
    fn new(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder)
            .map_err(|e| Error::io(folder, "create a temporary file in", e))?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { folder: folder.to_owned(), file, records: 0 })
    }

    fn push<W: Fingerprint>(&mut self, value: W, number: u32) -> Result<()> {
        self.records += 1;
        self.file
            .write_all(bytemuck::bytes_of(&value))
            .and_then(|()| self.file.write_all(&number.to_le_bytes()))
            .map_err(|e| Error::io(&self.folder, "write a temporary file in", e))
    }

    /// Writes the remaining bytes of the buffer to the file.
    fn finish(&mut self) -> Result<()> {
        self.file.flush().map_err(|e| Error::io(&self.folder, "write a temporary file in", e))
    }

    /// Calls `visit` with every record in order. Call [`Self::finish`] before this function.
    fn read<W: Fingerprint>(&self, mut visit: impl FnMut(W, u32) -> Result<()>) -> Result<()> {
        let failed = |e| Error::io(&self.folder, "read a temporary file in", e);
        let mut file = self.file.get_ref();
        file.rewind().map_err(failed)?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
        let (mut value, mut number) = (W::ZERO, [0; 4]);
        for _ in 0..self.records {
            reader.read_exact(bytemuck::bytes_of_mut(&mut value)).map_err(failed)?;
            reader.read_exact(&mut number).map_err(failed)?;
            visit(value, u32::from_le_bytes(number))?;
        }
        Ok(())
    }

    fn read_all<W: Fingerprint>(mut self) -> Result<(Vec<W>, Vec<u32>)> {
        self.finish()?;
        let mut values = reserved(self.records, BUCKET)?;
        let mut numbers = reserved(self.records, BUCKET)?;
        self.read(|value, number| {
            values.push(value);
            numbers.push(number);
            Ok(())
        })?;
        Ok((values, numbers))
    }
}

/// Returns the number of hash bits that select the bucket of a record. With b bits there are 2^b
/// buckets. All records together have `bytes` bytes. Joining one bucket takes at most about
/// `bucket_bytes` of memory, unless that would need more than [`MAX_BITS`] bits.
fn partition_bits(bytes: usize, bucket_bytes: usize) -> u32 {
    let buckets = (bytes * WORK).div_ceil(bucket_bytes);
    // The number of buckets is doubled, because some are larger than others.
    (buckets * 2).next_power_of_two().ilog2().clamp(1, MAX_BITS)
}

fn spills(folder: &Path, bits: u32) -> Result<Vec<Spill>> {
    (0..1 << bits).map(|_| Spill::new(folder)).collect()
}

impl<W: Fingerprint> SpilledGroups<W> {
    /// Groups equal rows. Uses about as many bytes of memory as the limit of `ledger`, and temporary files in `folder`.
    ///
    /// # Errors
    ///
    /// A temporary file cannot be created, written or read, or there is too little memory.
    ///
    /// # Panics
    ///
    /// Panics if there are 2³² − 1 rows or more.
    pub(crate) fn new(rows: Rows<'_, W>, ledger: &Ledger, folder: &Path) -> Result<Self> {
        let row_count = rows.fingerprints.len();
        assert!(
            u32::try_from(row_count).is_ok_and(|n| n < u32::MAX),
            "row numbers are 32 bits wide"
        );
        // The groups and the buffers of the files stay in memory. Buckets may use the rest.
        let kept = row_count * 8 + (BUFFER_BYTES << MAX_BITS);
        let memory = usize::try_from(ledger.limit()).unwrap_or(usize::MAX);
        let bucket_bytes = memory.saturating_sub(kept).max(LEAST_BUCKET_BYTES);
        // First pass: equal rows have the same hash, and so are in the same file.
        let bits = partition_bits(row_count * (size_of::<W>() + 4), bucket_bytes);
        let hash = BlockHash::new(!W::ZERO, 0, bits);
        let mut files = spills(folder, bits)?;
        for (row, &value) in rows.fingerprints.iter().enumerate() {
            if rows.has_fingerprint(row) {
                files[hash.part(value)].push(value, row as u32)?;
            }
        }
        // Second pass: one file at a time is grouped in memory. The different values go to a new file.
        let mut values = Spill::new(folder)?;
        let mut starts = LargeBuffer::<u32>::try_zeroed(row_count + 1, GROUPS)?.entered_in(ledger);
        let grouped_rows = LargeBuffer::<u32>::try_zeroed(row_count, GROUPS)?;
        let mut grouped_rows = grouped_rows.entered_in(ledger);
        let mut place = 0;
        for file in files {
            let (fingerprints, numbers) = file.read_all::<W>()?;
            let equal = group(Rows::all(&fingerprints), ledger)?;
            for (&value, local) in equal.values().iter().zip(0u32..) {
                values.push(value, values.records as u32)?;
                for &member in equal.groups.rows(local) {
                    grouped_rows[place] = numbers[member as usize];
                    place += 1;
                }
                starts[values.records] = place as u32;
            }
        }
        values.finish()?;
        let groups = Groups::new(starts, grouped_rows, values.records);
        Ok(Self { groups, values, bucket_bytes, fingerprint: PhantomData })
    }

    /// Finds all pairs of groups within the maximum distance of `work`, and passes them to `collect`.
    /// Fingerprints are distributed to files by the masks of `layout`, which must miss no pair within
    /// that distance.
    ///
    /// # Errors
    ///
    /// The same errors as [`Self::new`].
    pub(crate) fn collect_pairs<C: Collect>(
        &self,
        layout: &Layout,
        work: JoinWork<'_>,
        collect: &C,
    ) -> Result<C::Part> {
        let mut merged = collect.part();
        let blocks: Vec<W> = layout.blocks();
        let paths = split_free(&BlockPath::root(work.reach.shape), &blocks);
        let share = work.share.part(1, paths.len());
        for path in paths {
            let bytes = self.values.records * (size_of::<W>() + 4);
            let bits = partition_bits(bytes, self.bucket_bytes);
            let hash = BlockHash::new(path.block, 0, bits);
            // The files of a block are removed before those of the next block are written.
            let mut files = spills(&self.values.folder, bits)?;
            self.values.read(|value: W, number| files[hash.part(value)].push(value, number))?;
            for file in files {
                let (values, numbers) = file.read_all::<W>()?;
                let records = NumberedValues { values: &values, numbers: &numbers };
                // The files were divided by a hash of the path's block, so the recursion continues with
                // the next bits of that hash.
                let share = share.part(values.len(), self.values.records);
                let join = Recursion::new(&values, work, collect);
                collect.merge(&mut merged, join.run_bucket(records, &path, bits, share));
            }
        }
        Ok(merged)
    }
}

/// The self-join with temporary files as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpilledJoin;

impl JoinKind for SpilledJoin {
    fn name(&self) -> &'static str {
        "spilled-join"
    }

    fn help(&self) -> &'static str {
        "Partitions the rows into temporary files: for corpora that do not fit in memory."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::SelfJoins, rows: RowKind::Lanes, is_for_collections: true }
    }

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        let fingerprint_bytes = workload.fingerprint_bytes();
        let kept = workload.kept_pairs(workload.different_pairs());
        let disk = rows * workload.blocks() * (fingerprint_bytes + NUMBER_BYTES) * 1.5;
        // The join adapts to the memory that the pairs leave free.
        let left = workload.memory as f64 - kept.bytes;
        let join = JoinEstimate {
            nanoseconds: workload.recursion(rows, rows) + disk,
            bytes: left.clamp(0.0, rows * 2.0 * fingerprint_bytes),
        };
        join + kept
    }

    fn temporary_bytes(&self, workload: &Workload) -> f64 {
        // The different rows are in one file, and once more in the files of the block that is joined.
        2.0 * workload.row_count() * (workload.fingerprint_bytes() + NUMBER_BYTES)
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for SpilledJoin {
    fn self_join(&self, rows: Rows<'_, L>, work: JoinWork<'_>) -> Result<GroupPairs> {
        let layout = work.layout(rows.fingerprints);
        let spilled = spill(rows, work)?;
        let pairs = spilled.collect_pairs(&layout, work, &KeepPairs::new(work))?.into_sorted();
        Ok(GroupPairs { groups: Sides::One(spilled.groups), pairs })
    }

    fn count_pairs(&self, rows: FixedRows<'_, L>, work: JoinWork<'_>) -> Result<Option<u64>> {
        let layout = work.layout(&rows.fingerprints);
        let spilled = spill(rows.rows(), work)?;
        let counting = CountRows { groups: (&spilled.groups, &spilled.groups) };
        let pairs = spilled.collect_pairs(&layout, work, &counting)?;
        Ok(Some(equal_pairs(&spilled.groups) + pairs))
    }
}

/// Groups equal rows. Uses the memory limit and the temporary folder of `work`.
fn spill<L: Fingerprint>(rows: Rows<'_, L>, work: JoinWork<'_>) -> Result<SpilledGroups<L>> {
    SpilledGroups::new(rows, work.context.memory(), work.context.temporary_folder())
}
