//! Selects the terms and weights that count for a fingerprint.

use simtool_model::features::Features;

/// Returns the terms with a weight above 0, or all terms if they have no weights. If terms have weights, the result is
/// a copy in the buffer `words`.
pub(crate) fn weighty_terms<'t>(features: &Features<'t>, words: &'t mut Vec<u64>) -> &'t [u64] {
    let Some(weights) = features.weights else { return features.terms };
    let weighed = features.terms.iter().zip(weights).filter(|&(_, &weight)| weight > 0);
    words.clear();
    words.extend(weighed.map(|(&term, _)| term));
    words
}

/// Returns the weights of the terms, or `None` if every term counts with the weight 1.
pub(crate) fn unequal_weights<'t>(features: &Features<'t>) -> Option<&'t [u32]> {
    // Counting bits without weights is much faster, and weights of 1 give the same majority.
    features.weights.filter(|given| given.iter().any(|&weight| weight != 1))
}

/// Whether any term has a weight above 0.
pub(crate) fn is_weighty(features: &Features<'_>) -> bool {
    match features.weights {
        None => !features.terms.is_empty(),
        Some(weights) => weights.iter().any(|&weight| weight > 0),
    }
}
