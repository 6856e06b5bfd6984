//! Compares the windows of runs that have the same anchor and different contents.
//!
//! The anchor of a window is a short sequence of its words. Equal windows have their anchor at the same distance from
//! their start. So the windows of a group are compared distance by distance, by their hashes.

use crate::classes::{Counted, Piece};
use crate::origins::Origins;
use crate::place::OccurrenceSummary;
use crate::rank_sort::sort_by_rank;
use crate::rule::Condition;
use crate::run_groups::{Content, GroupOutput, MixedGroups, counted};
use crate::seen_twice::SeenTwice;
use simtool_base::error::Result;
use std::ops::Range;

/// Maximum number of windows in a column that is sorted as a whole. From a larger column, windows that are equal to no
/// other window are removed before. A column has the windows that begin at the same distance before the anchor.
const FEW_WINDOWS: usize = 64;

/// Compares the windows of groups of runs that have the same anchor, which is a short sequence of words in each window.
/// The buffers are reused from group to group.
#[derive(Debug, Default)]
pub(crate) struct WindowComparison {
    /// The contents of the current group that have live windows, in the order of their first places. A content is a
    /// group of runs with equal words. Its live windows are compared with windows of other contents.
    contents: Vec<LiveContent>,
    /// For each of `contents`, the position and the hashes of its windows.
    spans: Vec<WindowSpan>,
    /// Windows at the current distance before the anchor: hash of the window, and index in `contents` of its content.
    column: Vec<(u64, u32)>,
    /// Counters that find the hashes that occur more than once in `column`.
    seen: SeenTwice,
    /// Sets of contents that have a window in common. Element 0 has the sets for the previous distance before the
    /// anchor, and element 1 has the sets for the current distance.
    sets: [ContentSets; 2],
    /// Finished pieces, which are ranges of repeated windows, each with the index of its content in `contents`.
    pieces: Vec<(u32, Piece)>,
    /// The pieces of one content, which are ranges of its repeated windows.
    of_content: Vec<Piece>,
    documents: Vec<u32>,
}

/// A content, which is a group of runs with equal words. Its windows may be equal to windows of another content.
#[derive(Clone, Copy, Debug)]
struct LiveContent {
    /// Index of the content in [`MixedGroups::contents`].
    index: usize,
    /// Number of words between the start of the first window of the content and the anchor, which all of its windows
    /// contain.
    offset: u32,
    /// Number and places of the occurrences of the first window in runs of this content.
    counted: Counted,
    /// The last range of repeated windows that was found. The next window may extend it. `None` if there is no range
    /// yet.
    open: Option<Piece>,
}

/// Position and hashes of the windows of a content. A live window may be equal to a window of another content. These
/// few numbers are read for each distance from the anchor, so they are in a list of their own.
#[derive(Clone, Copy, Debug)]
struct WindowSpan {
    /// Number of words between the start of the first window and the anchor.
    offset: u16,
    /// Number of windows of the content, live or not.
    windows: u16,
    /// Index of the first live window, and index behind the last live window.
    live: (u16, u16),
    /// Place of the hash of the first live window: the index of a list of hashes, and an index in this list.
    hashes: (u32, u32),
    /// Whether windows of this content are repeated even if no other content has them.
    is_repeated: bool,
}

/// Sets of contents that have a window in common, each with the number of documents in which these contents occur.
#[derive(Debug, Default)]
struct ContentSets {
    members: Vec<u32>,
    sets: Vec<(Range<usize>, u32)>,
    /// For each content, the index in `sets` of the set whose first member it is, or `u32::MAX` if there is none.
    by_first: Vec<u32>,
}

impl ContentSets {
    fn clear(&mut self, contents: usize) {
        self.members.clear();
        self.sets.clear();
        self.by_first.clear();
        self.by_first.resize(contents, u32::MAX);
    }

    /// Returns the stored number of documents for a set of contents, or `None` if the set is not stored. `members` has
    /// a pair for each content of the set: the hash of the common window, and the index of the content.
    fn get(&self, members: &[(u64, u32)]) -> Option<u32> {
        let number = *self.by_first.get(members[0].1 as usize)?;
        let (range, documents) = self.sets.get(number as usize)?;
        let stored = self.members[range.clone()].iter();
        stored.eq(members.iter().map(|(_, member)| member)).then_some(*documents)
    }

    fn push(&mut self, members: &[(u64, u32)], documents: u32) {
        let start = self.members.len();
        self.members.extend(members.iter().map(|&(_, member)| member));
        self.by_first[members[0].1 as usize] = self.sets.len() as u32;
        self.sets.push((start..self.members.len(), documents));
    }
}

impl WindowComparison {
    /// Compares the windows of one group of runs with the same anchor, and passes its repeated windows to `output`.
    /// `group` is the range of the contents of the group in `mixed.contents`. `hashes` has the lists of hashes of live
    /// windows, one list for each shard.
    ///
    /// # Errors
    /// Not enough memory.
    pub(crate) fn compare(
        &mut self,
        mixed: &MixedGroups,
        group: Range<usize>,
        hashes: &[Vec<u64>],
        output: &mut GroupOutput<'_, '_>,
    ) -> Result<()> {
        let condition = output.condition;
        self.find_contents(mixed, group, condition);
        let count = self.contents.len();
        self.sets.iter_mut().for_each(|sets| sets.clear(count));
        // All windows at one distance before the anchor form a column. The farthest column has the first windows,
        // so the windows of a content come in ascending order.
        let farthest = self.spans.iter().map(|span| span.offset).max().unwrap_or(0);
        for distance in (0..=farthest).rev() {
            self.column.clear();
            for number in 0..count {
                let span = self.spans[number];
                let window = span.offset.wrapping_sub(distance);
                if (span.live.0..span.live.1).contains(&window) {
                    // The hashes of a content are next to each other, from its first live window on.
                    let (part, first) = span.hashes;
                    let at = first + u32::from(window - span.live.0);
                    self.column.push((hashes[part as usize][at as usize], number as u32));
                // This window is in no other content, but the content itself may occur several times.
                } else if span.is_repeated && window < span.windows {
                    self.add_alone(number as u32, u32::from(distance), condition);
                }
            }
            if self.column.len() > FEW_WINDOWS {
                self.drop_single_windows(u32::from(distance), condition);
            }
            sort_by_rank(&mut self.column, |&(hash, _)| hash, |window| *window);
            self.compare_column(u32::from(distance), mixed, condition);
        }
        self.push_classes(mixed, output)
    }

    /// Lists the contents of `group` that have live windows, sorted by their first places. `group` is a range of
    /// indices in `mixed.contents`.
    fn find_contents(
        &mut self,
        mixed: &MixedGroups,
        group: Range<usize>,
        condition: Condition<'_>,
    ) {
        self.contents.clear();
        for index in group.filter(|&index| mixed.contents[index].is_live()) {
            let runs = mixed.runs_of(&mixed.contents[index]);
            let offset = runs[0].shape.offset();
            let counted = counted(runs, condition.origins);
            self.contents.push(LiveContent { index, offset, counted, open: None });
        }
        // In this order, the documents of contents that occur once are sorted, and hashes are read in the order in
        // which they were written.
        self.contents.sort_unstable_by_key(|content| content.counted.summary.first);
        self.spans.clear();
        self.spans.extend(self.contents.iter().map(|content| {
            let Content { live, hashes, .. } = mixed.contents[content.index];
            let shape = mixed.runs_of(&mixed.contents[content.index])[0].shape;
            let is_repeated = condition.accepts(&content.counted);
            let (offset, windows) = (shape.offset() as u16, shape.windows() as u16);
            WindowSpan { offset, windows, live, hashes, is_repeated }
        }));
    }

    /// Finds equal windows in the column, which has the hashes of the windows that begin `distance` words before the
    /// anchor.
    fn compare_column(&mut self, distance: u32, mixed: &MixedGroups, condition: Condition<'_>) {
        // The sets of the column before are kept, because they are mostly the sets of this column, too.
        self.sets.swap(0, 1);
        self.sets[1].clear(self.contents.len());
        let column = std::mem::take(&mut self.column);
        for set in column.chunk_by(|a, b| a.0 == b.0) {
            // Each content has its occurrences alone, so those of the set are joined.
            let mut summary = OccurrenceSummary::EMPTY;
            for &(_, member) in set {
                let content = &self.contents[member as usize];
                let moved = content.counted.summary.plus(content.offset - distance);
                summary.join(&moved, condition.origins);
            }
            let documents = match set {
                [(_, member)] => self.contents[*member as usize].counted.documents,
                // Neighbouring windows mostly occur in the same contents.
                set => self.sets[0].get(set).unwrap_or_else(|| {
                    let contents = set.iter().map(|&(_, member)| &self.contents[member as usize]);
                    document_count(mixed, contents, condition.origins, &mut self.documents)
                }),
            };
            if set.len() > 1 {
                self.sets[1].push(set, documents);
            }
            for &(_, member) in set {
                self.add_window(member, distance, &Counted { summary, documents }, condition);
            }
        }
        self.column = column;
    }

    /// Removes windows that are equal to no other window from the column, which has the windows that begin `distance`
    /// words before the anchor. A few such windows may remain.
    ///
    /// This saves time, because the contents of the removed windows are visited here in the order of their memory.
    /// After the sort by hashes, they would be visited in random order.
    fn drop_single_windows(&mut self, distance: u32, condition: Condition<'_>) {
        let mut column = std::mem::take(&mut self.column);
        let mut seen = std::mem::take(&mut self.seen);
        seen.restart(column.len());
        for &(hash, _) in &column {
            seen.see(hash);
        }
        column.retain(|&(hash, content)| {
            let has_equal = seen.has(hash);
            if !has_equal && self.spans[content as usize].is_repeated {
                self.add_alone(content, distance, condition);
            }
            has_equal
        });
        (self.column, self.seen) = (column, seen);
    }

    /// Adds a window of content number `content` that no other content has. It begins `distance` words before the
    /// anchor.
    #[inline]
    fn add_alone(&mut self, content: u32, distance: u32, condition: Condition<'_>) {
        let LiveContent { offset, counted: Counted { summary, documents }, .. } =
            self.contents[content as usize];
        let counted = Counted { summary: summary.plus(offset - distance), documents };
        self.add_window(content, distance, &counted, condition);
    }

    /// Adds a window of content number `content` if it is repeated. It begins `distance` words before the anchor. Joins
    /// it with the window before it if both occur at the same places, shifted by one word.
    #[inline]
    fn add_window(
        &mut self,
        content: u32,
        distance: u32,
        counted: &Counted,
        condition: Condition<'_>,
    ) {
        if !condition.accepts(counted) {
            return;
        }
        let facts = counted.facts();
        let member = content;
        let content = &mut self.contents[content as usize];
        let window = (content.offset - distance) as u16;
        // A window that occurs at the same places as the one before it, shifted by one word, extends its piece.
        match &mut content.open {
            Some(piece)
                if piece.to == window
                    && piece.facts.plus(u32::from(window - piece.from)) == facts =>
            {
                piece.to += 1;
            }
            open => {
                let piece = Piece { from: window, to: window + 1, facts };
                self.pieces.extend(open.replace(piece).map(|piece| (member, piece)));
            }
        }
    }

    /// Passes the repeated windows of each content to `output`, as one class for each content.
    ///
    /// # Errors
    /// Not enough memory.
    fn push_classes(
        &mut self,
        mixed: &MixedGroups,
        output: &mut GroupOutput<'_, '_>,
    ) -> Result<()> {
        let open = (0..).zip(&mut self.contents);
        self.pieces
            .extend(open.filter_map(|(number, content)| Some((number, content.open.take()?))));
        self.pieces.sort_unstable_by_key(|(content, piece)| (*content, piece.from));
        for pieces in self.pieces.chunk_by(|a, b| a.0 == b.0) {
            self.of_content.clear();
            self.of_content.extend(pieces.iter().map(|(_, piece)| *piece));
            let index = self.contents[pieces[0].0 as usize].index;
            output.push(mixed.runs_of(&mixed.contents[index]), &self.of_content)?;
        }
        self.pieces.clear();
        Ok(())
    }
}

/// Returns the number of documents in which the runs of `contents` occur. Documents of one origin count as one.
/// `documents` is a buffer.
fn document_count<'c>(
    mixed: &MixedGroups,
    contents: impl Iterator<Item = &'c LiveContent>,
    origins: &Origins,
    documents: &mut Vec<u32>,
) -> u32 {
    documents.clear();
    for content in contents {
        let runs = mixed.runs_of(&mixed.contents[content.index]);
        documents.extend(runs.iter().map(|run| run.document));
    }
    origins.count(documents)
}
