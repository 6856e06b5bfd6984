//! The trait that every index and join implements: a name, limits, an estimate and the work itself.
//!
//! Each method is a value of [`Join`] in a file of its own, and an entry in
//! [`JOINS`](crate::joins::JOINS).

use crate::Rows;
use crate::collect::KeepPairs;
use crate::group_pairs::GroupPairs;
use crate::grouping::group;
use crate::partners::{Partners, collect_in_room};
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, JoinTask, Workload};
use simtool_base::error::{Error, Result};
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::{Fingerprint, Wide};
use simtool_model::sides::Sides;
use std::fmt;

/// The tasks that a method can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// Finding all near pairs in one collection.
    SelfJoins,
    /// Finding the partners of queries: the rows of a corpus within the maximum distance of a query.
    Searches,
    /// Both self-joins and searches.
    All,
}

impl Tasks {
    /// Whether the method can join a collection with itself.
    #[must_use]
    pub(crate) fn have_self_joins(self) -> bool {
        self != Self::Searches
    }

    /// Whether the method can find the partners of queries, which are the rows of a corpus near them.
    #[must_use]
    pub(crate) fn have_searches(self) -> bool {
        self != Self::SelfJoins
    }
}

/// The kinds of fingerprints that a method can compare. Each variant includes all variants before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKind {
    /// Fingerprints of up to eight 64-bit words, whose distance is the number of different bits.
    Bits,
    /// Fingerprints of up to eight 64-bit words, whose distance is the number of different lanes. A
    /// lane is a group of bits, for example one hash of MinHash.
    Lanes,
    /// Fingerprints of any length whose 64-bit words are compared separately. Two fingerprints are near
    /// if enough of their words are near.
    Votes,
    /// Fingerprints of any length and metric, because the method compares every pair.
    Any,
}

/// Limits of a join method: the tasks that it can do, and the fingerprints that it can compare.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Tasks that the method can do.
    pub tasks: Tasks,
    /// Fingerprints that the method can compare.
    pub rows: RowKind,
    /// Whether the method may be chosen automatically to compare all documents of a collection. Such a
    /// method must take far less time than a comparison of every pair.
    pub is_for_collections: bool,
}

impl Limits {
    /// Whether the method supports distances by this metric.
    #[must_use]
    pub(crate) fn counts(self, metric: Metric) -> bool {
        match metric {
            Metric::Bits => true,
            // The hash values of a cosine are joined as lanes.
            Metric::Lanes { .. } | Metric::Cosine { .. } => self.rows >= RowKind::Lanes,
            Metric::Votes { .. } => self.rows >= RowKind::Votes,
        }
    }

    /// Whether the method compares every pair. Such a method takes fingerprints of any kind.
    #[must_use]
    pub(crate) fn takes_any_rows(self) -> bool {
        self.rows == RowKind::Any
    }

    /// Whether the method can do `task`.
    #[must_use]
    pub(crate) fn has(self, task: JoinTask) -> bool {
        match task {
            JoinTask::SelfJoin => self.tasks.have_self_joins(),
            JoinTask::Search { .. } => self.tasks.have_searches(),
        }
    }
}

/// The description of a method, for plans and help texts.
pub trait JoinKind: Sync {
    /// Returns the name on the command line and in reports, for example `block-index`.
    fn name(&self) -> &'static str;

    /// Returns one sentence on how the method works and when it is a good choice.
    fn help(&self) -> &'static str;

    /// Returns the tasks and fingerprints that the method can take.
    fn limits(&self) -> Limits;

    /// Estimates the time and memory that the method takes for a workload.
    fn estimate(&self, workload: &Workload) -> JoinEstimate;

    /// Estimates the bytes of temporary files that the method writes for a workload.
    fn temporary_bytes(&self, _workload: &Workload) -> f64 {
        0.0
    }

    /// Returns the error for a task that the method cannot do. `task` names the task in the plural, for
    /// example "searches".
    fn refusal(&self, task: &str) -> Error {
        Error::config("index", self.name(), format!("is no method for {task}"))
    }
}

/// A method for fingerprints of one type, which has 1, 2, 4 or 8 words of 64 bits.
///
/// A method implements the functions that its [limits](JoinKind::limits) promise:
/// [`self_join`](Self::self_join), [`partners`](Self::partners), or both. If it does not implement one of
/// them, that function returns an error. The other functions are for methods that need no memory for pairs.
pub trait JoinFixedRows<L: Fingerprint>: JoinKind {
    /// Finds all pairs of rows within the maximum distance of `_work`.
    ///
    /// # Errors
    ///
    /// The method is not for self-joins, a temporary file fails, or there is too little memory.
    fn self_join(&self, _rows: Rows<'_, L>, _work: JoinWork<'_>) -> Result<GroupPairs> {
        Err(self.refusal("self-joins"))
    }

    /// Counts the pairs of rows within the maximum distance of `_work`, which [`self_join`](Self::self_join) finds,
    /// without keeping them in memory. Returns `None` if the method cannot do this.
    ///
    /// # Errors
    ///
    /// The same errors as [`self_join`](Self::self_join).
    fn count_pairs(&self, _rows: FixedRows<'_, L>, _work: JoinWork<'_>) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Returns an object that finds the partners of a row when they are requested: the later rows within the maximum
    /// distance. The object keeps no pairs. Returns `None` if the method finds all pairs at once.
    fn self_partners<'a>(
        &self,
        _rows: FixedRows<'a, L>,
        _work: JoinWork<'a>,
    ) -> Option<Box<dyn Partners + 'a>> {
        None
    }

    /// Finds all pairs of a query and a row of the corpus within the maximum distance of `work`.
    ///
    /// # Errors
    ///
    /// The same errors as [`partners`](Self::partners).
    fn join(
        &self,
        queries: Rows<'_, L>,
        corpus: Rows<'_, L>,
        work: JoinWork<'_>,
    ) -> Result<GroupPairs> {
        // Equal queries are searched only once, and equal rows are found only once.
        let queries = group(queries, work.context.memory())?;
        let corpus = group(corpus, work.context.memory())?;
        let query_values = FixedRows::all(queries.values());
        let corpus_values = FixedRows::all(corpus.values());
        let partners = self.partners(query_values, corpus_values, work)?;
        let pairs = collect_in_room(&*partners, &KeepPairs::new(work), work.share);
        drop(partners);
        Ok(GroupPairs { groups: Sides::Two(queries.groups, corpus.groups), pairs })
    }

    /// Returns an object that finds the partners of a query when they are requested: the rows of the corpus within the
    /// maximum distance.
    ///
    /// # Errors
    ///
    /// The method is not for searches, or there is too little memory.
    fn partners<'a>(
        &self,
        _queries: FixedRows<'a, L>,
        _corpus: FixedRows<'a, L>,
        _work: JoinWork<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        Err(self.refusal("searches"))
    }
}

/// An index or a join that users can select by name.
///
/// The trait is implemented for every type that has the [description](JoinKind) and the
/// [work](JoinFixedRows) of a method.
pub trait Join:
    JoinFixedRows<u64> + JoinFixedRows<Wide<2>> + JoinFixedRows<Wide<4>> + JoinFixedRows<Wide<8>>
{
}

impl<J> Join for J where
    J: JoinFixedRows<u64>
        + JoinFixedRows<Wide<2>>
        + JoinFixedRows<Wide<4>>
        + JoinFixedRows<Wide<8>>
{
}

impl PartialEq for dyn Join {
    /// Returns whether the two methods have the same name. No two methods share a name.
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
