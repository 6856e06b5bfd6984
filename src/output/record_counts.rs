//! Counts of the records of an input file while it is copied.

/// Counts of the records in some shards (parts) of a file.
#[derive(Debug, Default)]
pub(super) struct RecordCounts {
    pub(super) records: u64,
    /// Number of records, including lost records of damaged parts that the reader could count.
    pub(super) records_with_lost: u64,
    /// Number of documents that were left out of the copy.
    pub(super) removed: u64,
    /// Whether a damaged part of the file could not be read.
    pub(super) has_loss: bool,
}

impl RecordCounts {
    /// Adds the counts of more shards.
    pub(super) fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.records_with_lost += other.records_with_lost;
        self.removed += other.removed;
        self.has_loss |= other.has_loss;
    }

    /// Returns whether no record could be read because the file is damaged.
    pub(super) fn is_unreadable(&self) -> bool {
        self.records == 0 && self.has_loss
    }
}
