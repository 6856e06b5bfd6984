//! `index remove`: removes documents from an index, by their IDs or because they were not seen for long.

use super::{OpenRequest, refuse_rest, take_time};
use crate::run::face::Face;
use crate::run::standard_streams::STANDARD_INPUT;
use serde_json::value::RawValue;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::options::Options;
use simtool_base::utc_time::UtcTime;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Documents that are removed from an index.
#[derive(Clone, Debug)]
pub struct RemoveRequest {
    /// Index from which documents are removed.
    pub index: OpenRequest,
    /// Choice of the documents.
    pub removal: Removal,
    /// Whether each line of a list of IDs is JSON: an ID as a string or a number, or an object with the field `id`.
    pub is_json: bool,
}

/// Choice of the documents that are removed from an index.
#[derive(Clone, Debug)]
pub enum Removal {
    /// The documents with these IDs: the path of a file with one ID on each line; `-` is standard input.
    Ids(PathBuf),
    /// The documents whose last sighting is before a time.
    NotSeenSince {
        /// Earliest time of the last sighting of a document that stays.
        time: UtcTime,
        /// Name of the source that has brought the documents. `None` for documents of all sources.
        source: Option<String>,
    },
}

impl RemoveRequest {
    /// Creates the request to remove documents from `index`. `holder` describes this process. `options` may have the
    /// settings of the command `index remove`, except `json`, which the caller sets.
    ///
    /// # Errors
    ///
    /// A value is wrong, the choice of the documents is missing, or a setting is unknown.
    pub fn parse(index: PathBuf, holder: String, mut options: Options) -> Result<Self> {
        let source = options.take("source");
        let since = take_time("not_seen_since", &mut options)?;
        let removal = match (options.take_path("ids"), since, source) {
            (Some(ids), None, None) => Removal::Ids(ids),
            (None, Some(time), source) => Removal::NotSeenSince { time, source },
            (Some(_), Some(_), _) => {
                let rule =
                    "names the documents, which `not_seen_since` does as well: use one of them";
                return Err(Error::config("ids", "", rule));
            }
            (_, None, Some(source)) => {
                let rule = "chooses among the documents of `not_seen_since`, which is missing";
                return Err(Error::config("source", source, rule));
            }
            (None, None, None) => {
                let rule = "names the file with the IDs, and is missing; `not_seen_since` names a time instead";
                return Err(Error::config("ids", "", rule));
            }
        };
        let index = OpenRequest::parse(index, holder, &mut options)?;
        let request = Self { index, removal, is_json: false };
        refuse_rest(&options)?;
        Ok(request)
    }
}

/// Result of [`remove_from_index`]: number of removed documents, and the IDs that were not in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoveOutcome {
    /// Number of documents that were removed.
    pub removed: u64,
    /// IDs of the request that no document of the index has, in ascending order.
    pub unknown: Vec<Vec<u8>>,
}

/// Removes the documents that `request` chooses from the index, and commits the change.
///
/// # Errors
///
/// The IDs cannot be read, no document came from the named source, another process writes to the index, or the index
/// cannot be written.
pub fn remove_from_index(request: &RemoveRequest, face: &dyn Face) -> Result<RemoveOutcome> {
    let path = match &request.removal {
        Removal::Ids(path) => path,
        Removal::NotSeenSince { time, source } => {
            // All documents of the index are looked at, so no ID can be unknown.
            let mut adder = request.index.open_adder(face.access())?;
            let removed = adder.remove_not_seen_since(time.seconds(), source.as_deref())?;
            adder.commit()?;
            return Ok(RemoveOutcome { removed, unknown: Vec::new() });
        }
    };
    let ids = read_ids(path)?;
    let mut wanted = ids_in(&ids, path, request.is_json)?;
    // The index has many more IDs than the list, so each ID of the index is looked up in the sorted list.
    wanted.sort_unstable();
    wanted.dedup();
    let mut is_found = vec![false; wanted.len()];
    let mut adder = request.index.open_adder(face.access())?;
    let removed =
        adder.remove(&mut |id| match wanted.binary_search_by(|wanted| (**wanted).cmp(id)) {
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

/// Returns the IDs in the lines of a list.
///
/// # Errors
///
/// A line is no ID in JSON, although `is_json` is true.
fn ids_in<'l>(list: &'l [u8], path: &Path, is_json: bool) -> Result<Vec<Cow<'l, [u8]>>> {
    let mut ids = Vec::new();
    for (at, line) in list.split(|&byte| byte == b'\n').enumerate() {
        // Files from Windows also have a carriage return at the end of each line.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Without JSON, a line is the ID itself, byte by byte.
        let id = if is_json { json_id(line) } else { Some(Cow::Borrowed(line)) };
        match id {
            _ if line.is_empty() => {}
            Some(id) => ids.push(id),
            None => {
                let expected =
                    "an ID as JSON: a string, a number, or an object with the field \"id\"";
                let (path, expected) = (path.to_owned(), expected.to_owned());
                return Err(ErrorKind::Line { path, line: at + 1, expected }.into());
            }
        }
    }
    Ok(ids)
}

/// Returns the ID in a line of JSON. `None` if the line has none.
fn json_id(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    let value = match line.trim_ascii_start().first() {
        Some(b'{') => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(line).ok()?;
            *fields.get("id")?
        }
        _ => serde_json::from_slice::<&RawValue>(line).ok()?,
    };
    match value.get().as_bytes() {
        [b'"', ..] => {
            let id: String = serde_json::from_str(value.get()).ok()?;
            Some(Cow::Owned(id.into_bytes()))
        }
        // A number is stored as its digits in the document.
        digits @ [b'-' | b'0'..=b'9', ..] => Some(Cow::Borrowed(digits)),
        _ => None,
    }
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
