//! The amounts that a sample estimates: documents, bytes, terms and seconds.

/// One number for each amount that a sample estimates, for example the number of documents. The numbers
/// are usually the amounts themselves, but they can also be, for example, the variances of the amounts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Amounts {
    pub(crate) documents: f64,
    pub(crate) text_bytes: f64,
    pub(crate) id_bytes: f64,
    /// Sum of the numbers of terms of all texts. If a method makes fingerprints, these are the terms
    /// that the fingerprints are made from.
    pub(crate) terms: f64,
    /// Seconds of one core for reading the input, which includes unpacking files and parsing records.
    pub(crate) read_seconds: f64,
    /// Seconds of one core for making the terms of the texts, and also the fingerprints if the method
    /// has them.
    pub(crate) make_seconds: f64,
}

impl Amounts {
    /// Returns the seconds of one core for reading the input and for making terms and fingerprints.
    pub(crate) fn seconds(&self) -> f64 {
        self.read_seconds + self.make_seconds
    }

    /// Calls `combine` with each amount of `self` and the same amount of `other`, and returns the
    /// results.
    pub(super) fn with(self, other: Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            documents: combine(self.documents, other.documents),
            text_bytes: combine(self.text_bytes, other.text_bytes),
            id_bytes: combine(self.id_bytes, other.id_bytes),
            terms: combine(self.terms, other.terms),
            read_seconds: combine(self.read_seconds, other.read_seconds),
            make_seconds: combine(self.make_seconds, other.make_seconds),
        }
    }

    /// Calls `change` with each amount, and returns the results.
    pub(super) fn map(self, change: impl Fn(f64) -> f64) -> Self {
        self.with(self, |amount, _| change(amount))
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }

    pub(crate) fn sum(amounts: impl Iterator<Item = Self>) -> Self {
        amounts.fold(Self::default(), Self::plus)
    }
}
