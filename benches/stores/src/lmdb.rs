//! LMDB, through heed.
//!
//! A bucket is an integer key, its entries are sorted duplicates of fixed size, which LMDB packs without
//! headers; IDs are appended. The map has room for all. A commit syncs, which is the default.

use crate::Result;
use crate::buckets::{Bucket, Buckets, Entry, Store};
use heed::byteorder::NativeEndian;
use heed::types::{Bytes, U32};
use heed::{Database, DatabaseFlags, Env, EnvOpenOptions, IntegerComparator, PutFlags};
use std::path::Path;

/// Size of the map, enough for a hundred million documents. Pages that are not written take no
/// space.
const MAP: usize = 64 << 30;

type Key = U32<NativeEndian>;
type Table = Database<Key, Bytes, IntegerComparator>;

pub(crate) struct Lmdb {
    environment: Env,
    buckets: Table,
    ids: Table,
}

pub(crate) fn open(folder: &Path) -> Result<Buckets<Lmdb>> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP).max_dbs(2);
    // SAFETY: nobody else knows the folder.
    let environment = unsafe { options.open(folder)? };
    let mut transaction = environment.write_txn()?;
    let mut table = |name, flags| {
        let options = environment.database_options().types::<Key, Bytes>();
        let mut options = options.key_comparator::<IntegerComparator>();
        options.name(name).flags(flags).create(&mut transaction)
    };
    let buckets = table("buckets", DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED)?;
    let ids = table("ids", DatabaseFlags::empty())?;
    transaction.commit()?;
    Ok(Buckets::new(Lmdb { environment, buckets, ids }))
}

impl Store for Lmdb {
    fn scan(&self, buckets: &[Bucket], mut tell: impl FnMut(usize, Entry)) -> Result<()> {
        let transaction = self.environment.read_txn()?;
        for (at, bucket) in buckets.iter().enumerate() {
            for entry in self.buckets.get_duplicates(&transaction, bucket)?.into_iter().flatten() {
                let (fingerprint, number) = entry?.1.split_at(8);
                let fingerprint = u64::from_be_bytes(fingerprint.try_into()?);
                tell(at, (fingerprint, u32::from_be_bytes(number.try_into()?)));
            }
        }
        Ok(())
    }

    fn add(&mut self, entries: &[(Bucket, Entry)], ids: &[(u32, [u8; 16])]) -> Result<()> {
        let mut transaction = self.environment.write_txn()?;
        for (bucket, (fingerprint, number)) in entries {
            let mut entry = [0; 12];
            entry[..8].copy_from_slice(&fingerprint.to_be_bytes());
            entry[8..].copy_from_slice(&number.to_be_bytes());
            self.buckets.put(&mut transaction, bucket, &entry)?;
        }
        for (number, id) in ids {
            self.ids.put_with_flags(&mut transaction, PutFlags::APPEND, number, id)?;
        }
        Ok(transaction.commit()?)
    }
}
