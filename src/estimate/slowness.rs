//! The speed of this machine, relative to the machine on which the constants of the cost model were
//! measured.

use simtool_base::stable_hash::mix;
use std::time::{Duration, Instant};

/// Number of pieces of work that are timed. Only the fastest piece counts, because other programs may
/// slow down some pieces.
const PIECES: u64 = 8;
/// Number of steps in each piece of work. A step increments one cell of a table.
const STEPS: u64 = 1 << 15;

/// Number of one-byte cells in the far table, which is too large for the caches near the core.
const FAR_CELLS: usize = 1 << 22;
/// Number of one-byte cells in the near table, which fits in the caches near the core.
const NEAR_CELLS: usize = 1 << 12;
/// Nanoseconds of a step that increments a pseudo-random cell of the far table, which has [`FAR_CELLS`] cells. They
/// were measured on the machine on which the constants of the cost model were measured.
const FAR_NANOSECONDS: f64 = 2.0;
/// Nanoseconds of a step that increments a pseudo-random cell of the near table, which has [`NEAR_CELLS`] cells. They
/// were measured on the machine on which the constants of the cost model were measured.
const NEAR_NANOSECONDS: f64 = 0.8;

/// Maximum factor of joins, as a multiple of the factor of other work.
const MOST_TIMES: f64 = 1.3;

/// Factors by which work takes longer on this machine than on the machine on which the constants of the
/// cost model were measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slowness {
    /// Factor for joins, which access cells all over a large table.
    pub(super) joins: f64,
    /// Factor for the work outside joins that is estimated by constants, for example collecting names.
    pub(super) others: f64,
}

impl Slowness {
    /// Measures the factors of this machine at this moment.
    pub(super) fn measured() -> Self {
        let others = step_nanoseconds::<NEAR_CELLS>() / NEAR_NANOSECONDS;
        // About half of the time of a join is access to far cells. Other programs make it much slower, but only for moments.
        let joins = (step_nanoseconds::<FAR_CELLS>() / FAR_NANOSECONDS).sqrt();
        let joins = joins.min(MOST_TIMES * others);
        // A measurement can be far off when another program interrupts it. Bounds keep the estimate
        // plausible.
        let [joins, others] = [joins, others].map(|times| times.clamp(0.3, 10.0));
        Self { joins, others }
    }

    /// Returns the smaller value of each factor in `self` and `other`. Another program may slow down
    /// one of the two measurements, for example by filling the caches. The smaller value describes the
    /// machine itself better.
    pub(super) fn min(self, other: Self) -> Self {
        Self { joins: self.joins.min(other.joins), others: self.others.min(other.others) }
    }
}

/// Measures the nanoseconds of a step. A step increments a pseudo-random cell of a table of `CELLS`
/// cells.
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
    // If the cells were never used, the compiler could remove the whole loop.
    std::hint::black_box(&cells);
    fastest.as_secs_f64() * 1e9 / STEPS as f64
}
