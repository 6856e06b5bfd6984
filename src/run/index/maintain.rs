//! Commands on an index as a whole: its size, a check of all bytes, compaction, merging and salvage.

use super::{OpenRequest, synced_disk};
use crate::index::{Index, IndexSize, JoinedCounts, SalvageFolders, Salvaged, salvage};
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

/// Checks every byte of an index against its checksums. Returns the size of the index if it is intact.
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

/// Result of [`merge_index`]: numbers of documents of the index `other`, which was added to the index of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeOutcome {
    /// Number of documents that were added.
    pub new: u64,
    /// Number of documents of `other` that were not added, because they are near a document of the index of the
    /// request.
    pub repeats: u64,
    /// Number of those `repeats` that have the same ID and the same fingerprint as the document that they repeat.
    pub same: u64,
    /// Number of documents that the index has after the merge.
    pub documents: u64,
}

/// Adds all documents of the index in the folder `other` to the index of `request`, with their sources and
/// repeats. Commits the added documents.
///
/// # Errors
///
/// `other` is the index of `request` itself, the two indexes have different methods or options, another process
/// writes to the index of `request`, or one of the indexes is damaged.
pub fn merge_index(
    request: &OpenRequest,
    other: &Path,
    access: FileAccess,
) -> Result<MergeOutcome> {
    if without_links(other) == without_links(&request.index) {
        let rule = "is the index itself: name another index";
        return Err(Error::config("other", other.display(), rule));
    }
    let other_index = Index::open(other, access, &request.resources)?;
    let mut adder = request.open_adder(access)?;
    check_same_settings((&request.index, adder.method()), (other, other_index.method()))?;
    let JoinedCounts { new, repeats, same } = adder.add_index(&other_index)?;
    adder.commit()?;
    // The adder holds the index until it is dropped.
    drop(adder);
    let documents = request.open(access)?.size()?.documents;
    Ok(MergeOutcome { new, repeats, same, documents })
}

/// Index in a folder, and the method that it was created with.
type FolderMethod<'f> = (&'f Path, &'f Method);

/// Checks that two indexes were created with the same options. A later check compares their recipes. It also finds
/// differences that are in no option, for example the version of simtool, but its errors do not name options.
///
/// # Errors
///
/// Options differ. The error names each of them, with its value in both indexes.
fn check_same_settings(
    (folder, method): FolderMethod<'_>,
    (other_folder, other): FolderMethod<'_>,
) -> Result<()> {
    let differences = differing_settings(method, other);
    if differences.is_empty() {
        return Ok(());
    }
    let describe = |(name, value, other_value): &SettingDifference| {
        format!(
            "{name} is {value} in {} and {other_value} in {}",
            folder.display(),
            other_folder.display()
        )
    };
    let differences: Vec<String> = differences.iter().map(describe).collect();
    let rule = format!(
        "cannot be merged, because the indexes have different options: {}. Create an index with the options of {} and add \
         the documents to it again",
        differences.join(", "),
        folder.display()
    );
    Err(Error::config("other", other_folder.display(), rule))
}

/// Name of a setting, and its values in two methods.
type SettingDifference = (&'static str, String, String);

/// Returns the settings in which two methods differ. If the methods have different names, only the names are compared,
/// because each method has its own settings.
fn differing_settings(method: &Method, other: &Method) -> Vec<SettingDifference> {
    // Lanes of minhash and bits of simhash have nothing to compare.
    if method.name() != other.name() {
        return vec![("method", method.name().to_owned(), other.name().to_owned())];
    }
    let (own, others) = (method.parameters(), other.parameters());
    let value_in = |parameters: &[(&str, String)], name: &str| {
        let found = parameters.iter().find(|(other, _)| *other == name);
        found.map_or("not set".to_owned(), |(_, value)| value.clone())
    };
    let mut names: Vec<&'static str> = own.iter().map(|(name, _)| *name).collect();
    // A setting that only the other method has differs, too.
    names.extend(
        others
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !names.contains(name))
            .collect::<Vec<_>>(),
    );
    let values =
        names.into_iter().map(|name| (name, value_in(&own, name), value_in(&others, name)));
    values.filter(|(_, own, other)| own != other).collect()
}

/// Copies the intact documents of a damaged index to a new index in the folder `new`. The damaged index is
/// not changed.
///
/// # Errors
///
/// In each of these cases, no new index is created:
///
/// * No intact part of the index says by which method its fingerprints were made.
/// * The index has no damage, and `copies_intact` is false.
/// * The folder `new` is not empty, or cannot be written.
pub fn salvage_index(
    request: &OpenRequest,
    new: &Path,
    copies_intact: bool,
    access: FileAccess,
) -> Result<Salvaged> {
    let folders = SalvageFolders { from: &request.index, to: new, copies_intact };
    salvage(folders, access, synced_disk(), &request.holder, &request.resources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_differ_are_found_by_name() {
        let differing = |a: &str, b: &str| {
            let found = differing_settings(&a.parse().unwrap(), &b.parse().unwrap());
            let found = found.iter().map(|(name, a, b)| format!("{name} {a} {b}"));
            found.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(differing("simhash", "simhash:bits=64"), "");
        assert_eq!(differing("simhash", "minhash"), "method simhash minhash");
        assert_eq!(
            differing("simhash:bits=128,max_distance=3", "simhash:shingle=words:5"),
            "bits 128 64, shingle words:3 words:5"
        );
        assert_eq!(
            differing("simhash", "simhash:stop_words=english"),
            "stop_words not set english"
        );
    }
}
