//! Compares the words of windows that were found equal by their hashes.

use crate::place::Place;
use crate::reading::DocumentNumbers;
use crate::word_range::{WordRange, push_range};
use crate::word_source::WordSource;
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_compute::context::Context;

/// Words of a document that should be equal to words at another place, because their hashes are equal. The other
/// place is mostly the first occurrence of the words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// Document of the words, and their positions in it.
    pub(crate) words: WordRange,
    /// Place of the other words, which should be equal to `words`.
    pub(crate) equal: Place,
}

impl Claim {
    /// Appends this claim to `claims`, which are about earlier words. If it continues or overlaps the last claim, with
    /// the same shift between its two places, it extends the last claim instead.
    #[inline]
    pub(crate) fn push_to(self, claims: &mut Vec<Self>) {
        match claims.last_mut() {
            Some(last)
                if last.words.touches(&self.words)
                    && last.equal.plus(self.words.start - last.words.start) == self.equal =>
            {
                last.words.end = last.words.end.max(self.words.end);
            }
            _ => claims.push(self),
        }
    }

    /// Returns the words at the other place, which should be equal.
    fn equal_words(&self) -> WordRange {
        let Place { document, word } = self.equal;
        WordRange {
            document,
            start: word,
            end: word.saturating_add(self.words.end - self.words.start),
        }
    }

    /// Returns whether the words and the words that should be equal are in the same document.
    fn is_in_document(&self) -> bool {
        self.equal.document == self.words.document
    }
}

/// Returns whether all claims are true. A claim is true if the words at its two places, [`Claim::words`] and
/// [`Claim::equal`], are equal. The claims are in ascending order of `words`.
///
/// Reads the documents twice: first the words at `equal`, which are stored, and then the words at `words`. If both are
/// in the same document, the words at `equal` are not stored.
///
/// # Errors
/// The source fails, or the work is cancelled.
pub(crate) fn are_true(
    claims: &[Claim],
    source: &dyn WordSource,
    numbers: &DocumentNumbers,
    context: &Context<'_>,
) -> Result<bool> {
    let others = claims.iter().filter(|claim| !claim.is_in_document());
    let mut firsts: Vec<WordRange> = others.map(Claim::equal_words).collect();
    context.threads().sort_by_key(&mut firsts, |range| *range);
    // Many claims are about the same first occurrence, whose words are stored once.
    let mut joined = Vec::new();
    for range in firsts {
        push_range(&mut joined, range);
    }
    let firsts = joined;
    let shards = source.shard_count();
    let bytes: u64 = (0..shards).map(|shard| source.shard_bytes(shard)).sum();
    context.progress().begin("verify", Work::Bytes(2 * bytes));
    let read = |(): &mut (), shard| {
        context.check_cancelled()?;
        let ranges = in_shard(&firsts, |range| range.document, numbers, shard);
        let words = words_of(source, (shard, numbers.of_shard(shard).start), ranges)?;
        context.progress().advance(source.shard_bytes(shard));
        Ok(words)
    };
    let words = context.threads().try_map(shards, || Ok(()), read)?.concat();
    let _memory = context.memory().hold(8 * words.len() as u64);
    let firsts = FirstWords::new(firsts, words);
    let compare = |(): &mut (), shard| {
        context.check_cancelled()?;
        let claims = in_shard(claims, |claim| claim.words.document, numbers, shard);
        let are_equal = firsts.are_equal(source, (shard, numbers.of_shard(shard).start), claims)?;
        context.progress().advance(source.shard_bytes(shard));
        Ok(are_equal)
    };
    let equal = context.threads().try_map(shards, || Ok(()), compare)?;
    Ok(equal.into_iter().all(|equal| equal))
}

/// The words of the first occurrences of windows.
#[derive(Debug)]
struct FirstWords {
    /// Documents of the stored words, and positions of the words in them. The ranges do not overlap, and are in
    /// ascending order.
    ranges: Vec<WordRange>,
    /// Index in `words` of the first word of each range.
    starts: Vec<usize>,
    words: Vec<u64>,
}

impl FirstWords {
    fn new(ranges: Vec<WordRange>, words: Vec<u64>) -> Self {
        let mut next = 0;
        let starts = ranges.iter().map(|range| {
            let start = next;
            next += range.len();
            start
        });
        Self { starts: starts.collect(), ranges, words }
    }

    /// Returns the words of `range`, which must be inside one of the stored ranges. Returns `None` if words are
    /// missing, because a document became shorter between two readings.
    fn get(&self, range: &WordRange) -> Option<&[u64]> {
        let is_not_behind =
            |known: &WordRange| (known.document, known.start) <= (range.document, range.start);
        let index = self.ranges.partition_point(is_not_behind).checked_sub(1)?;
        let start = self.starts[index] + (range.start - self.ranges[index].start) as usize;
        self.words.get(start..start + range.len())
    }

    /// Returns whether all `claims` are true. A claim is true if the words at its two places, [`Claim::words`] and
    /// [`Claim::equal`], are equal. The words at `words` are read from one shard. `shard` is the index of the shard and
    /// the number of its first document.
    fn are_equal(
        &self,
        source: &dyn WordSource,
        shard: (usize, u32),
        claims: &[Claim],
    ) -> Result<bool> {
        let mut unequal = claims.len();
        visit_documents(
            source,
            shard,
            claims,
            |claim| claim.words.document,
            |claim, document| {
                let equal = claim.equal_words();
                let equal =
                    if claim.is_in_document() { equal.of(document) } else { self.get(&equal) };
                // Words that are missing on both sides are not equal.
                let words = claim.words.of(document);
                unequal -= usize::from(words.is_some() && words == equal);
            },
        )?;
        Ok(unequal == 0)
    }
}

/// Returns the elements of `items` whose documents are in shard `shard`. `items` are sorted by their documents.
fn in_shard<'i, T>(
    items: &'i [T],
    document: impl Fn(&T) -> u32,
    numbers: &DocumentNumbers,
    shard: usize,
) -> &'i [T] {
    let documents = numbers.of_shard(shard);
    let start = items.partition_point(|item| document(item) < documents.start);
    let count = items[start..].partition_point(|item| document(item) < documents.end);
    &items[start..start + count]
}

/// Returns the words of `ranges`, one range after the other. All ranges are in one shard. `shard` is the index of the
/// shard and the number of its first document.
fn words_of(
    source: &dyn WordSource,
    shard: (usize, u32),
    ranges: &[WordRange],
) -> Result<Vec<u64>> {
    let mut found = Vec::with_capacity(ranges.iter().map(WordRange::len).sum());
    visit_documents(
        source,
        shard,
        ranges,
        |range| range.document,
        |range, document| {
            let expected = found.len() + range.len();
            found.extend_from_slice(range.of(document).unwrap_or_default());
            // Only a text that changed between two readings has fewer words.
            found.resize(expected, 0);
        },
    )?;
    Ok(found)
}

/// Calls `visit` with each element of `items` and all words of its document. `document` returns the number of the
/// document of an item. The items are sorted by these numbers. The tuple has the index of the only shard, and the
/// number of its first document.
fn visit_documents<T>(
    source: &dyn WordSource,
    (shard, first_document): (usize, u32),
    items: &[T],
    document: impl Fn(&T) -> u32,
    mut visit: impl FnMut(&T, &[u64]),
) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let has = |index| items.binary_search_by_key(&(first_document + index), &document).is_ok();
    let mut rest = items;
    source.visit_words(shard, &has, &mut |index, words| {
        let is_here = |item: &T| document(item) <= first_document + index;
        // Items of documents that are not there any more are given out with the next document, and do not match.
        let (here, behind) = rest.split_at(rest.partition_point(is_here));
        for item in here {
            visit(item, words);
        }
        rest = behind;
        Ok(())
    })
}
