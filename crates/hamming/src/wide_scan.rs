//! Scans of fingerprints that have more words than the other methods can take. Every pair is compared,
//! word by word.
//!
//! This is the only slow path of this crate. It has no tables and no recursion.

use crate::collect::KeepPairs;
use crate::group_pairs::GroupPairs;
use crate::grouping::GROUPS;
use crate::linear_scan::SCAN_BOUND;
use crate::partners::{Partners, UNKNOWN_BOUND, collect_in_room};
use crate::work::JoinWork;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::unordered_map::UnorderedMap;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::fingerprint_table::Reach;
use simtool_model::groups::Groups;
use simtool_model::matches::Match;
use simtool_model::sides::Sides;
use simtool_model::validity::Validity;
use std::borrow::Cow;

/// Compares every two fingerprints. This is for fingerprints with more words than the methods support.
pub(super) fn scan_wide(
    rows: Sides<&FingerprintRows<'_>>,
    work: JoinWork<'_>,
) -> Result<GroupPairs> {
    let reach = work.reach;
    let keep = &KeepPairs::new(work);
    match rows {
        Sides::One(rows) => {
            let (groups, values) = WideRows::new(rows, reach).grouped()?;
            Ok(GroupPairs {
                groups: Sides::One(groups),
                pairs: collect_in_room(&values, keep, work.share),
            })
        }
        Sides::Two(queries, corpus) => {
            let (query_groups, queries) = WideRows::new(queries, reach).grouped()?;
            let (corpus_groups, corpus) = WideRows::new(corpus, reach).grouped()?;
            let pairs = collect_in_room(&WideSearch { queries, corpus }, keep, work.share);
            Ok(GroupPairs { groups: Sides::Two(query_groups, corpus_groups), pairs })
        }
    }
}

/// Returns an object that finds the partners of a row when they are requested. It compares the row with all later rows
/// or, in a search, with all rows of the corpus.
pub(super) fn wide_partners<'a>(
    rows: Sides<&'a FingerprintRows<'_>>,
    reach: Reach,
) -> Box<dyn Partners + 'a> {
    match rows {
        Sides::One(rows) => Box::new(WideRows::new(rows, reach)),
        Sides::Two(queries, corpus) => {
            let queries = WideRows::new(queries, reach);
            let corpus = WideRows::new(corpus, reach);
            Box::new(WideSearch { queries, corpus })
        }
    }
}

/// Fingerprints of any number of words, and the maximum distance of a pair. Some rows may have no fingerprint.
#[derive(Debug)]
pub(super) struct WideRows<'a> {
    words: Cow<'a, [u64]>,
    reach: Reach,
    validity: Option<&'a Validity>,
}

impl<'a> WideRows<'a> {
    pub(super) fn new(rows: &'a FingerprintRows<'_>, reach: Reach) -> Self {
        Self { words: Cow::Borrowed(&rows.words), reach, validity: rows.validity.as_ref() }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len() / self.reach.shape.words()
    }

    /// Returns the words of the fingerprint of a row, or `None` if the row has no fingerprint.
    pub(super) fn row(&self, row: usize) -> Option<&[u64]> {
        let has_fingerprint = self.validity.is_none_or(|validity| validity.has_value(row));
        let words = self.reach.shape.words();
        has_fingerprint.then(|| &self.words[row * words..(row + 1) * words])
    }

    /// Returns the words of all rows, one row after the other.
    pub(super) fn into_words(self) -> Cow<'a, [u64]> {
        self.words
    }

    /// Groups equal rows. Returns the groups in the order of their first rows, and the fingerprint of
    /// each group.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub(super) fn grouped(&self) -> Result<(Groups, WideRows<'static>)> {
        let mut numbers = UnorderedMap::<&[u64], usize>::default();
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut words = Vec::new();
        for row in 0..self.len() {
            let Some(value) = self.row(row) else { continue };
            let number = *numbers.entry(value).or_insert_with(|| {
                members.push(Vec::new());
                words.extend_from_slice(value);
                members.len() - 1
            });
            members[number].push(row as u32);
        }
        // The lists of rows become one array, with the start of each group.
        let mut starts = LargeBuffer::try_zeroed(members.len() + 1, GROUPS)?;
        let mut rows = LargeBuffer::try_zeroed(members.iter().map(Vec::len).sum(), GROUPS)?;
        let mut place = 0;
        for (members, number) in members.iter().zip(1..) {
            rows[place..place + members.len()].copy_from_slice(members);
            place += members.len();
            starts[number] = place as u32;
        }
        let groups = Groups::new(starts, rows, members.len());
        Ok((groups, WideRows { words: words.into(), reach: self.reach, validity: None }))
    }

    /// Appends to `found` every row within the maximum distance of `query` whose number is at least
    /// `first`.
    fn scan(&self, first: usize, query: &[u64], found: &mut Vec<Match>) {
        for row in first..self.len() {
            if let Some(words) = self.row(row) {
                let distance = self.reach.shape.distance(words, query);
                if distance <= self.reach.max_distance {
                    found.push(Match { distance, row: row as u32 });
                }
            }
        }
    }
}

/// A self-join of the rows: the partners of a row are the later rows within the maximum distance.
impl Partners for WideRows<'_> {
    fn rows(&self) -> usize {
        self.len()
    }

    fn bound(&self, _row: usize) -> usize {
        SCAN_BOUND
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        if let Some(words) = self.row(row) {
            self.scan(row + 1, words, found);
        }
    }
}

/// A search: the partners of a query are all rows of the corpus within the maximum distance.
pub(super) struct WideSearch<'a> {
    pub(super) queries: WideRows<'a>,
    pub(super) corpus: WideRows<'a>,
}

impl Partners for WideSearch<'_> {
    fn rows(&self) -> usize {
        self.queries.len()
    }

    fn bound(&self, _row: usize) -> usize {
        UNKNOWN_BOUND
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        if let Some(query) = self.queries.row(row) {
            self.corpus.scan(0, query, found);
        }
    }
}
