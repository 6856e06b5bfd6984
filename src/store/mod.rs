//! Fingerprints that are kept: the files of an index that grows, and survives whatever happens while
//! it is written to.
//!
//! An [`IndexFolder`] is an index as it stands, an [`IndexWriter`] the one process that adds to it. A
//! [`Segment`] holds documents that were added in a row; it is written once, and checked where it is
//! read. The [`Manifest`] says which segments are the index. What stands in them is found by the search
//! stage, which nothing here knows of.

mod folder;
mod id_list;
mod lock;
mod manifest;
mod sealed_file;
mod segment;

pub use folder::{IndexFolder, IndexWriter, Remains};
pub use manifest::{Manifest, SegmentEntry};
pub use sealed_file::{InSegment, Seal, StoredArray};
pub use segment::{MOST_TABLES, Origin, Repeats, Segment, SegmentRest, SegmentRows, SegmentWriter};
