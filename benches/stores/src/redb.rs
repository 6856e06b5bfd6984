//! Buckets in redb.
//!
//! A bucket is a key of a multimap. With keys of bucket, fingerprint and number, queries take twice
//! the time, and documents more bytes. IDs are appended with a cursor. A commit syncs, which is the
//! default. The cache has room for all data.

use crate::Result;
use crate::buckets::{Bucket, Buckets, Entry, Store};
use ::redb::{Database, MultimapTableDefinition, ReadableDatabase, TableDefinition};
use std::ops::Bound;
use std::path::Path;

/// Bytes of the cache, enough for tens of millions of documents.
const CACHE: usize = 8 << 30;

const BUCKETS: MultimapTableDefinition<'_, u32, (u64, u32)> =
    MultimapTableDefinition::new("buckets");
const IDS: TableDefinition<'_, u32, &[u8; 16]> = TableDefinition::new("ids");

pub(crate) struct Redb {
    database: Database,
}

pub(crate) fn open(folder: &Path) -> Result<Buckets<Redb>> {
    let database = Database::builder().set_cache_size(CACHE).create(folder.join("index.redb"))?;
    let mut store = Redb { database };
    // A reader needs existing tables, so an empty batch creates them.
    store.add(&[], &[])?;
    Ok(Buckets::new(store))
}

impl Store for Redb {
    fn scan(&self, buckets: &[Bucket], mut tell: impl FnMut(usize, Entry)) -> Result<()> {
        let table = self.database.begin_read()?.open_multimap_table(BUCKETS)?;
        for (at, &bucket) in buckets.iter().enumerate() {
            for entry in table.get(bucket)? {
                tell(at, entry?.value());
            }
        }
        Ok(())
    }

    fn add(&mut self, entries: &[(Bucket, Entry)], ids: &[(u32, [u8; 16])]) -> Result<()> {
        let transaction = self.database.begin_write()?;
        let mut table = transaction.open_multimap_table(BUCKETS)?;
        for &(bucket, entry) in entries {
            table.insert(bucket, entry)?;
        }
        drop(table);
        let mut table = transaction.open_table(IDS)?;
        let mut end = table.upper_bound_mut(Bound::<u32>::Unbounded)?;
        for (number, id) in ids {
            end.insert_before(number, id)?;
        }
        end.close()?;
        drop(table);
        Ok(transaction.commit()?)
    }
}
