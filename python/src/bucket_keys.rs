//! Keys of fingerprints. Close fingerprints share a key. So an engine, such as Spark, that groups fingerprints by their
//! keys puts close fingerprints into the same bucket.

use crate::errors::exception;
use crate::numbers;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use simtool::Error;
use simtool::method::Method;
use simtool::stages::fingerprint_rows::{FingerprintRows, Metric, Shape};
use simtool::stages::hamming::layout::Layout;
use simtool::stages::hamming::null_lanes::{may_be_null, shape_without_nulls};
use simtool::stages::stable_hash;
use std::collections::BTreeSet;

/// Computes the keys of fingerprints. Close fingerprints share a key, so they are put into the same bucket.
pub(crate) struct BucketKeys {
    pub(crate) distance: u32,
    pub(crate) shape: Shape,
    pub(crate) layout: Layout,
    /// Layout for buckets that are too full, whose blocks have half the size of the blocks of `layout`. The number is
    /// the count of such blocks in each part of a fingerprint. `None` if full buckets cannot be divided.
    pub(crate) halves: Option<(Layout, usize)>,
}

impl BucketKeys {
    /// Chooses the keys for a method with fingerprints. Fingerprints are close if they differ in at most `distance`. If
    /// `sample` has fingerprints, the keys are chosen so that all of them distinguish these fingerprints about equally
    /// well.
    pub(crate) fn new(
        method: &Method,
        distance: u32,
        sample: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        // Without keys the engine would have to compare every pair, so the method is refused.
        let refused = || {
            let rule = "has distances that no keys are known for: take simhash, or with minhash a `recall`";
            exception(Error::config("method", method, rule))
        };
        let mut shape = method.recipe().sketch().ok_or_else(refused)?.shape();
        let by_bands = method.recall().map(|recall| Layout::with_recall(shape, distance, recall));
        if may_be_null(shape) {
            shape = shape_without_nulls(shape);
        }
        // No keys find all pairs by cosine. Only bands for a `recall` are known.
        let is_exact = !matches!(shape.metric(), Metric::Cosine { .. });
        let sample = sample.map(|given| rows(given, shape)).transpose()?;
        let (layout, halves) = match (by_bands.flatten(), sample) {
            (Some(bands), _) => (bands, None),
            (None, _) if !is_exact => return Err(refused()),
            (None, Some(sample)) => (Layout::of(&sample.words, shape, distance), None),
            (None, None) => {
                let twice = distance.checked_mul(2);
                let twice = twice.filter(|&twice| twice > 0 && twice + 1 < shape.units());
                let halves = twice
                    .map(|twice| (Layout::even(shape, twice + 1), 2 * (distance as usize + 1)));
                (Layout::even(shape, distance), halves)
            }
        };
        Ok(Self { distance, shape, layout, halves })
    }

    /// Replaces `buckets` by the numbers of the buckets of a fingerprint, in ascending order. `row` has the 64-bit
    /// words of the fingerprint. `full` has the buckets that are too full, which are replaced by smaller buckets.
    pub(crate) fn buckets_of(&self, row: &[u64], full: &BTreeSet<u32>, buckets: &mut Vec<u32>) {
        let (mut keys, mut parts) = (Vec::new(), Vec::new());
        self.layout.keys(row, &mut keys);
        buckets.clear();
        for (table, &key) in keys.iter().enumerate() {
            match &self.halves {
                Some((halves, of_part)) if full.contains(&high(key)) => {
                    halves.keys(row, &mut parts);
                    // All rows of this bucket agree in two of the halves: those that form the block
                    // itself. Rows that are near in this part of the row agree in another half of
                    // the part, too, so only the other halves separate them.
                    let is_other =
                        |half: usize| half / 2 != table && half / of_part == 2 * table / of_part;
                    let others = parts.iter().enumerate().filter(|&(half, _)| is_other(half));
                    buckets.extend(others.map(|(_, &part)| high(mixed(key, part))));
                }
                _ => buckets.push(high(key)),
            }
        }
        // A row is in a bucket only once, even if two of its keys lead there.
        buckets.sort_unstable();
        buckets.dedup();
    }

    /// Returns the lowest number of a bucket that two fingerprints share, or `None` if they share no bucket. `a` and
    /// `b` have the words of the fingerprints. `full` has the buckets that are too full, as in [`Self::buckets_of`].
    pub(crate) fn first_bucket(&self, a: &[u64], b: &[u64], full: &BTreeSet<u32>) -> Option<u32> {
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        self.buckets_of(a, full, &mut of_a);
        self.buckets_of(b, full, &mut of_b);
        of_a.into_iter().find(|bucket| of_b.contains(bucket))
    }
}

/// Returns the number of the bucket of a key: the upper 32 bits of the key. Different keys can have the same bucket.
fn high(key: u64) -> u32 {
    (key >> 32) as u32
}

/// Combines `key` with `part`, the key of a smaller block of the same fingerprint, into a new key.
fn mixed(key: u64, part: u64) -> u64 {
    stable_hash::mix(key ^ part.rotate_left(1))
}

/// Reads fingerprints from Arrow or NumPy. Returns an error if a fingerprint does not have as many 64-bit words as
/// `shape`.
pub(crate) fn rows(given: &Bound<'_, PyAny>, shape: Shape) -> PyResult<FingerprintRows<'static>> {
    let rows = numbers::fingerprints(given)?;
    if rows.shape.words() != shape.words() {
        let rule = format!("fingerprints: must be {shape}, not of {}", rows.shape);
        return Err(PyValueError::new_err(rule));
    }
    Ok(FingerprintRows { shape, ..rows })
}
