//! Sets of terms as bit sets, for fast comparison of sets that have most terms in common.

use super::memory_texts::TERMS;
use super::term_numbers::TermNumbers;
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, reserve};
use simtool_kernels::Isa;
use simtool_kernels::row_bits::shared_bits;
use std::ops::Range;

/// Number of term numbers in a block. A block is one 64-bit word with a bit for each of them.
const BLOCK: u32 = u64::BITS;
/// Limit for the choice between the two forms of [`Comparable`]. If at least 1/`WORDS_A_BLOCK` of all blocks of all
/// sets are not zero, each set stores all blocks. Otherwise, only the blocks that are not zero are stored and compared.
const WORDS_A_BLOCK: usize = 32;
/// Maximum number of 64-bit words of all sets together, if blocks that are zero are stored, too.
const MOST_WORDS: usize = 8 << 20;

/// Sets of terms as bit sets, with a bit for each term number. Terms are numbered in the order in which
/// they first occur. Terms that often occur together get near numbers, so a set needs few blocks of 64
/// numbers. Only these blocks are stored.
#[derive(Debug, Default)]
pub(super) struct BlockSets {
    /// For each set, the index behind its last block in `blocks` and `bits`.
    ends: Vec<usize>,
    /// The block numbers of all sets, in ascending order within a set. Block number b has the term
    /// numbers from 64 × b on. The 64 bits of each block are in `bits` at the same index.
    blocks: Vec<u32>,
    bits: Vec<u64>,
    /// Bits of the set that is being added: element b has the 64 bits of block number b.
    scratch: Vec<u64>,
}

/// Sets of term numbers as bit sets, in one of two forms for comparing them.
#[derive(Debug)]
pub(super) enum Comparable {
    /// Each set stores only its 64-bit blocks that are not zero, with their block numbers.
    Sparse(BlockSets),
    /// Each set stores all 64-bit blocks, so all sets have the same length.
    Dense {
        /// Number of 64-bit words of a set.
        words: usize,
        /// The words of all sets, one set after the other.
        bits: LargeBuffer<u64>,
    },
}

impl BlockSets {
    /// Adds a set of distinct terms. `numbers` gives each term its number, so all sets must be added
    /// with the same `numbers`.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn push(&mut self, terms: &[u64], numbers: &mut TermNumbers) -> Result<()> {
        let start = self.blocks.len();
        let Self { blocks, scratch, .. } = self;
        let most = numbers.len() + terms.len();
        reserve(scratch, most.div_ceil(BLOCK as usize).saturating_sub(scratch.len()), TERMS)?;
        numbers.number(terms, |number| {
            let block = (number / BLOCK) as usize;
            if block >= scratch.len() {
                scratch.resize(block + 1, 0);
            }
            // The words are zeros between two sets, so a zero is a block that is new to this set.
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

    /// Combines several lists of sets into one list. Set i of the result is the union of the sets i of all `parts`. A
    /// term is in only one of the parts.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn joined(mut parts: Vec<Self>) -> Result<Self> {
        if parts.len() == 1 {
            return Ok(parts.swap_remove(0));
        }
        let mut joined = Self::default();
        let count = parts.iter().map(|part| part.blocks.len()).sum();
        reserve(&mut joined.blocks, count, TERMS)?;
        reserve(&mut joined.bits, count, TERMS)?;
        for set in 0..parts.first().map_or(0, |part| part.ends.len()) {
            let mut first = 0;
            for part in &parts {
                let blocks = part.blocks[part.range(set)].iter().map(|&block| first + block);
                joined.blocks.extend(blocks);
                joined.bits.extend_from_slice(&part.bits[part.range(set)]);
                // Each part has numbered its terms from 0, so its blocks go behind those of the
                // parts before.
                first += part.scratch.len() as u32;
            }
            joined.ends.push(joined.blocks.len());
        }
        joined.scratch.resize(parts.iter().map(|part| part.scratch.len()).sum(), 0);
        Ok(joined)
    }

    /// Converts the sets to the form of [`Comparable`] in which they are compared faster.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn comparable(self) -> Result<Comparable> {
        let sets = self.ends.len();
        let words = self.scratch.len();
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

    /// Returns the range of a set's blocks in `blocks` and `bits`.
    fn range(&self, set: usize) -> Range<usize> {
        set.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[set]
    }

    /// Returns the blocks of a set that are not zero: the number and the 64 bits of each.
    fn blocks(&self, set: usize) -> impl Iterator<Item = (usize, u64)> {
        let range = self.range(set);
        let blocks = self.blocks[range.clone()].iter().map(|&block| block as usize);
        blocks.zip(self.bits[range].iter().copied())
    }
}

impl Comparable {
    /// Calls `visit` for each set of `others`, in the order of `others`. The argument of `visit` is the number of terms
    /// that the set shares with set `one`. Sets are numbered in the order in which they were added. `room` is a buffer,
    /// which has only zeros before and after the call.
    pub(super) fn shared_with(
        &self,
        one: usize,
        others: impl Iterator<Item = usize>,
        isa: Isa,
        room: &mut Vec<u64>,
        mut visit: impl FnMut(usize),
    ) {
        match self {
            Self::Sparse(sets) => {
                // The set is spread over all blocks while the other sets are compared with it.
                room.resize(room.len().max(sets.scratch.len()), 0);
                for (block, bits) in sets.blocks(one) {
                    room[block] = bits;
                }
                for other in others {
                    let shared = |(block, bits): (usize, u64)| (room[block] & bits).count_ones();
                    visit(sets.blocks(other).map(shared).sum::<u32>() as usize);
                }
                for (block, _) in sets.blocks(one) {
                    room[block] = 0;
                }
            }
            Self::Dense { words, bits } => {
                let row = |set: usize| &bits[set * words..(set + 1) * words];
                for other in others {
                    visit(shared_bits(isa, row(one), row(other)) as usize);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    /// Checks the number of shared terms of every two sets. Does this twice: with terms that are
    /// numbered together, and with terms in three parts that are numbered separately. Returns whether
    /// the sets were stored with all blocks.
    fn check(documents: &[Vec<u64>]) -> bool {
        let parts = [1, 3].map(|parts| {
            let part = |part: u64| {
                let mut sets = BlockSets::default();
                let mut numbers = TermNumbers::default();
                for document in documents {
                    let own = document.iter().copied().filter(|term| mix(*term) % parts == part);
                    sets.push(&own.collect::<Vec<_>>(), &mut numbers).unwrap();
                }
                sets
            };
            BlockSets::joined((0..parts).map(part).collect()).unwrap().comparable().unwrap()
        });
        let are_dense = parts.each_ref().map(|sets| matches!(sets, Comparable::Dense { .. }));
        assert_eq!(are_dense[0], are_dense[1]);
        for comparable in parts {
            check_shared(documents, &comparable);
        }
        are_dense[0]
    }

    fn check_shared(documents: &[Vec<u64>], comparable: &Comparable) {
        let mut room = Vec::new();
        for (one, of_one) in documents.iter().enumerate() {
            let shared = |other: &Vec<u64>| of_one.iter().filter(|&t| other.contains(t)).count();
            let expected: Vec<usize> = documents.iter().map(shared).collect();
            for &isa in Isa::available() {
                let mut found = Vec::new();
                let others = 0..documents.len();
                comparable.shared_with(one, others, isa, &mut room, |shared| found.push(shared));
                assert_eq!(found, expected, "{one}, {isa}");
            }
        }
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
        // A chain of sets: neighbours share terms, and the ends share none.
        let chain: Vec<Vec<u64>> =
            (0..200).map(|link| (link * 40..link * 40 + 60).map(mix).collect()).collect();
        assert!(!check(&chain));
        assert!(check(&[]));
    }
}
