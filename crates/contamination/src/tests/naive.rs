//! The simplest possible search for items: for each item, document and region, a set of windows.

use crate::regions::TIMES;
use crate::{FoundItem, Measure};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Settings of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Number of words of a window.
    pub(super) words: usize,
    pub(super) measure: Measure,
    /// Minimum share of an item that a document must have, in percent.
    pub(super) percent: u64,
}

/// Returns the items that each document contains.
pub(super) fn find(
    items: &[Vec<u64>],
    documents: &[Vec<u64>],
    settings: Settings,
) -> Vec<Vec<FoundItem>> {
    let in_document = |document: &Vec<u64>| {
        let find = |(number, item): (u32, &Vec<u64>)| {
            let weights = weights(item, documents, settings);
            find_item(number, item, &weights, document, settings)
        };
        let mut found: Vec<FoundItem> = (0..).zip(items).filter_map(find).collect();
        mark_best(&mut found);
        found
    };
    documents.iter().map(in_document).collect()
}

/// Returns the number of words of each window of `item`.
fn window_length(item: &[u64], settings: Settings) -> usize {
    settings.words.min(item.len())
}

/// Returns the weight of each unit of an item.
fn weights(item: &[u64], documents: &[Vec<u64>], settings: Settings) -> Vec<u64> {
    let length = window_length(item, settings);
    match settings.measure {
        _ if item.is_empty() => Vec::new(),
        Measure::Words => vec![1; item.len()],
        Measure::Shingles => vec![1; item.windows(length).len()],
        Measure::Weighted => {
            let weight = |window: &[u64]| {
                let has =
                    |document: &&Vec<u64>| document.windows(length).any(|other| other == window);
                let count = documents.iter().filter(has).count().max(1);
                u64::from((documents.len() / count).max(1).ilog2()) + 1
            };
            let windows: BTreeMap<&[u64], u64> =
                item.windows(length).map(|window| (window, weight(window))).collect();
            // All windows that contain the word count.
            let of_word = |word: usize| {
                let starts = (0..=item.len() - length)
                    .filter(|start| (*start..start + length).contains(&word));
                starts.map(|start| windows[&item[start..start + length]]).min().unwrap()
            };
            (0..item.len()).map(of_word).collect()
        }
    }
}

fn find_item(
    number: u32,
    item: &[u64],
    weights: &[u64],
    document: &[u64],
    settings: Settings,
) -> Option<FoundItem> {
    let length = window_length(item, settings);
    let whole_weight: u64 = weights.iter().sum();
    if length == 0 || document.len() < length {
        return None;
    }
    let region_words = TIMES * item.len();
    let (mut best_weight, mut item_spans) = (0, Vec::new());
    let mut in_item = vec![false; document.len()];
    // Each region is looked at alone. The first one with the greatest weight gives the spans of the item.
    for start in 0..=document.len() - length {
        let region = &document[start..document.len().min(start + region_words)];
        let windows: BTreeSet<&[u64]> = region.windows(length).collect();
        let mut is_covered = vec![false; item.len()];
        let mut is_found = vec![false; item.windows(length).len()];
        for (at, window) in item.windows(length).enumerate() {
            if windows.contains(window) {
                is_covered[at..at + length].fill(true);
                is_found[at] = true;
            }
        }
        let units = if settings.measure == Measure::Shingles { &is_found } else { &is_covered };
        let covered = units.iter().zip(weights).filter(|(is_covered, _)| **is_covered);
        let weight: u64 = covered.map(|(_, weight)| weight).sum();
        if weight * 100 >= settings.percent * whole_weight {
            for (at, window) in region.windows(length).enumerate() {
                if item.windows(length).any(|other| other == window) {
                    in_item[start + at..start + at + length].fill(true);
                }
            }
            if weight > best_weight {
                (best_weight, item_spans) = (weight, ranges(&is_covered));
            }
        }
    }
    (best_weight > 0).then(|| FoundItem {
        item: number,
        weight: best_weight,
        whole_weight,
        item_spans,
        spans: ranges(&in_item),
        is_best: false,
    })
}

fn mark_best(found: &mut [FoundItem]) {
    let positions =
        |item: &FoundItem| item.spans.iter().cloned().flatten().collect::<BTreeSet<u32>>();
    let mut taken = BTreeSet::new();
    let mut rest: BTreeSet<usize> = (0..found.len()).collect();
    while !rest.is_empty() {
        let is_better = |a: usize, b: usize| {
            let (a, b) = (&found[a], &found[b]);
            let [left, right] = [a.weight * b.whole_weight, b.weight * a.whole_weight];
            (left, a.words(), b.item) > (right, b.words(), a.item)
        };
        let best = rest.iter().copied().reduce(|a, b| if is_better(b, a) { b } else { a }).unwrap();
        rest.remove(&best);
        // Only words of better items that are best themselves are taken.
        let words = positions(&found[best]);
        let shared = words.intersection(&taken).count();
        found[best].is_best = 2 * shared < words.len();
        if found[best].is_best {
            taken.extend(words);
        }
    }
}

/// Returns the ranges of consecutive positions at which `flags` are true. Each range is as long as possible.
fn ranges(flags: &[bool]) -> Vec<Range<u32>> {
    let mut start = 0;
    let mut ranges = Vec::new();
    for equal in flags.chunk_by(|a, b| a == b) {
        let end = start + equal.len() as u32;
        if equal[0] {
            ranges.push(start..end);
        }
        start = end;
    }
    ranges
}
