//! Estimates the amounts of a stratum, which is all shards of one kind, from the sections that were
//! read. Estimates the variances of these amounts, too.

use super::amounts::Amounts;
use super::picks::Pick;
use super::section::Section;

/// Minimum number of sections for computing the variance from the differences between sections. A section is a part of
/// a shard that was read. If there are fewer sections, the variance comes from the differences between the halves of
/// each section.
const ENOUGH_SECTIONS: usize = 4;
/// Number of groups of sections that is enough to estimate a variance well. With more groups, the estimate would not be
/// better.
const ENOUGH_GROUPS: usize = 32;
/// Number of documents that a group of sections should have, so that one long document does not dominate it.
const ENOUGH_DOCUMENTS: f64 = 32.0;

/// Estimated amounts of a stratum (all shards of one kind), and the variance of each amount.
#[derive(Clone, Copy, Default)]
pub(super) struct AmountsWithVariances {
    pub(super) amounts: Amounts,
    pub(super) variances: Amounts,
}

impl AmountsWithVariances {
    /// Estimates the amounts of a stratum from shards that were read whole. Each amount is assumed to
    /// be proportional either to the number of shards or to their bytes. For each amount, the
    /// assumption that gives the smaller variance is used.
    ///
    /// `shards` is the number of all shards in the stratum, and `bytes` is the number of their bytes.
    /// `unread` is the fraction of these bytes that was not read.
    pub(super) fn from_whole_shards(
        read: &[(Pick, Section)],
        shards: f64,
        bytes: f64,
        unread: f64,
    ) -> Self {
        let by_bytes = Self::by_ratio(read, |section| section.bytes, bytes, unread);
        let by_count = Self::by_ratio(read, |_| 1.0, shards, unread);
        let is_count_better = by_bytes
            .variances
            .with(by_count.variances, |bytes, count| if count < bytes { 1.0 } else { 0.0 });
        Self {
            amounts: choose(by_bytes.amounts, by_count.amounts, is_count_better),
            variances: choose(by_bytes.variances, by_count.variances, is_count_better),
        }
    }

    /// Estimates the amounts of a stratum, which are assumed to be proportional to a size of its
    /// shards, for example their bytes. `measure` returns this size of one shard, and `all` is the sum
    /// of the sizes of all shards. `unread` is the fraction of the stratum that was not read.
    fn by_ratio(
        read: &[(Pick, Section)],
        measure: fn(&Section) -> f64,
        all: f64,
        unread: f64,
    ) -> Self {
        let sections = || read.iter().map(|(_, section)| section);
        let count = read.len().max(1) as f64;
        let mean = sections().map(measure).sum::<f64>() / count;
        // The ratio of the sums is used instead of a mean of ratios. An empty shard has no ratio of its
        // own, but it must count.
        let sum = Amounts::sum(sections().map(|section| section.amounts));
        let ratio = sum.map(|amount| amount / (mean * count).max(f64::MIN_POSITIVE));
        let squares = Amounts::sum(sections().map(|section| {
            let expected = ratio.map(|ratio| ratio * measure(section));
            section.amounts.minus(expected).map(|residual| residual * residual)
        }));
        let scale = all / mean.max(f64::MIN_POSITIVE);
        let variances = squares
            .map(|squares| squares / (count - 1.0).max(1.0) / count * scale * scale * unread);
        Self { amounts: ratio.map(|ratio| ratio * all), variances }
    }

    /// Estimates the amounts of a stratum of `bytes` bytes from sections of its shards. The weight of
    /// a section is the number of bytes that it represents. `unread` is the fraction of the stratum
    /// that was not read.
    pub(super) fn from_sections(read: &[(Pick, Section)], bytes: f64, unread: f64) -> Self {
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

/// Chooses each amount separately: the amount of `second` if `is_second` is 1, and the amount of
/// `first` if `is_second` is 0.
fn choose(first: Amounts, second: Amounts, is_second: Amounts) -> Amounts {
    let difference = second.minus(first);
    first.plus(difference.with(is_second, |difference, is_second| difference * is_second))
}

/// Sums over some neighbouring sections (parts of shards that were read), or over half of a section. Groups are
/// compared to get the variance. `weight` is the number of bytes of the stratum that the group represents.
#[derive(Clone, Copy, Default)]
struct SectionGroup {
    weight: f64,
    bytes: f64,
    amounts: Amounts,
}

impl SectionGroup {
    /// Returns the amounts of this group, divided by the number of bytes that were read.
    fn ratio(&self) -> Amounts {
        self.amounts.map(|amount| amount / self.bytes.max(f64::MIN_POSITIVE))
    }

    /// Adds up `sections` into one group.
    fn from_sections(sections: &[(Pick, Section)]) -> Self {
        let mut group = Self::default();
        for (pick, section) in sections {
            group.weight += pick.weight;
            group.bytes += section.bytes;
            group.amounts = group.amounts.plus(section.amounts);
        }
        group
    }

    /// Returns two groups: the first half and the second half of a section.
    fn halves((pick, section): &(Pick, Section)) -> [Self; 2] {
        let share = section.half_bytes / section.bytes.max(f64::MIN_POSITIVE);
        let first =
            Self { weight: pick.weight * share, bytes: section.half_bytes, amounts: section.half };
        let second = Self {
            weight: pick.weight * (1.0 - share),
            bytes: section.bytes - section.half_bytes,
            amounts: section.amounts.minus(section.half),
        };
        [first, second]
    }
}

/// Divides the sections that were read into groups, whose differences give the variance. A group is one of these:
///
/// * half of a section, if there are few sections
/// * several neighbouring sections together, if each section has few documents. One long document can
///   then make its section much longer than others. If this section were a group of its own, it would
///   count no more than a shorter section.
/// * otherwise one section
fn groups(read: &[(Pick, Section)]) -> Vec<SectionGroup> {
    let groups: Vec<SectionGroup> = if read.len() < ENOUGH_SECTIONS {
        read.iter().flat_map(SectionGroup::halves).collect()
    } else {
        read.chunks(sections_a_group(read)).map(SectionGroup::from_sections).collect()
    };
    groups.into_iter().filter(|group| group.bytes > 0.0).collect()
}

/// Returns the number of sections in each group. It is the smallest number that gives a group enough
/// documents ([`ENOUGH_DOCUMENTS`]), unless fewer than [`ENOUGH_GROUPS`] groups would result.
fn sections_a_group(read: &[(Pick, Section)]) -> usize {
    let documents: f64 = read.iter().map(|(_, section)| section.amounts.documents).sum();
    let most = (read.len() / ENOUGH_GROUPS).max(1);
    let has_enough =
        |&sections: &usize| documents * sections as f64 >= ENOUGH_DOCUMENTS * read.len() as f64;
    (1..most).find(has_enough).unwrap_or(most)
}

/// Returns the sum of the squared differences between each group and the mean. `mean` has the mean
/// amounts per byte, and `weights` is the sum of the weights of all groups. Each difference is
/// multiplied by the group's share of `weights` before it is squared.
fn squares_to_mean(groups: &[SectionGroup], mean: Amounts, weights: f64) -> Amounts {
    Amounts::sum(groups.iter().map(|group| {
        let off = group.ratio().minus(mean);
        off.map(|off| (off * group.weight / weights).powi(2))
    }))
}

/// Returns half of the sum of the squared differences between neighbouring groups. Each difference is
/// multiplied by the mean of the two groups' shares of `weights` before it is squared. Amounts may
/// follow a trend from one end of the input to the other. Evenly spread groups follow the same trend,
/// so it adds no uncertainty, and it hardly changes the differences between neighbours.
fn squares_of_neighbours(groups: &[SectionGroup], weights: f64) -> Amounts {
    Amounts::sum(groups.windows(2).map(|two| {
        let weight = two[0].weight / weights + two[1].weight / weights;
        let off = two[0].ratio().minus(two[1].ratio()).map(|off| off * weight / 2.0);
        off.map(|off| off * off / 2.0)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_the_sums_of_its_sections() {
        let section = |weight, bytes, documents| {
            let pick = Pick { place: 0, from: 0, until: u64::MAX, weight };
            let amounts = Amounts { documents, ..Amounts::default() };
            (pick, Section { amounts, bytes, ..Section::default() })
        };
        let sections = [section(30.0, 10.0, 2.0), section(50.0, 20.0, 4.0)];
        let SectionGroup { weight, bytes, amounts } = SectionGroup::from_sections(&sections);
        assert_eq!(format!("{weight} {bytes} {}", amounts.documents), "80 30 6");
    }
}
