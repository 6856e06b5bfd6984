//! Some documents' sets of terms, by term: how many terms another document shares with each of them.

use crate::unordered_map::UnorderedMap;

/// The sets of some documents, and for each term those that have it.
pub(super) struct ProbeSets {
    sizes: Vec<u64>,
    lists: UnorderedMap<u64, Vec<u32>>,
}

impl ProbeSets {
    /// Of sets of distinct terms.
    pub(super) fn new<'s>(sets: impl Iterator<Item = &'s [u64]>) -> Self {
        let (mut sizes, mut lists) = (Vec::new(), UnorderedMap::<u64, Vec<u32>>::default());
        for (at, set) in (0_u32..).zip(sets) {
            sizes.push(set.len() as u64);
            for &term in set {
                lists.entry(term).or_default().push(at);
            }
        }
        Self { sizes, lists }
    }

    /// Number of sets.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Calls `visit` with the place of every set that shares terms with `set`, ascending, the number of
    /// these, and its size. `counts` has a zero for each set, before and after.
    pub(super) fn visit_shared(
        &self,
        set: &[u64],
        counts: &mut [u32],
        mut visit: impl FnMut(usize, u64, u64),
    ) {
        for at in set.iter().filter_map(|term| self.lists.get(term)).flatten() {
            counts[*at as usize] += 1;
        }
        for (at, (count, &size)) in counts.iter_mut().zip(&self.sizes).enumerate() {
            let shared = u64::from(std::mem::take(count));
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
    fn what_is_shared_with_each_is_counted() {
        let sets: [&[u64]; 3] = [&[1, 2, 3], &[4], &[2, 3, 5, 6]];
        let probes = ProbeSets::new(sets.into_iter());
        let mut counts = vec![0; probes.len()];
        for _ in 0..2 {
            let mut found = Vec::new();
            probes.visit_shared(&[2, 3, 9], &mut counts, |at, shared, size| {
                found.push((at, shared, size));
            });
            assert_eq!(found, [(0, 2, 3), (2, 2, 4)]);
        }
    }
}
