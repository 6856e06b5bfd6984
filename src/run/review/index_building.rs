//! Makes the index of the rows of a finished run.

use super::index_layout::{HEAD, IndexedCluster, IndexedRow, MAGIC, ROW, document_key};
use super::row_value::{closeness_value, lost_value};
use crate::output::finished_rows::{RowKind, RowsFile};
use crate::pipeline::{OutputName, source_name};
use serde_json::Value;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::progress::{Progress, Work};
use simtool_base::unordered_map::UnorderedMap;
use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::ops::ControlFlow;

/// Number of the source that stands for all sources after the first ones.
pub(super) const OTHER_SOURCES: u16 = u16::MAX;

/// Data of an index that is being made.
pub(super) struct Building {
    state: [u64; 2],
    rows: File,
    /// Hash by which rows are grouped: that of the kept document of each row.
    kept: Vec<u64>,
    sources: SourceNumbers,
    has_distances: bool,
}

/// Numbers of the sources, in the order in which they first occur.
#[derive(Default)]
struct SourceNumbers {
    numbers: UnorderedMap<String, u16>,
    names: Vec<String>,
}

impl SourceNumbers {
    fn number(&mut self, document: &OutputName) -> u16 {
        let name = source_name(&document.id, &document.file);
        if let Some(&number) = self.numbers.get(&name) {
            return number;
        }
        let number = u16::try_from(self.names.len()).unwrap_or(OTHER_SOURCES);
        if number == OTHER_SOURCES {
            return number;
        }
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }
}

impl Building {
    /// Reads all rows once.
    pub(super) fn read(rows: &RowsFile, state: [u64; 2], progress: &dyn Progress) -> Result<Self> {
        progress.begin("indexing", Work::Bytes(state[0]));
        let failed = |e: io::Error| Error::io(&rows.path, "index", e);
        let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile().map_err(failed)?);
        let (mut kept, mut sources) = (Vec::new(), SourceNumbers::default());
        let mut has_distances = false;
        rows.visit(&rows.file, &mut |offset, line| {
            if progress.is_cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            let row = rows.parse(line, offset)?;
            // With --verify, rows have both, and the similarity decides.
            has_distances |= row.similarity.is_none() && row.distance.is_some();
            let indexed = IndexedRow {
                offset,
                closeness: closeness_value(row.similarity, row.distance),
                lost: lost_value(row.lost_words),
                source: sources.number(&row.removed),
                kept_source: sources.number(&row.kept),
                cluster: 0,
            };
            out.write_all(&indexed.bytes()).map_err(failed)?;
            // Passages are grouped by their document, and documents by the item that they have.
            kept.push(match rows.kind() {
                RowKind::Passages => document_key(&row.removed.file, row.removed.record),
                RowKind::Items if row.kept.file.is_empty() => document_key(&row.kept.id, 0),
                RowKind::Removed | RowKind::Items => document_key(&row.kept.file, row.kept.record),
            });
            progress.advance(line.len() as u64);
            Ok(ControlFlow::Continue(()))
        })?;
        if kept.len() > u32::MAX as usize {
            return Err(Error::limit(
                "the rows of the run",
                "a review shows 2^32 - 1 rows at most",
            ));
        }
        let rows = out.into_inner().map_err(|e| failed(e.into_error()))?;
        Ok(Self { state, rows, kept, sources, has_distances })
    }

    /// Writes the index, and returns the numbers of its head.
    pub(super) fn write(self, file: &mut File) -> io::Result<[u64; HEAD]> {
        let Self { state, mut rows, kept, sources, has_distances } = self;
        let mut by_cluster: Vec<u32> = (0..).zip(&kept).map(|(row, _)| row).collect();
        // Rows of one kept document are next to each other, in the order of the output.
        by_cluster.sort_unstable_by_key(|&row| (kept[row as usize], row));
        let row_count = kept.len() as u64;
        let mut is_first = vec![true; kept.len()];
        for (rows, is_first) in by_cluster.windows(2).zip(is_first.iter_mut().skip(1)) {
            *is_first = kept[rows[0] as usize] != kept[rows[1] as usize];
        }
        // The hashes are the largest part of the memory. They must be gone before the clusters are listed, which are as
        // many as the rows if each has a kept document of its own.
        drop(kept);
        let mut clusters: Vec<IndexedCluster> = Vec::new();
        for (first, is_first) in (0..).zip(is_first) {
            match clusters.last_mut().filter(|_| !is_first) {
                Some(cluster) => cluster.removed += 1,
                None => clusters.push(IndexedCluster { first, removed: 1 }),
            }
        }
        // The order of equally large clusters is that of their first rows.
        clusters.sort_unstable_by_key(|cluster| {
            (Reverse(cluster.removed), by_cluster[cluster.first as usize])
        });
        let mut cluster_of = vec![0_u32; by_cluster.len()];
        for (number, cluster) in (0..).zip(&clusters) {
            let rows = cluster.first as usize..(cluster.first + cluster.removed) as usize;
            for &row in &by_cluster[rows] {
                cluster_of[row as usize] = number;
            }
        }
        let names = Value::from(sources.names).to_string();
        let cluster_count = clusters.len() as u64;
        let [size, written] = state;
        let magic = u64::from_le_bytes(MAGIC);
        let head = [magic, size, written, row_count, cluster_count, has_distances.into()];
        let mut out = BufWriter::with_capacity(1 << 18, file);
        for number in head {
            out.write_all(&number.to_le_bytes())?;
        }
        rows.rewind()?;
        let mut rows = BufReader::with_capacity(1 << 18, rows);
        // The cluster of a row is known only now, so the rows are copied with it.
        let mut bytes = [0; ROW];
        for cluster in cluster_of {
            rows.read_exact(&mut bytes)?;
            out.write_all(&IndexedRow { cluster, ..IndexedRow::of_bytes(&bytes) }.bytes())?;
        }
        for row in by_cluster {
            out.write_all(&row.to_le_bytes())?;
        }
        for IndexedCluster { first, removed } in clusters {
            out.write_all(&first.to_le_bytes())?;
            out.write_all(&removed.to_le_bytes())?;
        }
        out.write_all(names.as_bytes())?;
        out.flush()?;
        Ok(head)
    }
}
