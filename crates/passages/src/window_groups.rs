//! Groups equal windows by their hashes, without anchors. This is faster than runs if windows are short. Units of
//! text, such as sentences, are windows of different lengths.

use crate::classes::{Counted, Occurrence, Piece};
use crate::place::Place;
use crate::rank_sort::sort_by_rank;
use crate::run_groups::GroupOutput;
use crate::seen_twice::{SeenTwice, repeated_items};
use simtool_base::error::Result;

/// A window, which is a sequence of consecutive words, with its hash and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<L> {
    /// Hash of the words of the window.
    pub(crate) hash: u64,
    /// Place of the first word of the window.
    pub(crate) place: Place,
    /// Number of words of the window. `()` if all windows have the same number.
    pub(crate) length: L,
}

/// Number of words of a window, or `()` if all windows have the same number.
pub(crate) trait WindowLength: Copy + Ord + Send + Sync {
    /// Whether windows are units of the text, such as sentences, which have different lengths.
    const IS_OF_UNIT: bool;

    /// Returns the number of words of the window. `of_all` is the number that all windows have, if they have the same.
    fn words(self, of_all: u32) -> u32;
}

impl WindowLength for () {
    const IS_OF_UNIT: bool = false;

    fn words(self, of_all: u32) -> u32 {
        of_all
    }
}

impl WindowLength for u32 {
    const IS_OF_UNIT: bool = true;

    fn words(self, _of_all: u32) -> u32 {
        self
    }
}

/// Returns the windows of a bucket that occur more than once. A few other windows remain, too.
pub(crate) fn repeated_windows<L: WindowLength>(blocks: &[Vec<Window<L>>]) -> Vec<Window<L>> {
    let mut hashes = SeenTwice::new(blocks.iter().map(Vec::len).sum());
    for block in blocks {
        for window in block {
            hashes.see(window.hash);
        }
    }
    repeated_items(blocks, &hashes, |window| window.hash)
}

/// Groups the windows of a bucket, and passes a class for each repeated window to `output`.
///
/// # Errors
/// Not enough memory.
pub(crate) fn group_windows<L: WindowLength>(
    mut windows: Vec<Window<L>>,
    output: &mut GroupOutput<'_, '_>,
) -> Result<()> {
    // Different units can have equal hashes by chance, but then mostly not the same number of words.
    let key = |window: &Window<L>| (window.hash, window.length, window.place);
    sort_by_rank(&mut windows, |window| window.hash, key);
    let are_equal = |a: &Window<L>, b: &Window<L>| (a.hash, a.length) == (b.hash, b.length);
    // Equal windows are neighbours now, in the order of their places.
    for equal in windows.chunk_by(are_equal).filter(|equal| equal.len() > 1) {
        let places = equal.iter().map(|window| window.place);
        let counted = Counted::of(places, output.condition.origins);
        if !output.condition.accepts(&counted) {
            continue;
        }
        let words = equal[0].length.words(output.condition.words);
        let piece = Piece { from: 0, to: 1, facts: counted.facts() };
        let class = output.classes.push(1, words, &[piece]);
        let bucket = output.bucket;
        for window in equal {
            let occurrence = Occurrence { place: window.place, class, bucket, repeats: 1 };
            output.occurrences.push(occurrence)?;
        }
    }
    Ok(())
}
