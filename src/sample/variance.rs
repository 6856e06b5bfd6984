//! Estimates the amounts of a stratum, and their variances, from the stretches that were read.

use super::amounts::Amounts;
use super::picks::Pick;
use super::stretch::Stretch;

/// Number of stretches from which on their differences give the variance. With fewer stretches, the
/// halves of each stretch are compared.
const ENOUGH_STRETCHES: usize = 4;
/// Number of groups of stretches that is enough for a variance. More groups would not make it better.
const ENOUGH_GROUPS: usize = 32;
/// Number of documents that is enough for a group.
const ENOUGH_DOCUMENTS: f64 = 32.0;

/// Estimated amounts and the variance of each.
#[derive(Clone, Copy, Default)]
pub(super) struct AmountsWithVariances {
    pub(super) amounts: Amounts,
    pub(super) variances: Amounts,
}

impl AmountsWithVariances {
    /// Estimates all shards from shards that were read whole. Each amount is taken to be proportional
    /// to the number of shards or to their bytes, whichever has the smaller variance.
    ///
    /// `shards` and `bytes` count all shards, and `unread` is the fraction that was not read.
    pub(super) fn from_whole_shards(
        read: &[(Pick, Stretch)],
        shards: f64,
        bytes: f64,
        unread: f64,
    ) -> Self {
        let by_bytes = Self::by_ratio(read, |stretch| stretch.bytes, bytes, unread);
        let by_count = Self::by_ratio(read, |_| 1.0, shards, unread);
        let is_count_better = by_bytes
            .variances
            .with(by_count.variances, |bytes, count| if count < bytes { 1.0 } else { 0.0 });
        Self {
            amounts: choose(by_bytes.amounts, by_count.amounts, is_count_better),
            variances: choose(by_bytes.variances, by_count.variances, is_count_better),
        }
    }

    /// Estimates all shards, whose sum of the size `measure` is `all`. Amounts are taken to be
    /// proportional to this size.
    fn by_ratio(
        read: &[(Pick, Stretch)],
        measure: fn(&Stretch) -> f64,
        all: f64,
        unread: f64,
    ) -> Self {
        let stretches = || read.iter().map(|(_, stretch)| stretch);
        let count = read.len().max(1) as f64;
        let mean = stretches().map(measure).sum::<f64>() / count;
        // The ratio of the sums is used, because an empty shard has no ratio of its own but must count.
        let sum = Amounts::sum(stretches().map(|stretch| stretch.amounts));
        let ratio = sum.map(|amount| amount / (mean * count).max(f64::MIN_POSITIVE));
        let squares = Amounts::sum(stretches().map(|stretch| {
            let expected = ratio.map(|ratio| ratio * measure(stretch));
            stretch.amounts.minus(expected).map(|residual| residual * residual)
        }));
        let scale = all / mean.max(f64::MIN_POSITIVE);
        let variances = squares
            .map(|squares| squares / (count - 1.0).max(1.0) / count * scale * scale * unread);
        Self { amounts: ratio.map(|ratio| ratio * all), variances }
    }

    /// Estimates a stratum of `bytes` bytes from stretches of its shards, each weighted by the bytes that
    /// it represents. `unread` is the fraction that was not read.
    pub(super) fn from_stretches(read: &[(Pick, Stretch)], bytes: f64, unread: f64) -> Self {
        let groups = groups(read);
        let weights = groups.iter().map(|group| group.weight).sum::<f64>().max(f64::MIN_POSITIVE);
        let mean = Amounts::sum(
            groups.iter().map(|group| group.ratio().map(|ratio| ratio * group.weight / weights)),
        );
        let squares = if groups.len() < ENOUGH_GROUPS {
            squares_to_mean(&groups, mean, weights)
        } else {
            squares_of_neighbours(&groups, weights)
        };
        let count = groups.len() as f64;
        // Dividing by one less than the count corrects for the mean, which comes from the same groups.
        let variances = squares
            .map(|squares| squares * count / (count - 1.0).max(1.0) * bytes * bytes * unread);
        Self { amounts: mean.map(|ratio| ratio * bytes), variances }
    }
}

/// Returns each amount of `second` where `is_second` is 1, and of `first` where it is 0.
fn choose(first: Amounts, second: Amounts, is_second: Amounts) -> Amounts {
    let difference = second.minus(first);
    first.plus(difference.with(is_second, |difference, is_second| difference * is_second))
}

/// Some stretches that are compared with others: their bytes and amounts, and the bytes of the stratum
/// that they represent.
#[derive(Clone, Copy, Default)]
struct StretchGroup {
    weight: f64,
    bytes: f64,
    amounts: Amounts,
}

impl StretchGroup {
    /// Returns the amounts for each byte.
    fn ratio(&self) -> Amounts {
        self.amounts.map(|amount| amount / self.bytes.max(f64::MIN_POSITIVE))
    }

    /// Puts stretches together.
    fn from_stretches(stretches: &[(Pick, Stretch)]) -> Self {
        let mut group = Self::default();
        for (pick, stretch) in stretches {
            group.weight += pick.weight;
            group.bytes += stretch.bytes;
            group.amounts = group.amounts.plus(stretch.amounts);
        }
        group
    }

    /// Returns both halves of a stretch.
    fn halves((pick, stretch): &(Pick, Stretch)) -> [Self; 2] {
        let share = stretch.half_bytes / stretch.bytes.max(f64::MIN_POSITIVE);
        let first =
            Self { weight: pick.weight * share, bytes: stretch.half_bytes, amounts: stretch.half };
        let second = Self {
            weight: pick.weight * (1.0 - share),
            bytes: stretch.bytes - stretch.half_bytes,
            amounts: stretch.amounts.minus(stretch.half),
        };
        [first, second]
    }
}

/// Returns the groups that are compared. A group is one of these:
///
/// * half of a stretch, if there are few stretches
/// * several neighbours together, if each stretch has few documents: a long document would be most of its
///   stretch, and its ratio would count only as much as the ratio of the stretch
/// * otherwise one stretch
fn groups(read: &[(Pick, Stretch)]) -> Vec<StretchGroup> {
    let groups: Vec<StretchGroup> = if read.len() < ENOUGH_STRETCHES {
        read.iter().flat_map(StretchGroup::halves).collect()
    } else {
        read.chunks(stretches_a_group(read)).map(StretchGroup::from_stretches).collect()
    };
    groups.into_iter().filter(|group| group.bytes > 0.0).collect()
}

/// Returns the least number of stretches that have enough documents together, unless there would be too
/// few groups.
fn stretches_a_group(read: &[(Pick, Stretch)]) -> usize {
    let documents: f64 = read.iter().map(|(_, stretch)| stretch.amounts.documents).sum();
    let most = (read.len() / ENOUGH_GROUPS).max(1);
    let has_enough =
        |&stretches: &usize| documents * stretches as f64 >= ENOUGH_DOCUMENTS * read.len() as f64;
    (1..most).find(has_enough).unwrap_or(most)
}

/// Returns the weighted squares of the differences between the groups and their mean.
fn squares_to_mean(groups: &[StretchGroup], mean: Amounts, weights: f64) -> Amounts {
    Amounts::sum(groups.iter().map(|group| {
        let off = group.ratio().minus(mean);
        off.map(|off| (off * group.weight / weights).powi(2))
    }))
}

/// Returns the weighted squares of the differences between neighbours. Evenly spread groups follow a
/// trend from one end to the other, and a trend adds no uncertainty.
fn squares_of_neighbours(groups: &[StretchGroup], weights: f64) -> Amounts {
    Amounts::sum(groups.windows(2).map(|two| {
        let weight = two[0].weight / weights + two[1].weight / weights;
        let off = two[0].ratio().minus(two[1].ratio()).map(|off| off * weight / 2.0);
        off.map(|off| off * off / 2.0)
    }))
}
