//! The join by sketches in parts, for documents whose sketches do not fit in memory together.
//!
//! Documents are sorted by size and divided into parts whose sketches take about the same memory. Each
//! part is compared with itself and with the parts of smaller documents. Similar sets have similar
//! sizes, so many parts need not be compared with each other. Each comparison of two parts takes a
//! reading of the documents.

use super::pair_order::{PAIRS, in_order};
use super::prune::{self, JoinShard};
use super::set_join::{FoundPairs, SetJoin};
use super::sketch_join::SketchJoin;
use super::sketch_rows::words_of;
use super::sketching::{self, Sketching};
use super::survivors::sketch_some;
use super::term_source::{TermSource as _, TermSources};
use crate::close::{ClosePairs, SetPair};
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::{LargeBuffer, filled};
use simtool_base::progress::Work;
use simtool_model::similarity::Threshold;
use std::ops::Range;

/// Maximum number of readings. A reading compares a part with itself or with another one.
const MOST_READINGS: usize = 256;

/// Bytes of memory for each set in a part, in addition to the bits of its sketch. They include the memory for sorting
/// the sketches.
const BYTES_PER_SET: u64 = 120;

/// Bytes of memory for each document outside the parts: its size twice, and its place in the order of sizes.
const BYTES_PER_ROW: u64 = 16;

/// Size of a document, which is its number of distinct terms, and its row number. Parts are ranges in the order of
/// these pairs.
type SizedRow = (u32, u32);

/// Parts into which documents are divided by their sizes. A size is a number of distinct terms.
pub(super) struct SketchParts {
    /// Size of each document that may have a similar one, by row number. 0 for other documents.
    sizes: Vec<u32>,
    /// For each part, the range of its documents, in ascending order.
    parts: Vec<Range<SizedRow>>,
}

impl SketchParts {
    /// Divides documents into parts whose sketches take at most `most` bytes of memory, unless a part has
    /// a single document. `sizes` has the number of distinct terms of each document by row number.
    pub(super) fn new(sizes: Vec<u32>, most: u64, threshold: Threshold) -> Self {
        let rows = (0..).zip(&sizes).filter(|&(_, &size)| size > 0);
        let mut ascending: Vec<SizedRow> = rows.map(|(row, &size)| (size, row)).collect();
        ascending.sort_unstable();
        let (mut parts, mut inside) = (Vec::new(), 0);
        let mut start = ascending.first().copied();
        for &document in &ascending {
            // The bits exist twice while sketches are sorted.
            let bytes = 16 * words_of(document.0, threshold) as u64 + BYTES_PER_SET;
            if inside > 0 && inside + bytes > most {
                parts.extend(start.map(|start| start..document));
                (start, inside) = (Some(document), 0);
            }
            inside += bytes;
        }
        parts.extend(start.map(|start| start..(u32::MAX, u32::MAX)));
        Self { sizes, parts }
    }

    /// Returns the indices of the parts before part `part` that may have documents similar to a document of `part`.
    fn earlier(&self, part: usize, threshold: Threshold) -> Range<usize> {
        let least = threshold.min_size(self.parts[part].start.0);
        // A part ends before the next one, so it may have documents of the size at which it ends.
        self.parts[..part].partition_point(|part| part.end.0 < least)..part
    }

    /// Returns the number of readings that the comparison of all parts takes.
    fn readings(&self, threshold: Threshold) -> usize {
        (0..self.parts.len()).map(|part| 1 + self.earlier(part, threshold).len()).sum()
    }
}

impl SetJoin<'_> {
    /// Divides the documents of `sketches` into parts. Returns `None` if their comparison would take too many
    /// readings, or longer than a join by prefixes.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn sketch_parts(
        &self,
        sources: &TermSources<'_>,
        shards: &[JoinShard],
        sketches: &[Sketching],
    ) -> Result<Option<SketchParts>> {
        if sources.is_weighted() || !self.is_scan_timely(sources, shards) {
            return Ok(None);
        }
        let mut sizes = filled(0, prune::end_row(shards) as usize, PAIRS)?;
        sketching::write_sizes(sketches, &mut sizes);
        // Two parts take half of the memory. The other half is for candidates, their terms, and pairs.
        let parts = SketchParts::new(sizes, self.bytes_for_parts(shards) / 4, self.threshold);
        Ok((parts.readings(self.threshold) <= MOST_READINGS).then_some(parts))
    }

    /// Returns the number of bytes that remain for the parts after the lists of the sizes and positions of all
    /// documents.
    fn bytes_for_parts(&self, shards: &[JoinShard]) -> u64 {
        let rows = u64::from(prune::end_row(shards));
        self.memory_bytes.saturating_sub(rows * BYTES_PER_ROW)
    }

    /// Returns all similar pairs of the documents in `parts`, in ascending order. In a join of two
    /// collections, the rows of the second begin at `second_from`.
    ///
    /// # Errors
    /// The source fails, there are too many pairs, or there is not enough memory.
    pub(super) fn join_in_parts(
        &self,
        sources: &TermSources<'_>,
        shards: &[JoinShard],
        parts: &SketchParts,
        second_from: Option<u32>,
    ) -> Result<FoundPairs> {
        let comparing = Self { memory_bytes: self.bytes_for_parts(shards) / 2, ..*self };
        let sketched = |part: &Range<SizedRow>| {
            self.context.progress().begin("sketch", Work::Bytes(sources.bytes()));
            let is_one = |row: u32| part.contains(&(parts.sizes[row as usize], row));
            let sketched = sketch_some(sources, shards, &is_one, self)?;
            let join = SketchJoin::new(&comparing, sources, shards, sketched, second_from);
            Ok::<_, Error>(join)
        };
        let mut sizes = parts.sizes.clone();
        let mut similar: Vec<LargeBuffer<SetPair>> = Vec::new();
        let mut count = 0;
        for (number, part) in parts.parts.iter().enumerate() {
            let own = sketched(part)?;
            let most = own.most_pairs();
            let mut found = |pairs: LargeBuffer<SetPair>, _: &[u32]| {
                count += pairs.len() as u64;
                similar.push(pairs);
                if count > most { Err(self.too_many_pairs(count)) } else { Ok(count) }
            };
            own.visit(&own.all()?.scans, &mut sizes, &mut found)?;
            for earlier in parts.earlier(number, self.threshold) {
                let other = sketched(&parts.parts[earlier])?;
                own.visit(&own.scans_with(&other)?, &mut sizes, &mut found)?;
            }
        }
        let mut pairs = in_order(&similar, self.context)?;
        let second_from = second_from.unwrap_or(0);
        for pair in &mut *pairs {
            pair.b -= second_from;
        }
        let pairs = ClosePairs::of_sets(pairs, sizes, second_from, self.threshold);
        Ok(FoundPairs { pairs, are_all: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{check_in_parts, threshold};
    use simtool_base::stable_hash::mix;

    #[test]
    fn parts_have_all_documents_and_little_memory() {
        let threshold = threshold(4, 5);
        let sizes: Vec<u32> = (0..5000).map(|row| (mix(row) % 900) as u32).collect();
        let bytes = |size: u32| 16 * words_of(size, threshold) as u64 + BYTES_PER_SET;
        let all: u64 = sizes.iter().filter(|size| **size > 0).map(|&size| bytes(size)).sum();
        for divided in [1, 2, 3, 20] {
            let most = all / divided;
            let parts = SketchParts::new(sizes.clone(), most, threshold);
            let mut rows: Vec<SizedRow> = Vec::new();
            for part in &parts.parts {
                let documents = (0..).zip(&sizes).map(|(row, &size)| (size, row));
                let inside: Vec<_> = documents.filter(|document| part.contains(document)).collect();
                assert!(inside.iter().map(|&(size, _)| bytes(size)).sum::<u64>() <= most);
                rows.extend(inside);
            }
            assert_eq!(rows.len(), sizes.iter().filter(|size| **size > 0).count());
            let count = parts.parts.len();
            assert!((divided as usize..=divided as usize + 2).contains(&count), "{count}");
            // Small documents are not compared with large ones.
            let most_readings = count * (count + 1) / 2;
            assert!(parts.readings(threshold) <= most_readings);
            assert!(divided < 20 || parts.readings(threshold) < most_readings / 2);
        }
        assert_eq!(SketchParts::new(vec![0; 9], 0, threshold).parts, []);
    }

    #[test]
    fn documents_of_several_parts_are_joined_as_in_one() {
        // Documents of all sizes up to 300, in families in which each document has one term more.
        let document = |number: u64| {
            let family = number / 10 * 1000;
            (0..number / 10 * 9 + number % 10 + 5).map(|term| mix(family + term)).collect()
        };
        let documents: Vec<Vec<u64>> = (0..300).map(document).collect();
        for threshold in [threshold(4, 5), threshold(9, 10), threshold(1, 2)] {
            for most in [8 << 10, 64 << 10, 1 << 20] {
                check_in_parts(&documents, threshold, most);
            }
        }
    }
}
