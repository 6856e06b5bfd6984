//! The plain loop of [`crate::hamming_groups`].

/// Number of rows in a group. The words of these rows alternate in memory, so that a vector holds
/// one word of each row.
pub const GROUP: usize = 8;
/// Number of words that are compared before the loop checks whether any row of the group can still
/// be near.
pub(crate) const STEP: usize = 8;

/// The arguments of the comparison of a row with groups of rows.
#[derive(Clone, Copy, Debug)]
pub struct GroupSearch<'a> {
    /// Row that the rows of the groups are compared with.
    pub row: &'a [u64],
    /// The words of the groups' rows. A group has first word 0 of all its rows, then word 1 of all
    /// its rows, and so on.
    pub groups: &'a [u64],
    /// Number that is added to the limit of each group. The sum is the maximum Hamming distance between `row` and a
    /// near row of the group.
    pub own_limit: u32,
    /// Limit of each group. The maximum distance of a near row is this limit plus `own_limit`.
    pub limits: &'a [u32],
}

/// Appends a hit, `row << 32 | distance`, for each row of `search.groups` that is near `search.row`. The limit of its
/// distance is `search.own_limit` plus the limit of its group. Rows are numbered from 0. Computes the distances word by
/// word.
#[inline(always)]
pub(crate) fn plain(search: GroupSearch<'_>, hits: &mut Vec<u64>) {
    let GroupSearch { row, groups, own_limit, limits } = search;
    let groups = groups.as_chunks::<GROUP>().0.chunks_exact(row.len());
    'groups: for (number, (group, &limit)) in groups.zip(limits).enumerate() {
        let limit = u64::from(own_limit) + u64::from(limit);
        let mut distances = [0; GROUP];
        for (lanes, words) in group.chunks(STEP).zip(row.chunks(STEP)) {
            for (lanes, &word) in lanes.iter().zip(words) {
                for (distance, lane) in distances.iter_mut().zip(lanes) {
                    *distance += u64::from((lane ^ word).count_ones());
                }
            }
            if distances.iter().all(|&distance| distance > limit) {
                continue 'groups;
            }
        }
        push_near(number, &distances, limit, hits);
    }
}

/// Appends a hit, `row << 32 | distance`, for each row of group number `group` whose distance is at most `limit`.
/// `distances` has the distances of the eight rows of the group.
///
/// The function is not inlined, because most groups have no near row.
#[cold]
pub(crate) fn push_near(group: usize, distances: &[u64; GROUP], limit: u64, hits: &mut Vec<u64>) {
    for (lane, &distance) in distances.iter().enumerate() {
        if distance <= limit {
            hits.push(((group * GROUP + lane) as u64) << 32 | distance);
        }
    }
}
