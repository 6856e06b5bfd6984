//! Estimated cost of a part of a run.

/// Estimated time and memory for a part of the work of a run.
///
/// The seconds are an estimate for the machine on which the constants of the estimate were
/// measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkCost {
    /// Time in seconds on one core.
    pub seconds: f64,
    /// Largest number of bytes of memory that the work needs at a time.
    pub bytes: f64,
}

impl WorkCost {
    /// Returns the cost of `count` things if each of them has the cost `self`.
    ///
    /// ```
    /// use simtool_base::work_cost::WorkCost;
    ///
    /// let file = WorkCost { seconds: 2e-6, bytes: 900.0 };
    /// assert_eq!(file.times(1e6), WorkCost { seconds: 2.0, bytes: 900e6 });
    /// ```
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { seconds: self.seconds * count, bytes: self.bytes * count }
    }
}
