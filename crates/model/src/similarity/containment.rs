//! Containment: the fraction of the smaller set that is in the larger one.

use super::measure::{Formula, Measure, Ratio};

/// Containment: the number of shared elements, divided by the size of the smaller set.
pub(super) const CONTAINMENT: Measure = Measure {
    name: "containment",
    described: "containment",
    definition: "shared terms over the terms of the smaller set",
    formula: Formula::Ratio(Ratio { times: 1, smaller: 1, larger: 0, shared_less: 0 }),
    is_estimated: false,
};
