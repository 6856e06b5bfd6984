//! The similarity of P. Jaccard.

use super::measure::{Formula, Measure, Ratio};

/// Jaccard similarity: the number of shared elements, divided by the number of elements that are in
/// either set.
///
/// P. Jaccard. Étude comparative de la distribution florale. Bulletin de la Société Vaudoise des
/// Sciences Naturelles 37, 1901.
pub const JACCARD: Measure = Measure {
    name: "jaccard",
    described: "Jaccard similarity",
    definition: "shared terms over the terms in either set",
    formula: Formula::Ratio(Ratio { times: 1, smaller: 1, larger: 1, shared_less: 1 }),
    is_estimated: true,
};
