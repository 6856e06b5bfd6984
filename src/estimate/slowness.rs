//! The speed of this machine, relative to the machine on which the constants of the cost model were
//! measured.

use simtool_base::stable_hash::mix;
use std::time::{Duration, Instant};

/// Number of timed pieces of work. Only the fastest piece counts.
const PIECES: u64 = 8;
/// Steps of each piece.
const STEPS: u64 = 1 << 15;

/// Cells of a table that is too large for the nearer caches.
const FAR_CELLS: usize = 1 << 22;
/// Cells of a table that fits in the nearer caches.
const NEAR_CELLS: usize = 1 << 12;
/// Nanoseconds of a step in the far table, on the machine of the constants.
const FAR_NANOSECONDS: f64 = 2.0;
/// Nanoseconds of a step in the near table, on the machine of the constants.
const NEAR_NANOSECONDS: f64 = 0.8;

/// Factors by which work takes longer on this machine than on the machine of the constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slowness {
    /// Factor for joins, which access cells all over a large table.
    pub(super) joins: f64,
    /// Factor for all other work.
    pub(super) others: f64,
}

impl Slowness {
    /// Measures the machine at this moment.
    pub(super) fn measured() -> Self {
        let joins = step_nanoseconds::<FAR_CELLS>() / FAR_NANOSECONDS;
        let others = step_nanoseconds::<NEAR_CELLS>() / NEAR_NANOSECONDS;
        // A measurement can be far off when another program interrupts it. Bounds keep the estimate
        // plausible.
        let [joins, others] = [joins, others].map(|times| times.clamp(0.3, 10.0));
        Self { joins, others }
    }

    /// Returns the smaller one of each factor. Other programs may slow the machine for a moment, for
    /// example by filling its caches, but this says nothing about the machine itself.
    pub(super) fn min(self, other: Self) -> Self {
        Self { joins: self.joins.min(other.joins), others: self.others.min(other.others) }
    }
}

/// Measures the nanoseconds of a step that increments a pseudo-random cell of a table.
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
    // Without a use of the cells, the compiler could remove the whole loop.
    std::hint::black_box(&cells);
    fastest.as_secs_f64() * 1e9 / STEPS as f64
}
