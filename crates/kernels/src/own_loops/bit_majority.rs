//! The plain loop of [`crate::bit_majority`].

/// Number of lanes among which the rows are divided. Each lane counts its rows separately, so that vectors can be used.
/// Row i belongs to lane i modulo this number.
const LANES: usize = 4;

/// Number of rows of a lane that [`add_tree`] adds at once, in a tree of additions. A lane is one of [`LANES`] groups
/// of rows.
const TREE: usize = 8;

/// Number of binary digits of the counts of a lane, which is one of [`LANES`] groups of rows. A lane counts for each
/// bit the rows that have it set.
const LANE_DIGITS: usize = 8;

/// Maximum number of trees, of [`TREE`] rows each, whose rows a lane can count with [`LANE_DIGITS`] binary digits.
const MOST_TREES: usize = (1 << LANE_DIGITS) / TREE - 1;

/// Maximum number of rows in one call of [`add_rows`].
pub(crate) const MOST_ROWS: usize = MOST_TREES * TREE * LANES;

/// One 64-bit word for each of the [`LANES`] groups of rows.
type Words = [u64; LANES];

/// Adds at most [`MOST_ROWS`] rows to the counts of set bits. Bit i of `digits[k]` is binary digit
/// k of the number of rows in which bit i is set.
#[inline(always)]
pub(crate) fn add_rows(rows: &[u64], digits: &mut [u64; 64]) {
    let mut lanes = [[0; LANES]; LANE_DIGITS];
    let (trees, rest) = rows.as_chunks::<{ TREE * LANES }>();
    for tree in trees {
        add_tree(&mut lanes, tree);
    }
    if !rest.is_empty() {
        let mut tree = [0; TREE * LANES];
        tree[..rest.len()].copy_from_slice(rest);
        add_tree(&mut lanes, &tree);
    }
    let trees = rows.len().div_ceil(TREE * LANES);
    debug_assert!(trees <= MOST_TREES, "the digits are enough for so many");
    // A lane has counted `TREE` × trees rows or fewer, and all lanes `LANES` times as many.
    let bits = |count: usize| (usize::BITS - count.leading_zeros()) as usize;
    let lanes = &lanes[..bits(TREE * trees).min(LANE_DIGITS)];
    let mut sum = [0; LANE_DIGITS + LANES.ilog2() as usize];
    let used = bits(TREE * LANES * trees).min(sum.len());
    let sum = &mut sum[..used];
    for lane in 0..LANES {
        add_number(sum, lanes.iter().map(|words| words[lane]));
    }
    add_number(digits, sum.iter().copied());
}

/// Adds the rows of a tree to the counts of set bits. Row i belongs to lane i modulo [`LANES`]. `lanes[k][lane]` has
/// binary digit k of the counts of a lane.
#[inline(always)]
fn add_tree(lanes: &mut [Words; LANE_DIGITS], rows: &[u64; TREE * LANES]) {
    let (rows, _) = rows.as_chunks::<LANES>();
    let [ones, twos, fours, above @ ..] = lanes;
    // These have names, because the compiler would not keep the elements of an array in wide registers.
    let first = add_two(ones, &rows[0], &rows[1]);
    let second = add_two(ones, &rows[2], &rows[3]);
    let third = add_two(ones, &rows[4], &rows[5]);
    let fourth = add_two(ones, &rows[6], &rows[7]);
    let front = add_two(twos, &first, &second);
    let back = add_two(twos, &third, &fourth);
    let mut carry = add_two(fours, &front, &back);
    for digit in above {
        for (digit, carry) in digit.iter_mut().zip(&mut carry) {
            let sum = *digit ^ *carry;
            *carry &= *digit;
            *digit = sum;
        }
    }
}

/// Adds the bits of `one` and `other` to `to`. All three hold the same binary digit of the counts
/// of each lane. Returns the carries, which belong to the next digit.
#[inline(always)]
fn add_two(to: &mut Words, one: &Words, other: &Words) -> Words {
    std::array::from_fn(|lane| {
        let carry;
        (to[lane], carry) = sum_of(to[lane], one[lane], other[lane]);
        carry
    })
}

/// Adds `number` to `digits`. Both hold a count for each bit of a word, as binary digits with the
/// lowest digit first. `number` must not have more digits than `digits`.
#[inline(always)]
fn add_number(digits: &mut [u64], number: impl ExactSizeIterator<Item = u64>) {
    let (low, high) = digits.split_at_mut(number.len());
    let mut carry = 0;
    for (digit, other) in low.iter_mut().zip(number) {
        (*digit, carry) = sum_of(*digit, other, carry);
    }
    for digit in high {
        if carry == 0 {
            break;
        }
        (*digit, carry) = (*digit ^ carry, *digit & carry);
    }
}

/// Returns for every bit position the sum of three binary digits, as its lower digit and the carry.
#[inline(always)]
fn sum_of(a: u64, b: u64, c: u64) -> (u64, u64) {
    let differ = a ^ b;
    (differ ^ c, a & b | differ & c)
}
