//! The words that a document loses if some of its runs disappear.

use crate::lose_limit::{LoseLimit, LostWords};

/// Calls `visit` with the beginning and the end of each sequence of lost words, in reading order. A text of `words`
/// words has a run of `run_length` words at each word, in order, and `is_kept` says of each run whether it is kept.
/// A word is lost if it is in no kept run. A text with fewer words has one run.
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

/// Rule for when a document may be removed, apart from the runs that earlier removals rely on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossRule {
    /// Number of words of a run.
    pub(crate) run_length: u32,
    /// Most words that a removal may lose.
    pub(crate) limit: LoseLimit,
}

impl LossRule {
    /// Returns the words that a document loses if it is removed, or `None` if it must stay. `is_kept` says of each of
    /// its runs whether another document has it.
    pub(crate) fn loss(self, is_kept: &[bool]) -> Option<LostWords> {
        // Nothing covers a document without a kept run, however short it is.
        if !is_kept.contains(&true) {
            return None;
        }
        let loss = self.loss_of_beginning(is_kept, is_kept.len());
        self.allows(loss, is_kept).then_some(loss)
    }

    /// Returns whether a document of `runs` runs may be removed as far as its first runs say. `is_kept` says of these
    /// whether another document has them.
    pub(crate) fn may_go(self, is_kept: &[bool], runs: usize) -> bool {
        runs > 0 && self.allows(self.loss_of_beginning(is_kept, runs), is_kept)
    }

    fn allows(self, loss: LostWords, is_kept: &[bool]) -> bool {
        // The run across two kept stretches may have no lost word, but it would disappear.
        self.limit.allows(loss) && !(self.limit.is_zero() && is_kept.contains(&false))
    }

    /// Returns the lost words among those that begin a document of `runs` runs, and the number of all words.
    fn loss_of_beginning(self, is_kept: &[bool], runs: usize) -> LostWords {
        // The number of words of a single run is not known. They are all lost, or none of them.
        let more = if runs > 1 { self.run_length - 1 } else { 0 };
        let words = (runs as u32).saturating_add(more);
        // A word behind the beginning may be in a kept run that begins there.
        let visible = if is_kept.len() < runs { is_kept.len() as u32 } else { words };
        let mut lost = 0;
        visit_lost(visible, self.run_length, is_kept.iter().copied(), |from, to| lost += to - from);
        LostWords { words, lost }
    }
}
