//! A table that numbers distinct runs.
//!
//! Runs are numbered in about the order in which they first occur in the list, which is that of the documents. So the
//! numbers of a document mostly follow each other, and what is known of its runs lies side by side in memory, too.

use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::threads::Threads;
use simtool_kernels::{as_atomics, prefetch};
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum number of runs in the list from which a table is made. One bit of a place is a mark.
pub(crate) const MOST_RUNS: usize = (1 << 31) - 1;

/// Description of the memory for runs, for out-of-memory messages.
pub(crate) const RUNS: &str = "the runs of documents that may be removed";
/// Bytes of memory for each run in that list while the table is made: the hash, the number, and little more than one slot.
pub(crate) const BYTES_A_LISTED_RUN: u64 = 8 + 4 + 6;
/// Value of a slot that has no run.
const FREE: u32 = 0;
/// Number of bits of the filter for each run. With so many, one of 16 runs that the table lacks passes.
const BITS_A_RUN: usize = 8;
/// Number of runs that are looked up together, so that the processor loads their places at the same time.
const TOGETHER: usize = 64;
/// Number of runs by which the slots of runs are loaded ahead of their use.
const AHEAD: usize = 16;
/// Number of places that a thread takes at a time.
const PIECE: usize = 1 << 16;
/// Mark of a place that stands for its run and has its number.
const NUMBERED: u32 = 1 << 31;

/// The distinct runs of one slice of all hashes, numbered from 0.
#[derive(Debug)]
pub(crate) struct RunTable {
    slice: RunSlice,
    /// Hashes of the runs, by their numbers.
    runs: LargeBuffer<u64>,
    /// In each slot, the number of a run plus 1, or [`FREE`]. A run is in the slot that its hash selects, or in the next
    /// free one behind it. A quarter of the slots or more are free.
    slots: LargeBuffer<u32>,
    /// A bit set in which each run of the table sets two bits of one word. It is small enough for a near cache, so most
    /// runs that are not in the table are found missing by one look.
    filter: LargeBuffer<u32>,
}

/// One of several slices of equal size, into which all hashes of runs are divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSlice {
    pub(crate) number: u64,
    pub(crate) slices: u64,
}

impl RunSlice {
    /// All hashes.
    pub(crate) const WHOLE: Self = Self { number: 0, slices: 1 };

    pub(crate) fn has(self, run: u64) -> bool {
        scaled(run, self.slices) == self.number
    }

    /// Returns the first of `slots` slots in which a run of the slice may be.
    fn slot(self, run: u64, slots: usize) -> usize {
        // The low half of this product is the place of the run in its slice.
        scaled(run.wrapping_mul(self.slices), slots as u64) as usize
    }
}

/// Returns the place of a hash if all hashes are divided into `parts` equal parts.
fn scaled(run: u64, parts: u64) -> u64 {
    ((u128::from(run) * u128::from(parts)) >> 64) as u64
}

/// Returns the slot that is tried after `slot`.
fn next_slot(slot: usize, slots: usize) -> usize {
    if slot + 1 == slots { 0 } else { slot + 1 }
}

/// Copies lists of `count` runs in all to one list. Each list is dropped once it was copied.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn joined<L: AsRef<[u64]>>(
    lists: impl IntoIterator<Item = L>,
    count: usize,
) -> Result<LargeBuffer<u64>> {
    let mut all = LargeBuffer::try_zeroed(count, RUNS)?;
    let mut rest = &mut all[..];
    for list in lists {
        let list = list.as_ref();
        let (own, others) = rest.split_at_mut(list.len());
        own.copy_from_slice(list);
        rest = others;
    }
    Ok(all)
}

/// Finds for each place of a piece of the list a place with the same run, which stands for all such places. Several threads
/// fill `slots` with the numbers of these places plus 1. Which of several places stands for a run depends on the threads.
fn find_first_places(
    slice: RunSlice,
    all: &[u64],
    slots: &[AtomicU32],
    piece: &[AtomicU32],
    start: usize,
) {
    let own = &all[start..start + piece.len()];
    for (at, &run) in own.iter().enumerate() {
        if let Some(&ahead) = own.get(at + AHEAD) {
            prefetch(slots, slice.slot(ahead, slots.len()));
        }
        let place = (start + at) as u32;
        let mut slot = slice.slot(run, slots.len());
        // There are fewer runs than slots, so the search ends. Nobody changes `all`, so another thread needs nothing but
        // the content of a slot.
        let first = loop {
            let mut found = slots[slot].load(Ordering::Relaxed);
            if found == FREE {
                let (taken, failed) = (Ordering::Relaxed, Ordering::Relaxed);
                match slots[slot].compare_exchange(FREE, place + 1, taken, failed) {
                    Ok(_) => break place,
                    Err(other) => found = other,
                }
            }
            if all[found as usize - 1] == run {
                break found - 1;
            }
            slot = next_slot(slot, slots.len());
        };
        piece[at].store(first, Ordering::Relaxed);
    }
}

/// Numbers the places that stand for their runs, and moves these runs to the front of the list. Returns how many there
/// are. `places` has for each place the one that stands for its run. Numbers get the mark [`NUMBERED`].
fn number_first_places(all: &mut [u64], places: &mut [u32]) -> usize {
    let mut count = 0;
    for place in 0..places.len() {
        if places[place] as usize == place {
            // A run never moves behind its place, so none is overwritten before it was moved.
            all[count] = all[place];
            places[place] = count as u32 | NUMBERED;
            count += 1;
        }
    }
    count
}

/// Replaces the place that stands for a run by the number of the run.
fn replace_by_number(place: &AtomicU32, numbers: &[AtomicU32]) {
    let found = place.load(Ordering::Relaxed);
    // A place that stands for its run has the number already, with or without the mark.
    let is_numbered = found & NUMBERED != 0;
    let number = if is_numbered { found } else { numbers[found as usize].load(Ordering::Relaxed) };
    place.store(number & !NUMBERED, Ordering::Relaxed);
}

impl RunTable {
    /// Creates a table of the runs in `all`, which are of `slice` and may be repeated. Writes the number of each of them
    /// to `numbers`, which is as long.
    ///
    /// # Errors
    /// There are too many runs for numbers of 32 bits, or there is not enough memory.
    pub(crate) fn new(
        slice: RunSlice,
        mut all: LargeBuffer<u64>,
        numbers: &mut [u32],
        threads: &Threads,
    ) -> Result<Self> {
        if all.len() > MOST_RUNS {
            let rule = format!("a search takes at most {MOST_RUNS}; cut the collection");
            return Err(Error::limit(format!("{} runs", all.len()), rule));
        }
        let mut slots: LargeBuffer<u32> = LargeBuffer::try_zeroed(all.len() / 3 * 4 + 4, RUNS)?;
        let (shared, places) = (as_atomics(&mut slots), as_atomics(numbers));
        let starts: Vec<usize> = (0..all.len()).step_by(PIECE).collect();
        threads.map(starts, |start: usize| {
            let piece = &places[start..all.len().min(start + PIECE)];
            find_first_places(slice, &all, shared, piece, start);
        });
        let count = number_first_places(&mut all, numbers);
        let numbers = as_atomics(numbers);
        threads.map(slots.chunks_mut(PIECE).collect(), |slots: &mut [u32]| {
            for slot in slots.iter_mut().filter(|slot| **slot != FREE) {
                let number = numbers[*slot as usize - 1].load(Ordering::Relaxed);
                *slot = (number & !NUMBERED) + 1;
            }
        });
        threads.map(numbers.chunks(PIECE).collect(), |piece: &[AtomicU32]| {
            for place in piece {
                replace_by_number(place, numbers);
            }
        });
        // Equal runs of copies may be most of the list, and the table is needed to the end.
        all.truncate(count);
        let words = (count * BITS_A_RUN).div_ceil(u32::BITS as usize);
        let filter = LargeBuffer::try_zeroed(words, RUNS)?;
        let mut table = Self { slice, runs: all, slots, filter };
        table.fill_filter(threads);
        Ok(table)
    }

    fn fill_filter(&mut self, threads: &Threads) {
        let words = self.filter.len();
        let filter = as_atomics(&mut self.filter);
        let pieces = self.runs.chunks(PIECE).collect();
        threads.map(pieces, |runs: &[u64]| {
            for &run in runs {
                filter[filter_word(run, words)].fetch_or(filter_bits(run), Ordering::Relaxed);
            }
        });
    }

    /// Returns the number of runs.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Calls `visit` with the index in `runs` and the number of each run that the table has.
    pub(crate) fn visit_numbers(&self, runs: &[u64], mut visit: impl FnMut(usize, u32)) {
        if self.runs.is_empty() {
            return;
        }
        // Each access would find the length of a buffer anew.
        let (all, slots, filter) = (&self.runs[..], &self.slots[..], &self.filter[..]);
        let mut start = 0;
        for together in runs.chunks(TOGETHER) {
            let mut words = [0; TOGETHER];
            for (word, &run) in words.iter_mut().zip(together) {
                *word = filter_word(run, filter.len());
                prefetch(filter, *word);
            }
            // Places of the runs that pass the filter, with their slots.
            let mut passed = [(0, 0); TOGETHER];
            let mut count = 0;
            for (at, (&run, &word)) in together.iter().zip(&words).enumerate() {
                let bits = filter_bits(run);
                if filter[word] & bits == bits && self.slice.has(run) {
                    let slot = self.slice.slot(run, slots.len());
                    prefetch(slots, slot);
                    passed[count] = (at, slot);
                    count += 1;
                }
            }
            // The slots have arrived by now, and their runs are asked for.
            for &(_, slot) in &passed[..count] {
                prefetch(all, (slots[slot] as usize).wrapping_sub(1));
            }
            for &(at, first) in &passed[..count] {
                let mut slot = first;
                while slots[slot] != FREE {
                    let number = slots[slot] - 1;
                    if all[number as usize] == together[at] {
                        visit(start + at, number);
                        break;
                    }
                    slot = next_slot(slot, slots.len());
                }
            }
            start += together.len();
        }
    }
}

/// Returns the word of the filter in which a run sets its bits.
fn filter_word(run: u64, words: usize) -> usize {
    // Other bits of the hash decide than those that select its slot.
    scaled(run.rotate_left(32), words as u64) as usize
}

/// Returns the bits that a run sets in its word of the filter.
fn filter_bits(run: u64) -> u32 {
    1 << (run % 32) | 1 << (run / 32 % 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn runs_have_their_places_as_numbers() {
        for slices in [1, 3, 64] {
            for number in [0, slices / 2, slices - 1] {
                let slice = RunSlice { number, slices };
                // There are several pieces, so several threads take slots at the same time.
                let mut runs: Vec<u64> =
                    (0..200_000).map(mix).filter(|&run| slice.has(run)).collect();
                runs.extend([0, u64::MAX].into_iter().filter(|&run| slice.has(run)));
                let repeated = runs[..runs.len() / 2].to_vec();
                let all = [&runs[..], &repeated].concat();
                let mut numbers = vec![0; all.len()];
                let threads = Threads::new(2).unwrap();
                let list = joined([&runs, &repeated], all.len()).unwrap();
                let table = RunTable::new(slice, list, &mut numbers, &threads).unwrap();
                let by_number: BTreeMap<u32, u64> =
                    numbers.iter().copied().zip(all.iter().copied()).collect();
                // The numbers are those from 0, and equal runs have equal numbers.
                let expected = 0..runs.iter().collect::<BTreeSet<_>>().len() as u32;
                assert!(by_number.keys().copied().eq(expected.clone()), "{slice:?}");
                assert_eq!(table.len(), expected.len());
                assert!(numbers.iter().zip(&all).all(|(number, run)| by_number[number] == *run));
                let asked: Vec<u64> =
                    (200_000..204_000).map(mix).chain(all.iter().copied()).collect();
                let mut found = Vec::new();
                table.visit_numbers(&asked, |at, number| found.push((at - 4000, number)));
                let expected: Vec<(usize, u32)> = (0..).zip(numbers).collect();
                assert_eq!(found, expected, "{slice:?}");
            }
        }
        let none = LargeBuffer::zeroed(0);
        let none = RunTable::new(RunSlice::WHOLE, none, &mut [], &Threads::CALLER).unwrap();
        none.visit_numbers(&[0, 5], |_, _| panic!("the table is empty"));
    }

    #[test]
    fn each_run_is_in_one_slice() {
        for run in (0..500).map(mix).chain([0, u64::MAX]) {
            let slices = (0..7).filter(|&number| RunSlice { number, slices: 7 }.has(run));
            assert_eq!(slices.count(), 1);
        }
    }
}
