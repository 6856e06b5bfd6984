//! `index remove`: removes documents from an index by their IDs.

use super::OpenRequest;
use crate::run::face::Face;
use crate::run::standard_streams::STANDARD_INPUT;
use simtool_base::error::{Error, Result};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Documents that are removed from an index, by their IDs.
#[derive(Clone, Debug)]
pub struct RemoveRequest {
    /// Index from which documents are removed.
    pub index: OpenRequest,
    /// Path of a file with one ID on each line; `-` is standard input.
    pub ids: PathBuf,
}

/// Result of a finished [`remove_from_index`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoveOutcome {
    /// Number of documents that were removed.
    pub removed: u64,
    /// IDs of the request that no document of the index has, in ascending order.
    pub unknown: Vec<Vec<u8>>,
}

/// Removes the documents with the IDs of `request` from the index, and commits the change.
///
/// # Errors
///
/// The IDs cannot be read, another process writes to the index, or the index cannot be written.
pub fn remove_from_index(request: &RemoveRequest, face: &dyn Face) -> Result<RemoveOutcome> {
    let ids = read_ids(&request.ids)?;
    let lines = ids.split(|&byte| byte == b'\n');
    // Files from Windows also have a carriage return at the end of each line.
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut wanted: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    // The index has many more IDs than the list, so each ID of the index is looked up in the sorted list.
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
