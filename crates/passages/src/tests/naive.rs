//! The search for passages in the most obvious way: a map of all windows, as sequences of words.

use crate::{CutRange, Excerpt, Passage, Passages, Repeated};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Returns made-up bytes of a word.
pub(super) fn bytes_of(words: Range<u32>) -> Range<u64> {
    u64::from(words.start) * 10 + 3..u64::from(words.end - 1) * 10 + 9
}

/// Place of a window: the number of the document, and the position of the first word.
type WindowPlace = (u32, u32);

/// Finds all passages of `documents` of at least `length` words.
pub(super) fn find(documents: &[Vec<u64>], length: usize, rule: Repeated) -> Passages {
    let mut windows: BTreeMap<&[u64], Vec<WindowPlace>> = BTreeMap::new();
    for (document, words) in (0..).zip(documents) {
        for (start, window) in (0..).zip(words.windows(length)) {
            windows.entry(window).or_default().push((document, start));
        }
    }
    let is_repeated = |places: &Vec<WindowPlace>| {
        let documents: BTreeSet<u32> = places.iter().map(|place| place.0).collect();
        match rule {
            Repeated::Anywhere => places.len() > 1,
            Repeated::Documents(least) => places.len() > 1 && documents.len() >= least as usize,
        }
    };
    windows.retain(|_, places| is_repeated(places));
    let mut found = Passages {
        documents: documents.len() as u64,
        words: documents.iter().map(|words| words.len() as u64).sum(),
        repeated_windows: windows.values().map(|places| places.len() as u64).sum(),
        ..Passages::default()
    };
    for (document, words) in (0..).zip(documents) {
        let mut is_covered = vec![false; words.len()];
        let mut is_first = vec![false; words.len()];
        let mut is_later = vec![false; words.len()];
        for (start, window) in words.windows(length).enumerate() {
            let Some(places) = windows.get(window) else { continue };
            let is_here_first = places[0] == (document, start as u32);
            let marked = if is_here_first { &mut is_first } else { &mut is_later };
            marked[start..start + length].fill(true);
            is_covered[start..start + length].fill(true);
        }
        for words_of_passage in ranges(&is_covered) {
            let places =
                |start: u32| windows.get(words.get(start as usize..start as usize + length)?);
            let starts = words_of_passage.start..=words_of_passage.end - length as u32;
            found.passages.push(passage(
                document,
                words,
                starts.filter_map(|start| Some((start, places(start)?))),
                words_of_passage,
                length,
            ));
        }
        let is_cut: Vec<bool> =
            is_later.iter().zip(&is_first).map(|(later, first)| *later && !first).collect();
        found.cuts.extend(ranges(&is_cut).into_iter().map(|words| CutRange {
            document,
            words: words.clone(),
            bytes: bytes_of(words),
        }));
    }
    found
}

/// Returns the maximal ranges of elements that are true.
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

/// Returns a passage. `windows` has the starts of its repeated windows, each with all places of the window.
fn passage<'w>(
    document: u32,
    words: &[u64],
    windows: impl Iterator<Item = (u32, &'w Vec<WindowPlace>)>,
    range: Range<u32>,
    length: usize,
) -> Passage {
    let documents_of =
        |places: &[WindowPlace]| places.iter().map(|place| place.0).collect::<BTreeSet<_>>().len();
    let best = windows.max_by_key(|(start, places)| {
        (documents_of(places), places.len(), std::cmp::Reverse(*start))
    });
    let (start, places) = best.unwrap();
    let elsewhere = places.iter().find(|place| place.0 != document);
    let partner = if places[0].0 == document {
        elsewhere.or_else(|| places.iter().find(|&&place| place != (document, start))).unwrap()
    } else {
        &places[0]
    };
    Passage {
        document,
        words: range.clone(),
        bytes: bytes_of(range.clone()),
        documents: documents_of(places) as u32,
        occurrences: places.len() as u64,
        is_first: places[0] == (document, start),
        is_whole: range.len() == words.len(),
        partner: Excerpt {
            document: partner.0,
            bytes: bytes_of(partner.1..partner.1 + length as u32),
        },
    }
}
