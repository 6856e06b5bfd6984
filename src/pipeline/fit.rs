//! Pass 1 of `match_queries`: counts the words of the corpus and learns its features.

use crate::method::most_frequent;
use crate::write::reference_text::Id;
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::threads::Threads;
use simtool_kernels::Isa;
use simtool_read::form_feed;
use simtool_terms::extract::vocabulary::{NumberRanks, Vocabulary};
use simtool_terms::extract::word_counter::{MOST_PLACES, WordCounter};
use simtool_terms::token_batch::TokenBatch;
use simtool_terms::tokenize::ascii_letters::AsciiLetters;

/// Bytes of a share. It is large enough to make its bookkeeping negligible, and small enough to let all
/// workers finish at about the same time.
const SHARE_BYTES: usize = 256 << 10;

/// The corpus after pass 1.
#[derive(Debug)]
pub(super) struct FittedCorpus<'t> {
    /// The features.
    pub(super) vocabulary: Vocabulary,
    /// For each worker, the ranks of its word numbers.
    number_ranks: Vec<NumberRanks>,
    /// The corpus as word numbers, share by share, in the corpus's order.
    shares: Vec<NumberedShare<'t>>,
    /// The buffers into which each worker wrote the numbers.
    written: Vec<WrittenNumbers>,
}

/// The documents of a share.
#[derive(Debug)]
struct NumberedShare<'t> {
    share: usize,
    /// The worker whose numbers these are.
    worker: usize,
    /// The worker's buffer that holds them.
    buffer: usize,
    /// The place in the buffer at which they begin.
    start: usize,
    /// The ID of each document, and the place in the buffer at which its numbers end.
    documents: Vec<(Id<'t>, usize)>,
}

/// A document after pass 1.
#[derive(Debug)]
pub(super) struct NumberedDocument<'f, 't> {
    /// Its ID.
    pub(super) id: Id<'t>,
    /// Its words except stop words, as word numbers of the worker.
    pub(super) numbers: &'f [u16],
}

impl<'t> FittedCorpus<'t> {
    /// Returns the number of shares.
    pub(super) fn share_count(&self) -> usize {
        self.shares.len()
    }

    /// Returns the documents of a share, and the ranks of their word numbers.
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

/// The buffers into which one worker writes its word numbers. Buffers never move and are released
/// together, because releasing memory while other threads run interrupts every processor.
#[derive(Debug, Default)]
struct WrittenNumbers {
    buffers: Vec<LargeBuffer<u16>>,
    /// Places of the last buffer that are written.
    used: usize,
}

impl WrittenNumbers {
    /// Minimum number of places of a buffer: 4 MB. A larger share gets a larger buffer.
    const BUFFER_PLACES: usize = 2 << 20;

    /// Returns a buffer with at least `most` free places, and the first free place.
    fn with_room(&mut self, most: usize) -> (&mut LargeBuffer<u16>, usize) {
        if self.buffers.last().is_none_or(|buffer| buffer.len() - self.used < most) {
            self.buffers.push(LargeBuffer::zeroed(most.max(Self::BUFFER_PLACES)));
            self.used = 0;
        }
        let last = self.buffers.len() - 1;
        (&mut self.buffers[last], self.used)
    }
}

/// Counts the words of `corpus` and makes the `most` most frequent ones its features.
pub(super) fn fit<'t>(
    threads: &Threads,
    isa: Isa,
    corpus: &'t [u8],
    stop_words: &[Vec<u8>],
    most: usize,
) -> FittedCorpus<'t> {
    let corpus = form_feed::without_byte_order_mark(corpus);
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
    // Workers take shares in any order, so the order of the corpus is restored here.
    shares.sort_unstable_by_key(|share| share.share);

    let (vocabulary, number_ranks) = most_frequent(threads, &counters, most);
    FittedCorpus { vocabulary, number_ranks, shares, written }
}

/// The state that a thread of pass 1 keeps from share to share.
struct CountingWorker<'t> {
    tokenizer: AsciiLetters,
    batch: TokenBatch,
    counter: WordCounter,
    written: WrittenNumbers,
    /// The shares that this thread counted. It does not know its own number yet.
    shares: Vec<NumberedShare<'t>>,
}

impl<'t> CountingWorker<'t> {
    /// Counts and numbers the words of one share.
    fn count(&mut self, share: usize, text: &'t [u8]) {
        // A word and its separator take two bytes. Places that are never written take no memory.
        let (buffer, start) = self.written.with_room((text.len() / 2 + 2) * MOST_PLACES);
        let mut documents = Vec::new();
        let mut end = start;
        for document in form_feed::documents(text) {
            self.tokenizer.tokenize(document.text, &mut self.batch, |piece, batch| {
                end = self.counter.count(piece, batch, buffer, end);
            });
            documents.push((Id::new(document.id), end));
        }
        // The next share of this worker begins in the same buffer, directly behind this one.
        self.written.used = end;
        let buffer = self.written.buffers.len() - 1;
        self.shares.push(NumberedShare { share, worker: 0, buffer, start, documents });
    }
}
