//! Finds the items of an evaluation set, for example its questions, that documents of a collection contain.

use super::document_traits::WantedTraits;
use super::item_in_document::{ItemInDocument, store_item, stored_items};
use super::parts::Parts;
use super::shard_summary::{
    CollectionSummary, Compared, ShardSummary, read_again, read_summarized,
};
use simtool_base::error::{Error, Result};
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::progress::Work;
use simtool_base::quantity::bytes as readable_bytes;
use simtool_compute::context::Context;
use simtool_contamination::{ContaminationSearch, DocumentHits, FoundItem, Items, SearchBuffers};
use simtool_model::document::Document;
use simtool_read::Corpus;
use simtool_terms::text_rules::{RuledText, TextRules};
use simtool_terms::tokenize::hashed_tokens::{HashTokenizer as _, HashedTokens};
use simtool_terms::tokenize::unicode_words::UnicodeWords;
use std::ops::Range;

/// The items of an evaluation set that documents contain, and data about the items and the documents.
#[derive(Debug)]
pub struct FoundContamination {
    /// The items and the documents that contain them, sorted by items and then by documents.
    pub found: Vec<ItemInDocument>,
    /// Summary of the evaluation set: the IDs of its items, its bad records, and its damaged files.
    pub items: CollectionSummary,
    /// Number of words of each item.
    pub item_words: Vec<u32>,
    /// Summary of the collection: the IDs of its documents, its bad records, and its damaged files.
    pub documents: CollectionSummary,
}

/// Finds the items of an evaluation set that `documents` contain, wholly or in part. `search` sets how large the part
/// must be. Words are those of the tokenizer `words`: upper and lower case, punctuation and white space do not matter.
///
/// ```
/// use simtool::stages::context::Context;
/// use simtool::stages::contamination::ContaminationSearch;
/// use simtool::{Texts, pipeline::find_contamination};
///
/// let items = ["Who wrote the tale of the white whale?", "How many legs has an octopus?"];
/// let text = "Quiz: WHO wrote the tale of\n  the white whale? (Melville)";
/// let context = Context::default();
/// let search = ContaminationSearch::new(5, &context)?;
/// let found = find_contamination(&Texts::of(&items), &Texts::of(&[text]), &search)?.found;
/// assert_eq!((found.len(), found[0].item, found[0].share), (1, 0, 1.0));
/// assert_eq!(found[0].bytes, [6..45]);
/// # Ok::<(), simtool::Error>(())
/// ```
///
/// # Errors
///
/// A collection cannot be read, the items or the result do not fit in memory, or the work is cancelled.
pub fn find_contamination(
    items: &dyn Corpus,
    documents: &dyn Corpus,
    search: &ContaminationSearch<'_>,
) -> Result<FoundContamination> {
    find_in_parts(items, documents, search, &TextRules::default(), None)
}

/// Finds items like [`find_contamination`]. `rules` change each text before its words are found, and must not move the
/// bytes of words. `parts` has the stored data of shards. If it is given, stores there the items that the documents of
/// each shard contain, and does not read the shards that are stored already.
///
/// # Errors
///
/// Fails in the same cases as [`find_contamination`], and if a shard cannot be stored.
pub(crate) fn find_in_parts(
    items: &dyn Corpus,
    documents: &dyn Corpus,
    search: &ContaminationSearch<'_>,
    rules: &TextRules,
    parts: Option<&Parts<'_>>,
) -> Result<FoundContamination> {
    let context = search.context();
    let (items, item_summary) = read_items(&WordReader { collection: items, rules, context })?;
    let item_words = (0..items.len()).map(|item| items.words(item).len() as u32).collect();
    let windows = search.windows(items)?;
    let documents = WordReader { collection: documents, rules, context };
    let counts = search.measure().needs_counts().then(|| windows.document_counts()).transpose()?;
    // Only weights need a reading before the search, which then also collects the summaries, and the documents with
    // windows of items. No other documents are searched.
    let mut counted = None;
    if let Some(counts) = &counts {
        let count =
            |scratch: &mut Scratch, searched: &mut Vec<u32>, document: &WordedDocument<'_>| {
                if windows.count_document(document.words, counts, &mut scratch.hits) {
                    searched.push(document.index);
                }
                Ok(())
            };
        counted = Some(documents.read("count shingles", Vec::new, count)?);
    }
    let index = search.index(windows, counts)?;
    let rows = || FoundRows { found: Vec::new(), memory: context.memory().hold(0) };
    let find = |scratch: &mut Scratch, rows: &mut FoundRows, document: &WordedDocument<'_>| {
        index.find(document.words, &mut scratch.search).into_iter().try_for_each(|found| {
            // The text is in memory now, so it need not be read again to find the bytes.
            let bytes = scratch.bytes(document.text, &found.spans, documents.words());
            rows.push(ItemInDocument::new(&found, document.index, bytes), context.memory())
        })
    };
    let stage = "find items";
    let (rows, summaries) = match (parts, counted) {
        (Some(parts), counted) => {
            let (rows, summaries) = documents.read_in_parts(parts, rows, find)?;
            (rows, counted.map_or(summaries, |(_, summaries)| summaries))
        }
        (None, None) => documents.read(stage, rows, find)?,
        (None, Some((searched, summaries))) => {
            (documents.read_again(stage, &searched, rows, find)?, summaries)
        }
    };
    let documents = CollectionSummary::new(documents.collection, summaries)?;
    let mut found = Vec::new();
    for (rows, shard) in rows.into_iter().zip(0..) {
        let first = documents.ids.first_of_shard(shard).0;
        found.extend(rows.found.into_iter().map(|row| {
            // Documents were numbered within their shards.
            ItemInDocument { document: first + row.document, ..row }
        }));
    }
    // Rows are unique, so any order of equal keys is the same order.
    context.threads().sort_by_key(&mut found, |row| (row.item, row.document));
    Ok(FoundContamination { found, items: item_summary, item_words, documents })
}

/// Reads all items of the evaluation set. Returns their words, and the summary of the collection of items.
fn read_items(reader: &WordReader<'_>) -> Result<(Items, CollectionSummary)> {
    let push =
        |_: &mut Scratch, items: &mut Items, item: &WordedDocument<'_>| items.push(item.words);
    let (shards, summaries) = reader.read("read items", Items::default, push)?;
    // Shards are in reading order, so items are numbered in this order.
    let mut items = Items::default();
    shards.iter().try_for_each(|shard| items.append(shard))?;
    Ok((items, CollectionSummary::new(reader.collection, summaries)?))
}

impl ItemInDocument {
    /// Creates the result for an item that was found in document number `document`, in the byte ranges `bytes` of its
    /// text.
    fn new(found: &FoundItem, document: u32, bytes: Vec<Range<u64>>) -> Self {
        let range = |words: &Range<u32>| words.start.into()..words.end.into();
        Self {
            item: found.item,
            document,
            share: found.share(),
            words: found.words(),
            item_words: found.item_spans.iter().map(range).collect(),
            bytes,
            is_best: found.is_best,
        }
    }
}

/// The items that the documents of a shard contain.
struct FoundRows {
    found: Vec<ItemInDocument>,
    memory: Reservation,
}

impl FoundRows {
    /// Adds an item that a document contains. Its memory is taken from `ledger`.
    ///
    /// # Errors
    ///
    /// The memory limit is too low for another item.
    fn push(&mut self, row: ItemInDocument, ledger: &Ledger) -> Result<()> {
        // The ranges are most of a row if a document has many copies of an item.
        let ranges = row.item_words.capacity() + row.bytes.capacity();
        let bytes = size_of::<ItemInDocument>() + ranges * size_of::<Range<u64>>();
        if !self.memory.try_grow(bytes as u64) {
            let used = readable_bytes(ledger.used());
            let rule = "`max_memory` does not allow more of them. Leave out very short items, or demand a greater \
                        `share`";
            return Err(Error::limit(
                format!("the items that documents contain, after {used}"),
                rule,
            ));
        }
        self.found.push(row);
        Ok(())
    }
}

/// A document and its words.
struct WordedDocument<'d> {
    /// Number of the document in its shard.
    index: u32,
    /// Text of the document, after the text rules have changed it.
    text: &'d [u8],
    words: &'d [u64],
}

/// Buffers of a thread that reads documents.
#[derive(Default)]
struct Scratch {
    hits: DocumentHits,
    search: SearchBuffers,
    /// Buffers for finding the byte ranges of words.
    tokens: HashedTokens,
    places: Vec<Range<usize>>,
}

impl Scratch {
    /// Returns, for each range of words in `spans`, its range of bytes in `text`. The spans must be in ascending order.
    fn bytes(&mut self, text: &[u8], spans: &[Range<u32>], words: UnicodeWords) -> Vec<Range<u64>> {
        let Self { tokens, places, .. } = self;
        let mut ends: Vec<u32> = spans.iter().flat_map(|span| [span.start, span.end - 1]).collect();
        // A span of one word begins and ends with the same word.
        ends.dedup();
        places.clear();
        words.places(text, &ends, tokens, places);
        let place = |word: u32| &places[ends.partition_point(|&end| end < word)];
        let bytes =
            |span: &Range<u32>| place(span.start).start as u64..place(span.end - 1).end as u64;
        spans.iter().map(bytes).collect()
    }
}

/// Reads the documents of a collection as words.
struct WordReader<'c> {
    collection: &'c dyn Corpus,
    rules: &'c TextRules,
    context: &'c Context<'c>,
}

impl WordReader<'_> {
    fn words(&self) -> UnicodeWords {
        UnicodeWords::new(self.context.isa())
    }

    /// Reads all documents for the first time. Creates the result of each shard by `start`. Calls `visit` for each
    /// document, with the buffers of the thread and the result of the shard. `stage` is the name that progress shows.
    /// Returns the results and summaries of all shards.
    fn read<R: Send>(
        &self,
        stage: &'static str,
        start: impl Fn() -> R + Sync,
        visit: impl Fn(&mut Scratch, &mut R, &WordedDocument<'_>) -> Result<()> + Sync,
    ) -> Result<(Vec<R>, Vec<ShardSummary>)> {
        let read = |buffers: &mut (Scratch, HashedTokens), shard| {
            // Each shard has its own result, because threads take shards in any order.
            let mut result = start();
            let summary = self.read_shard(buffers, shard, &mut |scratch, document| {
                visit(scratch, &mut result, document)
            })?;
            Ok((result, summary))
        };
        Ok(self.per_shard(stage, read)?.into_iter().unzip())
    }

    /// Reads a shard for the first time, and calls `visit` for each document.
    fn read_shard(
        &self,
        (scratch, tokens): &mut (Scratch, HashedTokens),
        shard: usize,
        visit: &mut dyn FnMut(&mut Scratch, &WordedDocument<'_>) -> Result<()>,
    ) -> Result<ShardSummary> {
        let mut ruled = RuledText::default();
        let visit = &mut |index, document: &Document<'_>| {
            let text = self.rules.apply(document.text, &mut ruled);
            tokens.clear();
            self.words().tokenize(text, tokens);
            let words = &tokens.hashes;
            visit(scratch, &WordedDocument { index, text, words })?;
            Ok(Compared::by_terms(!words.is_empty()))
        };
        read_summarized(self.collection, shard, WantedTraits::NONE, visit)
    }

    /// Returns the results and summaries of all shards like [`Self::read`], but first stores in `parts` the items of
    /// the shards that are missing there. Shards that are stored already are not read from their files.
    fn read_in_parts(
        &self,
        parts: &Parts<'_>,
        start: impl Fn() -> FoundRows + Sync,
        visit: impl Fn(&mut Scratch, &mut FoundRows, &WordedDocument<'_>) -> Result<()> + Sync,
    ) -> Result<(Vec<FoundRows>, Vec<ShardSummary>)> {
        let context = self.context;
        parts.fill(None, context, &|shard, store| {
            let mut row = Vec::new();
            let summary =
                self.read_shard(&mut Default::default(), shard, &mut |scratch, document| {
                    let mut rows = start();
                    visit(scratch, &mut rows, document)?;
                    row.clear();
                    rows.found.iter().for_each(|found| store_item(found, &mut row));
                    store.push(&row);
                    Ok(())
                })?;
            context.progress().advance(self.collection.shard_bytes(shard));
            Ok(summary)
        })?;
        let read = |buffers: &mut (Scratch, HashedTokens), shard| {
            let mut rows = start();
            if let Some(summary) = parts.summary(shard)? {
                parts.visit(shard, &|_| true, &mut |document, row| {
                    // The checksums were right, so only another program can have made such a row.
                    let wrong = || {
                        let rule = "are not those of this program: remove the folder of parts";
                        Error::limit("the stored items of a document", rule)
                    };
                    let items = stored_items(document, row).ok_or_else(wrong)?;
                    items.into_iter().try_for_each(|item| rows.push(item, context.memory()))
                })?;
                return Ok((rows, summary));
            }
            let summary = self.read_shard(buffers, shard, &mut |scratch, document| {
                visit(scratch, &mut rows, document)
            })?;
            Ok((rows, summary))
        };
        Ok(self.per_shard("find items", read)?.into_iter().unzip())
    }

    /// Reads some documents again. For each shard, `wanted` lists the indexes of these documents in the shard, in
    /// ascending order. The other arguments are those of [`Self::read`].
    fn read_again<R: Send>(
        &self,
        stage: &'static str,
        wanted: &[Vec<u32>],
        start: impl Fn() -> R + Sync,
        visit: impl Fn(&mut Scratch, &mut R, &WordedDocument<'_>) -> Result<()> + Sync,
    ) -> Result<Vec<R>> {
        let read = |(scratch, tokens): &mut (Scratch, HashedTokens), shard: usize| {
            let (mut result, mut done) = (start(), Ok(()));
            let Some(last) = wanted[shard].last() else { return Ok(result) };
            let is_wanted = |index: u32| wanted[shard].binary_search(&index).is_ok();
            let mut ruled = RuledText::default();
            read_again(self.collection, shard, last + 1, &is_wanted, &mut |index, text| {
                let text = self.rules.apply(text, &mut ruled);
                tokens.clear();
                self.words().tokenize(text, tokens);
                let document = WordedDocument { index, text, words: &tokens.hashes };
                if done.is_ok() {
                    done = visit(scratch, &mut result, &document);
                }
            })?;
            done.map(|()| result)
        };
        self.per_shard(stage, read)
    }

    /// Calls `read` for each shard, and returns the results in the order of the shards.
    fn per_shard<R: Send>(
        &self,
        stage: &'static str,
        read: impl Fn(&mut (Scratch, HashedTokens), usize) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let Self { collection, context, .. } = self;
        let shards = collection.shard_count();
        context.progress().begin(stage, Work::Bytes(collection.bytes()));
        context.threads().try_map(
            shards,
            || Ok(Default::default()),
            |scratch, shard| {
                context.check_cancelled()?;
                let result = read(scratch, shard)?;
                context.progress().advance(collection.shard_bytes(shard));
                Ok(result)
            },
        )
    }
}
