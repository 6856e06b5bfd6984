//! The distinct terms of a document, in a table that is emptied for the next one.

use super::TERMS;
use crate::error::Result;
use crate::large_buffer::reserve;

/// No term: a term of this value is noted beside the table.
const EMPTY: u64 = 0;

/// A set of terms. They are hashes, so that any of their bits choose a place.
#[derive(Debug, Default)]
pub(super) struct DistinctTerms {
    /// At least twice as many places as terms, a power of two.
    slots: Vec<u64>,
    has_empty: bool,
    /// The terms, in the order in which they were first met.
    terms: Vec<u64>,
}

impl DistinctTerms {
    /// Replaces the set by that of `terms`, and gives it.
    ///
    /// # Errors
    /// The memory cannot be had.
    pub(super) fn replace(&mut self, terms: &[u64]) -> Result<&[u64]> {
        let slots = (terms.len() * 2).next_power_of_two();
        self.slots.clear();
        reserve(&mut self.slots, slots, TERMS)?;
        self.slots.resize(slots, EMPTY);
        let room = terms.len().saturating_sub(self.terms.len());
        reserve(&mut self.terms, room, TERMS)?;
        self.terms.resize(self.terms.len() + room, EMPTY);
        let mut distinct = 0;
        self.has_empty = false;
        for &term in terms {
            if term == EMPTY {
                if !self.has_empty {
                    self.terms[distinct] = term;
                    distinct += 1;
                }
                self.has_empty = true;
                continue;
            }
            // Whether a term is new is as good as random: only what another one is in the way of
            // is worth a branch.
            let slot = place_of(&self.slots, term);
            self.terms[distinct] = term;
            distinct += usize::from(self.slots[slot] == EMPTY);
            self.slots[slot] = term;
        }
        Ok(&self.terms[..distinct])
    }

    /// How many of some distinct terms are in the set.
    #[inline]
    pub(super) fn count(&self, terms: &[u64]) -> usize {
        let of_others = terms
            .iter()
            .filter(|&&term| term != EMPTY && self.slots[place_of(&self.slots, term)] == term);
        of_others.count() + usize::from(self.has_empty && terms.contains(&EMPTY))
    }
}

/// The place of a term, or the one that it would take.
#[inline(always)]
fn place_of(slots: &[u64], term: u64) -> usize {
    let mask = slots.len() - 1;
    let mut slot = term as usize & mask;
    while slots[slot] != EMPTY && slots[slot] != term {
        slot = (slot + 1) & mask;
    }
    slot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;

    #[test]
    fn every_term_is_there_once_in_the_order_of_the_first_ones() {
        let mut distinct = DistinctTerms::default();
        assert_eq!(distinct.count(&[]), 0);
        for length in [0, 1, 2, 7, 100, 3] {
            let terms: Vec<u64> = (0..length).map(|i| mix(i * i % 31)).chain([0, 0]).collect();
            let mut expected = Vec::new();
            for &term in &terms {
                if !expected.contains(&term) {
                    expected.push(term);
                }
            }
            assert_eq!(distinct.replace(&terms).unwrap(), expected);
            assert_eq!(distinct.count(&expected), expected.len());
            assert_eq!(distinct.count(&[mix(1000), mix(1001)]), 0);
        }
        // All of them ask for the same place.
        let terms: Vec<u64> = (1..50).map(|i| i << 32).collect();
        assert_eq!(distinct.replace(&terms).unwrap(), terms);
        assert_eq!(distinct.count(&[0, 3 << 32, 50 << 32]), 1);
    }
}
