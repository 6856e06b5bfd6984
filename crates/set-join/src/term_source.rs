//! The source of a join: documents as terms, which can be read again and again.

use simtool_base::error::Result;
use simtool_model::distinct_terms::DistinctTerms;

/// The documents that a reading must visit.
#[derive(Clone, Copy)]
pub enum Wanted<'w> {
    /// All documents.
    All,
    /// The documents at some places in their part. Later readings want no other documents.
    Remaining {
        /// Whether the document at a place is one.
        is_one: &'w dyn Fn(u32) -> bool,
        /// The number of terms of all remaining documents, in all parts.
        terms: u64,
    },
    /// The documents at some places in their part. Later readings may want other documents that
    /// were wanted before.
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
    /// Whether the document at a place in its part is wanted.
    pub fn has(self, index: u32) -> bool {
        match self {
            Self::All => true,
            Self::Remaining { is_one, .. } | Self::Some(is_one) => is_one(index),
        }
    }
}

/// Documents as terms, readable again and again, in parts that can be read alone.
pub trait TermSource: Sync {
    /// Returns the number of parts.
    fn shard_count(&self) -> usize;

    /// Returns the approximate number of terms in all parts. It sizes tables, so only speed and
    /// memory depend on it.
    fn term_count_hint(&self) -> u64;

    /// Returns the bytes that a reading of a part reports to progress.
    fn shard_bytes(&self, _shard: usize) -> u64 {
        0
    }

    /// Returns the bytes of memory that earlier readings take, for example the names of documents
    /// and kept terms.
    fn told_bytes(&self) -> u64 {
        0
    }

    /// Returns the bytes of memory that the source may take to keep the terms that it reads, until
    /// the [remaining](Wanted::Remaining) documents were read.
    fn keeping_bytes(&self) -> u64 {
        0
    }

    /// Returns whether terms have [weights](Self::weight). A join of two sources uses the weights
    /// of the second one.
    fn is_weighted(&self) -> bool {
        false
    }

    /// Returns the weight of a term, at least 1. Sums of weights take the place of numbers of
    /// terms.
    fn weight(&self, _term: u64) -> u32 {
        1
    }

    /// Calls `visit(index, terms)` for each wanted document of a part, in order. `index` counts all
    /// documents of the part from 0. Terms come once per occurrence, in any order, and are the same
    /// at every reading.
    ///
    /// The first reading wants every document, also documents without terms, because it numbers the
    /// rows.
    ///
    /// # Errors
    /// The source cannot be read.
    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()>;
}

/// One collection, or two with the rows of the second behind those of the first.
pub(super) struct Sources<'a> {
    pub(super) first: &'a dyn TermSource,
    pub(super) second: Option<&'a dyn TermSource>,
}

impl Sources<'_> {
    /// Bytes of a reading of everything.
    pub(super) fn bytes(&self) -> u64 {
        (0..self.shard_count()).map(|shard| self.shard_bytes(shard)).sum()
    }

    /// The side of a shard: 0 or 1.
    pub(super) fn side(&self, shard: usize) -> usize {
        usize::from(shard >= self.first.shard_count())
    }

    /// Visits documents as [`TermSource::visit_shard`] does, with work that may fail: after that it
    /// sees no further ones.
    ///
    /// # Errors
    /// Those of the sources, and the first one of `visit`.
    pub(super) fn try_visit(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let mut done = Ok(());
        self.visit_shard(shard, wanted, &mut |index, terms| {
            // `visit_shard` cannot be stopped, so all documents after an error are passed over.
            if done.is_ok() {
                done = visit(index, terms);
            }
        })?;
        done
    }
}

impl TermSource for Sources<'_> {
    fn shard_count(&self) -> usize {
        self.first.shard_count() + self.second.map_or(0, TermSource::shard_count)
    }

    fn term_count_hint(&self) -> u64 {
        let of_second = self.second.map_or(0, TermSource::term_count_hint);
        self.first.term_count_hint().saturating_add(of_second)
    }

    fn told_bytes(&self) -> u64 {
        self.first.told_bytes() + self.second.map_or(0, TermSource::told_bytes)
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
        // A term that occurs on one side only must not count twice, so each document lists it once.
        let mut distinct = DistinctTerms::default();
        let mut failed = Ok(());
        let visit = &mut |index: u32, terms: &[u64]| match distinct.replace(terms) {
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
