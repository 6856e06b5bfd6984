//! Counts the found items of each file of items.

use crate::pipeline::document_names::document_name;
use crate::pipeline::{FoundContamination, ItemInDocument};
use crate::write::item_source::ItemSource;
use simtool_read::Corpus;

/// Returns counts for each file of items, in reading order, for example the number of its items that documents contain.
pub(crate) fn item_sources(items: &dyn Corpus, found: &FoundContamination) -> Vec<ItemSource> {
    let ids = &found.items.ids;
    let least = ItemSource::least_common(found.documents.ids.len() as u64);
    let shards: Vec<usize> = (0..items.shard_count()).collect();
    let files = shards.chunk_by(|a, b| items.shard_file(*a) == items.shard_file(*b));
    let of_file = |shards: &[usize]| {
        let [first, last] = [shards[0], shards[shards.len() - 1]];
        let [start, end] = [ids.first_of_shard(first).0, ids.end_of_shard(last).0];
        // Rows are in the order of the items.
        let [from, to] =
            [start, end].map(|item| found.found.partition_point(|row| row.item < item));
        let rows = &found.found[from..to];
        let hits = |rows: &[ItemInDocument]| rows.len() as u64;
        let of_items = rows.chunk_by(|a, b| a.item == b.item);
        let common: Vec<u64> = of_items.clone().map(hits).filter(|&hits| hits >= least).collect();
        // Of several items that are in as many documents, the first one is named.
        let most = of_items.clone().rev().max_by_key(|rows| rows.len());
        let id = most.map(|rows| document_name(items, ids, rows[0].item));
        ItemSource {
            file: items.file_name(items.shard_file(first)).display().to_string(),
            items: u64::from(end - start),
            found_items: of_items.count() as u64,
            found_documents: distinct_documents(rows),
            hits: hits(rows),
            common_items: common.len() as u64,
            common_hits: common.iter().sum(),
            most_common: most.map_or(0, hits),
            most_common_id: id.map_or_else(String::new, |name| {
                String::from_utf8_lossy(name.id().bytes()).into_owned()
            }),
        }
    };
    files.map(of_file).filter(|source| source.items > 0).collect()
}

/// Returns the number of different documents in `rows`.
fn distinct_documents(rows: &[ItemInDocument]) -> u64 {
    // Documents are in ascending order only within the rows of an item.
    let mut documents: Vec<u32> = rows.iter().map(|row| row.document).collect();
    documents.sort_unstable();
    documents.dedup();
    documents.len() as u64
}
