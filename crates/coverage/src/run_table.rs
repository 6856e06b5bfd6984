//! A table that numbers distinct runs. A run is a sequence of n consecutive words, given as its hash.
//!
//! Runs are numbered in about the order in which they first occur in the list, where the runs of a document follow each
//! other. So the numbers of a document mostly follow each other, and the values of its runs are next to each other in
//! memory, too.

use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::threads::Threads;
use simtool_kernels::{as_atomics, prefetch};
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum number of runs in the list from which a table is made. Positions in the list have 31 bits, because one bit
/// is a mark.
pub(crate) const MOST_RUNS: usize = (1 << 31) - 1;

/// Description of the memory for runs. Out-of-memory messages contain it.
pub(crate) const RUNS: &str = "the runs of documents that may be removed";
/// Bytes of memory for each run in the list from which a table is made: the hash, the number, and little more than one
/// slot.
pub(crate) const BYTES_A_LISTED_RUN: u64 = 8 + 4 + 6;
/// Value of a free slot.
const FREE: u32 = 0;
/// Number of bits of the filter for each run. With so many, about one of 16 runs that are not in the table passes the
/// filter.
const BITS_A_RUN: usize = 8;
/// Number of runs that are looked up together, so that the processor loads their slots at the same time.
const TOGETHER: usize = 64;
/// Distance, in runs, between the run that is handled and a later run whose slot is prefetched.
const AHEAD: usize = 16;
/// Number of elements that a thread handles at a time.
const PIECE: usize = 1 << 16;
/// Mark of a position in the list whose run has its number already.
const NUMBERED: u32 = 1 << 31;

/// The distinct runs whose hashes are in one slice of all hashes, numbered from 0.
#[derive(Debug)]
pub(crate) struct RunTable {
    slice: RunSlice,
    /// Hashes of the runs. The index is the number of the run.
    runs: LargeBuffer<u64>,
    /// Each slot has the number of a run plus 1, or [`FREE`]. A run is in the slot that its hash selects or, if this
    /// slot was taken, in the next free slot. At least a quarter of the slots are free.
    slots: LargeBuffer<u32>,
    /// A Bloom filter, in which each run of the table sets two bits of one word. It is small enough for a fast cache,
    /// so most runs that are not in the table are ruled out with one memory access.
    filter: LargeBuffer<u32>,
}

/// One of several ranges of equal size, into which all hashes of runs are divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSlice {
    pub(crate) number: u64,
    pub(crate) slices: u64,
}

impl RunSlice {
    /// The slice that has all hashes.
    pub(crate) const WHOLE: Self = Self { number: 0, slices: 1 };

    pub(crate) fn has(self, run: u64) -> bool {
        scaled(run, self.slices) == self.number
    }

    /// Returns the index of the slot in which the search for the run with hash `run` begins. The table has `slots`
    /// slots, and the hash must be in this slice.
    fn slot(self, run: u64, slots: usize) -> usize {
        // The low half of this product is the place of the run in its slice.
        scaled(run.wrapping_mul(self.slices), slots as u64) as usize
    }
}

/// Returns the index of the part in which a hash is, if the range of all hashes is divided into `parts` equal parts.
fn scaled(run: u64, parts: u64) -> u64 {
    ((u128::from(run) * u128::from(parts)) >> 64) as u64
}

/// Returns the slot that is tried after `slot`. After the last of the `slots` slots, this is the first one.
fn next_slot(slot: usize, slots: usize) -> usize {
    if slot + 1 == slots { 0 } else { slot + 1 }
}

/// Copies `lists` to one list, one after the other. Together they have `count` runs. Each list is dropped after it was
/// copied.
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

/// Finds for each position of a piece of the list `all` a representative position that has the same run, and writes it
/// to `piece`. `start` is the position of the piece in `all`. Several threads fill `slots` with the representatives
/// plus 1. The choice of the representative depends on the threads.
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
        // There are fewer runs than slots, so the search ends. `all` does not change, so other threads need only the
        // content of a slot.
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

/// Numbers the representative positions, and moves their runs to the front of `all`. `places` has for each position the
/// representative position with the same run. Replaces each representative in `places` by its number with the mark
/// [`NUMBERED`]. Returns the number of different runs.
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

/// Replaces an element, which is a representative position, by the number that `numbers` has at that position.
fn replace_by_number(place: &AtomicU32, numbers: &[AtomicU32]) {
    let found = place.load(Ordering::Relaxed);
    // A representative position has its number already, with or without the mark.
    let is_numbered = found & NUMBERED != 0;
    let number = if is_numbered { found } else { numbers[found as usize].load(Ordering::Relaxed) };
    place.store(number & !NUMBERED, Ordering::Relaxed);
}

impl RunTable {
    /// Creates a table of the different runs in `all`, whose hashes must be in `slice`. Writes the number of each run
    /// to `numbers`, which has the same length as `all`.
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
        // Most of the list can be copies of equal runs, and the table is needed until the end of the search.
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

    /// Returns the number of different runs.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Calls `visit` for each of `runs` that the table has, with its index in `runs` and its number.
    pub(crate) fn visit_numbers(&self, runs: &[u64], mut visit: impl FnMut(usize, u32)) {
        if self.runs.is_empty() {
            return;
        }
        // A local slice is faster: each access to a buffer would find its length anew.
        let (all, slots, filter) = (&self.runs[..], &self.slots[..], &self.filter[..]);
        let mut start = 0;
        for together in runs.chunks(TOGETHER) {
            let mut words = [0; TOGETHER];
            for (word, &run) in words.iter_mut().zip(together) {
                *word = filter_word(run, filter.len());
                prefetch(filter, *word);
            }
            // Indices of the runs that pass the filter, and their slots.
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

/// Returns the index of the word of the filter in which the run with hash `run` sets its bits. The filter has `words`
/// words.
fn filter_word(run: u64, words: usize) -> usize {
    // These are other bits of the hash than the bits that select its slot.
    scaled(run.rotate_left(32), words as u64) as usize
}

/// Returns the two bits that the run with hash `run` sets in its word of the filter.
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
