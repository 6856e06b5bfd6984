//! Makes the index of the rows of a finished run.

use super::index_layout::{HEAD, IndexedCluster, IndexedRow, MAGIC, ROW, document_key};
use super::row_value::{closeness_value, lost_value};
use crate::output::finished_rows::{RowBlock, RowKind, RowsFile};
use crate::pipeline::{OutputName, source_name};
use serde_json::json;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::progress::{Progress, Work};
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::threads::Threads;
use simtool_read::uri;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

/// Number of bytes of rows that a thread parses at a time.
const BLOCK_BYTES: u64 = 4 << 20;
/// Number that all sources after the first 65,535 share.
pub(super) const OTHER_SOURCES: u16 = u16::MAX;

/// Data of an index that is being made.
pub(super) struct Building {
    state: [u64; 2],
    rows: File,
    /// Three numbers for each row: the upper and the lower half of its key, and the number of the row. The key is a
    /// hash of the kept document, of the item, or of the document with the passage. All rows of a cluster have the same
    /// key.
    keyed: Vec<[u32; 3]>,
    sources: SourceNumbers,
    has_distances: bool,
}

/// Numbers of the sources, for example of hosts, in the order in which the sources first occur.
#[derive(Default)]
struct SourceNumbers {
    numbers: UnorderedMap<String, u16>,
    names: Vec<String>,
}

impl SourceNumbers {
    fn number(&mut self, name: String) -> u16 {
        if let Some(&number) = self.numbers.get(&name) {
            return number;
        }
        let number = u16::try_from(self.names.len()).unwrap_or(OTHER_SOURCES);
        if number != OTHER_SOURCES {
            self.names.push(name.clone());
            self.numbers.insert(name, number);
        }
        number
    }
}

/// Parsed rows of one block of the output.
struct IndexedBlock {
    rows: Vec<BlockRow>,
    /// Names of the sources. The sources of the rows are indexes of this list. A name can occur twice.
    sources: Vec<String>,
    has_distances: bool,
}

/// A parsed row of a block.
struct BlockRow {
    /// The row, without its cluster and its sources.
    indexed: IndexedRow,
    /// Sources of the removed and of the kept document, as indexes of `IndexedBlock::sources`.
    sources: [u32; 2],
    /// Hash of the kept document, of the item, or of the document with the passage. All rows of a cluster have the same
    /// key.
    key: u64,
}

impl IndexedBlock {
    fn new(file: &RowsFile, block: &RowBlock) -> Result<Self> {
        let mut found = Self { rows: Vec::new(), sources: Vec::new(), has_distances: false };
        // Sources that are known already, by the host in the ID, or by the file if the ID has no host. So the name of
        // each source is made only once.
        let mut known: [UnorderedMap<Vec<u8>, u32>; 2] = Default::default();
        let sources = &mut found.sources;
        let mut source = |OutputName { id, file, .. }: &OutputName| {
            let host = uri::host(id.as_bytes());
            let is_file = host.is_empty();
            let written = if is_file { file.as_bytes() } else { host };
            let known = &mut known[usize::from(is_file)];
            known.get(written).copied().unwrap_or_else(|| {
                let number = sources.len() as u32;
                sources.push(source_name(id, file));
                known.insert(written.to_vec(), number);
                number
            })
        };
        for (offset, line) in block.lines() {
            let row = file.parse(line, offset)?;
            // With --verify, rows have a similarity and a distance, and the similarity decides.
            found.has_distances |= row.similarity.is_none() && row.distance.is_some();
            // Rows about passages are grouped by the document with the passage, rows about items by the item, and other
            // rows by the kept document.
            let key = match file.kind() {
                RowKind::Passages => document_key(&row.removed.file, row.removed.record),
                RowKind::Items if row.kept.file.is_empty() => document_key(&row.kept.id, 0),
                RowKind::Removed | RowKind::Items => document_key(&row.kept.file, row.kept.record),
            };
            let indexed = IndexedRow {
                offset,
                closeness: closeness_value(row.similarity, row.distance),
                lost: lost_value(row.lost_words),
                source: 0,
                kept_source: 0,
                cluster: 0,
            };
            let sources = [source(&row.removed), source(&row.kept)];
            found.rows.push(BlockRow { indexed, sources, key });
        }
        Ok(found)
    }
}

impl Building {
    /// Reads all rows once. Each of `threads` parses a block of them at a time. `state` has the size and the time of
    /// the output.
    pub(super) fn read(
        rows: &RowsFile,
        state: [u64; 2],
        threads: &Threads,
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.begin("indexing", Work::Bytes(state[0]));
        let failed = |e: io::Error| Error::io(&rows.path, "index", e);
        let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile().map_err(failed)?);
        let (mut keyed, mut sources) = (Vec::new(), SourceNumbers::default());
        let mut has_distances = false;
        let mut blocks = rows.blocks(&rows.file, BLOCK_BYTES)?;
        loop {
            if progress.is_cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            let blocks = blocks.by_ref().take(threads.count()).collect::<Result<Vec<_>>>()?;
            if blocks.is_empty() {
                break;
            }
            let indexed = threads.map(blocks.iter().collect(), |b| IndexedBlock::new(rows, b));
            for block in indexed {
                let block = block?;
                // The first block with a source gives it its number, so the numbers do not depend on the threads.
                let numbers = block.sources.into_iter().map(|name| sources.number(name));
                let numbers: Vec<u16> = numbers.collect();
                has_distances |= block.has_distances;
                for BlockRow { indexed, sources, key } in block.rows {
                    let [source, kept_source] = sources.map(|source| numbers[source as usize]);
                    let indexed = IndexedRow { source, kept_source, ..indexed };
                    out.write_all(&indexed.bytes()).map_err(failed)?;
                    // Row numbers beyond 32 bits are never used, because too many rows are an error.
                    keyed.push([(key >> 32) as u32, key as u32, keyed.len() as u32]);
                }
            }
            progress.advance(blocks.iter().map(|block| block.text.len() as u64).sum());
        }
        if keyed.len() > u32::MAX as usize {
            return Err(Error::limit(
                "the rows of the run",
                "a review shows 2^32 - 1 rows at most",
            ));
        }
        let rows = out.into_inner().map_err(|e| failed(e.into_error()))?;
        Ok(Self { state, rows, keyed, sources, has_distances })
    }

    /// Writes the index, and returns the numbers in its head, which is its first part. `templates` has the hashes of
    /// the kept documents of clusters that may be pages of one template.
    pub(super) fn write(
        self,
        templates: &[u64],
        threads: &Threads,
        file: &mut File,
    ) -> io::Result<[u64; HEAD]> {
        let Self { state, mut rows, mut keyed, sources, has_distances } = self;
        // Rows of one kept document are next to each other, in the order of the output.
        threads.sort_by_key(&mut keyed, |row| *row);
        let row_count = keyed.len() as u64;
        let is_first = |at: usize| at == 0 || keyed[at - 1][..2] != keyed[at][..2];
        let is_first: Vec<bool> = (0..keyed.len()).map(is_first).collect();
        let by_cluster: Vec<u32> = keyed.iter().map(|[.., row]| *row).collect();
        // Few clusters are of a template, so their keys are looked up one by one.
        let template_rows = templates.iter().filter_map(|&key| {
            let key = [(key >> 32) as u32, key as u32];
            let at = keyed.partition_point(|row| row[..2] < key[..]);
            keyed.get(at).filter(|row| row[..2] == key).map(|[.., row]| *row as usize)
        });
        let template_rows: Vec<usize> = template_rows.collect();
        // The hashes are the largest part of the memory. They must be gone before the clusters are listed, which are as
        // many as the rows if each has a kept document of its own.
        drop(keyed);
        // The order of clusters is that of these numbers: larger ones come first, and then those whose first row is
        // first.
        let mut clusters: Vec<u64> = Vec::new();
        let mut first_place = vec![0_u32; by_cluster.len()];
        for (place, (&row, is_first)) in (0..).zip(by_cluster.iter().zip(is_first)) {
            if let Some(cluster) = clusters.last_mut().filter(|_| !is_first) {
                *cluster -= 1 << 32;
            } else {
                clusters.push(u64::from(u32::MAX - 1) << 32 | u64::from(row));
                first_place[row as usize] = place;
            }
        }
        threads.sort_by_key(&mut clusters, |cluster| *cluster);
        // The place of the first row of a cluster is read before the number of the cluster replaces it.
        let mut cluster_of = first_place;
        for (number, cluster) in (0..).zip(&mut clusters) {
            let removed = u32::MAX - (*cluster >> 32) as u32;
            let first = cluster_of[*cluster as u32 as usize];
            for &row in &by_cluster[first as usize..][..removed as usize] {
                cluster_of[row as usize] = number;
            }
            *cluster = IndexedCluster { first, removed }.number();
        }
        let mut templates: Vec<u32> = template_rows.iter().map(|&row| cluster_of[row]).collect();
        templates.sort_unstable();
        templates.dedup();
        let end = json!({ "sources": sources.names, "templates": templates }).to_string();
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
        for cluster in clusters {
            out.write_all(&cluster.to_le_bytes())?;
        }
        out.write_all(end.as_bytes())?;
        out.flush()?;
        Ok(head)
    }
}
