//! The plain loop of [`crate::near_tags`].

/// The search of a stretch of tags.
#[derive(Clone, Copy)]
pub(crate) struct TagSearch {
    /// Place of the first tag of the stretch.
    pub(crate) first: u32,
    /// Tag that the others are compared with.
    pub(crate) query: u16,
    /// Most bits in which a near tag differs.
    pub(crate) most: u32,
}

/// Compares one tag after the other.
#[inline(always)]
pub(crate) fn plain(tags: &[[u8; 2]], search: TagSearch, places: &mut Vec<u32>) {
    let TagSearch { first, query, most } = search;
    for (place, &tag) in (first..).zip(tags) {
        if (u16::from_le_bytes(tag) ^ query).count_ones() <= most {
            places.push(place);
        }
    }
}
