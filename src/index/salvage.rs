//! Copies the intact documents of a damaged index to a new index.

use super::kept_recipe::KeptRecipe;
use super::merge::write_ids_and_tables;
use super::pending::merge_repeats;
use super::stored::{has_rows_of, removed, removed_in_segments};
use crate::index::store::{
    IndexWriter, LostSegment, Manifest, Origin, Remains, Segment, SegmentRest, SegmentRows,
    SegmentWriter,
};
use simtool_base::durable::Disk;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::mapped_file::FileAccess;
use simtool_base::progress::NoProgress;
use simtool_base::quantity::counted;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use std::path::Path;

/// Folders of a damaged index and of the new index that gets its intact documents.
#[derive(Clone, Copy, Debug)]
pub struct SalvageFolders<'f> {
    /// Folder of the damaged index, which is not changed.
    pub from: &'f Path,
    /// Folder of the new index.
    pub to: &'f Path,
    /// Whether an index without damage is copied, too. Otherwise such an index is an error.
    pub copies_intact: bool,
}

/// Result of copying the intact documents of a damaged index.
#[derive(Debug)]
pub struct Salvaged {
    /// Number of documents in the new index. The documents have the same numbers as in the damaged index.
    pub documents: u64,
    /// Maximum number of documents that are lost. Documents that were removed before may be counted. `None` if
    /// the list of segments is lost, so that nobody knows how many segments there were.
    pub lost_documents: Option<u64>,
    /// Whether removals are lost, so that documents which were removed may be in the new index.
    pub loses_removals: bool,
    /// Whether counts of repeats are lost. Repeats are documents that were not added, because they are near a document
    /// of the index.
    pub loses_repeats: bool,
    /// Descriptions of the damage and of the losses.
    pub damages: Vec<String>,
}

/// Creates a new index from the intact parts of the index in the folder `from` of `folders`. Documents keep their
/// numbers, and new documents do not get the numbers of lost documents. The list of input files is not copied, so that
/// lost documents can be added again.
///
/// # Errors
///
/// No intact part of the index says how its fingerprints were made, the index has no damage, or the folder
/// `to` is not empty or cannot be written. Then there is no new index.
pub fn salvage(
    folders: SalvageFolders<'_>,
    access: FileAccess,
    disk: Disk,
    holder: &str,
    resources: &Resources,
) -> Result<Salvaged> {
    let SalvageFolders { from, to, copies_intact } = folders;
    let remains = Remains::open(from, access)?;
    let recipe = recipe_of(&remains, from)?;
    let mut salvaged = Salvaged::of(&remains);
    if salvaged.damages.is_empty() && !copies_intact {
        let rule = "has no damage. To copy it without its list of added files, use `force`";
        return Err(Error::config("folder", from.display(), rule));
    }
    let Remains { manifest, segments, end_number, .. } = remains;
    let sources = manifest.map_or(Vec::new(), |manifest| manifest.sources);
    let mut last_source = sources.len();
    let fresh = Manifest { sources, documents: end_number, ..recipe.manifest() };
    let mut writer = IndexWriter::begin(to, fresh, access, disk, holder)?;
    let context = &Context::with_pool(resources, &NoProgress)?;
    let mut next = 0;
    for segment in &segments {
        // Without a manifest, the folder may have segments of another index. Their fingerprints must not be
        // mixed with the fingerprints of this index.
        if !has_rows_of(segment, &recipe) {
            let path = segment.path().display();
            salvaged.note(format!("{path} is left out: another method made its fingerprints"));
            continue;
        }
        let mut rest = rest_of(segment, &mut salvaged);
        let mut intact = IntactDocuments::read(segment, &rest.origins, next);
        salvaged.count(segment, &intact);
        next = intact.end;
        rest.origins = std::mem::take(&mut intact.origins);
        last_source = last_source.max(end_of_sources(&rest));
        let rows =
            SegmentRows::new(intact.first, &intact.numbers, recipe.row_words(), &intact.words);
        let write_ids = |segment: &mut SegmentWriter<'_>| {
            intact.ids.iter().try_for_each(|id| segment.push_id(id))?;
            segment.end_ids()
        };
        // Segments are not merged, so only one of them needs to be in memory.
        writer.push_segment(0, &rows, &rest, end_number.max(next), &mut |segment| {
            write_ids_and_tables(segment, &write_ids, &intact.words, &recipe, context)
        })?;
    }
    // The names of these sources were in the lost manifest. Documents have only their numbers, which become
    // names.
    for source in writer.folder().manifest().sources.len()..last_source {
        writer.source(&format!("source {source}"))?;
    }
    let removed = removed(writer.folder())?;
    salvaged.documents -= removed_in_segments(writer.folder(), &removed) as u64;
    // Until this commit there is no manifest, so an error above leaves no index.
    writer.commit()?;
    Ok(salvaged)
}

impl Salvaged {
    /// Creates the result before any document is copied. Checks every file as a whole, and adds the damage that it
    /// finds to the result.
    fn of(remains: &Remains) -> Self {
        let mut salvaged = Self {
            documents: 0,
            lost_documents: remains.manifest.as_ref().map(|_| 0),
            loses_removals: false,
            loses_repeats: false,
            damages: Vec::new(),
        };
        for error in &remains.lost {
            salvaged.note(error.with_cause());
        }
        for LostSegment { path, most_documents } in &remains.lost_segments {
            let path = path.display();
            if remains.manifest.is_none() {
                salvaged.note(format!("{path}: at most {most_documents} documents are lost"));
            }
            // Any segment can have removals and repeats of documents in other segments.
            salvaged.note_removals(&format!("{path}: its removals are lost"));
            salvaged.note_repeats(&format!("{path}: its counts of repeats are lost"));
        }
        for numbers in &remains.lost_numbers {
            let count = numbers.end - numbers.start;
            salvaged.lose(count);
            salvaged.note(format!(
                "at most {count} documents are lost, with the numbers from {} to {}",
                numbers.start,
                numbers.end - 1
            ));
        }
        for segment in &remains.segments {
            if let Err(error) = segment.verify() {
                salvaged.note(error.with_cause());
            }
        }
        salvaged
    }

    /// Adds the description of a damage unless it is known already.
    fn note(&mut self, damage: String) {
        if !self.damages.contains(&damage) {
            self.damages.push(damage);
        }
    }

    /// Adds `documents` to the number of lost documents.
    fn lose(&mut self, documents: u64) {
        self.lost_documents = self.lost_documents.map(|lost| lost.saturating_add(documents));
    }

    /// Adds a description of lost removals. `loss` is a clause that says which removals are lost, for example
    /// "segment-3: 2 removals lost".
    fn note_removals(&mut self, loss: &str) {
        self.loses_removals = true;
        self.note(format!(
            "{loss}, so documents that were removed may be in the new index. Remove them again with index remove"
        ));
    }

    /// Adds a description of lost counts of repeats. `loss` is a clause that says which counts are lost, for example
    /// "segment-3: its counts of repeats are lost". Repeats are documents that were not added, because they are near a
    /// document of the index.
    fn note_repeats(&mut self, loss: &str) {
        self.loses_repeats = true;
        self.note(format!("{loss}, so the new index counts fewer repeats"));
    }

    /// Adds the intact documents of a segment to the counts, and reports how many of its documents are lost.
    fn count(&mut self, segment: &Segment, intact: &IntactDocuments) {
        let is_there = segment.len() as u64;
        // A second copy of a document is skipped, but it is not lost.
        let missing = is_there - intact.numbers.len() as u64 - intact.copies;
        if missing > 0 {
            self.lose(missing);
            let path = segment.path().display();
            self.note(format!("{path}: {missing} of {is_there} documents are lost"));
        }
        self.documents += intact.numbers.len() as u64;
    }
}

/// Returns the greatest number of a source in the data of a segment plus one, or 0 if the data has no source.
fn end_of_sources(rest: &SegmentRest) -> usize {
    let origins = rest.origins.iter().map(|origin| origin.source);
    let sources = origins.chain(rest.repeats.iter().map(|repeats| repeats.source));
    sources.max().map_or(0, |source| source as usize + 1)
}

/// Documents of a segment (a file of the index) that are not damaged.
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
    /// Number of documents that are also in an earlier segment. They are not copied again.
    copies: u64,
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
        let mut copies = 0;
        segment.visit_intact(|row, number, id, row_words| {
            // Without a manifest, a document can be in two segments, before and after a merge. The second
            // copy is skipped.
            if number < end {
                copies += 1;
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
        let first = first.unwrap_or(end);
        Self { first, end, numbers, words, ids, origins: kept_origins, copies }
    }
}

/// Returns the recipe (rules by which the fingerprints are made) from the manifest, or from a segment if there is no
/// manifest.
///
/// # Errors
///
/// This version of simtool cannot use the method of the index, or no intact file names the recipe. `from` is the folder
/// of the index, for the message.
fn recipe_of(remains: &Remains, from: &Path) -> Result<KeptRecipe> {
    if let Some(manifest) = &remains.manifest {
        return KeptRecipe::of(manifest);
    }
    described(&remains.segments).ok_or_else(|| {
        let first = remains.lost.first().map_or_else(String::new, Error::with_cause);
        let what = format!("{} is no index that can be saved", from.display());
        let reason = format!("no intact file says how the fingerprints were made ({first})");
        Error::from(ErrorKind::Missing { what, reason })
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

/// Returns the sources, times, repeats and removals of a segment as far as they are intact. Notes in `salvaged` which
/// data are damaged.
fn rest_of(segment: &Segment, salvaged: &mut Salvaged) -> SegmentRest {
    let path = segment.path().display();
    let origins = segment.origins().inspect_err(|error| salvaged.note(error.with_cause()));
    let (mut repeats, lost_repeats) = segment.intact_repeats();
    merge_repeats(&mut repeats);
    let (removed, lost_removals) = segment.intact_removed();
    if lost_repeats > 0 {
        let lost = counted(lost_repeats as u64, "document");
        salvaged.note_repeats(&format!("{path}: the counts of repeats of {lost} are lost"));
    }
    if lost_removals > 0 {
        let lost = counted(lost_removals as u64, "removal");
        salvaged.note_removals(&format!("{path}: {lost} lost"));
    }
    SegmentRest {
        origins: origins.unwrap_or_default().to_vec(),
        repeats,
        removed,
        // Documents of a listed input may be lost. Without the entry, the input can be added again.
        inputs: Vec::new(),
    }
}
