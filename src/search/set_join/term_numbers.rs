//! Numbers of terms, in the order in which they are first met.

use super::TERMS;
use crate::error::Result;
use crate::kernels::prefetch;
use crate::large_buffer::LargeBuffer;

/// Terms between one that is numbered and one whose place is asked for.
const AHEAD: usize = 16;
/// Places that there are at the least.
const LEAST_PLACES: usize = 1 << 10;

/// A term, and its number with 1 added; zeros if it is none.
type Slot = [u64; 2];

/// Terms and their numbers. They are hashes, so that any of their bits choose a place.
#[derive(Debug)]
pub(super) struct TermNumbers {
    /// At least twice as many places as terms, a power of two; or none yet.
    slots: LargeBuffer<Slot>,
    len: u32,
}

impl Default for TermNumbers {
    fn default() -> Self {
        Self { slots: LargeBuffer::zeroed(0), len: 0 }
    }
}

impl TermNumbers {
    /// How many terms have one.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Calls `visit` with the number of each of some terms, in their order.
    ///
    /// # Errors
    /// The memory cannot be had.
    pub(super) fn number(&mut self, terms: &[u64], mut visit: impl FnMut(u32)) -> Result<()> {
        self.make_room(terms.len())?;
        let Self { slots, len } = self;
        let slots = &mut **slots;
        let mask = slots.len() - 1;
        for (at, &term) in terms.iter().enumerate() {
            if let Some(&later) = terms.get(at + AHEAD) {
                prefetch(slots, later as usize & mask);
            }
            let slot = &mut slots[place_of(slots, term)];
            if slot[1] == 0 {
                *len += 1;
                *slot = [term, u64::from(*len)];
            }
            visit(slot[1] as u32 - 1);
        }
        Ok(())
    }

    /// Makes room for `more` terms.
    fn make_room(&mut self, more: usize) -> Result<()> {
        let needed = ((self.len as usize + more) * 2).max(LEAST_PLACES);
        if needed <= self.slots.len() {
            return Ok(());
        }
        let places = needed.next_power_of_two();
        let mut larger: LargeBuffer<Slot> = LargeBuffer::try_resident(places, TERMS)?;
        for &slot in self.slots.iter().filter(|slot| slot[1] != 0) {
            let place = place_of(&larger, slot[0]);
            larger[place] = slot;
        }
        self.slots = larger;
        Ok(())
    }
}

/// The place of a term, or the one that it would take.
#[inline(always)]
fn place_of(slots: &[Slot], term: u64) -> usize {
    let mask = slots.len() - 1;
    let mut place = term as usize & mask;
    while slots[place][0] != term && slots[place][1] != 0 {
        place = (place + 1) & mask;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;
    use std::collections::BTreeMap;

    #[test]
    fn terms_are_numbered_as_they_come() {
        let (mut numbers, mut expected) = (TermNumbers::default(), BTreeMap::new());
        for round in 0..40_u64 {
            // Some ask for the same place, and 0 is a term as others are.
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
        assert!(expected.len() > 1000);
    }
}
