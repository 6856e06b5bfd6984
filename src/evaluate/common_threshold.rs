//! The best threshold of a method for several collections together.

use simtool_model::evaluation::{Common, Curve};

/// Finds the threshold of a method with the greatest mean F1 over several collections. `curves` has one curve
/// for each collection, with the counts at every threshold. All curves must have the same scale.
///
/// This mean F1 is too good, because the threshold was chosen on the same collections. So the result has a
/// second mean F1. For the second mean, each collection is measured at the threshold that is best for the
/// other collections.
#[must_use]
pub fn common_threshold(curves: &[&Curve]) -> Common {
    let steps = curves.iter().map(|curve| curve.counts.len()).min().unwrap_or(0);
    let f1: Vec<Vec<f64>> = curves
        .iter()
        .map(|curve| curve.counts[..steps].iter().map(|counts| counts.f1()).collect())
        .collect();
    // Floats are added in the order of the collections, so the sum is the same on every machine.
    let mean = |step: usize, without: usize| {
        let of_others = f1.iter().enumerate().filter(|&(at, _)| at != without);
        let (sum, count) =
            of_others.fold((0.0, 0), |(sum, count), (_, f1)| (sum + f1[step], count + 1));
        sum / f64::from(count.max(1))
    };
    let best = |without: usize| {
        let better = |best: (usize, f64), step: usize| {
            let mean = mean(step, without);
            // Among equal means, this keeps the strictest threshold.
            if mean > best.1 { (step, mean) } else { best }
        };
        (0..steps).fold((0, 0.0), better)
    };
    // `usize::MAX` is the number of no collection, so this call leaves out none.
    let (step, mean_f1) = best(usize::MAX);
    let left_out = (curves.len() > 1).then(|| {
        let sum: f64 = (0..curves.len()).map(|at| f1[at].get(best(at).0).unwrap_or(&0.0)).sum();
        sum / curves.len() as f64
    });
    Common { step, mean_f1, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::evaluation::{Counts, Scale};

    fn curve(counts: [(u64, u64); 3]) -> Curve {
        let counts = counts.map(|(true_found, false_found)| Counts {
            true_found,
            false_found,
            positives: 4,
        });
        Curve { scale: Scale::Distance, counts: counts.to_vec() }
    }

    #[test]
    fn the_common_threshold_has_the_greatest_mean_and_is_chosen_without_each_collection_too() {
        // F1: 0.4, 1, 0.5 and 0.4, 2/3, 1.
        let (a, b) = (curve([(1, 0), (4, 0), (4, 8)]), curve([(1, 0), (2, 0), (4, 0)]));
        let common = common_threshold(&[&a, &b]);
        assert_eq!((common.step, common.mean_f1), (1, f64::midpoint(1.0, 2.0 / 3.0)));
        // At the best step of b, the F1 of a is 0.5. At the best step of a, the F1 of b is 2/3.
        assert_eq!(common.left_out, Some(f64::midpoint(0.5, 2.0 / 3.0)));
        let alone = common_threshold(&[&a]);
        assert_eq!((alone.step, alone.mean_f1, alone.left_out), (1, 1.0, None));
        // Among thresholds with equal means, the strictest is chosen.
        let flat = curve([(2, 0), (2, 0), (2, 0)]);
        assert_eq!(common_threshold(&[&flat, &flat]).step, 0);
    }
}
