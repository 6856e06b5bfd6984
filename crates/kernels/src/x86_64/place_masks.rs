//! Masks of lanes that are turned into places.

/// Vectors that are compared before the places of their lanes are appended. Appending in between would
/// push the repeated query out of its register.
pub(super) const MASKS: usize = 8;

/// Appends the places of the set bits of masks; each place has `1 << shift` bits of a mask.
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
