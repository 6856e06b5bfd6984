//! Fingerprints with other hash functions, to measure how much a result depends on them.

use super::sketch::{Scratch, Sketch, Sketcher};
use simtool_base::stable_hash::{mix, row_word};
use simtool_kernels::Isa;
use simtool_model::features::Features;
use simtool_model::fingerprint_rows::Shape;
use simtool_model::similarity::Threshold;
use std::mem::take;
use std::sync::Arc;

/// A kind of fingerprint whose hash functions depend on a seed. Each term is replaced by a hash of the term and the
/// seed. Different terms stay different, so only the random choices of the fingerprint change.
#[derive(Clone, Debug)]
pub struct Seeded {
    sketch: Arc<dyn Sketch>,
    seed: u64,
}

impl Seeded {
    /// Creates a variant of `sketch` whose hash functions depend on `seed`. Every seed gives other hash functions than
    /// the sketch alone.
    #[must_use]
    pub fn new(sketch: Arc<dyn Sketch>, seed: u64) -> Self {
        Self { sketch, seed }
    }
}

impl Sketch for Seeded {
    fn shape(&self) -> Shape {
        self.sketch.shape()
    }

    fn recipe(&self) -> String {
        format!("{}-seed{}", self.sketch.recipe(), self.seed)
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.sketch.parameters()
    }

    fn distance_of_strangers(&self) -> u32 {
        self.sketch.distance_of_strangers()
    }

    fn default_distance(&self) -> u32 {
        self.sketch.default_distance()
    }

    fn distance_at(&self, similarity: Threshold) -> Option<u32> {
        self.sketch.distance_at(similarity)
    }

    fn meaning(&self, distance: u32, features: &str) -> String {
        self.sketch.meaning(distance, features)
    }

    fn sketcher(&self, isa: Isa) -> Box<dyn Sketcher> {
        // Seeds that are small numbers must not give similar hashes.
        let key = row_word(self.seed, 1);
        Box::new(SeededSketcher { sketcher: self.sketch.sketcher(isa), key })
    }
}

/// Computes the fingerprints of [`Seeded`]: hashes each term with the seed, and passes the hashes to the sketcher of
/// the original sketch.
struct SeededSketcher {
    sketcher: Box<dyn Sketcher>,
    key: u64,
}

impl Sketcher for SeededSketcher {
    fn make(&self, features: &Features<'_>, row: &mut [u64], scratch: &mut Scratch) -> bool {
        // The other sketcher uses the rest of the buffers, so the terms are taken out of them.
        let mut terms = take(&mut scratch.seeded);
        terms.clear();
        terms.extend(features.terms.iter().map(|term| mix(term ^ self.key)));
        let made = self.sketcher.make(&Features { terms: &terms, ..*features }, row, scratch);
        scratch.seeded = terms;
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SKETCHES, rose};
    use simtool_base::options::Options;

    /// Returns the fingerprint that `sketch` makes from shingles, whose hashes are `terms`.
    fn row(sketch: &dyn Sketch, terms: &[u64]) -> Option<Vec<u64>> {
        let mut row = vec![0; sketch.shape().words()];
        let features = Features::occurrences(terms);
        let sketcher = sketch.sketcher(Isa::detected());
        sketcher.make(&features, &mut row, &mut Scratch::default()).then_some(row)
    }

    #[test]
    fn seeds_change_fingerprints_and_nothing_else() {
        for kind in SKETCHES {
            let sketch = (kind.parse)(&mut Options::new()).unwrap();
            let seeded = |seed: u64| Seeded::new(Arc::clone(&sketch), seed);
            let terms = [rose::shingles(), rose::tokens()].concat();
            let rows = [0, 1, 2].map(|seed| row(&seeded(seed), &terms));
            assert!(rows[0].is_some(), "{}", kind.name);
            assert_eq!(row(&seeded(1), &terms), rows[1], "{}", kind.name);
            assert_ne!(rows[0], rows[1], "{}", kind.name);
            assert_ne!(rows[1], rows[2], "{}", kind.name);
            assert_ne!(rows[0], row(&*sketch, &terms), "{}", kind.name);
            assert_eq!(seeded(3).shape(), sketch.shape());
            assert_eq!(seeded(3).parameters(), sketch.parameters());
            assert_eq!(seeded(3).recipe(), format!("{}-seed3", sketch.recipe()));
        }
    }

    /// The fingerprint by a seed is the fingerprint of the hashed terms.
    #[test]
    fn terms_are_hashed_with_the_seed() {
        let sketch = (SKETCHES[0].parse)(&mut Options::new()).unwrap();
        let terms = rose::shingles();
        let key = row_word(7, 1);
        let hashed: Vec<u64> = terms.iter().map(|term| mix(term ^ key)).collect();
        assert_eq!(row(&Seeded::new(Arc::clone(&sketch), 7), &terms), row(&*sketch, &hashed));
    }
}
