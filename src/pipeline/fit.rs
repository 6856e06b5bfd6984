//! Pass 1 of `match_queries`: counts the words of the corpus and chooses its features, the most frequent
//! words.

use crate::method::most_frequent;
use crate::write::reference_text::Id;
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::threads::Threads;
use simtool_kernels::Isa;
use simtool_read::{form_feed, without_byte_order_mark};
use simtool_terms::extract::vocabulary::{NumberRanks, Vocabulary};
use simtool_terms::extract::word_counter::{MOST_PLACES, WordCounter};
use simtool_terms::token_batch::TokenBatch;
use simtool_terms::tokenize::ascii_letters::AsciiLetters;

/// Approximate number of bytes of a share, which is the part of the corpus that a thread takes at a time.
/// Shares are large enough to make bookkeeping negligible, and small enough that all threads finish at about
/// the same time.
const SHARE_BYTES: usize = 256 << 10;

/// Result of counting the words of a corpus, which is pass 1 of `match_queries`. It holds the features (the
/// most frequent words) and all words of the corpus as numbers.
#[derive(Debug)]
pub(super) struct FittedCorpus<'t> {
    /// Features of the corpus: its most frequent words by rank.
    pub(super) vocabulary: Vocabulary,
    /// For each thread of pass 1, a table from the word numbers of this thread to the ranks of the words.
    /// Each thread numbers words in its own way.
    number_ranks: Vec<NumberRanks>,
    /// Shares of the corpus with their documents, in reading order. A share is the part of the corpus that a
    /// thread took at a time.
    shares: Vec<NumberedShare<'t>>,
    /// For each thread that counted words, the buffers with the word numbers of the documents that this thread read.
    written: Vec<WrittenNumbers>,
}

/// Documents of one share of the corpus, whose words are stored as numbers in a buffer. A share is the part
/// of the corpus that a thread took at a time.
#[derive(Debug)]
struct NumberedShare<'t> {
    share: usize,
    /// Number of the thread that read the share. Each thread numbers words in its own way.
    worker: usize,
    /// Index of the buffer that holds the word numbers of the share, among the buffers of the thread
    /// `worker`.
    buffer: usize,
    /// Index in this buffer at which the word numbers of the share begin.
    start: usize,
    /// For each document of the share, its ID, and the index in the buffer at which its word numbers end.
    documents: Vec<(Id<'t>, usize)>,
}

/// A document of the corpus, whose words are given as numbers.
#[derive(Debug)]
pub(super) struct NumberedDocument<'f, 't> {
    /// ID of the document in the corpus.
    pub(super) id: Id<'t>,
    /// Words of the document except stop words. The thread that read the document gave each word a number.
    pub(super) numbers: &'f [u16],
}

impl<'t> FittedCorpus<'t> {
    /// Returns the number of shares into which the corpus is divided.
    pub(super) fn share_count(&self) -> usize {
        self.shares.len()
    }

    /// Returns the documents of a share, and a table from their word numbers to the ranks of the words.
    pub(super) fn share(
        &self,
        share: usize,
    ) -> (&NumberRanks, impl ExactSizeIterator<Item = NumberedDocument<'_, 't>>) {
        let share = &self.shares[share];
        let numbers = &self.written[share.worker].buffers[share.buffer];
        // Documents are stored without gaps, so each one starts where the one before it ends.
        let mut start = share.start;
        let documents = share.documents.iter().map(move |&(id, end)| {
            let document = NumberedDocument { id, numbers: &numbers[start..end] };
            start = end;
            document
        });
        (&self.number_ranks[share.worker], documents)
    }
}

/// Buffers into which one thread writes word numbers. The buffers never move and are released together,
/// because releasing memory while other threads run interrupts every processor.
#[derive(Debug, Default)]
struct WrittenNumbers {
    buffers: Vec<LargeBuffer<u16>>,
    /// Number of elements of the last buffer that are in use.
    used: usize,
}

impl WrittenNumbers {
    /// Minimum number of elements of a buffer. So many elements take 4 MB. A share that needs more elements
    /// gets a larger buffer.
    const BUFFER_PLACES: usize = 2 << 20;

    /// Returns a buffer with at least `most` free elements, and the index of the first free element.
    fn with_room(&mut self, most: usize) -> (&mut LargeBuffer<u16>, usize) {
        if self.buffers.last().is_none_or(|buffer| buffer.len() - self.used < most) {
            self.buffers.push(LargeBuffer::zeroed(most.max(Self::BUFFER_PLACES)));
            self.used = 0;
        }
        let last = self.buffers.len() - 1;
        (&mut self.buffers[last], self.used)
    }
}

/// Counts the words of `corpus` except `stop_words`. Chooses the `most` most frequent words, or all words if
/// there are fewer, as the features of the corpus. Returns the features, and all documents as word numbers.
pub(super) fn fit<'t>(
    threads: &Threads,
    isa: Isa,
    corpus: &'t [u8],
    stop_words: &[Vec<u8>],
    most: usize,
) -> FittedCorpus<'t> {
    let corpus = without_byte_order_mark(corpus);
    let share_count = form_feed::share_count(corpus, SHARE_BYTES);
    let start = || CountingWorker {
        tokenizer: AsciiLetters::new(isa),
        batch: TokenBatch::default(),
        counter: WordCounter::new(corpus.len() / threads.count(), stop_words),
        written: WrittenNumbers::default(),
        shares: Vec::new(),
    };
    let workers = threads.fold(share_count, start, |worker, share| {
        let text = &corpus[form_feed::share(corpus, share, SHARE_BYTES)];
        worker.count(share, text);
    });

    let mut shares = Vec::new();
    let mut counters = Vec::new();
    let mut written = Vec::new();
    for (number, worker) in workers.into_iter().enumerate() {
        let of_worker = worker.shares.into_iter();
        shares.extend(of_worker.map(|share| NumberedShare { worker: number, ..share }));
        counters.push(worker.counter);
        written.push(worker.written);
    }
    // Threads take shares in any order, so the order of the corpus is restored here.
    shares.sort_unstable_by_key(|share| share.share);

    let (vocabulary, number_ranks) = most_frequent(threads, &counters, most);
    FittedCorpus { vocabulary, number_ranks, shares, written }
}

/// State that a thread keeps from one share of the corpus to the next while it counts words.
struct CountingWorker<'t> {
    tokenizer: AsciiLetters,
    batch: TokenBatch,
    counter: WordCounter,
    written: WrittenNumbers,
    /// Shares that this thread has read. Their field `worker` is set later, when the thread has a number.
    shares: Vec<NumberedShare<'t>>,
}

impl<'t> CountingWorker<'t> {
    /// Counts the words of share number `share` and writes their numbers to a buffer. `text` is the text of
    /// the share.
    fn count(&mut self, share: usize, text: &'t [u8]) {
        // A word and its separator take at least two bytes. Elements that are never written take no memory.
        let (buffer, start) = self.written.with_room((text.len() / 2 + 2) * MOST_PLACES);
        let mut documents = Vec::new();
        let mut end = start;
        for document in form_feed::documents(text) {
            self.tokenizer.tokenize(document.text, &mut self.batch, |piece, batch| {
                end = self.counter.count(piece, batch, buffer, end);
            });
            documents.push((Id::new(document.id), end));
        }
        // The next share of this thread begins in the same buffer, directly after this one.
        self.written.used = end;
        let buffer = self.written.buffers.len() - 1;
        self.shares.push(NumberedShare { share, worker: 0, buffer, start, documents });
    }
}
