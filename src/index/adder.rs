//! Adds documents to an index.

use super::kept_recipe::KeptRecipe;
use super::lookup::{Lookup, Near};
use super::merge::{check_memory, merged_with, most_rows, seal};
use super::pending::{Input, Pending};
use super::stored::{check_rows, check_shape, find, near_of, removed};
use crate::index::store::{IndexWriter, Repeats};
use crate::method::Method;
use simtool_base::durable::Disk;
use simtool_base::error::Result;
use simtool_base::mapped_file::FileAccess;
use simtool_base::progress::NoProgress;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_hamming::door;
use simtool_hamming::workload::Task;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::groups::NO_GROUP;
use simtool_model::matches::Match;
use simtool_model::sides::Sides;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Most pending documents before they become a segment.
const SEALED: usize = 1 << 16;

/// The result of adding a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The document is new and has this number, which never changes.
    New(u64),
    /// The document repeats the nearest document in the index. Among equally near ones, the first.
    Repeats(Near),
    /// The document has no fingerprint. It is not stored and repeats nothing.
    Wordless,
}

/// Source and time of documents that are added.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Name of the source.
    pub source: &'a str,
    /// Time in seconds since 1970.
    pub time: u64,
}

/// An index that only this process adds to.
///
/// Documents become part of the index at the next [commit](Self::commit). Documents that are added later
/// by the same process find them immediately.
#[derive(Debug)]
pub struct IndexAdder {
    writer: IndexWriter,
    recipe: Arc<KeptRecipe>,
    removed: Vec<u64>,
    pending: Pending,
    context: Context<'static>,
}

impl IndexAdder {
    /// Creates an index without documents in a folder, and the folder if it does not exist. `holder` is
    /// shown to other processes that try to write.
    ///
    /// # Errors
    ///
    /// The method has no rows that an index can store, or the folder is not empty or cannot be written.
    pub fn create(path: &Path, method: Method, disk: Disk, holder: &str) -> Result<()> {
        let recipe = KeptRecipe::new(method)?;
        IndexWriter::create(path, recipe.manifest(), disk, holder)
    }

    /// Opens the index in a folder to add documents. `holder` is shown to other processes that try to
    /// write.
    ///
    /// # Errors
    ///
    /// Another process writes to the index, or [`Index::open`](super::Index::open) would fail.
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

    /// Checks that the index has the rows and the distance of a method.
    ///
    /// # Errors
    ///
    /// The index has others. The message names the parts that differ.
    pub fn check(&self, method: &Method) -> Result<()> {
        self.recipe.check(method)
    }

    /// The method whose rows are stored.
    #[must_use]
    pub fn method(&self) -> &Method {
        self.recipe.method()
    }

    /// Returns the recipe of rows and the context, to make rows while documents are added.
    pub(super) fn shared(&self) -> (Arc<KeptRecipe>, Context<'static>) {
        (Arc::clone(&self.recipe), self.context.clone())
    }

    /// Adds documents in their order. A document that is near no earlier document, of this call or of
    /// the calls before, is new. The results do not depend on how documents are divided into calls.
    ///
    /// # Errors
    ///
    /// The rows have another shape, a part of the index that was read is damaged, or there is too little
    /// memory or disk space. The index stays as it was at its last commit.
    pub fn add<'i>(
        &mut self,
        rows: &FingerprintRows<'_>,
        id: impl Fn(usize) -> Cow<'i, [u8]>,
        arrival: Arrival<'_>,
    ) -> Result<Vec<Added>> {
        let origin = (self.writer.source(arrival.source)?, arrival.time);
        self.add_from(rows, id, |_| origin)
    }

    /// Adds documents like [`add`](Self::add). `origin` returns the number of the source and the time of
    /// each.
    pub(super) fn add_from<'i>(
        &mut self,
        rows: &FingerprintRows<'_>,
        id: impl Fn(usize) -> Cow<'i, [u8]>,
        origin: impl Fn(usize) -> (u32, u64),
    ) -> Result<Vec<Added>> {
        check_shape(rows, &self.recipe)?;
        // One call of the pool for both searches, because waking the threads takes time.
        let near = || rayon::join(|| self.nearest(rows), || self.within(rows));
        let (stored, within) = self.context.threads().run(near)?;
        let (stored, within) = (stored?, within?);
        // The number of the new document of each group of equal rows, if there is one so far.
        let mut numbers: Vec<Option<u64>> = vec![None; within.groups()];
        let first = self.writer.next_number();
        let mut added = Vec::with_capacity(rows.len());
        for (row, stored) in stored.into_iter().enumerate() {
            let (Some(words), Some(group)) = (rows.row(row), within.group(row)) else {
                added.push(Added::Wordless);
                continue;
            };
            let equal = numbers[group].map(|number| Near { distance: 0, number });
            // Only groups with a new document of an earlier row have a number. So a row repeats
            // earlier documents only, and never a repeat.
            let near = within.near(group).filter_map(|(other, distance)| {
                numbers[other].map(|number| Near { distance, number })
            });
            let (source, time) = origin(row);
            added.push(if let Some(near) = near.chain(equal).chain(stored).min() {
                self.pending.push_repeat(near.number, source, time);
                Added::Repeats(near)
            } else {
                // Pending documents are sealed only after the loop, so `first` stays the number of
                // the first pending one.
                let number = first + self.pending.len() as u64;
                self.pending.push(words, &id(row), source, time);
                numbers[group] = Some(number);
                Added::New(number)
            });
        }
        // Pending rows have no tables, so every call compares them all. A segment with tables is
        // faster to search.
        if self.pending.len() >= SEALED {
            self.seal()?;
        }
        Ok(added)
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup { recipe: &self.recipe, context: &self.context }
    }

    /// Finds the nearest document of the calls before, for each row.
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
                // The minimum is by distance and then by number, so the result does not depend on
                // how documents are spread over segments.
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

    /// Finds the rows of one call that are near each other.
    fn within(&self, rows: &FingerprintRows<'_>) -> Result<Within> {
        let plan = self.lookup().plan(Task::SelfJoin, rows)?;
        let quiet = self.context.with_progress(&NoProgress);
        let join = || door::join(Sides::One(rows), &plan, &quiet);
        let joined = self.context.threads().run(join)??;
        let groups = joined.groups.first();
        let group_of = groups.group_of_rows(rows.len());
        let mut near: Vec<_> =
            joined.pairs.iter().map(|pair| (pair.a, pair.b, pair.distance)).collect();
        // The join returns each pair once, but either of the two groups may be the one that is
        // looked up.
        near.extend(joined.pairs.iter().map(|pair| (pair.b, pair.a, pair.distance)));
        near.sort_unstable();
        // Count the pairs of each group, then add up the counts: starts of the groups in `near`.
        let mut starts = vec![0; groups.len() + 1];
        for &(group, ..) in &near {
            starts[group as usize + 1] += 1;
        }
        for group in 0..groups.len() {
            starts[group + 1] += starts[group];
        }
        Ok(Within { group_of, starts, near })
    }

    /// Writes the pending documents as a segment, merged with segments of about the same size.
    fn seal(&mut self) -> Result<()> {
        let merged = {
            let segments = self.writer.folder().segments();
            let next = self.writer.next_number() + self.pending.len() as u64;
            let most_rows = most_rows(&self.recipe, self.context.memory().limit());
            merged_with(segments, &self.pending, next, most_rows)
        };
        self.seal_with(merged)
    }

    fn seal_with(&mut self, merged: usize) -> Result<()> {
        let Self { writer, recipe, removed, pending, context } = self;
        seal(writer, merged, pending, removed, recipe, context)
    }

    /// Commits everything that was added: when this returns, it survives a power cut.
    ///
    /// # Errors
    ///
    /// The same as [`IndexWriter::commit`].
    pub fn commit(&mut self) -> Result<()> {
        // Repeats, removals and inputs are stored in segments, too, so they need one even without
        // new documents.
        if !self.pending.is_empty() {
            self.seal()?;
        }
        self.writer.commit()
    }

    /// Merges all segments into one, which makes searches faster and deletes removed documents from the
    /// disk. Then commits.
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
            // An ordinary seal merges fewer segments if there is little memory. This one must merge
            // all of them, so it fails before it writes anything.
            check_memory(rows, &self.recipe, self.context.memory().limit())?;
            self.seal_with(segments)?;
            // All segments were merged, so no row of a removed document is left.
            self.removed.clear();
        }
        self.writer.commit()
    }

    /// Removes documents by ID at the next commit, and returns their number. Numbers of removed documents
    /// are not used again.
    ///
    /// # Errors
    ///
    /// The index is damaged.
    pub fn remove(&mut self, has_id: &mut dyn FnMut(&[u8]) -> bool) -> Result<u64> {
        let mut found = Vec::new();
        for segment in self.writer.folder().segments() {
            segment.visit_ids(&mut |row, id| {
                let number = segment.number(row);
                // The row of a removed document stays in its segment until a merge. It must not be
                // removed twice.
                if has_id(id) && self.removed.binary_search(&number).is_err() {
                    found.push(number);
                }
                Ok(())
            })?;
            // For a damaged row, `number` returns another number instead of an error.
            segment.check()?;
        }
        for &number in &found {
            self.pending.push_removed(number);
        }
        self.removed.extend(&found);
        self.removed.sort_unstable();
        Ok(found.len() as u64)
    }

    /// Returns the ID of a document, which may not be committed yet.
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

    /// Adds repeats of a document that another index has counted.
    pub(super) fn add_repeats(&mut self, repeats: Repeats) {
        self.pending.push_repeats(repeats);
    }

    /// Returns the number of a source.
    pub(super) fn source_number(&mut self, name: &str) -> Result<u32> {
        self.writer.source(name)
    }

    /// Returns the newest entry about an input, if it was read before.
    pub(super) fn known_input(&self, input: &Input) -> Result<Option<Input>> {
        // Later segments have newer entries about the same input, and pending entries are the
        // newest.
        let mut known = None;
        for segment in self.writer.folder().segments() {
            known =
                Input::all(segment.inputs()?).filter(|other| other.is_same(input)).last().or(known);
        }
        Ok(Input::all(self.pending.inputs()).filter(|other| other.is_same(input)).last().or(known))
    }

    /// Stores how far an input was read.
    pub(super) fn note_input(&mut self, input: &Input) {
        self.pending.push_input(input);
    }
}

/// Rows that are near each other.
struct Within {
    group_of: Vec<u32>,
    /// Start of each group in `near`, and the length of `near` at the end.
    starts: Vec<usize>,
    /// Pairs of groups with their distance, in both directions, ascending.
    near: Vec<(u32, u32, u32)>,
}

impl Within {
    /// Number of groups.
    fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    fn group(&self, row: usize) -> Option<usize> {
        Some(self.group_of[row]).filter(|&group| group != NO_GROUP).map(|group| group as usize)
    }

    fn near(&self, group: usize) -> impl Iterator<Item = (usize, u32)> {
        let near = &self.near[self.starts[group]..self.starts[group + 1]];
        near.iter().map(|&(_, other, distance)| (other as usize, distance))
    }
}
