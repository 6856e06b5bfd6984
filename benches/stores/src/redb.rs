//! redb.
//!
//! An entry is a key of bucket, fingerprint and number in one integer, without a value: smaller and faster
//! than redb's multimaps, whose buckets are written anew with each entry. IDs are appended with a cursor.
//! A commit syncs, which is the default; the cache has room for all.

use crate::Result;
use crate::buckets::{Bucket, Buckets, Entry, Store};
use ::redb::{Database, ReadableDatabase, TableDefinition};
use std::ops::Bound;
use std::path::Path;

/// Bytes of the cache: tens of millions of documents.
const CACHE: usize = 8 << 30;

const BUCKETS: TableDefinition<'_, u128, ()> = TableDefinition::new("buckets");
const IDS: TableDefinition<'_, u32, &[u8; 16]> = TableDefinition::new("ids");

pub(crate) struct Redb {
    database: Database,
}

fn key(bucket: Bucket, (fingerprint, number): Entry) -> u128 {
    u128::from(bucket) << 96 | u128::from(fingerprint) << 32 | u128::from(number)
}

pub(crate) fn open(folder: &Path) -> Result<Buckets<Redb>> {
    let database = Database::builder().set_cache_size(CACHE).create(folder.join("index.redb"))?;
    let mut store = Redb { database };
    // A reader takes tables that are there.
    store.add(&[], &[])?;
    Ok(Buckets::new(store))
}

impl Store for Redb {
    fn scan(&self, buckets: &[Bucket], mut tell: impl FnMut(usize, Entry)) -> Result<()> {
        let table = self.database.begin_read()?.open_table(BUCKETS)?;
        for (at, &bucket) in buckets.iter().enumerate() {
            for entry in table.range(key(bucket, (0, 0))..=key(bucket, (u64::MAX, u32::MAX)))? {
                let key = entry?.0.value();
                tell(at, ((key >> 32) as u64, key as u32));
            }
        }
        Ok(())
    }

    fn add(&mut self, entries: &[(Bucket, Entry)], ids: &[(u32, [u8; 16])]) -> Result<()> {
        let transaction = self.database.begin_write()?;
        let mut table = transaction.open_table(BUCKETS)?;
        for &(bucket, entry) in entries {
            table.insert(key(bucket, entry), ())?;
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
