//! The documents of a search: one collection, or queries and a corpus.

use simtool_base::error::Result;
use simtool_set_join::{TermSource, Wanted};

/// Documents of one collection, which cover each other, or queries that documents of a corpus cover. A document covers
/// another one if it has its words. The shards of the corpus are numbered after the shards of the queries.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'s> {
    pub(crate) first: &'s dyn TermSource,
    pub(crate) corpus: Option<&'s dyn TermSource>,
}

impl Sources<'_> {
    /// Returns the number of shards.
    pub(crate) fn shard_count(self) -> usize {
        self.first.shard_count() + self.corpus.map_or(0, TermSource::shard_count)
    }

    /// Returns the approximate number of runs of all documents.
    pub(crate) fn run_count_hint(self) -> u64 {
        let of_corpus = self.corpus.map_or(0, TermSource::term_count_hint);
        self.first.term_count_hint().saturating_add(of_corpus)
    }

    /// Returns the number of bytes of all shards. Progress counts them once for each reading.
    pub(crate) fn bytes(self) -> u64 {
        [Some(self.first), self.corpus].into_iter().flatten().map(of_shards).sum()
    }

    /// Returns whether the documents of shard number `shard` may be removed. The documents of a corpus always stay.
    pub(crate) fn may_go(self, shard: usize) -> bool {
        self.corpus.is_none() || shard < self.first.shard_count()
    }

    /// Returns whether documents of shard number `shard` may cover others, which means that the others may be removed
    /// because of them.
    pub(crate) fn may_cover(self, shard: usize) -> bool {
        self.corpus.is_none() || !self.may_go(shard)
    }

    /// Calls `visit` with the position in the shard, and the hashes of the runs, of each document of shard number
    /// `shard` that `wanted` selects.
    ///
    /// # Errors
    /// The source fails, or `visit` does.
    pub(crate) fn visit(
        self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        match (self.corpus, shard.checked_sub(self.first.shard_count())) {
            (Some(corpus), Some(shard)) => corpus.try_visit(shard, wanted, visit),
            _ => self.first.try_visit(shard, wanted, visit),
        }
    }
}

fn of_shards(source: &dyn TermSource) -> u64 {
    (0..source.shard_count()).map(|shard| source.shard_bytes(shard)).sum()
}
