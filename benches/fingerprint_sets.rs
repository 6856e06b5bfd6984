//! Sets of fingerprints with a fixed seed, for tests and benches.

/// The generator `SplitMix64`: a fixed sequence for each seed.
///
/// # References
///
/// G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns the next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns the next 128 bits.
    pub(crate) fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    /// Returns a number below `end`, which must not be 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

/// Builds uniform fingerprints of `bits` bits (80 % of the rows), clusters of 2 to 30 rows with up
/// to three flips from a centre (15 %), and repetitions (5 %).
pub(crate) fn mix(rows: usize, bits: u32, seed: u64) -> Vec<u128> {
    let mut random = Random(seed);
    let mask = u128::MAX >> (128 - bits);
    let mut set = Vec::with_capacity(rows);
    set.extend((0..rows * 80 / 100).map(|_| random.wide() & mask));
    while set.len() < rows * 95 / 100 {
        let centre = random.wide() & mask;
        // The least of several random numbers: most clusters are small.
        let size = 2 + random.below(29).min(random.below(29)).min(random.below(29));
        for _ in 0..size {
            let mut row = centre;
            for _ in 0..random.below(4) {
                row ^= 1 << random.below(bits.into());
            }
            set.push(row);
        }
    }
    set.truncate(rows * 95 / 100);
    while set.len() < rows {
        let row = set.get(random.below(set.len().max(1) as u64) as usize).copied();
        set.push(row.unwrap_or(0));
    }
    // The rows are shuffled, because rows of a cluster are not neighbours in a real collection.
    for row in (1..set.len()).rev() {
        set.swap(row, random.below(row as u64 + 1) as usize);
    }
    set
}

/// Builds rows in which only the lowest `varying` bits vary. The other bits are those of one
/// number.
pub(crate) fn ball(rows: usize, varying: u32, seed: u64) -> Vec<u128> {
    let mut random = Random(seed);
    let constant = random.wide();
    let mask = u128::MAX >> (128 - varying);
    (0..rows).map(|_| constant & !mask | random.wide() & mask).collect()
}

/// Builds `SimHash` values of made-up pages. A page has a template of 400 words, one of `rows` /
/// 500 templates with Zipf-like frequencies, and 10 to 60 words of its own, also with Zipf-like
/// frequencies. The bits are as skewed as the bits of real text.
pub(crate) fn pages(rows: usize, bits: u32, seed: u64) -> Vec<u128> {
    const WORDS: f64 = 50_000.0;
    let mut random = Random(seed);
    #[expect(clippy::cast_sign_loss, reason = "the power is at least 1")]
    let zipf = |random: &mut Random, end: f64| -> u64 {
        let uniform = random.next() as f64 / u64::MAX as f64;
        (end.powf(uniform) - 1.0) as u64
    };
    let add = |sums: &mut [i32; 128], word: u64| {
        let mut hash = Random(word);
        let signs = hash.wide();
        for (bit, sum) in sums.iter_mut().enumerate() {
            *sum += (signs >> bit & 1) as i32 * 2 - 1;
        }
    };
    let templates: Vec<[i32; 128]> = (0..(rows / 500).max(1))
        .map(|_| {
            let mut sums = [0; 128];
            for _ in 0..400 {
                add(&mut sums, zipf(&mut random, WORDS));
            }
            sums
        })
        .collect();
    (0..rows)
        .map(|_| {
            let template = zipf(&mut random, templates.len() as f64) as usize;
            let mut sums = templates[template.min(templates.len() - 1)];
            for _ in 0..10 + random.below(51) {
                add(&mut sums, zipf(&mut random, WORDS));
            }
            let signs = sums.iter().enumerate();
            let row = signs.fold(0, |row, (bit, &sum)| row | u128::from(sum > 0) << bit);
            row & (u128::MAX >> (128 - bits))
        })
        .collect()
}

/// Builds rows of `words` words each, in one list. Every second row is random, and the row behind
/// it differs from it in up to 20 flips. Every third time the flips are close together.
pub(crate) fn wide_mix(rows: usize, words: usize, seed: u64) -> Vec<u64> {
    let mut random = Random(seed);
    let mut set: Vec<u64> = Vec::with_capacity(rows * words);
    for row in 0..rows {
        if row % 2 == 0 {
            set.extend((0..words).map(|_| random.next()));
            continue;
        }
        let first = set.len() - words;
        set.extend_from_within(first..);
        let reach = if row % 3 == 0 { 4 } else { 64 * words as u64 };
        for _ in 0..random.below(21).min(random.below(21)) {
            let bit = random.below(reach) as usize;
            let last = set.len() - words;
            set[last + bit / 64] ^= 1 << (bit % 64);
        }
    }
    set
}
