//! The rows of bits that worker threads have written, so that equal sets share one row.

use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::unordered_map::UnorderedMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of tables of rows. Each has a lock, and a part of the sets.
const TABLES: usize = 256;

/// Place of a row: the number of a list in the upper 24 bits, and an index in the list in the lower ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPlace(u64);

impl RowPlace {
    const AT_BITS: u32 = 40;

    pub(super) fn new(list: usize, at: usize) -> Self {
        Self((list as u64) << Self::AT_BITS | at as u64)
    }

    /// Returns the number of the list and the index in it.
    #[inline]
    pub(super) fn list_and_index(self) -> (usize, usize) {
        ((self.0 >> Self::AT_BITS) as usize, (self.0 & ((1 << Self::AT_BITS) - 1)) as usize)
    }
}

/// The rows of all lists of a reading.
#[derive(Debug)]
pub(super) struct KnownRows {
    tables: Vec<Mutex<Table>>,
    lists: AtomicU32,
}

/// A part of the signature of a set, and its size.
type Key = (u64, u32, u32);

/// The places of rows.
#[derive(Debug)]
struct Table {
    rows: UnorderedMap<Key, RowPlace>,
    held: Reservation,
}

impl KnownRows {
    pub(super) fn new(ledger: &Ledger) -> Arc<Self> {
        let table = || Mutex::new(Table { rows: UnorderedMap::default(), held: ledger.hold(0) });
        let tables = (0..TABLES).map(|_| table()).collect();
        Arc::new(Self { tables, lists: AtomicU32::new(0) })
    }

    /// Returns the number of a new list.
    pub(super) fn new_list(&self) -> usize {
        self.lists.fetch_add(1, Ordering::Relaxed) as usize
    }

    /// Returns the place of the row of sets with this signature and size, or `None` if no list has such a row.
    pub(super) fn find(&self, signature: u128, size: u32) -> Option<RowPlace> {
        let (table, key) = self.table_and_key(signature, size);
        let table = table.lock().unwrap_or_else(PoisonError::into_inner);
        table.rows.get(&key).copied()
    }

    /// Makes `row` the place of the row of sets with this signature and size.
    pub(super) fn insert(&self, signature: u128, size: u32, row: RowPlace) {
        let (table, key) = self.table_and_key(signature, size);
        let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
        let Table { rows, held } = &mut *table;
        let room = rows.capacity();
        rows.insert(key, row);
        // An entry has a byte of the table's own.
        let entry_bytes = size_of::<(Key, RowPlace)>() + 1;
        held.grow(((rows.capacity() - room) * entry_bytes) as u64);
    }

    fn table_and_key(&self, signature: u128, size: u32) -> (&Mutex<Table>, Key) {
        let key = ((signature >> 64) as u64, (signature >> 32) as u32, size);
        (&self.tables[signature as usize % TABLES], key)
    }
}
