//! Runs of removed documents and of their partners, by numbers.

use crate::numbered_runs::Candidate;
use std::collections::BTreeMap;

/// Numbers of the runs of removed documents.
pub(crate) enum OwnNumbers<'n> {
    /// The candidates in reading order, and the numbers of the runs of all of them.
    Known { listed: &'n [Candidate], numbers: &'n [u32] },
    /// The numbers of the runs of each document in reading order, by its row number.
    Read(BTreeMap<u32, Vec<u32>>),
}

impl OwnNumbers<'_> {
    /// Returns the numbers of the runs of a document in reading order. There are none if its text has changed.
    pub(crate) fn of(&self, removed: &Candidate) -> &[u32] {
        match self {
            Self::Known { numbers, .. } => &numbers[removed.runs.clone()],
            Self::Read(read) => {
                let own = read.get(&removed.row).filter(|own| own.len() == removed.runs.len());
                own.map_or(&[], Vec::as_slice)
            }
        }
    }

    /// Returns the numbers of the runs of a kept document if it was a candidate, so that it need not be read again.
    pub(crate) fn of_partner(&self, row: u32) -> Option<&[u32]> {
        let Self::Known { listed, numbers } = self else { return None };
        let at = listed.binary_search_by_key(&row, |candidate| candidate.row).ok()?;
        Some(&numbers[listed[at].runs.clone()])
    }
}
