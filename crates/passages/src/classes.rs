//! Classes of equal runs of windows, and the places where they occur.

use crate::buckets::{BucketWriter, Buckets};
use crate::origins::Origins;
use crate::place::{OccurrenceSummary, Place, WindowFacts};
use crate::rank_sort::sort_by_rank;
use simtool_base::error::Result;
use simtool_kernels::prefetch;

/// Consecutive windows of a class that occur at the same places, shifted by their distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Index of the first window in its class.
    pub(crate) from: u16,
    /// Index behind the last window.
    pub(crate) to: u16,
    /// Facts about the first window.
    pub(crate) facts: WindowFacts,
}

/// Some consecutive windows that occur together. Equal windows can be in several classes.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Index of the first piece.
    first_piece: u32,
    /// Number of words of each window.
    words: u32,
    /// Number of pieces, which are in ascending order.
    pieces: u16,
    /// Number of windows. Windows that are not repeated are in no piece.
    windows: u16,
}

/// The classes with repeated windows of one bucket.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    classes: Vec<Class>,
    /// The pieces with repeated windows.
    pieces: Vec<Piece>,
}

/// A class of windows and its pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassView<'c> {
    /// Number of windows of the class, whether they are repeated or not.
    pub(crate) windows: u32,
    /// Number of words of each window.
    pub(crate) words: u32,
    /// Pieces with repeated windows, in ascending order.
    pub(crate) pieces: &'c [Piece],
}

/// A place at which the windows of a class occur, one window at each word from there on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence {
    /// Place of the first window of the class.
    pub(crate) place: Place,
    /// Number of the class in its bucket.
    pub(crate) class: u32,
    /// Number of the bucket that holds the class.
    pub(crate) bucket: u16,
    /// Number of times that the class occurs in succession from this place on. Each time begins directly behind the
    /// windows of the time before.
    pub(crate) repeats: u16,
}

impl Classes {
    /// Adds a class of `windows` windows of `words` words, with the given pieces. Returns its number.
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

    /// Returns a class.
    #[inline]
    pub(crate) fn get(&self, class: u32) -> ClassView<'_> {
        let Class { first_piece, words, pieces, windows } = self.classes[class as usize];
        let first = first_piece as usize;
        let pieces = &self.pieces[first..first + usize::from(pieces)];
        ClassView { windows: u32::from(windows), words, pieces }
    }

    /// Asks the processor to load a class.
    #[inline]
    pub(crate) fn prefetch_class(&self, class: u32) {
        prefetch(&self.classes, class as usize);
    }

    /// Asks the processor to load the first piece of a class.
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

/// Sorts occurrences by their places.
pub(crate) fn sort_by_place(occurrences: &mut Vec<Occurrence>) {
    let words = occurrences.iter().map(|occurrence| occurrence.place.word).max().unwrap_or(0);
    // Places are numbered as if all documents had the same number of words.
    let rank = |Occurrence { place, .. }: &Occurrence| {
        u64::from(place.document) * (u64::from(words) + 1) + u64::from(place.word)
    };
    sort_by_rank(occurrences, rank, |occurrence| occurrence.place);
}

/// Collects the occurrences of classes of one thread, in buckets of neighbouring documents.
#[derive(Debug)]
pub(crate) struct OccurrenceWriter<'b> {
    writer: BucketWriter<'b, Occurrence>,
    /// Number of documents of each bucket.
    documents: u32,
}

impl<'b> OccurrenceWriter<'b> {
    /// Creates a writer of occurrences in `documents` documents.
    pub(crate) fn new(buckets: &'b Buckets<Occurrence>, documents: u32) -> Self {
        let documents = documents.div_ceil(buckets.len() as u32).max(1);
        Self { writer: buckets.writer(), documents }
    }

    /// Adds an occurrence.
    ///
    /// # Errors
    /// Not enough memory.
    #[inline]
    pub(crate) fn push(&mut self, occurrence: Occurrence) -> Result<()> {
        self.writer.push((occurrence.place.document / self.documents) as usize, occurrence)
    }

    /// Moves all remaining occurrences to their buckets.
    pub(crate) fn finish(self) {
        self.writer.finish();
    }
}

/// The occurrences of a window: their summary, and the number of documents that have one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// Number and first places of the occurrences.
    pub(crate) summary: OccurrenceSummary,
    /// Number of documents with an occurrence. Documents of one origin count as one.
    pub(crate) documents: u32,
}

impl Counted {
    /// Counts occurrences, which must be in ascending order.
    pub(crate) fn of(places: impl Iterator<Item = Place>, origins: &Origins) -> Self {
        let mut summary = OccurrenceSummary::EMPTY;
        let mut documents = origins.counter();
        for place in places {
            summary.push(place, origins);
            documents.push(place.document);
        }
        Self { summary, documents: documents.finish() }
    }

    /// Returns the facts about the window.
    pub(crate) fn facts(&self) -> WindowFacts {
        self.summary.facts(self.documents)
    }
}
