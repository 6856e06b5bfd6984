//! A collection × itself: near-duplicates, and which of them are kept.

use super::config::{ClusterRule, DeduplicateConfig, Keep, Method};
use super::corpus_terms::{BadRecord, CorpusTerms, ShardSummary};
use super::progress::Progress;
use super::timings::Timings;
use super::workers::Workers;
use crate::closeness::CloseRows;
use crate::cluster::{Removal, components, keep};
use crate::document::{DocOrdinal, DocumentIds, ShardIds};
use crate::error::Result;
use crate::fault::Fault;
use crate::field_value::FieldValue;
use crate::read::{Collection, Corpus};
use crate::search::set_join::SetJoin;
use std::cmp::Ordering;

/// A bad record with its place in the collection.
#[derive(Clone, Debug)]
pub struct Quarantined {
    /// Number of the file.
    pub file: usize,
    /// Number and byte in the file, and what is wrong.
    pub record: BadRecord,
}

/// What was found in a collection.
#[derive(Clone, Debug)]
pub struct Deduplicated {
    /// File, record and ID of every document.
    pub ids: DocumentIds,
    /// All that is close.
    pub close: CloseRows,
    /// The documents to remove, in reading order.
    pub removals: Vec<Removal>,
    /// The bad records, in reading order.
    pub quarantined: Vec<Quarantined>,
    /// What is wrong with files.
    pub faults: Vec<Fault>,
    /// Documents without any term, which are kept.
    pub without_terms: u64,
    /// Documents of which something was mended.
    pub mended: u64,
    /// Bytes of text of each document.
    pub lengths: Vec<u64>,
    /// Where the time went.
    pub timings: Timings,
}

impl Deduplicated {
    /// Whether each document is kept, by its number.
    #[must_use]
    pub fn kept(&self) -> Vec<bool> {
        let mut kept = vec![true; self.ids.len()];
        for removal in &self.removals {
            kept[DocOrdinal(removal.row).index()] = false;
        }
        kept
    }
}

/// Finds all near-duplicates in `collection` and decides which documents to remove.
///
/// The result is the same for any number of threads and any instruction set.
///
/// # Errors
///
/// The threads cannot be started, or there are more than 2³² − 1 documents. What is wrong with the
/// input is part of the result.
pub fn deduplicate(
    collection: &Collection,
    config: &DeduplicateConfig,
    progress: &dyn Progress,
) -> Result<Deduplicated> {
    let mut timings = Timings::start();
    let workers = Workers::new(config.threads)?;
    let by_field = matches!(config.keep, Keep::FieldMax | Keep::FieldMin);
    let bytes = (0..collection.shard_count()).map(|shard| collection.shard_bytes(shard)).sum();
    progress.begin("reading", bytes);
    let terms = CorpusTerms::new(collection, config.shingle, by_field, config.isa, progress);
    let close = match config.method {
        Method::Exact(threshold) => {
            let join =
                SetJoin { threshold, pool: workers.pool(), memory_bytes: config.memory_bytes };
            CloseRows::from(join.self_join(&terms)?)
        }
    };
    timings.end("read and join");

    let mut found = Found::of(terms.into_summaries());
    let ids = DocumentIds::new(std::mem::take(&mut found.ids))?;
    let prefer = |a: u32, b: u32| found.prefer(config.keep, a, b);
    let removals = match config.clusters {
        ClusterRule::Proven => keep::keep_preferred(&close, prefer),
        ClusterRule::Components => components::keep_one_each(&close, prefer),
    };
    timings.end("cluster");

    let quarantined = found.bad.into_iter().map(|(shard, mut record)| {
        record.record += ids.first_record_of_shard(shard);
        Quarantined { file: collection.shard_file(shard), record }
    });
    Ok(Deduplicated {
        quarantined: quarantined.collect(),
        ids,
        close,
        removals,
        faults: found.faults,
        without_terms: found.without_terms,
        mended: found.mended,
        lengths: found.lengths,
        timings,
    })
}

/// The summaries of all shards, put together.
#[derive(Default)]
struct Found {
    ids: Vec<ShardIds>,
    bad: Vec<(usize, BadRecord)>,
    faults: Vec<Fault>,
    preferences: Vec<FieldValue>,
    without_terms: u64,
    mended: u64,
    lengths: Vec<u64>,
}

impl Found {
    fn of(summaries: Vec<ShardSummary>) -> Self {
        let mut found = Self::default();
        for (shard, summary) in summaries.into_iter().enumerate() {
            found.ids.push(summary.ids);
            found.bad.extend(summary.bad.into_iter().map(|record| (shard, record)));
            found.faults.extend(summary.faults);
            found.preferences.extend(summary.preferences);
            found.without_terms += summary.without_terms;
            found.mended += summary.mended;
            found.lengths.extend(summary.lengths);
        }
        found
    }

    /// Orders two documents, the one to keep first.
    fn prefer(&self, keep: Keep, a: u32, b: u32) -> Ordering {
        let value = |row: u32| &self.preferences[row as usize];
        let by_value = match keep {
            Keep::First => Ordering::Equal,
            Keep::Last => return b.cmp(&a),
            Keep::FieldMin => value(a).compare(value(b)),
            Keep::Longest => self.lengths[b as usize].cmp(&self.lengths[a as usize]),
            Keep::FieldMax => match (value(a), value(b)) {
                // A missing value is last in either direction.
                (FieldValue::Missing, _) | (_, FieldValue::Missing) => value(a).compare(value(b)),
                (a, b) => b.compare(a),
            },
        };
        by_value.then(a.cmp(&b))
    }
}
