//! The runs of a document as ranges of numbers. A run is a sequence of n consecutive words.
//!
//! Runs are numbered in about the order in which they first occur, so consecutive runs of a document mostly have
//! consecutive numbers. A document of a thousand words is often a single range, and its copy with a few other words has
//! few.

/// Number of a run, and position of its first word in the document.
type PlacedRun = (u32, u32);

/// Consecutive runs of a document that have consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RunRange {
    /// Number of the first run. Each next run has the next number.
    number: u32,
    /// Position in the document of the first run. Each next run begins one word later.
    place: u32,
    count: u32,
}

/// Consecutive runs of a document that also follow each other in another document. A run is a sequence of n consecutive
/// words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedRuns {
    /// Position of the first run in the document.
    pub(crate) place: u32,
    pub(crate) count: u32,
    /// Position of the first run in the other document. If it occurs there several times, this is the first time. The
    /// next runs follow there, too.
    pub(crate) other_place: u32,
}

/// The numbered runs of a document.
#[derive(Debug)]
pub(crate) struct RunRanges {
    /// All runs of the document, in reading order.
    by_place: Vec<RunRange>,
    /// The first position of each different run. Ranges do not overlap and are in ascending order of numbers.
    by_number: Vec<RunRange>,
}

impl RunRange {
    fn end(self) -> u32 {
        self.number + self.count
    }
}

impl RunRanges {
    /// Creates the ranges of `runs`, which have the number and the position of each run, in reading order.
    pub(crate) fn new(runs: impl IntoIterator<Item = PlacedRun>) -> Self {
        let by_place = joined(runs);
        let mut sorted = by_place.clone();
        sorted.sort_unstable();
        let by_number = first_places(&sorted);
        Self { by_place, by_number }
    }

    /// Returns the runs that both this document and `other` have, in reading order of this document.
    pub(crate) fn shared_with(&self, other: &Self) -> Vec<SharedRuns> {
        let mut shared = Vec::new();
        for own in &self.by_place {
            let first = other.by_number.partition_point(|range| range.end() <= own.number);
            let overlapping =
                other.by_number[first..].iter().take_while(|range| range.number < own.end());
            shared.extend(overlapping.map(|range| {
                let number = own.number.max(range.number);
                SharedRuns {
                    place: own.place + (number - own.number),
                    count: own.end().min(range.end()) - number,
                    other_place: range.place + (number - range.number),
                }
            }));
        }
        shared
    }

    /// Returns whether the run at position `place` of the document has the number `number`.
    pub(crate) fn has(&self, number: u32, place: u32) -> bool {
        let after = self.by_place.partition_point(|range| range.place <= place);
        let range = after.checked_sub(1).map(|at| self.by_place[at]);
        range.is_some_and(|range| {
            let behind = place - range.place;
            behind < range.count && range.number + behind == number
        })
    }
}

/// Returns the first position of each different run. `sorted` are the ranges of a document, sorted by numbers and then
/// by positions.
fn first_places(sorted: &[RunRange]) -> Vec<RunRange> {
    let mut firsts = Vec::with_capacity(sorted.len());
    let mut rest = sorted;
    while let Some((first, others)) = rest.split_first() {
        // Ranges whose numbers overlap come from runs that the document repeats.
        let mut end = first.end();
        let overlapping = others.iter().take_while(|range| {
            let overlaps = range.number < end;
            end = end.max(range.end());
            overlaps
        });
        let (together, others) = rest.split_at(1 + overlapping.count());
        rest = others;
        if together.len() == 1 {
            firsts.push(*first);
            continue;
        }
        let placed = |range: &RunRange| (range.number..range.end()).zip(range.place..);
        let mut runs: Vec<PlacedRun> = together.iter().flat_map(placed).collect();
        runs.sort_unstable();
        runs.dedup_by_key(|&mut (number, _)| number);
        firsts.extend(joined(runs));
    }
    firsts.shrink_to_fit();
    firsts
}

/// Joins runs to ranges: neighbours in the list that have consecutive numbers and consecutive positions.
fn joined(runs: impl IntoIterator<Item = PlacedRun>) -> Vec<RunRange> {
    let mut ranges: Vec<RunRange> = Vec::new();
    for (number, place) in runs {
        match ranges.last_mut() {
            Some(last) if number == last.end() && place == last.place + last.count => {
                last.count += 1;
            }
            _ => ranges.push(RunRange { number, place, count: 1 }),
        }
    }
    ranges.shrink_to_fit();
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Random;

    /// Returns random runs in reading order. Some places have no run, and some runs are repeated.
    fn random_runs(random: &mut Random) -> Vec<PlacedRun> {
        let mut runs = Vec::new();
        let mut place = 0;
        for _ in 0..random.below(6) {
            let number = random.below(40) as u32;
            place += random.below(2) as u32;
            for at in 0..random.below(12) as u32 {
                runs.push((number + at, place));
                place += 1;
            }
        }
        runs
    }

    #[test]
    fn ranges_are_the_runs() {
        let mut repeated = 0;
        for number in 0..2000 {
            let mut random = Random(number);
            let [own, other] = [(); 2].map(|()| random_runs(&mut random));
            let ranges = [&own, &other].map(|runs| RunRanges::new(runs.iter().copied()));
            let first = |number| other.iter().find(|run| run.0 == number).map(|run| run.1);
            let expected = own.iter().filter_map(|&(run, place)| Some((place, first(run)?)));
            let shared = ranges[0].shared_with(&ranges[1]);
            let found = shared.iter().flat_map(|shared| {
                (shared.place..shared.place + shared.count).zip(shared.other_place..)
            });
            assert!(found.eq(expected), "{number}: {own:?} {other:?} {shared:?}");
            for (run, place) in (0..52).flat_map(|run| (0..80).map(move |place| (run, place))) {
                assert_eq!(ranges[0].has(run, place), own.contains(&(run, place)));
            }
            let ascends = own.is_sorted_by_key(|&(run, _)| run);
            repeated += usize::from(!ascends && ranges[0].by_number != ranges[0].by_place);
        }
        assert!(repeated > 500, "{repeated}");
    }
}
