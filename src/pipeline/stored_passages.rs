//! Stores the passages that a run has found, so that a run which is stopped while it writes its results need not search
//! again.
//!
//! The passages are stored as rows of numbers: first a row with the number of documents, then rows with the number of
//! words of some documents each, then the rows of the passages.

use super::parts::Parts;
use simtool_base::error::Result;
use simtool_base::memory_ledger::Ledger;
use simtool_passages::{Passages, RestoredPassages};

/// Number of documents whose word counts are stored in one row of numbers.
const DOCUMENTS_A_ROW: usize = 1 << 12;

/// Stores the passages that were found, and `word_counts`, the number of words of each document, in `parts`.
///
/// # Errors
///
/// The passages cannot be written.
pub(super) fn store_passages(
    parts: &Parts<'_>,
    passages: &Passages,
    word_counts: &[u32],
) -> Result<()> {
    parts.store_result(|rows| {
        rows.push(&[word_counts.len() as u64]);
        for counts in word_counts.chunks(DOCUMENTS_A_ROW) {
            rows.push(&counts.iter().copied().map(u64::from).collect::<Vec<_>>());
        }
        passages.visit_rows(&mut |row| rows.push(row));
    })
}

/// Returns the passages that an earlier run has stored in `parts`, and the number of words of each document. Returns
/// `None` if none are stored or if they cannot be used, see [`Parts::visit_result`].
///
/// # Errors
///
/// The stored passages cannot be read.
pub(super) fn stored_passages(
    parts: &Parts<'_>,
    memory: &Ledger,
) -> Result<Option<(Passages, Vec<u32>)>> {
    let mut documents = None;
    let mut word_counts: Vec<u32> = Vec::new();
    let mut passages = RestoredPassages::default();
    let is_whole = parts.visit_result(memory, &mut |row| {
        let Some(count) = documents else {
            let &[count] = row else { return None };
            documents = Some(count);
            return Some(());
        };
        // The number of documents is known, so the rows after the word counts are those of the passages.
        if (word_counts.len() as u64) < count {
            let counts = row.iter().map(|&words| u32::try_from(words).ok());
            word_counts.extend(counts.collect::<Option<Vec<_>>>()?);
            return Some(());
        }
        passages.add(row)
    })?;
    Ok(passages.finish().filter(|_| is_whole).map(|passages| (passages, word_counts)))
}
