//! Groups equal windows by their hashes, without anchors. This is faster than runs if windows are short.

use crate::classes::{Counted, Occurrence, Piece};
use crate::place::Place;
use crate::run_groups::GroupOutput;
use simtool_base::error::Result;

/// Number of counters for each window in the table that finds windows that occur once.
const COUNTERS_A_WINDOW: usize = 4;

/// A window and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Hash of the words.
    pub(crate) hash: u64,
    /// Place of the first word.
    pub(crate) place: Place,
}

/// Removes windows that occur only once. Some of them may remain.
pub(crate) fn drop_single_windows(windows: &mut Vec<Window>) {
    let mut counters = vec![0_u8; (windows.len() * COUNTERS_A_WINDOW).next_power_of_two()];
    let mask = counters.len() - 1;
    // The highest bits are equal in all windows of a bucket.
    for window in &*windows {
        let counter = &mut counters[window.hash as usize & mask];
        *counter = (*counter << 1 | 1) & 3;
    }
    windows.retain(|window| counters[window.hash as usize & mask] > 1);
}

/// Groups the windows of a bucket, and gives out a class for each repeated window.
///
/// # Errors
/// Not enough memory.
pub(crate) fn group_windows(
    mut windows: Vec<Window>,
    output: &mut GroupOutput<'_, '_>,
) -> Result<()> {
    windows.sort_unstable_by_key(|window| (window.hash, window.place));
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
