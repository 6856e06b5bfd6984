//! Checks that there is memory for the list of the removed documents, which nothing can replace.

use super::shard_summary::CollectionSummary;
use simtool_base::error::{Error, Result};
use simtool_base::memory_ledger::Ledger;
use simtool_base::quantity::bytes;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_set_join::close::Close;

/// Bytes of memory for each document that is close to another one, while kept documents are chosen and outputs are
/// written: its removal, its place in a cluster and its group.
const BYTES_A_CLOSE_DOCUMENT: u64 = 56;
/// The limit of memory may be exceeded by this share of it and by [`SPARE_BYTES`]. An error would be worse.
const SPARE_SHARE: u64 = 10;
/// Number of bytes by which the limit of memory may be exceeded.
const SPARE_BYTES: u64 = 24 << 20;

/// Checks that the names of all documents and the list of the removed documents fit in memory.
///
/// # Errors
///
/// They do not. The message says how much memory is enough.
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
    if needed <= limit.saturating_add(limit / SPARE_SHARE).saturating_add(SPARE_BYTES) {
        return Ok(());
    }
    let rule = format!(
        "the names of all documents and the list of those that are removed take {}, which is more than \
         `max_memory` ({}); allow at least that, or divide the collection",
        bytes(needed),
        bytes(limit)
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
}
