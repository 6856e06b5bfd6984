//! A table of terms that stay in order, each with two numbers.
//!
//! Terms are hashes, so each has a place in the table by its own value. It stands there, or behind it
//! where smaller ones took that: what is between tells at once whether a term is there, and terms come
//! out ascending.
//!
//! # References
//!
//! O. Amble, D. Knuth. Ordered hash tables. The Computer Journal 17(2), 1974.

use crate::kernels::prefetch;
use crate::large_buffer::LargeBuffer;
use std::ops::RangeInclusive;

/// Entries that are looked at together.
const TOGETHER: usize = 4;

/// A term, inverted, and its numbers; zeros if it is none.
type Entry = [u64; 2];

/// Terms that agree in their highest bits, with two numbers each, of which the first is not 0.
#[derive(Debug)]
pub(super) struct TermTable {
    /// Entries by place; behind the places there is room for all that are pushed out of them.
    entries: LargeBuffer<Entry>,
    places: usize,
    len: usize,
    /// So many highest bits are the same for all.
    shared_bits: u32,
}

impl TermTable {
    /// A table for so many terms.
    pub(super) fn new(terms: usize, shared_bits: u32) -> Self {
        let places = places(terms);
        let entries = LargeBuffer::resident(places + terms + TOGETHER);
        Self { entries, places, len: 0, shared_bits }
    }

    /// A table for so many terms of these, which are ascending and as many at the most.
    pub(super) fn of_ascending(
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

    /// Bytes of a table for so many terms.
    pub(super) fn bytes(terms: u64) -> u64 {
        terms.saturating_add(terms / 2).saturating_mul(size_of::<Entry>() as u64)
    }

    /// Number of terms.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The terms with their numbers, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, [u32; 2])> {
        taken(&self.entries)
    }

    /// Those of a range.
    pub(super) fn range(
        &self,
        terms: &RangeInclusive<u64>,
    ) -> impl Iterator<Item = (u64, [u32; 2])> {
        let [start, end] = [*terms.start(), *terms.end()].map(|term| self.position(term));
        taken(&self.entries[start..=end]).take_while(|(term, _)| term <= terms.end())
    }

    /// Fetches what a look at a term reads into the caches.
    #[inline]
    pub(super) fn prefetch(&self, term: u64) {
        prefetch(&self.entries, self.place(term));
    }

    /// The numbers of a term, or zeros if it is not there.
    #[inline]
    pub(super) fn get(&self, term: u64) -> [u32; 2] {
        let [inverted, numbers] = self.entries[self.position(term)];
        unpacked(numbers & u64::from(inverted == !term).wrapping_neg())
    }

    /// Adds 1 to the first number of a term; `false` if it is not there and has no room.
    #[inline]
    pub(super) fn increment(&mut self, term: u64) -> bool {
        let at = self.position(term);
        let [inverted, numbers] = &mut self.entries[at];
        if *inverted == !term && *numbers > 0 {
            *numbers += 1;
            return true;
        }
        let has_room = places(self.len + 1) <= self.places;
        if has_room {
            // Those behind it go one further, up to the next gap.
            let mut moved = [!term, 1];
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

    /// Where a term stands, or the place that it would take.
    #[inline(always)]
    fn position(&self, term: u64) -> usize {
        let mut at = self.place(term);
        // To look at a few costs less than a branch that goes wrong.
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
        // Below the number of places, since the product is below that × 2^64.
        ((u128::from(term << self.shared_bits) * self.places as u128) >> 64) as usize
    }
}

/// Places for so many terms: two in three are taken at the most.
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
    use crate::stable_hash::mix;
    use std::collections::BTreeMap;

    #[test]
    fn a_table_agrees_with_an_ordered_map() {
        // Hashes, the greatest terms, which ask for places behind the last one, and the smallest.
        let crowded = (0..40).map(|at| u64::MAX - at).chain(0..40);
        let terms: Vec<u64> = (0..400).map(|at| mix(at * at % 263)).chain(crowded).collect();
        for room in [1, 7, 100, 1000] {
            let mut table = TermTable::new(room, 0);
            let mut expected = BTreeMap::new();
            for &term in &terms {
                if expected.contains_key(&term) || expected.len() < room {
                    *expected.entry(term).or_insert(0) += 1;
                    assert!(table.increment(term));
                }
            }
            assert!(table.iter().map(|(term, [count, _])| (term, count)).eq(expected.clone()));
            assert_eq!(table.len(), expected.len());
            let copy = TermTable::of_ascending(table.len(), 0, table.iter());
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
