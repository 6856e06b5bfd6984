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
mod remains;
mod sealed_file;
mod segment;

use std::io;
use std::path::Path;

pub use folder::{IndexFolder, IndexWriter};
pub use manifest::{Manifest, SegmentEntry};
pub use remains::{LostSegment, Remains};
pub use sealed_file::{InSegment, Seal, StoredArray};
pub use segment::{MOST_TABLES, Origin, Repeats, Segment, SegmentRest, SegmentRows, SegmentWriter};

/// Returns an error unless the path leads to a regular file. Opening a pipe would wait for its writer.
///
/// # Errors
///
/// The path leads to something else, or to nothing.
fn check_is_file(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}
