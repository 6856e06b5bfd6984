//! The rounds for collections whose terms do not fit into memory: the documents are read again
//! instead of kept, twice a round.

use super::cells::{Cells, Writer};
use super::prune::{
    CELLS_PER_TERM, Shard, document_size, exceeds, outweighs, row_after, sample_eighths,
};
use super::threads::Threads;
use super::{Sources, TermSource as _, living_terms};
use crate::error::Result;
use crate::progress::{Progress, Work};
use crate::similarity::Threshold;

/// What a round by reading needs to know.
pub(super) struct Rereading<'a> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) threshold: Threshold,
    /// The most bytes that a table of cells may take.
    pub(super) table_bytes: u64,
    pub(super) threads: Threads<'a>,
    pub(super) progress: &'a dyn Progress,
}

impl Rereading<'_> {
    fn cells(&self, terms: u64, round: u32) -> Result<Cells> {
        // Four cells a byte.
        let most = self.table_bytes.saturating_mul(4);
        Cells::new(terms.saturating_mul(CELLS_PER_TERM).min(most), round)
    }

    /// The first round: learns the sizes of the documents and drops those that cannot match.
    ///
    /// # Errors
    /// Those of the source; memory that cannot be had; more than 32 bits count.
    pub(super) fn first_round(&self) -> Result<Vec<Shard>> {
        let eighths = sample_eighths(self.threshold);
        let hint = self.sources.term_count_hint();
        let mut cells = self.cells(hint.saturating_mul(eighths) / 8, 0)?;
        let counted = self.count(&mut cells, eighths, |_| None)?;
        let mut first_row = 0;
        let mut shards = Vec::with_capacity(counted.len());
        for sizes in counted {
            let shard = Shard::new(first_row, sizes);
            first_row = row_after(first_row, shard.sizes.len())?;
            shards.push(shard);
        }
        self.prune(&mut shards, &cells, eighths)?;
        Ok(shards)
    }

    /// Further rounds, until at most `enough` terms are left or one drops less than a fifth.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) fn rounds(&self, shards: &mut [Shard], enough: u64) -> Result<()> {
        for round in 1.. {
            let before = living_terms(shards);
            if before <= enough {
                break;
            }
            let mut cells = self.cells(before, round)?;
            self.progress.begin("prune", Work::Bytes(self.sources.bytes() * 2));
            self.count(&mut cells, 8, |shard| Some(&shards[shard].alive))?;
            self.prune(shards, &cells, 8)?;
            let after = living_terms(shards);
            if after * 5 >= before * 4 {
                break;
            }
        }
        Ok(())
    }

    /// Notes the terms of the living documents in the cells; returns the sizes of what was read.
    fn count<'s>(
        &self,
        cells: &mut Cells,
        eighths: u64,
        alive: impl Fn(usize) -> Option<&'s Vec<bool>> + Sync,
    ) -> Result<Vec<Vec<u32>>> {
        let numbers = cells.numbers();
        let filling = cells.filling();
        self.threads.try_map(
            self.sources.shard_count(),
            || filling.writers(self.sources.second.is_some()),
            |writers: &mut [Writer<'_, '_>; 2], shard| {
                let writer = &mut writers[self.sources.side(shard)];
                let alive = alive(shard);
                let wanted =
                    |index: u32| alive.is_none_or(|all| all.get(index as usize) == Some(&true));
                let mut sizes = Vec::new();
                self.sources.try_visit(shard, &wanted, &mut |_, terms| {
                    sizes.push(document_size(terms.len())?);
                    for &term in terms.iter().filter(|&&term| term & 7 < eighths) {
                        writer.push(numbers.of(term));
                    }
                    Ok(())
                })?;
                Ok(sizes)
            },
        )
    }

    /// Drops living documents with too many unmatched terms.
    fn prune(&self, shards: &mut [Shard], cells: &Cells, eighths: u64) -> Result<()> {
        let numbers = cells.numbers();
        let known = &*shards;
        let judged = self.threads.try_map(
            shards.len(),
            || Ok(Vec::new()),
            |sampled: &mut Vec<u32>, number| {
                let shard = &known[number];
                let wanted = |index: u32| shard.alive.get(index as usize) == Some(&true);
                let mut judged = Vec::new();
                self.sources.visit_shard(number, &wanted, &mut |index, terms| {
                    if let Some(&weight) = shard.weights.get(index as usize) {
                        let limit = weight - self.threshold.min_weight(weight);
                        let weight = |term| self.sources.weight(term);
                        judged.push((index, !outweighs(terms, limit, cells, weight)));
                        return;
                    }
                    sampled.clear();
                    let sample = terms.iter().filter(|&&term| term & 7 < eighths);
                    sampled.extend(sample.map(|&term| numbers.of(term)));
                    let limit = self.threshold.max_unshared(terms.len() as u32) as usize;
                    let alive = !exceeds(sampled, limit, |&cell| !cells.is_matched(cell));
                    judged.push((index, alive));
                })?;
                Ok(judged)
            },
        )?;
        for (shard, judged) in shards.iter_mut().zip(judged) {
            for (index, alive) in judged {
                shard.alive[index as usize] = alive;
            }
        }
        Ok(())
    }
}
