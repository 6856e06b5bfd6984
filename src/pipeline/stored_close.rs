//! Stores the close documents that a run has found, so that a run which is stopped while it writes its results need
//! not compare the documents again.
//!
//! The close documents are stored as rows of numbers: first a row with counts, then a row for each group of equal
//! documents, then rows with some pairs each.

use super::parts::Parts;
use simtool_base::error::Result;
use simtool_base::memory_ledger::Ledger;
use simtool_model::closeness::Closeness;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_model::similarity::Similarity;
use simtool_set_join::close::{Close, ClosePair, ClosePairs};

/// Number of 64-bit numbers that store a pair: one for its two documents, and [`CLOSENESS`] for their closeness.
const PAIR: usize = 1 + CLOSENESS;
/// Number of 64-bit numbers that store a closeness.
const CLOSENESS: usize = 3;
/// Number of pairs in a row of numbers.
const PAIRS_A_ROW: usize = 1 << 12;
/// Bit of the first number of a stored closeness. It is set if the closeness has a similarity. The next constant is the
/// bit that is set if the closeness has a distance.
const HAS_SIMILARITY: u64 = 1 << 32;
const HAS_DISTANCE: u64 = 1 << 33;

/// Stores the close documents of one collection as the join found them, before their token sequences are compared. Does
/// nothing for two collections.
///
/// # Errors
///
/// The close documents cannot be written.
pub(super) fn store_close(parts: &Parts<'_>, close: &Close) -> Result<()> {
    // Only runs with one collection store results.
    let Sides::One(groups) = &close.groups else { return Ok(()) };
    parts.store_result(|rows| {
        let [kind, shared, union] = numbers(close.of_equal);
        let counts = [groups.len() as u64, close.pairs.len() as u64];
        rows.push(&[counts[0], counts[1], close.is_complete.into(), kind, shared, union]);
        let mut row = Vec::new();
        for group in groups.iter() {
            row.clear();
            row.extend(group.iter().copied().map(u64::from));
            rows.push(&row);
        }
        row.clear();
        for pair in close.pairs.iter() {
            row.push(u64::from(pair.a) << 32 | u64::from(pair.b));
            row.extend(numbers(pair.closeness));
            if row.len() == PAIR * PAIRS_A_ROW {
                rows.push(&row);
                row.clear();
            }
        }
        // These are the last pairs, which may be fewer than fit in a row.
        rows.push(&row);
    })
}

/// Returns the close documents that an earlier run has stored in `parts`. Returns `None` if none are stored or if they
/// cannot be used, see [`Parts::visit_result`].
///
/// # Errors
///
/// The stored close documents cannot be read.
pub(super) fn stored_close(parts: &Parts<'_>, memory: &Ledger) -> Result<Option<Close>> {
    let mut restored = Restored::default();
    let is_whole = parts.visit_result(memory, &mut |row| restored.add(row))?;
    Ok(if is_whole { restored.into_close() } else { None })
}

/// Close documents while they are restored from rows of numbers.
#[derive(Debug, Default)]
struct Restored {
    /// The first stored row: the number of groups, the number of pairs, whether all pairs were found, and the closeness
    /// of equal documents as three numbers.
    head: Option<[u64; 6]>,
    groups: Vec<Vec<u32>>,
    pairs: Vec<ClosePair>,
}

impl Restored {
    /// Adds the next stored row of numbers. Returns `None` if the row is not valid at its position.
    fn add(&mut self, row: &[u64]) -> Option<()> {
        let Some(head) = self.head else {
            self.head = Some(row.try_into().ok()?);
            return Some(());
        };
        // The number of groups is known, so the rows after the groups have pairs.
        if (self.groups.len() as u64) < head[0] {
            let group = row.iter().map(|&row| u32::try_from(row).ok());
            self.groups.push(group.collect::<Option<_>>()?);
            return Some(());
        }
        let (pairs, rest) = row.as_chunks::<PAIR>();
        for &[rows, kind, shared, union] in pairs {
            let closeness = closeness([kind, shared, union])?;
            self.pairs.push(ClosePair { a: (rows >> 32) as u32, b: rows as u32, closeness });
        }
        rest.is_empty().then_some(())
    }

    /// Returns the close documents. Returns `None` if some are missing.
    fn into_close(self) -> Option<Close> {
        let [groups, pairs, is_complete, kind, shared, union] = self.head?;
        let counts = [self.groups.len() as u64, self.pairs.len() as u64];
        // If a whole block of rows is missing, the counts differ.
        if counts != [groups, pairs] {
            return None;
        }
        let groups = Sides::One(self.groups.iter().collect::<Groups>());
        let of_equal = closeness([kind, shared, union])?;
        let close = Close::new(groups, ClosePairs::from(self.pairs), of_equal);
        Some(Close { is_complete: is_complete == 1, ..close })
    }
}

/// Converts a closeness to the numbers that are stored for it.
fn numbers(closeness: Closeness) -> [u64; CLOSENESS] {
    let similarity = closeness.exact_similarity();
    let distance = closeness.distance();
    let kind = similarity.map_or(0, |_| HAS_SIMILARITY)
        | distance.map_or(0, |distance| HAS_DISTANCE | u64::from(distance));
    // Without a similarity, the last two numbers have no meaning, and `kind` records that.
    let Similarity { shared, union } = similarity.unwrap_or(Similarity::ONE);
    [kind, shared, union]
}

/// Converts stored numbers back to a closeness. Returns `None` if they were not made by [`numbers`].
fn closeness([kind, shared, union]: [u64; CLOSENESS]) -> Option<Closeness> {
    let similarity = Similarity { shared, union };
    let distance = kind as u32;
    match kind & !u64::from(u32::MAX) {
        HAS_DISTANCE => Some(Closeness::Distance(distance)),
        HAS_SIMILARITY => Some(Closeness::Similarity(similarity)),
        kind if kind == HAS_SIMILARITY | HAS_DISTANCE => {
            Some(Closeness::Verified(similarity, distance))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_read::walk::{InFolders, Walker};
    use simtool_read::{Collection, ReadOptions};
    use std::fs;
    use std::path::Path;

    /// Returns close documents with more pairs than are in a row of numbers. `kind` returns the closeness of a pair,
    /// given its first document.
    fn close_of(kind: fn(u32) -> Closeness) -> Close {
        let groups = Sides::One([vec![0, 5, 9], vec![2, 3]].iter().collect());
        let pairs = 0..3 * PAIRS_A_ROW as u32 / 2;
        let pairs = pairs.map(|row| ClosePair { a: row, b: row + 7, closeness: kind(row) });
        let pairs = ClosePairs::from(pairs.collect::<Vec<_>>());
        Close { is_complete: false, ..Close::new(groups, pairs, kind(0)) }
    }

    fn collection(folder: &Path) -> Collection {
        let mut walker = Walker::default();
        walker.add(folder, InFolders::default());
        Collection::open(walker.finish().files, ReadOptions::default())
    }

    #[test]
    fn close_documents_come_back_unless_they_are_damaged_or_too_many() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in");
        fs::create_dir(&input).unwrap();
        fs::write(input.join("a.txt"), "a rose").unwrap();
        let files = collection(&input);
        let memory = Ledger::new(1 << 30);
        let similarity = |row: u32| Similarity { shared: row.into(), union: 1 << 40 };
        let kinds: [fn(u32) -> Closeness; 3] = [
            Closeness::Distance,
            |row| Closeness::Similarity(Similarity { shared: row.into(), union: 1 << 40 }),
            |row| Closeness::Verified(Similarity { shared: 3, union: 4 }, row),
        ];
        assert_eq!(closeness(numbers(kinds[1](8))), Some(Closeness::Similarity(similarity(8))));
        assert_eq!(closeness([7, 1, 1]), None);
        for (number, kind) in kinds.into_iter().enumerate() {
            let place = folder.path().join(number.to_string());
            fs::create_dir(&place).unwrap();
            let open = |settings| Parts::open(&place, &files, settings, false, &memory).unwrap();
            let expected = close_of(kind);
            assert_eq!(stored_close(&open("some"), &memory).unwrap(), None);
            store_close(&open("some"), &expected).unwrap();
            assert_eq!(stored_close(&open("some"), &memory).unwrap(), Some(expected));
            assert_eq!(stored_close(&open("other"), &memory).unwrap(), None);
            // The stored pairs are too many for this memory.
            assert_eq!(stored_close(&open("some"), &Ledger::new(1 << 10)).unwrap(), None);
            let path = fs::read_dir(&place).unwrap().next().unwrap().unwrap().path();
            let mut bytes = fs::read(&path).unwrap();
            bytes[100] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert_eq!(stored_close(&open("some"), &memory).unwrap(), None);
        }
    }
}
