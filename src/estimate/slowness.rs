//! How much slower a machine is than the one that the constants of a cost were measured on.

use simtool_base::stable_hash::mix;
use std::time::{Duration, Instant};

/// Pieces of work of which the fastest counts, and steps of each.
const PIECES: u64 = 8;
const STEPS: u64 = 1 << 15;

/// Cells of a table beyond the nearer caches, and of one within them; and the nanoseconds of a step in
/// each on the machine of the constants.
const FAR_CELLS: usize = 1 << 22;
const NEAR_CELLS: usize = 1 << 12;
const FAR_NANOSECONDS: f64 = 2.0;
const NEAR_NANOSECONDS: f64 = 0.8;

/// How many times as long work takes here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slowness {
    /// Such as a join's, which counts in cells all over a table.
    pub(super) of_joins: f64,
    /// Any other.
    pub(super) of_others: f64,
}

impl Slowness {
    /// How slow the machine is at this moment.
    pub(super) fn measured() -> Self {
        let of_joins = step_nanoseconds::<FAR_CELLS>() / FAR_NANOSECONDS;
        let of_others = step_nanoseconds::<NEAR_CELLS>() / NEAR_NANOSECONDS;
        let [of_joins, of_others] = [of_joins, of_others].map(|times| times.clamp(0.3, 10.0));
        Self { of_joins, of_others }
    }

    /// The lesser of each: what others do on the machine for a moment, such as filling its caches, is
    /// not what it is like.
    pub(super) fn or_less(self, other: Self) -> Self {
        Self {
            of_joins: self.of_joins.min(other.of_joins),
            of_others: self.of_others.min(other.of_others),
        }
    }
}

/// Nanoseconds of a step that counts in a cell of a table.
fn step_nanoseconds<const CELLS: usize>() -> f64 {
    let mut cells = vec![1_u8; CELLS];
    let piece = |piece: u64| {
        let begun = Instant::now();
        for step in piece * STEPS..(piece + 1) * STEPS {
            let cell = &mut cells[mix(step) as usize % CELLS];
            *cell = cell.wrapping_add(1);
        }
        begun.elapsed()
    };
    let fastest = (0..PIECES).map(piece).min().unwrap_or(Duration::ZERO);
    std::hint::black_box(&cells);
    fastest.as_secs_f64() * 1e9 / STEPS as f64
}
