//! Plain connected components: rows joined by any chain of alike rows.

/// Disjoint sets of rows that are joined one pair at a time.
///
/// # Complexity
/// Nearly O(1) amortized a pair.
///
/// # References
/// R. E. Tarjan, J. van Leeuwen. Worst-case analysis of set union algorithms. JACM 31(2), 1984
/// (linking by index with path halving).
#[derive(Clone, Debug)]
pub struct UnionFind {
    parents: Vec<u32>,
}

impl UnionFind {
    /// Rows 0 to `rows`, each in a set of its own.
    #[must_use]
    pub fn new(rows: u32) -> Self {
        Self { parents: (0..rows).collect() }
    }

    /// The smallest row of the set that holds `row`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn find(&mut self, mut row: u32) -> u32 {
        loop {
            let parent = self.parents[row as usize];
            if parent == row {
                return row;
            }
            let grandparent = self.parents[parent as usize];
            self.parents[row as usize] = grandparent;
            row = grandparent;
        }
    }

    /// Joins the sets of two rows.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// The sets of at least two rows, ascending, by their first row.
    #[must_use]
    pub fn components(mut self) -> Vec<Vec<u32>> {
        let rows = self.parents.len() as u32;
        let mut members: Vec<(u32, u32)> = (0..rows).map(|row| (self.find(row), row)).collect();
        members.sort_unstable();
        let groups = members.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
        groups.map(|group| group.iter().map(|&(_, row)| row).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The component of each row, by walking the graph.
    fn reached(rows: u32, pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let mut seen = vec![false; rows as usize];
        let mut components = Vec::new();
        for row in 0..rows {
            let mut component = vec![row];
            let mut next = 0;
            while next < component.len() && !seen[row as usize] {
                for &(a, b) in pairs {
                    for (from, to) in [(a, b), (b, a)] {
                        if from == component[next] && !component.contains(&to) {
                            component.push(to);
                        }
                    }
                }
                next += 1;
            }
            for &row in &component {
                seen[row as usize] = true;
            }
            if component.len() > 1 {
                component.sort_unstable();
                components.push(component);
            }
        }
        components
    }

    proptest! {
        #[test]
        fn joins_what_a_walk_reaches(pairs in prop::collection::vec((0..20_u32, 0..20_u32), 0..20)) {
            let mut sets = UnionFind::new(20);
            for &(a, b) in &pairs {
                sets.join(a, b);
            }
            prop_assert_eq!(sets.components(), reached(20, &pairs));
        }
    }
}
