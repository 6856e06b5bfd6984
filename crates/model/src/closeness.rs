//! The closeness of two documents, by whatever method found them.

use crate::similarity::Similarity;
use std::cmp::Ordering;

/// The closeness of two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closeness {
    /// Similarity of their sets of terms, by the measure of the threshold.
    Similarity(Similarity),
    /// Number of bits in which their fingerprints differ.
    Distance(u32),
    /// Both: their fingerprints are close, and then their sets of terms were compared.
    Verified(Similarity, u32),
}

impl Closeness {
    /// Compares two values of one kind. The closer pair of documents has the greater value.
    #[must_use]
    pub fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Similarity(a), Self::Similarity(b)) => a.cmp(&b),
            (Self::Distance(a), Self::Distance(b)) => b.cmp(&a),
            (Self::Verified(a, to_a), Self::Verified(b, to_b)) => a.cmp(&b).then(to_b.cmp(&to_a)),
            // One run finds one kind.
            (a, b) => a.kind().cmp(&b.kind()),
        }
    }

    fn kind(self) -> u8 {
        match self {
            Self::Distance(_) => 0,
            Self::Similarity(_) => 1,
            Self::Verified(..) => 2,
        }
    }

    /// Returns the similarity, if the closeness has one.
    #[must_use]
    pub fn similarity(self) -> Option<f64> {
        self.exact_similarity().map(Similarity::ratio)
    }

    /// Returns the similarity as an exact ratio, if the closeness has one.
    #[must_use]
    pub fn exact_similarity(self) -> Option<Similarity> {
        match self {
            Self::Similarity(similarity) | Self::Verified(similarity, _) => Some(similarity),
            Self::Distance(_) => None,
        }
    }

    /// Returns the distance, if the closeness has one.
    #[must_use]
    pub fn distance(self) -> Option<u32> {
        match self {
            Self::Similarity(_) => None,
            Self::Distance(distance) | Self::Verified(_, distance) => Some(distance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closer_is_the_greater() {
        let similarity = |shared| Closeness::Similarity(Similarity { shared, union: 9 });
        assert_eq!(similarity(5).compare(similarity(4)), Ordering::Greater);
        assert_eq!(Closeness::Distance(1).compare(Closeness::Distance(2)), Ordering::Greater);
        assert_eq!(similarity(3).similarity(), Some(1.0 / 3.0));
        let verified = |shared, d| Closeness::Verified(Similarity { shared, union: 9 }, d);
        assert_eq!(verified(5, 3).compare(verified(4, 1)), Ordering::Greater);
        assert_eq!(verified(5, 3).compare(verified(5, 1)), Ordering::Less);
        assert_eq!((verified(9, 2).similarity(), verified(9, 2).distance()), (Some(1.0), Some(2)));
    }
}
