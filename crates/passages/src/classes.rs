//! Classes, which are sequences of windows that occur together at several places, and these places.

use crate::buckets::{BucketWriter, Buckets};
use crate::origins::Origins;
use crate::place::{OccurrenceSummary, Place, WindowFacts};
use crate::rank_sort::sort_by_rank;
use simtool_base::error::Result;
use simtool_kernels::prefetch;

/// A range of consecutive repeated windows of a class. Wherever its first window occurs, the second window occurs one
/// word later, and so on. A class is a sequence of windows that occur together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Index of the first window of the piece among the windows of its class, from 0.
    pub(crate) from: u16,
    /// Index behind the last window of the piece.
    pub(crate) to: u16,
    /// Number and places of the occurrences of the first window.
    pub(crate) facts: WindowFacts,
}

/// A sequence of windows that occur together at one or more places. The same window can be in several classes.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Index of the first piece of the class in `Classes::pieces`. A piece is a range of its repeated windows.
    first_piece: u32,
    /// Number of words of each window.
    words: u32,
    /// Number of pieces of the class. They are in ascending order of their windows.
    pieces: u16,
    /// Number of windows. Windows that are not repeated are in no piece.
    windows: u16,
}

/// The classes with repeated windows that the search found in one bucket. A class is a sequence of windows that occur
/// together. Windows are divided into buckets by hashes of their words.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    classes: Vec<Class>,
    /// The pieces of all classes, in the order of the classes. A piece is a range of repeated windows of a class.
    pieces: Vec<Piece>,
}

/// A class, which is a sequence of windows that occur together, with its pieces, which are the ranges of its repeated
/// windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassView<'c> {
    /// Number of windows of the class, whether they are repeated or not.
    pub(crate) windows: u32,
    /// Number of words of each window.
    pub(crate) words: u32,
    /// Pieces with repeated windows, in ascending order.
    pub(crate) pieces: &'c [Piece],
}

/// A place at which all windows of a class occur: the first window begins there, and each next window begins one word
/// later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence {
    /// Place of the first window of the class.
    pub(crate) place: Place,
    /// Number of the class among the classes of its bucket, from 0.
    pub(crate) class: u32,
    /// Number of the bucket that holds the class.
    pub(crate) bucket: u16,
    /// Number of times that the class occurs in succession from this place on, at least 1. Each time begins n words
    /// after the time before, where n is the number of windows of the class.
    pub(crate) repeats: u16,
}

impl Classes {
    /// Adds a class, which is a sequence of `windows` windows of `words` words each. `pieces` are the ranges of its
    /// repeated windows. Returns the number of the class, from 0.
    pub(crate) fn push(&mut self, windows: u32, words: u32, pieces: &[Piece]) -> u32 {
        let first_piece = self.pieces.len() as u32;
        // Most classes have one piece, and copying it as a slice would be a call.
        for &piece in pieces {
            self.pieces.push(piece);
        }
        let (pieces, windows) = (pieces.len() as u16, windows as u16);
        let class = Class { first_piece, words, pieces, windows };
        self.classes.push(class);
        self.classes.len() as u32 - 1
    }

    /// Returns class number `class`.
    #[inline]
    pub(crate) fn get(&self, class: u32) -> ClassView<'_> {
        let Class { first_piece, words, pieces, windows } = self.classes[class as usize];
        let first = first_piece as usize;
        let pieces = &self.pieces[first..first + usize::from(pieces)];
        ClassView { windows: u32::from(windows), words, pieces }
    }

    /// Asks the processor to load class number `class` into its cache, because it is needed soon.
    #[inline]
    pub(crate) fn prefetch_class(&self, class: u32) {
        prefetch(&self.classes, class as usize);
    }

    /// Asks the processor to load the first piece of class number `class` into its cache. A piece is a range of
    /// repeated windows.
    #[inline]
    pub(crate) fn prefetch_pieces(&self, class: u32) {
        prefetch(&self.pieces, self.classes[class as usize].first_piece as usize);
    }

    /// Returns the number of bytes of memory that the classes take.
    pub(crate) fn bytes(&self) -> u64 {
        let classes = self.classes.capacity() * size_of::<Class>();
        (classes + self.pieces.capacity() * size_of::<Piece>()) as u64
    }
}

/// Sorts occurrences by their places: by document, and then by position in the document.
pub(crate) fn sort_by_place(occurrences: &mut Vec<Occurrence>) {
    let words = occurrences.iter().map(|occurrence| occurrence.place.word).max().unwrap_or(0);
    // Places are numbered as if all documents had the same number of words.
    let rank = |Occurrence { place, .. }: &Occurrence| {
        u64::from(place.document) * (u64::from(words) + 1) + u64::from(place.word)
    };
    sort_by_rank(occurrences, rank, |occurrence| occurrence.place);
}

/// Collects the occurrences that one thread finds, in buckets. Each bucket has the occurrences in a range of documents.
#[derive(Debug)]
pub(crate) struct OccurrenceWriter<'b> {
    writer: BucketWriter<'b, Occurrence>,
    /// Number of documents whose occurrences go to the same bucket.
    documents: u32,
}

impl<'b> OccurrenceWriter<'b> {
    /// Creates a writer of occurrences to `buckets`. `documents` is the number of documents of the collection.
    pub(crate) fn new(buckets: &'b Buckets<Occurrence>, documents: u32) -> Self {
        let documents = documents.div_ceil(buckets.len() as u32).max(1);
        Self { writer: buckets.writer(), documents }
    }

    /// Adds an occurrence to the bucket of its document.
    ///
    /// # Errors
    /// Not enough memory.
    #[inline]
    pub(crate) fn push(&mut self, occurrence: Occurrence) -> Result<()> {
        self.writer.push((occurrence.place.document / self.documents) as usize, occurrence)
    }

    /// Moves all remaining occurrences of this thread to their buckets.
    pub(crate) fn finish(self) {
        self.writer.finish();
    }
}

/// Number and first places of the occurrences of a window, and the number of documents in which it occurs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// Number and first places of the occurrences.
    pub(crate) summary: OccurrenceSummary,
    /// Number of documents with an occurrence. Documents of one origin count as one.
    pub(crate) documents: u32,
}

impl Counted {
    /// Counts the occurrences of a window at `places`, which must be in ascending order. Documents with the same origin
    /// in `origins` count as one.
    pub(crate) fn of(places: impl Iterator<Item = Place>, origins: &Origins) -> Self {
        let mut summary = OccurrenceSummary::EMPTY;
        let mut documents = origins.counter();
        for place in places {
            summary.push(place, origins);
            documents.push(place.document);
        }
        Self { summary, documents: documents.finish() }
    }

    /// Returns the numbers of occurrences and documents, and the two places of the window that [`WindowFacts`] has.
    pub(crate) fn facts(&self) -> WindowFacts {
        self.summary.facts(self.documents)
    }
}
