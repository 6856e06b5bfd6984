//! Queries to an index: the documents near a fingerprint, and the data about a document.

use super::kept_recipe::KeptRecipe;
use super::lookup::{Lookup, Near};
use crate::index::store::{IndexFolder, Origin, Repeats, Segment};
use crate::method::Method;
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::FileAccess;
use simtool_base::progress::NoProgress;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_model::fingerprint_rows::{FingerprintRows, Shape};
use simtool_model::matches::Match;
use std::path::Path;

/// An index that is open for reading. It shows the state that the index had when it was opened.
#[derive(Debug)]
pub struct Index {
    folder: IndexFolder,
    recipe: KeptRecipe,
    removed: Vec<u64>,
    context: Context<'static>,
}

/// Data about a document of an index and about its repeats. Repeats are near documents that were not added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDocument {
    /// Number of the document in the index.
    pub number: u64,
    /// ID of the document.
    pub id: Vec<u8>,
    /// Number of documents that were near this document and so were not added.
    pub repeats: u64,
    /// Numbers of the sources of the document and its repeats. The source of the document itself is first,
    /// and the other numbers ascend.
    pub sources: Vec<u32>,
    /// Earliest time at which the document or a repeat of it was added, in seconds since 1970.
    pub first: u64,
    /// Latest time at which the document or a repeat of it was added, in seconds since 1970.
    pub last: u64,
}

impl KnownDocument {
    pub(super) fn new(number: u64, id: Vec<u8>, source: u32, time: u64) -> Self {
        Self { number, id, repeats: 0, sources: vec![source], first: time, last: time }
    }

    pub(super) fn add(&mut self, repeats: &Repeats) {
        self.repeats += u64::from(repeats.count);
        self.first = self.first.min(repeats.first);
        self.last = self.last.max(repeats.last);
        let own = self.sources[0];
        let others = &mut self.sources[1..];
        if repeats.source != own
            && let Err(at) = others.binary_search(&repeats.source)
        {
            self.sources.insert(1 + at, repeats.source);
        }
    }
}

/// A document with all data that the index stores about it.
pub(super) struct StoredDocument<'s> {
    pub(super) number: u64,
    pub(super) id: &'s [u8],
    /// Fingerprint of the document.
    pub(super) words: &'s [u64],
    pub(super) source: u32,
    pub(super) time: u64,
    /// Repeats of the document, one entry for each source.
    pub(super) repeats: &'s [Repeats],
}

/// Numbers that describe the size of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSize {
    /// Number of documents. Removed documents are not counted.
    pub documents: u64,
    /// Number of documents that were removed.
    pub removed: u64,
    /// Number of documents that were not added, because they are near a document of the index.
    pub repeats: u64,
    /// Number of commits to the index so far.
    pub generation: u64,
    /// Number of segments, which are searched one after the other.
    pub segments: usize,
    /// Number of bytes of all segment files.
    pub bytes: u64,
    /// Number of lookup tables of each segment. If it is 0, a search compares every fingerprint.
    pub tables: usize,
}

impl Index {
    /// Opens the index in a folder for reading. Another process may write to it, but documents that are added
    /// later are not found. If another version of simtool made fingerprints by other rules, the index can be
    /// read, but queries by texts are errors.
    ///
    /// # Errors
    ///
    /// There is no index, it is damaged, or the threads cannot be started.
    pub fn open(path: &Path, access: FileAccess, resources: &Resources) -> Result<Self> {
        let folder = IndexFolder::open(path, access)?;
        let recipe = KeptRecipe::of(folder.manifest())?;
        check_rows(&folder, &recipe)?;
        let removed = removed(&folder)?;
        let context = Context::with_pool(resources, &NoProgress)?;
        Ok(Self { folder, recipe, removed, context })
    }

    /// Returns the method that makes the fingerprints of the index.
    #[must_use]
    pub fn method(&self) -> &Method {
        self.recipe.method()
    }

    /// Checks that `method` makes the same fingerprints as the index and has the same maximum distance.
    ///
    /// # Errors
    ///
    /// The fingerprints or the maximum distances differ. The message names the difference.
    pub fn check(&self, method: &Method) -> Result<()> {
        self.recipe.check(method)
    }

    /// Returns the shape of the fingerprints: their number of bits, and the unit in which distances count.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.recipe.reach.shape
    }

    /// Returns the names of the sources. The index of a name is the number of its source.
    #[must_use]
    pub(crate) fn sources(&self) -> &[String] {
        &self.folder.manifest().sources
    }

    /// Looks up the fingerprints in `rows`. Returns for each row the documents of the index within the maximum
    /// distance, sorted by distance and then by document number. A row without a fingerprint gets no document. With
    /// `only_nearest`, each row gets at most one document.
    ///
    /// # Errors
    ///
    /// The rows have another shape than the index, a part of the index that was read is damaged, or there is
    /// too little memory.
    pub fn near(&self, rows: &FingerprintRows<'_>, only_nearest: bool) -> Result<Vec<Vec<Near>>> {
        self.recipe.check_rows(rows)?;
        let mut found = vec![Vec::new(); rows.len()];
        let lookup = self.lookup();
        for segment in self.folder.segments() {
            let keep = |matches: &[Match], take: &mut dyn FnMut(Near)| {
                let near = near_of(segment, matches, &self.removed);
                if only_nearest {
                    near.min().into_iter().for_each(take);
                } else {
                    near.for_each(take);
                }
            };
            for (query, near) in lookup.in_segment(rows, segment, &keep)? {
                found[query].push(near);
            }
        }
        for near in &mut found {
            // Results come segment by segment, so a later segment can have nearer documents.
            near.sort_unstable();
            if only_nearest {
                near.truncate(1);
            }
        }
        Ok(found)
    }

    pub(super) fn shared(&self) -> (&KeptRecipe, &Context<'static>) {
        (&self.recipe, &self.context)
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup { recipe: &self.recipe, context: &self.context }
    }

    /// Returns the data about the document with this number, or `None` if the index does not have it.
    ///
    /// # Errors
    ///
    /// A part of the index that was read is damaged.
    pub fn document(&self, number: u64) -> Result<Option<KnownDocument>> {
        if self.removed.binary_search(&number).is_ok() {
            return Ok(None);
        }
        let Some((segment, row)) = find(&self.folder, number)? else { return Ok(None) };
        let mut id = Vec::new();
        segment.read_id(row, &mut id)?;
        let (source, time) = Origin::of_row(segment.origins()?, row);
        let mut known = KnownDocument::new(number, id, source, time);
        for segment in self.folder.segments() {
            segment.repeats_of(number)?.iter().for_each(|repeats| known.add(repeats));
        }
        Ok(Some(known))
    }

    /// Calls `visit` with the data and the fingerprint of every document, in the order of the document
    /// numbers.
    ///
    /// # Errors
    ///
    /// The index is damaged, or `visit` fails.
    pub fn visit(&self, visit: &mut dyn FnMut(&KnownDocument, &[u64]) -> Result<()>) -> Result<()> {
        self.visit_stored(&mut |document| {
            let StoredDocument { number, id, words, source, time, repeats } = document;
            let mut known = KnownDocument::new(number, id.to_vec(), source, time);
            for repeats in repeats {
                known.add(repeats);
            }
            visit(&known, words)
        })
    }

    /// Calls `visit` with all stored data of every document, in the order of the document numbers.
    pub(super) fn visit_stored(
        &self,
        visit: &mut dyn FnMut(StoredDocument<'_>) -> Result<()>,
    ) -> Result<()> {
        visit_stored(&self.folder, &self.recipe, &self.removed, visit)
    }

    /// Returns the size of the index.
    ///
    /// # Errors
    ///
    /// The index is damaged.
    pub fn size(&self) -> Result<IndexSize> {
        let manifest = self.folder.manifest();
        let segments = self.folder.segments();
        let rows: usize = segments.iter().map(|segment| segment.len()).sum();
        let gone = removed_in_segments(&self.folder, &self.removed);
        let is_known = |number: u64| {
            let is_there = || find(&self.folder, number).is_ok_and(|at| at.is_some());
            self.removed.binary_search(&number).is_err() && is_there()
        };
        let mut repeats = 0;
        for segment in segments {
            // Repeats of removed documents stay in their segments until a merge, too.
            let of_known = segment.repeats()?.iter().filter(|repeats| is_known(repeats.number));
            repeats += of_known.map(|repeats| u64::from(repeats.count)).sum::<u64>();
        }
        let documents = (rows - gone) as u64;
        Ok(IndexSize {
            documents,
            removed: manifest.documents - documents,
            repeats,
            generation: manifest.generation,
            segments: segments.len(),
            bytes: segments.iter().map(|segment| segment.file_bytes()).sum(),
            tables: self.recipe.table_count(),
        })
    }

    /// Checks every byte of the index, and decodes all IDs.
    ///
    /// # Errors
    ///
    /// The index is damaged.
    pub fn verify(&self) -> Result<()> {
        for segment in self.folder.segments() {
            segment.verify()?;
            // Checksums do not show whether IDs can be decoded, so all of them are decoded.
            segment.visit_ids(&mut |_, _| Ok(()))?;
        }
        Ok(())
    }
}

/// Calls `visit` with all stored data of every document of an index, except the `removed` ones, in the order of the
/// document numbers.
pub(super) fn visit_stored(
    folder: &IndexFolder,
    recipe: &KeptRecipe,
    removed: &[u64],
    visit: &mut dyn FnMut(StoredDocument<'_>) -> Result<()>,
) -> Result<()> {
    // Repeats are stored in the segment that was collected when they were seen, which can be later than
    // the segment of the document.
    let mut repeats = Vec::new();
    for segment in folder.segments() {
        repeats.extend_from_slice(segment.repeats()?);
    }
    super::pending::merge_repeats(&mut repeats);
    let (mut repeats, mut of_document) = (repeats.into_iter().peekable(), Vec::new());
    let words = recipe.reach.shape.words();
    for segment in folder.segments() {
        let (rows, origins) = (segment.words()?, segment.origins()?);
        let mut origins = origins.iter().peekable();
        let (mut source, mut time) = (0, 0);
        segment.visit_ids(&mut |row, id| {
            while let Some(origin) = origins.next_if(|origin| origin.row as usize <= row) {
                (source, time) = (origin.source, origin.time);
            }
            let number = segment.number(row);
            // Documents that a merge deleted can still have repeats. These are skipped.
            while repeats.next_if(|repeats| repeats.number < number).is_some() {}
            if removed.binary_search(&number).is_ok() {
                return Ok(());
            }
            of_document.clear();
            while let Some(repeats) = repeats.next_if(|repeats| repeats.number == number) {
                of_document.push(repeats);
            }
            let words = &rows[row * segment.row_words()..][..words];
            visit(StoredDocument { number, id, words, source, time, repeats: &of_document })
        })?;
        segment.check()?;
    }
    Ok(())
}

/// Returns the distance and the document number of each match in a segment. Leaves out the documents in
/// `removed`, an ascending list of document numbers.
pub(super) fn near_of(
    segment: &Segment,
    matches: &[Match],
    removed: &[u64],
) -> impl Iterator<Item = Near> {
    let near = |found: &Match| Near {
        distance: found.distance,
        number: segment.number(found.row as usize),
    };
    let is_there = |near: &Near| removed.binary_search(&near.number).is_err();
    matches.iter().map(near).filter(is_there)
}

/// Returns the segment that has the document with this number, and its position there. Returns `None` if no
/// segment has it.
pub(super) fn find(folder: &IndexFolder, number: u64) -> Result<Option<(&Segment, usize)>> {
    let segments = folder.segments();
    let end = segments.partition_point(|segment| segment.first() <= number);
    // If several segments begin at the same number, only the last of them has documents.
    let Some(segment) = segments[..end].iter().rfind(|segment| !segment.is_empty()) else {
        return Ok(None);
    };
    let row = segment.row_of(number);
    segment.check()?;
    Ok(row.map(|row| (&**segment, row)))
}

/// Returns the numbers of all removed documents, ascending.
pub(super) fn removed(folder: &IndexFolder) -> Result<Vec<u64>> {
    let mut removed = Vec::new();
    for segment in folder.segments() {
        removed.extend_from_slice(segment.removed()?);
    }
    removed.sort_unstable();
    removed.dedup();
    Ok(removed)
}

/// Returns the number of removed documents that are still in a segment. They stay there until a merge.
pub(super) fn removed_in_segments(folder: &IndexFolder, removed: &[u64]) -> usize {
    let is_there = |number: &&u64| find(folder, **number).is_ok_and(|at| at.is_some());
    removed.iter().filter(is_there).count()
}

/// Checks that all segments have the fingerprint length and the number of tables that the recipe demands.
pub(super) fn check_rows(folder: &IndexFolder, recipe: &KeptRecipe) -> Result<()> {
    let segments = folder.segments();
    match segments.iter().find(|segment| !has_rows_of(segment, recipe)) {
        None => Ok(()),
        Some(segment) => {
            let rule = "belongs to another index: its fingerprints differ from the manifest's";
            Err(Error::config("folder", segment.path().display(), rule))
        }
    }
}

/// Returns whether a segment has the fingerprint length and the number of tables that the recipe demands.
pub(super) fn has_rows_of(segment: &Segment, recipe: &KeptRecipe) -> bool {
    let tables = recipe.table_count();
    segment.row_words() == recipe.row_words() && segment.table_count() == tables
}
