//! Sets that have most of their terms in common, as words of bits.

use super::TERMS;
use super::term_numbers::TermNumbers;
use crate::error::Result;
use crate::kernels::Isa;
use crate::kernels::shared_bits::shared_bits;
use crate::large_buffer::{LargeBuffer, reserve};
use std::ops::Range;

/// Bits of a block.
const BLOCK: u32 = u64::BITS;
/// Words of all blocks for each block that a set has, up to which it is quicker to compare all words
/// than to find the blocks that two sets share.
const WORDS_A_BLOCK: usize = 32;
/// Words at the most of sets that are laid out with all blocks.
const MOST_WORDS: usize = 8 << 20;

/// Sets whose terms are numbered in the order in which they are first met. Terms that come together
/// in one set have numbers next to each other, so a set is a few blocks of 64 numbers.
#[derive(Debug, Default)]
pub(super) struct BlockSets {
    numbers: TermNumbers,
    /// Where each set's blocks end.
    ends: Vec<usize>,
    /// The numbers of the blocks of each set, ascending, and their bits.
    blocks: Vec<u32>,
    bits: Vec<u64>,
    /// The bits of the set that is being added, by block.
    scratch: Vec<u64>,
}

/// Sets that are there to be compared.
#[derive(Debug)]
pub(super) enum Comparable {
    /// By the blocks that they have.
    Sparse(BlockSets),
    /// By all blocks, so many words for each set.
    Dense {
        /// The words of a set.
        words: usize,
        /// Those of all sets.
        bits: LargeBuffer<u64>,
    },
}

impl BlockSets {
    /// Adds a set of distinct terms.
    ///
    /// # Errors
    /// The memory cannot be had.
    pub(super) fn push(&mut self, terms: &[u64]) -> Result<()> {
        let start = self.blocks.len();
        let Self { numbers, blocks, scratch, .. } = self;
        let most = numbers.len() + terms.len();
        reserve(scratch, most.div_ceil(BLOCK as usize).saturating_sub(scratch.len()), TERMS)?;
        numbers.number(terms, |number| {
            let block = (number / BLOCK) as usize;
            if block >= scratch.len() {
                scratch.resize(block + 1, 0);
            }
            if scratch[block] == 0 {
                blocks.push(block as u32);
            }
            scratch[block] |= 1 << (number % BLOCK);
        })?;
        let own = &mut self.blocks[start..];
        own.sort_unstable();
        reserve(&mut self.bits, own.len(), TERMS)?;
        let bits = own.iter().map(|&block| std::mem::take(&mut self.scratch[block as usize]));
        self.bits.extend(bits);
        self.ends.push(self.blocks.len());
        Ok(())
    }

    /// All sets, in whichever form they are the faster to compare.
    ///
    /// # Errors
    /// The memory cannot be had.
    pub(super) fn comparable(self) -> Result<Comparable> {
        let (sets, words) = (self.ends.len(), self.scratch.len());
        if words * sets > (self.blocks.len() * WORDS_A_BLOCK).min(MOST_WORDS) {
            return Ok(Comparable::Sparse(self));
        }
        let mut bits = LargeBuffer::try_zeroed(words * sets, TERMS)?;
        for set in 0..sets {
            for at in self.range(set) {
                bits[set * words + self.blocks[at] as usize] = self.bits[at];
            }
        }
        Ok(Comparable::Dense { words, bits })
    }

    /// The places of a set's blocks.
    fn range(&self, set: usize) -> Range<usize> {
        set.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[set]
    }

    fn shared(&self, left: usize, right: usize) -> usize {
        let (mut left, mut right, mut shared) = (self.range(left), self.range(right), 0);
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

impl Comparable {
    /// How many terms two sets share, by the order in which they were added.
    pub(super) fn shared(&self, left: usize, right: usize, isa: Isa) -> usize {
        match self {
            Self::Sparse(sets) => sets.shared(left, right),
            Self::Dense { words, bits } => {
                let row = |set: usize| &bits[set * words..(set + 1) * words];
                shared_bits(isa, row(left), row(right)) as usize
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;

    /// Compares every two sets; returns whether they were laid out with all blocks.
    fn check(documents: &[Vec<u64>]) -> bool {
        let mut sets = BlockSets::default();
        for document in documents {
            sets.push(document).unwrap();
        }
        let comparable = sets.comparable().unwrap();
        for (left, of_left) in documents.iter().enumerate() {
            for (right, of_right) in documents.iter().enumerate() {
                let expected = of_left.iter().filter(|term| of_right.contains(term)).count();
                for &isa in Isa::available() {
                    let shared = comparable.shared(left, right, isa);
                    assert_eq!(shared, expected, "{left} and {right}, {isa}");
                }
            }
        }
        matches!(comparable, Comparable::Dense { .. })
    }

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
        assert!(check(&documents));
        // A chain, whose ends share nothing.
        let chain: Vec<Vec<u64>> =
            (0..200).map(|link| (link * 40..link * 40 + 60).map(mix).collect()).collect();
        assert!(!check(&chain));
        assert!(check(&[]));
    }
}
