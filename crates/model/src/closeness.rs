//! The closeness of two documents: a similarity, a distance, or both, depending on the method that compares them.

use crate::similarity::Similarity;
use std::cmp::Ordering;

/// Similarity of two documents, their distance, or both. The method that compares the documents decides which of them
/// is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closeness {
    /// Similarity of the documents' sets of terms, by the chosen measure, such as Jaccard.
    Similarity(Similarity),
    /// Distance of the documents' fingerprints, for example the number of differing bits.
    Distance(u32),
    /// Both similarity and distance. The fingerprints of the documents are close, so their sets of terms were compared,
    /// too.
    Verified(Similarity, u32),
}

impl Closeness {
    /// Returns `Greater` if `self` is the closer one: its similarity is greater, or its distance is smaller. For two
    /// values of [`Self::Verified`], the distance decides only between equal similarities. Values of different variants
    /// have a fixed order.
    #[must_use]
    pub fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Similarity(a), Self::Similarity(b)) => a.cmp(&b),
            (Self::Distance(a), Self::Distance(b)) => b.cmp(&a),
            (Self::Verified(a, to_a), Self::Verified(b, to_b)) => a.cmp(&b).then(to_b.cmp(&to_a)),
            // All pairs that one search finds have the same variant, so this order only has to be consistent.
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

    /// Returns the similarity as a number from 0 to 1, or `None` if only a distance was measured.
    #[must_use]
    pub fn similarity(self) -> Option<f64> {
        self.exact_similarity().map(Similarity::ratio)
    }

    /// Returns the similarity as an exact ratio, or `None` if only a distance was measured.
    #[must_use]
    pub fn exact_similarity(self) -> Option<Similarity> {
        match self {
            Self::Similarity(similarity) | Self::Verified(similarity, _) => Some(similarity),
            Self::Distance(_) => None,
        }
    }

    /// Returns the same closeness, except that a similarity of 1 becomes 0.999999 ([`Similarity::ALMOST_ONE`]), because
    /// the texts are not equal.
    #[must_use]
    pub fn below_one(self) -> Self {
        match self {
            Self::Similarity(similarity) => Self::Similarity(similarity.below_one()),
            Self::Verified(similarity, distance) => {
                Self::Verified(similarity.below_one(), distance)
            }
            Self::Distance(distance) => Self::Distance(distance),
        }
    }

    /// Returns the distance, or `None` if only a similarity was measured.
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
