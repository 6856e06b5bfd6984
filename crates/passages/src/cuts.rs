//! Finds the words to cut so that one copy of everything stays.
//!
//! A window is *later* if it is repeated and another occurrence of its words comes first. Three rules decide:
//!
//! 1. The words of later windows are cut, unless they are also in the first occurrence of a repeated window.
//! 2. A window stays if all of its words would be cut and it is not later. Such windows are where two passages touch or
//!    overlap. They are not repeated, so no other document may have them.
//! 3. A rest of fewer than k words is not cut.
//!
//! It follows that each window of the collection is in the text that is kept, or is broken by the edge of a cut and not
//! repeated:
//!
//! * If the window is repeated, its first occurrence has no word that is cut, by rule 1.
//! * If none of its words is cut, it is kept where it is.
//! * If all of its words are cut, it is later by rule 2, so it is repeated.
//! * Otherwise some of its words are cut and others are kept.
//!
//! The rules 2 and 3 only keep more words, so they do not endanger what another rule keeps. A repeated unit of text,
//! such as a sentence, is a window of its own length. Units do not overlap, so only rule 1 matters.

use crate::repetition::FirstWords;
use crate::word_range::{WordRange, push_range};

/// Returns the words to cut. `later` are ranges of windows that are repeated and occurred before, and `firsts` are
/// ranges of first occurrences of repeated windows. Both are in ascending order. `window` is the number of words of a
/// window, or `None` for units of text, such as sentences.
pub(crate) fn words_to_cut(
    later: &[WordRange],
    firsts: &[FirstWords],
    window: Option<u32>,
) -> Vec<WordRange> {
    let mut words = Vec::new();
    for &run in later {
        push_range(&mut words, run);
    }
    let pieces = without_firsts(&words, firsts);
    match window {
        Some(window) => whole_windows(&pieces, later, window),
        None => pieces,
    }
}

/// Returns the words of `ranges` that are not in `firsts`, which are the first occurrences of repeated windows.
fn without_firsts(ranges: &[WordRange], mut firsts: &[FirstWords]) -> Vec<WordRange> {
    let mut pieces = Vec::new();
    for range in ranges {
        // Ranges are in ascending order, so first occurrences that end before this range are not needed any more.
        let skipped = firsts.iter().take_while(|first| first.words.is_before(range)).count();
        firsts = &firsts[skipped..];
        let mut start = range.start;
        let overlaps =
            |first: &&WordRange| first.document == range.document && first.start < range.end;
        for first in firsts.iter().map(|first| &first.words).take_while(overlaps) {
            // The words between two first occurrences are cut.
            if start < first.start {
                pieces.push(WordRange { start, end: first.start, ..*range });
            }
            start = first.end;
        }
        if start < range.end {
            pieces.push(WordRange { start, ..*range });
        }
    }
    pieces
}

/// Returns the parts of `pieces` in which each window of `window` words is in `later`, the ranges of windows that
/// occurred before. The other windows stay.
fn whole_windows(pieces: &[WordRange], mut later: &[WordRange], window: u32) -> Vec<WordRange> {
    let mut cuts = Vec::new();
    for piece in pieces {
        let skipped = later.iter().take_while(|run| run.is_before(piece)).count();
        later = &later[skipped..];
        let overlaps = |run: &&WordRange| run.document == piece.document && run.start < piece.end;
        // A sequence of later windows can be in several pieces, so it is not skipped here.
        let of_runs = later.iter().take_while(overlaps);
        cuts.extend(of_runs.filter_map(|run| part_to_cut(piece, run, window)));
    }
    cuts
}

/// Returns the part of `piece` that is cut because of `run`, a range of windows that occurred before. `None` if fewer
/// than `window` words, the length of a window, would be cut.
fn part_to_cut(piece: &WordRange, run: &WordRange, window: u32) -> Option<WordRange> {
    // The window that begins a word before `run` is not later. If it is in the piece, its words stay.
    let start = if run.start > piece.start { run.start - 1 + window } else { piece.start };
    let end = if run.end < piece.end { run.end + 1 - window } else { piece.end };
    let is_long = end.checked_sub(start).is_some_and(|words| words >= window);
    is_long.then_some(WordRange { document: piece.document, start, end })
}
