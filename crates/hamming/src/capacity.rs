//! Estimates the size and speed of very large indexes with different numbers of tables. This helps to
//! choose machines.
//!
//! If the bits are divided into b blocks, two fingerprints that differ in at most k bits are equal in b
//! − k of the blocks. So a table for each choice of b − k blocks finds every near pair. The bits of
//! these blocks are the prefix of the table, by which it is searched. With more blocks, there are more
//! tables, longer prefixes and fewer candidates.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.

use crate::bucket_table::entry_bytes;
use crate::workload::query_of_tables;
use simtool_base::error::{Error, Result};

/// Estimates are made for k + 1 to k + 1 + `MORE_BLOCKS` blocks of bits. Here k is the maximum distance of
/// near-duplicates, so k + 1 blocks are the minimum.
const MORE_BLOCKS: u32 = 4;
/// Bytes that an index stores per document in addition to its fingerprint and tables: an ID of 16
/// digits and the properties of the document.
const DOCUMENT: f64 = 11.0;

/// Estimated size and speed of an index with a given number of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Number of blocks into which the bits are divided.
    pub blocks: u32,
    /// Number of tables. With the maximum distance k, there is one table for each choice of `blocks` − k blocks.
    pub tables: u64,
    /// Number of bits of a table's prefix. A prefix consists of the bits of the chosen blocks, and a
    /// query looks up its prefix in the table.
    pub prefix_bits: u32,
    /// Number of bytes on disk: fingerprints, tables, and an ID of 16 digits with the properties for
    /// each document.
    pub disk: f64,
    /// Number of bytes of fingerprints and tables. Queries read them in random order, so they should be
    /// in memory.
    pub memory: f64,
    /// Average number of fingerprints that have the same prefix as a query by chance, added up over all
    /// tables. The query must be compared with all of them.
    pub candidates: f64,
    /// Seconds that one core takes for a query if the whole index is in memory.
    pub seconds: f64,
}

impl Capacity {
    /// Returns the number of machines that the index needs if it is divided among machines with `memory` bytes each.
    #[must_use]
    pub fn machines(&self, memory: f64) -> f64 {
        (self.memory / memory.max(1.0)).ceil().max(1.0)
    }

    /// Estimates indexes of `documents` fingerprints of `bits` bits, in which near-duplicates differ in
    /// at most `max_distance` bits. Returns one estimate for each number of blocks, in ascending order.
    /// [`BlockIndex`](crate::block_index::BlockIndex) and indexes on disk use the smallest number of
    /// blocks.
    ///
    /// ```
    /// use simtool_hamming::capacity::Capacity;
    ///
    /// let designs = Capacity::of(1e9, 64, 3)?;
    /// assert_eq!((designs[0].blocks, designs[0].tables), (4, 4));
    /// assert!(designs[1].candidates < designs[0].candidates);
    /// # Ok::<(), simtool_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A number is outside its range, or `max_distance` is not below `bits`.
    #[expect(clippy::cast_sign_loss, reason = "there is a document at least")]
    pub fn of(documents: f64, bits: u32, max_distance: u32) -> Result<Vec<Self>> {
        if !(1.0..=1e18).contains(&documents) {
            return Err(Error::config("documents", documents, "must be from 1 to 1e18"));
        }
        if !(1..=1 << 16).contains(&bits) {
            return Err(Error::config("bits", bits, "must be from 1 to 65536"));
        }
        if max_distance >= bits {
            let rule = format!("must be below the {bits} bits of a fingerprint");
            return Err(Error::config("max_distance", max_distance, rule));
        }
        let row = f64::from(bits.div_ceil(64)) * 8.0;
        let design = |blocks: u32| {
            let tables = choices(blocks, max_distance)?;
            let prefix_bits =
                u64::from(bits) * u64::from(blocks - max_distance) / u64::from(blocks);
            let bucket = documents * (-(prefix_bits as f64)).exp2();
            let memory = documents * (row + tables as f64 * entry_bytes(documents as usize) as f64);
            Some(Self {
                blocks,
                tables,
                prefix_bits: prefix_bits as u32,
                disk: memory + documents * DOCUMENT,
                memory,
                candidates: tables as f64 * bucket,
                seconds: query_of_tables(tables as f64, bucket + 1.0) * 1e-9,
            })
        };
        let fewest = max_distance + 1;
        Ok((fewest..=(fewest + MORE_BLOCKS).min(bits)).filter_map(design).collect())
    }
}

/// Returns the number of ways to choose `chosen` of `all` things, or `None` if it is a million or more.
fn choices(all: u32, chosen: u32) -> Option<u64> {
    let mut count = 1;
    for step in 0..chosen.min(all - chosen) {
        count = count * u64::from(all - step) / u64::from(step + 1);
        if count >= 1_000_000 {
            return None;
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_paper_come_out() {
        // 8 billion fingerprints of 64 bits: 4 tables of 16 bits, 10 of 25, 20 of 32.
        let designs = Capacity::of(8e9, 64, 3).unwrap();
        let shapes: Vec<_> = designs.iter().map(|d| (d.blocks, d.tables, d.prefix_bits)).collect();
        assert_eq!(shapes, [(4, 4, 16), (5, 10, 25), (6, 20, 32), (7, 35, 36), (8, 56, 40)]);
        assert!((designs[0].candidates - 4.0 * 8e9 / 65536.0).abs() < 1.0);
        assert!((designs[0].memory - 8e9 * 32.0).abs() < 1.0);
        assert!((designs[0].machines(64e9) - 4.0).abs() < f64::EPSILON);
        assert!(designs.windows(2).all(|two| two[0].candidates > two[1].candidates));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (documents, bits, distance) in
            [(0.0, 64, 3), (f64::NAN, 64, 3), (1e9, 0, 0), (1e9, 64, 64)]
        {
            assert!(Capacity::of(documents, bits, distance).is_err());
        }
        assert_eq!(Capacity::of(1e9, 64, 63).unwrap().len(), 1);
        assert_eq!(choices(6, 3), Some(20));
    }
}
