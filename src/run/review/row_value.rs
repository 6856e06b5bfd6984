//! Values of rows as whole numbers, by which the index filters and sorts them.

/// Value of the similarity 1. Similarities are counted in millionths.
const PARTS: u32 = 1_000_000;
/// Value of a row whose similarity, distance or lost words are not known.
pub(super) const UNKNOWN: u32 = u32::MAX;
/// Width of a band of similarities in millionths, which is 0.05.
const BAND: u32 = 50_000;

/// Width of a step of similarities in millionths, which is 0.01.
const STEP: u32 = 10_000;

/// Returns the whole number that is nearest to `number`: 0 for negative numbers.
#[expect(
    clippy::cast_sign_loss,
    reason = "a cast of a negative number is 0, which is the nearest one"
)]
fn whole(number: f64) -> u32 {
    number.round() as u32
}

/// Returns a similarity as a whole number of millionths. Only a similarity of exactly 1 becomes a million.
pub(super) fn similarity_value(similarity: f64) -> u32 {
    // Only rounding could make a similarity below 1 a million.
    let value = whole(similarity.clamp(0.0, 1.0) * f64::from(PARTS));
    if similarity < 1.0 { value.min(PARTS - 1) } else { value }
}

/// Returns a similarity in millionths, or else a distance, or else [`UNKNOWN`].
pub(super) fn closeness_value(similarity: Option<f64>, distance: Option<u64>) -> u32 {
    match (similarity, distance) {
        (Some(similarity), _) => similarity_value(similarity),
        (None, Some(distance)) => u32::try_from(distance).unwrap_or(UNKNOWN),
        (None, None) => UNKNOWN,
    }
}

/// Returns the number of words that a removal loses, as the index stores it. `None` becomes [`UNKNOWN`]. A number that
/// does not fit in 32 bits becomes the largest one below [`UNKNOWN`].
pub(super) fn lost_value(lost: Option<u64>) -> u32 {
    lost.map_or(UNKNOWN, |lost| u32::try_from(lost).unwrap_or(UNKNOWN - 1))
}

/// Scale of the values of rows, which are similarities in millionths, distances, or numbers of documents with a
/// passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Similarity,
    Distance,
    /// Numbers of documents.
    Count,
}

impl Scale {
    /// Returns the first value of the band that has the value `closeness`. Rows of one band are counted together. A
    /// band of similarities is 0.05 wide. The similarity 1, each distance and [`UNKNOWN`] are bands of their own. Bands
    /// of counts begin at powers of two.
    pub(super) fn band(self, closeness: u32) -> u32 {
        match self {
            Self::Similarity if closeness != UNKNOWN => closeness / BAND * BAND,
            Self::Count if closeness != UNKNOWN => {
                closeness.checked_ilog2().map_or(0, |power| 1 << power)
            }
            _ => closeness,
        }
    }

    /// Returns the value `closeness`, with similarities rounded down to two digits: 870,000 for 0.876. So there are few
    /// different values to count.
    pub(super) fn step(self, closeness: u32) -> u32 {
        match self {
            Self::Similarity if closeness != UNKNOWN => closeness / STEP * STEP,
            Self::Count => self.band(closeness),
            Self::Distance | Self::Similarity => closeness,
        }
    }

    /// Returns the first value above the band that begins at `band`.
    pub(super) fn band_end(self, band: u32) -> u32 {
        match self {
            Self::Similarity if band < PARTS => band + BAND,
            Self::Count if band != UNKNOWN => band.saturating_mul(2).max(1),
            _ => band.saturating_add(1),
        }
    }

    /// Returns the value as a number for people, for example the similarity 0.87 for 870,000. `None` for [`UNKNOWN`].
    pub(super) fn shown(self, closeness: u32) -> Option<f64> {
        match self {
            _ if closeness == UNKNOWN => None,
            Self::Similarity => Some(f64::from(closeness) / f64::from(PARTS)),
            Self::Distance | Self::Count => Some(closeness.into()),
        }
    }

    /// Returns the value for a similarity, distance or count that a person wrote, for example 870,000 for 0.87.
    pub(super) fn value(self, shown: f64) -> u32 {
        match self {
            Self::Similarity => similarity_value(shown),
            Self::Distance | Self::Count => whole(shown),
        }
    }
}
