//! The files of an index that grows, written so that the index survives crashes and power cuts.
//!
//! * An [`IndexFolder`] is an index as it was when it was opened.
//! * An [`IndexWriter`] writes to an index, which one process at a time may do.
//! * A [`Segment`] is a file with documents that were added one after the other. It is written once, and
//!   checked when it is read.
//! * The [`Manifest`] is the file that lists the segments of an index.
//!
//! This module stores fingerprints and tables but does not search them.

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
