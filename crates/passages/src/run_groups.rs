//! Groups runs by their anchors and contents, and finds the runs whose windows must be compared one by one. A run is a
//! sequence of consecutive windows with the same anchor.

use crate::classes::{Classes, Counted, Occurrence, OccurrenceWriter, Piece};
use crate::origins::Origins;
use crate::place::Place;
use crate::rank_sort::sort_by_rank;
use crate::rule::Condition;
use crate::run_finder::{Run, Sides};
use crate::seen_twice::{SeenTwice, repeated_items};
use simtool_base::error::Result;
use std::ops::Range;

/// A group of runs with equal words, and the place where the hashes of their windows are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    /// Index of the first run with this content in [`MixedGroups::runs`].
    pub(crate) first_run: u32,
    /// Number of runs with this content.
    pub(crate) runs: u32,
    /// Range of the live windows: the index of the first one, and the index behind the last one. Live windows can be
    /// equal to windows of another content. If both indices are equal, no window is live.
    pub(crate) live: (u16, u16),
    /// Place of the hash of the first live window in the lists of hashes: the index of a list, and an index in this
    /// list.
    pub(crate) hashes: (u32, u32),
}

impl Content {
    /// Returns whether the content has live windows, which are windows that can be equal to windows of another content.
    pub(crate) fn is_live(&self) -> bool {
        self.live.0 < self.live.1
    }
}

/// Groups of runs that have the same anchor but different words. Their windows must be compared one by one.
#[derive(Debug, Default)]
pub(crate) struct MixedGroups {
    /// The runs, sorted by anchor, content and place.
    pub(crate) runs: Vec<Run>,
    /// The contents, which are groups of runs with equal words, sorted by anchor and content.
    pub(crate) contents: Vec<Content>,
    /// For each group of runs with the same anchor, the index in `contents` behind its last content.
    pub(crate) ends: Vec<u32>,
}

impl Run {
    /// Returns the place of the first word of the first window.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        Place { document: self.document, word: self.start }
    }

    /// Returns whether two runs have equal words, and equal anchors at the same position.
    #[inline]
    fn is_equal(&self, other: &Self) -> bool {
        // Runs of another shape have another content, unless the hashes are equal by chance.
        (self.anchor, self.content, self.shape.once())
            == (other.anchor, other.content, other.shape.once())
    }
}

/// Receives the repeated windows of one bucket. A class is a sequence of windows that occur together.
#[derive(Debug)]
pub(crate) struct GroupOutput<'o, 'b> {
    /// Condition under which a window counts as repeated.
    pub(crate) condition: Condition<'o>,
    /// Number of the bucket whose windows are received.
    pub(crate) bucket: u16,
    /// The classes of the bucket.
    pub(crate) classes: &'o mut Classes,
    /// Takes the occurrences of the classes.
    pub(crate) occurrences: &'o mut OccurrenceWriter<'b>,
}

impl GroupOutput<'_, '_> {
    /// Adds a class, which is the sequence of windows of each of the equal runs `runs`. `pieces` are the ranges of its
    /// repeated windows. If there are none, adds nothing.
    ///
    /// # Errors
    /// Not enough memory.
    pub(crate) fn push(&mut self, runs: &[Run], pieces: &[Piece]) -> Result<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        let class = self.classes.push(runs[0].shape.windows(), self.condition.words, pieces);
        for run in runs {
            let repeats = run.shape.repeats() as u16;
            let bucket = self.bucket;
            self.occurrences.push(Occurrence { place: run.place(), class, bucket, repeats })?;
        }
        Ok(())
    }

    /// Adds a class of the windows of the equal runs `runs`, if they are repeated. The windows must not occur in other
    /// runs.
    fn push_alone(&mut self, runs: &[Run]) -> Result<()> {
        let counted = counted(runs, self.condition.origins);
        if !self.condition.accepts(&counted) {
            return Ok(());
        }
        let to = runs[0].shape.windows() as u16;
        self.push(runs, &[Piece { from: 0, to, facts: counted.facts() }])
    }
}

/// Counts the occurrences of the first window of the equal runs `runs`, which are sorted by their places.
pub(crate) fn counted(runs: &[Run], origins: &Origins) -> Counted {
    // Almost no run repeats, and a loop over one place for each run takes half the time.
    if runs.iter().all(|run| run.shape.repeats() == 1) {
        return Counted::of(runs.iter().map(Run::place), origins);
    }
    // The second repeat can be the second occurrence, and later repeats are only counted.
    let places = runs.iter().flat_map(|run| {
        let is_repeated = run.shape.repeats() > 1;
        [Some(run.place()), is_repeated.then(|| run.place().plus(run.shape.windows()))]
    });
    let mut counted = Counted::of(places.flatten(), origins);
    let more = |run: &Run| u64::from(run.shape.repeats().saturating_sub(2));
    counted.summary.occurrences += runs.iter().map(more).sum::<u64>();
    counted
}

/// Returns the runs of a bucket whose anchor occurs more than once. A few other runs remain, too, because anchors are
/// counted approximately.
pub(crate) fn repeated_runs(blocks: &[Vec<Run>]) -> Vec<Run> {
    let mut anchors = SeenTwice::new(blocks.iter().map(Vec::len).sum());
    for block in blocks {
        for run in block {
            anchors.see(run.anchor);
            // A run that follows itself is repeated even if it is the only one with its anchor.
            if run.shape.repeats() > 1 {
                anchors.see(run.anchor);
            }
        }
    }
    repeated_items(blocks, &anchors, |run| run.anchor)
}

/// Groups the runs of a bucket by anchor and words. Passes the repeated windows that can occur in no other runs to
/// `output`. Returns the groups whose windows must be compared one by one. `half` is the number of words before an
/// anchor that its left hash covers ([`Sides`]).
///
/// # Errors
/// Not enough memory.
pub(crate) fn group_runs(
    mut runs: Vec<Run>,
    half: u32,
    output: &mut GroupOutput<'_, '_>,
) -> Result<MixedGroups> {
    // Runs with the same anchor become neighbours, and among them, runs with the same content. These are in the
    // order of their places, so the first one is the first occurrence.
    sort_by_rank(
        &mut runs,
        |run| run.anchor,
        |run| (run.anchor, run.content, run.shape.once(), run.document, run.start),
    );
    let mut mixed = MixedGroups::default();
    let mut hashes = Vec::new();
    for group in runs.chunk_by(|a, b| a.anchor == b.anchor) {
        let first = mixed.contents.len();
        let base = mixed.runs.len();
        let mut at = base;
        for runs in group.chunk_by(Run::is_equal) {
            let (first_run, count) = (at as u32, runs.len() as u32);
            mixed.contents.push(Content { first_run, runs: count, live: (0, 0), hashes: (0, 0) });
            at += runs.len();
        }
        // A group is stored only if it has several contents. Most groups have one, and are finished here.
        let is_mixed = mixed.contents.len() - first > 1;
        let run = |content: &Content| &group[content.first_run as usize - base];
        if is_mixed && mark_live(&mut mixed.contents[first..], run, half, &mut hashes) {
            mixed.runs.extend(group);
            mixed.ends.push(mixed.contents.len() as u32);
        } else {
            // No window of the group is in two contents, so each content is counted alone.
            mixed.contents.truncate(first);
            for runs in group.chunk_by(Run::is_equal) {
                output.push_alone(runs)?;
            }
        }
    }
    mixed.runs.shrink_to_fit();
    mixed.contents.shrink_to_fit();
    Ok(mixed)
}

/// Marks the windows of a group of contents that must be compared one by one, by setting [`Content::live`].
/// Returns whether there are any.
///
/// A run has two hashes: one of the words before its anchor, and one of the words behind it ([`Sides`]). If two
/// contents have the same hash on one side, their windows with the words of that side can be equal. These windows
/// are marked in both contents.
///
/// `run` returns a run with a content. `hashes` is a buffer that thousands of calls reuse, one after another.
fn mark_live<'r>(
    contents: &mut [Content],
    run: impl Fn(&Content) -> &'r Run,
    half: u32,
    hashes: &mut Vec<(u16, u32)>,
) -> bool {
    let mut is_any = false;
    for is_left in [true, false] {
        let side = |content: &Content| {
            let Sides { left, right } = run(content).sides;
            if is_left { left } else { right }
        };
        hashes.clear();
        hashes.extend((0..).zip(&*contents).map(|(number, content)| (side(content), number)));
        // No window contains the words of a hash that is 0.
        hashes.retain(|&(hash, _)| hash != 0);
        hashes.sort_unstable();
        for equal in hashes.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
            is_any = true;
            for &(_, number) in equal {
                let content = &mut contents[number as usize];
                let shape = run(content).shape;
                // The first windows begin far before the anchor, and contain the words of the left hash.
                let of_left = (shape.offset() + 1).saturating_sub(half).min(shape.windows()) as u16;
                let windows = shape.windows() as u16;
                content.live = match (is_left, content.is_live()) {
                    (true, _) => (0, of_left),
                    (false, true) => (0, windows),
                    (false, false) => (of_left, windows),
                };
            }
        }
    }
    is_any
}

impl MixedGroups {
    /// Returns for each group the range of its contents in `contents`.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start as usize..end as usize)
    }

    /// Returns the runs of a content, which is a group of runs with equal words.
    pub(crate) fn runs_of(&self, content: &Content) -> &[Run] {
        let first = content.first_run as usize;
        &self.runs[first..first + content.runs as usize]
    }

    /// Passes the repeated windows of the contents without live windows to `output`. A window of such a content is in
    /// no other content.
    ///
    /// # Errors
    /// Not enough memory.
    pub(crate) fn push_others(&self, output: &mut GroupOutput<'_, '_>) -> Result<()> {
        let mut others = self.contents.iter().filter(|content| !content.is_live());
        others.try_for_each(|content| output.push_alone(self.runs_of(content)))
    }

    /// Returns the number of bytes of memory that the groups take.
    pub(crate) fn bytes(&self) -> u64 {
        let contents = self.contents.capacity() * size_of::<Content>();
        (self.runs.capacity() * size_of::<Run>() + contents) as u64
    }
}
