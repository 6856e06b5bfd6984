//! The shape of fingerprints as text, for the metadata of files. A shape is the width of a
//! fingerprint and the way in which two of them are compared.

use super::format::MOST_BITS;
use simtool_model::fingerprint_rows::{Metric, SIZE_BITS, Shape};

/// Describes a shape as text. Examples are `bits=100`, `lanes=128x4` (number and bits of lanes),
/// `lanes-or-null=8`, `cosine=8x4` (64-bit words, and bits of a lane) and `votes=4/8`.
pub(super) fn shape_text(shape: Shape) -> String {
    match shape.metric() {
        Metric::Bits => format!("bits={}", shape.row_bits()),
        Metric::Lanes { bits, null: false } => format!("lanes={}x{bits}", shape.units()),
        Metric::Lanes { null: true, .. } => format!("lanes-or-null={}", shape.units()),
        Metric::Cosine { bits } => format!("cosine={}x{bits}", shape.words()),
        Metric::Votes { needed } => format!("votes={needed}/{}", shape.words()),
    }
}

/// Parses the text that [`shape_text`] makes. Returns `None` if no shape has this text.
pub(super) fn shape_of(text: &str) -> Option<Shape> {
    let (name, numbers) = text.split_once('=')?;
    let mut numbers = numbers.split(['x', '/']).map(|number| number.parse::<u32>().ok());
    let first = numbers.next()??;
    let second = numbers.next();
    // The constructors of shapes panic on impossible numbers, and this text comes from a file. So
    // every number is checked first.
    let is_row = |count: u32, bits: u32| {
        count.checked_mul(bits).is_some_and(|bits| (1..=MOST_BITS).contains(&bits))
    };
    match (name, second) {
        ("bits", None) => is_row(first, 1).then(|| Shape::bits(first)),
        ("lanes", Some(Some(bits))) => {
            let is_shape = bits.is_power_of_two() && bits <= u64::BITS && is_row(first, bits);
            is_shape.then(|| Shape::lanes(first, bits))
        }
        ("cosine", Some(Some(bits))) => {
            let is_shape = bits.is_power_of_two() && bits <= SIZE_BITS && is_row(first, u64::BITS);
            is_shape.then(|| Shape::cosine(first, bits))
        }
        ("lanes-or-null", None) => is_row(first, u64::BITS).then(|| Shape::lanes_or_null(first)),
        ("votes", Some(Some(count))) => {
            let is_shape = is_row(count, u64::BITS) && (1..=count).contains(&first);
            is_shape.then(|| Shape::votes(count, first))
        }
        _ => None,
    }
}
