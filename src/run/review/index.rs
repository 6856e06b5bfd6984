//! The index of the rows of a finished run: the offset of each row, and the values by which rows are filtered and
//! sorted.
//!
//! The rows themselves stay in the output of the run and are read when they are shown. The index is a file, too: a row
//! takes 24 bytes there, and only the block that is being read is in memory. An index of many rows is kept next to the
//! output folder, in `OUT.review-index`, so that it is made once. It is valid as long as the size and the time of the
//! output stay the same.

use super::index_building::{Building, OTHER_SOURCES};
use super::index_layout::{
    CLUSTER, HEAD, IndexEnd, IndexedCluster, IndexedRow, MAGIC, ROW, by_cluster_at, cluster_at,
    end_at, number, row_at,
};
use super::row_value::Scale;
use crate::output::finished_rows::{RemovedRow, RowKind, RowsFile};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::progress::Progress;
use simtool_compute::resources::Resources;
use simtool_compute::threads::Threads;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// Minimum number of rows for which the index is kept next to the output folder. Making a smaller index again takes
/// less than a second.
const KEPT_FROM: u64 = 500_000;
/// Number of rows that are read at once.
const BLOCK: u64 = 1 << 16;

/// Index of the rows of a finished run.
#[derive(Debug)]
pub(super) struct ReviewIndex {
    rows_file: RowsFile,
    /// The output with the rows. Reading moves the position in this file, so threads must lock it. The same holds for
    /// `index`.
    text: Mutex<File>,
    index: Mutex<File>,
    path: PathBuf,
    pub(super) rows: u64,
    pub(super) clusters: u64,
    pub(super) scale: Scale,
    pub(super) end: IndexEnd,
}

impl ReviewIndex {
    /// Opens the index of the rows in `folder`, and makes it first if there is none or if the rows have changed.
    /// `templates` has the [`document_key`](super::index_layout::document_key) of the kept document of each cluster
    /// that may be pages of one template.
    ///
    /// # Errors
    ///
    /// The rows cannot be read, or a line is not as simtool writes it.
    pub(super) fn open(
        folder: &Path,
        resources: &Resources,
        templates: &[u64],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let temporary_folder = &*resources.temporary_folder;
        let rows_file = RowsFile::open(folder, temporary_folder)?;
        let mut path = folder.as_os_str().to_owned();
        path.push(".review-index");
        let path = PathBuf::from(path);
        let state = state(&rows_file.file).map_err(|e| Error::io(&rows_file.path, "read", e))?;
        if !rows_file.is_temporary
            && let Some((index, numbers)) = kept_index(&path, state)
        {
            return Self::of_files(rows_file, index, path, numbers);
        }
        // Nothing is kept before all rows were read, so an interruption leaves no half index.
        let threads = Threads::new(resources.threads)?;
        let made = Building::read(&rows_file, state, &threads, progress)?;
        let file = tempfile::NamedTempFile::new_in(temporary_folder);
        let mut file = file.map_err(|e| Error::io(temporary_folder, "write to", e))?;
        let written = made.write(templates, &threads, file.as_file_mut());
        let numbers = written.map_err(|e| Error::io(temporary_folder, "write to", e))?;
        // Rows in a temporary file are written again at each start, so an index of them would be out of date.
        let keeps = numbers[3] >= KEPT_FROM && !rows_file.is_temporary;
        // The index only saves time, so a folder that cannot be written is no error.
        if keeps && let Some(folder) = path.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let copy = tempfile::NamedTempFile::new_in(folder).and_then(|mut copy| {
                file.as_file_mut().rewind()?;
                io::copy(file.as_file_mut(), copy.as_file_mut())?;
                Ok(copy.persist(&path)?)
            });
            drop(copy);
        }
        let index = file.into_file();
        Self::of_files(rows_file, index, path, numbers)
    }

    fn of_files(
        rows_file: RowsFile,
        mut index: File,
        path: PathBuf,
        numbers: [u64; HEAD],
    ) -> Result<Self> {
        let [_, _, _, rows, clusters, has_distances] = numbers;
        let scale = match rows_file.kind() {
            RowKind::Passages => Scale::Count,
            _ if has_distances == 0 => Scale::Similarity,
            _ => Scale::Distance,
        };
        let mut end = String::new();
        let at = end_at(rows, clusters);
        let read = index.seek(SeekFrom::Start(at)).and_then(|_| index.read_to_string(&mut end));
        read.map_err(|e| Error::io(&path, "read", e))?;
        let end = IndexEnd::parse(&end);
        let text = rows_file.file.try_clone().map_err(|e| Error::io(&rows_file.path, "read", e))?;
        let (text, index) = (Mutex::new(text), Mutex::new(index));
        Ok(Self { rows_file, text, index, path, rows, clusters, scale, end })
    }

    /// Returns the kind of the rows: removed documents, passages or items.
    pub(super) fn kind(&self) -> RowKind {
        self.rows_file.kind()
    }

    /// Returns the number of documents of a cluster. The document that is kept counts, too.
    pub(super) fn size(&self, cluster: IndexedCluster) -> u64 {
        u64::from(cluster.removed) + u64::from(self.kind() == RowKind::Removed)
    }

    /// Reads `length` bytes of the index from the offset `at`.
    fn read_index(&self, at: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut file = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|e| Error::io(&self.path, "read", e))?;
        Ok(bytes)
    }

    /// Returns the row with the number `row`, from 0.
    pub(super) fn row(&self, row: u32) -> Result<IndexedRow> {
        if u64::from(row) >= self.rows {
            let what = format!("there is no row {row}");
            let reason = format!("the run has {} rows", self.rows);
            return Err(ErrorKind::Missing { what, reason }.into());
        }
        Ok(IndexedRow::of_bytes(&self.read_index(row_at(row.into()), ROW)?))
    }

    /// Returns the cluster with the number `cluster`, from 0. The index must have such a cluster.
    pub(super) fn cluster(&self, cluster: u64) -> Result<IndexedCluster> {
        let bytes = self.read_index(cluster_at(self.rows, cluster), CLUSTER)?;
        Ok(IndexedCluster { first: number(&bytes[..4]), removed: number(&bytes[4..]) })
    }

    /// Returns whether a cluster may be pages of one template.
    pub(super) fn is_template(&self, cluster: u32) -> bool {
        self.end.templates.binary_search(&cluster).is_ok()
    }

    /// Returns the numbers of the rows of a cluster. Skips the first `from` rows, and returns at most `most` rows.
    pub(super) fn rows_of_cluster(
        &self,
        cluster: IndexedCluster,
        from: u32,
        most: u32,
    ) -> Result<Vec<u32>> {
        let count = cluster.removed.saturating_sub(from).min(most);
        let at = by_cluster_at(self.rows, u64::from(cluster.first) + u64::from(from));
        Ok(self.read_index(at, count as usize * 4)?.chunks_exact(4).map(number).collect())
    }

    /// Returns the number of clusters with at least `size` documents, see [`Self::size`].
    pub(super) fn clusters_from(&self, size: u64) -> Result<u64> {
        // The largest cluster is first, so the clusters are searched by halves.
        let (mut low, mut high) = (0, self.clusters);
        while low < high {
            let middle = low.midpoint(high);
            let is_larger = self.size(self.cluster(middle)?) >= size;
            (low, high) = if is_larger { (middle + 1, high) } else { (low, middle) };
        }
        Ok(low)
    }

    /// Calls `visit` with the number of each row and the row, in the order of the output, until `visit` breaks.
    pub(super) fn visit_rows(
        &self,
        visit: &mut dyn FnMut(u32, IndexedRow) -> ControlFlow<()>,
    ) -> Result<()> {
        for block in (0..self.rows).step_by(BLOCK as usize) {
            let count = BLOCK.min(self.rows - block);
            let bytes = self.read_index(row_at(block), count as usize * ROW)?;
            for (row, bytes) in (block as u32..).zip(bytes.chunks_exact(ROW)) {
                if visit(row, IndexedRow::of_bytes(bytes)).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the number of the source `name`, for example of a host. `None` for an empty name, which means all
    /// sources.
    pub(super) fn source_number(&self, name: &str) -> Option<u16> {
        // Sources after the first 65,535 share one number. If there are no such sources, no row has this number.
        let place = self.end.sources.iter().position(|known| known == name);
        (!name.is_empty()).then(|| place.map_or(OTHER_SOURCES, |place| place as u16))
    }

    /// Returns `text` as a line of the output has it, for example with escaped characters.
    pub(super) fn written(&self, text: &str) -> Vec<u8> {
        self.rows_file.written(text)
    }

    /// Reads the row at `offset`, in bytes, of the output.
    pub(super) fn read(&self, offset: u64) -> Result<RemovedRow> {
        let mut line = Vec::new();
        let file = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reader = BufReader::with_capacity(1 << 12, &*file);
        let read = reader.seek(SeekFrom::Start(offset));
        let read = read.and_then(|_| reader.read_until(b'\n', &mut line));
        read.map_err(|e| Error::io(&self.rows_file.path, "read", e))?;
        self.rows_file.parse(&line, offset)
    }

    /// Calls `visit` with the number of each row and the parsed row of the output, until `visit` breaks.
    pub(super) fn visit_found(
        &self,
        visit: &mut dyn FnMut(u32, RemovedRow) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let file = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let mut row = 0;
        self.rows_file.visit(&file, &mut |offset, line| {
            let flow = visit(row, self.rows_file.parse(line, offset)?);
            row += 1;
            flow
        })
    }

    /// Calls `visit` with each line of the output, in the order of the rows, until `visit` breaks.
    pub(super) fn visit_lines(
        &self,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let file = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        self.rows_file.visit(&file, &mut |_, line| Ok(visit(line)))
    }
}

/// Returns the size of a file in bytes, and the time of its last change in nanoseconds since 1970.
fn state(file: &File) -> io::Result<[u64; 2]> {
    let metadata = file.metadata()?;
    let written = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok([metadata.len(), written.as_nanos() as u64])
}

/// Opens the index that an earlier review has kept, with the numbers in its head. `None` if there is none, or if the
/// size or the time of the output, in `state`, have changed since.
fn kept_index(path: &Path, state: [u64; 2]) -> Option<(File, [u64; HEAD])> {
    let mut file = File::open(path).ok()?;
    let mut bytes = [0; HEAD * 8];
    file.read_exact(&mut bytes).ok()?;
    let mut numbers = [0; HEAD];
    for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = u64::from_le_bytes(bytes.try_into().ok()?);
    }
    let [magic, size, written, rows, clusters, _] = numbers;
    let length = fs::metadata(path).ok()?.len();
    // The file appears whole under its name, but somebody may have cut it.
    let is_whole = magic == u64::from_le_bytes(MAGIC) && length > end_at(rows, clusters);
    (is_whole && [size, written] == state).then_some((file, numbers))
}
