//! The plain loop of [`crate::near_tags`].

/// Arguments of a search for near tags. A tag is a 16-bit summary of a fingerprint. The searched tags are a range of
/// all tags of a bucket, which is a group of fingerprints.
#[derive(Clone, Copy)]
pub(crate) struct TagSearch {
    /// Index of the first searched tag among all tags of the bucket. The indices of found tags are counted from the
    /// start of the bucket, too.
    pub(crate) first: u32,
    /// Tag of the query, with which each searched tag is compared.
    pub(crate) query: u16,
    /// Maximum number of bits in which a near tag differs from the query.
    pub(crate) most: u32,
}

/// Appends to `places` the index of each tag that differs from the tag `search.query` in at most `search.most` bits.
/// The index of the first tag is `search.first`. A tag is a 16-bit summary of a fingerprint. Compares one tag after the
/// other.
#[inline(always)]
pub(crate) fn plain(tags: &[[u8; 2]], search: TagSearch, places: &mut Vec<u32>) {
    let TagSearch { first, query, most } = search;
    for (place, &tag) in (first..).zip(tags) {
        if (u16::from_le_bytes(tag) ^ query).count_ones() <= most {
            places.push(place);
        }
    }
}
