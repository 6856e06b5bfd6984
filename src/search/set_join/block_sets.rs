//! Sets that have most of their terms in common, as words of bits.

use super::TERMS;
use crate::error::Result;
use crate::large_buffer::reserve;
use crate::unordered_map::UnorderedMap;

/// Bits of a block.
const BLOCK: u32 = u64::BITS;

/// Sets whose terms are numbered in the order in which they are first met. Terms that come together
/// in one set have numbers next to each other, so a set is a few blocks of 64 numbers.
#[derive(Debug, Default)]
pub(super) struct BlockSets {
    numbers: UnorderedMap<u64, u32>,
    /// Where each set's blocks end.
    ends: Vec<usize>,
    /// The numbers of the blocks of each set, ascending, and their bits.
    blocks: Vec<u32>,
    bits: Vec<u64>,
    /// The bits of the set that is being added, by block.
    scratch: Vec<u64>,
}

impl BlockSets {
    /// Adds a set of distinct terms.
    ///
    /// # Errors
    /// The memory cannot be had.
    pub(super) fn push(&mut self, terms: &[u64]) -> Result<()> {
        let start = self.blocks.len();
        for &term in terms {
            let next = self.numbers.len() as u32;
            let number = *self.numbers.entry(term).or_insert(next);
            let block = (number / BLOCK) as usize;
            if block >= self.scratch.len() {
                let more = block + 1 - self.scratch.len();
                reserve(&mut self.scratch, more, TERMS)?;
                self.scratch.resize(block + 1, 0);
            }
            if self.scratch[block] == 0 {
                self.blocks.push(block as u32);
            }
            self.scratch[block] |= 1 << (number % BLOCK);
        }
        let own = &mut self.blocks[start..];
        own.sort_unstable();
        reserve(&mut self.bits, own.len(), TERMS)?;
        let bits = own.iter().map(|&block| std::mem::take(&mut self.scratch[block as usize]));
        self.bits.extend(bits);
        self.ends.push(self.blocks.len());
        Ok(())
    }

    /// How many terms two sets share, by the order in which they were added.
    pub(super) fn shared(&self, left: usize, right: usize) -> usize {
        let range = |set: usize| {
            let start = set.checked_sub(1).map_or(0, |before| self.ends[before]);
            start..self.ends[set]
        };
        let (mut left, mut right, mut shared) = (range(left), range(right), 0);
        while left.start < left.end && right.start < right.end {
            let (a, b) = (self.blocks[left.start], self.blocks[right.start]);
            let both = self.bits[left.start] & self.bits[right.start];
            shared += if a == b { both.count_ones() as usize } else { 0 };
            left.start += usize::from(a <= b);
            right.start += usize::from(b <= a);
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;

    #[test]
    fn shared_terms_are_counted() {
        let template: Vec<u64> = (0..300).map(mix).collect();
        let documents: Vec<Vec<u64>> = (0..20)
            .map(|number| {
                let own = (0..number * 7).map(|term| mix(number << 32 | term));
                template.iter().copied().skip(number as usize * 3).chain(own).collect()
            })
            .chain([vec![], vec![0, u64::MAX]])
            .collect();
        let mut sets = BlockSets::default();
        for document in &documents {
            sets.push(document).unwrap();
        }
        for (left, of_left) in documents.iter().enumerate() {
            for (right, of_right) in documents.iter().enumerate() {
                let expected = of_left.iter().filter(|term| of_right.contains(term)).count();
                assert_eq!(sets.shared(left, right), expected, "{left} and {right}");
            }
        }
        assert!(sets.ends[19] - sets.ends[18] < 10);
    }
}
