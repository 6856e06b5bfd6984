//! Groups of documents: only documents of one group cover each other.

use simtool_base::stable_hash::mix;

/// Groups of documents that may cover each other.
pub(crate) struct DocumentGroups(pub(crate) Vec<u64>);

impl DocumentGroups {
    /// Returns whether a document may cover others, and others may cover it.
    pub(crate) fn is_compared(&self, row: u32) -> bool {
        // Without groups, the list is empty, and all documents are compared.
        self.0.get(row as usize) != Some(&0)
    }

    /// Returns whether all documents are in one group, so that runs are compared by their own hashes.
    pub(crate) fn are_one(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the hashes of runs of a document for comparisons. Equal runs of two groups have different hashes.
    pub(crate) fn runs(&self, row: u32, runs: &[u64]) -> impl Iterator<Item = u64> {
        let group = self.0.get(row as usize).map(|&group| mix(group));
        runs.iter().map(move |&run| group.map_or(run, |group| mix(run ^ group)))
    }
}
