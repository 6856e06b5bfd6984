//! The limit of a method: the similarity or distance at which documents are near-duplicates.

use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_fingerprint::Sketch;
use simtool_model::similarity::{Formula, Threshold};

/// Fraction by which [`lower`] lowers a threshold: numerator and denominator. It is subtracted from the threshold.
const LOWER_BY: (u32, u32) = (1, 20);

/// Limit on the similarity or the distance of two documents. It decides whether they are near-duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The sets of terms must be at least this similar.
    Similarity(Threshold),
    /// The fingerprints must differ in at most this many positions.
    Distance(u32),
    /// The sequences of words of a document must be in other documents, in one or several. No pairs are compared.
    Coverage,
}

/// Returns `threshold` minus [`LOWER_BY`]. Returns `None` if the result is not above 0, or if the measure of similarity
/// rounds its values by the threshold.
pub(super) fn lower(threshold: Threshold) -> Option<Threshold> {
    // A cosine is rounded to a fraction whose denominator depends on the threshold.
    if threshold.measure().formula == Formula::Cosine {
        return None;
    }
    let (numerator, denominator) = threshold.fraction();
    let (by, of) = LOWER_BY;
    let numerator = numerator.checked_mul(of)?.checked_sub(denominator.checked_mul(by)?)?;
    let lower = Threshold::new(numerator, denominator.checked_mul(of)?).ok()?;
    Some(lower.of(threshold.measure()))
}

/// Returns the maximum distance of near-duplicates. It is the value of the option `max_distance`. If the
/// distances of `sketch` estimate a similarity, the option `similarity` can be given instead, and the
/// distance is computed from it. Without both options, the distance is the default of `sketch`.
pub(super) fn limit(sketch: &dyn Sketch, options: &mut Options) -> Result<u32> {
    let distance = options.take_parsed("max_distance", "must be a whole number")?;
    // Not every sketch estimates a similarity. Without an estimate, the option is left in `options`, and the caller
    // rejects it.
    let similar = sketch.distance_at(Threshold::DEFAULT).and_then(|_| options.take("similarity"));
    let limit = match (distance, similar) {
        (Some(_), Some(text)) => {
            let rule = "cannot be combined with `max_distance`, because both set the limit";
            return Err(Error::config("similarity", text, rule));
        }
        (Some(distance), None) => distance,
        (None, None) => sketch.default_distance(),
        (None, Some(text)) => {
            let similarity = Threshold::parse("similarity", &text)?;
            sketch.distance_at(similarity).unwrap_or(sketch.default_distance())
        }
    };
    let end = sketch.distance_of_strangers();
    if limit >= end {
        let rule = format!(
            "would match unrelated documents, whose distance is about {end}; use a smaller value"
        );
        return Err(Error::config("max_distance", limit, rule));
    }
    Ok(limit)
}
