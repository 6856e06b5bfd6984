//! Finds the row of bits of a set if an equal set was sketched before, so that equal sets share one row. The rows of
//! bits are in several lists, which worker threads write.

use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::unordered_map::UnorderedMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of hash tables. Each table has a lock and some of the sets, so threads seldom wait for each other.
const TABLES: usize = 256;

/// Position in one of several lists, for example of the row of bits of a set, which is its sketch. The upper 24 bits
/// are the number of the list, and the lower 40 bits are the index in this list.
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

/// Hash tables from the signature and the size of a set to the place of its row of bits, which is its sketch. Equal
/// sets share a row. `lists` is the number of lists of rows.
#[derive(Debug)]
pub(super) struct KnownRows {
    tables: Vec<Mutex<Table>>,
    lists: AtomicU32,
}

/// Key of a set in a hash table: the upper 96 bits of its 128-bit signature, and its size.
type Key = (u64, u32, u32);

/// One of the hash tables, and the reservation of its memory.
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

    /// Counts a new list of rows, and returns its number, from 0 on.
    pub(super) fn new_list(&self) -> usize {
        self.lists.fetch_add(1, Ordering::Relaxed) as usize
    }

    /// Returns the place of the row of bits of sets with this signature and size, or `None` if no such set was
    /// inserted.
    pub(super) fn find(&self, signature: u128, size: u32) -> Option<RowPlace> {
        let (table, key) = self.table_and_key(signature, size);
        let table = table.lock().unwrap_or_else(PoisonError::into_inner);
        table.rows.get(&key).copied()
    }

    /// Records `row` as the place of the row of bits of all sets with this signature and size.
    pub(super) fn insert(&self, signature: u128, size: u32, row: RowPlace) {
        let (table, key) = self.table_and_key(signature, size);
        let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
        let Table { rows, held } = &mut *table;
        let room = rows.capacity();
        rows.insert(key, row);
        // The hash table takes one more byte for each entry.
        let entry_bytes = size_of::<(Key, RowPlace)>() + 1;
        held.grow(((rows.capacity() - room) * entry_bytes) as u64);
    }

    fn table_and_key(&self, signature: u128, size: u32) -> (&Mutex<Table>, Key) {
        let key = ((signature >> 64) as u64, (signature >> 32) as u32, size);
        (&self.tables[signature as usize % TABLES], key)
    }
}
