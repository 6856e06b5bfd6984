//! Tests joins of documents that are gone when they are read again.

use super::*;

/// Documents that are gone after `readings_left` readings of shards. Later readings visit no document and return no
/// error.
struct Vanishing {
    documents: ListedDocuments,
    readings_left: AtomicUsize,
}

impl TermSource for Vanishing {
    fn shard_count(&self) -> usize {
        self.documents.shard_count()
    }

    fn term_count_hint(&self) -> u64 {
        self.documents.term_count_hint()
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let less = |left: usize| left.checked_sub(1);
        match self.readings_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => self.documents.visit_shard(shard, wanted, visit),
            Err(_) => Ok(()),
        }
    }
}

#[test]
fn documents_that_are_gone_are_like_nothing() {
    let similar_after = |readings: usize| {
        let documents = source_of(&templates(90));
        let source = Vanishing { documents, readings_left: AtomicUsize::new(readings) };
        let threshold = threshold(7, 10);
        let join = SetJoin {
            threshold,
            memory_bytes: u64::MAX,
            filter: None,
            context: &Context::default(),
        };
        join.self_join(&source).unwrap().pairs.len()
    };
    // The ten shards are sketched, counted, sketched again and compared.
    let all = similar_after(40);
    assert!(all > 1000);
    for readings in [10, 20, 30] {
        assert_eq!(similar_after(readings), 0);
    }
    assert!((1..all).contains(&similar_after(35)));
}
