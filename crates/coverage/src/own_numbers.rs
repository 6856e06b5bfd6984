//! Numbers of the runs of removed documents, and of the kept documents that are compared with them.

use crate::numbered_runs::Candidate;
use std::collections::BTreeMap;

/// Numbers of the runs of removed documents, from memory or from a new reading.
pub(crate) enum OwnNumbers<'n> {
    /// Numbers from memory. `listed` has all documents that may have been removed, in reading order, and `numbers` has
    /// the numbers of all their runs.
    Known { listed: &'n [Candidate], numbers: &'n [u32] },
    /// Numbers of the runs of each removed document that was read again, in reading order, by its row number.
    Read(BTreeMap<u32, Vec<u32>>),
}

impl OwnNumbers<'_> {
    /// Returns the numbers of the runs of the document `removed`, in reading order. The list is empty if its text has
    /// changed.
    pub(crate) fn of(&self, removed: &Candidate) -> &[u32] {
        match self {
            Self::Known { numbers, .. } => &numbers[removed.runs.clone()],
            Self::Read(read) => {
                let own = read.get(&removed.row).filter(|own| own.len() == removed.runs.len());
                own.map_or(&[], Vec::as_slice)
            }
        }
    }

    /// Returns the numbers of the runs of the kept document with row number `row`. Returns `None` if they are not in
    /// memory, so that the document must be read again. Only documents that might have been removed have numbers.
    pub(crate) fn of_partner(&self, row: u32) -> Option<&[u32]> {
        let Self::Known { listed, numbers } = self else { return None };
        let at = listed.binary_search_by_key(&row, |candidate| candidate.row).ok()?;
        Some(&numbers[listed[at].runs.clone()])
    }
}
