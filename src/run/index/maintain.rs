//! Commands on an index as a whole: its size, a check of all bytes, compaction, merging and salvage.

use super::{OpenRequest, synced_disk};
use crate::index::{Index, IndexSize, SalvageFolders, Salvaged, salvage};
use crate::method::Method;
use crate::output::index_rows::{SizeRow, write_size};
use crate::run::files::without_links;
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::FileAccess;
use std::io::{self, Write};
use std::path::Path;

/// Result of [`stat_index`]: the method, the sources and the size of an index.
#[derive(Clone, Debug)]
pub struct StatOutcome {
    /// Method that compares the documents of the index.
    pub method: Method,
    /// Names of the sources of documents, in the order in which they were first used.
    pub sources: Vec<String>,
    /// Numbers of documents, segments and bytes.
    pub size: IndexSize,
}

impl StatOutcome {
    /// Writes one JSON object, in a line of its own.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let method = self.method.to_string();
        let IndexSize { documents, removed, repeats, generation, segments, bytes, tables } =
            self.size;
        let row = SizeRow {
            method: &method,
            documents,
            removed,
            repeats,
            sources: self.sources.len(),
            segments,
            tables,
            bytes,
            generation,
        };
        write_size(out, &row)
    }
}

/// Returns the method, the sources and the size of an index. Its documents are not read.
///
/// # Errors
///
/// There is no index in the folder, or its list of segments is damaged.
pub fn stat_index(request: &OpenRequest, access: FileAccess) -> Result<StatOutcome> {
    let index = request.open(access)?;
    Ok(StatOutcome {
        method: index.method().clone(),
        sources: index.sources().to_vec(),
        size: index.size()?,
    })
}

/// Checks every byte of an index against its checksums. Returns the size of the index, which is intact.
///
/// # Errors
///
/// The index is damaged. The error describes the first damage that was found.
pub fn verify_index(request: &OpenRequest, access: FileAccess) -> Result<IndexSize> {
    let index = request.open(access)?;
    index.verify()?;
    index.size()
}

/// Merges the segments of an index and deletes removed documents from the disk. Returns the new size.
///
/// # Errors
///
/// Another process writes to the index, or the index is damaged or cannot be written.
pub fn compact_index(request: &OpenRequest, access: FileAccess) -> Result<IndexSize> {
    let mut adder = request.open_adder(access)?;
    adder.compact()?;
    // The adder deletes the merged segments only when it is dropped. They must not count in the size.
    drop(adder);
    request.open(access)?.size()
}

/// Result of [`merge_index`]: numbers of documents of the index that was added to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeOutcome {
    /// Number of documents that were added.
    pub new: u64,
    /// Number of documents that were not added, because they are near a document of the other index.
    pub repeats: u64,
}

/// Adds all documents of the index in the folder `other` to the index of `request`, with their sources and
/// repeats. Commits the added documents.
///
/// # Errors
///
/// `other` is the index of `request` itself, the two indexes compare by different methods, another process writes to the index of `request`, or one of
/// the indexes is damaged.
pub fn merge_index(
    request: &OpenRequest,
    other: &Path,
    access: FileAccess,
) -> Result<MergeOutcome> {
    if without_links(other) == without_links(&request.index) {
        let rule = "is the index itself: name another index";
        return Err(Error::config("other", other.display(), rule));
    }
    let other = Index::open(other, access, &request.resources)?;
    let mut adder = request.open_adder(access)?;
    let (new, repeats) = adder.add_index(&other)?;
    adder.commit()?;
    Ok(MergeOutcome { new, repeats })
}

/// Copies the intact documents of a damaged index to a new index in the folder `new`. The damaged index is
/// not changed.
///
/// # Errors
///
/// No intact part says how the fingerprints were made, the index has no damage although `copies_intact` is
/// false, or `new` is not empty or cannot be written. Then there is no new index.
pub fn salvage_index(
    request: &OpenRequest,
    new: &Path,
    copies_intact: bool,
    access: FileAccess,
) -> Result<Salvaged> {
    let folders = SalvageFolders { from: &request.index, to: new, copies_intact };
    salvage(folders, access, synced_disk(), &request.holder, &request.resources)
}
