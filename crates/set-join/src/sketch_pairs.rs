//! The similar pairs of some documents, found by their sketches, for the decision which documents are kept.

use super::kept_pairs::{FoundPairs, PairLists, PairSearch, RowFilter};
use super::sketch_join::SketchJoin;
use super::sketches::Sketches;
use super::window_scan::CandidateSets;
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

impl SketchPairs<'_> {
    /// Returns the places of the documents for which `is_one` is true, and a copy of the sketches of those that can be
    /// similar to a larger document.
    fn only(&self, is_one: &RowFilter<'_>) -> Result<(Vec<u32>, Sketches)> {
        let (sketches, threshold) = (&self.join.sketches, self.join.join.threshold);
        let rows = (0..).zip(&sketches.documents).filter(|&(_, &row)| is_one(row));
        let places: Vec<u32> = rows.map(|(place, _)| place).collect();
        let larger = sketches.with_larger(&places, threshold);
        Ok((places, sketches.only(&larger, threshold, self.join.context())?))
    }
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
        let (places, larger) = self.only(is_one)?;
        let sketches = &self.join.sketches;
        let scan = self.join.scan(sketches, places, &larger, CandidateSets::Earlier);
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
        let (first, of_first) = self.only(is_first)?;
        let (second, of_second) = self.only(is_second)?;
        let join = self.join;
        // The first scan finds the pairs whose second set is not larger, and the second scan the others.
        let scans = [
            join.scan(&join.sketches, first, &of_second, CandidateSets::NotLarger),
            join.scan(&join.sketches, second, &of_first, CandidateSets::Smaller),
        ];
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
