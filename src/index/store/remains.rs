//! The intact parts of a damaged index.

use super::folder::{SEGMENT, read_manifest, segment_path};
use super::manifest::Manifest;
use super::sealed_file::Seal;
use super::segment::Segment;
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::FileAccess;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Intact parts of a damaged index.
#[derive(Debug)]
pub struct Remains {
    /// Manifest of the index, if the manifest is intact.
    pub manifest: Option<Manifest>,
    /// Segments with an intact header. They are the segments that the manifest lists, or all segments in the
    /// folder if the manifest is damaged.
    pub segments: Vec<Segment>,
    /// Errors about the files that are damaged or could not be opened.
    pub lost: Vec<Error>,
    /// Segments that could not be opened.
    pub lost_segments: Vec<LostSegment>,
    /// Ranges of document numbers that only lost segments can have had. Empty if there is no manifest.
    pub lost_numbers: Vec<Range<u64>>,
    /// Number that is greater than every number of a document of the index, even of lost documents.
    pub end_number: u64,
}

/// Segment of a damaged index that cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// Path of the file of the segment.
    pub path: PathBuf,
    /// Maximum number of its documents, by the size of its file. 0 if there is no file.
    pub most_documents: u64,
}

impl LostSegment {
    fn new(path: &Path) -> Self {
        let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
        // A file has at most as many documents as fingerprints of one word fit in it.
        Self { path: path.to_owned(), most_documents: bytes / size_of::<u64>() as u64 }
    }
}

impl Remains {
    /// Opens the intact parts of the index in a folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub fn open(path: &Path, access: FileAccess) -> Result<Self> {
        let mut lost = Vec::new();
        let manifest = read_manifest(path).map_err(|error| lost.push(error)).ok();
        let files: Vec<(PathBuf, Option<Seal>)> = if let Some(manifest) = &manifest {
            let named = manifest.segments.iter();
            named.map(|entry| (segment_path(path, entry.file), Some(entry.seal))).collect()
        } else {
            let failed = |e| Error::io(path, "read", e);
            let entries = fs::read_dir(path).map_err(failed)?;
            let entries: Vec<_> = entries.collect::<io::Result<_>>().map_err(failed)?;
            let is_segment = |entry: &&fs::DirEntry| {
                entry.file_name().to_str().is_some_and(|name| name.starts_with(SEGMENT))
            };
            entries.iter().filter(is_segment).map(|entry| (entry.path(), None)).collect()
        };
        let mut segments = Vec::new();
        // Each file, and the segment in it if it can be opened.
        let mut opened = Vec::new();
        for (file, seal) in files {
            match Segment::open(&file, access, seal) {
                Ok(segment) => {
                    opened.push((file, Some(numbers(&segment))));
                    segments.push(segment);
                }
                Err(error) => {
                    lost.push(error);
                    opened.push((file, None));
                }
            }
        }
        let is_lost = |(_, numbers): &&(PathBuf, Option<Range<u64>>)| numbers.is_none();
        let lost_segments: Vec<LostSegment> =
            opened.iter().filter(is_lost).map(|(path, _)| LostSegment::new(path)).collect();
        // A folder lists its files in any order, but documents must be saved in the order of their numbers.
        segments.sort_by_key(Segment::first);
        let found = opened.iter().map(|(_, numbers)| numbers.clone());
        let (lost_numbers, end_number) = match &manifest {
            Some(manifest) => (gaps(found, manifest.documents), manifest.documents),
            None => (Vec::new(), end_without_manifest(&opened, &lost_segments, &segments)),
        };
        Ok(Self { manifest, segments, lost, lost_segments, lost_numbers, end_number })
    }
}

/// Returns the numbers of the documents of a segment, from the first number to the last.
fn numbers(segment: &Segment) -> Range<u64> {
    let last = segment.len().checked_sub(1);
    segment.first()..last.map_or(segment.first(), |last| segment.number(last).saturating_add(1))
}

/// Returns the ranges of document numbers that only lost segments can have. `found` has the range of numbers of each
/// segment in the order of the manifest, or `None` if the segment is lost. `end` is the number of all documents.
fn gaps(found: impl Iterator<Item = Option<Range<u64>>>, end: u64) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let (mut next, mut is_lost) = (0, false);
    for numbers in found.chain(std::iter::once(Some(end..end))) {
        match numbers {
            None => is_lost = true,
            Some(numbers) => {
                if is_lost && next < numbers.start {
                    gaps.push(next..numbers.start);
                }
                (next, is_lost) = (numbers.end.max(next), false);
            }
        }
    }
    gaps
}

/// Returns a number that is greater than the numbers of all documents of an index whose manifest is lost. `opened` has
/// all segment files, each with its range of document numbers unless it is damaged. `lost` has the damaged files, and
/// `segments` the others.
fn end_without_manifest(
    opened: &[(PathBuf, Option<Range<u64>>)],
    lost: &[LostSegment],
    segments: &[Segment],
) -> u64 {
    let mut end = opened.iter().filter_map(|(_, numbers)| Some(numbers.as_ref()?.end)).max();
    for segment in segments {
        // Repeats and removals name documents that may be in a lost file.
        let repeated = segment.intact_repeats().0.into_iter().map(|repeats| repeats.number);
        let named = repeated.chain(segment.intact_removed().0).max();
        end = end.max(named.map(|number| number.saturating_add(1)));
    }
    let in_lost: u64 = lost.iter().map(|segment| segment.most_documents).sum();
    end.unwrap_or(0).saturating_add(in_lost)
}
