//! A segment of an index: documents that were added one after the other.
//!
//! It has the rows, numbers and IDs of the documents, the tables that find them, and the repeats,
//! removals and inputs of the time when it was written. A segment never changes.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::Segment;
pub use writer::{SegmentRows, SegmentWriter};

use super::sealed_file::Kind;
use bytemuck::{Pod, Zeroable};

/// First number, number of documents, words of a row as stored, number of tables.
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
/// First kind of the sections of tables. A table has two sections.
const TABLES: u32 = 16;
const STARTS: u32 = 0;
const ENTRIES: u32 = 1;
/// Most tables of a segment.
pub const MOST_TABLES: usize = 24;

/// Returns the name of a section for messages.
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

/// Source and time of documents that were stored one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Origin {
    /// Row of the first of these documents in the segment.
    pub row: u32,
    /// Number of the source.
    pub source: u32,
    /// Time at which they were stored, in seconds since 1970.
    pub time: u64,
}

impl Origin {
    /// Appends the origin, unless it is the same as the last one.
    pub fn push(self, origins: &mut Vec<Self>) {
        let last = origins.last();
        if last.is_none_or(|last| (last.source, last.time) != (self.source, self.time)) {
            origins.push(self);
        }
    }

    /// Returns source and time of the document in a row. `origins` ascend by row.
    #[must_use]
    pub fn of_row(origins: &[Self], row: usize) -> (u32, u64) {
        let behind = origins.partition_point(|origin| origin.row as usize <= row);
        let found = behind.checked_sub(1).map(|at| origins[at]);
        found.map_or((0, 0), |origin| (origin.source, origin.time))
    }
}

/// Repeats of a document from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Repeats {
    /// Number of the document that is repeated.
    pub number: u64,
    /// Number of the source.
    pub source: u32,
    /// Number of repeats.
    pub count: u32,
    /// Time of the first repeat, in seconds since 1970.
    pub first: u64,
    /// Time of the last repeat.
    pub last: u64,
}

/// The content of a segment in addition to rows, IDs and tables.
#[derive(Clone, Debug, Default)]
pub struct SegmentRest {
    /// Origins of the documents, ascending by row.
    pub origins: Vec<Origin>,
    /// Repeats that were added, ascending by number and source.
    pub repeats: Vec<Repeats>,
    /// Numbers of documents that were removed, ascending.
    pub removed: Vec<u64>,
    /// Inputs that were read, one a line.
    pub inputs: Vec<u8>,
}

fn table_kind(table: u32, part: u32) -> Kind {
    Kind(TABLES + 2 * table + part)
}
