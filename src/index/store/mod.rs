//! The files of an index that grows, written so that the index survives crashes and power cuts.
//!
//! * An [`IndexFolder`] is an index at the time when it was opened.
//! * An [`IndexWriter`] is the only process that adds to an index.
//! * A [`Segment`] has documents that were added one after the other. It is written once and checked
//!   when it is read.
//! * The [`Manifest`] lists the segments of an index.
//!
//! This room stores rows and tables but does not search them.

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
