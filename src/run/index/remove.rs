//! `index remove`: removes documents from an index by their IDs.

use super::OpenRequest;
use crate::run::face::Face;
use crate::run::standard_streams::STANDARD_INPUT;
use simtool_base::error::{Error, Result};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The documents to remove from an index.
#[derive(Clone, Debug)]
pub struct RemoveRequest {
    /// The index.
    pub index: OpenRequest,
    /// A file with one ID a line; `-` is standard input.
    pub ids: PathBuf,
}

/// Counts of removed documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoveOutcome {
    /// Number of documents that were removed.
    pub removed: u64,
    /// IDs that no document has, in ascending order.
    pub unknown: Vec<Vec<u8>>,
}

/// Removes the documents with the IDs of `request`, and commits.
///
/// # Errors
///
/// The IDs cannot be read, another process writes to the index, or the index cannot be written.
pub fn remove_from_index(request: &RemoveRequest, face: &dyn Face) -> Result<RemoveOutcome> {
    let ids = read_ids(&request.ids)?;
    let lines = ids.split(|&byte| byte == b'\n');
    // Files of other systems end lines with a carriage return, too.
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut wanted: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    // The index has many more documents than the list, so each of its IDs is searched in the sorted
    // list.
    wanted.sort_unstable();
    wanted.dedup();
    let mut is_found = vec![false; wanted.len()];
    let mut adder = request.index.open_adder(face.access())?;
    let removed = adder.remove(&mut |id| match wanted.binary_search(&id) {
        Ok(at) => {
            is_found[at] = true;
            true
        }
        Err(_) => false,
    })?;
    adder.commit()?;
    let unknown = wanted.iter().zip(&is_found).filter(|(_, is_found)| !**is_found);
    Ok(RemoveOutcome { removed, unknown: unknown.map(|(id, _)| id.to_vec()).collect() })
}

fn read_ids(path: &Path) -> Result<Vec<u8>> {
    let read = if path == Path::new(STANDARD_INPUT) {
        let mut ids = Vec::new();
        io::stdin().lock().read_to_end(&mut ids).map(|_| ids)
    } else {
        fs::read(path)
    };
    read.map_err(|error| Error::io(path, "read", error))
}
