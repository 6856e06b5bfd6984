//! Hash table whose keys are 64-bit terms in ascending order. Each term has two 32-bit numbers,
//! such as its document frequency and its idf.
//!
//! Terms are hashes, so the value of a term, scaled to the size of the table, is the index of the slot of the term. If
//! lower terms already fill the slot, the term is in one of the next entries. A search ends at the first entry with the
//! term or a higher term. Reading the entries in order gives the terms in ascending order.
//!
//! # References
//!
//! O. Amble, D. Knuth. Ordered hash tables. The Computer Journal 17(2), 1974.

use simtool_base::large_buffer::LargeBuffer;
use simtool_kernels::prefetch;
use std::ops::RangeInclusive;

/// Number of entries that a look-up compares at once, without a branch.
const TOGETHER: usize = 4;

/// A term with all bits inverted, and its two numbers packed into 64 bits. Both are 0 in a free entry.
type Entry = [u64; 2];

/// Table of terms that all have the same highest bits. Each term has two numbers, such as its document frequency and
/// its idf. The first number is never 0.
#[derive(Debug)]
pub(super) struct TermTable {
    /// The slots of the hash table, followed by entries for terms that do not fit into the last slots.
    entries: LargeBuffer<Entry>,
    /// Number of slots, which are the first elements of `entries`.
    places: usize,
    len: usize,
    /// Number of highest bits that are the same in all terms of the table. These bits do not select the slot.
    shared_bits: u32,
}

impl TermTable {
    /// Creates an empty table with memory for `terms` terms. All terms must have the same highest `shared_bits` bits.
    pub(super) fn new(terms: usize, shared_bits: u32) -> Self {
        let places = places(terms);
        let entries = LargeBuffer::resident(places + terms + TOGETHER);
        Self { entries, places, len: 0, shared_bits }
    }

    /// Creates a table with memory for `terms` terms. Fills it with the terms of `ascending`, which must be in
    /// ascending order, and their two numbers.
    pub(super) fn from_ascending(
        terms: usize,
        shared_bits: u32,
        ascending: impl Iterator<Item = (u64, [u32; 2])>,
    ) -> Self {
        let mut table = Self::new(terms, shared_bits);
        for (term, [first, second]) in ascending {
            let at = table.position(term);
            table.entries[at] = [!term, u64::from(second) << 32 | u64::from(first)];
            table.len += 1;
        }
        table
    }

    /// Returns the number of bytes of a table with memory for `terms` terms.
    pub(super) fn bytes(terms: u64) -> u64 {
        terms.saturating_add(terms / 2).saturating_mul(size_of::<Entry>() as u64)
    }

    /// Returns the number of terms in the table.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns all terms in ascending order, each with its two numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, [u32; 2])> {
        taken(&self.entries)
    }

    /// Returns the terms in a range in ascending order, each with its two numbers.
    pub(super) fn range(
        &self,
        terms: &RangeInclusive<u64>,
    ) -> impl Iterator<Item = (u64, [u32; 2])> {
        let [start, end] = [*terms.start(), *terms.end()].map(|term| self.position(term));
        taken(&self.entries[start..=end]).take_while(|(term, _)| term <= terms.end())
    }

    /// Loads into the cache the memory that a look-up of `term` reads.
    #[inline]
    pub(super) fn prefetch(&self, term: u64) {
        prefetch(&self.entries, self.place(term));
    }

    /// Returns the two numbers of a term, or zeros if the table does not contain the term.
    #[inline]
    pub(super) fn get(&self, term: u64) -> [u32; 2] {
        let [inverted, numbers] = self.entries[self.position(term)];
        unpacked(numbers & u64::from(inverted == !term).wrapping_neg())
    }

    /// Adds 1 to the first number of a term, and sets the bits of `marks` in its second number. A new term is inserted
    /// with the numbers 1 and `marks`. If there is no memory for a new term, returns `false` and changes nothing.
    #[inline]
    pub(super) fn increment(&mut self, term: u64, marks: u32) -> bool {
        let at = self.position(term);
        let marks = u64::from(marks) << 32;
        let [inverted, numbers] = &mut self.entries[at];
        if *inverted == !term && *numbers > 0 {
            *numbers = (*numbers + 1) | marks;
            return true;
        }
        // Checked before the entry is written, so a full table stays unchanged.
        let has_room = places(self.len + 1) <= self.places;
        if has_room {
            // The entries up to the next free one move by one.
            let mut moved = [!term, marks | 1];
            for entry in &mut self.entries[at..] {
                moved = std::mem::replace(entry, moved);
                if moved[1] == 0 {
                    break;
                }
            }
            self.len += 1;
        }
        has_room
    }

    /// Returns the index of the entry of a term, or the index at which the term would be inserted.
    #[inline(always)]
    fn position(&self, term: u64) -> usize {
        let mut at = self.place(term);
        // Counting the smaller ones of a few entries costs less than a mispredicted branch.
        if let Some(near) = self.entries[at..].first_chunk::<TOGETHER>() {
            at += near.iter().map(|entry| usize::from(entry[0] > !term)).sum::<usize>();
        }
        while self.entries[at][0] > !term {
            at += 1;
        }
        at
    }

    #[inline(always)]
    fn place(&self, term: u64) -> usize {
        // The result is below the number of slots, because the product is below that number × 2⁶⁴.
        ((u128::from(term << self.shared_bits) * self.places as u128) >> 64) as usize
    }
}

/// Returns the number of slots of a table for `terms` terms. At most two of three slots are then taken.
fn places(terms: usize) -> usize {
    terms.saturating_add(terms / 2).max(3)
}

fn unpacked(numbers: u64) -> [u32; 2] {
    [numbers as u32, (numbers >> 32) as u32]
}

fn taken(entries: &[Entry]) -> impl Iterator<Item = (u64, [u32; 2])> {
    let taken = entries.iter().filter(|entry| entry[1] > 0);
    taken.map(|&[inverted, numbers]| (!inverted, unpacked(numbers)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use std::collections::BTreeMap;

    #[test]
    fn a_table_agrees_with_an_ordered_map() {
        // Hashes, the greatest terms, which need entries behind the last slot, and the smallest
        // terms.
        let crowded = (0..40).map(|at| u64::MAX - at).chain(0..40);
        let terms: Vec<u64> = (0..400).map(|at| mix(at * at % 263)).chain(crowded).collect();
        for room in [1, 7, 100, 1000] {
            let mut table = TermTable::new(room, 0);
            let mut expected = BTreeMap::new();
            for &term in &terms {
                if expected.contains_key(&term) || expected.len() < room {
                    *expected.entry(term).or_insert(0) += 1;
                    assert!(table.increment(term, 0));
                }
            }
            assert!(table.iter().map(|(term, [count, _])| (term, count)).eq(expected.clone()));
            assert_eq!(table.len(), expected.len());
            let copy = TermTable::from_ascending(table.len(), 0, table.iter());
            assert!(copy.iter().eq(table.iter()));
            for &term in &terms {
                let count = expected.get(&term).copied().unwrap_or(0);
                assert_eq!([table.get(term), copy.get(term)], [[count, 0]; 2]);
            }
            for range in [0..=u64::MAX, 5..=u64::MAX - 5, mix(1).min(mix(2))..=mix(1).max(mix(2))] {
                let slowly =
                    expected.range(range.clone()).map(|(&term, &count)| (term, [count, 0]));
                assert!(table.range(&range).eq(slowly), "{range:?}");
            }
        }
    }
}
