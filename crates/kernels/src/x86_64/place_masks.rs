//! Turns masks of vector lanes into indices.

/// Number of vectors that are compared with the query before the indices of their near elements are appended. If
/// indices were appended after each vector, the query could not stay in a register.
pub(super) const MASKS: usize = 8;

/// Appends to `places` the indices of the vector elements, called lanes, that are marked in `masks`. In a mask, each
/// lane has `1 << shift` bits, and a lane is marked if one of its bits is set. No lane has two set bits. `first` is the
/// index of the first lane of the first mask.
#[inline(always)]
pub(super) fn push_places(masks: &[u32; MASKS], first: u32, shift: u32, places: &mut Vec<u32>) {
    for (first, &mask) in (first..).step_by(32 >> shift).zip(masks) {
        let mut near = mask;
        while near != 0 {
            places.push(first + (near.trailing_zeros() >> shift));
            near &= near - 1;
        }
    }
}
