//! The trait of every index and join: a name, limits, an estimate and the work.
//!
//! Each method is a value of [`Join`] in a file of its own, and a line in
//! [`JOINS`](crate::joins::JOINS).

use crate::Rows;
use crate::group_pairs::GroupPairs;
use crate::grouping::group;
use crate::partners::{Partners, collect, count};
use crate::row_pairs::RowPairs;
use crate::work::{LaneRows, Work};
use crate::workload::{Estimate, Task, Workload};
use simtool_base::error::{Error, Result};
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::{Lane, Wide};
use simtool_model::sides::Sides;
use std::fmt;

/// The tasks that a method can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// Joins of a corpus with itself.
    SelfJoins,
    /// Searches for the partners of queries.
    Searches,
    /// Both.
    All,
}

impl Tasks {
    /// Whether self-joins are among them.
    #[must_use]
    pub(crate) fn have_self_joins(self) -> bool {
        self != Self::Searches
    }

    /// Whether searches are among them.
    #[must_use]
    pub(crate) fn have_searches(self) -> bool {
        self != Self::SelfJoins
    }
}

/// The rows that a method can compare: each kind includes the kinds before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKind {
    /// Rows of up to eight words whose distance counts bits.
    Bits,
    /// Rows of up to eight words whose distance counts lanes.
    Lanes,
    /// Rows of any number of words whose lanes vote, which are joined lane by lane.
    Votes,
    /// Rows of any metric and any number of words, since every pair is compared.
    Any,
}

/// The limits of a method.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The tasks that it can do.
    pub tasks: Tasks,
    /// The rows that it can compare.
    pub rows: RowKind,
    /// Whether it may be chosen for whole collections of documents, because its time stays far below
    /// one compare for each pair.
    pub is_for_collections: bool,
}

impl Limits {
    /// Whether the method can count distances by this metric.
    #[must_use]
    pub(crate) fn counts(self, metric: Metric) -> bool {
        match metric {
            Metric::Bits => true,
            Metric::Lanes { .. } => self.rows >= RowKind::Lanes,
            Metric::Votes { .. } => self.rows >= RowKind::Votes,
            Metric::Cosine { .. } => self.rows >= RowKind::Any,
        }
    }

    /// Whether the method compares every pair, and so takes rows of any kind.
    #[must_use]
    pub(crate) fn takes_any_rows(self) -> bool {
        self.rows == RowKind::Any
    }

    /// Whether the method can do `task`.
    #[must_use]
    pub(crate) fn has(self, task: Task) -> bool {
        match task {
            Task::SelfJoin => self.tasks.have_self_joins(),
            Task::Search { .. } => self.tasks.have_searches(),
        }
    }
}

/// The description of a method: all that a plan and a help text need.
pub trait JoinKind: Sync {
    /// Name on the command line and in reports, for example `block-index`.
    fn name(&self) -> &'static str;

    /// One sentence on how it works and when it is a good choice.
    fn help(&self) -> &'static str;

    /// The tasks and rows that it can take.
    fn limits(&self) -> Limits;

    /// The time and memory that it would take.
    fn estimate(&self, workload: &Workload) -> Estimate;

    /// The error for a task that the method cannot do.
    fn refusal(&self, task: &str) -> Error {
        Error::config("index", self.name(), format!("is no method for {task}"))
    }
}

/// The work of a method on rows that are lanes of one width.
///
/// A method implements what its [limits](JoinKind::limits) promise: [`self_join`](Self::self_join),
/// [`partners`](Self::partners), or both. The other functions follow from these, and a method overrides
/// them where it has a cheaper way. What a method does not implement returns an error.
pub trait JoinLanes<L: Lane>: JoinKind {
    /// Finds all pairs of rows within the distance.
    ///
    /// # Errors
    ///
    /// The method is not for self-joins, a temporary file fails, or there is too little memory.
    fn self_join(&self, _rows: Rows<'_, L>, _work: Work<'_>) -> Result<GroupPairs> {
        Err(self.refusal("self-joins"))
    }

    /// Counts the pairs that [`self_join`](Self::self_join) finds, without keeping them all.
    ///
    /// # Errors
    ///
    /// As [`self_join`](Self::self_join).
    fn count_pairs(&self, rows: LaneRows<'_, L>, work: Work<'_>) -> Result<u64> {
        Ok(count(&*self.self_partners(rows, work)?, work.context.progress()))
    }

    /// Returns the partners of each row among the rows behind it.
    ///
    /// # Errors
    ///
    /// As [`self_join`](Self::self_join).
    fn self_partners<'a>(
        &self,
        rows: LaneRows<'a, L>,
        work: Work<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        let found = self.self_join(rows.rows(), work)?;
        Ok(Box::new(RowPairs::new(found, rows.lanes.len())))
    }

    /// Finds all pairs of a query and a row of the corpus within the distance.
    ///
    /// # Errors
    ///
    /// As [`partners`](Self::partners).
    fn join(
        &self,
        queries: Rows<'_, L>,
        corpus: Rows<'_, L>,
        work: Work<'_>,
    ) -> Result<GroupPairs> {
        // Equal queries are asked once, and equal rows are found once.
        let queries = group(queries)?;
        let corpus = group(corpus)?;
        let query_values = LaneRows::all(queries.values());
        let corpus_values = LaneRows::all(corpus.values());
        let pairs = collect(&*self.partners(query_values, corpus_values, work)?);
        Ok(GroupPairs { groups: Sides::Two(queries.groups, corpus.groups), pairs })
    }

    /// Returns the partners of each query.
    ///
    /// # Errors
    ///
    /// The method is not for searches, or there is too little memory.
    fn partners<'a>(
        &self,
        _queries: LaneRows<'a, L>,
        _corpus: LaneRows<'a, L>,
        _work: Work<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        Err(self.refusal("searches"))
    }
}

/// An index or a join that can be asked for by name.
///
/// The trait is implemented for every type that has the [description](JoinKind) and the
/// [work](JoinLanes) of a method.
pub trait Join:
    JoinLanes<u64> + JoinLanes<Wide<2>> + JoinLanes<Wide<4>> + JoinLanes<Wide<8>>
{
}

impl<J> Join for J where
    J: JoinLanes<u64> + JoinLanes<Wide<2>> + JoinLanes<Wide<4>> + JoinLanes<Wide<8>>
{
}

impl PartialEq for dyn Join {
    /// Whether both have the same name, which no two methods share.
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Debug for dyn Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for dyn Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
