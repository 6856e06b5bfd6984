//! Numbers that are linked, directly or through others.

/// Disjoint sets of the numbers below a count, each represented by its smallest number.
///
/// # Complexity
///
/// O(α(n)) amortized for each operation, α the inverse of Ackermann's function.
///
/// # References
///
/// R. Tarjan, "Efficiency of a good but not linear set union algorithm", JACM 22(2), 1975.
#[derive(Clone, Debug)]
pub struct DisjointSets {
    parents: Vec<u32>,
}

impl DisjointSets {
    /// Every one of `count` numbers alone.
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self { parents: (0..count).collect() }
    }

    /// The smallest number of the set of `number`; halves the path to it.
    pub fn smallest(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            let above = self.parents[number as usize];
            self.parents[number as usize] = self.parents[above as usize];
            number = above;
        }
        number
    }

    /// Makes one set of those of two numbers.
    pub fn join(&mut self, a: u32, b: u32) {
        if self.parents[a as usize] == self.parents[b as usize] {
            return;
        }
        let a = self.smallest(a);
        let b = self.smallest(b);
        // The smaller root becomes the parent, so each root is the smallest number of its set.
        self.parents[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_numbers_have_one_smallest() {
        let mut sets = DisjointSets::new(6);
        sets.join(4, 5);
        sets.join(2, 4);
        sets.join(5, 2);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|number| sets.smallest(number)), [0, 1, 2, 3, 2, 2]);
    }
}
