//! Chooses the sections that a sample reads from a stratum, which is all shards of one kind.
//!
//! * Small shards: some evenly spread shards are read whole.
//! * Large shards: evenly spread sections are read, each as far as its share of the budget allows. If
//!   reading can begin inside a shard, the sections begin at many places of each shard. Otherwise each
//!   section begins at the first byte of a shard. Many places are better, because the beginning of a
//!   file says little about the rest of it.

use super::stratum::Stratum;
use simtool_read::{Corpus, Event};
use std::ops::ControlFlow;

/// Maximum number of sampled shards per stratum (all shards of one kind) if the shards are expensive to read, or longer
/// than [`PART_BYTES`] on average. Such a shard is assumed to be a whole file, and opening a file takes time.
const FILE_PICKS: usize = 48;
/// Maximum number of sampled shards per stratum (all shards of one kind) if the shards are assumed to be parts of plain
/// files.
const PART_PICKS: usize = 512;
/// Maximum number of sampled shards per stratum (all shards of one kind) if the shards are small. Small shards are read
/// whole.
const SMALL_PICKS: usize = 1 << 14;
/// Maximum mean length in bytes of shards that are assumed to be parts of plain files. This applies only to shards that
/// are cheap to read.
const PART_BYTES: f64 = 2e6;
/// Approximate number of parts that the sampled shards of a stratum are split into, if reading can
/// begin inside its shards. Each part becomes a section.
const PARTS: f64 = 192.0;
/// Minimum number of bytes of a part that a sampled shard is split into.
const LEAST_PART_BYTES: f64 = 256e3;
/// If a stratum has at most this number of bytes, its shards are read from their beginnings. The whole
/// stratum may then fit in the budget.
const FEW_BYTES: f64 = 8e6;

/// Position and weight of a section, which is a part of a shard that is chosen for the sample.
#[derive(Clone, Copy)]
pub(super) struct Pick {
    /// Index of the shard in the list `Stratum::shards`.
    pub(super) place: usize,
    /// Byte of the shard at which the search for the first record begins.
    pub(super) from: u64,
    /// Byte of the shard at which the section ends, unless its budget is spent earlier. `u64::MAX` is
    /// the end of the shard.
    pub(super) until: u64,
    /// Number of bytes of the stratum that this section represents.
    pub(super) weight: f64,
}

impl Pick {
    /// Creates a pick that begins at the first byte of the shard with index `place`, and may extend to
    /// the end of this shard.
    fn shard(place: usize, weight: f64) -> Self {
        Self { place, from: 0, until: u64::MAX, weight }
    }

    /// Returns whether the section may extend to the end of its shard.
    pub(super) fn is_open_ended(&self) -> bool {
        self.until == u64::MAX
    }
}

/// Chooses the sections of a stratum, and returns them in the order in which they are to be read. For
/// every n, the first n sections are about evenly spread over the stratum.
pub(super) fn picks(stratum: &Stratum, corpus: &dyn Corpus) -> Vec<Pick> {
    let shards = shards(stratum);
    if begins_inside(stratum, corpus, &shards) {
        spread(parts(stratum, &shards))
    } else {
        spread(shards)
    }
}

/// Chooses evenly spread shards of the stratum, which is all shards of one kind. The weight of each pick is the number
/// of bytes of the stratum that its shard represents.
fn shards(stratum: &Stratum) -> Vec<Pick> {
    let count = stratum.shards.len();
    let mean_bytes = stratum.bytes / count.max(1) as f64;
    let most = match (stratum.is_small, stratum.is_packed()) {
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

/// Chooses `most` byte offsets in the stratum at distances of `step` bytes, and picks the shards that contain them.
/// `sizes` has the length of each shard. A long shard may contain several of these offsets. It then gets more weight,
/// and so a larger share of the budget.
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

/// Returns whether sections can begin inside the shards. The shards must not be small, the stratum
/// must have more than [`FEW_BYTES`], and the format must allow it. The format is tested by trying to
/// read the shard of the pick with the greatest weight. The result is used for all shards of the
/// stratum.
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

/// Splits the picked shards into parts of about equal weight. Each part becomes a pick.
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

/// Reorders the picks so that, for every n, the first n picks are about evenly spread over the input. This is needed
/// because reading may stop after any pick, when the budget is spent.
fn spread(picks: Vec<Pick>) -> Vec<Pick> {
    let bits = usize::BITS - picks.len().leading_zeros();
    let mut spread: Vec<(usize, Pick)> = picks.into_iter().enumerate().collect();
    // The order of reversed bits visits the halves first, then the quarters, and so on.
    spread.sort_by_key(|&(at, _)| at.reverse_bits() >> (usize::BITS - bits.max(1)));
    spread.into_iter().map(|(_, pick)| pick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::compression::Compression;
    use simtool_read::Price;

    #[test]
    fn more_parts_of_plain_files_are_picked_than_whole_files() {
        let picked = |shard_bytes: f64, price| {
            let count = 100;
            let stratum = Stratum {
                shards: (0..count).collect(),
                sizes: vec![shard_bytes; count],
                bytes: shard_bytes * count as f64,
                records: None,
                is_small: false,
                price,
                kind: (Compression::None, None),
            };
            shards(&stratum).len()
        };
        assert_eq!(picked(1e6, Price::Cheap), 100);
        assert_eq!(picked(1e6, Price::Expensive), FILE_PICKS);
        assert_eq!(picked(3e6, Price::Cheap), FILE_PICKS);
    }
}
