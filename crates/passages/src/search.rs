//! The search for repeated passages: its settings and its steps.

use crate::byte_places::{BytePlaces, PLACE_BYTES};
use crate::coverage::{Coverage, LevelWords, Region};
use crate::part_search::PartSearch;
use crate::passages::{CutRange, Excerpt, Passage, Passages};
use crate::reading::DocumentNumbers;
use crate::repetition::{Level, Repetition, TopText, top_texts};
use crate::rule::Repeated;
use crate::run_finder::{MOST_WORDS, Run};
use crate::verification::are_true;
use crate::window_groups::Window;
use crate::word_hashes::WordHashes;
use crate::word_range::WordRange;
use crate::word_source::WordSource;
use simtool_base::error::{Error, Result};
use simtool_base::memory_ledger::Reservation;
use simtool_base::quantity;
use simtool_compute::context::Context;

/// Minimum number of words of a window with which a search by runs is faster than a search by single windows. A run is
/// a sequence of windows that are stored together.
const LEAST_OF_RUNS: usize = 8;
/// Maximum number of times that the documents are read. If the allowed memory is so small that more readings would be
/// necessary, the search takes more memory than is allowed.
const MOST_PARTS: u64 = 1000;
/// Maximum number of attempts of a search, each with other hash functions. A search is tried again if different words
/// had equal hashes. After the last attempt, it fails.
const MOST_SEEDS: u64 = 20;

/// A search for all passages of at least k words that occur more than once, or for all units of text, such as
/// sentences, that occur more than once. Create one with [`PassageSearch::new`].
#[derive(Clone, Copy, Debug)]
pub struct PassageSearch<'a> {
    /// Number of words of a window, which is the minimum number of words of a passage or unit.
    words: usize,
    /// Condition under which a window counts as repeated.
    rule: Repeated,
    /// Approximate number of bytes of memory for one reading.
    memory_bytes: u64,
    /// Whether the words of windows with equal hashes are compared.
    is_verified: bool,
    /// Method to find equal windows.
    way: Way,
    /// Number of parts into which the range of hashes is divided. For each part, the documents are read once. `None` if
    /// the number depends on the memory.
    parts: Option<u64>,
    /// Mask of the bits of hashes that the first attempt uses. Tests use few bits, so that different words have equal
    /// hashes.
    first_mask: u64,
    context: &'a Context<'a>,
}

/// Method to find equal windows, which are equal sequences of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Compares the hashes of runs, which are sequences of windows that share a short sequence of words.
    Runs,
    /// Compares the hashes of all windows.
    Windows,
    /// Compares the hashes of the units of the source, which are windows of different lengths.
    Units,
}

impl<'a> PassageSearch<'a> {
    /// Creates a search for passages of at least `words` words. It may use the memory that is now free according to
    /// `context`.
    ///
    /// # Errors
    /// `words` is 0 or more than 1000.
    pub fn new(words: usize, context: &'a Context<'a>) -> Result<Self> {
        if words == 0 || words > MOST_WORDS {
            let rule = format!("a number of words from 1 to {MOST_WORDS}");
            return Err(Error::config("words", words, rule));
        }
        let way = if words < LEAST_OF_RUNS { Way::Windows } else { Way::Runs };
        Ok(Self {
            words,
            rule: Repeated::default(),
            memory_bytes: context.memory().free(),
            is_verified: false,
            way,
            parts: None,
            first_mask: u64::MAX,
            context,
        })
    }

    /// Returns the context of the search: its threads, instruction set and progress.
    #[must_use]
    pub fn context(&self) -> &'a Context<'a> {
        self.context
    }

    /// Returns the same search, but with `rule` as the condition for repeated windows.
    #[must_use]
    pub fn with_rule(self, rule: Repeated) -> Self {
        Self { rule, ..self }
    }

    /// Returns the same search, but for whole units of the source, such as sentences, instead of windows. A unit is
    /// repeated if other units have the same words. Units with fewer words than the minimum are ignored. Consecutive
    /// repeated units are one passage.
    #[must_use]
    pub fn with_units(self) -> Self {
        Self { way: Way::Units, ..self }
    }

    /// Returns the same search, but one that takes about `bytes` bytes of memory, except for the passages. With less
    /// memory, it reads the collection more often. The context limits the memory for passages.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        Self { memory_bytes: bytes, ..self }
    }

    /// Returns the same search, but one that compares the words of all windows whose hashes are equal, if
    /// `is_verified` is true. This takes two more readings of the documents with passages, and 8 bytes of
    /// memory for each word of a first occurrence.
    #[must_use]
    pub fn with_verification(self, is_verified: bool) -> Self {
        Self { is_verified, ..self }
    }

    /// Returns the same search, but with a given method, number of parts of the hashes, and mask of the hashes. Only
    /// tests choose these.
    #[cfg(test)]
    pub(crate) fn with_details(self, way: Way, parts: u64, first_mask: u64) -> Self {
        Self { way, parts: Some(parts), first_mask, ..self }
    }

    /// Returns the number of readings into which the search of a collection of about `words` words is divided, so that
    /// each reading fits in memory. It is at most 1000, even if a reading then takes more memory.
    #[must_use]
    pub fn parts(&self, words: u64) -> u64 {
        if let Some(parts) = self.parts {
            return parts;
        }
        // Buckets have up to a quarter of free room. Repeated items are copied a few times.
        let item_bytes = match self.way {
            Way::Runs => {
                let words_a_run = (self.words as u64 / 3).max(1);
                2 * size_of::<Run>() as u64 / words_a_run
            }
            Way::Windows => 2 * size_of::<Window<()>>() as u64,
            Way::Units => 2 * size_of::<Window<u32>>() as u64 / self.words as u64,
        };
        let bytes = words.saturating_mul(item_bytes.max(1));
        // The other half is for the passages.
        let allowed = (self.memory_bytes / 2).max(1);
        bytes.div_ceil(allowed).clamp(1, MOST_PARTS)
    }

    /// Finds all passages of `source`.
    ///
    /// # Errors
    /// The source fails, the work is cancelled, there is not enough memory, or there are too many documents.
    ///
    /// # Complexity
    /// O(words) time for each reading, and about O(n log n) for n repeated windows. Memory: about 120 / k bytes a word
    /// by runs, or 16 bytes a word by windows, divided by the number of readings.
    pub fn find(&self, source: &dyn WordSource) -> Result<Passages> {
        // Verification almost always succeeds at once. Other hashes are chosen if different words have equal hashes.
        for seed in 0..MOST_SEEDS {
            let mask = if seed == 0 { self.first_mask } else { u64::MAX };
            let hashes = WordHashes::new(2 * self.words, seed, mask);
            let (mut coverage, numbers, _memory) = self.coverage(source, &hashes)?;
            let claims = coverage.claims.take().unwrap_or_default();
            if claims.is_empty() || are_true(&claims, source, &numbers, self.context)? {
                drop(claims);
                return self.passages(source, &numbers, &coverage);
            }
        }
        let rule = "each attempt found equal hashes of different words, which does not happen by chance. \
                    The input changes while it is read";
        Err(Error::limit("the verification of passages", rule))
    }

    /// Finds the words in repeated windows of all documents. Returns them with the numbers of the documents and the
    /// reservation of the memory.
    fn coverage(
        &self,
        source: &dyn WordSource,
        hashes: &WordHashes,
    ) -> Result<(Coverage, DocumentNumbers, Reservation)> {
        let parts = self.parts(source.word_count_hint());
        let mut coverage = Coverage::new(self.rule, self.is_verified);
        let mut numbers = DocumentNumbers::default();
        let mut memory = self.context.memory().hold(0);
        // Equal windows have equal hashes, so they are in the same part. The parts are independent.
        for part in 0..parts {
            let Self { words, rule, is_verified, context, .. } = *self;
            let search =
                PartSearch { words, rule, is_verified, context, source, hashes, part, parts };
            let (of_part, of_reading) = match self.way {
                Way::Runs => search.by_runs()?,
                Way::Windows => search.by_windows()?,
                Way::Units => search.by_units()?,
            };
            // The first part needs no merging, and most searches have only one.
            if part == 0 {
                coverage = of_part;
            } else {
                coverage.join(of_part, self.window());
            }
            numbers = of_reading;
            // The old reservation must be gone first, because the new one includes its bytes.
            memory.shrink_to(0);
            memory = self.reserve(coverage.bytes() + numbers.bytes())?;
        }
        Ok((coverage, numbers, memory))
    }

    /// Returns the number of words of each window, or `None` if windows are units.
    fn window(&self) -> Option<u32> {
        (self.way != Way::Units).then_some(self.words as u32)
    }

    /// Reserves `bytes` bytes of memory for passages.
    ///
    /// # Errors
    /// Not enough memory.
    fn reserve(&self, bytes: u64) -> Result<Reservation> {
        let memory = self.context.memory();
        memory.try_reserve(bytes).ok_or_else(|| {
            let [needed, free] = [bytes, memory.free()].map(quantity::bytes);
            let rule = format!(
                "`max_memory` leaves {free}. Allow more, or search for longer passages with `words` or \
                 for passages of more documents with `min_documents`"
            );
            Error::limit(format!("the repeated passages need {needed} of memory"), rule)
        })
    }

    /// Reads the documents again to find the byte ranges of the passages' words, and returns the passages.
    fn passages(
        &self,
        source: &dyn WordSource,
        numbers: &DocumentNumbers,
        coverage: &Coverage,
    ) -> Result<Passages> {
        let cuts = coverage.cuts(self.window());
        let top = top_texts(&coverage.firsts);
        let regions = coverage.regions.iter();
        // Each region needs the bytes of its own ends, and of the ends of the window that is its partner.
        let of_region = |region: &Region| [region.words, region.best.partner_words()];
        let other = cuts.iter().copied().chain(top.iter().map(|text| text.words));
        let ranges = regions.flat_map(of_region).chain(other);
        // Each range has two ends, and each region has two ranges.
        let places = 2 * (2 * coverage.regions.len() + cuts.len() + top.len());
        let results = size_of_val(&*cuts) + coverage.regions.len() * size_of::<Passage>();
        let _memory = self.reserve((places * PLACE_BYTES + 2 * results) as u64)?;
        let asked = ranges.flat_map(|range| range.ends()).collect();
        let places = BytePlaces::find(asked, source, numbers, self.context)?;
        let passage = |region: &Region| {
            let Region { words, best } = region;
            let partner = best.partner_words();
            Passage {
                document: words.document,
                words: words.start..words.end,
                bytes: places.bytes(words),
                documents: best.documents,
                occurrences: best.occurrences,
                is_first: best.is_first,
                is_whole: words.len() == numbers.length(words.document) as usize,
                partner: Excerpt { document: partner.document, bytes: places.bytes(&partner) },
            }
        };
        let cut = |range: &WordRange| {
            let words = range.start..range.end;
            CutRange { document: range.document, words, bytes: places.bytes(range) }
        };
        let top = top.iter().map(|text| TopText {
            document: text.words.document,
            words: text.words.start..text.words.end,
            bytes: places.bytes(&text.words),
            documents: text.documents,
        });
        let level = |level: &LevelWords| Level {
            documents: level.documents,
            words: level.words.iter().map(|range| range.len() as u64).sum(),
        };
        let levels = coverage.levels.iter().map(level).collect();
        Ok(Passages {
            repetition: Repetition { levels, top: top.collect() },
            passages: coverage.regions.iter().map(passage).collect(),
            cuts: cuts.iter().map(cut).collect(),
            documents: u64::from(numbers.count()),
            words: numbers.words(),
            repeated_windows: coverage.windows,
        })
    }
}
