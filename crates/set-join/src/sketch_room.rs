//! Gives up prefixes and then sketches if they do not fit in memory.

use super::sketching::Sketching;
use simtool_base::memory_ledger::Ledger;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The room for sketches while documents are sketched. If memory is used up, all lists of sketches lose their prefixes,
/// which only make the comparison faster. If that is not enough, all sketches are given up.
pub(super) struct SketchRoom<'m> {
    memory: &'m Ledger,
    /// Number of lists that have prefixes.
    with_prefixes: AtomicUsize,
    is_without_prefixes: AtomicBool,
    is_given_up: AtomicBool,
}

impl<'m> SketchRoom<'m> {
    pub(super) fn new(memory: &'m Ledger) -> Self {
        let (with_prefixes, [is_without_prefixes, is_given_up]) = Default::default();
        Self { memory, with_prefixes, is_without_prefixes, is_given_up }
    }

    /// Counts `sketches`, which is a list with prefixes, and returns it unchanged.
    pub(super) fn entered(&self, sketches: Sketching) -> Sketching {
        self.with_prefixes.fetch_add(1, Ordering::Relaxed);
        sketches
    }

    /// Removes the prefixes of the list or the list itself if they do not fit in memory. Each thread does this for its
    /// own list.
    pub(super) fn fit(&self, sketches: &mut Option<Sketching>) {
        if self.memory.used() > self.memory.limit() {
            // Another thread may still have to remove its prefixes.
            let have_prefixes = self.with_prefixes.load(Ordering::Relaxed) > 0;
            let is_exceeded =
                if have_prefixes { &self.is_without_prefixes } else { &self.is_given_up };
            is_exceeded.store(true, Ordering::Relaxed);
        }
        if self.is_given_up.load(Ordering::Relaxed) {
            *sketches = None;
        } else if self.is_without_prefixes.load(Ordering::Relaxed)
            && sketches.as_mut().is_some_and(|sketches| sketches.prefixes.take().is_some())
        {
            self.with_prefixes.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketches_lose_their_prefixes_before_they_are_given_up() {
        let threshold = "0.7".parse().unwrap();
        let ledger = Ledger::new(100);
        let room = SketchRoom::new(&ledger);
        let [mut first, mut second] = [0, 1].map(|_| {
            Some(room.entered(Sketching::new(threshold, true, &ledger).with_prefixes(&ledger)))
        });
        let have_prefixes =
            |list: &Option<Sketching>| list.as_ref().map(|list| list.prefixes.is_some());
        room.fit(&mut first);
        assert_eq!(have_prefixes(&first), Some(true));
        let held = ledger.hold(101);
        // The second list has prefixes until its thread comes here.
        for _ in 0..2 {
            room.fit(&mut first);
            assert_eq!([&first, &second].map(have_prefixes), [Some(false), Some(true)]);
        }
        room.fit(&mut second);
        assert_eq!(have_prefixes(&second), Some(false));
        room.fit(&mut first);
        drop(held);
        room.fit(&mut second);
        assert!(first.is_none() && second.is_none());
    }
}
