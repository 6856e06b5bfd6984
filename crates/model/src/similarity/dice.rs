//! The coefficient of L. R. Dice.

use super::measure::{Formula, Measure, Ratio};

/// Dice coefficient: twice the number of shared elements, divided by the sum of both sizes.
///
/// L. R. Dice. Measures of the amount of ecologic association between species. Ecology 26(3), 1945.
pub(super) const DICE: Measure = Measure {
    name: "dice",
    described: "Dice coefficient",
    definition: "twice the shared terms over the sum of both sizes",
    formula: Formula::Ratio(Ratio { times: 2, smaller: 1, larger: 1, shared_less: 0 }),
    is_estimated: false,
};
