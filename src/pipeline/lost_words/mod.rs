//! Counts the words that each removal loses: words of the removed document that its kept document lacks.
//!
//! A word of the removed document is *kept* if at least one of the shingles around it is also a shingle of the kept
//! document. The other words are *lost*. A text that is shorter than a shingle is one shingle. The words are the tokens of the
//! method: with `chars:5`, they are characters.
//!
//! Documents that are equal to their kept document lose nothing. The texts of the others, and of their kept documents,
//! are read again in batches whose terms fit in memory.

use super::levels::limit;
use super::plan::Plan;
use super::verify::RowTexts;
use crate::cluster::Removal;
use crate::method::{Criterion, DocumentTerms, Fitted, Method, TermScratch};
use simtool_base::byte_text::byte_text;
use simtool_base::error::Result;
use simtool_base::large_buffer::reserved;
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_coverage::{LostWords, visit_lost};
use simtool_kernels::Isa;
use simtool_model::closeness::Closeness;
use simtool_model::sides::Sides;
use simtool_model::similarity::Similarity;
use std::collections::BTreeSet;
use std::ops::Range;

/// Approximate maximum number of batches. Texts are read again for each batch, so if the memory is far too small, the
/// batches are larger than the memory allows.
const MOST_BATCHES: u64 = 16;
/// Divisor of the free memory. The terms of a batch may take 1/`MEMORY_PART` of the free memory.
const MEMORY_PART: u64 = 2;
/// Name of the data that the memory is for, in out-of-memory messages.
const WHAT: &str = "the terms of removed and kept texts";
/// Maximum number of lost words that are shown of a pair.
const SHOWN_WORDS: usize = 20;
/// Maximum number of lost words of a pair whose byte ranges in the text are found.
const MOST_PLACES: usize = 10_000;

/// Numbers of lost words for all removals of a run. A lost word is in the removed document but not in its kept
/// document.
#[derive(Clone, Debug, Default)]
pub struct RemovalLosses {
    /// Number of each removed document that is not equal to its kept document, in ascending order, with its lost words.
    /// They are `None` if a text could not be read again.
    counted: Vec<(u32, Option<LostWords>)>,
}

impl RemovalLosses {
    /// Creates the value from the number of each removed document with its lost words, in ascending order.
    pub(super) fn new(counted: Vec<(u32, Option<LostWords>)>) -> Self {
        Self { counted }
    }

    /// Returns the lost words of the removed document with number `row`, or no lost words if its text equals the kept
    /// text. Returns `None` if a text could not be read again.
    #[must_use]
    pub fn get(&self, row: u32) -> Option<LostWords> {
        let found = self.counted.binary_search_by_key(&row, |&(counted, _)| counted);
        // Documents that are equal to their kept documents were not counted, and lose nothing.
        found.map_or(Some(LostWords::default()), |at| self.counted[at].1)
    }
}

/// Words of a removed text that the kept text lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairLoss {
    /// Number of words of the removed text, and number of these words that are lost.
    pub counts: LostWords,
    /// The first lost words, at most 20. Empty if the tokenizer of the method cannot find the byte ranges of words.
    pub examples: Vec<String>,
    /// Byte ranges of the first lost words in the removed text, after the text rules of the method have changed it.
    /// Empty if `examples` is empty.
    pub places: Vec<Range<usize>>,
}

/// Finds the words that are lost if the second of `texts` is removed and the first one is kept.
pub(crate) fn pair_loss([kept, removed]: [&[u8]; 2], method: &Method, isa: Isa) -> PairLoss {
    let terms = DocumentTerms::new(method.compared(), &Fitted::Nothing, isa);
    let mut scratch = TermScratch::default();
    let kept = TextTerms::of(&terms, kept, &mut scratch);
    let kept = TermPlaces::new(&kept.terms);
    let of_removed = TextTerms::of(&terms, removed, &mut scratch);
    let mut places = Vec::new();
    let mut lost = 0;
    of_removed.visit_lost(&kept, terms.run_length(), |from, to| {
        lost += to - from;
        places.extend((from..to).take(MOST_PLACES - places.len()));
    });
    // All lost words count, and only the first are shown.
    let counts = LostWords { words: of_removed.words, lost };
    let text = method.compared().compared_text(removed);
    let places = terms.places_of_words(&text, &places, isa);
    let examples = places.iter().take(SHOWN_WORDS);
    let examples = examples.map(|place| byte_text(&text[place.clone()]).into_owned()).collect();
    PairLoss { counts, examples, places }
}

/// Counts the lost words of each of `removals`. The first side of `texts` has the removed documents, and the second
/// side the kept documents. With one collection, both sides are the same.
///
/// # Errors
///
/// A collection cannot be read again, the system lacks memory, or the work was cancelled.
pub(super) fn removal_losses(
    texts: &Sides<RowTexts<'_>>,
    removals: &[Removal],
    plan: &Plan,
    context: &Context<'_>,
) -> Result<RemovalLosses> {
    let mut unequal: Vec<Removal> =
        removals.iter().filter(|removal| !is_of_equal_texts(removal, plan)).copied().collect();
    // The removals of a kept document follow each other, so that its text is read for one batch.
    unequal.sort_unstable_by_key(|removal| (removal.kept, removal.row));
    let mut counted = Vec::with_capacity(unequal.len());
    for batch in batches(texts, &unequal, context.memory().free() / MEMORY_PART) {
        counted.extend(losses_of_batch(texts, batch, context)?);
    }
    counted.sort_unstable_by_key(|&(row, _)| row);
    Ok(RemovalLosses { counted })
}

/// Returns whether the removed document has the same words as the kept one, in the same order.
fn is_of_equal_texts(removal: &Removal, plan: &Plan) -> bool {
    let is_one = |limit: Criterion| matches!(limit, Criterion::Similarity(limit) if limit.is_one_for_equal_sets_only());
    // Terms of a weighed set may weigh nothing, so sets with different terms can have the similarity 1.
    !plan.method().compared().are_weighed_in_sets()
        && is_one(limit(plan))
        && removal.closeness.and_then(Closeness::exact_similarity) == Some(Similarity::ONE)
}

/// Divides removals into batches, so that the terms of the texts of a batch take about `most` bytes of memory.
/// `removals` must be sorted by their kept document.
fn batches<'r>(
    texts: &Sides<RowTexts<'_>>,
    removals: &'r [Removal],
    most: u64,
) -> impl Iterator<Item = &'r [Removal]> {
    // The terms of a kept document are in memory once for all its removals in a batch.
    let bytes = |at: usize, is_first: bool| {
        let Removal { row, kept, .. } = removals[at];
        let is_new = is_first || removals[at - 1].kept != kept;
        let of_kept = if is_new { texts.second().bytes_of_sets(&[kept]) } else { 0 };
        texts.first().bytes_of_sets(&[row]) + of_kept
    };
    let total: u64 = (0..removals.len()).map(|at| bytes(at, at == 0)).sum();
    // Each batch is another reading, so there must not be too many.
    let most = most.max(total / MOST_BATCHES);
    let mut ends = Vec::new();
    let mut inside = 0;
    for at in 0..removals.len() {
        let own = bytes(at, inside == 0);
        if inside > 0 && inside + own > most {
            ends.push(at);
            inside = bytes(at, true);
        } else {
            inside += own;
        }
    }
    ends.extend(Some(removals.len()).filter(|&end| end > 0));
    let mut start = 0;
    ends.into_iter().map(move |end| &removals[std::mem::replace(&mut start, end)..end])
}

/// Reads the texts of the removals of one batch, and returns the number of each removed document with its lost words.
fn losses_of_batch(
    texts: &Sides<RowTexts<'_>>,
    batch: &[Removal],
    context: &Context<'_>,
) -> Result<Vec<(u32, Option<LostWords>)>> {
    let mut rows = texts.as_ref().map(|_| BTreeSet::new());
    rows.first_mut().extend(batch.iter().map(|removal| removal.row));
    rows.second_mut().extend(batch.iter().map(|removal| removal.kept));
    let rows = rows.map(|rows| rows.into_iter().collect::<Vec<u32>>());
    let together = texts.as_ref().zip(rows.as_ref());
    let bytes: u64 = together.iter().map(|(texts, rows)| texts.bytes_of_sets(rows)).sum();
    let _memory = context.memory().hold(bytes);
    let read = together.try_map(|(texts, rows)| {
        let found = texts.read_rows(rows, |row, text, scratch| {
            Ok((row, TextTerms::read(texts.terms, text, scratch)?))
        })?;
        Ok::<UnorderedMap<u32, TextTerms>, simtool_base::error::Error>(found.into_iter().collect())
    })?;
    let run_length = texts.first().terms.run_length();
    let of_kept: Vec<&[Removal]> = batch.chunk_by(|a, b| a.kept == b.kept).collect();
    let losses = context.threads().map(of_kept, |removals: &[Removal]| {
        let kept = read.second().get(&removals[0].kept);
        let kept = kept.map(|kept| TermPlaces::new(&kept.terms));
        let loss = |removal: &Removal| {
            let loss = kept.as_ref().zip(read.first().get(&removal.row));
            (removal.row, loss.map(|(kept, removed)| removed.lost_words(kept, run_length)))
        };
        removals.iter().map(loss).collect::<Vec<_>>()
    });
    Ok(losses.concat())
}

/// Terms of a kept text, with the position of each term for fast look-ups.
struct TermPlaces<'k> {
    /// The terms in reading order.
    terms: &'k [u64],
    /// The distinct terms in ascending order, each with the index of its first occurrence in `terms`.
    places: Vec<(u64, u32)>,
}

impl<'k> TermPlaces<'k> {
    fn new(terms: &'k [u64]) -> Self {
        let mut places: Vec<(u64, u32)> = terms.iter().copied().zip(0..).collect();
        places.sort_unstable();
        places.dedup_by_key(|&mut (term, _)| term);
        Self { terms, places }
    }

    /// Returns an index at which `term` is in the terms of the text, or `None` if the text lacks it. The look-up is
    /// fastest if `expected`, a guess of the index, is right.
    fn place(&self, term: u64, expected: usize) -> Option<usize> {
        // The texts have long sequences in common. A search among all terms takes far longer.
        if self.terms.get(expected) == Some(&term) {
            return Some(expected);
        }
        let found = self.places.binary_search_by_key(&term, |&(term, _)| term);
        found.ok().map(|at| self.places[at].1 as usize)
    }
}

/// Terms of a text in reading order.
struct TextTerms {
    terms: Vec<u64>,
    /// Number of words of the text.
    words: u32,
}

impl TextTerms {
    fn of(terms: &DocumentTerms, text: &[u8], scratch: &mut TermScratch) -> Self {
        let terms = terms.find(text, scratch).clone();
        Self::new(terms, scratch)
    }

    /// Finds the terms of a text. Fails if there is too little memory for them, because the length of the text is not
    /// limited.
    fn read(terms: &DocumentTerms, text: &[u8], scratch: &mut TermScratch) -> Result<Self> {
        let found = terms.find(text, scratch);
        let mut own = reserved(found.len(), WHAT)?;
        own.extend_from_slice(found);
        // A long text would hold its room while all others are read.
        scratch.release();
        Ok(Self::new(own, scratch))
    }

    /// Creates the value from the terms of the last text in `scratch`.
    fn new(terms: Vec<u64>, scratch: &TermScratch) -> Self {
        Self { terms, words: u32::try_from(scratch.compared_count()).unwrap_or(u32::MAX) }
    }

    /// Counts the words of this text that are in no shingle of the text of `kept`. A term is a shingle of `run_length`
    /// words.
    fn lost_words(&self, kept: &TermPlaces<'_>, run_length: usize) -> LostWords {
        let mut lost = 0;
        self.visit_lost(kept, run_length, |from, to| lost += to - from);
        LostWords { words: self.words, lost }
    }

    /// Calls `visit` for each sequence of lost words, in reading order. The arguments are the number of its first word,
    /// and the number of the word after its last one. Words are counted from 0. A term is a shingle of `run_length`
    /// words.
    fn visit_lost(&self, kept: &TermPlaces<'_>, run_length: usize, visit: impl FnMut(u32, u32)) {
        let mut expected = 0;
        // Term number n begins at word number n.
        let is_kept = self.terms.iter().map(|&term| {
            let place = kept.place(term, expected);
            expected = place.map_or(expected, |place| place + 1);
            place.is_some()
        });
        visit_lost(self.words, run_length as u32, is_kept, visit);
    }
}

#[cfg(test)]
mod tests;
