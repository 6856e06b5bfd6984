//! An inverted index of a few sets of terms. It finds the total weight of the terms that another set shares
//! with each of these sets.

use simtool_base::unordered_map::UnorderedMap;

/// Inverted index of some sets of terms. For each term, it lists the sets that contain the term. `W` is a
/// function that returns the weight of a term.
pub(crate) struct ProbeSets<W> {
    weight: W,
    sizes: Vec<u64>,
    lists: UnorderedMap<u64, Vec<u32>>,
}

impl<W: Fn(u64) -> u32> ProbeSets<W> {
    /// Builds the index of `sets`. The terms of each set must be distinct. `weight` returns the weight of a
    /// term.
    pub(crate) fn new<'s>(sets: impl Iterator<Item = &'s [u64]>, weight: W) -> Self {
        let mut probes = Self { weight, sizes: Vec::new(), lists: UnorderedMap::default() };
        for (at, set) in (0_u32..).zip(sets) {
            probes.sizes.push(probes.size(set));
            for &term in set {
                probes.lists.entry(term).or_default().push(at);
            }
        }
        probes
    }

    /// Returns the sum of the weights of the terms of `set`.
    pub(crate) fn size(&self, set: &[u64]) -> u64 {
        set.iter().map(|&term| u64::from((self.weight)(term))).sum()
    }

    /// Returns the number of indexed sets.
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Calls `visit` for every indexed set that shares terms with `set`, in ascending order. The arguments of `visit`
    /// are the number of the indexed set, the total weight of the shared terms, and the total weight of the indexed
    /// set.
    ///
    /// `sums` must hold a zero for each indexed set, and holds zeros again afterwards. Callers pass the same
    /// memory to many calls, so that no call allocates memory.
    pub(crate) fn visit_shared(
        &self,
        set: &[u64],
        sums: &mut [u64],
        mut visit: impl FnMut(usize, u64, u64),
    ) {
        for (&term, list) in set.iter().filter_map(|term| Some((term, self.lists.get(term)?))) {
            let weight = u64::from((self.weight)(term));
            for &at in list {
                sums[at as usize] += weight;
            }
        }
        for (at, (sum, &size)) in sums.iter_mut().zip(&self.sizes).enumerate() {
            // Taking the sum resets it to the zero that the next call expects.
            let shared = std::mem::take(sum);
            if shared > 0 {
                visit(at, shared, size);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_terms_are_weighed_for_each_set() {
        let sets: [&[u64]; 3] = [&[1, 2, 3], &[4], &[2, 3, 5, 6]];
        let probes = ProbeSets::new(sets.into_iter(), |term| if term == 3 { 10 } else { 1 });
        let mut sums = vec![0; probes.len()];
        for _ in 0..2 {
            let mut found = Vec::new();
            probes.visit_shared(&[2, 3, 9], &mut sums, |at, shared, size| {
                found.push((at, shared, size));
            });
            assert_eq!(found, [(0, 11, 12), (2, 11, 13)]);
        }
    }
}
