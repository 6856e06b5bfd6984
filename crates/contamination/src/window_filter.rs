//! A Bloom filter for the windows of items. It rules out nearly all windows of a document that are not windows of
//! items.

use simtool_base::error::Result;
use simtool_base::large_buffer;

/// Number of bits of the filter for each window, before the number of blocks is rounded up to a power of two.
const BITS_A_WINDOW: usize = 10;

/// A Bloom filter: a set of hashes that also contains about 2 % of the hashes that were not added.
///
/// All bits of a hash are in one block of 64 bits, so a look-up reads memory at one place.
#[derive(Debug)]
pub(crate) struct WindowFilter {
    blocks: Vec<u64>,
    /// Mask of the bits of a hash that are the index of its block.
    block_bits: u64,
}

impl WindowFilter {
    /// Creates an empty filter with room for `windows` hashes.
    pub(crate) fn new(windows: usize) -> Result<Self> {
        let blocks = (windows * BITS_A_WINDOW).div_ceil(64).next_power_of_two();
        let blocks = large_buffer::filled(0, blocks, "the filter of windows")?;
        let block_bits = blocks.len() as u64 - 1;
        Ok(Self { blocks, block_bits })
    }

    pub(crate) fn add(&mut self, hash: u64) {
        self.blocks[(hash & self.block_bits) as usize] |= bits(hash);
    }

    /// Replaces `passing` by the indices in `hashes` of the hashes that are in the filter, in ascending order.
    pub(crate) fn find(&self, hashes: &[u64], passing: &mut Vec<u32>) {
        passing.clear();
        passing.resize(hashes.len(), 0);
        let mut count = 0;
        for (index, &hash) in (0..).zip(hashes) {
            let bits = bits(hash);
            // Written in any case: a branch would often be mispredicted.
            passing[count] = index;
            count += usize::from(self.blocks[(hash & self.block_bits) as usize] & bits == bits);
        }
        passing.truncate(count);
    }
}

/// Returns the three bits that a hash sets in its block of the filter. They depend only on bits 32 to 49 of the hash.
/// Lower bits select the block, and the highest bits order the windows of a table.
#[inline]
fn bits(hash: u64) -> u64 {
    1 << (hash >> 32 & 63) | 1 << (hash >> 38 & 63) | 1 << (hash >> 44 & 63)
}
