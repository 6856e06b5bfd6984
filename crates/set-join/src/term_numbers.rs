//! Hash table that numbers terms in the order in which they first occur.

use super::memory_texts::TERMS;
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, reserve};
use simtool_kernels::prefetch;

/// Distance, in terms, between the term that is being numbered and the later term whose slot is prefetched.
const AHEAD: usize = 16;
/// Distance, in terms, between the term that is being numbered and the later term for which a second prefetch is done.
/// It fetches the entry of `terms` to which the slot of the later term refers.
const SOON: usize = 8;
/// Minimum number of slots that a hash table with at least one term uses.
const LEAST_PLACES: usize = 1 << 10;
/// Value of a slot of the hash table that has no term.
const FREE: u32 = 0;

/// Hash table from terms to numbers. Terms are hashes, so their lowest bits select a slot.
///
/// A slot holds only a number. If it also held the term, the table would take four times the memory. So
/// most of the table stays in the caches.
#[derive(Debug)]
pub(super) struct TermNumbers {
    /// In each slot, the number of a term plus 1, or [`FREE`]. Only the first `places` slots are in
    /// use. `places` is a power of two, and at least twice the number of terms.
    slots: LargeBuffer<u32>,
    places: usize,
    /// The terms, indexed by their numbers.
    terms: Vec<u64>,
}

impl Default for TermNumbers {
    fn default() -> Self {
        Self { slots: LargeBuffer::zeroed(0), places: 0, terms: Vec::new() }
    }
}

impl TermNumbers {
    /// Returns the number of terms in the table.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Removes all terms, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.terms.clear();
        self.places = 0;
    }

    /// Calls `visit` with the number of each term of `terms`, in order. A term that is not in the table
    /// gets the next unused number.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn number(&mut self, terms: &[u64], mut visit: impl FnMut(u32)) -> Result<()> {
        self.make_room(terms.len())?;
        let Self { slots, places, terms: numbered } = self;
        let slots = &mut slots[..*places];
        let mask = slots.len() - 1;
        for (at, &term) in terms.iter().enumerate() {
            if let Some(&later) = terms.get(at + AHEAD) {
                prefetch(slots, later as usize & mask);
            }
            if let Some(&soon) = terms.get(at + SOON) {
                prefetch(numbered, (slots[soon as usize & mask] as usize).wrapping_sub(1));
            }
            let slot = &mut slots[place_of(slots, numbered, term)];
            if *slot == FREE {
                numbered.push(term);
                *slot = numbered.len() as u32;
            }
            visit(*slot - 1);
        }
        Ok(())
    }

    /// Enlarges the table, if necessary, so that `more` additional terms fit.
    fn make_room(&mut self, more: usize) -> Result<()> {
        reserve(&mut self.terms, more, TERMS)?;
        let needed = ((self.terms.len() + more) * 2).max(LEAST_PLACES);
        if needed <= self.places {
            return Ok(());
        }
        self.places = needed.next_power_of_two();
        // New memory consists of zeros, which are `FREE`. Memory that is used again must be
        // emptied.
        if self.places > self.slots.len() {
            self.slots = LargeBuffer::try_resident(self.places, TERMS)?;
        } else {
            self.slots[..self.places].fill(FREE);
        }
        let slots = &mut self.slots[..self.places];
        // All terms are different, so they need not be compared.
        for (number, &term) in (1..).zip(&self.terms) {
            let mut place = term as usize & (slots.len() - 1);
            while slots[place] != FREE {
                place = (place + 1) & (slots.len() - 1);
            }
            slots[place] = number;
        }
        Ok(())
    }
}

/// Returns the index of the slot that has the number of `term`, or of the free slot where it
/// belongs.
#[inline(always)]
fn place_of(slots: &[u32], numbered: &[u64], term: u64) -> usize {
    let mask = slots.len() - 1;
    let mut place = term as usize & mask;
    while slots[place] != FREE && numbered[slots[place] as usize - 1] != term {
        place = (place + 1) & mask;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use std::collections::BTreeMap;

    #[test]
    fn terms_are_numbered_as_they_come() {
        let mut numbers = TermNumbers::default();
        let mut expected = BTreeMap::new();
        for round in 0..80_u64 {
            if round == 40 {
                assert!(expected.len() > 1000);
                assert_eq!(numbers.len(), expected.len());
                numbers.clear();
                expected.clear();
            }
            let round = round % 40;
            // Some of these terms have the same slot, and 0 is a term like every other.
            let terms: Vec<u64> = (0..round * 50)
                .map(|at| if at % 3 == 0 { at << 40 } else { mix(at * round % 700) })
                .collect();
            let mut found = Vec::new();
            numbers.number(&terms, |number| found.push(number)).unwrap();
            let numbered = terms.iter().map(|&term| {
                let next = expected.len() as u32;
                *expected.entry(term).or_insert(next)
            });
            assert!(numbered.eq(found));
        }
        assert_eq!(numbers.len(), expected.len());
    }
}
