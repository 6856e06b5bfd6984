//! A small table that finds hashes that occur more than once.

/// Number of counters for each expected hash. With more counters, fewer hashes share one.
const COUNTERS_A_HASH: usize = 8;

/// Approximate counters of hashes, which find the hashes that occur more than once. Several hashes can share a counter,
/// so a hash that occurs once may look repeated. A repeated hash is always found.
#[derive(Debug, Default)]
pub(crate) struct SeenTwice {
    /// One bit for each counter: whether one of its hashes occurred at least once.
    once: Vec<u64>,
    /// One bit for each counter: whether its hashes occurred more than once.
    twice: Vec<u64>,
    mask: u64,
}

impl SeenTwice {
    /// Creates counters, all zero, for about `hashes` hashes.
    pub(crate) fn new(hashes: usize) -> Self {
        let mut counters = Self::default();
        counters.restart(hashes);
        counters
    }

    /// Sets all counters to zero, and makes enough of them for about `hashes` hashes.
    pub(crate) fn restart(&mut self, hashes: usize) {
        let words = (hashes * COUNTERS_A_HASH).next_power_of_two().div_ceil(64);
        for bits in [&mut self.once, &mut self.twice] {
            bits.clear();
            bits.resize(words, 0);
        }
        self.mask = words as u64 * 64 - 1;
    }

    /// Counts an occurrence of a hash. Only its lower bits select the counter, because the highest bits are
    /// equal in all hashes of a bucket.
    #[inline]
    pub(crate) fn see(&mut self, hash: u64) {
        let counter = hash & self.mask;
        let (word, bit) = ((counter / 64) as usize, 1 << (counter % 64));
        self.twice[word] |= self.once[word] & bit;
        self.once[word] |= bit;
    }

    /// Returns whether `hash` may have occurred more than once. A false result is certain.
    #[inline]
    pub(crate) fn has(&self, hash: u64) -> bool {
        let counter = hash & self.mask;
        self.twice[(counter / 64) as usize] >> (counter % 64) & 1 == 1
    }
}

/// Returns the items of `blocks` whose hashes may have occurred more than once according to `seen`, in order.
pub(crate) fn repeated_items<T: Copy>(
    blocks: &[Vec<T>],
    seen: &SeenTwice,
    hash: impl Fn(&T) -> u64,
) -> Vec<T> {
    let is_repeated = |item: &&T| seen.has(hash(item));
    let count = blocks.iter().map(|block| block.iter().filter(is_repeated).count()).sum();
    let mut repeated = Vec::with_capacity(count);
    // Block by block: one iterator over the items of all blocks takes several times as long.
    for block in blocks {
        repeated.extend(block.iter().filter(is_repeated));
    }
    repeated
}
