//! Finds IDs that several documents of a collection have.

use rayon::prelude::{IntoParallelIterator, ParallelIterator, ParallelSliceMut};
use simtool_base::stable_hash::hash;
use simtool_model::document::{DocOrdinal, DocumentIds};
use simtool_model::document_id::DocumentId;

/// The documents of a collection that have the same ID as another document of the collection.
#[derive(Debug)]
pub(super) struct SharedIds<'i> {
    ids: &'i DocumentIds,
    /// The documents. Those with the same ID are next to each other, in reading order.
    documents: Vec<DocOrdinal>,
}

impl<'i> SharedIds<'i> {
    /// Finds all documents that have the same ID as another document. Runs on the caller's pool of threads.
    ///
    /// # Complexity
    ///
    /// O(n log n) for n documents. Takes 8 bytes of memory for each document with an ID, and 16 bytes for each
    /// document with the same ID as another document.
    pub(super) fn find(ids: &'i DocumentIds) -> Self {
        if !ids.has_any_id() {
            return Self { ids, documents: Vec::new() };
        }
        let shards = || (0..ids.shard_count()).into_par_iter();
        let hashes_of_shard =
            |shard| ids.ids_of_shard(shard).map(|id| id.map(|id| hash(id.bytes())));
        let mut hashes: Vec<u64> =
            shards().flat_map_iter(|shard| hashes_of_shard(shard).flatten()).collect();
        hashes.par_sort_unstable();
        let is_repeated = |pair: &&[u64]| pair[0] == pair[1];
        let mut repeated: Vec<u64> =
            hashes.windows(2).filter(is_repeated).map(|pair| pair[0]).collect();
        repeated.dedup();
        drop(hashes);
        // Most collections have no repeated ID, so they are done here.
        if repeated.is_empty() {
            return Self { ids, documents: Vec::new() };
        }
        let repeated_of_shard = |shard| {
            let rows = (ids.first_of_shard(shard).0..).map(DocOrdinal);
            let hashed = hashes_of_shard(shard).zip(rows);
            let hashed = hashed.filter_map(|(hash, row)| hash.map(|hash| (hash, row)));
            hashed.filter(|(hash, _)| repeated.binary_search(hash).is_ok())
        };
        // Hashes are compared faster than IDs, which are somewhere else in memory.
        let mut documents: Vec<(u64, DocOrdinal)> =
            shards().flat_map_iter(repeated_of_shard).collect();
        documents.par_sort_unstable();
        let mut shared = Vec::with_capacity(documents.len());
        for equal in documents.chunk_by(|a, b| a.0 == b.0) {
            let mut rows: Vec<DocOrdinal> = equal.iter().map(|&(_, row)| row).collect();
            // Different IDs can have equal hashes, so the IDs decide. The sort is stable and takes one pass if
            // all IDs are equal.
            rows.sort_by_key(|&row| bytes_of_id(ids, row));
            let groups = rows.chunk_by(|&a, &b| bytes_of_id(ids, a) == bytes_of_id(ids, b));
            groups
                .filter(|group| group.len() > 1)
                .for_each(|group| shared.extend_from_slice(group));
        }
        Self { ids, documents: shared }
    }

    /// Returns the number of documents with the same ID as another document.
    pub(super) fn document_count(&self) -> u64 {
        self.documents.len() as u64
    }

    /// Returns the number of removed documents with the same ID as a kept document. `kept` says for
    /// each document whether it is kept.
    pub(super) fn removed_with_kept(&self, kept: &[bool]) -> u64 {
        let is_kept = |document: &&DocOrdinal| kept[document.index()];
        let id = |document: DocOrdinal| bytes_of_id(self.ids, document);
        let groups = self.documents.chunk_by(|&a, &b| id(a) == id(b));
        let removed = groups.map(|group| match group.iter().filter(is_kept).count() {
            0 => 0,
            kept => group.len() - kept,
        });
        removed.sum::<usize>() as u64
    }
}

/// Returns the bytes of a document's ID. A number and a text are the same ID in lists that have no types, such as
/// `removed_ids.txt`.
fn bytes_of_id(ids: &DocumentIds, document: DocOrdinal) -> Option<&[u8]> {
    ids.id(document).map(DocumentId::bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::document::ShardIds;

    fn document_ids(ids: &[Option<&str>]) -> DocumentIds {
        let shards = ids.chunks(3).map(|ids| {
            let mut shard = ShardIds::new(0);
            for (record, id) in ids.iter().enumerate() {
                shard.push(record as u64, id.map(|id| DocumentId::Text(id.as_bytes()))).unwrap();
            }
            shard.close(ids.len() as u64);
            shard
        });
        DocumentIds::new(shards.collect()).unwrap()
    }

    #[test]
    fn documents_with_the_id_of_another_are_counted() {
        let ids = document_ids(&[
            Some("a"),
            None,
            Some("b"),
            Some("a"),
            Some("c"),
            None,
            Some("b"),
            Some("a"),
            Some("d"),
        ]);
        let shared = SharedIds::find(&ids);
        let groups = shared.documents.chunk_by(|&a, &b| ids.id(a) == ids.id(b));
        let mut groups: Vec<_> = groups.collect();
        groups.sort_unstable();
        assert_eq!(groups, [&[0, 3, 7].map(DocOrdinal)[..], &[2, 6].map(DocOrdinal)]);
        assert_eq!(shared.document_count(), 5);
        // One of three documents `a` is kept, and both documents `b` are removed.
        let mut kept = [true; 9];
        for removed in [3, 7, 2, 6] {
            kept[removed] = false;
        }
        assert_eq!(shared.removed_with_kept(&kept), 2);
        assert_eq!(shared.removed_with_kept(&[true; 9]), 0);
    }

    #[test]
    fn distinct_and_missing_ids_are_not_shared() {
        for ids in [&[None, None][..], &[Some("a"), None, Some("b"), None], &[]] {
            assert_eq!(SharedIds::find(&document_ids(ids)).document_count(), 0);
        }
    }
}
