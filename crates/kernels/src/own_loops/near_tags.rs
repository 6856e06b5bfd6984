//! The plain loop of [`crate::near_tags`].

/// The arguments of the search for near tags in a range of the tags of a bucket. A tag is a 16-bit
/// summary of a fingerprint.
#[derive(Clone, Copy)]
pub(crate) struct TagSearch {
    /// Index of the first tag of the range. Indices of near tags are counted from the start of the
    /// bucket.
    pub(crate) first: u32,
    /// Tag of the query, with which the tags of the range are compared.
    pub(crate) query: u16,
    /// Maximum number of bits in which a near tag differs from the query.
    pub(crate) most: u32,
}

/// Compares one tag after the other with the tag of the query, and appends the indices of the near
/// tags to `places`.
#[inline(always)]
pub(crate) fn plain(tags: &[[u8; 2]], search: TagSearch, places: &mut Vec<u32>) {
    let TagSearch { first, query, most } = search;
    for (place, &tag) in (first..).zip(tags) {
        if (u16::from_le_bytes(tag) ^ query).count_ones() <= most {
            places.push(place);
        }
    }
}
