//! The input of a join: documents as lists of terms, which can be read several times.

use simtool_base::error::Result;
use simtool_model::distinct_terms::DistinctTerms;

/// The documents that one reading of a shard must visit. A shard is a range of documents that is read
/// as a unit.
#[derive(Clone, Copy)]
pub enum Wanted<'w> {
    /// All documents of the shard.
    All,
    /// Only some documents of the shard. Every later reading wants only documents that this reading wants, so
    /// the source may forget the others.
    Remaining {
        /// Whether the document at this position of the shard is wanted.
        is_one: &'w dyn Fn(u32) -> bool,
        /// Number of terms of all wanted documents, in all shards.
        terms: u64,
    },
    /// The documents for which the function is true. Its argument is the position of the document in
    /// the shard. Later readings may also want other documents.
    Some(&'w dyn Fn(u32) -> bool),
}

impl std::fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::All => "All",
            Self::Remaining { .. } => "Remaining",
            Self::Some(_) => "Some",
        })
    }
}

impl Wanted<'_> {
    /// Whether the document at position `index` of its shard is wanted.
    pub fn has(self, index: u32) -> bool {
        match self {
            Self::All => true,
            Self::Remaining { is_one, .. } | Self::Some(is_one) => is_one(index),
        }
    }
}

/// Documents as lists of terms. They can be read several times, and are divided into shards that
/// can be read separately.
pub trait TermSource: Sync {
    /// Returns the number of shards.
    fn shard_count(&self) -> usize;

    /// Returns the approximate number of terms in all shards. The sizes of tables depend on this
    /// number. If it is wrong, the join takes more time or memory, but finds the same pairs.
    fn term_count_hint(&self) -> u64;

    /// Returns the number of bytes that the source reports to progress while shard number `_shard` is
    /// read.
    fn shard_bytes(&self, _shard: usize) -> u64 {
        0
    }

    /// Returns the bytes of memory that the source has taken in earlier readings and still needs, for
    /// example for the names of documents.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// Returns the maximum number of bytes of memory in which the source keeps terms that it has read.
    /// It needs this memory until the last reading of [remaining](Wanted::Remaining) documents.
    fn keeping_bytes(&self) -> u64 {
        0
    }

    /// Returns whether the terms have [weights](Self::weight). A join of two sources uses the
    /// weights of the second source.
    fn is_weighted(&self) -> bool {
        false
    }

    /// Returns the weight of a term, which is at least 1. If terms have weights, the similarity is
    /// computed from sums of weights instead of numbers of terms.
    fn weight(&self, _term: u64) -> u32 {
        1
    }

    /// Calls `visit(index, terms)` for each wanted document of shard number `shard`, in order. `index`
    /// is the position of the document in the shard, from 0. `terms` has every occurrence of a term in
    /// the document, in any order. It must be the same list at every reading.
    ///
    /// The first reading wants every document, even documents without terms, because each document gets
    /// a row number.
    ///
    /// # Errors
    /// The source cannot be read.
    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()>;

    /// Visits documents like [`Self::visit_shard`], but `visit` may fail. After the first error, `visit` is not called
    /// again.
    ///
    /// # Errors
    /// The source fails, or `visit` does. Returns the first error.
    fn try_visit(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let mut done = Ok(());
        self.visit_shard(shard, wanted, &mut |index, terms| {
            // `visit_shard` cannot be stopped, so all documents after an error are skipped.
            if done.is_ok() {
                done = visit(index, terms);
            }
        })?;
        done
    }
}

/// The input of a join of one or two collections. The row numbers of the second collection follow the
/// row numbers of the first.
pub(super) struct TermSources<'a> {
    pub(super) first: &'a dyn TermSource,
    pub(super) second: Option<&'a dyn TermSource>,
}

impl TermSources<'_> {
    /// Returns the number of bytes that the sources report to progress while all shards are read once.
    pub(super) fn bytes(&self) -> u64 {
        (0..self.shard_count()).map(|shard| self.shard_bytes(shard)).sum()
    }

    /// Returns the index of the collection that a shard belongs to: 0 or 1.
    pub(super) fn side(&self, shard: usize) -> usize {
        usize::from(shard >= self.first.shard_count())
    }
}

impl TermSource for TermSources<'_> {
    fn shard_count(&self) -> usize {
        self.first.shard_count() + self.second.map_or(0, TermSource::shard_count)
    }

    fn term_count_hint(&self) -> u64 {
        let of_second = self.second.map_or(0, TermSource::term_count_hint);
        self.first.term_count_hint().saturating_add(of_second)
    }

    fn held_bytes(&self) -> u64 {
        self.first.held_bytes() + self.second.map_or(0, TermSource::held_bytes)
    }

    fn keeping_bytes(&self) -> u64 {
        self.first.keeping_bytes() + self.second.map_or(0, TermSource::keeping_bytes)
    }

    fn is_weighted(&self) -> bool {
        self.second.unwrap_or(self.first).is_weighted()
    }

    fn weight(&self, term: u64) -> u32 {
        self.second.unwrap_or(self.first).weight(term)
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        match (self.second, shard.checked_sub(self.first.shard_count())) {
            (Some(second), Some(shard)) => second.shard_bytes(shard),
            _ => self.first.shard_bytes(shard),
        }
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let Some(second) = self.second else {
            return self.first.visit_shard(shard, wanted, visit);
        };
        // The counting of terms requires that each document lists a term only once.
        let mut distinct = DistinctTerms::default();
        let mut failed = Ok(());
        let visit = &mut |index: u32, terms: &[u64]| match distinct.distinct(terms) {
            Ok(terms) => visit(index, terms),
            Err(error) => failed = Err(error),
        };
        match shard.checked_sub(self.first.shard_count()) {
            Some(shard) => second.visit_shard(shard, wanted, visit),
            None => self.first.visit_shard(shard, wanted, visit),
        }?;
        failed
    }
}
