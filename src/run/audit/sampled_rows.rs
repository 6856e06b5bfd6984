//! A random sample of the removals of a run, and contradictions between the sampled rows and other rows.

use crate::output::coverage_rows::{KeptOfRemoved, NamedPlace, place_of};
use crate::output::finished_rows::{RemovedRow, RowsFile};
use crate::run::review::random;
use simtool_base::error::Result;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::ControlFlow;

/// Random sample of the removals of a run.
pub(super) struct SampledRows {
    /// Number of all removals of the run.
    pub(super) removals: u64,
    /// The chosen removals, in the order of the output.
    pub(super) rows: Vec<RemovedRow>,
}

/// Returns the `size` rows with the smallest random numbers, or all rows if there are fewer. The random number of a row
/// depends only on `seed` and the number of the row. So nobody who writes the rows can know which ones are chosen until
/// the seed is known.
pub(super) fn sample_rows(rows: &RowsFile, seed: u64, size: usize) -> Result<SampledRows> {
    /// A chosen row: its random number, its number from 0 in the output, its offset in bytes, and its line.
    type Chosen = (u64, u64, u64, Vec<u8>);
    let (mut chosen, mut removals) = (BinaryHeap::<Chosen>::new(), 0);
    rows.visit(&rows.file, &mut |byte, line| {
        let number = random(seed, removals);
        // The heap has the largest random number on top, which is dropped if there are too many.
        if chosen.len() < size || chosen.peek().is_some_and(|(largest, ..)| number < *largest) {
            chosen.push((number, removals, byte, line.to_vec()));
            if chosen.len() > size {
                chosen.pop();
            }
        }
        removals += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    // Rows are checked and shown in the order of the output.
    let mut chosen = chosen.into_vec();
    chosen.sort_unstable_by_key(|&(_, number, ..)| number);
    let rows = chosen.iter().map(|(_, _, byte, line)| rows.parse(line, *byte));
    Ok(SampledRows { removals, rows: rows.collect::<Result<_>>()? })
}

/// Contradictions between the chosen rows and all rows: documents of chosen rows about which another row says something
/// else.
#[derive(Debug, Default)]
pub(super) struct Conflicts {
    /// Kept documents of the chosen rows that some row removes.
    pub(super) removed: BTreeSet<NamedPlace>,
    /// Removed documents of the chosen rows that more than one row removes.
    pub(super) repeated: BTreeSet<NamedPlace>,
}

/// Looks for contradictions between the `chosen` rows and all `rows`. A row names a removed document and the document
/// that is kept in its place. It is a contradiction if any row removes a kept document of a chosen row, or if several
/// rows remove the removed document of a chosen row.
///
/// If the run decided by coverage, a removed document has several kept documents, and `others` lists them for the
/// chosen rows. In a match, kept documents are ignored, because they belong to another collection than the removed
/// ones.
pub(super) fn conflicts(
    rows: &RowsFile,
    chosen: &[RemovedRow],
    others: &KeptOfRemoved,
    is_match: bool,
) -> Result<Conflicts> {
    let of_rows = chosen.iter().filter(|_| !is_match).map(|row| place_of(&row.kept));
    let of_others = others.values().flatten().filter(|_| !is_match).cloned();
    let kept: BTreeSet<NamedPlace> = of_rows.chain(of_others).collect();
    let removed: BTreeSet<NamedPlace> = chosen.iter().map(|row| place_of(&row.removed)).collect();
    // One pass over all rows finds both kinds of contradictions.
    let (mut found, mut seen) = (Conflicts::default(), BTreeSet::new());
    rows.visit(&rows.file, &mut |byte, line| {
        let place = place_of(&rows.parse(line, byte)?.removed);
        if kept.contains(&place) {
            found.removed.insert(place.clone());
        }
        if removed.contains(&place) && !seen.insert(place.clone()) {
            found.repeated.insert(place);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::fs;

    #[test]
    fn the_rows_with_the_smallest_random_numbers_are_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = String::new();
        for record in 0..50 {
            writeln!(
                lines,
                "{{\"id\":\"a\",\"file\":\"f\",\"record\":{record},\"kept_id\":\"b\",\"kept_file\":\"f\",\
                 \"kept_record\":99}}"
            )
            .unwrap();
        }
        fs::write(folder.path().join("removed.jsonl"), lines).unwrap();
        let rows = RowsFile::open(folder.path(), folder.path()).unwrap();
        let mut seen = BTreeSet::new();
        for (seed, size) in [(1, 1), (1, 7), (2, 7), (3, 49), (3, 50), (4, 51)] {
            let sampled = sample_rows(&rows, seed, size).unwrap();
            let found: Vec<u64> = sampled.rows.iter().map(|row| row.removed.record).collect();
            let mut all: Vec<u64> = (0..50).collect();
            all.sort_by_key(|&record| random(seed, record));
            all.truncate(size);
            all.sort_unstable();
            assert_eq!((sampled.removals, &found), (50, &all), "{seed}, {size}");
            seen.insert(found);
        }
        assert_eq!(seen.len(), 5, "the two seeds choose other rows");
    }
}
