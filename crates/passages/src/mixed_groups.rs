//! Compares the windows of runs that have the same anchor and different contents.
//!
//! Equal windows have their anchor at the same distance from their start. So the windows of a group are
//! compared distance by distance, by their hashes.

use crate::classes::{Counted, Piece};
use crate::place::OccurrenceSummary;
use crate::rule::Repeated;
use crate::run_groups::{GroupOutput, MixedGroups, counted};
use simtool_base::error::Result;
use std::ops::Range;

/// Compares the windows of groups of runs. The buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct WindowComparison {
    /// The live contents of the group.
    contents: Vec<LiveContent>,
    /// Hash of a window and the number of its content, for the windows at the present distance.
    column: Vec<(u64, u32)>,
    /// Sets of contents with equal windows, at the distance before and at the present one.
    sets: [ContentSets; 2],
    /// Finished pieces, each with the number of its content.
    pieces: Vec<(u32, Piece)>,
    documents: Vec<u32>,
}

/// A content whose windows may be equal to windows of another content.
#[derive(Clone, Debug)]
struct LiveContent {
    /// Index among the contents of all groups.
    index: usize,
    /// Number of words between the start of the first window and the anchor.
    offset: u32,
    /// Number of windows.
    windows: u32,
    /// Occurrences of the first window, as far as this content has them.
    counted: Counted,
    /// The last piece, which the next window may extend.
    open: Option<Piece>,
}

/// Sets of contents, each with the number of documents in which they occur.
#[derive(Debug, Default)]
struct ContentSets {
    members: Vec<u32>,
    sets: Vec<(Range<usize>, u32)>,
    /// Number of the set whose first member is a content.
    by_first: Vec<u32>,
}

impl ContentSets {
    fn clear(&mut self, contents: usize) {
        self.members.clear();
        self.sets.clear();
        self.by_first.clear();
        self.by_first.resize(contents, u32::MAX);
    }

    /// Returns the number of documents that is stored for a set. `None` if the set is not stored.
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
    /// Compares the windows of one group of `mixed`, whose contents are `group`, and gives out its classes.
    /// `hashes` has the hashes of the windows of each part.
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
        self.find_contents(mixed, group);
        let count = self.contents.len();
        self.sets.iter_mut().for_each(|sets| sets.clear(count));
        let farthest = self.contents.iter().map(|content| content.offset).max().unwrap_or(0);
        for distance in (0..=farthest).rev() {
            self.column.clear();
            for (number, content) in (0..).zip(&self.contents) {
                let window = content.offset.wrapping_sub(distance);
                if window < content.windows {
                    let (part, first) = mixed.contents[content.index].hashes;
                    let hash = hashes[part as usize][(first + window) as usize];
                    self.column.push((hash, number));
                }
            }
            self.column.sort_unstable();
            self.compare_column(distance, mixed, output.rule);
        }
        self.push_classes(mixed, output)
    }

    /// Lists the live contents, sorted by their first places.
    fn find_contents(&mut self, mixed: &MixedGroups, group: Range<usize>) {
        self.contents.clear();
        for index in group.filter(|&index| mixed.contents[index].is_live) {
            let runs = mixed.runs_of(&mixed.contents[index]);
            let shape = runs[0].shape;
            let (offset, windows) = (shape.offset(), shape.windows());
            let counted = counted(runs);
            self.contents.push(LiveContent { index, offset, windows, counted, open: None });
        }
        self.contents.sort_unstable_by_key(|content| content.counted.summary.first);
    }

    /// Finds equal windows among those at one distance before the anchor.
    fn compare_column(&mut self, distance: u32, mixed: &MixedGroups, rule: Repeated) {
        let [before, present] = &mut self.sets;
        std::mem::swap(before, present);
        present.clear(self.contents.len());
        for set in self.column.chunk_by(|a, b| a.0 == b.0) {
            let mut summary = OccurrenceSummary::EMPTY;
            for &(_, member) in set {
                let content = &self.contents[member as usize];
                summary.join(&content.counted.summary.plus(content.offset - distance));
            }
            let documents = match set {
                [(_, member)] => self.contents[*member as usize].counted.documents,
                // Neighbouring windows mostly occur in the same contents.
                set => before.get(set).unwrap_or_else(|| {
                    let contents = set.iter().map(|&(_, member)| &self.contents[member as usize]);
                    document_count(mixed, contents, &mut self.documents)
                }),
            };
            if set.len() > 1 {
                present.push(set, documents);
            }
            if !rule.accepts(summary.occurrences, documents) {
                continue;
            }
            let facts = summary.facts(documents);
            for &(_, member) in set {
                let content = &mut self.contents[member as usize];
                let window = (content.offset - distance) as u16;
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
        }
    }

    /// Gives out a class for each content.
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
        let mut pieces = Vec::new();
        for of_content in self.pieces.chunk_by(|a, b| a.0 == b.0) {
            pieces.clear();
            pieces.extend(of_content.iter().map(|(_, piece)| *piece));
            let index = self.contents[of_content[0].0 as usize].index;
            output.push(mixed.runs_of(&mixed.contents[index]), &pieces)?;
        }
        self.pieces.clear();
        Ok(())
    }
}

/// Returns the number of documents in which the contents occur.
fn document_count<'c>(
    mixed: &MixedGroups,
    contents: impl Iterator<Item = &'c LiveContent>,
    documents: &mut Vec<u32>,
) -> u32 {
    documents.clear();
    for content in contents {
        let runs = mixed.runs_of(&mixed.contents[content.index]);
        documents.extend(runs.iter().map(|run| run.document));
    }
    if !documents.is_sorted() {
        documents.sort_unstable();
    }
    documents.chunk_by(|a, b| a == b).count() as u32
}
