//! Looks up fingerprints in a segment or among fingerprints in memory.

use super::kept_recipe::KeptRecipe;
use crate::index::store::{InSegment, Segment};
use simtool_base::error::Result;
use simtool_base::progress::NoProgress;
use simtool_compute::context::Context;
use simtool_compute::tasks;
use simtool_hamming::FingerprintIndex;
use simtool_hamming::block_index::BlockIndex;
use simtool_hamming::bucket_table::{TableKeys, TableParts};
use simtool_hamming::door;
use simtool_hamming::planner::JoinPlan;
use simtool_hamming::workload::{JoinTask, Workload};
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::fingerprint_table::{Fingerprint, Wide};
use simtool_model::matches::Match;
use simtool_model::sides::Sides;
use std::borrow::Cow;
use std::ops::Range;

/// Number of queries (fingerprints to look up) in one task of a thread.
const TASK: usize = 256;

/// Document of an index whose fingerprint is near a query, which is a fingerprint that is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near {
    /// Distance between the fingerprint of the document and the query.
    pub distance: u32,
    /// Number of the document in the index.
    pub number: u64,
}

/// Filter of matches. It gets all matches of one query, and calls its second argument with each document that
/// the caller wants.
pub(super) type Keep<'k> = dyn Fn(&[Match], &mut dyn FnMut(Near)) + Sync + 'k;

/// Searches for fingerprints, with the settings and the threads of an index.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'l> {
    pub(super) recipe: &'l KeptRecipe,
    pub(super) context: &'l Context<'l>,
}

impl Lookup<'_> {
    /// Looks up the fingerprints `queries` in a segment, which is a file of the index. Returns the documents that
    /// `keep` selects, each with the number of its query.
    ///
    /// # Errors
    ///
    /// A part of the segment that was read is damaged, or there is too little memory.
    pub(super) fn in_segment(
        &self,
        queries: &FingerprintRows<'_>,
        segment: &Segment,
        keep: &Keep<'_>,
    ) -> Result<Vec<(usize, Near)>> {
        if segment.is_empty() || queries.is_empty() {
            return Ok(Vec::new());
        }
        // The width of a fingerprint is a type parameter, so that comparing two fingerprints needs no loop.
        let found = match &self.recipe.tables {
            Some(keys) => match segment.row_words() {
                1 => self.in_tables::<u64>(queries, segment, keys, keep),
                2 => self.in_tables::<Wide<2>>(queries, segment, keys, keep),
                4 => self.in_tables::<Wide<4>>(queries, segment, keys, keep),
                _ => self.in_tables::<Wide<8>>(queries, segment, keys, keep),
            },
            None => self.in_words(queries, segment.words()?, keep),
        }?;
        // Damaged parts read as empty. Without this check, near documents would silently be missed.
        segment.check()?;
        Ok(found)
    }

    fn in_tables<L: Fingerprint>(
        &self,
        queries: &FingerprintRows<'_>,
        segment: &Segment,
        keys: &TableKeys,
        keep: &Keep<'_>,
    ) -> Result<Vec<(usize, Near)>> {
        let table = |table| {
            let (starts, entries) = segment.table(table);
            TableParts::<InSegment<'_>> { starts, entries }
        };
        let tables = (0..segment.table_count()).map(table).collect();
        let (keys, isa) = (keys.clone(), self.context.isa());
        let index = BlockIndex::of_parts(segment.rows::<L>(), keys, isa, tables)?;
        let search = |range: Range<usize>| {
            let (mut found, mut numbers, mut fingerprints) = (Vec::new(), Vec::new(), Vec::new());
            for query in range {
                if let Some(words) = queries.row(query) {
                    // Queries without a fingerprint are left out, so an index in `fingerprints` is not the number of
                    // the query.
                    numbers.push(query);
                    fingerprints.push(L::from_words(words));
                }
            }
            index.search_batch(&fingerprints, &mut |at, matches| {
                if !matches.is_empty() {
                    keep(matches, &mut |near| found.push((numbers[at], near)));
                }
            });
            found
        };
        if queries.len() <= TASK || self.context.threads().count() == 1 {
            // For so few queries, waking another thread takes longer than the search.
            return Ok(search(0..queries.len()));
        }
        self.context.threads().run(|| of_all(queries.len(), search))
    }

    /// Looks up the fingerprints `queries` among the fingerprints in `words`, which are in memory one after the other.
    /// Returns the documents that `keep` selects, each with the number of its query.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub(super) fn in_words(
        &self,
        queries: &FingerprintRows<'_>,
        words: &[u64],
        keep: &Keep<'_>,
    ) -> Result<Vec<(usize, Near)>> {
        if words.is_empty() || queries.is_empty() {
            return Ok(Vec::new());
        }
        let shape = self.recipe.reach.shape;
        let rows =
            FingerprintRows { shape, words: Cow::Borrowed(words), validity: None, recipe: None };
        let task = JoinTask::Search { queries: queries.len() };
        let plan = self.plan(task, &rows)?;
        let sides = Sides::Two(queries, &rows);
        let quiet = self.context.with_progress(&NoProgress);
        self.context.threads().run(|| {
            let partners = door::partners(sides, &plan, &quiet)?;
            let search = |range: Range<usize>| {
                let (mut found, mut matches) = (Vec::new(), Vec::new());
                for query in range {
                    partners.partners(query, &mut matches);
                    if !matches.is_empty() {
                        keep(&matches, &mut |near| found.push((query, near)));
                    }
                }
                found
            };
            Ok(of_all(queries.len(), search))
        })?
    }

    /// Chooses the fastest algorithm for a search or join of `rows`, with the maximum distance of the index.
    ///
    /// # Errors
    ///
    /// The maximum distance is so large that all rows are near each other.
    pub(super) fn plan(&self, task: JoinTask, rows: &FingerprintRows<'_>) -> Result<JoinPlan> {
        let distance = self.recipe.reach.max_distance;
        JoinPlan::new(Workload::of(task, rows, distance, self.context.memory().limit()))
    }
}

/// Calls `search` with ranges of query numbers that cover all queries, in parallel if there are several
/// ranges. Returns the results in the order of the queries.
fn of_all(
    queries: usize,
    search: impl Fn(Range<usize>) -> Vec<(usize, Near)> + Sync + Send,
) -> Vec<(usize, Near)> {
    let task = |task: usize| search(task * TASK..(task * TASK + TASK).min(queries));
    // Results are in the order of the tasks, so they do not depend on the threads.
    tasks::map(queries.div_ceil(TASK), task).into_iter().flatten().collect()
}
