//! Converts passages to rows of numbers, which a program can store, and converts such rows to passages.

use crate::passages::{CutRange, Excerpt, Passage, Passages};
use crate::repetition::{Level, TopText};
use std::ops::Range;

/// Number of elements in the first row of [`Passages::visit_rows`]. The first three are counts: documents, words and
/// repeated windows. The other four are the lengths of the lists of levels, top texts, passages and cuts.
const HEAD: usize = 7;

/// Builder of passages from the rows of numbers that [`Passages::visit_rows`] made of them, for example after they were
/// read from a file.
///
/// ```
/// use simtool_passages::{Passages, RestoredPassages};
///
/// let passages = Passages::default();
/// let mut restored = RestoredPassages::default();
/// passages.visit_rows(&mut |row| assert!(restored.add(row).is_some()));
/// assert_eq!(restored.finish(), Some(passages));
/// ```
#[derive(Clone, Debug, Default)]
pub struct RestoredPassages {
    /// The first row, which has counts and the lengths of lists. `None` before it was added.
    head: Option<[u64; HEAD]>,
    passages: Passages,
}

impl Passages {
    /// Calls `visit` with rows of numbers that contain all data of the passages, for example to store them.
    /// [`RestoredPassages`] builds the same passages from the rows.
    pub fn visit_rows(&self, visit: &mut dyn FnMut(&[u64])) {
        let Self { passages, cuts, documents, words, repeated_windows, repetition } = self;
        let lengths = [repetition.levels.len(), repetition.top.len(), passages.len(), cuts.len()];
        let [levels, tops, all, all_cuts] = lengths.map(|length| length as u64);
        visit(&[*documents, *words, *repeated_windows, levels, tops, all, all_cuts]);
        for Level { documents, words } in &repetition.levels {
            visit(&[(*documents).into(), *words]);
        }
        for TopText { document, words, bytes, documents } in &repetition.top {
            let [start, end] = numbers(words);
            visit(&[(*document).into(), start, end, bytes.start, bytes.end, (*documents).into()]);
        }
        for passage in passages {
            let [start, end] = numbers(&passage.words);
            let Excerpt { document, bytes } = &passage.partner;
            let flags = u64::from(passage.is_first) | u64::from(passage.is_whole) << 1;
            visit(&[
                passage.document.into(),
                start,
                end,
                passage.bytes.start,
                passage.bytes.end,
                passage.documents.into(),
                passage.occurrences,
                flags,
                (*document).into(),
                bytes.start,
                bytes.end,
            ]);
        }
        for CutRange { document, words, bytes } in cuts {
            let [start, end] = numbers(words);
            visit(&[(*document).into(), start, end, bytes.start, bytes.end]);
        }
    }
}

fn numbers(range: &Range<u32>) -> [u64; 2] {
    [range.start.into(), range.end.into()]
}

impl RestoredPassages {
    /// Adds the next row. The rows must come in the order of [`Passages::visit_rows`]. Returns `None` if the row is not
    /// valid.
    pub fn add(&mut self, row: &[u64]) -> Option<()> {
        let Some(head) = self.head else {
            let head: [u64; HEAD] = row.try_into().ok()?;
            [self.passages.documents, self.passages.words, self.passages.repeated_windows, ..] =
                head;
            self.head = Some(head);
            return Some(());
        };
        let [_, _, _, levels, tops, all, _] = head;
        let Passages { passages, cuts, repetition, .. } = &mut self.passages;
        // The rows of each list follow those of the list before, so the counts say which list comes next.
        if (repetition.levels.len() as u64) < levels {
            let &[documents, words] = row else { return None };
            repetition.levels.push(Level { documents: short(documents)?, words });
        } else if (repetition.top.len() as u64) < tops {
            let &[document, start, end, from, to, documents] = row else { return None };
            let (document, documents) = (short(document)?, short(documents)?);
            let (words, bytes) = (short(start)?..short(end)?, from..to);
            repetition.top.push(TopText { document, words, bytes, documents });
        } else if (passages.len() as u64) < all {
            passages.push(passage(row)?);
        } else {
            let &[document, start, end, from, to] = row else { return None };
            let words = short(start)?..short(end)?;
            cuts.push(CutRange { document: short(document)?, words, bytes: from..to });
        }
        Some(())
    }

    /// Returns the passages, or `None` if rows are missing.
    #[must_use]
    pub fn finish(self) -> Option<Passages> {
        let [.., passages, cuts] = self.head?;
        let found = [self.passages.passages.len() as u64, self.passages.cuts.len() as u64];
        (found == [passages, cuts]).then_some(self.passages)
    }
}

/// Returns the passage that a row of 11 numbers describes, or `None` if the row is not valid.
fn passage(row: &[u64]) -> Option<Passage> {
    let &[document, start, end, from, to, documents, occurrences, flags, of, of_from, of_to] = row
    else {
        return None;
    };
    Some(Passage {
        document: short(document)?,
        words: short(start)?..short(end)?,
        bytes: from..to,
        documents: short(documents)?,
        occurrences,
        is_first: flags & 1 != 0,
        is_whole: flags & 2 != 0,
        partner: Excerpt { document: short(of)?, bytes: of_from..of_to },
    })
}

fn short(number: u64) -> Option<u32> {
    number.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repetition::Repetition;

    fn passages() -> Passages {
        let passage = |document: u32| Passage {
            document,
            words: 3..document + 9,
            bytes: 7..1 << 40,
            documents: 5,
            occurrences: 1 << 33,
            is_first: document == 1,
            is_whole: document == 2,
            partner: Excerpt { document: 4, bytes: 0..u64::from(document) },
        };
        Passages {
            passages: [1, 1, 2, 3].map(passage).to_vec(),
            cuts: vec![CutRange { document: 2, words: 3..4, bytes: 7..8 }],
            documents: 4,
            words: 1 << 34,
            repeated_windows: 12,
            repetition: Repetition {
                levels: vec![Level { documents: 2, words: 8 }, Level { documents: 11, words: 0 }],
                top: vec![TopText { document: 1, words: 0..2, bytes: 0..9, documents: 6 }],
            },
        }
    }

    #[test]
    fn passages_come_back_and_missing_or_wrong_rows_are_noticed() {
        let expected = passages();
        let mut rows: Vec<Vec<u64>> = Vec::new();
        expected.visit_rows(&mut |row| rows.push(row.to_vec()));
        assert_eq!(rows.len(), 1 + 2 + 1 + 4 + 1);
        let restored = |rows: &[Vec<u64>]| {
            let mut restored = RestoredPassages::default();
            rows.iter().try_for_each(|row| restored.add(row))?;
            restored.finish()
        };
        assert_eq!(restored(&rows), Some(expected));
        for end in 0..rows.len() {
            assert_eq!(restored(&rows[..end]), None, "{end}");
            let mut wrong = rows.clone();
            wrong[end].pop();
            assert_eq!(restored(&wrong), None, "{end}");
        }
        rows.push(rows[8].clone());
        assert_eq!(restored(&rows), None);
    }
}
