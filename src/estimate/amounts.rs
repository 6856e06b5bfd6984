//! The amounts that are estimated: documents, bytes, terms and seconds.

/// One number for each estimated amount.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Amounts {
    pub(crate) documents: f64,
    pub(crate) text_bytes: f64,
    pub(super) id_bytes: f64,
    /// Occurrences of terms, or of the words that fingerprints are made from.
    pub(super) terms: f64,
    /// Seconds of one core for unpacking and parsing.
    pub(super) read_seconds: f64,
    /// Seconds of one core for making terms, and fingerprints if the method has them.
    pub(super) make_seconds: f64,
}

impl Amounts {
    /// Combines each amount with the same amount of `other` by the function `of`.
    pub(super) fn with(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            documents: of(self.documents, other.documents),
            text_bytes: of(self.text_bytes, other.text_bytes),
            id_bytes: of(self.id_bytes, other.id_bytes),
            terms: of(self.terms, other.terms),
            read_seconds: of(self.read_seconds, other.read_seconds),
            make_seconds: of(self.make_seconds, other.make_seconds),
        }
    }

    pub(super) fn map(self, of: impl Fn(f64) -> f64) -> Self {
        self.with(self, |amount, _| of(amount))
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }
}
