//! Sorts items that have evenly distributed ranks, such as hashes.

/// Minimum number of items for which [`sort_by_rank`] distributes the items among parts. Fewer items are sorted
/// directly.
const LEAST_ITEMS: usize = 64;
/// Average number of items in a part. [`sort_by_rank`] distributes the items among parts and sorts each part.
const ITEMS_A_PART: usize = 4;
/// Maximum number of parts among which the items are distributed.
const MOST_PARTS: usize = 1 << 15;

/// Sorts items by `key`. `rank` returns a number for each item. An item with a greater key must not have a smaller
/// rank.
///
/// The items are distributed among many small parts by their ranks, and each part is sorted. If all ranks are in
/// a few parts, this takes as long as an ordinary sort.
pub(crate) fn sort_by_rank<T: Copy, K: Ord>(
    items: &mut Vec<T>,
    rank: impl Fn(&T) -> u64,
    key: impl Fn(&T) -> K,
) {
    let ranks = || items.iter().map(&rank);
    let (Some(least), Some(greatest)) = (ranks().min(), ranks().max()) else { return };
    if items.len() < LEAST_ITEMS {
        return items.sort_unstable_by_key(key);
    }
    // Few items a part make the sort of a part cheap. Too many parts would not fit into the cache.
    let parts = (items.len() / ITEMS_A_PART).next_power_of_two().min(MOST_PARTS);
    let bits = u64::BITS - (greatest - least).leading_zeros();
    // The highest bits in which ranks differ are the number of the part.
    let shift = bits.saturating_sub(parts.ilog2());
    let part = |item: &T| ((rank(item) - least) >> shift) as usize;
    let mut ends = vec![0_u32; parts];
    for item in &*items {
        ends[part(item)] += 1;
    }
    // Each count becomes the index at which its part begins, and then, item by item, at which it ends.
    let mut next = 0;
    for end in &mut ends {
        next += std::mem::replace(end, next);
    }
    let mut sorted = items.clone();
    for item in &*items {
        let place = &mut ends[part(item)];
        sorted[*place as usize] = *item;
        *place += 1;
    }
    let mut start = 0;
    for end in ends {
        sorted[start..end as usize].sort_unstable_by_key(&key);
        start = end as usize;
    }
    *items = sorted;
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    #[test]
    fn items_are_sorted_whatever_their_ranks_are() {
        for count in [0, 1, 63, 64, 1000, 50_000] {
            for different in [1, 2, 300, u64::MAX] {
                let mut items: Vec<(u64, u64)> =
                    (0..count).map(|number| (mix(number) % different, mix(number + 7))).collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                sort_by_rank(&mut items, |item| item.0, |item| *item);
                assert_eq!(items, expected, "{count} items");
            }
        }
    }
}
