//! Documents with the same terms in the same order, and sets with the same terms: one of each is
//! joined, and stands for the others.

use super::prune::{Shard, Stored};
use super::ranked_sets::RankedSets;
use super::threads::Threads;
use super::{Sources, TermSource as _};
use crate::error::Result;
use crate::stable_hash::hash;

/// Documents that equal an earlier one, as (row of the earliest, row).
#[derive(Debug, Default)]
pub(super) struct EqualDocuments {
    /// Equal, or with the same signature by chance; ascending by row.
    candidates: Vec<(u32, u32)>,
    /// Equal, term by term.
    confirmed: Vec<(u32, u32)>,
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
        let mut candidates = Vec::new();
        for group in living.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            candidates.extend(group[1..].iter().map(|&(.., row)| (group[0].2, row)));
        }
        candidates.sort_unstable_by_key(|&(_, row)| row);
        for shard in shards {
            for &(_, row) in within(&candidates, shard) {
                shard.alive[(row - shard.first_row) as usize] = false;
            }
        }
        Self { candidates, confirmed: Vec::new() }
    }

    /// Whether all that was set aside was compared.
    pub(super) fn is_settled(&self) -> bool {
        self.candidates.is_empty()
    }

    /// The shards with none alive but the earliest document of each group.
    pub(super) fn earliest(&self, shards: &[Shard]) -> Vec<Shard> {
        let mut earliest = shards.to_vec();
        for shard in &mut earliest {
            shard.alive.fill(false);
        }
        for &(row, _) in &self.candidates {
            let shard = earliest.partition_point(|shard| shard.end_row() <= row);
            let shard = &mut earliest[shard];
            shard.alive[(row - shard.first_row) as usize] = true;
        }
        earliest
    }

    /// Compares the documents that were set aside with their earliest one, where that is stored,
    /// and never again. Those that differ after all live again; tells whether there are any.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn confirm(
        &mut self,
        sources: &Sources<'_>,
        shards: &mut [Shard],
        stored: &[Stored],
        threads: Threads<'_>,
    ) -> Result<bool> {
        if self.candidates.is_empty() {
            return Ok(false);
        }
        let (candidates, known) = (&self.candidates, &*shards);
        let compared = threads.try_map(
            shards.len(),
            || Ok(()),
            |(), number| {
                let shard = &known[number];
                let own = within(candidates, shard);
                let mut wanted = vec![false; shard.sizes.len()];
                for &(earliest, row) in own {
                    wanted[(row - shard.first_row) as usize] = terms_of(stored, earliest).is_some();
                }
                let mut compared = Vec::new();
                if wanted.contains(&true) {
                    let wants = |index: u32| wanted.get(index as usize) == Some(&true);
                    let mut left = own.iter();
                    sources.visit_shard(number, &wants, &mut |index, terms| {
                        let row = shard.first_row + index;
                        if let Some(&(earliest, _)) = left.find(|&&(_, linked)| linked == row) {
                            let equal = terms_of(stored, earliest) == Some(terms);
                            compared.push(((earliest, row), equal));
                        }
                    })?;
                }
                Ok(compared)
            },
        )?;
        let mut any_differ = false;
        for (shard, compared) in shards.iter_mut().zip(compared) {
            for (link, equal) in compared {
                if equal {
                    self.confirmed.push(link);
                } else {
                    any_differ = true;
                    shard.alive[(link.1 - shard.first_row) as usize] = true;
                }
            }
        }
        self.candidates.retain(|&(earliest, _)| terms_of(stored, earliest).is_none());
        Ok(any_differ)
    }

    /// The groups of equal rows.
    pub(super) fn groups(&self, equal_sets: &EqualSets) -> Vec<Vec<u32>> {
        let mut members: Vec<(u32, u32)> = (equal_sets.links())
            .chain(self.confirmed.iter().map(|&(earliest, row)| (equal_sets.first(earliest), row)))
            .collect();
        let firsts: Vec<(u32, u32)> = members.iter().map(|&(first, _)| (first, first)).collect();
        members.extend(firsts);
        members.sort_unstable();
        members.dedup();
        let groups = members.chunk_by(|a, b| a.0 == b.0);
        groups.map(|group| group.iter().map(|&(_, row)| row).collect()).collect()
    }
}

/// The links whose rows are of the shard.
fn within<'l>(links: &'l [(u32, u32)], shard: &Shard) -> &'l [(u32, u32)] {
    let before = |end: u32| links.partition_point(|&(_, row)| row < end);
    &links[before(shard.first_row)..before(shard.end_row())]
}

/// The stored terms of a row.
fn terms_of(stored: &[Stored], row: u32) -> Option<&[u64]> {
    stored.iter().find_map(|part| {
        let document = part.rows.binary_search(&row).ok()?;
        let start = document.checked_sub(1).map_or(0, |before| part.ends[before]);
        Some(&part.terms[start..part.ends[document]])
    })
}

/// Rows whose sets equal that of an earlier one, though their texts do not.
#[derive(Debug, Default)]
pub(super) struct EqualSets {
    /// (row, earliest row), ascending, once for each row.
    links: Vec<(u32, u32)>,
}

impl EqualSets {
    /// From (row, an earlier row): of several earlier rows the first is the earliest of all.
    pub(super) fn new(mut links: Vec<(u32, u32)>) -> Self {
        links.sort_unstable();
        links.dedup_by_key(|&mut (row, _)| row);
        Self { links }
    }

    /// The earliest row whose set equals that of `row`.
    pub(super) fn first(&self, row: u32) -> u32 {
        let at = self.links.binary_search_by_key(&row, |&(row, _)| row);
        at.map_or(row, |at| self.links[at].1)
    }

    /// All links as (earliest row, row).
    fn links(&self) -> impl Iterator<Item = (u32, u32)> {
        self.links.iter().map(|&(row, first)| (first, row))
    }
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
