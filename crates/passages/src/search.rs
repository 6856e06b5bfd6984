//! The search for repeated passages: its settings and its steps.

use crate::buckets::{BucketWriter, Buckets};
use crate::byte_places::BytePlaces;
use crate::classes::{Classes, Occurrence, OccurrenceWriter, sort_by_place};
use crate::coverage::{Coverage, Stretch};
use crate::live_windows::hash_live_windows;
use crate::mixed_groups::WindowComparison;
use crate::passages::{CutRange, Excerpt, Passage, Passages};
use crate::place::Place;
use crate::reading::{Division, DocumentNumbers, read_all};
use crate::rule::{Condition, Repeated};
use crate::run_finder::{BLOCK, MOST_WORDS, Run, RunFinder, left_words};
use crate::run_groups::{GroupOutput, MixedGroups, group_runs, repeated_runs};
use crate::verification::are_true;
use crate::window_groups::{Window, WindowLength, group_windows, repeated_windows};
use crate::word_hashes::WordHashes;
use crate::word_range::WordRange;
use crate::word_source::WordSource;
use simtool_base::error::{Error, Result};
use simtool_base::progress::Work;
use simtool_compute::context::Context;

/// Number of buckets into which runs, windows or occurrences are divided. The items of one are sorted by one
/// thread.
const BUCKETS: usize = 256;
/// Smallest number of words of a window for which runs are faster than windows.
const LEAST_OF_RUNS: usize = 10;
/// Maximum number of readings. If so little memory is allowed that more are necessary, more memory is taken.
const MOST_PARTS: u64 = 1000;
/// Number of times that a search is started with other hashes before it fails.
const MOST_SEEDS: u64 = 20;

/// Description of the memory for runs. Out-of-memory messages contain it.
const RUNS: &str = "the runs of windows";
/// Description of the memory for windows. Out-of-memory messages contain it.
const WINDOWS: &str = "the windows of words";
/// Description of the memory for units. Out-of-memory messages contain it.
const UNITS: &str = "the units of text";
/// Description of the memory for places of classes. Out-of-memory messages contain it.
const OCCURRENCES: &str = "the places of repeated windows";

/// A search for all passages of at least k words that occur more than once, or for all units of text that do, such
/// as sentences. Create one with [`PassageSearch::new`].
#[derive(Clone, Copy, Debug)]
pub struct PassageSearch<'a> {
    /// Number of words of a window, which is the least number of words of a passage or unit.
    words: usize,
    /// Condition under which a window counts as repeated.
    rule: Repeated,
    /// Approximate number of bytes of memory for one reading.
    memory_bytes: u64,
    /// Whether the words of windows with equal hashes are compared.
    is_verified: bool,
    /// The way to find equal windows.
    way: Way,
    /// Number of parts of all hashes. Each needs a reading. `None` if the memory decides.
    parts: Option<u64>,
    /// Bits of hashes that are used with the first seed. Tests use few, so that different words have equal
    /// hashes.
    first_mask: u64,
    context: &'a Context<'a>,
}

/// A way to find equal windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Compares the hashes of runs with the same anchor.
    Runs,
    /// Compares the hashes of all windows.
    Windows,
    /// Compares the hashes of the units of the source, which are windows of different lengths.
    Units,
}

impl<'a> PassageSearch<'a> {
    /// Creates a search for passages of at least `words` words. It may take the memory that is free now
    /// according to `context`.
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

    /// Returns the same search, but with another condition for repeated windows.
    #[must_use]
    pub fn with_rule(self, rule: Repeated) -> Self {
        Self { rule, ..self }
    }

    /// Returns the same search, but one for whole units of the source, such as sentences. A unit with the least
    /// number of words is repeated if other units have the same words. Consecutive repeated units are one passage.
    #[must_use]
    pub fn with_units(self) -> Self {
        Self { way: Way::Units, ..self }
    }

    /// Returns the same search, but one that takes about `bytes` bytes of memory. With less memory, it reads the
    /// collection more often. The memory for the passages themselves is not limited.
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

    /// Returns the same search, but with settings that only tests choose.
    #[cfg(test)]
    pub(crate) fn with_details(self, way: Way, parts: u64, first_mask: u64) -> Self {
        Self { way, parts: Some(parts), first_mask, ..self }
    }

    /// Returns the number of readings with which a collection of about `words` words is divided so that each
    /// reading fits in memory.
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
        bytes.div_ceil(self.memory_bytes.max(1)).clamp(1, MOST_PARTS)
    }

    /// Finds all passages of `source`.
    ///
    /// # Errors
    /// The source fails, the work is cancelled, there is not enough memory, or there are too many documents.
    ///
    /// # Complexity
    /// O(words) time for each reading, and about O(n log n) for n repeated windows. By runs, the memory is about
    /// 120 / k bytes a word, divided by the number of readings, and by windows 16 bytes.
    pub fn find(&self, source: &dyn WordSource) -> Result<Passages> {
        // Verification almost always succeeds at once. Other hashes are chosen if different words have equal hashes.
        for seed in 0..MOST_SEEDS {
            let mask = if seed == 0 { self.first_mask } else { u64::MAX };
            let hashes = WordHashes::new(2 * self.words, seed, mask);
            let (mut coverage, numbers) = self.coverage(source, &hashes)?;
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

    /// Finds the repeated parts of all documents.
    fn coverage(
        &self,
        source: &dyn WordSource,
        hashes: &WordHashes,
    ) -> Result<(Coverage, DocumentNumbers)> {
        let parts = self.parts(source.word_count_hint());
        let mut coverage = Coverage::new(self.is_verified);
        let mut numbers = DocumentNumbers::default();
        // Equal windows have equal hashes, so they are in the same part. The parts are independent.
        for part in 0..parts {
            let search = PartSearch { search: self, source, hashes, part, parts };
            let (of_part, of_reading) = match self.way {
                Way::Runs => search.by_runs()?,
                Way::Windows => search.by_windows()?,
                Way::Units => search.by_units()?,
            };
            // The first part needs no merging, and most searches have only one.
            if part == 0 {
                coverage = of_part;
            } else {
                coverage.join(of_part);
            }
            numbers = of_reading;
        }
        Ok((coverage, numbers))
    }

    /// Finds the bytes of the words, and returns the passages.
    fn passages(
        &self,
        source: &dyn WordSource,
        numbers: &DocumentNumbers,
        coverage: &Coverage,
    ) -> Result<Passages> {
        let cuts = coverage.cuts();
        let stretches = coverage.stretches.iter();
        // Each stretch needs the bytes of its own ends, and of the ends of the window that is its partner.
        let of_stretch = |stretch: &Stretch| [stretch.words, stretch.best.partner_words()];
        let ranges = stretches.flat_map(of_stretch).chain(cuts.iter().copied());
        let asked = ranges.flat_map(|range| range.ends()).collect();
        let places = BytePlaces::find(asked, source, numbers, self.context)?;
        let passage = |stretch: &Stretch| {
            let Stretch { words, best } = stretch;
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
        Ok(Passages {
            passages: coverage.stretches.iter().map(passage).collect(),
            cuts: cuts.iter().map(cut).collect(),
            documents: u64::from(numbers.count()),
            words: numbers.words(),
            repeated_windows: coverage.windows,
        })
    }
}

/// The search for the windows whose hashes are in one part of all hashes.
struct PartSearch<'s> {
    search: &'s PassageSearch<'s>,
    source: &'s dyn WordSource,
    hashes: &'s WordHashes,
    part: u64,
    parts: u64,
}

impl PartSearch<'_> {
    /// Returns the bucket of an item with this hash. `None` if the hash is in another part.
    #[inline]
    fn bucket(&self, hash: u64) -> Option<usize> {
        let bucket = (hash >> 56) as usize;
        if self.parts == 1 {
            return Some(bucket);
        }
        // The bits behind the bits of the bucket decide on the part.
        let part = ((hash >> 24 & 0xFFFF_FFFF) * self.parts) >> 32;
        (part == self.part).then_some(bucket)
    }

    /// Finds repeated windows by their runs.
    fn by_runs(&self) -> Result<(Coverage, DocumentNumbers)> {
        let context = self.search.context;
        let runs = Buckets::new(BUCKETS, RUNS, context.memory());
        let finder = || RunFinder::new(context.isa(), self.search.words, self.hashes.clone());
        let state = || (runs.writer(), finder());
        let visit = |(writer, finder): &mut (BucketWriter<'_, Run>, RunFinder),
                     document,
                     words: &[u64],
                     _: &[u32]| {
            finder.find(document, words, &mut |run| match self.bucket(run.anchor) {
                Some(bucket) => writer.push(bucket, run),
                None => Ok(()),
            })
        };
        let (states, mut numbers) = read_all(self.source, context, Division::None, state, visit)?;
        for (writer, _) in states {
            writer.finish();
        }
        context.progress().begin("group windows", Work::Steps(BUCKETS as u64));
        let occurrences = Buckets::new(BUCKETS, OCCURRENCES, context.memory());
        let grouped = self.group(&occurrences, &numbers, 0, |bucket, output| {
            // The blocks of the bucket are freed as soon as the repeated runs are copied.
            let mut runs = repeated_runs(&runs.take(bucket));
            for run in &mut runs {
                run.document = numbers.number(run.document);
            }
            group_runs(runs, left_words(self.search.words) as u32, output)
        })?;
        // From here on, all places have final numbers.
        numbers.drop_temporary();
        let (mut classes, mut mixed): (Vec<Classes>, Vec<MixedGroups>) =
            grouped.into_iter().unzip();
        classes.extend(self.compare_windows(&occurrences, &numbers, &mut mixed)?);
        drop(mixed);
        Ok((self.walk(&occurrences, &classes, &numbers)?, numbers))
    }

    /// Compares the windows of runs that have the same anchor and different contents. Returns their classes, whose
    /// buckets follow the other buckets.
    fn compare_windows(
        &self,
        occurrences: &Buckets<Occurrence>,
        numbers: &DocumentNumbers,
        mixed: &mut [MixedGroups],
    ) -> Result<Vec<Classes>> {
        let context = self.search.context;
        let hashes = (self.hashes, self.search.words);
        let hashes = hash_live_windows(self.source, context, numbers, hashes, mixed)?;
        let bytes = mixed.iter().map(MixedGroups::bytes).sum::<u64>()
            + hashes.iter().map(|hashes| 8 * hashes.capacity() as u64).sum::<u64>();
        let _memory = context.memory().hold(bytes);
        context.progress().begin("compare windows", Work::Steps(BUCKETS as u64));
        let compared = self.group(occurrences, numbers, BUCKETS, |bucket, output| {
            let mixed = &mixed[bucket];
            // Contents that are not live have the same facts for all of their windows.
            mixed.push_others(output)?;
            let mut comparison = WindowComparison::default();
            mixed.groups().try_for_each(|group| comparison.compare(mixed, group, &hashes, output))
        })?;
        Ok(compared.into_iter().map(|(classes, ())| classes).collect())
    }

    /// Finds repeated windows by their hashes.
    fn by_windows(&self) -> Result<(Coverage, DocumentNumbers)> {
        let words = self.search.words;
        self.by_hashes(WINDOWS, |(writer, hashes), document, text, _| {
            // The sums of a block stay in the cache.
            for start in (0..text.len()).step_by(BLOCK) {
                let end = text.len().min(start + BLOCK + words - 1);
                hashes.fill(&text[start..end]);
                let places = (start as u32..).map(|word| Place { document, word });
                for (sum, place) in hashes.sums_of(words).zip(places) {
                    let hash = hashes.hash(sum);
                    if let Some(bucket) = self.bucket(hash) {
                        writer.push(bucket, Window { hash, place, length: () })?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Finds repeated units of the source by their hashes. Shorter units are left out.
    fn by_units(&self) -> Result<(Coverage, DocumentNumbers)> {
        self.by_hashes(UNITS, |(writer, hashes), document, text, ends| {
            let mut start = 0;
            for &end in ends {
                // Units follow each other without gaps, so the next one begins where this one ends.
                let place = Place { document, word: start };
                let unit = &text[start as usize..end as usize];
                start = end;
                if unit.len() < self.search.words {
                    continue;
                }
                let hash = hashes.hash_all(unit);
                if let Some(bucket) = self.bucket(hash) {
                    writer.push(bucket, Window { hash, place, length: unit.len() as u32 })?;
                }
            }
            Ok(())
        })
    }

    /// Finds repeated windows by the hashes that `visit` collects from each document. `name` describes the windows
    /// in out-of-memory messages.
    fn by_hashes<L: WindowLength>(
        &self,
        name: &'static str,
        visit: impl Fn(
            &mut (BucketWriter<'_, Window<L>>, WordHashes),
            u32,
            &[u64],
            &[u32],
        ) -> Result<()>
        + Sync,
    ) -> Result<(Coverage, DocumentNumbers)> {
        let context = self.search.context;
        let windows = Buckets::new(BUCKETS, name, context.memory());
        let state = || (windows.writer(), self.hashes.clone());
        let division = if L::IS_OF_UNIT { Division::Units } else { Division::None };
        let (states, mut numbers) = read_all(self.source, context, division, state, visit)?;
        for (writer, _) in states {
            writer.finish();
        }
        context.progress().begin("group windows", Work::Steps(BUCKETS as u64));
        let occurrences = Buckets::new(BUCKETS, OCCURRENCES, context.memory());
        let classes = self.group(&occurrences, &numbers, 0, |bucket, output| {
            let mut windows = repeated_windows(&windows.take(bucket));
            for window in &mut windows {
                window.place.document = numbers.number(window.place.document);
            }
            group_windows(windows, output)
        })?;
        numbers.drop_temporary();
        let classes: Vec<Classes> = classes.into_iter().map(|(classes, ())| classes).collect();
        Ok((self.walk(&occurrences, &classes, &numbers)?, numbers))
    }

    /// Calls `work` with each bucket and the receiver of its classes and occurrences, with all threads. Returns the
    /// classes and the result of each bucket. The number of a bucket in its occurrences is greater by `first`.
    fn group<R: Send>(
        &self,
        occurrences: &Buckets<Occurrence>,
        numbers: &DocumentNumbers,
        first: usize,
        work: impl Fn(usize, &mut GroupOutput<'_, '_>) -> Result<R> + Sync,
    ) -> Result<Vec<(Classes, R)>> {
        let context = self.search.context;
        let state = || Ok((OccurrenceWriter::new(occurrences, numbers.count()), Vec::new()));
        let states = context.threads().try_fold(BUCKETS, state, |(writer, done), bucket| {
            context.check_cancelled()?;
            let mut classes = Classes::default();
            let mut output = GroupOutput {
                condition: Condition {
                    rule: self.search.rule,
                    origins: numbers.origins(),
                    words: self.search.words as u32,
                },
                bucket: (first + bucket) as u16,
                classes: &mut classes,
                occurrences: writer,
            };
            let result = work(bucket, &mut output)?;
            done.push((bucket, (classes, result)));
            context.progress().advance(1);
            Ok(())
        })?;
        let mut done = Vec::with_capacity(BUCKETS);
        for (writer, of_thread) in states {
            writer.finish();
            done.extend(of_thread);
        }
        // Threads finish buckets in any order.
        done.sort_unstable_by_key(|&(bucket, _)| bucket);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    /// Walks through all documents with repeated windows.
    fn walk(
        &self,
        occurrences: &Buckets<Occurrence>,
        classes: &[Classes],
        numbers: &DocumentNumbers,
    ) -> Result<Coverage> {
        let context = self.search.context;
        let _memory = context.memory().hold(classes.iter().map(Classes::bytes).sum());
        context.progress().begin("join windows", Work::Steps(BUCKETS as u64));
        let empty = || Coverage::new(self.search.is_verified);
        let walk = |(): &mut (), bucket| {
            context.check_cancelled()?;
            let mut occurrences = occurrences.take(bucket).concat();
            // Threads add occurrences in any order. Each place occurs once, so the sorted order is always the same.
            sort_by_place(&mut occurrences);
            let mut coverage = empty();
            coverage.add(&occurrences, classes, numbers.origins());
            context.progress().advance(1);
            Ok(coverage)
        };
        let mut coverage = empty();
        for next in context.threads().try_map(BUCKETS, || Ok(()), walk)? {
            coverage.append(next);
        }
        Ok(coverage)
    }
}
