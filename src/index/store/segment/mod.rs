//! A segment of an index: a file with documents that were added one after the other.
//!
//! It holds the fingerprints, numbers and IDs of the documents, and the tables that find fingerprints. It
//! also holds the repeats, removals and inputs that were noted while these documents were added. A segment
//! never changes.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::Segment;
pub use writer::{SegmentRows, SegmentWriter};

use super::sealed_file::Kind;
use bytemuck::{Pod, Zeroable};

/// Section with four numbers: the first document number, the number of documents, the number of 64-bit words
/// of a stored fingerprint, and the number of tables.
const META: Kind = Kind(1);
const ROWS: Kind = Kind(2);
const NUMBERS: Kind = Kind(3);
const IDS: Kind = Kind(4);
const ID_BLOCKS: Kind = Kind(5);
const ORIGINS: Kind = Kind(6);
const REPEATS: Kind = Kind(7);
const REMOVED: Kind = Kind(8);
const INPUTS: Kind = Kind(9);
const DESCRIPTION: Kind = Kind(10);
/// Kind of the first section of tables. Each table has two consecutive sections. The first has the index of the first
/// row of each bucket, and the second has the entries of all rows, bucket by bucket.
const TABLES: u32 = 16;
const STARTS: u32 = 0;
const ENTRIES: u32 = 1;
/// Maximum number of lookup tables of a segment.
pub const MOST_TABLES: usize = 24;

/// Returns the name of a kind of section, for messages.
fn section_name(Kind(kind): Kind) -> &'static str {
    const NAMES: [&str; 11] = [
        "",
        "its numbers",
        "fingerprints",
        "the documents' numbers",
        "IDs",
        "the places of IDs",
        "origins",
        "repeats",
        "removals",
        "inputs",
        "the method",
    ];
    NAMES.get(kind as usize).copied().unwrap_or("tables")
}

/// Source and time that consecutive documents of a segment have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Origin {
    /// Position of the first of these documents, counted from 0 in the segment.
    pub row: u32,
    /// Number of the source, whose name is in the manifest.
    pub source: u32,
    /// Time at which the documents were added, in seconds since 1970.
    pub time: u64,
}

impl Origin {
    /// Appends the origin to `origins`, unless the last origin there has the same source and time.
    pub fn push(self, origins: &mut Vec<Self>) {
        let last = origins.last();
        if last.is_none_or(|last| (last.source, last.time) != (self.source, self.time)) {
            origins.push(self);
        }
    }

    /// Returns the source and the time of the document at position `row` of a segment. `origins` must ascend
    /// by row.
    #[must_use]
    pub fn of_row(origins: &[Self], row: usize) -> (u32, u64) {
        let behind = origins.partition_point(|origin| origin.row as usize <= row);
        let found = behind.checked_sub(1).map(|at| origins[at]);
        found.map_or((0, 0), |origin| (origin.source, origin.time))
    }
}

/// Number and times of repeats from one source. A repeat is a document that was not added, because it is near
/// a document of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Repeats {
    /// Number of the document of the index that the repeats are near.
    pub number: u64,
    /// Number of the source, whose name is in the manifest.
    pub source: u32,
    /// Number of repeats from this source.
    pub count: u32,
    /// Time at which the first of the repeats was seen, in seconds since 1970.
    pub first: u64,
    /// Time at which the last of the repeats was seen, in seconds since 1970.
    pub last: u64,
}

/// Content of a segment apart from fingerprints, IDs and tables. A segment is collected until its documents are written
/// to a file.
#[derive(Clone, Debug, Default)]
pub struct SegmentRest {
    /// Sources and times of the documents, ascending by position.
    pub origins: Vec<Origin>,
    /// Repeats that were seen while the segment was collected, ascending by document number and source.
    pub repeats: Vec<Repeats>,
    /// Numbers of the documents that were removed while the segment was collected, ascending.
    pub removed: Vec<u64>,
    /// Entries about input files that were read while the segment was collected, one on each line.
    pub inputs: Vec<u8>,
}

fn table_kind(table: u32, part: u32) -> Kind {
    Kind(TABLES + 2 * table + part)
}
