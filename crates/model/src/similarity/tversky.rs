//! The index of A. Tversky: almost containment.

use super::measure::{Formula, Measure, Ratio};

/// Tversky index: the number of shared elements, divided by the sum of nine tenths of the smaller size and one tenth of
/// the larger size. If a short text is part of a long text, the two are less similar by this measure than by
/// containment.
///
/// A. Tversky. Features of similarity. Psychological Review 84, 1977. S. Jimenez, C. Becerra and A.
/// Gelbukh made it symmetric in SOFTCARDINALITY-CORE, \*SEM 2013, here with α = 0.9 and β = 1.
pub(super) const TVERSKY: Measure = Measure {
    name: "tversky",
    described: "Tversky index",
    definition: "shared terms over nine tenths of the smaller set and a tenth of the larger",
    formula: Formula::Ratio(Ratio { times: 10, smaller: 9, larger: 1, shared_less: 0 }),
    is_estimated: false,
};
