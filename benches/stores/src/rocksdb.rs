//! Buckets in RocksDB.
//!
//! An entry is a key of bucket, fingerprint and number without a value. Lookups use its prefix, the
//! bucket. An ID is stored under its number in a bucket beyond the others. A batch is one write,
//! which syncs the log.
//!
//! Files are mapped plain tables, RocksDB's format for data that fits in memory. This takes two
//! thirds of the time of blocks in a cache, and does not compress. Two files are merged at once,
//! not four, because every lookup passes through all files.

use crate::Result;
use crate::buckets::{Bucket, Buckets, Entry, Store};
use ::rocksdb::{
    DB, Options, PlainTableFactoryOptions, ReadOptions, SliceTransform, WriteBatch, WriteOptions,
};
use std::path::Path;
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

/// Bucket of the IDs, beyond all buckets of fingerprints.
const IDS: Bucket = 4 << 16;

pub(crate) struct Rocks {
    database: DB,
}

fn key(bucket: Bucket, (fingerprint, number): Entry) -> [u8; 16] {
    let key = u128::from(bucket) << 96 | u128::from(fingerprint) << 32 | u128::from(number);
    key.to_be_bytes()
}

pub(crate) fn open(folder: &Path) -> Result<Buckets<Rocks>> {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_allow_mmap_reads(true);
    // Almost every prefix exists, so filters would not help. Other options are the defaults.
    options.set_plain_table_factory(&PlainTableFactoryOptions {
        user_key_length: 16,
        bloom_bits_per_key: 0,
        hash_table_ratio: 0.75,
        index_sparseness: 16,
    });
    options.set_prefix_extractor(SliceTransform::create_fixed_prefix(4));
    options.set_level_zero_file_num_compaction_trigger(2);
    options.increase_parallelism(available_parallelism()?.get() as i32);
    Ok(Buckets::new(Rocks { database: DB::open(&options, folder)? }))
}

impl Store for Rocks {
    fn scan(&self, buckets: &[Bucket], mut tell: impl FnMut(usize, Entry)) -> Result<()> {
        let mut options = ReadOptions::default();
        options.set_prefix_same_as_start(true);
        let mut entries = self.database.raw_iterator_opt(options);
        for (at, &bucket) in buckets.iter().enumerate() {
            entries.seek(bucket.to_be_bytes());
            while let Some(key) = entries.key() {
                let key = u128::from_be_bytes(key.try_into()?);
                tell(at, ((key >> 32) as u64, key as u32));
                entries.next();
            }
            entries.status()?;
        }
        Ok(())
    }

    fn add(&mut self, entries: &[(Bucket, Entry)], ids: &[(u32, [u8; 16])]) -> Result<()> {
        let mut batch = WriteBatch::default();
        for &(bucket, entry) in entries {
            batch.put(key(bucket, entry), []);
        }
        for &(number, id) in ids {
            batch.put(key(IDS, (0, number)), id);
        }
        let mut options = WriteOptions::default();
        options.set_sync(true);
        Ok(self.database.write_opt(batch, &options)?)
    }

    /// Flushes the memory, and waits until files are merged as far as possible.
    fn settle(&mut self) -> Result<()> {
        self.database.flush()?;
        for property in ["compaction-pending", "num-running-compactions"] {
            while self.database.property_int_value(&format!("rocksdb.{property}"))? != Some(0) {
                sleep(Duration::from_millis(10));
            }
        }
        Ok(())
    }
}
