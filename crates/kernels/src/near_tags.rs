//! Finds the tags of a bucket that are near the tag of a query.
//!
//! Tags are 16 bits and are sorted by weight, the number of their set bits. Two tags that differ in at
//! most t bits have weights that differ by at most t, so all near tags are in one range. The search
//! begins with the expected range and extends it as long as weights are near enough:
//!
//! ```text
//! weights    3 4 4 5 5 5 6 6 7 7 8 9     query of weight 6, t = 1
//! expected             [5 6 6]
//! section          [5 5 5 6 6 7 7]
//! ```
//!
//! A number has at most t set bits if nothing is left after its lowest set bit was cleared t times (`x & (x - 1)`). For
//! small t these are fewer instructions than a count, and every processor has them.

use super::Isa;
use super::own_loops::near_tags::TagSearch;
use super::vector::{Kernel, Level};
use std::ops::Range;

/// Number of tags by which the search extends its range at one end before it checks whether the range is large enough.
/// A tag is a 16-bit summary of a fingerprint.
const STEP: usize = 32;

/// A search for the tags near the tag of a query. A tag is a 16-bit summary of a fingerprint.
#[derive(Clone, Debug)]
pub struct TagQuery {
    /// Tag of the query. The search finds the tags that differ from it in few bits.
    pub tag: u16,
    /// Maximum number of bits in which a near tag differs from `tag`.
    pub most: u32,
    /// Range of indices in which near tags are expected. A wrong range costs time, but no near tag is missed.
    pub expected: Range<usize>,
}

/// Appends to `places` the index of each of `tags` that differs from `query.tag` in at most `query.most` bits, in
/// ascending order. A tag is a 16-bit summary of a fingerprint. `tags` are little-endian numbers, sorted by the number
/// of set bits.
///
/// ```
/// use simtool_kernels::Isa;
/// use simtool_kernels::near_tags::{TagQuery, near_tags};
///
/// let tags = [0b0001_u16, 0b0011, 0b0111].map(u16::to_le_bytes);
/// let query = TagQuery { tag: 0b0011, most: 1, expected: 1..2 };
/// let mut places = Vec::new();
/// near_tags(&tags, query, Isa::detected(), &mut places);
/// assert_eq!(places, [0, 1, 2]);
/// ```
pub fn near_tags(tags: &[[u8; 2]], query: TagQuery, isa: Isa, places: &mut Vec<u32>) {
    isa.run(NearTags { tags, query }, places);
}

struct NearTags<'a> {
    tags: &'a [[u8; 2]],
    query: TagQuery,
}

impl Kernel<&mut Vec<u32>> for NearTags<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, places: &mut Vec<u32>) {
        let TagQuery { tag: query, most, expected } = self.query;
        let (first, tags) = section(self.tags, expected, query, most);
        let search = TagSearch { first, query, most };
        level.near_tags(tags, search, places);
    }
}

/// Returns a range of `tags` that includes all tags near `query`, which differ from it in at most `most` bits. The
/// range is `expected`, extended on both sides as far as necessary. It is returned as the index of its first tag and
/// its tags.
#[inline(always)]
fn section(tags: &[[u8; 2]], expected: Range<usize>, query: u16, most: u32) -> (u32, &[[u8; 2]]) {
    if expected.is_empty() || expected.end > tags.len() {
        return (0, tags);
    }
    let (weight, Range { mut start, mut end }) = (query.count_ones(), expected);
    let weight_at = |place: usize| u16::from_le_bytes(tags[place]).count_ones();
    while start > 0 && weight_at(start) + most >= weight {
        start = start.saturating_sub(STEP);
    }
    while end < tags.len() && weight_at(end - 1) <= weight + most {
        end = (end + STEP).min(tags.len());
    }
    (start as u32, &tags[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_loops::near_tags::plain;
    use simtool_base::stable_hash::mix;

    #[test]
    fn every_path_finds_the_same_places() {
        // Random tags, light ones, heavy ones, and all the same.
        let kinds: [&dyn Fn(u64) -> u64; 4] = [
            &mix,
            &|i| mix(i) & mix(i + 1000) & mix(i + 2000),
            &|i| mix(i) | mix(i + 1000) | mix(i + 2000),
            &|_| 0x1234,
        ];
        for (kind, length) in kinds.iter().flat_map(|kind| [0, 1, 31, 65, 300].map(|n| (kind, n))) {
            let mut tags: Vec<u16> = (0..length).map(|i| kind(i) as u16).collect();
            tags.sort_by_key(|tag| tag.count_ones());
            let tags: Vec<[u8; 2]> = tags.iter().map(|tag| tag.to_le_bytes()).collect();
            let queries = (0..20).map(|i| kind(i + 290) as u16).chain([0, u16::MAX]);
            for (at, query) in queries.enumerate() {
                let most = [0, 1, 2, 3, 15, 16, u32::MAX / 2][at % 7];
                let mut expected = Vec::new();
                plain(&tags, TagSearch { first: 0, query, most }, &mut expected);
                let guess = at * tags.len() / 22;
                for guess in [guess..guess + tags.len() / 4, 0..tags.len(), 9..1000, 2..2] {
                    for &isa in Isa::available() {
                        let mut places = Vec::new();
                        let query = TagQuery { tag: query, most, expected: guess.clone() };
                        near_tags(&tags, query, isa, &mut places);
                        assert_eq!(
                            places, expected,
                            "{isa}, {length} tags, {most} bits, {guess:?}"
                        );
                    }
                }
            }
        }
    }
}
