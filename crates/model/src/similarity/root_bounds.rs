//! Exact arithmetic with the square roots in the formula of the cosine.

use super::ratio::Similarity;

/// Maximum denominator of a threshold. With this limit, products of denominators and sizes of sets do not overflow the
/// integers of the computations.
pub(super) const MAX_DENOMINATOR: u32 = 1_000_000_000;

/// Returns the cosine of two sets of sizes `left` and `right` with `shared` common elements. `denominator` is the
/// denominator of the threshold. The cosine is rounded down to a fraction whose denominator is a multiple of
/// `denominator`. So a cosine that reaches the threshold still reaches it after rounding.
pub(super) fn similarity(denominator: u32, shared: u64, left: u64, right: u64) -> Similarity {
    let scale = u64::from(denominator * (MAX_DENOMINATOR / denominator));
    let scaled = u128::from(shared) * u128::from(scale);
    let sizes = u128::from(left) * u128::from(right);
    let ratio = match scaled.checked_pow(2) {
        Some(square) => (square / sizes).isqrt(),
        None => root_of_ratio(scaled, sizes),
    };
    // The ratio is at most the scale, because no set shares more than it has.
    Similarity { shared: ratio as u64, union: scale }
}

/// Returns the smallest number of common elements with which two sets of sizes `left` and `right` have a cosine of at
/// least `numerator / denominator`.
#[inline]
pub(super) fn min_shared(numerator: u64, denominator: u64, left: u32, right: u32) -> u32 {
    let sizes = u64::from(left) * u64::from(right);
    let square = u128::from(numerator * numerator) * u128::from(sizes);
    let is_enough = |shared: u64| u128::from(shared * denominator).pow(2) >= square;
    // The floating-point root is so near that a step or two make it exact.
    let ratio = numerator as f64 / denominator as f64;
    #[expect(clippy::cast_sign_loss, reason = "a root is not negative")]
    let mut shared = (ratio * (sizes as f64).sqrt()) as u64;
    while !is_enough(shared) {
        shared += 1;
    }
    while shared > 0 && is_enough(shared - 1) {
        shared -= 1;
    }
    shared as u32
}

/// Returns `x` / √`y`, rounded down. It is for an `x` whose square has more than 128 bits. The result must be at most
/// 10⁹.
fn root_of_ratio(x: u128, y: u128) -> u128 {
    // The floating-point root is so near that a step or two make it exact.
    #[expect(clippy::cast_sign_loss, reason = "a root is not negative")]
    let mut root = (x as f64 / (y as f64).sqrt()) as u128;
    let is_too_large = |root: u128| wide_product(root * root, y) > wide_product(x, x);
    while is_too_large(root) {
        root -= 1;
    }
    while !is_too_large(root + 1) {
        root += 1;
    }
    root
}

/// Returns the higher and the lower 128 bits of the product of `a` and `b`.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    let halves = |number: u128| (number >> 64, number & u128::from(u64::MAX));
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let (carry, low) = halves(a_low * b_low);
    let (carry, middle) = {
        let (high, low) = halves(a_high * b_low + carry);
        let (more, low) = halves(a_low * b_high + low);
        (high + more, low)
    };
    (a_high * b_high + carry, middle << 64 | low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_as_wide_as_they_need_be() {
        let a = u128::MAX / 3;
        let b = u128::MAX / 5;
        assert_eq!(wide_product(a, 1 << 64), (a >> 64, a << 64));
        assert_eq!(wide_product(a, b), wide_product(b, a));
        assert_eq!(wide_product(u128::MAX, u128::MAX), (u128::MAX - 1, 1));
    }
}
