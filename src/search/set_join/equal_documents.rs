//! Documents with the same terms in the same order, and sets with the same terms: one of each is
//! joined, and stands for the others.

use super::prune::{Shard, Stored};
use super::ranked_sets::RankedSets;
use super::workers::Workers;
use super::{Sources, TermSource as _};
use crate::error::Result;
use crate::stable_hash::hash;

/// Documents that equal an earlier one.
#[derive(Debug, Default)]
pub(super) struct EqualDocuments {
    /// (row of the earliest, row), ascending by row: equal, or with the same signature by chance
    /// until they are confirmed.
    links: Vec<(u32, u32)>,
}

impl EqualDocuments {
    /// Sets aside the living documents that have the signature of an earlier one.
    pub(super) fn set_aside(shards: &mut [Shard]) -> Self {
        let mut living: Vec<(u64, u32, u32)> = Vec::new();
        for shard in &*shards {
            let documents = shard.signatures.iter().zip(&shard.sizes).zip(&shard.alive);
            living.extend((shard.first_row..).zip(documents).filter_map(
                |(row, ((&signature, &size), &alive))| alive.then_some((signature, size, row)),
            ));
        }
        living.sort_unstable();
        let mut links = Vec::new();
        for group in living.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            links.extend(group[1..].iter().map(|&(.., row)| (group[0].2, row)));
        }
        links.sort_unstable_by_key(|&(_, row)| row);
        let mut shard = 0;
        for &(_, row) in &links {
            while row - shards[shard].first_row >= shards[shard].sizes.len() as u32 {
                shard += 1;
            }
            let index = row - shards[shard].first_row;
            shards[shard].alive[index as usize] = false;
        }
        Self { links }
    }

    /// Compares the documents that were set aside with their earliest one, which is stored; those
    /// that differ after all are stored as well.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn confirm(
        &mut self,
        sources: &Sources<'_>,
        shards: &[Shard],
        stored: &mut Vec<Stored>,
        workers: Workers<'_>,
    ) -> Result<()> {
        if self.links.is_empty() {
            return Ok(());
        }
        let (links, parts) = (&self.links, &*stored);
        let outcomes = workers.try_map(
            shards.len(),
            || (),
            |(), number| {
                let shard = &shards[number];
                let end = shard.first_row + shard.sizes.len() as u32;
                let own = links.partition_point(|&(_, row)| row < shard.first_row)
                    ..links.partition_point(|&(_, row)| row < end);
                let own = &links[own];
                let mut wanted = vec![false; shard.sizes.len()];
                own.iter().for_each(|&(_, row)| wanted[(row - shard.first_row) as usize] = true);
                let (mut differing, mut left) = (Stored::default(), own.iter());
                if !own.is_empty() {
                    let wants = |index: u32| wanted.get(index as usize).copied().unwrap_or(false);
                    sources.visit_shard(number, &wants, &mut |index, terms| {
                        let row = shard.first_row + index;
                        let Some(&(earliest, _)) = left.find(|&&(_, linked)| linked == row) else {
                            return;
                        };
                        if terms_of(parts, shards, earliest) != Some(terms) {
                            differing.push(row, terms);
                        }
                    })?;
                }
                Ok(differing)
            },
        )?;
        for differing in outcomes.into_iter().filter(|part| !part.rows.is_empty()) {
            self.links.retain(|(_, row)| differing.rows.binary_search(row).is_err());
            stored.push(differing);
        }
        Ok(())
    }

    /// The groups of equal rows, given the places of equal sets as (first, other).
    pub(super) fn groups(&self, sets: &RankedSets, equal_sets: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let row = |set: u32| sets.rows[set as usize];
        let mut set_links: Vec<(u32, u32)> =
            equal_sets.iter().map(|&(first, other)| (row(other), row(first))).collect();
        set_links.sort_unstable();
        let root = |row: u32| {
            let at = set_links.binary_search_by_key(&row, |&(other, _)| other);
            at.map_or(row, |at| set_links[at].1)
        };
        let mut members: Vec<(u32, u32)> = (set_links.iter().map(|&(other, first)| (first, other)))
            .chain(self.links.iter().map(|&(earliest, row)| (root(earliest), row)))
            .collect();
        let roots: Vec<(u32, u32)> = members.iter().map(|&(root, _)| (root, root)).collect();
        members.extend(roots);
        members.sort_unstable();
        members.dedup();
        let groups = members.chunk_by(|a, b| a.0 == b.0);
        groups.map(|group| group.iter().map(|&(_, row)| row).collect()).collect()
    }
}

/// The stored terms of a row.
fn terms_of<'a>(stored: &'a [Stored], shards: &[Shard], row: u32) -> Option<&'a [u64]> {
    let shard = shards.partition_point(|shard| shard.first_row <= row).checked_sub(1)?;
    let stored = stored.get(shard)?;
    let document = stored.rows.binary_search(&row).ok()?;
    let start = if document == 0 { 0 } else { stored.ends[document - 1] };
    Some(&stored.terms[start..stored.ends[document]])
}

/// Sets that equal an earlier one, as (first, other) by their places. Only sets whose terms all
/// match can have an equal.
pub(super) fn equal_sets(sets: &RankedSets) -> Vec<(u32, u32)> {
    let mut hashes: Vec<(u64, u32)> = (0..sets.len())
        .filter(|&set| sets.unmatched[set] == 0)
        .map(|set| (hash(bytemuck::cast_slice(sets.ranks_of(set))), set as u32))
        .collect();
    hashes.sort_unstable();
    let mut equal = Vec::new();
    let mut firsts: Vec<u32> = Vec::new();
    for group in hashes.chunk_by(|a, b| a.0 == b.0) {
        firsts.clear();
        for &(_, set) in group {
            let ranks = sets.ranks_of(set as usize);
            match firsts.iter().find(|&&first| sets.ranks_of(first as usize) == ranks) {
                Some(&first) => equal.push((first, set)),
                None => firsts.push(set),
            }
        }
    }
    equal
}
