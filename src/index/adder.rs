//! Adds documents to an index.

use super::kept_recipe::KeptRecipe;
use super::lookup::{Lookup, Near};
use super::merge::{SegmentMerger, check_memory, merged_with, most_rows};
use super::pending::{InputEntry, KnownInputs, Pending};
use super::stored::{check_rows, find, near_of, removed};
use super::within::Within;
use crate::index::store::{IndexWriter, Repeats};
use crate::method::Method;
use simtool_base::durable::{Disk, free_bytes};
use simtool_base::error::Result;
use simtool_base::mapped_file::FileAccess;
use simtool_base::progress::NoProgress;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_hamming::door;
use simtool_hamming::workload::JoinTask;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::matches::Match;
use simtool_model::sides::Sides;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Number of pending documents that are collected before they are written as a segment, which is a file of the index. A
/// document is pending from its addition until it is in a segment.
const SEALED: usize = 1 << 16;
/// Number of free bytes on the disk below which the disk counts as nearly full.
const LOW_DISK: u64 = 256 << 20;
/// Estimated size of a segment (a file of the index) with its lookup tables, as a multiple of the size of its
/// documents.
const WRITTEN_TIMES: u64 = 8;

/// Divisor of the free memory. The pairs of near rows that one call of `add` finds may take 1/`PAIRS_SHARE` of the free
/// memory, because each pair is then copied twice.
const PAIRS_SHARE: u64 = 4;

/// Result of adding one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The document is new in the index and was added. The value is its number, which never changes.
    New(u64),
    /// The document is not added, because it is near a document of the index. The value is the nearest
    /// document of the index. If several are equally near, it is the one with the lowest number.
    Repeats(Near),
    /// The document is blank, and so has no fingerprint. It is not stored, and it counts as near no document.
    WithoutWords,
}

/// Source and time of the documents that are added.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Name of the source, for example the name of a crawl.
    pub source: &'a str,
    /// Time at which the documents arrived, in seconds since 1970.
    pub time: u64,
}

/// An index that is open for adding documents. Only one process at a time can have an index open for adding.
///
/// New documents become part of the index on the disk at the next [commit](Self::commit). Before that commit,
/// documents that are added later are already compared with the new ones.
#[derive(Debug)]
pub struct IndexAdder {
    pub(super) writer: IndexWriter,
    pub(super) recipe: Arc<KeptRecipe>,
    pub(super) removed: Vec<u64>,
    pub(super) pending: Pending,
    context: Context<'static>,
}

impl IndexAdder {
    /// Creates an index without documents in the folder `path`, and creates the folder if it does not exist.
    /// `holder` describes this process to other processes that try to write.
    ///
    /// # Errors
    ///
    /// The method has no fingerprints that an index can store, or the folder is not empty or cannot be
    /// written.
    pub fn create(path: &Path, method: Method, disk: Disk, holder: &str) -> Result<()> {
        let recipe = KeptRecipe::new(method)?;
        IndexWriter::create(path, recipe.manifest(), disk, holder)
    }

    /// Opens the index in the folder `path` to add documents. `holder` describes this process to other
    /// processes that try to write.
    ///
    /// # Errors
    ///
    /// Another process writes to the index, or opening it with [`Index::open`](super::Index::open) would
    /// fail.
    pub fn open(
        path: &Path,
        access: FileAccess,
        disk: Disk,
        holder: &str,
        resources: &Resources,
    ) -> Result<Self> {
        let writer = IndexWriter::open(path, access, disk, holder)?;
        let recipe = Arc::new(KeptRecipe::of(writer.folder().manifest())?);
        check_rows(writer.folder(), &recipe)?;
        let removed = removed(writer.folder())?;
        let context = Context::with_pool(resources, &NoProgress)?;
        Ok(Self { writer, recipe, removed, pending: Pending::default(), context })
    }

    /// Checks that `method` makes the same fingerprints as the index and has the same maximum distance.
    ///
    /// # Errors
    ///
    /// The fingerprints or the maximum distances differ. The message names the difference.
    pub fn check(&self, method: &Method) -> Result<()> {
        self.recipe.check(method)
    }

    /// Returns the method that makes the fingerprints of the index.
    #[must_use]
    pub fn method(&self) -> &Method {
        self.recipe.method()
    }

    /// Returns the recipe, which says how fingerprints are made, and the context, which has the threads. With
    /// both, the caller can compute fingerprints while the index adds other documents.
    pub(super) fn shared(&self) -> (Arc<KeptRecipe>, Context<'static>) {
        (Arc::clone(&self.recipe), self.context.clone())
    }

    /// Adds documents in their order. `rows` holds their fingerprints, and `id` returns the ID for a row
    /// number. A document is new if it is near no document of the index and near no new document before it in
    /// `rows`. The results do not depend on how documents are divided into calls.
    ///
    /// # Errors
    ///
    /// The rows have another shape than the index, a part of the index that was read is damaged, or there is
    /// too little memory or disk space. The index stays as it was after its last commit.
    pub fn add<'i>(
        &mut self,
        rows: &FingerprintRows<'_>,
        id: impl Fn(usize) -> Cow<'i, [u8]>,
        arrival: Arrival<'_>,
    ) -> Result<Vec<Added>> {
        let origin = (self.writer.source(arrival.source)?, arrival.time);
        self.add_from(rows, id, |_| origin)
    }

    /// Adds the documents with the fingerprints `rows`, like [`add`](Self::add). `id` returns the ID of the document in
    /// a row, and `origin` its source number and time.
    pub(super) fn add_from<'i>(
        &mut self,
        rows: &FingerprintRows<'_>,
        id: impl Fn(usize) -> Cow<'i, [u8]>,
        origin: impl Fn(usize) -> (u32, u64),
    ) -> Result<Vec<Added>> {
        self.recipe.check_rows(rows)?;
        // Each call compares all pending fingerprints, because they have no tables. A segment with tables is
        // faster to search. The documents of the last call stay pending, so that they can be taken back.
        if self.pending.len() >= SEALED {
            self.seal()?;
        }
        self.pending.merge_many_repeats();
        self.add_part(rows, 0, &Arriving { id: &id, origin: &origin })
    }

    /// Undoes the end of the last call of [`add`](Self::add). Removes the documents with the number `first` or a
    /// greater one, and the last `repeats` repeats. A repeat is a document that was not added, because it is near a
    /// document of the index. If `first` is `None`, no document is removed.
    pub(crate) fn take_back(&mut self, first: Option<u64>, repeats: usize) {
        let next = self.writer.next_number();
        let end = next + self.pending.len() as u64;
        let first = first.unwrap_or(end);
        // Documents that were prepared for a commit are in a segment, and are removed from there.
        for number in first..next.max(first) {
            self.pending.push_removed(number);
            self.removed.push(number);
        }
        self.pending.truncate(first.saturating_sub(next) as usize, repeats);
    }

    /// Adds some of the rows of one call of [`add_from`](Self::add_from). The first row of `rows` has the number
    /// `start` in that call. `arriving` returns the ID and the origin for each row number of the call.
    fn add_part(
        &mut self,
        rows: &FingerprintRows<'_>,
        start: usize,
        arriving: &Arriving<'_, '_>,
    ) -> Result<Vec<Added>> {
        // Both searches are started by one call, because waking the threads takes time.
        let near = || rayon::join(|| self.nearest(rows), || self.within(rows));
        let (stored, within) = self.context.threads().run(near)?;
        let (stored, Some(within)) = (stored?, within?) else {
            // The pairs of fewer rows fit in memory, and the results do not depend on the parts.
            let middle = rows.len() / 2;
            let mut added = self.add_part(&rows.part(0..middle), start, arriving)?;
            let rest = rows.part(middle..rows.len());
            added.extend(self.add_part(&rest, start + middle, arriving)?);
            return Ok(added);
        };
        // For each group of equal rows, the number of its new document, once there is one.
        let mut numbers: Vec<Option<u64>> = vec![None; within.groups()];
        let first = self.writer.next_number();
        let mut added = Vec::with_capacity(rows.len());
        for (row, stored) in stored.into_iter().enumerate() {
            let (Some(words), Some(group)) = (rows.row(row), within.group(row)) else {
                added.push(Added::WithoutWords);
                continue;
            };
            let equal = numbers[group].map(|number| Near { distance: 0, number });
            // A group has a number only if one of its earlier rows is a new document. So a row repeats
            // earlier new documents only, and never another repeat.
            let near = within.near(group).filter_map(|(other, distance)| {
                numbers[other].map(|number| Near { distance, number })
            });
            let (source, time) = (arriving.origin)(start + row);
            added.push(if let Some(near) = near.chain(equal).chain(stored).min() {
                self.pending.push_repeat(near.number, source, time);
                Added::Repeats(near)
            } else {
                // Pending documents become a segment only after the loop, so `first` stays the number of the
                // first pending document.
                let number = first + self.pending.len() as u64;
                self.pending.push(words, &(arriving.id)(start + row), source, time);
                numbers[group] = Some(number);
                Added::New(number)
            });
        }
        Ok(added)
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup { recipe: &self.recipe, context: &self.context }
    }

    /// Returns for each row the nearest document of the index. Documents that are not committed yet are
    /// searched, too.
    fn nearest(&self, rows: &FingerprintRows<'_>) -> Result<Vec<Option<Near>>> {
        let lookup = self.lookup();
        let mut nearest: Vec<Option<Near>> = vec![None; rows.len()];
        let mut take = |found: Vec<(usize, Near)>| {
            for (query, near) in found {
                let nearest = &mut nearest[query];
                *nearest = Some(nearest.map_or(near, |nearest| nearest.min(near)));
            }
        };
        for segment in self.writer.folder().segments() {
            let keep = |found: &[Match], take: &mut dyn FnMut(Near)| {
                // The minimum is by distance and then by number, so the result does not depend on how
                // documents are divided into segments.
                near_of(segment, found, &self.removed).min().into_iter().for_each(take);
            };
            take(lookup.in_segment(rows, segment, &keep)?);
        }
        let first = self.writer.next_number();
        let near =
            |found: &Match| Near { distance: found.distance, number: first + u64::from(found.row) };
        let keep = |found: &[Match], take: &mut dyn FnMut(Near)| {
            found.iter().map(near).min().into_iter().for_each(take);
        };
        take(lookup.in_words(rows, &self.pending.words, &keep)?);
        Ok(nearest)
    }

    /// Finds the groups of equal rows among `rows`, and the pairs of groups whose rows are near each other.
    /// Returns `None` if the pairs do not fit in memory.
    fn within(&self, rows: &FingerprintRows<'_>) -> Result<Option<Within>> {
        let plan = self.lookup().plan(JoinTask::SelfJoin, rows)?;
        let memory = self.context.memory().free() / PAIRS_SHARE;
        let quiet = self.context.with_progress(&NoProgress).with_memory(memory);
        let join = || door::join_if_fits(Sides::One(rows), &plan, u64::MAX, &quiet);
        let Some(joined) = self.context.threads().run(join)?? else { return Ok(None) };
        let groups = joined.groups.first();
        let group_of = groups.group_of_rows(rows.len());
        let mut near: Vec<_> =
            joined.pairs.iter().map(|pair| (pair.a, pair.b, pair.distance)).collect();
        // The join returns each pair once, but either group of a pair may be the one that is looked up.
        near.extend(joined.pairs.iter().map(|pair| (pair.b, pair.a, pair.distance)));
        near.sort_unstable();
        // The pairs of each group are counted. Adding up the counts gives where the pairs of each group start
        // in `near`.
        let mut starts = vec![0; groups.len() + 1];
        for &(group, ..) in &near {
            starts[group as usize + 1] += 1;
        }
        for group in 0..groups.len() {
            starts[group + 1] += starts[group];
        }
        Ok(Some(Within { group_of, starts, near }))
    }

    /// Writes the pending documents to a new segment, which is a file of the index. The last segments become part of it
    /// if they are small enough (see [`merged_with`]).
    fn seal(&mut self) -> Result<()> {
        let merged = {
            let segments = self.writer.folder().segments();
            let next = self.writer.next_number() + self.pending.len() as u64;
            let most_rows = most_rows(&self.recipe, self.context.memory().limit());
            let merged = merged_with(segments, &self.pending, next, most_rows);
            let bytes: u64 =
                segments.iter().rev().take(merged).map(|segment| segment.file_bytes()).sum();
            // The old segments stay on the disk until the commit. If there is too little room for both, new
            // documents can still be written alone.
            if bytes > self.free_bytes() / 2 { 0 } else { merged }
        };
        self.seal_with(merged)
    }

    /// Returns the number of free bytes on the disk of the index.
    fn free_bytes(&self) -> u64 {
        free_bytes(self.writer.folder().path())
    }

    /// Returns whether the disk has so little room that the pending documents may soon not fit.
    pub(crate) fn is_disk_low(&self) -> bool {
        self.free_bytes() < LOW_DISK.saturating_add(WRITTEN_TIMES * self.pending.bytes())
    }

    fn seal_with(&mut self, merged: usize) -> Result<()> {
        let Self { writer, recipe, removed, pending, context } = self;
        SegmentMerger { removed, recipe, context }.seal(writer, merged, pending)
    }

    /// Commits everything that was added or removed. The changes survive a power cut once this function has
    /// returned.
    ///
    /// # Errors
    ///
    /// The same as [`IndexWriter::commit`].
    pub fn commit(&mut self) -> Result<()> {
        self.prepare_commit()?;
        self.finish_commit()
    }

    /// Writes everything that the next commit needs, so that [`finish_commit`](Self::finish_commit) cannot fail
    /// on a full disk. The index does not change yet.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub(crate) fn prepare_commit(&mut self) -> Result<()> {
        // Repeats, removals and inputs are stored in segments as well, so they need a segment even without
        // new documents.
        if !self.pending.is_empty() {
            self.seal()?;
        }
        self.writer.prepare()
    }

    /// Completes a commit. The changes that [`prepare_commit`](Self::prepare_commit) has written become part of the
    /// index.
    ///
    /// # Errors
    ///
    /// The same as [`commit`](Self::commit).
    pub(crate) fn finish_commit(&mut self) -> Result<()> {
        self.writer.publish()
    }

    /// Merges all segments, which are the files with the documents of the index, into one and commits. This makes
    /// searches faster and deletes removed documents from the disk.
    ///
    /// # Errors
    ///
    /// The documents do not fit in the allowed memory, or [`commit`](Self::commit) fails.
    pub fn compact(&mut self) -> Result<()> {
        let segments = self.writer.folder().segments();
        let rows: usize = segments.iter().map(|segment| segment.len()).sum();
        let segments = segments.len();
        let is_compact = segments <= 1 && self.removed.is_empty() && self.pending.is_empty();
        if !is_compact {
            let rows = (rows + self.pending.len()) as u64;
            // Usually fewer segments are merged if there is little memory. Here all segments must be merged,
            // so too little memory is an error before anything is written.
            check_memory(rows, &self.recipe, self.context.memory().limit())?;
            self.seal_with(segments)?;
            // All segments were merged, so they no longer contain removed documents.
            self.removed.clear();
        }
        self.writer.commit()
    }

    /// Returns the ID of the document with this number, whether it is committed or not. The ID is empty if
    /// there is no such document.
    ///
    /// # Errors
    ///
    /// A part of the index that was read is damaged.
    pub fn id(&self, number: u64) -> Result<Vec<u8>> {
        if let Some(row) = number.checked_sub(self.writer.next_number()) {
            return Ok(self.pending.id(row as usize).to_vec());
        }
        let mut id = Vec::new();
        if let Some((segment, row)) = find(self.writer.folder(), number)? {
            segment.read_id(row, &mut id)?;
        }
        Ok(id)
    }

    /// Adds the repeats of a document that another index has counted. A repeat is a near document that was
    /// not added.
    pub(super) fn add_repeats(&mut self, repeats: Repeats) {
        self.pending.push_repeats(repeats);
    }

    /// Returns the number of the source called `name`. A new name gets a new number.
    pub(super) fn source_number(&mut self, name: &str) -> Result<u32> {
        self.writer.source(name)
    }

    /// Returns the newest entries about all input files, committed or not. An entry says which documents of a file were
    /// processed.
    pub(super) fn known_inputs(&self) -> Result<KnownInputs> {
        // Later segments have newer entries about the same input, and pending entries are the newest of all.
        let mut known = KnownInputs::default();
        for segment in self.writer.folder().segments() {
            known.add(segment.inputs()?);
        }
        known.add(self.pending.inputs());
        Ok(known)
    }

    /// Returns for each row whether the index has a document with the same fingerprint and the same ID. `id`
    /// returns the ID for a row number.
    pub(super) fn has_documents<'i>(
        &self,
        rows: &FingerprintRows<'_>,
        id: impl Fn(usize) -> Cow<'i, [u8]>,
    ) -> Result<Vec<bool>> {
        self.recipe.check_rows(rows)?;
        let nearest = self.context.threads().run(|| self.nearest(rows))??;
        let is_same = |(row, near): (usize, Option<Near>)| match near {
            Some(Near { distance: 0, number }) => Ok(*self.id(number)? == *id(row)),
            _ => Ok(false),
        };
        nearest.into_iter().enumerate().map(is_same).collect()
    }

    /// Stores an entry that says how many documents of an input file were added.
    pub(super) fn note_input(&mut self, input: &InputEntry) {
        self.pending.push_input(input);
    }
}

/// Functions that return the ID and the origin (source number and time) of a document that one call adds. Their
/// argument is the row number of the document in that call.
struct Arriving<'a, 'i> {
    id: &'a dyn Fn(usize) -> Cow<'i, [u8]>,
    /// Returns the source number and the time of a document.
    origin: &'a dyn Fn(usize) -> (u32, u64),
}
