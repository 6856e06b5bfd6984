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
    let mut damages: Vec<String> = lost.iter().map(Error::to_string).collect();
    let recipe = match &manifest {
        Some(manifest) => KeptRecipe::of(manifest)?,
        None => described(&segments).ok_or_else(|| {
            let rule = "has no intact manifest or segment that tells how its rows were made";
            Error::config("folder", from.display(), rule)
        })??,
    };
    let sources = manifest.as_ref().map_or(Vec::new(), |manifest| manifest.sources.clone());
    let fresh = Manifest { sources: sources.clone(), ..recipe.manifest() };
    IndexWriter::create(to, fresh, disk.clone(), holder)?;
    let mut writer = IndexWriter::open(to, access, disk, holder)?;
    let context = &Context::with_pool(resources, &NoProgress)?;
    let (mut next, mut documents, mut lost_documents) = (0, 0, 0);
    let mut last_source = sources.len();
    for segment in &segments {
        // Without a manifest, the folder may have segments of another index. Their fingerprints must not be
        // mixed with the fingerprints of this index.
        if !has_rows_of(segment, &recipe) {
            damages.push(format!("{} has other rows", segment.path().display()));
            continue;
        }
        let mut rest = rest_of(segment, &mut damages);
        for source in rest.origins.iter().map(|origin| origin.source) {
            last_source = last_source.max(source as usize + 1);
        }
        let (mut words, mut numbers, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let mut origins: Vec<Origin> = Vec::new();
        let (mut first, mut end) = (None, next);
        segment.visit_intact(|row, number, id, row_words| {
            // Without a manifest, a document can be in two segments, before and after a merge. The second
            // copy is skipped.
            if number < end {
                return;
            }
            end = number.saturating_add(1);
            let later = number - *first.get_or_insert(number);
            let (source, time) = Origin::of_row(&rest.origins, row);
            Origin { row: numbers.len() as u32, source, time }.push(&mut origins);
            // The document numbers of a segment differ by less than 2^32.
            numbers.push(later as u32);
            words.extend_from_slice(row_words);
            ids.push(id.to_vec());
        });
        let is_there = segment.len() as u64;
        let missing = is_there - numbers.len() as u64;
        // Without a manifest, a missing document may be a second copy that was skipped, so it does not count
        // as lost.
        if manifest.is_some() && missing > 0 {
            lost_documents += missing;
            damages.push(format!(
                "{}: {missing} of {is_there} documents are lost",
                segment.path().display()
            ));
        }
        documents += numbers.len() as u64;
        next = end;
        rest.origins = origins;
        let first = first.unwrap_or(next);
        let rows = SegmentRows::new(first, &numbers, recipe.row_words(), &words);
        let write_ids = |segment: &mut SegmentWriter<'_>| {
            ids.iter().try_for_each(|id| segment.push_id(id))?;
            segment.end_ids()
        };
        // Segments are not merged, so only one of them needs to be in memory.
        writer.push_segment(0, &rows, &rest, next, &mut |segment| {
            write_ids_and_tables(segment, &write_ids, &words, &recipe, context)
        })?;
    }
    // The names of these sources were in the lost manifest. Documents have only their numbers, which become
    // names.
    for source in sources.len()..last_source {
        writer.source(&format!("source {source}"))?;
    }
    writer.commit()?;
    Ok(Salvaged { documents, lost_documents, damages })
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
