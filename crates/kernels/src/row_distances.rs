//! The distances of one row to many, whatever they count.

use super::Isa;
use simtool_model::fingerprint_rows::{Metric, Shape, differing_lanes, is_null};

/// Rows that are compared at a time where lanes are sorted, a byte of a vector each.
const ROWS: usize = 64;

/// Puts the distance of `query` to each row of `rows` into `distances`, which has a place for each.
///
/// # Complexity
///
/// O(n · w) for n rows of w words; votes take O(n · count · needed) besides, 64 rows at a time.
pub fn row_distances(shape: Shape, query: &[u64], rows: &[u64], isa: Isa, distances: &mut [u32]) {
    debug_assert_eq!(rows.len(), distances.len() * shape.words());
    #[cfg(target_arch = "x86_64")]
    match isa.runnable() {
        Isa::Avx512 => {
            // SAFETY: `runnable` says that this processor has the instructions.
            return unsafe { x86::avx512(shape, query, rows, distances) };
        }
        Isa::Avx2 => {
            // SAFETY: as above.
            return unsafe { x86::avx2(shape, query, rows, distances) };
        }
        Isa::Portable => {}
    }
    let _ = isa;
    portable(shape, query, rows, distances);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Shape, portable};

    /// The plain loops, compiled for AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) fn avx512(shape: Shape, query: &[u64], rows: &[u64], distances: &mut [u32]) {
        portable(shape, query, rows, distances);
    }

    /// The plain loops, compiled for AVX2.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn avx2(shape: Shape, query: &[u64], rows: &[u64], distances: &mut [u32]) {
        portable(shape, query, rows, distances);
    }
}

#[inline(always)]
fn portable(shape: Shape, query: &[u64], rows: &[u64], distances: &mut [u32]) {
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
        // The steps that fold a lane into one bit are known where they are compiled.
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

/// Sums over words; common lengths are known where the loop is compiled.
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

#[inline(always)]
fn known_words<const W: usize>(
    query: &[u64],
    rows: &[u64],
    distances: &mut [u32],
    of: impl Fn(u64, u64) -> u32,
) {
    let (Some(query), (rows, _)) = (query.first_chunk::<W>(), rows.as_chunks::<W>()) else {
        return;
    };
    for (row, distance) in rows.iter().zip(distances) {
        let mut sum = 0;
        for at in 0..W {
            sum += of(query[at], row[at]);
        }
        *distance = sum;
    }
}

/// Lanes that are whole numbers of the machine.
#[inline(always)]
fn lanes<L: bytemuck::Pod + PartialEq>(query: &[u64], rows: &[u64], distances: &mut [u32]) {
    let lanes: &[L] = bytemuck::cast_slice(query);
    for (row, distance) in rows.chunks_exact(query.len()).zip(distances) {
        let row: &[L] = bytemuck::cast_slice(row);
        *distance = lanes.iter().zip(row).map(|(a, b)| u32::from(a != b)).sum();
    }
}

/// The `needed`-th smallest of the words' distances: bubbles them up, for 64 rows at once.
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
        for smallest in 0..needed {
            for lane in (smallest + 1..count).rev() {
                let (before, behind) = bits.split_at_mut(lane);
                let (Some(low), Some(high)) = (before.last_mut(), behind.first_mut()) else {
                    continue;
                };
                for (low, high) in low.iter_mut().zip(high) {
                    (*low, *high) = ((*low).min(*high), (*low).max(*high));
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
    fn every_path_finds_the_distances_of_the_shape() {
        let shapes = [1, 2, 3, 4, 7, 8, 16, 64].map(|words| Shape::bits(64 * words));
        let lanes = [(128, 1), (64, 2), (124, 4), (7, 8), (9, 16), (128, 32), (5, 64)];
        let lanes = lanes.map(|(count, bits)| Shape::lanes(count, bits));
        let votes = [(8, 4), (8, 1), (8, 8), (1, 1), (3, 2)];
        let votes = votes.map(|(count, needed)| Shape::votes(count, needed));
        let shapes = shapes.into_iter().chain(lanes).chain(votes).chain([Shape::lanes_or_null(31)]);
        for shape in shapes {
            let words = shape.words();
            // Some lanes are alike, and some have their highest bit alone.
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
