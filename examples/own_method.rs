//! Finds near-duplicates by a fingerprint of one's own.
//!
//! `cargo run --example own_method`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use simtool::method::Terms;
use simtool::options::Options;
use simtool::stages::features::Features;
use simtool::stages::fingerprint::{Scratch, Sketch, Sketcher};
use simtool::stages::fingerprint_rows::Shape;
use simtool::stages::kernels::Isa;
use simtool::{Config, Method, Texts, deduplicate};
use std::sync::Arc;

/// Bits of a fingerprint.
const BITS: u32 = 256;

/// A fingerprint with one bit for each term: the bit at the term's hash.
///
/// Two fingerprints differ in at most as many bits as the documents differ in terms.
#[derive(Debug)]
struct TermBits;

impl Sketch for TermBits {
    fn shape(&self) -> Shape {
        Shape::bits(BITS)
    }

    /// Fingerprints of different recipes are never compared: change the number when the bits change.
    fn recipe(&self) -> String {
        format!("term-bits1-{BITS}")
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn distance_of_strangers(&self) -> u32 {
        BITS / 2
    }

    fn meaning(&self, distance: u32, features: &str) -> String {
        format!("Documents at distance {distance} differ in at least {distance} {features}.")
    }

    fn sketcher(&self, _isa: Isa) -> Box<dyn Sketcher> {
        Box::new(TermBits)
    }
}

impl Sketcher for TermBits {
    fn make(&self, features: &Features<'_>, row: &mut [u64], _scratch: &mut Scratch) -> bool {
        row.fill(0);
        for term in features.terms {
            // Terms are well-mixed hashes, so their lowest bits are as good as any.
            let bit = term % u64::from(BITS);
            row[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        !features.terms.is_empty()
    }
}

fn main() -> simtool::Result<()> {
    let texts = [
        "The quick brown fox jumps over the lazy dog near the old river bank today",
        "Something else entirely was written here by somebody who likes long words",
        "The quick brown fox jumps over the lazy dog near the new river bank today",
    ];

    let terms: Terms = "words:2".parse()?;
    let mut options = Options::parse("max_distance=6")?;
    let method = Method::from_sketch("term-bits", terms, Arc::new(TermBits), &mut options)?;
    let found = deduplicate(&Texts::of(&texts), &Config { method, ..Config::default() })?;

    for removal in &found.removals {
        println!("text {} repeats text {}: {:?}", removal.row, removal.kept, removal.closeness);
    }
    assert_eq!(found.kept().collect::<Vec<_>>(), [0, 1]);
    Ok(())
}

#[test]
fn example_runs() {
    main().unwrap();
}
