//! Some documents' sets of terms, by term: what another document shares with each of them.

use simtool_base::unordered_map::UnorderedMap;

/// The sets of some documents, and for each term those that have it. A term counts as much as it weighs.
pub(crate) struct ProbeSets<W> {
    weight: W,
    sizes: Vec<u64>,
    lists: UnorderedMap<u64, Vec<u32>>,
}

impl<W: Fn(u64) -> u32> ProbeSets<W> {
    /// Of sets of distinct terms, which weigh so much.
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

    /// What a set weighs.
    pub(crate) fn size(&self, set: &[u64]) -> u64 {
        set.iter().map(|&term| u64::from((self.weight)(term))).sum()
    }

    /// Number of sets.
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Calls `visit` with the place of every set that shares terms with `set`, ascending, what these
    /// weigh, and what it weighs. `sums` has a zero for each set, before and after.
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
    fn what_is_shared_with_each_is_weighed() {
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
