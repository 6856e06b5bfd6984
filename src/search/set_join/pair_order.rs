//! Pairs of rows, put in ascending order.

use super::threads::Threads;
use crate::close::ClosePair;
use crate::error::Result;
use crate::kernels::partition::counts_to_starts;
use crate::large_buffer::filled;

/// What the memory is for.
pub(super) const PAIRS: &str = "the pairs of documents";

/// A pair of documents that may be alike: a smaller and a larger row.
pub(super) type Candidate = [u32; 2];

/// Two rows, of which the first is the smaller, or of the first side.
pub(super) trait RowPair: Copy + Send {
    fn rows(&self) -> [u32; 2];
}

impl RowPair for Candidate {
    fn rows(&self) -> [u32; 2] {
        *self
    }
}

impl RowPair for ClosePair {
    fn rows(&self) -> [u32; 2] {
        [self.a, self.b]
    }
}

/// Pieces for each thread, in which pairs are put in order.
const PIECES: usize = 16;

/// The pairs of several parts in ascending order; rows are below `end_row`.
///
/// # Errors
/// The memory cannot be had.
pub(super) fn in_order<P: RowPair>(
    parts: &[Vec<P>],
    end_row: u32,
    threads: Threads<'_>,
) -> Result<Vec<P>> {
    let all = parts.iter().map(Vec::len).sum();
    let Some(&any) = parts.iter().flatten().next() else { return Ok(Vec::new()) };
    if all < end_row as usize {
        let mut pairs = parts.concat();
        pairs.sort_unstable_by_key(P::rows);
        return Ok(pairs);
    }
    let mut pairs = filled(any, all, PAIRS)?;
    // Shared out by their first rows, of which each has many.
    let mut places = vec![0; end_row as usize];
    for pair in parts.iter().flatten() {
        places[pair.rows()[0] as usize] += 1;
    }
    counts_to_starts(&mut places, 0);
    for &pair in parts.iter().flatten() {
        let place = &mut places[pair.rows()[0] as usize];
        pairs[*place] = pair;
        *place += 1;
    }
    let (mut rest, mut pieces) = (&mut pairs[..], Vec::new());
    let least = all / (threads.count() * PIECES) + 1;
    while !rest.is_empty() {
        // Now each place is where the pairs of its row end.
        let last = rest[least.min(rest.len()) - 1].rows()[0];
        let taken = all - rest.len();
        let (piece, after) = rest.split_at_mut(places[last as usize] - taken);
        pieces.push(piece);
        rest = after;
    }
    threads.map_items(pieces, |piece| {
        for of_row in piece.chunk_by_mut(|left, right| left.rows()[0] == right.rows()[0]) {
            of_row.sort_unstable_by_key(P::rows);
        }
    });
    Ok(pairs)
}
