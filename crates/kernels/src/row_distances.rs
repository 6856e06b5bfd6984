//! Computes the distances of one row to many rows, in every metric.
//!
//! The loops are plain, one for each metric. Each is compiled for each level, and the compiler makes
//! vectors of it.

use super::Isa;
use super::vector::{Kernel, Level};
use simtool_model::fingerprint_rows::{Metric, Shape, differing_lanes, is_null};

/// Number of rows whose distances [`votes`] sorts at the same time. The distance of each row is one
/// byte of a vector.
const ROWS: usize = 64;

/// Writes the distance of `query` to each row into `distances`, which has one element for each row.
/// `rows` has the words of all rows, one row after the other.
///
/// ```
/// use simtool_model::fingerprint_rows::Shape;
/// use simtool_kernels::{Isa, row_distances::row_distances};
///
/// let mut distances = [0; 2];
/// row_distances(Shape::bits(64), &[0b0111], &[0b0110, 0b1000], Isa::detected(), &mut distances);
/// assert_eq!(distances, [1, 4]);
/// ```
///
/// # Complexity
///
/// O(n · w) for n rows of w words. For the metric `Votes { needed }`, O(n · w · needed), but for 64 rows at a time.
pub fn row_distances(shape: Shape, query: &[u64], rows: &[u64], isa: Isa, distances: &mut [u32]) {
    debug_assert_eq!(rows.len(), distances.len() * shape.words());
    isa.run(RowDistances { shape, query, rows }, distances);
}

struct RowDistances<'a> {
    shape: Shape,
    query: &'a [u64],
    rows: &'a [u64],
}

impl Kernel<&mut [u32]> for RowDistances<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L, distances: &mut [u32]) {
        write_distances(self.shape, self.query, self.rows, distances);
    }
}

#[inline(always)]
fn write_distances(shape: Shape, query: &[u64], rows: &[u64], distances: &mut [u32]) {
    match shape.metric() {
        Metric::Bits => words(query, rows, distances, |a, b| (a ^ b).count_ones()),
        Metric::Lanes { bits: 64, null: true } => {
            words(query, rows, distances, |a, b| u32::from(a != b || is_null(a)));
        }
        Metric::Lanes { bits: 64, .. } => {
            words(query, rows, distances, |a, b| u32::from(a != b));
        }
        Metric::Lanes { bits: 32, .. } => lanes::<u32>(query, rows, distances),
        Metric::Lanes { bits: 16, .. } => lanes::<u16>(query, rows, distances),
        Metric::Lanes { bits: 8, .. } => lanes::<u8>(query, rows, distances),
        // A width that the compiler knows lets it unroll the steps that fold a lane into one bit.
        Metric::Lanes { bits: 4, .. } => {
            words(query, rows, distances, |a, b| differing_lanes(a ^ b, 4).count_ones());
        }
        Metric::Lanes { bits: 2, .. } => {
            words(query, rows, distances, |a, b| differing_lanes(a ^ b, 2).count_ones());
        }
        Metric::Lanes { bits, .. } => {
            words(query, rows, distances, |a, b| differing_lanes(a ^ b, bits).count_ones());
        }
        Metric::Cosine { .. } => {
            for (row, distance) in rows.chunks_exact(query.len()).zip(distances) {
                *distance = shape.distance(query, row);
            }
        }
        Metric::Votes { needed } => votes(query, rows, needed as usize, distances),
    }
}

/// Writes for each row the sum of `of(query_word, row_word)` over its words. If rows have 1, 2, 4, 8 or 16 words, the
/// compiler knows the number of words, so that it unrolls the inner loop.
#[inline(always)]
fn words(query: &[u64], rows: &[u64], distances: &mut [u32], of: impl Fn(u64, u64) -> u32 + Copy) {
    match query.len() {
        1 => known_words::<1>(query, rows, distances, of),
        2 => known_words::<2>(query, rows, distances, of),
        4 => known_words::<4>(query, rows, distances, of),
        8 => known_words::<8>(query, rows, distances, of),
        16 => known_words::<16>(query, rows, distances, of),
        length => {
            for (row, distance) in rows.chunks_exact(length).zip(distances) {
                *distance = query.iter().zip(row).map(|(&a, &b)| of(a, b)).sum();
            }
        }
    }
}

/// Writes for each row the sum of `of(query_word, row_word)` over its words. Query and rows have `W` words.
#[inline(always)]
fn known_words<const W: usize>(
    query: &[u64],
    rows: &[u64],
    distances: &mut [u32],
    of: impl Fn(u64, u64) -> u32,
) {
    let Some(query) = query.first_chunk::<W>() else { return };
    let (rows, _) = rows.as_chunks::<W>();
    for (row, distance) in rows.iter().zip(distances) {
        let mut sum = 0;
        for at in 0..W {
            sum += of(query[at], row[at]);
        }
        *distance = sum;
    }
}

/// Writes to `distances` for each row the number of lanes in which it differs from `query`. `L` is the type of a lane,
/// for example `u16` for lanes of 16 bits.
#[inline(always)]
fn lanes<L: bytemuck::Pod + PartialEq>(query: &[u64], rows: &[u64], distances: &mut [u32]) {
    let lanes: &[L] = bytemuck::cast_slice(query);
    for (row, distance) in rows.chunks_exact(query.len()).zip(distances) {
        let row: &[L] = bytemuck::cast_slice(row);
        *distance = lanes.iter().zip(row).map(|(a, b)| u32::from(a != b)).sum();
    }
}

/// Writes for each row the `needed`-th smallest of the Hamming distances between its words and the
/// words of `query`.
///
/// The distances of 64 rows are put into columns: `bits[word][row]`. Then a bubble sort of the columns
/// runs until the `needed` smallest have risen to the front. Each comparison of two columns is one
/// minimum and one maximum of 64 bytes, without a branch:
///
/// ```text
/// word 0   3 9 1        word 0   2 4 1   smallest of each row
/// word 1   2 4 7   →    word 1   3 5 6   second smallest
/// word 2   5 5 6        word 2   5 9 7
/// ```
#[inline(always)]
fn votes(query: &[u64], rows: &[u64], needed: usize, distances: &mut [u32]) {
    let count = query.len();
    let mut bits = vec![[0_u8; ROWS]; count];
    for (rows, distances) in rows.chunks(ROWS * count).zip(distances.chunks_mut(ROWS)) {
        for (at, row) in rows.chunks_exact(count).enumerate() {
            for ((lane, a), b) in bits.iter_mut().zip(query).zip(row) {
                lane[at] = (a ^ b).count_ones() as u8;
            }
        }
        // Round `smallest` moves the smallest values of this and all later columns to column `smallest`.
        for smallest in 0..needed {
            for lane in (smallest + 1..count).rev() {
                let (before, behind) = bits.split_at_mut(lane);
                let (Some(low), Some(high)) = (before.last_mut(), behind.first_mut()) else {
                    continue;
                };
                for (low, high) in low.iter_mut().zip(high) {
                    let larger = (*low).max(*high);
                    *low = (*low).min(*high);
                    *high = larger;
                }
            }
        }
        for (distance, &bits) in distances.iter_mut().zip(&bits[needed - 1]) {
            *distance = u32::from(bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::{GAMMA, mix};

    #[test]
    fn every_level_finds_the_distances_of_the_shape() {
        let shapes = [1, 2, 3, 4, 7, 8, 16, 64].map(|words| Shape::bits(64 * words));
        let lanes = [(128, 1), (64, 2), (124, 4), (7, 8), (9, 16), (128, 32), (5, 64)];
        let lanes = lanes.map(|(count, bits)| Shape::lanes(count, bits));
        let votes = [(8, 4), (8, 1), (8, 8), (1, 1), (3, 2)];
        let votes = votes.map(|(count, needed)| Shape::votes(count, needed));
        let shapes = shapes.into_iter().chain(lanes).chain(votes).chain([Shape::lanes_or_null(31)]);
        for shape in shapes {
            let words = shape.words();
            // Some lanes are equal, and some have only their highest bit.
            let word = |at: usize| {
                let number = mix(GAMMA.wrapping_mul(at as u64 + 1));
                if number.is_multiple_of(3) { 0x8000_0000_0101_0000 } else { number }
            };
            for count in [0, 1, 63, 64, 65, 130] {
                let rows: Vec<u64> = (0..(count + 1) * words).map(word).collect();
                let (query, rows) = rows.split_at(words);
                let expected: Vec<u32> =
                    rows.chunks(words).map(|row| shape.distance(query, row)).collect();
                for &isa in Isa::available() {
                    let mut distances = vec![u32::MAX; count];
                    row_distances(shape, query, rows, isa, &mut distances);
                    assert_eq!(distances, expected, "{shape}, {count} rows, {isa}");
                }
            }
        }
    }
}
