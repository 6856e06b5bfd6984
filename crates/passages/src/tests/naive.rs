//! The search for passages in the most obvious way: a map of all windows or units, as sequences of words.

use crate::{CutRange, Excerpt, Level, Passage, Passages, Repeated, Repetition, TopText};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Returns invented bytes for a word, because the words of these documents have no text.
pub(super) fn bytes_of(words: Range<u32>) -> Range<u64> {
    u64::from(words.start) * 10 + 3..u64::from(words.end - 1) * 10 + 9
}

/// Place of a window: the number of the document, and the position of the first word.
type WindowPlace = (u32, u32);

/// A search for passages that is simple but slow: it puts all windows in a map.
pub(super) struct NaiveSearch<'d> {
    pub(super) documents: &'d [Vec<u64>],
    /// For each document, the ranges of words of its windows.
    pub(super) windows: Vec<Vec<Range<u32>>>,
    /// Origin of each document.
    pub(super) origins: Vec<u32>,
    pub(super) rule: Repeated,
}

/// Finds all passages in `documents` that have at least `length` words.
pub(super) fn find(documents: &[Vec<u64>], length: usize, rule: Repeated) -> Passages {
    let windows = all_windows(documents, length);
    let origins = (0..documents.len() as u32).collect();
    NaiveSearch { documents, windows, origins, rule }.find()
}

/// Returns all windows of `length` words of each document.
pub(super) fn all_windows(documents: &[Vec<u64>], length: usize) -> Vec<Vec<Range<u32>>> {
    let of_document = |words: &Vec<u64>| {
        let count = (words.len() + 1).saturating_sub(length) as u32;
        (0..count).map(|start| start..start + length as u32).collect()
    };
    documents.iter().map(of_document).collect()
}

impl NaiveSearch<'_> {
    /// Returns the number of different origins of the documents at `places`.
    fn origins_of(&self, places: &[WindowPlace]) -> usize {
        let origins = places.iter().map(|place| self.origins[place.0 as usize]);
        origins.collect::<BTreeSet<_>>().len()
    }

    /// Finds all passages of all documents.
    pub(super) fn find(&self) -> Passages {
        let Self { documents, rule, .. } = *self;
        let mut windows: BTreeMap<&[u64], Vec<WindowPlace>> = BTreeMap::new();
        for ((document, words), ranges) in (0..).zip(documents).zip(&self.windows) {
            for range in ranges {
                let window = &words[range.start as usize..range.end as usize];
                windows.entry(window).or_default().push((document, range.start));
            }
        }
        // A window that occurs once has no partner, whatever the condition is.
        windows.retain(|_, places| {
            places.len() > 1
                && match rule {
                    Repeated::Anywhere => true,
                    Repeated::Documents(least) => self.origins_of(places) >= least as usize,
                }
        });
        self.passages(&windows)
    }

    /// Returns the passages that consist of the repeated windows in `windows`, which has all places of each window.
    fn passages(&self, windows: &BTreeMap<&[u64], Vec<WindowPlace>>) -> Passages {
        let documents = self.documents;
        let mut found = Passages {
            repetition: self.repetition(windows),
            documents: documents.len() as u64,
            words: documents.iter().map(|words| words.len() as u64).sum(),
            repeated_windows: windows.values().map(|places| places.len() as u64).sum(),
            ..Passages::default()
        };
        for ((document, words), ranges_of) in (0..).zip(documents).zip(&self.windows) {
            let mut is_covered = vec![false; words.len()];
            let mut is_first = vec![false; words.len()];
            let mut is_later = vec![false; words.len()];
            let mut repeated = Vec::new();
            for range in ranges_of {
                let bounds = range.start as usize..range.end as usize;
                let Some(places) = windows.get(&words[bounds.clone()]) else { continue };
                let is_here_first = places[0] == (document, range.start);
                let marked = if is_here_first { &mut is_first } else { &mut is_later };
                marked[bounds.clone()].fill(true);
                is_covered[bounds].fill(true);
                repeated.push((range.clone(), places));
            }
            for range in ranges(&is_covered) {
                let within = repeated.iter().filter(|(window, _)| range.contains(&window.start));
                found.passages.push(self.passage(document, range.clone(), within));
            }
            let mut is_cut: Vec<bool> =
                is_later.iter().zip(&is_first).map(|(later, first)| *later && !first).collect();
            // Only a window that is not repeated can lie in these words and not be later.
            let is_repeated =
                |range: &&Range<u32>| repeated.iter().any(|(found, _)| found == *range);
            let pieces = ranges(&is_cut);
            for range in ranges_of.iter().filter(|range| !is_repeated(range)) {
                if pieces.iter().any(|piece| contains(piece, range)) {
                    is_cut[range.start as usize..range.end as usize].fill(false);
                }
            }
            // A rest that is shorter than a window stays.
            let mut cuts = ranges(&is_cut);
            cuts.retain(|cut| ranges_of.iter().any(|range| contains(cut, range)));
            found.cuts.extend(cuts.into_iter().map(|words| CutRange {
                document,
                words: words.clone(),
                bytes: bytes_of(words),
            }));
        }
        found
    }

    /// Returns the measures of the repetition in the collection. `windows` has all places of each repeated window.
    fn repetition(&self, windows: &BTreeMap<&[u64], Vec<WindowPlace>>) -> Repetition {
        let least = match self.rule {
            Repeated::Anywhere => 2,
            Repeated::Documents(least) => least.max(2),
        };
        let levels = [least, 11, 101, 1001].into_iter().filter(|level| *level >= least);
        let mut levels: Vec<u32> = levels.collect();
        levels.dedup();
        let mut counts = vec![0; levels.len()];
        let mut top = Vec::new();
        for ((document, words), ranges_of) in (0..).zip(self.documents).zip(&self.windows) {
            let of_window = |range: &Range<u32>| {
                let places = windows.get(&words[range.start as usize..range.end as usize])?;
                let is_first = places[0] == (document, range.start);
                Some((range.clone(), self.origins_of(places) as u32, is_first))
            };
            let repeated: Vec<_> = ranges_of.iter().filter_map(of_window).collect();
            for (level, count) in levels.iter().zip(&mut counts) {
                let mut is_covered = vec![false; words.len()];
                for (range, ..) in repeated.iter().filter(|window| window.1 >= *level) {
                    is_covered[range.start as usize..range.end as usize].fill(true);
                }
                *count += is_covered.iter().filter(|is_covered| **is_covered).count() as u64;
            }
            let firsts: Vec<_> = repeated.into_iter().filter(|window| window.2).collect();
            for touching in firsts.chunk_by(|a, b| b.0.start <= a.0.end) {
                top.push(greatest_part(document, touching));
            }
        }
        top.sort_by_key(|text| std::cmp::Reverse(rank(text)));
        top.truncate(20);
        let levels = levels.into_iter().zip(counts);
        let levels = levels.map(|(documents, words)| Level { documents, words }).collect();
        Repetition { levels, top }
    }

    /// Returns the passage with the words `range`. `windows` has its repeated windows, each with all its places.
    fn passage<'w>(
        &self,
        document: u32,
        range: Range<u32>,
        windows: impl Iterator<Item = &'w (Range<u32>, &'w Vec<WindowPlace>)>,
    ) -> Passage {
        let best = windows.max_by_key(|(window, places)| {
            (self.origins_of(places), places.len(), std::cmp::Reverse(window.start))
        });
        let (window, places) = best.unwrap();
        // A partner of another origin is preferred to one of the same origin.
        let is_here = |other: u32| self.origins[other as usize] == self.origins[document as usize];
        let elsewhere = places.iter().find(|place| !is_here(place.0));
        let partner = if is_here(places[0].0) {
            let other = || places.iter().find(|&&place| place != (document, window.start));
            elsewhere.or_else(other).unwrap()
        } else {
            &places[0]
        };
        Passage {
            document,
            words: range.clone(),
            bytes: bytes_of(range.clone()),
            documents: self.origins_of(places) as u32,
            occurrences: places.len() as u64,
            is_first: places[0] == (document, window.start),
            is_whole: range.len() == self.documents[document as usize].len(),
            partner: Excerpt {
                document: partner.0,
                bytes: bytes_of(partner.1..partner.1 + window.len() as u32),
            },
        }
    }
}

/// Returns the sort key of a repeated text. Texts with greater keys come first in [`Repetition::top`].
fn rank(text: &TopText) -> (u64, u32, std::cmp::Reverse<(u32, u32)>) {
    let product = text.words.len() as u64 * u64::from(text.documents);
    (product, text.documents, std::cmp::Reverse((text.document, text.words.start)))
}

/// Returns the part of a sequence of touching windows for which (number of words) × (number of documents) is greatest.
/// Tries all parts. An element of `touching` has the words of a window, and the number of its documents.
fn greatest_part(document: u32, touching: &[(Range<u32>, u32, bool)]) -> TopText {
    let parts = (0..touching.len()).flat_map(|first| {
        let mut documents = u32::MAX;
        touching[first..].iter().map(move |last| {
            documents = documents.min(last.1);
            let words = touching[first].0.start..last.0.end;
            TopText { document, bytes: bytes_of(words.clone()), words, documents }
        })
    });
    parts.max_by_key(rank).unwrap()
}

/// Returns whether `outer` has all words of `inner`.
fn contains(outer: &Range<u32>, inner: &Range<u32>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Returns the ranges of consecutive elements of `marks` that are true. Each range is as long as possible.
fn ranges(marks: &[bool]) -> Vec<Range<u32>> {
    let mut found = Vec::new();
    let mut start = 0;
    for run in marks.chunk_by(|a, b| a == b) {
        if run[0] {
            found.push(start..start + run.len() as u32);
        }
        start += run.len() as u32;
    }
    found
}
