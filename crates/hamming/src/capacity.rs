//! A model of the size and speed of very large indexes, by the number of their tables. It helps to choose
//! machines.
//!
//! If the bits are cut into b blocks, two fingerprints that differ in at most k bits agree in b - k of
//! them, so a table for each choice of b - k blocks finds every pair. More blocks make more tables, with
//! longer prefixes and fewer candidates.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.

use crate::bucket_table::entry_bytes;
use crate::workload::query_of_tables;
use simtool_base::error::{Error, Result};

/// Largest number of blocks in addition to the fewest possible.
const MORE_BLOCKS: u32 = 4;
/// Bytes that an index keeps for a document in addition to its fingerprint and tables: an ID of 16 digits
/// and the properties of the document.
const DOCUMENT: f64 = 11.0;

/// Size and speed of an index with a given number of tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Blocks that the bits are cut into.
    pub blocks: u32,
    /// Tables, one for each choice of all but k of the blocks.
    pub tables: u64,
    /// Bits by which a table is looked up.
    pub prefix_bits: u32,
    /// Bytes on disk, with an ID of 16 bytes for each fingerprint.
    pub disk: f64,
    /// Bytes that are read in random order, and so should be in memory: fingerprints and tables.
    pub memory: f64,
    /// Fingerprints that share a prefix with a query by chance, over all tables.
    pub candidates: f64,
    /// Seconds of one core for a query, in memory.
    pub seconds: f64,
}

impl Capacity {
    /// Number of machines with `memory` bytes each that hold the index.
    #[must_use]
    pub fn machines(&self, memory: f64) -> f64 {
        (self.memory / memory.max(1.0)).ceil().max(1.0)
    }

    /// Models an index of `documents` fingerprints of `bits` bits whose near-duplicates differ in at most
    /// `max_distance` bits: once for each number of blocks, the fewest first. The fewest is what
    /// [`BlockIndex`](crate::block_index::BlockIndex) and indexes on disk use.
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
    /// There are no documents or bits, or as many differences as bits.
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

/// Number of ways to choose `chosen` of `all`, if it is below a million.
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
