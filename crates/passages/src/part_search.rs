//! The search for repeated windows whose hashes are in one part of all hashes. With little memory, the hashes are
//! divided into parts, and each part is searched in its own reading of the documents.

use crate::buckets::{BucketWriter, Buckets};
use crate::classes::{Classes, Occurrence, OccurrenceWriter, sort_by_place};
use crate::coverage::Coverage;
use crate::live_windows::hash_live_windows;
use crate::mixed_groups::WindowComparison;
use crate::place::Place;
use crate::reading::{Division, DocumentNumbers, read_all};
use crate::rule::{Condition, Repeated};
use crate::run_finder::{BLOCK, Run, RunFinder, left_words};
use crate::run_groups::{GroupOutput, MixedGroups, group_runs, repeated_runs};
use crate::window_groups::{Window, WindowLength, group_windows, repeated_windows};
use crate::word_hashes::WordHashes;
use crate::word_source::WordSource;
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_compute::context::Context;

/// Number of buckets into which runs, windows or occurrences are divided. The items of one bucket are sorted by one
/// thread.
const BUCKETS: usize = 256;

/// Description of the memory for runs. Out-of-memory messages contain it.
const RUNS: &str = "the runs of windows";
/// Description of the memory for windows. Out-of-memory messages contain it.
const WINDOWS: &str = "the windows of words";
/// Description of the memory for units. Out-of-memory messages contain it.
const UNITS: &str = "the units of text";
/// Description of the memory for places of classes. Out-of-memory messages contain it.
const OCCURRENCES: &str = "the places of repeated windows";

/// The search for the repeated windows whose hashes are in one part of all possible hashes. With little memory, there
/// are several parts, and each needs its own reading of the documents.
#[derive(Clone, Copy)]
pub(crate) struct PartSearch<'s> {
    /// Number of words of a window, or the least number of words of a unit.
    pub(crate) words: usize,
    /// Condition under which a window counts as repeated.
    pub(crate) rule: Repeated,
    /// Whether the words of windows with equal hashes are compared.
    pub(crate) is_verified: bool,
    pub(crate) context: &'s Context<'s>,
    pub(crate) source: &'s dyn WordSource,
    pub(crate) hashes: &'s WordHashes,
    /// Number of the part of the hashes that is searched, from 0.
    pub(crate) part: u64,
    /// Number of parts into which all hashes are divided.
    pub(crate) parts: u64,
}

impl PartSearch<'_> {
    /// Returns the index of the bucket for a run or window with this hash. `None` if the hash does not belong to the
    /// part of the hashes that is searched.
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

    /// Finds repeated windows by comparing runs, which are sequences of windows that share a short sequence of words.
    /// Returns the words in repeated windows, and the numbers of the documents.
    pub(crate) fn by_runs(&self) -> Result<(Coverage, DocumentNumbers)> {
        let context = self.context;
        let runs = Buckets::new(BUCKETS, RUNS, context.memory());
        let finder = || RunFinder::new(context.isa(), self.words, self.hashes.clone());
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
            group_runs(runs, left_words(self.words) as u32, output)
        })?;
        // From here on, all places have final numbers.
        numbers.drop_temporary();
        let (mut classes, mut mixed): (Vec<Classes>, Vec<MixedGroups>) =
            grouped.into_iter().unzip();
        classes.extend(self.compare_windows(&occurrences, &numbers, &mut mixed)?);
        drop(mixed);
        Ok((self.walk(&occurrences, &classes, &numbers)?, numbers))
    }

    /// Compares the windows of runs that have the same anchor, which is a short sequence of words, but different words
    /// around it. `mixed` has these runs for each bucket. Returns the repeated windows of each bucket. Occurrences
    /// refer to the windows of bucket i by the number 256 + i.
    fn compare_windows(
        &self,
        occurrences: &Buckets<Occurrence>,
        numbers: &DocumentNumbers,
        mixed: &mut [MixedGroups],
    ) -> Result<Vec<Classes>> {
        let context = self.context;
        let hashes = (self.hashes, self.words);
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

    /// Finds repeated windows by comparing the hashes of all windows. Returns the words in repeated windows, and the
    /// numbers of the documents.
    pub(crate) fn by_windows(&self) -> Result<(Coverage, DocumentNumbers)> {
        let words = self.words;
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

    /// Finds repeated units of the source, such as sentences, by comparing their hashes. Ignores units with fewer than
    /// `words` words.
    pub(crate) fn by_units(&self) -> Result<(Coverage, DocumentNumbers)> {
        self.by_hashes(UNITS, |(writer, hashes), document, text, ends| {
            let mut start = 0;
            for &end in ends {
                // Units follow each other without gaps, so the next one begins where this one ends.
                let place = Place { document, word: start };
                let unit = &text[start as usize..end as usize];
                start = end;
                if unit.len() < self.words {
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

    /// Finds repeated windows by comparing hashes. Calls `visit` for each document, which collects windows with their
    /// hashes. It gets the state of its thread, the number of a document, its words, and the ends of its units. `name`
    /// describes the windows in out-of-memory messages.
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
        let context = self.context;
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

    /// Calls `work` once for each of the 256 buckets, with all threads. `work` gets the index of the bucket and a value
    /// that receives its repeated windows. Returns the received windows of each bucket and the result of `work`, in the
    /// order of the buckets. Adds the places of the windows to `occurrences`. They refer to bucket i by the number
    /// `first` + i.
    fn group<R: Send>(
        &self,
        occurrences: &Buckets<Occurrence>,
        numbers: &DocumentNumbers,
        first: usize,
        work: impl Fn(usize, &mut GroupOutput<'_, '_>) -> Result<R> + Sync,
    ) -> Result<Vec<(Classes, R)>> {
        let context = self.context;
        let state = || Ok((OccurrenceWriter::new(occurrences, numbers.count()), Vec::new()));
        let states = context.threads().try_fold(BUCKETS, state, |(writer, done), bucket| {
            context.check_cancelled()?;
            let mut classes = Classes::default();
            let mut output = GroupOutput {
                condition: Condition {
                    rule: self.rule,
                    origins: numbers.origins(),
                    words: self.words as u32,
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

    /// Joins the repeated windows of all documents to ranges of words. `occurrences` are the places of `classes`, which
    /// are sequences of windows that occur together.
    fn walk(
        &self,
        occurrences: &Buckets<Occurrence>,
        classes: &[Classes],
        numbers: &DocumentNumbers,
    ) -> Result<Coverage> {
        let context = self.context;
        let _memory = context.memory().hold(classes.iter().map(Classes::bytes).sum());
        context.progress().begin("join windows", Work::Steps(BUCKETS as u64));
        let empty = || Coverage::new(self.rule, self.is_verified);
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
