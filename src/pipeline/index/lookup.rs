//! Rows that are looked for among those that are stored, and among those that are about to be.

use super::kept_recipe::KeptRecipe;
use crate::error::Result;
use crate::fingerprint_rows::FingerprintRows;
use crate::fingerprint_table::{Lane, Wide};
use crate::matches::Match;
use crate::pipeline::workers::Workers;
use crate::progress::NoProgress;
use crate::resources::Resources;
use crate::search::FingerprintIndex;
use crate::search::block_index::{BlockIndex, TableParts};
use crate::search::door;
use crate::search::layout::Layout;
use crate::search::planner::{Plan, Task, Workload};
use crate::store::Segment;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use std::borrow::Cow;
use std::ops::Range;

/// Queries of a task.
const TASK: usize = 256;

/// A document that is near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near {
    /// How far it is.
    pub distance: u32,
    /// Its number.
    pub number: u64,
}

/// What looks for rows.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'l> {
    pub(super) recipe: &'l KeptRecipe,
    pub(super) resources: &'l Resources,
    pub(super) workers: &'l Workers,
}

impl Lookup<'_> {
    /// What `keep` makes of the rows of a segment that are near each query, with the query's number:
    /// nothing for a query without any.
    ///
    /// # Errors
    ///
    /// The segment is damaged where it was looked at, or there is too little memory.
    pub(super) fn in_segment<R: Send>(
        &self,
        queries: &FingerprintRows<'_>,
        segment: &Segment,
        keep: &(impl Fn(&[Match]) -> Option<R> + Sync),
    ) -> Result<Vec<(usize, R)>> {
        if segment.is_empty() || queries.is_empty() {
            return Ok(Vec::new());
        }
        let found = match &self.recipe.layout {
            Some(layout) => match segment.row_words() {
                1 => self.in_tables::<u64, R>(queries, segment, layout, keep),
                2 => self.in_tables::<Wide<2>, R>(queries, segment, layout, keep),
                4 => self.in_tables::<Wide<4>, R>(queries, segment, layout, keep),
                _ => self.in_tables::<Wide<8>, R>(queries, segment, layout, keep),
            },
            None => self.in_words(queries, segment.words()?, keep),
        }?;
        segment.check()?;
        Ok(found)
    }

    fn in_tables<L: Lane, R: Send>(
        &self,
        queries: &FingerprintRows<'_>,
        segment: &Segment,
        layout: &Layout,
        keep: &(impl Fn(&[Match]) -> Option<R> + Sync),
    ) -> Result<Vec<(usize, R)>> {
        let table = |table| {
            let [starts, folds, rows] = segment.table(table);
            TableParts { starts, folds, rows }
        };
        let tables = (0..segment.table_count()).map(table).collect();
        let (reach, isa) = (self.recipe.reach, self.resources.isa);
        let index = BlockIndex::of_parts(segment.rows::<L>(), layout, reach, isa, tables)?;
        let search = |range: Range<usize>| {
            let (mut found, mut numbers, mut lanes) = (Vec::new(), Vec::new(), Vec::new());
            for query in range {
                if let Some(words) = queries.row(query) {
                    numbers.push(query);
                    lanes.push(L::from_words(words));
                }
            }
            index.search_batch(&lanes, &mut |at, matches| {
                if !matches.is_empty() {
                    found.extend(keep(matches).map(|kept| (numbers[at], kept)));
                }
            });
            found
        };
        if queries.len() <= TASK {
            // No thread is worth waking for these.
            return Ok(search(0..queries.len()));
        }
        self.workers.run(|| of_all(queries.len(), search))
    }

    /// The same among rows that stand one after the other.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub(super) fn in_words<R: Send>(
        &self,
        queries: &FingerprintRows<'_>,
        words: &[u64],
        keep: &(impl Fn(&[Match]) -> Option<R> + Sync),
    ) -> Result<Vec<(usize, R)>> {
        if words.is_empty() || queries.is_empty() {
            return Ok(Vec::new());
        }
        let shape = self.recipe.reach.shape;
        let rows =
            FingerprintRows { shape, words: Cow::Borrowed(words), validity: None, recipe: None };
        let task = Task::Batch { queries: queries.len() };
        let plan = self.plan(task, &rows)?;
        self.workers.run(|| {
            let partners = door::partners(queries, &rows, &plan, self.resources, &NoProgress)?;
            let search = |range: Range<usize>| {
                let (mut found, mut matches) = (Vec::new(), Vec::new());
                for query in range {
                    partners.partners(query, &mut matches);
                    if !matches.is_empty() {
                        found.extend(keep(&matches).map(|kept| (query, kept)));
                    }
                }
                found
            };
            Ok(of_all(queries.len(), search))
        })?
    }

    /// How a task on rows is best done.
    ///
    /// # Errors
    ///
    /// All rows are within the distance.
    pub(super) fn plan(&self, task: Task, rows: &FingerprintRows<'_>) -> Result<Plan> {
        let distance = self.recipe.reach.max_distance;
        Plan::new(Workload::of(task, rows, distance, self.resources.memory))
    }
}

/// What `search` finds for all queries, in their order.
fn of_all<R: Send>(
    queries: usize,
    search: impl Fn(Range<usize>) -> Vec<(usize, R)> + Sync + Send,
) -> Vec<(usize, R)> {
    let task = |task: usize| search(task * TASK..(task * TASK + TASK).min(queries));
    let tasks = 0..queries.div_ceil(TASK);
    let found: Vec<_> = tasks.into_par_iter().map(task).collect();
    found.into_iter().flatten().collect()
}
