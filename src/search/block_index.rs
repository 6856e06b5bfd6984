//! The block index: k + 1 tables keyed by k + 1 blocks of bits, of which two near fingerprints
//! agree in one. For many queries one after the other.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.

use crate::fingerprint_table::Lane;
use crate::kernels::partition::BlockHash;
use crate::kernels::{Isa, hamming_scan, prefetch};
use crate::large_buffer::LargeBuffer;
use crate::matches::Match;
use crate::search::FingerprintIndex;
use crate::search::parallel_partition::partition;
use crate::search::split::{index_blocks, is_first_agreeing};
use rayon::prelude::{
    IndexedParallelIterator, IntoParallelIterator, ParallelIterator, ParallelSlice,
    ParallelSliceMut,
};
use std::ops::Range;

/// Rows of a bucket that a table aims at.
const BUCKET_ROWS: usize = 48;
/// Bits of a bucket's number, at most.
const MAX_BITS: u32 = 24;
/// Queries whose memory is asked for before the first of them is answered.
const BATCH: usize = 8;

/// Tables over an array of fingerprints, 8 bytes a row and table.
#[derive(Debug)]
pub struct BlockIndex<'a, L> {
    values: &'a [L],
    max_distance: u32,
    isa: Isa,
    blocks: Vec<L>,
    tables: Vec<Table>,
}

#[derive(Debug)]
struct Table {
    hash: BlockHash,
    /// Where each bucket starts, and at the end the number of rows.
    starts: Vec<u32>,
    folds: LargeBuffer<u32>,
    rows: LargeBuffer<u32>,
}

impl Table {
    fn new<L: Lane>(values: &[L], block: L) -> Self {
        let wanted = (values.len() / BUCKET_ROWS).max(2).ilog2();
        let bits = wanted.min(MAX_BITS).min(block.count_ones()).max(1);
        // The folds ride along as 64-bit values whose upper half names the bucket.
        let hash = BlockHash::new(block, 0, bits);
        let keyed = |range: Range<usize>| {
            values[range.clone()]
                .iter()
                .map(|&value| (hash.part(value) as u64) << 32 | u64::from(value.fold32()))
                .zip(range.start as u32..)
        };
        let mut entries = LargeBuffer::<u64>::zeroed(values.len());
        let mut rows = LargeBuffer::<u32>::zeroed(values.len());
        let coarse_bits = bits.min(8);
        let coarse = TopBits { shift: 32 + bits - coarse_bits, parts: 1 << coarse_bits };
        let coarse_starts = partition(
            values.len(),
            keyed,
            &coarse.hash(bits),
            &mut entries,
            &mut rows,
        );
        let _ = coarse_starts;
        Self { hash, starts: Vec::new(), folds: LargeBuffer::zeroed(0), rows }
    }
}
