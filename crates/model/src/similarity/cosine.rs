//! The cosine of the angle between two sets as vectors.

use super::measure::{Formula, Measure};

/// Cosine similarity: the number of shared elements, divided by the geometric mean of both sizes.
pub const COSINE: Measure = Measure {
    name: "cosine",
    described: "cosine",
    definition: "shared terms over the geometric mean of both sizes",
    formula: Formula::Cosine,
    is_estimated: true,
};
