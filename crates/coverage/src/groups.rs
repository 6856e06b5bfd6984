//! Groups of documents: a document can only be covered by documents of its own group.

use simtool_base::stable_hash::mix;

/// For each document, the number of its group. A document is only removed if documents of its own group have its words.
/// The list is empty if all documents are in one group.
pub(crate) struct DocumentGroups(pub(crate) Vec<u64>);

impl DocumentGroups {
    /// Returns whether the document with row number `row` is compared with others. Documents of group 0 are not
    /// compared.
    pub(crate) fn is_compared(&self, row: u32) -> bool {
        // Without groups, the list is empty, and all documents are compared.
        self.0.get(row as usize) != Some(&0)
    }

    /// Returns whether all documents are in one group. Then [`Self::runs`] returns the hashes of runs unchanged.
    pub(crate) fn are_one(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the hashes by which the runs of a document are compared. `runs` are the hashes of the runs. Equal runs
    /// in documents of different groups get different hashes.
    pub(crate) fn runs(&self, row: u32, runs: &[u64]) -> impl Iterator<Item = u64> {
        let group = self.0.get(row as usize).map(|&group| mix(group));
        runs.iter().map(move |&run| group.map_or(run, |group| mix(run ^ group)))
    }
}
