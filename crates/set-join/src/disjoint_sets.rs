//! Union-find: finds numbers that are linked directly or through other numbers.

/// Partition of the numbers below a count into disjoint sets. The smallest number of a set
/// represents the set.
///
/// # Complexity
///
/// O(α(n)) amortized for each operation, where α is the inverse of Ackermann's function.
///
/// # References
///
/// R. Tarjan, "Efficiency of a good but not linear set union algorithm", JACM 22(2), 1975.
#[derive(Clone, Debug)]
pub struct DisjointSets {
    parents: Vec<u32>,
}

impl DisjointSets {
    /// Creates `count` sets. Each has one of the numbers below `count`.
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self { parents: (0..count).collect() }
    }

    /// Returns the smallest number in the set of `number`, and shortens the path to it.
    pub fn smallest(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            let above = self.parents[number as usize];
            self.parents[number as usize] = self.parents[above as usize];
            number = above;
        }
        number
    }

    /// Merges the set of `a` and the set of `b`. Returns whether these were two sets.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        if self.parents[a as usize] == self.parents[b as usize] {
            return false;
        }
        let a = self.smallest(a);
        let b = self.smallest(b);
        // The smaller root becomes the parent, so each root is the smallest number of its set.
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_numbers_have_one_smallest() {
        let mut sets = DisjointSets::new(6);
        let joined = [(4, 5), (2, 4), (5, 2), (4, 5)].map(|(a, b)| sets.join(a, b));
        assert_eq!(joined, [true, true, false, false]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|number| sets.smallest(number)), [0, 1, 2, 3, 2, 2]);
    }
}
