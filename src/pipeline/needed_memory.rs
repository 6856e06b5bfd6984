//! Checks that there is memory for the fingerprints and for the list of the removed documents. Both must be in memory.

use super::shard_summary::CollectionSummary;
use simtool_base::error::{Error, Result};
use simtool_base::memory_ledger::Ledger;
use simtool_base::quantity::bytes as bytes_of;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use simtool_set_join::close::Close;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of memory for each document that is close to another document, while kept documents are chosen and outputs are
/// written: its removal, its place in a cluster and its group.
const BYTES_A_CLOSE_DOCUMENT: u64 = 56;
/// Divisor of the memory limit. A run may exceed the limit by 1/`SPARE_SHARE` of the limit plus [`SPARE_BYTES`],
/// because an error would be worse.
const SPARE_SHARE: u64 = 10;
/// Number of bytes by which the memory limit may be exceeded, in addition to the share [`SPARE_SHARE`].
const SPARE_BYTES: u64 = 24 << 20;

/// Returns the number of bytes that may really be used if the user limits the memory to `limit` bytes.
fn allowed(limit: u64) -> u64 {
    limit.saturating_add(limit / SPARE_SHARE).saturating_add(SPARE_BYTES)
}

/// Counter of the memory that is taken by the fingerprints and document names of the shards that were read so far.
pub(super) struct RowBytes<'c> {
    corpus: &'c dyn Corpus,
    /// Limit of memory in bytes.
    limit: u64,
    /// Number of bytes of memory that the fingerprints and names of all shards that were read take.
    kept: AtomicU64,
    /// Number of input bytes of the shards that were read, as [`Corpus::shard_bytes`] counts them.
    read: AtomicU64,
}

impl<'c> RowBytes<'c> {
    /// Creates the counter before the first shard of `corpus` is read. `memory` has the memory limit.
    pub(super) fn new(corpus: &'c dyn Corpus, memory: &Ledger) -> Self {
        let [kept, read] = [0; 2].map(AtomicU64::new);
        Self { corpus, limit: memory.limit(), kept, read }
    }

    /// Counts a shard whose fingerprints and names take `bytes` of memory.
    ///
    /// # Errors
    ///
    /// All shards so far do not fit in memory. The message estimates how much memory is enough.
    pub(super) fn add(&self, shard: usize, bytes: u64) -> Result<()> {
        let kept = self.kept.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let length = self.corpus.shard_bytes(shard).max(1);
        let read = self.read.fetch_add(length, Ordering::Relaxed) + length;
        if kept <= allowed(self.limit) {
            return Ok(());
        }
        let times = self.corpus.bytes().max(read) as f64 / read as f64;
        #[expect(clippy::cast_sign_loss, reason = "no length is negative")]
        let needed = (kept as f64 * times) as u64;
        let rule = format!(
            "they do not fit in `max_memory` ({}); allow about {}, or divide the collection",
            bytes_of(self.limit),
            bytes_of(needed)
        );
        Err(Error::limit("the fingerprints of all documents", rule))
    }
}

/// Checks that the names of all documents and the list of the removed documents fit in memory.
///
/// # Errors
///
/// They do not fit in memory. The message names the memory that is enough.
pub(super) fn check_removals(
    read: &Sides<CollectionSummary>,
    close: &Close,
    memory: &Ledger,
) -> Result<()> {
    let in_groups: usize = close.groups.iter().flat_map(Groups::iter).map(<[u32]>::len).sum();
    let documents: u64 = read.iter().map(|read| read.lengths.len() as u64).sum();
    // Each pair has at most two documents that are in no group.
    let most = (in_groups as u64).saturating_add(2 * close.pairs.len() as u64).min(documents);
    let names: u64 = read.iter().map(CollectionSummary::bytes).sum();
    let needed = names + most * BYTES_A_CLOSE_DOCUMENT;
    let limit = memory.limit();
    if needed <= allowed(limit) {
        return Ok(());
    }
    let rule = format!(
        "the names of all documents and the list of those that are removed take {}, which is more than \
         `max_memory` ({}); allow at least that, or divide the collection",
        bytes_of(needed),
        bytes_of(limit)
    );
    Err(Error::limit(format!("{most} documents with near-duplicates"), rule))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_set_join::close::ClosePairs;

    #[test]
    fn a_list_that_does_not_fit_says_how_much_memory_is_enough() {
        let group: Vec<u32> = (0..1_000_000).collect();
        let groups = Sides::One([group].iter().collect());
        let close = Close::sets(groups, ClosePairs::from(Vec::new()));
        let mut read = CollectionSummary::default();
        read.lengths.resize(1_000_000, 7);
        let read = Sides::One(read);
        let check = |memory| check_removals(&read, &close, &Ledger::new(memory));
        let error = check(30_000_000).unwrap_err().to_string();
        assert!(error.starts_with("1000000 documents with near-duplicates: "), "{error}");
        assert!(error.contains("take 60.0 MB") && error.contains("(30.0 MB)"), "{error}");
        check(60_000_000).unwrap();
    }

    #[test]
    fn fingerprints_that_do_not_fit_end_the_reading() {
        let texts = ["one text", "another text of the same length or so"];
        let corpus = &simtool_read::Texts::of(&texts);
        let rows = RowBytes::new(corpus, &Ledger::new(100_000_000));
        rows.add(0, 130_000_000).unwrap();
        let error = rows.add(0, 30_000_000).unwrap_err().to_string();
        assert!(error.starts_with("the fingerprints of all documents: "), "{error}");
        assert!(error.contains("(100.0 MB); allow about 160.0 MB"), "{error}");
    }
}
