//! Chooses the stretches of a stratum that a sample reads.
//!
//! * Small shards: some evenly spread ones are read whole.
//! * Large shards: evenly spread stretches are read, each as far as its share of the budget allows. They
//!   begin at the first byte, or at many places of each shard if reading can begin inside. The beginning
//!   of a file says little about the rest of it.

use super::stratum::Stratum;
use simtool_read::{Corpus, Event};
use std::ops::ControlFlow;

/// Maximum number of sampled files per stratum. Opening a file takes time.
const FILE_PICKS: usize = 48;
/// Maximum number of sampled parts of plain files per stratum.
const PART_PICKS: usize = 512;
/// Maximum number of sampled small shards per stratum.
const SMALL_PICKS: usize = 1 << 14;
/// Maximum mean bytes of cheap shards that count as parts of plain files.
const PART_BYTES: f64 = 2e6;
/// Approximate number of sampled parts of a stratum, if reading can begin inside its shards.
const PARTS: f64 = 192.0;
/// Minimum bytes of such a part.
const LEAST_PART_BYTES: f64 = 256e3;
/// Strata of at most this many bytes are read from the beginning, because the whole stratum may fit
/// in the budget.
const FEW_BYTES: f64 = 8e6;

/// The place of a stretch.
#[derive(Clone, Copy)]
pub(super) struct Pick {
    /// Index of the shard in the stratum.
    pub(super) place: usize,
    /// Byte of the shard from which on the first record is searched.
    pub(super) from: u64,
    /// Byte of the shard at which the stretch ends, unless the budget ends it earlier.
    pub(super) until: u64,
    /// Bytes of the stratum that the stretch represents.
    pub(super) weight: f64,
}

impl Pick {
    /// Picks a shard from its beginning.
    fn shard(place: usize, weight: f64) -> Self {
        Self { place, from: 0, until: u64::MAX, weight }
    }

    /// Returns whether the stretch may extend to the end of its shard.
    pub(super) fn is_open_ended(&self) -> bool {
        self.until == u64::MAX
    }
}

/// Chooses the stretches of a stratum. The order is such that any number of the first ones are about
/// evenly spread.
pub(super) fn picks(stratum: &Stratum, corpus: &dyn Corpus) -> Vec<Pick> {
    let shards = shards(stratum);
    if begins_inside(stratum, corpus, &shards) {
        spread(parts(stratum, &shards))
    } else {
        spread(shards)
    }
}

/// Chooses evenly spread shards, with the bytes of the stratum that each one represents.
fn shards(stratum: &Stratum) -> Vec<Pick> {
    let count = stratum.shards.len();
    let mean_bytes = stratum.bytes / count.max(1) as f64;
    let most = match (stratum.is_small, stratum.is_expensive) {
        (true, _) => SMALL_PICKS,
        (false, false) if mean_bytes <= PART_BYTES => PART_PICKS,
        _ => FILE_PICKS,
    };
    if count <= most {
        return (0..count).map(|place| Pick::shard(place, stratum.sizes[place])).collect();
    }
    let step = stratum.bytes / most as f64;
    if stratum.is_small {
        // Small shards are chosen by number, since each one is read whole.
        return (0..most).map(|at| Pick::shard(at * count / most, step)).collect();
    }
    shards_by_bytes(&stratum.sizes, most, step)
}

/// Chooses the shards of `most` bytes with `step` bytes between them. A long shard contains several of
/// these bytes, so it gets more weight and a larger share of the budget.
fn shards_by_bytes(sizes: &[f64], most: usize, step: f64) -> Vec<Pick> {
    let mut place = 0;
    // End of the shard `place`.
    let mut end = sizes[0];
    let mut picks: Vec<Pick> = Vec::with_capacity(most);
    for number in 0..most {
        let byte = (number as f64 + 0.5) * step;
        while end < byte && place + 1 < sizes.len() {
            place += 1;
            end += sizes[place];
        }
        match picks.last_mut() {
            Some(last) if last.place == place => last.weight += step,
            _ => picks.push(Pick::shard(place, step)),
        }
    }
    picks
}

/// Returns whether the shards are long enough for parts, and reading can begin inside. Only a trial
/// shows the latter. The pick with the greatest weight decides for all shards of the stratum.
fn begins_inside(stratum: &Stratum, corpus: &dyn Corpus, picks: &[Pick]) -> bool {
    if stratum.is_small || stratum.bytes <= FEW_BYTES {
        return false;
    }
    let Some(longest) = picks.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)) else {
        return false;
    };
    let shard = stratum.shards[longest.place];
    (1..4).any(|quarter| {
        let from = corpus.shard_bytes(shard) / 4 * quarter;
        let visit = &mut |_: Event<'_>| Ok(ControlFlow::Break(()));
        corpus.read_shard_behind(shard, from, visit).unwrap_or(false)
    })
}

/// Splits the picks into parts of about equal weight.
fn parts(stratum: &Stratum, picks: &[Pick]) -> Vec<Pick> {
    picks.iter().flat_map(|pick| parts_of_shard(stratum, *pick)).collect()
}

#[expect(clippy::cast_sign_loss, reason = "no number of bytes or parts is negative")]
fn parts_of_shard(stratum: &Stratum, pick: Pick) -> impl Iterator<Item = Pick> {
    let size = stratum.sizes[pick.place];
    let most = (size / LEAST_PART_BYTES).max(1.0);
    let count = (PARTS * pick.weight / stratum.bytes).round().clamp(1.0, most);
    let byte = move |part: f64| (size * part / count) as u64;
    (0..count as u32).map(f64::from).map(move |part| Pick {
        from: byte(part),
        until: byte(part + 1.0),
        weight: pick.weight / count,
        ..pick
    })
}

/// Orders the picks so that any number of the first ones are about evenly spread. Reading may stop after
/// any of them, when the budget is spent.
fn spread(picks: Vec<Pick>) -> Vec<Pick> {
    let bits = usize::BITS - picks.len().leading_zeros();
    let mut spread: Vec<(usize, Pick)> = picks.into_iter().enumerate().collect();
    // The order of reversed bits visits the halves first, then the quarters, and so on.
    spread.sort_by_key(|&(at, _)| at.reverse_bits() >> (usize::BITS - bits.max(1)));
    spread.into_iter().map(|(_, pick)| pick).collect()
}
