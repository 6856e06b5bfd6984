//! Divides the windows of a document into runs with the same anchor.
//!
//! A window is a sequence of k consecutive words. Its anchor is the n consecutive words in it, for a fixed
//! n < k, whose hash is smallest. If several are smallest, the leftmost is the anchor. The anchor depends only
//! on the words of the window, so equal windows have equal anchors at the same position. A run is a maximal
//! sequence of consecutive windows whose anchor is the same position of the document. There is about one run
//! for (k − n) / 2 words, so runs are compared instead of windows.
//!
//! # References
//! S. Schleimer, D. S. Wilkerson, A. Aiken. Winnowing: local algorithms for document fingerprinting. SIGMOD
//! 2003.
//! M. Roberts, W. Hayes, B. R. Hunt, S. M. Mount, J. A. Yorke. Reducing storage requirements for biological
//! sequence comparison. Bioinformatics 20(18), 2004.

use crate::word_hashes::WordHashes;
use simtool_base::error::Result;
use simtool_base::stable_hash::mix;
use simtool_kernels::Isa;
use simtool_kernels::window_anchors::{AnchorBuffers, AnchorRun, anchor_runs, span_ranks};

/// Number of windows that are divided into runs at once. Their hashes stay in the cache. A run that crosses the
/// border becomes two runs.
pub(crate) const BLOCK: usize = 1 << 12;
/// Maximum number of equal runs in succession that are stored as one run.
pub(crate) const MOST_REPEATS: u32 = 1 << 12;
/// Maximum number of words of a window. The limit ensures that the shape of a run fits into 32 bits (`RunShape`).
pub const MOST_WORDS: usize = 1000;

/// Consecutive windows of a document with the same anchor. The anchor of a window is a short sequence of its words,
/// which depends only on the words of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Hash of the words of the anchor.
    pub(crate) anchor: u64,
    /// One hash of all words of the windows, the number of windows, and the position of the anchor.
    pub(crate) content: u64,
    /// Number of the document that holds the run.
    pub(crate) document: u32,
    /// Position in the document of the first word of the first window, from 0.
    pub(crate) start: u32,
    /// Number of windows, position of the anchor, and number of repeats.
    pub(crate) shape: RunShape,
    /// Hashes of the words around the anchor.
    pub(crate) sides: Sides,
}

/// Number of windows of a run, position of its anchor and number of repeats, packed into 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunShape(u32);

impl RunShape {
    fn new(windows: usize, offset: usize, repeats: u32) -> Self {
        Self((repeats - 1) << 20 | (offset as u32) << 10 | windows as u32)
    }

    /// Returns the number of windows.
    #[inline]
    pub(crate) fn windows(self) -> u32 {
        self.0 & 0x3FF
    }

    /// Returns the number of words between the start of the first window and the anchor, which is the sequence of words
    /// that all windows of the run share.
    #[inline]
    pub(crate) fn offset(self) -> u32 {
        self.0 >> 10 & 0x3FF
    }

    /// Returns the same shape, but with 1 as the number of repeats.
    #[inline]
    pub(crate) fn once(self) -> Self {
        Self(self.0 & 0xF_FFFF)
    }

    /// Returns the number of times that the run occurs in succession, at least 1. In text that repeats a few words,
    /// equal runs follow each other and are stored as one run. Each time begins n words after the time before, where n
    /// is the number of windows of the run.
    #[inline]
    pub(crate) fn repeats(self) -> u32 {
        (self.0 >> 20) + 1
    }
}

/// Hashes of the words before and behind the anchor of a run, in 16 bits each. Windows of two runs can be equal only if
/// the runs have an equal hash on the same side.
///
/// The left hash is the hash of the anchor and the h words before it, where h is half the number of positions that an
/// anchor has in a window. Each window that begins at least h words before the anchor contains these words. Each other
/// window contains the words of the right hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Sides {
    /// Hash of the h words before the anchor and of the words of the anchor. 0 if no window of the run contains these
    /// words.
    pub(crate) left: u16,
    /// Hash of the words of the anchor and of the words behind it. 0 if no window of the run contains these words.
    pub(crate) right: u16,
}

/// Divides the windows of documents into runs. A run is a sequence of windows with the same anchor, which is a short
/// sequence of words in each of them.
#[derive(Clone, Debug)]
pub(crate) struct RunFinder {
    isa: Isa,
    /// Number of words of a window.
    words: usize,
    /// Number of words of an anchor.
    anchor_words: usize,
    hashes: WordHashes,
    /// For each position of the block, the rank of the words of an anchor that would begin there. The anchor of a
    /// window is the one with the smallest rank.
    ranks: Vec<u32>,
    buffers: AnchorBuffers,
    /// For each run of a block, its first window and its anchor.
    anchors: Vec<AnchorRun>,
    /// The runs of a block.
    runs: Vec<Run>,
    /// The last run that was found. It is not passed on yet, because the next run may repeat it.
    last: Option<Run>,
}

impl RunFinder {
    /// Creates a finder for windows of `words` words, which uses the given instruction set.
    pub(crate) fn new(isa: Isa, words: usize, hashes: WordHashes) -> Self {
        let anchor_words = anchor_words(words);
        let (ranks, anchors, runs) = (Vec::new(), Vec::new(), Vec::new());
        let buffers = AnchorBuffers::default();
        Self { isa, words, anchor_words, hashes, ranks, buffers, anchors, runs, last: None }
    }

    /// Divides the windows of a document into runs, which are sequences of windows with the same anchor. Calls `take`
    /// with each run, in order. `words` are the hashes of the words of the document, and `document` is its number.
    ///
    /// # Errors
    /// `take` returns an error.
    pub(crate) fn find(
        &mut self,
        document: u32,
        words: &[u64],
        take: &mut impl FnMut(Run) -> Result<()>,
    ) -> Result<()> {
        let windows = (words.len() + 1).saturating_sub(self.words);
        for start in (0..windows).step_by(BLOCK) {
            // The last windows of a block need the first words of the next one.
            let count = BLOCK.min(windows - start);
            self.hashes.fill(&words[start..start + count + self.words - 1]);
            self.find_in_block((document, start as u32), count, take)?;
        }
        self.last.take().map_or(Ok(()), take)
    }

    /// Finds the runs of the current block of a document and passes them to `take`. `at` has the number of the
    /// document, and the position of the block's first word. `windows` is the number of windows that begin in the
    /// block.
    fn find_in_block(
        &mut self,
        at: (u32, u32),
        windows: usize,
        take: &mut impl FnMut(Run) -> Result<()>,
    ) -> Result<()> {
        let length = self.anchor_words;
        let power = self.hashes.power(length);
        span_ranks(self.isa, self.hashes.sums(), length, power, &mut self.ranks);
        let width = self.words - length + 1;
        anchor_runs(self.isa, &self.ranks, width, &mut self.buffers, &mut self.anchors);
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        runs.extend(self.anchors.iter().enumerate().map(
            |(number, &AnchorRun { first, anchor })| {
                // A run ends where the next one begins.
                let end = self.anchors.get(number + 1).map_or(windows, |next| next.first as usize);
                self.run(at, first as usize..end, anchor as usize)
            },
        ));
        // Runs are given out in a second loop. A processor would wait if it had to copy a run whose fields it
        // has just written one by one.
        let given = runs.iter().try_for_each(|&run| self.push(run, take));
        self.runs = runs;
        given
    }

    /// Returns the run of the windows at the positions `windows` of the current block. Their anchor begins at position
    /// `anchor` of the block. `at` has the number of the document, and the position of the block in the document.
    #[inline]
    fn run(&self, at: (u32, u32), windows: std::ops::Range<usize>, anchor: usize) -> Run {
        let offset = anchor - windows.start;
        let shape = RunShape::new(windows.len(), offset, 1);
        // The content is the text from the first word of the first window to the last word of the last one.
        let span = self.hashes.sum(windows.start, windows.len() + self.words - 1);
        let half = left_words(self.words);
        let side = |is_there, start: usize, length| {
            if is_there { (mix(self.hashes.sum(start, length)) >> 48) as u16 | 1 } else { 0 }
        };
        // The last window begins nearest to the anchor, and is the first one to contain the words of the right hash.
        let last_offset = (anchor + 1).saturating_sub(windows.end);
        let left = side(offset >= half, anchor.wrapping_sub(half), half + self.anchor_words);
        let right = side(last_offset < half, anchor, self.words + 1 - half);
        Run {
            anchor: self.hashes.hash(self.hashes.sum(anchor, self.anchor_words)),
            // Equal words in windows of other numbers are another content.
            content: self.hashes.hash(span ^ u64::from(shape.0) << 32),
            document: at.0,
            start: at.1 + windows.start as u32,
            shape,
            sides: Sides { left, right },
        }
    }

    /// Passes the run before `run` to `take`, unless `run` is equal to it and directly follows it. Then the two are
    /// stored as one run.
    #[inline]
    fn push(&mut self, run: Run, take: &mut impl FnMut(Run) -> Result<()>) -> Result<()> {
        // Runs are given out one run later, because only then it is known that they do not repeat.
        if let Some(last) = &mut self.last {
            let repeats = last.shape.repeats();
            let is_repeat = (last.content, last.anchor) == (run.content, run.anchor)
                && last.shape.once() == run.shape;
            if is_repeat && repeats < MOST_REPEATS {
                last.shape.0 += 1 << 20;
                return Ok(());
            }
            take(*last)?;
        }
        self.last = Some(run);
        Ok(())
    }
}

/// Returns the number of words before an anchor that its left hash covers: half the number of positions of an
/// anchor in a window of `words` words.
pub(crate) fn left_words(words: usize) -> usize {
    (words - anchor_words(words) + 1).div_ceil(2)
}

/// Returns the number of words of an anchor in windows of `words` words, which is less than `words`.
fn anchor_words(words: usize) -> usize {
    // Longer anchors are rarer by chance, and shorter ones make runs longer.
    (words / 2).clamp(1, 16)
}
