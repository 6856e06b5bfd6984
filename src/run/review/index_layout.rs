//! The layout of an index of rows: a head of numbers, the rows, the numbers of the rows by cluster, the clusters, and
//! an end in JSON. All numbers are little-endian.

use serde_json::Value;
use simtool_base::stable_hash::hash;

/// First bytes of an index, with its version.
pub(super) const MAGIC: [u8; 8] = *b"simrev02";
/// Number of numbers in the head of an index, with eight bytes each: magic, size and time of the output, rows,
/// clusters, and whether rows have distances in place of similarities.
pub(super) const HEAD: usize = 6;
/// Number of bytes of a row of the index.
pub(super) const ROW: usize = 24;
/// Number of bytes of a cluster of the index.
pub(super) const CLUSTER: usize = 8;

/// Returns a hash that identifies a document by its file and its record number.
pub(super) fn document_key(file: &str, record: u64) -> u64 {
    hash(file.as_bytes()) ^ record.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Last part of an index, which is an object in JSON.
#[derive(Debug, Default)]
pub(super) struct IndexEnd {
    /// Names of the sources. The index of a name in this list is the number of its source.
    pub(super) sources: Vec<String>,
    /// Numbers of the clusters that may be pages of one template, in ascending order.
    pub(super) templates: Vec<u32>,
}

impl IndexEnd {
    /// Parses the last part of an index. Returns an empty value if `written` is no such object.
    pub(super) fn parse(written: &str) -> Self {
        let end: Value = serde_json::from_str(written).unwrap_or_default();
        let of = |name: &str| end[name].as_array().into_iter().flatten();
        Self {
            sources: of("sources").filter_map(Value::as_str).map(str::to_owned).collect(),
            templates: of("templates").filter_map(Value::as_u64).map(|n| n as u32).collect(),
        }
    }
}

/// A row of the index, which has the values by which a row of the output is filtered and sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexedRow {
    /// Offset of the row in the output, in bytes.
    pub(super) offset: u64,
    /// Similarity or distance, as [`closeness_value`](super::row_value::closeness_value) returns it.
    pub(super) closeness: u32,
    /// Number of lost words, as [`lost_value`](super::row_value::lost_value) returns it.
    pub(super) lost: u32,
    /// Number of the source of the removed document, for example of its host.
    pub(super) source: u16,
    /// Number of the source of the kept document, for example of its host.
    pub(super) kept_source: u16,
    /// Number of the cluster. The largest cluster has number 0.
    pub(super) cluster: u32,
}

impl IndexedRow {
    pub(super) fn bytes(self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.closeness.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.lost.to_le_bytes());
        bytes[16..18].copy_from_slice(&self.source.to_le_bytes());
        bytes[18..20].copy_from_slice(&self.kept_source.to_le_bytes());
        bytes[20..].copy_from_slice(&self.cluster.to_le_bytes());
        bytes
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let mut numbers = bytes.chunks_exact(4).map(number);
        let mut next = || numbers.next().unwrap_or_default();
        let offset = u64::from(next()) | u64::from(next()) << 32;
        let (closeness, lost, sources, cluster) = (next(), next(), next(), next());
        // Both sources share four bytes.
        let (source, kept_source) = (sources as u16, (sources >> 16) as u16);
        Self { offset, closeness, lost, source, kept_source, cluster }
    }
}

/// A cluster of the index. Its removed documents are consecutive entries in the list of rows by cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexedCluster {
    /// Index of the first row of the cluster in the list of rows by cluster.
    pub(super) first: u32,
    /// Number of removed documents.
    pub(super) removed: u32,
}

impl IndexedCluster {
    /// Returns the cluster as a number, whose eight bytes are in the index.
    pub(super) fn number(self) -> u64 {
        u64::from(self.removed) << 32 | u64::from(self.first)
    }
}

pub(super) fn row_at(row: u64) -> u64 {
    (HEAD * 8) as u64 + row * ROW as u64
}

pub(super) fn by_cluster_at(rows: u64, place: u64) -> u64 {
    row_at(rows) + place * 4
}

pub(super) fn cluster_at(rows: u64, cluster: u64) -> u64 {
    by_cluster_at(rows, rows) + cluster * CLUSTER as u64
}

pub(super) fn end_at(rows: u64, clusters: u64) -> u64 {
    cluster_at(rows, clusters)
}

/// Returns the little-endian number in four bytes.
pub(super) fn number(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}
