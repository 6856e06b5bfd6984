//! Groups equal windows by their hashes, without anchors. This is faster than runs if windows are short.

use crate::classes::{Counted, Occurrence, Piece};
use crate::place::Place;
use crate::rank_sort::sort_by_rank;
use crate::run_groups::GroupOutput;
use crate::seen_twice::SeenTwice;
use simtool_base::error::Result;

/// A window and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Hash of the words.
    pub(crate) hash: u64,
    /// Place of the first word.
    pub(crate) place: Place,
}

/// Returns the windows of a bucket that occur more than once. A few others remain, too.
pub(crate) fn repeated_windows(blocks: &[Vec<Window>]) -> Vec<Window> {
    let mut hashes = SeenTwice::new(blocks.iter().map(Vec::len).sum());
    blocks.iter().flatten().for_each(|window| hashes.see(window.hash));
    let has_equal = |window: &&Window| hashes.has(window.hash);
    blocks.iter().flatten().filter(has_equal).copied().collect()
}

/// Groups the windows of a bucket, and gives out a class for each repeated window.
///
/// # Errors
/// Not enough memory.
pub(crate) fn group_windows(
    mut windows: Vec<Window>,
    output: &mut GroupOutput<'_, '_>,
) -> Result<()> {
    sort_by_rank(&mut windows, |window| window.hash, |window| (window.hash, window.place));
    // Equal windows are neighbours now, in the order of their places.
    for equal in windows.chunk_by(|a, b| a.hash == b.hash).filter(|equal| equal.len() > 1) {
        let counted = Counted::of(equal.iter().map(|window| window.place));
        if !output.rule.accepts(counted.summary.occurrences, counted.documents) {
            continue;
        }
        let class = output.classes.push(1, &[Piece { from: 0, to: 1, facts: counted.facts() }]);
        let bucket = output.bucket;
        for window in equal {
            let occurrence = Occurrence { place: window.place, class, bucket, repeats: 1 };
            output.occurrences.push(occurrence)?;
        }
    }
    Ok(())
}
