//! The words that a document loses if some of its runs disappear.

use crate::lose_limit::{LoseLimit, LostWords};

/// Calls `visit` with the beginning and the end of each sequence of lost words, in reading order. A run of `run_length`
/// words begins at each word of a text of `words` words, except near its end. `is_kept` has for each run whether it is
/// kept. A word is lost if it is in no kept run. A text with fewer words than a run is one run.
pub fn visit_lost(
    words: u32,
    run_length: u32,
    is_kept: impl IntoIterator<Item = bool>,
    mut visit: impl FnMut(u32, u32),
) {
    let mut done = 0;
    for (start, is_kept) in (0..words).zip(is_kept) {
        if is_kept {
            if start > done {
                visit(done, start);
            }
            done = start.saturating_add(run_length).min(words);
        }
    }
    if done < words {
        visit(done, words);
    }
}

/// Rule for whether a document may be removed, except for the condition on runs that earlier removals rely on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossRule {
    /// Number of words of a run.
    pub(crate) run_length: u32,
    /// Maximum number of words that a removal may lose.
    pub(crate) limit: LoseLimit,
}

/// Consecutive runs of a document. A run is a sequence of n consecutive words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunWindow<'w> {
    /// Index of the first of these runs among the runs of the document.
    pub(crate) start: usize,
    /// For each run, whether another document has it.
    pub(crate) is_kept: &'w [bool],
}

impl LossRule {
    /// Returns the number of words that a document loses if it is removed, or `None` if it must stay. `is_kept` has for
    /// each of its runs whether another document has it.
    pub(crate) fn loss(self, is_kept: &[bool]) -> Option<LostWords> {
        // Nothing covers a document without a kept run, however short it is.
        if !is_kept.contains(&true) {
            return None;
        }
        let runs = is_kept.len();
        let lost = self.lost_in(RunWindow { start: 0, is_kept }, runs);
        let loss = LostWords { words: self.words(runs), lost };
        self.allows(loss, is_kept).then_some(loss)
    }

    /// Returns whether a document of `runs` runs may be removed, as far as the runs in `windows` show. The windows must
    /// not overlap.
    pub(crate) fn may_go(self, windows: &[RunWindow<'_>], runs: usize) -> bool {
        let lost = windows.iter().map(|window| self.lost_in(*window, runs)).sum();
        let loss = LostWords { words: self.words(runs), lost };
        runs > 0 && windows.iter().all(|window| self.allows(loss, window.is_kept))
    }

    fn allows(self, loss: LostWords, is_kept: &[bool]) -> bool {
        // The run across two kept stretches may have no lost word, but it would disappear.
        self.limit.allows(loss) && !(self.limit.is_zero() && is_kept.contains(&false))
    }

    /// Returns the number of words of a document of `runs` runs, where a run begins at each word except near the end.
    fn words(self, runs: usize) -> u32 {
        // The number of words of a single run is not known. They are all lost, or none of them.
        let more = if runs > 1 { self.run_length - 1 } else { 0 };
        (runs as u32).saturating_add(more)
    }

    /// Returns the number of words that are lost for certain, even if all runs outside the window are kept. The
    /// document has `runs` runs.
    fn lost_in(self, RunWindow { start, is_kept }: RunWindow<'_>, runs: usize) -> u32 {
        let visible = is_kept.len() as u32;
        // Words at the beginning of the window may be in a run before it, and words at its end in a run behind it.
        let first = if start > 0 { self.run_length - 1 } else { 0 };
        let is_end = start + is_kept.len() == runs;
        let visible = if is_end { visible + self.words(runs) - runs as u32 } else { visible };
        let mut lost = 0;
        visit_lost(visible, self.run_length, is_kept.iter().copied(), |from, to| {
            lost += to.saturating_sub(from.max(first));
        });
        lost
    }
}
