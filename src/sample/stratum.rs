//! Strata: the shards of a collection, grouped by kind. One stratum is, for example, all large Parquet
//! files.

use simtool_model::compression::Compression;
use simtool_read::{Corpus, Format, Price};
use std::collections::BTreeMap;

/// Maximum number of bytes of a small shard. If a small shard is sampled, it is read whole.
const SMALL_BYTES: u64 = 64 << 10;

/// All shards of one kind in a collection. [`strata`] defines the kinds.
pub(super) struct Stratum {
    pub(super) shards: Vec<usize>,
    /// Number of bytes of each shard, in the order of `shards`.
    pub(super) sizes: Vec<f64>,
    /// Number of bytes of all shards together.
    pub(super) bytes: f64,
    /// Number of records in all shards together. `None` if the files do not declare the numbers of
    /// their records.
    pub(super) records: Option<f64>,
    pub(super) is_small: bool,
    /// Cost of reading the shards again.
    pub(super) price: Price,
    /// Compression and format that the names of the files indicate.
    pub(super) kind: (Compression, Option<Format>),
}

/// Groups the shards of a collection by kind. Shards are of the same kind if they agree in all of
/// these:
///
/// * the compression and the format that the names of their files indicate
/// * whether the number of their records is known before reading
/// * whether they are small, which means at most [`SMALL_BYTES`]
/// * the cost of reading them again
pub(super) fn strata(corpus: &dyn Corpus) -> Vec<Stratum> {
    let files = corpus.as_files();
    // Shards of one file are neighbours, so the kind of the file is looked up only once.
    let mut last_file: Option<(usize, (Compression, Option<Format>))> = None;
    let mut strata: BTreeMap<_, Stratum> = BTreeMap::new();
    for shard in 0..corpus.shard_count() {
        let file = corpus.shard_file(shard);
        let kind = match last_file {
            Some((last, kind)) if last == file => kind,
            _ => files.map_or((Compression::None, None), |files| files.named_kind(file)),
        };
        last_file = Some((file, kind));
        let bytes = corpus.shard_bytes(shard);
        let records = corpus.known_records(shard);
        let is_small = bytes <= SMALL_BYTES;
        let price = corpus.price(shard);
        let key = (kind.0, kind.1.map(Format::name), records.is_some(), is_small, price);
        let stratum = strata.entry(key).or_insert_with(|| Stratum {
            shards: Vec::new(),
            sizes: Vec::new(),
            bytes: 0.0,
            records: records.map(|_| 0.0),
            is_small,
            price,
            kind,
        });
        stratum.shards.push(shard);
        stratum.sizes.push(bytes as f64);
        stratum.bytes += bytes as f64;
        stratum.records = stratum.records.zip(records).map(|(sum, records)| sum + records as f64);
    }
    strata.into_values().collect()
}

impl Stratum {
    /// Whether reading the shards costs clearly more than scanning their bytes, for example because they are compressed.
    pub(super) fn is_packed(&self) -> bool {
        self.price != Price::Cheap
    }

    /// Returns the number of bytes of the longest shard.
    pub(super) fn longest_shard(&self) -> f64 {
        self.sizes.iter().copied().fold(0.0, f64::max)
    }
}
