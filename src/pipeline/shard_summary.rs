//! Data that is collected while a collection is read: IDs, bad records, damaged files, lengths of texts.

use super::document_traits::{DocumentTraits, WantedTraits};
use super::keep_order::KeepOrder;
use super::left_out_counts::LeftOutCounts;
use super::little_pages::LittlePages;
use super::quarantine::{Quarantine, ShardQuarantine};
use super::stored_bytes::{BytesReader, BytesWriter};
use super::stored_summary::{restore_fault, restore_ids, store_fault, store_ids};
use super::text_facts::TextFacts;
use super::unread_values::UnreadValues;
use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_compute::threads::Threads;
use simtool_model::document::{Content, DocOrdinal, Document, DocumentIds, ShardIds};
use simtool_model::field_value::FieldValue;
use simtool_model::non_document::{NonDocument, NonDocumentCounts};
use simtool_model::page_text::{PageText, PageTextCounts};
use simtool_model::record_digest::RecordDigest;
use simtool_read::{Corpus, Event};
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// Seconds of one core for each document, to collect its name, to choose kept documents and to write outputs.
/// This value and the values of the next constants were measured with both threads of a 2-core AMD EPYC in
/// November 2026.
const SECONDS_A_DOCUMENT: f64 = 0.2e-6;
/// Bytes of memory for each document in addition to its ID: the offset at which the ID ends, the record number, the
/// length of the text, and the hash of the text's sequence of tokens.
const BYTES_A_NAME: f64 = 20.0;
/// Memory for merging the names of all shards, as a multiple of the memory of all names. The name of a document is its
/// ID with its file and record number.
const COPIES_OF_NAMES: f64 = 1.5;

/// Estimated cost of the names of all documents. The name of a document is its ID with its file and record number.
/// Names are collected for each shard and then merged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamesCost {
    /// Seconds of one core to collect names, to choose kept documents and to write outputs.
    pub(crate) seconds: f64,
    /// Bytes of memory that all names take after merging.
    pub(crate) bytes: f64,
    /// Bytes of memory that names take while the names of the shards are merged.
    pub(crate) merging_bytes: f64,
}

impl NamesCost {
    /// Estimates the cost for `documents` documents whose IDs have `id_bytes` bytes.
    pub(crate) fn estimate(documents: f64, id_bytes: f64) -> Self {
        let bytes = id_bytes + documents * BYTES_A_NAME;
        Self {
            seconds: documents * SECONDS_A_DOCUMENT,
            bytes,
            merging_bytes: COPIES_OF_NAMES * bytes,
        }
    }
}

/// Data about the documents and faults of one shard, which was collected while the shard was read.
#[derive(Clone, Debug)]
pub(crate) struct ShardSummary {
    ids: ShardIds,
    /// Bad records of the shard, numbered from 0 at the beginning of the shard.
    bad: ShardQuarantine,
    faults: Vec<Fault>,
    /// Values of the documents, such as their dates, that decide which documents are compared and which are kept.
    traits: DocumentTraits,
    without_terms: u64,
    repaired: u64,
    skipped_elements: u64,
    pages: PageTextCounts,
    little_pages: LittlePages,
    left_out: LeftOutCounts,
    passed_over: u64,
    non_documents: NonDocumentCounts,
    lengths: Vec<u32>,
    text_facts: TextFacts,
    /// For each document, the hash of its sequence ([`Compared::sequence`]). Empty if texts are not compared.
    sequences: Vec<u64>,
}

/// Data about a document that was collected while its terms were found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared {
    /// Whether the document has any term.
    pub(crate) has_terms: bool,
    /// Number of tokens of the document. 0 if the run writes no numbers of tokens.
    pub(crate) tokens: u32,
    /// Hash of the sequence of tokens of the document, and of the symbols outside tokens, such as `<`. `None` if texts
    /// are not compared.
    pub(crate) sequence: Option<u64>,
}

impl Compared {
    /// Creates the value for a document whose tokens are not counted. `has_terms` is whether the document has any term.
    pub(crate) fn by_terms(has_terms: bool) -> Self {
        Self { has_terms, tokens: 0, sequence: None }
    }
}

/// Data about the documents and faults of a collection. Reading the collection collects these data.
#[derive(Clone, Debug, Default)]
pub struct CollectionSummary {
    /// File, record and ID of every document.
    pub ids: DocumentIds,
    /// Bad records in reading order.
    pub quarantined: Quarantine,
    /// Descriptions of files that are damaged or cannot be read.
    pub faults: Vec<Fault>,
    /// Number of documents without any term. These documents are similar to no other document and have no
    /// fingerprint.
    pub without_terms: u64,
    /// Number of documents with bytes that are not valid text and were replaced.
    pub repaired: u64,
    /// Number of list elements that the selector of the text field skipped, because they have no text.
    pub skipped_elements: u64,
    /// Numbers of HTML pages, by the part of the page that was compared, for example the main content.
    pub pages: PageTextCounts,
    /// HTML pages whose main content is a small share of their text: the pages with the most words that are not
    /// compared.
    pub(crate) little_pages: LittlePages,
    /// Counts of documents from which lines were left out because many documents have them.
    pub(crate) left_out: LeftOutCounts,
    /// Number of documents that the user excluded, for example by `--limit`. These documents are kept but not
    /// compared.
    pub passed_over: u64,
    /// Number of records of web archives that are no documents, by kind.
    pub non_documents: NonDocumentCounts,
    /// For each document, the number of bytes of its text. A text of 4 GiB or more counts as 2³² − 1 bytes.
    pub lengths: Vec<u32>,
    /// Data about the text of each document that outputs show, such as its number of tokens. Empty unless these data
    /// are [wanted](super::config::Config::has_text_facts).
    pub text_facts: TextFacts,
    /// Values of the documents, such as their dates, that decide which documents are compared and which are kept.
    pub(super) traits: DocumentTraits,
    /// For each document, the hash of its sequence ([`Compared::sequence`]). Empty if texts are not compared.
    sequences: Vec<u64>,
}

/// Reads a shard and returns its summary. Calls `visit` with the index of each document in the shard (from 0) and with
/// the document. `visit` returns what it found out about the document. The summary also has the values that `wanted`
/// selects, for example the value of a field of each document.
///
/// # Errors
///
/// The shard has more than 2³² − 1 documents, or `visit` fails.
pub(crate) fn read_summarized(
    collection: &dyn Corpus,
    shard: usize,
    wanted: WantedTraits<'_>,
    visit: &mut dyn FnMut(u32, &Document<'_>) -> Result<Compared>,
) -> Result<ShardSummary> {
    let mut summary = ShardSummary::new(collection.shard_file(shard) as u32);
    let file = collection.file_name(collection.shard_file(shard));
    let mut digest = RecordDigest::new();
    let records = collection.read_shard(shard, &mut |event| {
        let record = match event {
            Event::Record(record) => record,
            Event::Piece(_) | Event::Reached(_) => return Ok(ControlFlow::Continue(())),
            Event::Fault(fault) => {
                summary.faults.push(fault);
                return Ok(ControlFlow::Continue(()));
            }
        };
        // The digest comes first. If another program overwrites the record meanwhile, the digest is of the bytes before,
        // and a copy of the bytes after does not agree with it.
        digest.add(if wanted.has_no_copies { None } else { record.content_hash() });
        match record.content {
            Content::Document(document) => {
                // Shards are read in any order, so documents are numbered within the shard.
                let index = summary.ids.len();
                summary.ids.push(record.number, document.id)?;
                summary.traits.push(wanted, &document, file);
                summary.repaired += u64::from(document.repaired.is_some());
                summary.skipped_elements += u64::from(document.skipped_elements);
                summary.pages.count(document.page_text);
                summary.little_pages.note(index, &document);
                summary.left_out.count(&document);
                let length = document.text.len() + document.left_out;
                // A text of 4 GiB or more is stored with the greatest number, so it still counts as longest.
                summary.lengths.push(u32::try_from(length).unwrap_or(u32::MAX));
                let compared = visit(index, &document)?;
                summary.without_terms += u64::from(!compared.has_terms);
                if wanted.text_facts {
                    summary.text_facts.push(&document, compared.tokens);
                }
                summary.sequences.extend(compared.sequence);
            }
            // Such records belong to the file but are not documents, so they are not counted.
            Content::PassThrough => {}
            Content::NonDocument(kind) => summary.non_documents.count(kind),
            Content::PassedOver => summary.passed_over += 1,
            Content::Bad(bad) => summary.bad.push(record.number, record.byte, bad),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    summary.ids.close(records);
    summary.ids.set_digest(digest);
    summary.bad.shrink();
    Ok(summary)
}

/// Reads a shard again, up to but without the document with index `end`. Calls `visit` with the index and the text of
/// each document for which `wanted` returns true. Faults are ignored, because the first reading reported them.
///
/// # Errors
///
/// The collection cannot be read.
pub(crate) fn read_again(
    collection: &dyn Corpus,
    shard: usize,
    end: u32,
    wanted: &dyn Fn(u32) -> bool,
    visit: &mut dyn FnMut(u32, &[u8]),
) -> Result<()> {
    let mut index = 0;
    let read = collection.read_shard(shard, &mut |event| {
        if let Event::Record(record) = event
            && let Content::Document(document) = record.content
        {
            if wanted(index) {
                visit(index, document.text);
            }
            index += 1;
        }
        // Stopping after the last wanted document saves unpacking the rest of the shard.
        Ok(if index < end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    });
    read.map(drop)
}

impl ShardSummary {
    /// Returns the number of documents of the shard.
    pub(crate) fn document_count(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// Returns the number of records of the shard.
    pub(crate) fn record_count(&self) -> u64 {
        self.ids.record_count()
    }

    /// Returns the number of bytes of memory that the summary takes. The memory of the faults of files is
    /// not counted, because there are few of them.
    pub(crate) fn bytes(&self) -> u64 {
        let numbers = size_of_val(&self.lengths[..]) + size_of_val(&self.sequences[..]);
        let others = numbers + self.text_facts.bytes() + self.bad.bytes();
        self.ids.bytes() + self.traits.bytes() + others as u64
    }
}

impl CollectionSummary {
    /// Reads a collection only to collect its summary.
    ///
    /// # Errors
    ///
    /// The collection cannot be read, or has more than 2³² − 1 documents.
    pub(crate) fn read(collection: &dyn Corpus, threads: &Threads) -> Result<Self> {
        let summaries = threads.try_map(
            collection.shard_count(),
            || Ok(()),
            |(), shard| {
                let visit = &mut |_, _: &Document<'_>| Ok(Compared::by_terms(true));
                read_summarized(collection, shard, WantedTraits::NONE, visit)
            },
        )?;
        Self::new(collection, summaries)
    }

    /// Merges the summaries of all shards, given in the order of the shards.
    ///
    /// # Errors
    ///
    /// There are more than 2³² − 1 documents.
    pub(crate) fn new(collection: &dyn Corpus, shards: Vec<ShardSummary>) -> Result<Self> {
        let mut all = Self::default();
        let (mut ids, mut bad) = (Vec::new(), Vec::new());
        // Lists that grow step by step would take up to twice the memory.
        all.lengths.reserve_exact(shards.iter().map(|shard| shard.lengths.len()).sum());
        all.sequences.reserve_exact(shards.iter().map(|shard| shard.sequences.len()).sum());
        for summary in shards {
            ids.push(summary.ids);
            bad.push(summary.bad);
            all.faults.extend(summary.faults);
            all.traits.append(summary.traits);
            all.without_terms += summary.without_terms;
            all.repaired += summary.repaired;
            all.skipped_elements += summary.skipped_elements;
            all.pages += summary.pages;
            all.little_pages.append(summary.little_pages, all.lengths.len() as u32);
            all.left_out += summary.left_out;
            all.passed_over += summary.passed_over;
            all.non_documents += summary.non_documents;
            all.lengths.extend(summary.lengths);
            all.text_facts.append(summary.text_facts);
            all.sequences.extend(summary.sequences);
        }
        all.ids = DocumentIds::new(ids)?;
        for (shard, bad) in bad.into_iter().enumerate() {
            // A shard numbers its records from 0, but users count from the beginning of the file.
            let first = all.ids.first_record_of_shard(shard);
            all.quarantined.push_shard(collection.shard_file(shard), first, bad);
        }
        Ok(all)
    }

    /// Returns the number of bytes of memory that the names, lengths and values of all documents take.
    pub(crate) fn bytes(&self) -> u64 {
        let numbers = size_of_val(&self.lengths[..]) + size_of_val(&self.sequences[..]);
        let others = numbers + self.text_facts.bytes();
        self.ids.bytes() + self.traits.bytes() + others as u64
    }

    /// Takes the hashes of the token sequences of all documents out of the summary. The result is empty if texts are
    /// not compared.
    pub(crate) fn take_sequences(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.sequences)
    }

    /// Creates a summary that is enough for [`prefer`](Self::prefer). It has only the text lengths of all documents,
    /// and their values, such as dates.
    pub(crate) fn of_preferences<'s>(shards: impl Iterator<Item = &'s ShardSummary>) -> Self {
        let mut all = Self::default();
        for summary in shards {
            all.lengths.extend(&summary.lengths);
            all.traits.append(summary.traits.clone());
        }
        all
    }

    /// Adds the counts, faults and bad records of another summary, but not its documents.
    pub(crate) fn add_faults(&mut self, more: Self) {
        self.quarantined.append(more.quarantined);
        self.faults.extend(more.faults);
        self.without_terms += more.without_terms;
        self.repaired += more.repaired;
        self.skipped_elements += more.skipped_elements;
        self.pages += more.pages;
        self.left_out += more.left_out;
        self.passed_over += more.passed_over;
        self.non_documents += more.non_documents;
    }

    /// Returns the total number of bytes of text of all documents.
    #[must_use]
    pub(crate) fn text_bytes(&self) -> u64 {
        self.lengths.iter().copied().map(u64::from).sum()
    }

    /// Returns the number of records that were lost in damaged parts of files, as far as it is known.
    #[must_use]
    pub(crate) fn lost_records(&self) -> u64 {
        let lost = self.faults.iter().map(|fault| fault.lost_records);
        // A damaged file can declare any number of records, so the sum must not overflow.
        lost.fold(0, u64::saturating_add)
    }

    /// Returns the number of documents without a usable value of the field that the rule with index `key` compares. The
    /// rules choose the kept documents.
    #[must_use]
    pub(crate) fn without_preference(&self, key: usize) -> u64 {
        self.traits.without_preference(key)
    }

    /// Returns the field values that the rule with index `key` cannot use as dates or numbers. `None` if there are
    /// none.
    pub(crate) fn unread_values(&self, key: usize) -> Option<&UnreadValues> {
        self.traits.unread(key)
    }

    /// Returns for each of `files` files whether a document of the file has a value for the rule with index `key`.
    pub(crate) fn files_with_preference(&self, key: usize, files: usize) -> Vec<bool> {
        let mut has_value = vec![false; files];
        for (row, value) in self.traits.preferences(key).iter().enumerate() {
            if *value != FieldValue::Missing {
                has_value[self.ids.place(DocOrdinal(row as u32)).file as usize] = true;
            }
        }
        has_value
    }

    /// Returns the number of documents that are compared with no other document, because they have no value for the
    /// option `within` or `across`.
    #[must_use]
    pub(crate) fn without_scope(&self) -> u64 {
        self.traits.without_scope()
    }

    /// Returns the values that decide which documents are compared, and which are kept.
    pub(crate) fn traits(&self) -> &DocumentTraits {
        &self.traits
    }

    /// Returns the numbers of all documents, sorted by the rules `keep`. The documents that should rather be kept come
    /// first. Documents are numbered from 0 in reading order.
    pub(crate) fn order(&self, keep: &KeepOrder) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..self.lengths.len() as u32).collect();
        rows.sort_by(|&a, &b| self.prefer(keep, a, b));
        rows
    }

    /// Compares documents number `a` and `b` by the rules `keep`. `Less` means that `a` is preferred as the
    /// kept document.
    pub(crate) fn prefer(&self, keep: &KeepOrder, a: u32, b: u32) -> Ordering {
        self.traits.prefer(keep, &self.lengths, a, b)
    }
}

impl ShardSummary {
    /// Returns the values that decide which documents are compared, and which are kept.
    pub(super) fn traits(&self) -> &DocumentTraits {
        &self.traits
    }

    /// Appends the summary to `out`. The index of the shard's file is not stored, so [`restore`](Self::restore) gets it
    /// as an argument.
    pub(super) fn store(&self, out: &mut BytesWriter) {
        store_ids(&self.ids, out);
        self.bad.store(out);
        // The order of the values is that of `restore`.
        out.number(self.faults.len() as u64);
        self.faults.iter().for_each(|fault| store_fault(fault, out));
        self.traits.store(out);
        let (repaired, skipped) = (self.repaired, self.skipped_elements);
        out.numbers([self.without_terms, repaired, skipped, self.passed_over].into_iter());
        out.numbers(self.left_out.numbers().into_iter());
        out.numbers(NonDocument::ALL.map(|kind| self.non_documents.of(kind)).into_iter());
        out.numbers(PageText::ALL.map(|part| self.pages.of(part)).into_iter());
        self.little_pages.store(out);
        out.numbers(self.lengths.iter().copied().map(u64::from));
        self.text_facts.store(out);
        out.numbers(self.sequences.iter().copied());
    }

    /// Reads a summary that [`store`](Self::store) has appended. `file` is the index of the shard's file in the
    /// collection. Returns `None` if the bytes are no such summary.
    pub(super) fn restore(from: &mut BytesReader<'_>, file: u32) -> Option<Self> {
        let mut summary = Self {
            ids: restore_ids(from, file)?,
            bad: ShardQuarantine::restore(from)?,
            faults: from.list(restore_fault)?,
            traits: DocumentTraits::restore(from)?,
            ..Self::new(file)
        };
        let [without_terms, repaired, skipped_elements, passed_over] =
            from.list(BytesReader::number)?.try_into().ok()?;
        summary.left_out =
            LeftOutCounts::from_numbers(from.list(BytesReader::number)?.try_into().ok()?);
        summary.non_documents =
            NonDocumentCounts::from_counts(from.list(BytesReader::number)?.try_into().ok()?);
        summary.pages =
            PageTextCounts::from_counts(from.list(BytesReader::number)?.try_into().ok()?);
        summary.little_pages = LittlePages::restore(from)?;
        summary.lengths = from.list(BytesReader::short_number)?;
        summary.text_facts = TextFacts::restore(from)?;
        summary.sequences = from.list(BytesReader::number)?;
        Some(Self { without_terms, repaired, skipped_elements, passed_over, ..summary })
    }

    /// Creates the empty summary of a shard of file number `file`, before it is read.
    fn new(file: u32) -> Self {
        Self {
            ids: ShardIds::new(file),
            bad: ShardQuarantine::default(),
            faults: Vec::new(),
            traits: DocumentTraits::default(),
            without_terms: 0,
            repaired: 0,
            skipped_elements: 0,
            pages: PageTextCounts::default(),
            little_pages: LittlePages::default(),
            left_out: LeftOutCounts::default(),
            passed_over: 0,
            non_documents: NonDocumentCounts::default(),
            lengths: Vec::new(),
            text_facts: TextFacts::default(),
            sequences: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_read::Texts;

    #[test]
    fn a_summary_takes_the_bytes_of_all_its_documents() {
        let texts: Vec<String> = (0..1000).map(|number| format!("text {number}")).collect();
        let corpus = Texts::of(&texts);
        let read = read_summarized(&corpus, 0, WantedTraits::NONE, &mut |_, _| {
            Ok(Compared::by_terms(true))
        });
        let summary = read.unwrap();
        // The length of each document takes four bytes.
        let least = u64::from(summary.document_count()) * 4;
        assert!(least > 0 && summary.bytes() >= least, "{} of {least}", summary.bytes());
    }
}
