//! The similar pairs of some documents, found by their sketches, for the decision which documents are kept.

use super::kept_pairs::{FoundPairs, PairLists, PairSearch, RowFilter};
use super::sketch_join::SketchJoin;
use super::window_scan::{CandidateSets, WindowScan};
use crate::close::SetPair;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::LargeBuffer;
use simtool_model::closeness::Closeness;

/// Search for similar sets among some documents of a join by sketches.
pub(super) struct SketchPairs<'a> {
    pub(super) join: &'a SketchJoin<'a>,
    /// Number of distinct terms of each document that was compared, by row number.
    pub(super) sizes: &'a mut [u32],
}

impl PairSearch for SketchPairs<'_> {
    type Pair = SetPair;

    fn documents(&self) -> Vec<u32> {
        self.join.sketches.documents.clone()
    }

    fn within(
        &mut self,
        is_one: &RowFilter<'_>,
        most: u64,
        held: u64,
    ) -> Result<Option<PairLists<SetPair>>> {
        let sets = self.join.sketches.some(is_one);
        let plan = self.join.plan();
        let scan = WindowScan::new(sets.clone(), sets, CandidateSets::Earlier, plan)?;
        let mut lists = Vec::new();
        let mut count = 0;
        let found = &mut |pairs: LargeBuffer<SetPair>, _: &[u32]| {
            count += pairs.len() as u64;
            lists.push(pairs);
            if count > most { Err(self.join.join.too_many_pairs(count)) } else { Ok(count + held) }
        };
        let visited = self.join.visit(&[scan], self.sizes, found);
        // The error of `found` only ended the visit.
        if count > most {
            return Ok(None);
        }
        visited?;
        Ok(Some(lists))
    }

    fn across(
        &mut self,
        [is_first, is_second]: [&RowFilter<'_>; 2],
        found: &mut FoundPairs<'_, SetPair>,
    ) -> Result<()> {
        let join = self.join;
        let [first, second] = [is_first, is_second].map(|is_one| join.sketches.some(is_one));
        let scans = join.across(first, second)?;
        join.visit(&scans, self.sizes, &mut |pairs, sizes| {
            found(&pairs, &|pair| join.closeness(pair, sizes))
        })
    }

    fn closeness(&self, pair: &SetPair) -> Closeness {
        self.join.closeness(pair, self.sizes)
    }

    fn too_many_pairs(&self, pairs: u64) -> Error {
        self.join.join.too_many_pairs(pairs)
    }
}
