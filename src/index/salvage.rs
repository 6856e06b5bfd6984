//! Copies the intact documents of a damaged index to a new index.

use super::kept_recipe::KeptRecipe;
use super::merge::write_ids_and_tables;
use super::pending::merge_repeats;
use super::stored::has_rows_of;
use crate::index::store::{
    IndexWriter, Manifest, Origin, Remains, Segment, SegmentRest, SegmentRows, SegmentWriter,
};
use simtool_base::durable::Disk;
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::FileAccess;
use simtool_base::progress::NoProgress;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use std::path::Path;

/// Result of copying the intact documents of a damaged index.
#[derive(Debug)]
pub struct Salvaged {
    /// Number of documents in the new index. The documents have the same numbers as in the damaged index.
    pub documents: u64,
    /// Number of documents that are known to be lost.
    pub lost_documents: u64,
    /// Descriptions of the damage and of the losses.
    pub damages: Vec<String>,
}

/// Creates a new index in the folder `to` from the intact parts of the index in `from`, which is not changed.
/// Documents keep their numbers. The list of input files is not copied, so that lost documents can be added
/// again.
///
/// # Errors
///
/// No intact part of the index says how its fingerprints were made, another process writes to the index, or
/// `to` is not empty or cannot be written.
pub fn salvage(
    (from, to): (&Path, &Path),
    access: FileAccess,
    disk: Disk,
    holder: &str,
    resources: &Resources,
) -> Result<Salvaged> {
    let Remains { manifest, segments, lost } = Remains::open(from, access)?;
    let recipe = recipe_of(manifest.as_ref(), &segments, from)?;
    let sources = manifest.as_ref().map_or(Vec::new(), |manifest| manifest.sources.clone());
    let fresh = Manifest { sources: sources.clone(), ..recipe.manifest() };
    IndexWriter::create(to, fresh, disk.clone(), holder)?;
    let mut writer = IndexWriter::open(to, access, disk, holder)?;
    let context = &Context::with_pool(resources, &NoProgress)?;
    let damages = lost.iter().map(Error::to_string).collect();
    let mut salvaged = Salvaged { documents: 0, lost_documents: 0, damages };
    let mut next = 0;
    let mut last_source = sources.len();
    for segment in &segments {
        // Without a manifest, the folder may have segments of another index. Their fingerprints must not be
        // mixed with the fingerprints of this index.
        if !has_rows_of(segment, &recipe) {
            salvaged.damages.push(format!("{} has other rows", segment.path().display()));
            continue;
        }
        let mut rest = rest_of(segment, &mut salvaged.damages);
        for source in rest.origins.iter().map(|origin| origin.source) {
            last_source = last_source.max(source as usize + 1);
        }
        let mut intact = IntactDocuments::read(segment, &rest.origins, next);
        salvaged.count(segment, &intact, manifest.is_some());
        next = intact.end;
        rest.origins = std::mem::take(&mut intact.origins);
        let rows =
            SegmentRows::new(intact.first, &intact.numbers, recipe.row_words(), &intact.words);
        let write_ids = |segment: &mut SegmentWriter<'_>| {
            intact.ids.iter().try_for_each(|id| segment.push_id(id))?;
            segment.end_ids()
        };
        // Segments are not merged, so only one of them needs to be in memory.
        writer.push_segment(0, &rows, &rest, next, &mut |segment| {
            write_ids_and_tables(segment, &write_ids, &intact.words, &recipe, context)
        })?;
    }
    // The names of these sources were in the lost manifest. Documents have only their numbers, which become
    // names.
    for source in sources.len()..last_source {
        writer.source(&format!("source {source}"))?;
    }
    writer.commit()?;
    Ok(salvaged)
}

impl Salvaged {
    /// Counts the documents of a segment. Missing documents are lost if the index `has_manifest`.
    fn count(&mut self, segment: &Segment, intact: &IntactDocuments, has_manifest: bool) {
        let found = intact.numbers.len() as u64;
        let is_there = segment.len() as u64;
        let missing = is_there - found;
        // Without a manifest, a missing document may be a second copy that was skipped, so it does not count
        // as lost.
        if has_manifest && missing > 0 {
            self.lost_documents += missing;
            self.damages.push(format!(
                "{}: {missing} of {is_there} documents are lost",
                segment.path().display()
            ));
        }
        self.documents += found;
    }
}

/// The intact documents of a segment.
struct IntactDocuments {
    /// Number of the first document.
    first: u64,
    /// Number that follows the last document.
    end: u64,
    /// For each document, the difference of its number from `first`.
    numbers: Vec<u32>,
    words: Vec<u64>,
    ids: Vec<Vec<u8>>,
    origins: Vec<Origin>,
}

impl IntactDocuments {
    /// Reads the intact documents of a segment whose numbers are at least `next`. `origins` has the origins
    /// of all its documents.
    fn read(segment: &Segment, origins: &[Origin], next: u64) -> Self {
        let mut first = None;
        let mut end = next;
        let mut numbers = Vec::new();
        let mut words = Vec::new();
        let mut ids = Vec::new();
        let mut kept_origins = Vec::new();
        segment.visit_intact(|row, number, id, row_words| {
            // Without a manifest, a document can be in two segments, before and after a merge. The second
            // copy is skipped.
            if number < end {
                return;
            }
            end = number.saturating_add(1);
            let later = number - *first.get_or_insert(number);
            let (source, time) = Origin::of_row(origins, row);
            Origin { row: numbers.len() as u32, source, time }.push(&mut kept_origins);
            // The document numbers of a segment differ by less than 2^32.
            numbers.push(later as u32);
            words.extend_from_slice(row_words);
            ids.push(id.to_vec());
        });
        Self { first: first.unwrap_or(end), end, numbers, words, ids, origins: kept_origins }
    }
}

/// Returns the recipe of the fingerprints from the manifest, or from a segment if there is no manifest.
///
/// # Errors
///
/// The recipe is not known here, or there is none. `from` is for the message.
fn recipe_of(manifest: Option<&Manifest>, segments: &[Segment], from: &Path) -> Result<KeptRecipe> {
    if let Some(manifest) = manifest {
        return KeptRecipe::of(manifest);
    }
    described(segments).ok_or_else(|| {
        let rule = "has no intact manifest or segment that tells how its rows were made";
        Error::config("folder", from.display(), rule)
    })?
}

/// Returns the recipe by which fingerprints are made, from the first segment whose description is intact.
/// Returns `None` if no segment has an intact description.
fn described(segments: &[Segment]) -> Option<Result<KeptRecipe>> {
    let text = segments.iter().find_map(|segment| segment.description().ok())?;
    let mut lines = text.lines();
    let (method, recipe) = (lines.next()?.to_owned(), lines.next()?.to_owned());
    Some(KeptRecipe::of(&Manifest::new(method, recipe)))
}

/// Returns the sources, times, repeats and removals of a segment as far as they are intact. Adds errors to
/// `damages`.
fn rest_of(segment: &Segment, damages: &mut Vec<String>) -> SegmentRest {
    let mut note = |error: Error| damages.push(error.to_string());
    let mut repeats = segment.repeats().map_err(&mut note).unwrap_or_default().to_vec();
    merge_repeats(&mut repeats);
    SegmentRest {
        origins: segment.origins().map_err(&mut note).unwrap_or_default().to_vec(),
        repeats,
        removed: segment.removed().map_err(&mut note).unwrap_or_default().to_vec(),
        // Documents of a listed input may be lost. Without the entry, the input can be added again.
        inputs: Vec::new(),
    }
}
